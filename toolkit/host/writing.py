"""Writing a file of this machine so that it is never half written."""

from __future__ import annotations

import contextlib
import os
import stat

_KERNEL_FOLDERS = ("/sys/", "/proc/", "/dev/")


def write_file(real: str, path: str, data: bytes) -> None:
    """Write bytes to a file. Raises OSError.

    An attribute below /sys, /proc or /dev takes them in one write(2) (Documentation/filesystems/sysfs.rst) and is
    never created. Any other file is written beside its place, synced, given the old file's mode and owner, and put
    in its place; it is made where it is missing, its folder is not.

    Args:
        real: where the file lies on this machine.
        path: what it is called on the machine that is looked at.
    """
    if path.startswith(_KERNEL_FOLDERS):
        _write_attribute(real, data)
    else:
        replace_file(os.path.realpath(real), data)


def _write_attribute(real: str, data: bytes) -> None:
    fd = os.open(real, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def replace_file(real: str, data: bytes, mode: int = 0o644) -> None:
    """Put a whole new file in the place of an old one, or of none. Raises OSError; the old file is then untouched.

    Args:
        mode: of a file that was not there; an old file's mode and owner are kept.
    """
    try:
        old = os.stat(real)
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        _write_attribute(real, data)
        return
    temporary = f"{real}.toolkit-{os.getpid()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            if old is not None:
                with contextlib.suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) if old is not None else mode)
            os.fsync(file.fileno())
        os.replace(temporary, real)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(os.path.dirname(real))


def _sync_folder(folder: str) -> None:
    """Make a rename last over a power cut; a file system that cannot do that is no error."""
    with contextlib.suppress(OSError):
        fd = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
