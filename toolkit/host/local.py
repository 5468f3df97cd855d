"""LocalHost: this machine, or one whose root is mounted somewhere (a live USB's /mnt)."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from toolkit.errors import UsageError
from toolkit.host.base import READ_LIMIT, Child, Lines, NotInstalled, ReadOnlyHost, Result, Watch
from toolkit.host.natural import natural_sorted
from toolkit.host.pattern import expand
from toolkit.text import printable

VALUE_BYTES = 64
"""Bytes that a ValueReader returns at most."""

_CHUNK = 1 << 16
_LINK_LIMIT = 40
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK
"""O_NONBLOCK has no effect on files, and keeps a pipe or a serial port that lies in the way from blocking the open."""

SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""Where programs of the system lie. A plain user's PATH often has no sbin, where smartctl, blkid and zpool are."""


class LocalHost:
    """This machine, see `toolkit.host.base.Host`.

    Args:
        root: `/`, or the folder where another machine's root is mounted. Links in it, absolute ones too, are followed
            inside it and never lead out. Commands cannot be run on such a machine.
        environ: the environment; the process's own where it is not given.

    Raises UsageError where `root` is no folder.
    """

    kind = "local"

    def __init__(self, root: str = "/", environ: Mapping[str, str] | None = None) -> None:
        root = os.path.realpath(root)
        if not os.path.isdir(root):
            raise UsageError(
                f"{printable(root, 4096)} is no folder", "give the folder where the machine's root is mounted"
            )
        self.root = root
        self._rooted = root != "/"
        self.label = root if self._rooted else ""
        self._environ = environ
        # Attributes and not methods: a sampler calls them some thousand times a second.
        self.monotonic: Callable[[], float] = time.monotonic
        self.time: Callable[[], float] = time.time
        self.euid: Callable[[], int] = os.geteuid

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the process."""
        return os.environ if self._environ is None else self._environ

    def sleep(self, seconds: float) -> None:
        """Wait."""
        if seconds > 0:
            time.sleep(seconds)

    def _map(self, path: str, follow: bool = True) -> str:
        """Return where a path of the machine lies on this one. Raises OSError (ELOOP)."""
        return os.path.join(self.root, *self._resolve(path, follow)) if self._rooted else path

    def _resolve(self, path: str, follow: bool) -> list[str]:
        """Return the parts of a path below the root with its links followed; what is missing stays as it is."""
        pending = [part for part in reversed(path.split("/")) if part not in ("", ".")]
        done: list[str] = []
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                if done:
                    done.pop()
                continue
            done.append(part)
            if not pending and not follow:
                break
            try:
                target = os.readlink(os.path.join(self.root, *done))
            except OSError:
                continue  # no link, or not there: the call that needs it says so
            links += 1
            if links > _LINK_LIMIT:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            done.pop()
            if target.startswith("/"):
                done.clear()
            pending.extend(part for part in reversed(target.split("/")) if part not in ("", "."))
        return done

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return at most `limit` bytes of a file. Raises OSError."""
        fd = os.open(self._map(path), _READ_FLAGS)
        try:
            data = os.read(fd, min(limit, _CHUNK))
            if not data or len(data) >= limit:
                return data
            chunks = [data]
            left = limit - len(data)
            while left > 0 and (data := os.read(fd, min(left, _CHUNK))):
                chunks.append(data)
                left -= len(data)
            return b"".join(chunks) if len(chunks) > 1 else chunks[0]
        finally:
            os.close(fd)

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Return a file as text (UTF-8, bad bytes replaced), unstripped. Raises OSError."""
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def open_value(self, path: str) -> LocalValue:
        """Open a value file for reading again and again. Raises OSError."""
        mapped = self._map(path)
        try:
            return LocalValue(os.open(mapped, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY))
        except OSError as error:
            if error.errno != errno.EMFILE or not _raise_file_limit():
                raise
        return LocalValue(os.open(mapped, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY))

    def listdir(self, path: str) -> list[str]:
        """Return the names in a folder, in natural order. Raises OSError."""
        return natural_sorted(os.listdir(self._map(path)))

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a shell pattern, in natural order."""
        return expand(pattern, lambda path: os.listdir(self._map(path)), self.exists)

    def exists(self, path: str) -> bool:
        """True where the path, or what its link points to, is there. Never raises."""
        try:
            return os.path.exists(self._map(path))
        except (OSError, ValueError):
            return False

    def is_dir(self, path: str) -> bool:
        """True where the path, or what its link points to, is a folder. Never raises."""
        try:
            return os.path.isdir(self._map(path))
        except (OSError, ValueError):
            return False

    def readlink(self, path: str) -> str:
        """Return the target of a symbolic link as it stands there. Raises OSError."""
        return os.readlink(self._map(path, follow=False))

    def realpath(self, path: str) -> str:
        """Return the path with every symbolic link followed, as a path of that machine. Never raises."""
        try:
            if not self._rooted:
                return os.path.realpath(path)
            return "/" + "/".join(self._resolve(path, True))
        except (OSError, ValueError):
            return path

    def which(self, name: str) -> str | None:
        """Return the path of a program: from PATH, then from the system's folders, sbin too."""
        if not name:
            return None
        if "/" in name:
            return name if self._is_program(name) else None
        for folder in self._program_folders():
            path = f"{folder}/{name}"
            if self._is_program(path):
                return path
        return None

    def _program_folders(self) -> list[str]:
        # A relative folder in PATH would run what lies in the present folder: left out.
        given = [] if self._rooted else self.environ.get("PATH", "").split(":")
        return list(dict.fromkeys([folder for folder in given if folder.startswith("/")] + list(SYSTEM_FOLDERS)))

    def _is_program(self, path: str) -> bool:
        try:
            mapped = self._map(path)
            return os.path.isfile(mapped) and os.access(mapped, os.X_OK)
        except (OSError, ValueError):
            return False

    def _command(self, argv: Sequence[str]) -> tuple[list[str], str]:
        """Return argv and the path of its program. Raises NotInstalled, ReadOnlyHost, UsageError."""
        if not argv or any("\0" in word for word in argv):
            raise UsageError("an empty command, or one with a NUL character, cannot be run")
        if self._rooted:
            raise ReadOnlyHost(
                f"{printable(argv[0])} cannot be run on the system mounted at {printable(self.root, 4096)}",
                f"run it in that system: chroot {self.root}",
            )
        program = self.which(argv[0])
        if program is None:
            raise NotInstalled(
                f"{printable(argv[0])} is not installed", "toolkit doctor names the package that brings it"
            )
        return list(argv), program

    def child_environ(self) -> dict[str, str]:
        """Return the environment of commands whose answer is parsed: English, UTF-8, sbin in PATH."""
        environ = dict(self.environ)
        environ.pop("LANGUAGE", None)
        environ["LC_ALL"] = "C.UTF-8"
        environ["PATH"] = ":".join(self._program_folders())
        return environ

    def run(self, argv: Sequence[str], timeout_s: float = 10.0, stdin: bytes | None = None) -> Result:
        """Run a command and wait for it; its whole process group is ended at the limit.

        Raises NotInstalled, and ReadOnlyHost on a mounted root.
        """
        command, program = self._command(argv)
        from toolkit.host.process import run_command

        return run_command(command, program, self.child_environ(), timeout_s, stdin)

    def stream(
        self,
        argv: Sequence[str],
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Lines:
        """Run a command and give its lines as they come, see `toolkit.host.process.LineStream`. Raises like `run`."""
        command, program = self._command(argv)
        from toolkit.host.process import LineStream

        return LineStream(command, program, self.child_environ(), timeout_s, stdin, is_cancelled)

    def spawn(self, argv: Sequence[str]) -> Child:
        """Start a person's command on the program's own terminal. Raises like `run`."""
        command, program = self._command(argv)
        from toolkit.host.child import LocalChild

        return LocalChild(command, program, dict(self.environ))

    def write(self, path: str, text: str) -> None:
        """Write text to a sysfs attribute in one call, or to a file, never half of it. Raises OSError."""
        from toolkit.host.writing import write_file

        write_file(self._map(path), path, text.encode())

    def watch(self, subsystem: str) -> Watch:
        """Listen for hot-plug events of a subsystem. Never raises."""
        from toolkit.host.hotplug import LocalWatch

        return LocalWatch(self._map(f"/sys/class/{subsystem}"), subsystem, events=not self._rooted)


class _Descriptor(int):
    """An open file's number, which is given back when nobody holds it any more.

    A bound `read` holds it. Were it a plain number, the next file that is opened could get it while it is still read.
    """

    open = True

    def close(self) -> None:
        """Give the number back; a second call does nothing."""
        if self.open:
            self.open = False
            os.close(int(self))

    __del__ = close


class LocalValue:
    """A value file that is kept open.

    `read` is `pread` with its arguments bound. A copy of it keeps the file open; do not call one after `close`.
    """

    __slots__ = ("_fd", "read")

    def __init__(self, fd: int) -> None:
        self._fd = _Descriptor(fd)
        self.read: Callable[[], bytes] = partial(os.pread, self._fd, VALUE_BYTES, 0)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self.read = _closed
        self._fd.close()


def _closed() -> bytes:
    raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _raise_file_limit() -> bool:
    """Let the process open more files, up to 65536; True where that was possible.

    A machine with over a thousand sensors needs it: the usual limit is 1024, which programs may raise themselves.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else min(hard, 65536)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return False
    return True
