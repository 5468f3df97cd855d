"""The Host protocol: what a probe may ask of a machine, be it this one, a mounted one or a captured one.

Paths are absolute and always those of the machine that is looked at (`/sys/class/hwmon`), never those
of the place where a capture or a mounted root lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolkit.errors import NotCaptured, ToolkitError

READ_LIMIT = 1 << 20
"""Bytes that `read_text` and `read_bytes` return at most, unless told otherwise."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer of a command.

    Attributes:
        argv: what was run.
        returncode: the exit status; negative is the signal that ended it, 127 where it was not found.
        stdout, stderr: decoded as UTF-8, bad bytes replaced.
        seconds: how long it took.
        timed_out: it was ended (whole process group) since it took longer than its limit.
    """

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False


class NotInstalled(ToolkitError):
    """The command is not installed on the machine that is looked at."""

    exit_status = 3


class CommandNotCaptured(ToolkitError):
    """The captured machine may have this command; its answer is not in the capture."""


class ReadOnlyHost(ToolkitError):
    """A captured machine cannot be changed."""


class UnknownInDryRun(ToolkitError):
    """A dry run cannot know this: it depends on a change that was not made."""


class ValueReader(Protocol):
    """A value file that is kept open.

    `read` is a plain attribute, so that a loop can bind it once: it returns at most 64 bytes from the
    start of the file, as it is now, and raises OSError (EIO, ENODATA, ENXIO, ENODEV ...).
    """

    read: Callable[[], bytes]

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        ...


class Watch(Protocol):
    """Hot-plug events of one subsystem, collected without blocking."""

    def changed(self) -> bool:
        """True where something was added, removed or changed since the last call."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class Lines(Protocol):
    """The lines of a running command, without their ends."""

    @property
    def returncode(self) -> int | None:
        """The exit status once the lines have ended (negative: the signal); None before."""
        ...

    @property
    def timed_out(self) -> bool:
        """It was ended since it took longer than its limit."""
        ...

    @property
    def cancelled(self) -> bool:
        """It was ended since `is_cancelled` said so."""
        ...

    def __iter__(self) -> Iterator[str]:
        """Return itself."""
        ...

    def __next__(self) -> str:
        """Return the next line, as it comes."""
        ...

    def close(self) -> None:
        """End the command where it still runs."""
        ...


class Child(Protocol):
    """A person's command that runs beside the program, with the terminal in its hands."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit status (negative: the signal that ended it), None while it runs. Never waits."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, at most `timeout` seconds; return as `poll` does."""
        ...

    def signal(self, number: int) -> None:
        """Send a signal to its whole process group; does nothing where it has ended."""
        ...


class Host(Protocol):
    """A machine. Every method that reads raises OSError for the machine's own faults.

    `kind` is `local`, `replay`, `recording` or `dry-run`; `label` is what a person reads on the screen where
    the machine is not this one (empty for this one), for example `demo` or the name of a capture.
    """

    kind: str
    label: str

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return at most `limit` bytes of a file. Raises OSError, NotCaptured."""
        ...

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Return a file as text (UTF-8, bad bytes replaced), unstripped. Raises OSError, NotCaptured."""
        ...

    def open_value(self, path: str) -> ValueReader:
        """Open a value file for reading again and again. Raises OSError, NotCaptured."""
        ...

    def listdir(self, path: str) -> list[str]:
        """Return the names in a folder, in natural order (hwmon2 before hwmon10). Raises OSError, NotCaptured."""
        ...

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a shell pattern, in natural order; an empty list where none does."""
        ...

    def exists(self, path: str) -> bool:
        """True where the path, or what its link points to, is there. Never raises."""
        ...

    def is_dir(self, path: str) -> bool:
        """True where the path, or what its link points to, is a folder. Never raises."""
        ...

    def readlink(self, path: str) -> str:
        """Return the target of a symbolic link as it stands there. Raises OSError, NotCaptured."""
        ...

    def realpath(self, path: str) -> str:
        """Return the path with every symbolic link followed, as a path of that machine. Never raises."""
        ...

    def which(self, name: str) -> str | None:
        """Return the path of a program of that machine, or None (also where the capture does not say)."""
        ...

    def run(self, argv: Sequence[str], timeout_s: float = 10.0, stdin: bytes | None = None) -> Result:
        """Run a command with LC_ALL=C.UTF-8 and closed (or given) stdin, and wait for it.

        Raises NotInstalled, CommandNotCaptured, and ReadOnlyHost where it cannot be allowed.
        """
        ...

    def stream(
        self,
        argv: Sequence[str],
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Lines:
        """Run a command and give its lines (stdout and stderr joined) as they come; raises like `run`.

        Args:
            is_cancelled: asked a few times a second; once it is true the whole process group is ended.
        """
        ...

    def spawn(self, argv: Sequence[str]) -> Child:
        """Start a person's command with the program's own stdin, stdout and stderr, in its own process group.

        Raises NotInstalled, and ReadOnlyHost where it cannot be allowed.
        """
        ...

    def write(self, path: str, text: str) -> None:
        """Write text to a file or a sysfs attribute of that machine. Raises OSError, ReadOnlyHost."""
        ...

    def watch(self, subsystem: str) -> Watch:
        """Start to listen for hot-plug events of a subsystem, for example `hwmon`. Never raises."""
        ...

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back. A captured machine has its own."""
        ...

    def time(self) -> float:
        """Seconds since 1970 on that machine's clock."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait, on the clock of `monotonic`."""
        ...

    def euid(self) -> int:
        """The effective user id."""
        ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the process, or of the captured machine (mostly empty)."""
        ...


__all__ = [
    "READ_LIMIT",
    "Child",
    "CommandNotCaptured",
    "Host",
    "Lines",
    "NotCaptured",
    "NotInstalled",
    "ReadOnlyHost",
    "Result",
    "UnknownInDryRun",
    "ValueReader",
    "Watch",
]
