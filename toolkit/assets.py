"""Finds what ships with the program: in the wheel beside this module, in a checkout beside the package.

The only reader of package data.
"""

from __future__ import annotations

import os.path

from toolkit.errors import ToolkitError

_HERE = os.path.dirname(os.path.abspath(__file__))


def folder() -> str:
    """Return the folder with the assets. Raises ToolkitError where the installation is broken."""
    for path in (os.path.join(_HERE, "_assets"), os.path.join(os.path.dirname(_HERE), "assets")):
        if os.path.isdir(path):
            return path
    raise ToolkitError("the program's own data (assets) is missing", "install laptop-toolkit again")


def path_of(name: str) -> str:
    """Return the path of an asset, for example `demo/framework13`. Raises ToolkitError where there is none."""
    path = os.path.join(folder(), *name.split("/"))
    if not os.path.exists(path):
        raise ToolkitError(f"the asset {name} is missing", "install laptop-toolkit again")
    return path


def read_text(name: str) -> str:
    """Return an asset as text, for example `help/overview.md`. Raises ToolkitError where it cannot be read."""
    try:
        with open(path_of(name), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise ToolkitError(f"the asset {name} cannot be read: {error.strerror}") from error
