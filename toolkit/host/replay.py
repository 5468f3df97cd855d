"""ReplayHost: a captured machine.

Nothing of the machine that it runs on shows through: files, links, folders, failures, the answers of commands, the
user id, the environment and the clock all come from the capture.
"""

from __future__ import annotations

import errno
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from toolkit.errors import Problem, ToolkitError
from toolkit.host.base import (
    READ_LIMIT,
    Child,
    CommandNotCaptured,
    NotInstalled,
    ReadOnlyHost,
    Result,
)
from toolkit.host.capture import load_capture
from toolkit.host.capturelines import Answer, Change
from toolkit.host.capturemeta import Meta
from toolkit.host.natural import natural_sorted
from toolkit.host.pattern import expand
from toolkit.host.tree import NOT_READ, FileNode, FolderNode, LinkNode, failure
from toolkit.text import printable

VALUE_BYTES = 64
"""Bytes that a ValueReader returns at most."""

_AT_START = re.compile(rb'"after_s"\s*:\s*-?0*\.?0*(?:[eE][^,}]*)?\s*[,}]')
"""Something that happens at once, as far as one can tell without reading all of the changes."""

READ_ONLY = "a captured machine cannot be changed"


class ReplayHost:
    """A captured machine, see `toolkit.host.base.Host`.

    Args:
        capture: a folder or a .tar.gz.
        clock: `virtual`: the clock starts at 0 and only `sleep`, slow reads and commands move it, so that nothing
            waits; `real`: it runs as this machine's does, and slow reads do wait.
        label: what a person reads on the screen; the name of the capture where it is not given.

    Attributes:
        problems: what was wrong in the capture and was left out.
        meta: meta.json.
        opened: how often each path (as asked) was given to `read_bytes`, `read_text` or `open_value`.
        reads: how often each path that `open_value` opened was read.

    Raises CaptureError where the capture cannot be read.
    """

    kind = "replay"

    def __init__(self, capture: str, clock: str = "virtual", label: str | None = None) -> None:
        loaded = load_capture(capture)
        self.label = label if label is not None else capture_label(capture)
        self.meta: Meta = loaded.meta
        self.opened: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self._problems = loaded.problems
        self._tree = loaded.tree
        self._answers: dict[tuple[str, ...], list[Answer]] = {}
        for answer in loaded.answers:
            self._answers.setdefault(answer.argv, []).append(answer)
        self._loaded = loaded
        self._changes: list[Change] | None = None
        self._next = 0
        self._cycle = 0
        # A capture may have some thousand changes, and a command that looks once needs none of them.
        now = _AT_START.search(loaded.changes_text) is not None
        self._due = 0.0 if now else (sys.float_info.min if loaded.changes_text else float("inf"))
        self._lock = threading.RLock()
        self._virtual = clock != "real"
        self._now = 0.0
        self._start = time.monotonic()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was wrong in the capture and was left out."""
        with self._lock:
            self._load_changes()
            return tuple(self._problems)

    @property
    def environ(self) -> Mapping[str, str]:
        """The captured environment, mostly empty."""
        return self.meta.environ

    def euid(self) -> int:
        """The captured user id; 1000 where the capture does not say."""
        return self.meta.uid

    def monotonic(self) -> float:
        """Seconds since the start, on the clock that was chosen."""
        return self._now if self._virtual else time.monotonic() - self._start

    def time(self) -> float:
        """The moment of the capture plus the seconds since the start."""
        return self.meta.taken_at + self.monotonic()

    def sleep(self, seconds: float) -> None:
        """Move the virtual clock, or wait."""
        if not self._virtual:
            time.sleep(max(0.0, seconds))
            return
        with self._lock:
            self._now += max(0.0, seconds)

    def _advance(self) -> None:
        """Make the changes that are due. A capture with `loop_s` begins anew after that time, for ever."""
        if self.monotonic() < self._due:
            return
        with self._lock:
            now = self.monotonic()
            self._load_changes()
            loop_s = self.meta.loop_s
            if loop_s and now - self._cycle * loop_s > 2 * loop_s:
                # Rounds before the last whole one leave nothing behind that the last one does not set again.
                self._apply_until(float("inf"))
                self._cycle = int(now // loop_s) - 1
            while now >= self._due:
                self._apply_until(now)

    def _load_changes(self) -> list[Change]:
        if self._changes is None:
            self._changes = self._loaded.changes()
            self._due = self._changes[0].after_s if self._changes else float("inf")
        return self._changes

    def _apply_until(self, now: float) -> None:
        """Make the changes of this round that are due at a time, and find out when the next one is due."""
        base = self._cycle * self.meta.loop_s
        changes = self._load_changes()
        while self._next < len(changes) and base + changes[self._next].after_s <= now:
            change = changes[self._next]
            self._next += 1
            try:
                change.apply(self._tree)
            except OSError as error:
                reason = f"{printable(change.path)}: {error.strerror}"
                problem = Problem("changes.jsonl", reason, "give that path once, as a file, a link or a folder")
                if problem not in self._problems:
                    self._problems.append(problem)
        if self._next == len(changes):
            if not self.meta.loop_s:
                self._due = float("inf")
                return
            self._next = 0
            self._cycle += 1
        self._due = self._cycle * self.meta.loop_s + changes[self._next].after_s

    def _file(self, path: str) -> FileNode:
        self.opened[path] += 1
        self._advance()
        node = self._tree.find(path)
        if isinstance(node, FolderNode):
            raise failure(errno.EISDIR, path)
        if isinstance(node, LinkNode):
            raise failure(errno.ELOOP, path)
        return node

    def _content(self, node: FileNode, path: str) -> bytes:
        if node.slow_s:
            self.sleep(node.slow_s)
        if node.gone:
            raise failure(errno.ENODEV, path)
        if node.error:
            raise failure(node.error, path)
        return node.content()

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Return at most `limit` bytes of a file. Raises OSError, NotCaptured."""
        return self._content(self._file(path), path)[:limit]

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Return a file as text (UTF-8, bad bytes replaced), unstripped. Raises OSError, NotCaptured."""
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def open_value(self, path: str) -> ReplayValue:
        """Open a value file for reading again and again. Raises OSError, NotCaptured."""
        node = self._file(path)
        if node.error in (errno.EACCES, errno.EPERM, NOT_READ):
            raise failure(node.error, path)  # these come when a file is opened, all others when it is read

        def read() -> bytes:
            self.reads[path] += 1
            self._advance()
            if node.gone:
                raise failure(errno.ENODEV, path)
            return self._content(node, path)[:VALUE_BYTES]

        return ReplayValue(read, path)

    def listdir(self, path: str) -> list[str]:
        """Return the names in a folder, in natural order. Raises OSError, NotCaptured."""
        self._advance()
        return natural_sorted(self._tree.listdir(path))

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match a shell pattern, in natural order."""
        self._advance()
        return expand(pattern, self.listdir, self.exists)

    def exists(self, path: str) -> bool:
        """True where the path, or what its link points to, is there. Never raises."""
        self._advance()
        try:
            self._tree.find(path)
        except OSError:
            return False
        return True

    def is_dir(self, path: str) -> bool:
        """True where the path, or what its link points to, is a folder. Never raises."""
        self._advance()
        try:
            return isinstance(self._tree.find(path), FolderNode)
        except OSError:
            return False

    def readlink(self, path: str) -> str:
        """Return the target of a symbolic link as it stands there. Raises OSError, NotCaptured."""
        self._advance()
        return self._tree.readlink(path)

    def realpath(self, path: str) -> str:
        """Return the path with every symbolic link followed. Never raises."""
        self._advance()
        return self._tree.realpath(path)

    def which(self, name: str) -> str | None:
        """Return /usr/bin/NAME for a command that was recorded, or where the captured files hold the program."""
        base = name.rpartition("/")[2]
        if base in self.meta.commands_not_found or name in self.meta.commands_not_found:
            return None
        if "/" in name:
            return name if self.exists(name) else None
        for argv in self._answers:
            if argv[0] == name:
                return f"/usr/bin/{name}"
            if argv[0].rpartition("/")[2] == name:
                return argv[0]
        for folder in ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"):
            if self.exists(f"{folder}/{name}"):
                return f"{folder}/{name}"
        return None

    def run(
        self,
        argv: Sequence[str],
        timeout_s: float = 10.0,  # noqa: ARG002 - the protocol's
        stdin: bytes | None = None,  # noqa: ARG002 - the protocol's
    ) -> Result:
        """Return the recorded answer. Several of one command come in their order; the last one comes again.

        Raises NotInstalled, CommandNotCaptured.
        """
        key = tuple(argv)
        if not key:
            raise ToolkitError("no command was given")
        answer = self._answer(key)
        self.sleep(answer.seconds)
        return Result(key, answer.returncode, answer.stdout, answer.stderr, answer.seconds, answer.timed_out)

    def _answer(self, argv: tuple[str, ...]) -> Answer:
        with self._lock:
            answers = self._answers.get(argv)
            if answers:
                return answers.pop(0) if len(answers) > 1 else answers[0]
        base = argv[0].rpartition("/")[2]
        if argv[0] in self.meta.commands_not_found or base in self.meta.commands_not_found:
            raise NotInstalled(f"{printable(base)} is not installed on the captured machine")
        raise CommandNotCaptured(
            f"the capture has no answer for: {printable(' '.join(argv))}", "make a new capture there"
        )

    def stream(
        self,
        argv: Sequence[str],
        timeout_s: float | None = None,  # noqa: ARG002 - the protocol's
        stdin: bytes | None = None,  # noqa: ARG002
        is_cancelled: Callable[[], bool] | None = None,  # noqa: ARG002
    ) -> ReplayLines:
        """Give the lines of the recorded answer; raises like `run`."""
        return ReplayLines(self.run(argv))

    def spawn(self, argv: Sequence[str]) -> Child:
        """Refuse: a captured machine runs nothing. Raises ReadOnlyHost."""
        raise ReadOnlyHost(f"{READ_ONLY}, so this cannot run on it: {printable(' '.join(argv))}")

    def write(self, path: str, text: str) -> None:  # noqa: ARG002 - the protocol's
        """Refuse: a captured machine cannot be changed. Raises ReadOnlyHost."""
        raise ReadOnlyHost(f"{READ_ONLY}: {printable(path)} was not written")

    def watch(self, subsystem: str) -> ReplayWatch:
        """Listen for devices of a class that come and go by the capture's changes. Never raises."""
        return ReplayWatch(self, f"/sys/class/{subsystem}")


