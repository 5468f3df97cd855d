"""Texts that a person takes along, as files in the state folder: copies, screenshots, the report of a crash."""

from __future__ import annotations

import os
from collections.abc import Mapping

from toolkit.config import folders
from toolkit.errors import ToolkitError


class ExportError(ToolkitError):
    """A file could not be written to the state folder."""


def safe_name(name: str) -> str:
    """Return a file name that holds letters, digits, `.`, `-` and `_` only, is not hidden and not empty."""
    kept = "".join(char if char.isascii() and (char.isalnum() or char in ".-_") else "-" for char in name)
    return kept.strip(".-")[:120] or "export"


def write_export(environ: Mapping[str, str], name: str, text: str, *, folder: str = "", keep: bool = False) -> str:
    """Write a text to `STATE/[FOLDER/]NAME`, whole or not at all, readable by its owner only, and return the path.

    Args:
        environ: where HOME and XDG_STATE_HOME are looked up.
        name: made safe by `safe_name`.
        folder: a folder below the state folder.
        keep: leave a file of that name alone and take `NAME-2`, `NAME-3` ... instead.

    Raises ExportError where the folder cannot be written, as on a rescue system with a read-only home.
    """
    target = os.path.join(folders(environ).state, safe_name(folder)) if folder else folders(environ).state
    path = os.path.join(target, safe_name(name))
    try:
        os.makedirs(target, mode=0o700, exist_ok=True)
        if keep:
            path = _free(path)
        partial = f"{path}.{os.getpid()}.part"
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
                stream.write(text)
            os.replace(partial, path)
        except OSError:
            os.unlink(partial)
            raise
    except OSError as error:
        raise ExportError(f"Cannot write {path}: {error.strerror}.", "Is the disk full or read-only?") from error
    return path


def _free(path: str) -> str:
    """Return a path that is not taken yet: the one given, else with -2, -3 ... before its extension."""
    stem, extension = os.path.splitext(path)
    number = 1
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}{extension}"
    return path


def tilde(environ: Mapping[str, str], path: str) -> str:
    """Return a path as a person reads it, with `~` for the home folder."""
    home = environ.get("HOME", "").rstrip("/")
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path
