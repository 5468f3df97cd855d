"""DryRunHost: looks pass, changes are noted and not made, and what depends on one is unknown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from toolkit.host.base import READ_LIMIT, Child, Host, Lines, Result, UnknownInDryRun, ValueReader, Watch
from toolkit.text import printable

LOOKS: tuple[tuple[str, ...], ...] = (
    ("blkid",),
    ("cat",),
    ("cryptsetup", "isLuks"),
    ("cryptsetup", "luksDump"),
    ("cryptsetup", "status"),
    ("df",),
    ("dpkg", "--compare-versions"),
    ("dpkg", "-l"),
    ("dpkg", "-s"),
    ("dpkg", "-S"),
    ("dpkg-query",),
    ("fdisk", "-l"),
    ("findmnt",),
    ("id",),
    ("ls",),
    ("lsblk",),
    ("lsmod",),
    ("lspci",),
    ("lsusb",),
    ("lvs",),
    ("modinfo",),
    ("nvme", "id-ctrl"),
    ("nvme", "list"),
    ("nvme", "smart-log"),
    ("pvs",),
    ("readlink",),
    ("smartctl",),
    ("stat",),
    ("swapon", "--show"),
    ("systemctl", "cat"),
    ("systemctl", "is-active"),
    ("systemctl", "is-enabled"),
    ("systemctl", "list-units"),
    ("systemctl", "show"),
    ("systemctl", "status"),
    ("udevadm", "info"),
    ("uname",),
    ("vgs",),
    ("zfs", "get"),
    ("zfs", "list"),
    ("zpool", "get"),
    ("zpool", "history"),
    ("zpool", "list"),
    ("zpool", "status"),
)
"""Beginnings of commands that only look, `sudo` before them left out."""

ACTING: Mapping[str, tuple[str, ...]] = {
    "smartctl": ("-t", "--test", "-s", "--smart", "-o", "--offlineauto", "-S", "--saveauto", "-X", "--abort"),
    "blkid": ("-g", "--garbage-collect", "-w"),
}
"""Options that make a change of a look (smartctl(8), blkid(8)), alone or with their value joined."""

_SUDO = {"sudo", "doas"}


@dataclass(frozen=True, slots=True)
class Planned:
    """A change that would have been made.

    Attributes:
        argv: the command; empty for a write.
        path, text: what would have been written where; empty for a command.
    """

    argv: tuple[str, ...] = ()
    path: str = ""
    text: str = ""


class DryRunHost:
    """Passes looks on to a Host and notes changes.

    A file that would have been written, and a look that names something that a noted command names too, raise
    UnknownInDryRun. Who knows more (a pool would have been exported, so a list of pools is stale) says so with
    `forget`.

    Args:
        host: the machine.
        looks: beginnings of further commands that only look.

    Attributes:
        planned: the changes, in order.
    """

    kind = "dry-run"

    def __init__(self, host: Host, looks: Sequence[Sequence[str]] = ()) -> None:
        self.label = host.label
        self.planned: list[Planned] = []
        self._host = host
        self._looks = LOOKS + tuple(tuple(look) for look in looks)
        self._written: set[str] = set()
        self._touched: set[str] = set()
        self._forgotten: set[str] = set()
        self.monotonic: Callable[[], float] = host.monotonic
        self.time: Callable[[], float] = host.time
        self.sleep: Callable[[float], None] = host.sleep
        self.euid: Callable[[], int] = host.euid

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the machine."""
        return self._host.environ

    def forget(self, what: str) -> None:
        """Let a path (with everything below it) or a program be unknown from here on."""
        self._forgotten.add(what.rstrip("/") or "/")

    def _check(self, path: str) -> None:
        """Raise UnknownInDryRun where a path depends on a change that was noted."""
        real = self._host.realpath(path)
        for candidate in {path, real}:
            if candidate in self._written or any(
                candidate == gone or candidate.startswith(f"{gone.rstrip('/')}/") for gone in self._forgotten
            ):
                raise UnknownInDryRun(f"{printable(path)} depends on a change that a dry run does not make")

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Read a file. Raises OSError, NotCaptured, UnknownInDryRun."""
        self._check(path)
        return self._host.read_bytes(path, limit)

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Read a file as text. Raises OSError, NotCaptured, UnknownInDryRun."""
        self._check(path)
        return self._host.read_text(path, limit)

    def open_value(self, path: str) -> ValueReader:
        """Open a value file. Raises OSError, NotCaptured, UnknownInDryRun."""
        self._check(path)
        return self._host.open_value(path)

    def listdir(self, path: str) -> list[str]:
        """List a folder. Raises OSError, NotCaptured, UnknownInDryRun."""
        self._check(path)
        return self._host.listdir(path)

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match now."""
        return self._host.glob(pattern)

    def exists(self, path: str) -> bool:
        """True where the path is there, or would have been written. Never raises."""
        return path in self._written or self._host.exists(path)

    def is_dir(self, path: str) -> bool:
        """True where the path is a folder now. Never raises."""
        return self._host.is_dir(path)

    def readlink(self, path: str) -> str:
        """Return the target of a link. Raises OSError, NotCaptured, UnknownInDryRun."""
        self._check(path)
        return self._host.readlink(path)

    def realpath(self, path: str) -> str:
        """Return the path with every link followed as it is now. Never raises."""
        return self._host.realpath(path)

    def which(self, name: str) -> str | None:
        """Return the path of a program that is there now."""
        return self._host.which(name)

    def is_look(self, argv: Sequence[str]) -> bool:
        """True where a command only looks."""
        words = _without_sudo(argv)
        if not words or not any(words[: len(look)] == look for look in self._looks):
            return False
        return not any(_has_option(word, option) for word in words[1:] for option in ACTING.get(words[0], ()))

    def run(self, argv: Sequence[str], timeout_s: float = 10.0, stdin: bytes | None = None) -> Result:
        """Run a look; note a change and raise UnknownInDryRun for its answer."""
        if not self.is_look(argv):
            self._plan(argv)
        return self.look(argv, timeout_s, stdin)

    def look(self, argv: Sequence[str], timeout_s: float = 10.0, stdin: bytes | None = None) -> Result:
        """Run a command that the caller knows to change nothing. Raises like `run`."""
        self._check_look(argv)
        return self._host.run(argv, timeout_s, stdin)

    def _check_look(self, argv: Sequence[str]) -> None:
        words = _without_sudo(argv)
        if words and words[0] in self._forgotten:
            raise UnknownInDryRun(f"the answer of {words[0]} depends on a change that a dry run does not make")
        for word in words[1:]:
            if word in self._touched:
                raise UnknownInDryRun(
                    f"what {words[0]} says of {printable(word)} depends on a change that a dry run does not make"
                )
            if word.startswith("/"):
                self._check(word)

    def stream(
        self,
        argv: Sequence[str],
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> Lines:
        """Stream a look; note a change and raise UnknownInDryRun."""
        if not self.is_look(argv):
            self._plan(argv)
        self._check_look(argv)
        return self._host.stream(argv, timeout_s, stdin, is_cancelled)

    def spawn(self, argv: Sequence[str]) -> Child:
        """Note a command and raise UnknownInDryRun."""
        self._plan(argv)

    def _plan(self, argv: Sequence[str]) -> NoReturn:
        self.planned.append(Planned(argv=tuple(argv)))
        words = _without_sudo(argv)
        # What a command is about: its devices, pools, files. One-letter words and options say nothing.
        self._touched.update(word for word in words[1:] if len(word) > 1 and not word.startswith("-"))
        raise UnknownInDryRun(f"a dry run does not run: {printable(' '.join(argv))}")

    def write(self, path: str, text: str) -> None:
        """Note a write; the file is unknown from here on."""
        self.planned.append(Planned(path=path, text=text))
        self._written.update((path, self._host.realpath(path)))

    def watch(self, subsystem: str) -> Watch:
        """Listen for hot-plug events."""
        return self._host.watch(subsystem)


def _without_sudo(argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command without `sudo -n --` before it and without the folder of its program."""
    words = list(argv)
    if words and words[0].rpartition("/")[2] in _SUDO:
        words.pop(0)
        while words and words[0] in ("-n", "--non-interactive"):
            words.pop(0)
        if words and words[0] == "--":
            words.pop(0)
    if words:
        words[0] = words[0].rpartition("/")[2]
    return tuple(words)


def _has_option(word: str, option: str) -> bool:
    if option.startswith("--"):
        return word == option or word.startswith(f"{option}=")
    # A short option may have its value joined (-tshort) or stand in a group (-Hs on).
    return word.startswith("-") and not word.startswith("--") and option[1] in word[1:]