class ReplayLines(Iterator[str]):
    """The lines of a recorded answer, see `toolkit.host.base.Lines`."""

    def __init__(self, answer: Result) -> None:
        self.returncode: int | None = answer.returncode
        self.timed_out = answer.timed_out
        self.cancelled = False
        self._lines = iter((answer.stdout + answer.stderr).splitlines())

    def __iter__(self) -> ReplayLines:
        return self

    def __next__(self) -> str:
        return next(self._lines)

    def close(self) -> None:
        """Give no more lines."""
        self._lines = iter(())


class ReplayValue:
    """A value file of a captured machine, kept open."""

    __slots__ = ("_path", "read")

    def __init__(self, read: Callable[[], bytes], path: str) -> None:
        self.read = read
        self._path = path

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        path = self._path

        def closed() -> bytes:
            raise failure(errno.EBADF, path)

        self.read = closed


class ReplayWatch:
    """Tells whether the listing of a folder is another one than at the last call."""

    def __init__(self, host: ReplayHost, folder: str) -> None:
        self._host = host
        self._folder = folder
        self._last = self._listing()

    def _listing(self) -> list[str] | None:
        try:
            return self._host.listdir(self._folder)
        except OSError:
            return None

    def changed(self) -> bool:
        """True where something came or went since the last call."""
        now = self._listing()
        if now == self._last:
            return False
        self._last = now
        return True

    def close(self) -> None:
        """Stop listening."""


def capture_label(path: str) -> str:
    """Return the name of a capture as a person reads it."""
    name = path.rstrip("/").rpartition("/")[2]
    for ending in (".tar.gz", ".tgz", ".tar"):
        name = name.removesuffix(ending)
    return name or path
