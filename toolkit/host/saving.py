"""Putting a capture on a disk: a folder or a .tar.gz, whole or not at all, for its owner's eyes only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from toolkit.errors import UsageError
from toolkit.text import printable

ARCHIVE_ENDINGS = (".tar.gz", ".tgz")
_OTHER_ARCHIVES = (".zip", ".tar", ".tar.xz", ".tar.zst", ".tar.bz2", ".gz", ".xz", ".zst", ".7z")


def check_place(path: str, overwrite: bool = False) -> None:
    """Raise UsageError where a capture cannot be put at a path, before any work is done for it."""
    path = os.path.abspath(path)
    archive = path.endswith(ARCHIVE_ENDINGS)
    folder = os.path.dirname(path)
    if not archive and path.endswith(_OTHER_ARCHIVES):
        raise UsageError(f"{printable(path, 4096)}: a capture is a .tar.gz or a folder", "give a name that ends so")
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {printable(folder, 4096)}", "make it first")
    if not os.path.lexists(path):
        return
    if not overwrite:
        raise UsageError(f"{printable(path, 4096)} is there already", "give another name, or --force to replace it")
    if os.path.isdir(path) and (archive or not os.path.isfile(os.path.join(path, "meta.json"))):
        raise UsageError(
            f"{printable(path, 4096)} is a folder and no capture, so it is not replaced", "give another name"
        )


def save_members(path: str, members: Mapping[str, bytes], taken_at: float) -> None:
    """Write the files of a capture: an archive where the path ends so, a folder else.

    What was there before is whole until the new capture is, and stays where that fails.

    Args:
        members: name in the capture -> content.
        taken_at: the time that files in an archive bear, in seconds since 1970.

    Raises UsageError where the place cannot be written.
    """
    try:
        if path.endswith(ARCHIVE_ENDINGS):
            _write_archive(path, members, taken_at)
        else:
            _write_folder(path, members)
    except OSError as error:
        raise UsageError(
            f"{printable(path, 4096)} cannot be written: {error.strerror}", "choose another place"
        ) from error


def _write_archive(path: str, members: Mapping[str, bytes], taken_at: float) -> None:
    import gzip
    import io
    import tarfile

    # No owner, no file name in the header of gzip, no clock of this machine: nothing that was not chosen.
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name, data in members.items():
            member = tarfile.TarInfo(f"capture/{name}")
            member.size, member.mode, member.mtime = len(data), 0o600, int(taken_at)
            archive.addfile(member, io.BytesIO(data))
    temporary = _beside(path)
    try:
        _write_file(temporary, buffer.getvalue())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _write_folder(path: str, members: Mapping[str, bytes]) -> None:
    import shutil

    temporary, old = _beside(path), _beside(path) + "-old"
    try:
        os.mkdir(temporary, 0o700)
        for name, data in members.items():
            target = os.path.join(temporary, name)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            _write_file(target, data)
        if os.path.lexists(path):
            os.rename(path, old)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        if os.path.lexists(old) and not os.path.lexists(path):
            os.rename(old, path)
        raise
    if os.path.isdir(old) and not os.path.islink(old):
        shutil.rmtree(old, ignore_errors=True)
    elif os.path.lexists(old):
        os.unlink(old)


def _beside(path: str) -> str:
    return os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.toolkit-{os.getpid()}")


def _write_file(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
