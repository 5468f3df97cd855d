"""`toolkit paths`: where settings, recordings and the rest lie, and whether they are there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from toolkit import assets, config, output
from toolkit.text import printable

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host

HELP = "say where settings, recordings and the rest lie"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Paths has no options of its own."""


def run(args: argparse.Namespace, host: Host) -> int:
    """Print every place and whether it is there. They are those of this process, also when a capture is looked at."""
    found = places(os.environ)
    if args.json:
        data = {name: {"path": path, "exists": _exists(path)} for name, path in found.items()}
        output.write_json({"paths": data}, (), host)
    else:
        output.write_table([(name, printable(path, 4096), _WORDS[_exists(path)]) for name, path in found.items()])
    return 0


_WORDS = {True: "", False: "(not there)", None: "(not known: permission denied)"}


def _exists(path: str) -> bool | None:
    """Return whether there is something; None where this user may not look."""
    try:
        os.lstat(path)
    except PermissionError:
        return None
    except OSError:
        return False
    return True


def places(environ: Mapping[str, str]) -> dict[str, str]:
    """Return name -> path of each place, there or not. Raises ToolkitError where the installation is broken."""
    folders = config.folders(environ)
    return {
        "settings": folders.config_file,
        "state": folders.state,
        "recordings": folders.recordings,
        "screenshots": folders.screenshots,
        "cache": folders.cache,
        "assets": assets.folder(),
    }
