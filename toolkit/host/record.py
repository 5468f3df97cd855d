"""RecordingHost: passes everything on to a Host and notes it, so that a capture of the machine can be saved."""

from __future__ import annotations

import contextlib
import errno
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.errors import NotCaptured
from toolkit.host.base import READ_LIMIT, Child, Host, Lines, NotInstalled, Result, ValueReader, Watch
from toolkit.host.notes import ABSENT, Notes, Outcome, Seen
from toolkit.host.pattern import expand
from toolkit.host.redact import Redactor
from toolkit.host.tree import LINK_LIMIT, split

if TYPE_CHECKING:
    from toolkit.host.writer import Saved

NAMES_PER_FOLDER = 4096
"""Names of one folder that are looked at; only /proc and the like have more."""

_VALUE_BYTES = 64


class RecordingHost:
    """Delegates to a Host and notes every read, failure, link, listing, slow read and command.

    Args:
        host: the machine.
        redactor: what takes secrets out when the capture is saved; one with all kinds where it is not given.
    """

    kind = "recording"

    def __init__(self, host: Host, redactor: Redactor | None = None) -> None:
        self.label = host.label
        self.notes = Notes()
        self.redactor = redactor if redactor is not None else Redactor()
        self.host = host
        self.monotonic: Callable[[], float] = host.monotonic
        self.time: Callable[[], float] = host.time
        self.sleep: Callable[[float], None] = host.sleep
        self.euid: Callable[[], int] = host.euid
        self.started_at = host.time()
        self._start = host.monotonic()
        self._lock = threading.RLock()
        self._targets: dict[str, str | None] = {}
        self._listings: dict[str, set[str]] = {}

    def save(self, path: str, overwrite: bool = False) -> Saved:
        """Save what was noted as a capture, see `toolkit.host.writer.save_capture`. Raises UsageError."""
        from toolkit.host.writer import save_capture

        return save_capture(self, path, overwrite)

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of the machine that is recorded."""
        return self.host.environ

    def _real(self, path: str, follow: bool = True) -> str:
        """Return the path with its links followed, and note them."""
        pending = split(path)[::-1]
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
            target = self._target("/" + "/".join(done))
            if target is None:
                continue
            links += 1
            if links > LINK_LIMIT:
                break
            done.pop()
            if target.startswith("/"):
                done.clear()
            pending.extend(reversed(split(target)))
        return "/" + "/".join(done)

    def _target(self, path: str) -> str | None:
        """Return the target of a link, None where the path (without links before its end) is none."""
        if path in self._targets:
            return self._targets[path]
        try:
            target: str | None = self.host.readlink(path)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None  # it may come
            target = None
        self._targets[path] = target
        if target is not None:
            self.notes.links.setdefault(path, target)
        return target

    def _note(self, real: str, outcome: Outcome, at: float, took_s: float = 0.0) -> None:
        with self._lock:
            seen = self.notes.files.get(real)
            if seen is None:
                seen = self.notes.files[real] = Seen(outcome, outcome)
            elif not seen.last.same(outcome):
                seen.later.append((at - self._start, outcome))
                seen.last = outcome
            elif len(outcome.data) > len(seen.last.data) or (seen.last.cut and not outcome.cut):
                # The same content, and more of it.
                if seen.later:
                    seen.later[-1] = (seen.later[-1][0], outcome)
                else:
                    seen.first = outcome
                seen.last = outcome
            seen.took_s.append(took_s)

    def _look(self, path: str, real: str, read: Callable[[], bytes], limit: int) -> bytes:
        """Read, and note what came and how long it took. Raises what the read raises."""
        at = self.host.monotonic()
        try:
            data = read()
        except NotCaptured:
            raise
        except OSError as error:
            number = error.errno or errno.EIO
            if number in (errno.ENODEV, errno.ENOTDIR) and not self.host.exists(path):
                number = errno.ENOENT  # an open file of a device that went
            self._note(real, Outcome(error=number), at, self.host.monotonic() - at)
            raise
        self._note(real, Outcome(data, cut=len(data) >= limit), at, self.host.monotonic() - at)
        return data

    def read_bytes(self, path: str, limit: int = READ_LIMIT) -> bytes:
        """Read a file and note it. Raises OSError, NotCaptured."""
        return self._look(path, self._real(path), lambda: self.host.read_bytes(path, limit), limit)

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str:
        """Read a file as text and note it. Raises OSError, NotCaptured."""
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def open_value(self, path: str) -> RecordingValue:
        """Open a value file; each read of it is noted. Raises OSError, NotCaptured."""
        real = self._real(path)
        try:
            inner = self.host.open_value(path)
        except NotCaptured:
            raise
        except OSError as error:
            self._note(real, Outcome(error=error.errno or errno.EIO), self.host.monotonic())
            raise
        with self._lock:
            self.notes.there.setdefault(real, False)
        return RecordingValue(inner, lambda: self._look(path, real, inner.read, _VALUE_BYTES))

    def listdir(self, path: str) -> list[str]:
        """List a folder and note it. Raises OSError, NotCaptured."""
        real = self._real(path)
        try:
            names = self.host.listdir(path)
        except NotCaptured:
            raise
        except OSError as error:
            number = error.errno or errno.EIO
            if number == errno.ENOENT:
                self._note(real, ABSENT, self.host.monotonic())
            else:
                self.notes.folders.setdefault(real, number)
            raise
        self._note_listing(real, names)
        return names

    def _note_listing(self, real: str, names: list[str]) -> None:
        with self._lock:
            before, now = self._listings.get(real), set(names)
            self._listings[real] = now
            if before is None:
                self.notes.folders[real] = list(names)
                self._probe(real, names)
                return
            at = self.host.monotonic() - self._start
            for name in before - now:
                self._went(f"{real}/{name}", at)
            for name in now - before:
                self._came(f"{real}/{name}", at)

    def _probe(self, real: str, names: list[str]) -> None:
        """Find out what the names in a folder are; a look at a link or a kind disturbs no device."""
        for name in names[:NAMES_PER_FOLDER]:
            path = f"{real.rstrip('/')}/{name}"
            # The numbers in /proc are running programs: nobody else's business.
            if (real == "/proc" and name.isdigit()) or self._target(path) is not None:
                continue
            if path not in self.notes.there and self.host.exists(path):
                self.notes.there[path] = self.host.is_dir(path)

    def _went(self, path: str, at: float) -> None:
        if path in self.notes.files:
            self._note(path, ABSENT, at + self._start)
        else:
            self.notes.changes.append((at, path, None))
        self._targets.pop(path, None)
        for other, seen in self.notes.files.items():
            if other.startswith(f"{path}/"):
                seen.last = ABSENT

    def _came(self, path: str, at: float) -> None:
        """Note a link that is new in a folder; a file that is new is noted when it is read."""
        try:
            target = self.host.readlink(path)
        except OSError:
            self._targets.pop(path, None)
            return
        self._targets[path] = target
        self.notes.changes.append((at, path, target))

    def glob(self, pattern: str) -> list[str]:
        """Return the paths that match; the folders that are listed for it are noted."""
        return expand(pattern, self.listdir, self.exists)

    def _note_there(self, path: str, folder: bool | None) -> None:
        """Note that a path is a folder (True), a file (False) or not there (None)."""
        real = self._real(path)
        if folder is None:
            try:
                self.host.listdir(path)
            except NotCaptured:
                return  # nobody knows
            except OSError:
                pass
            if real not in self.notes.there and real not in self.notes.folders:
                self._note(real, ABSENT, self.host.monotonic())
        else:
            with self._lock:
                self.notes.there.setdefault(real, folder)

    def exists(self, path: str) -> bool:
        """Tell whether a path is there, and note it. Never raises."""
        found = self.host.exists(path)
        self._note_there(path, self.host.is_dir(path) if found else None)
        return found

    def is_dir(self, path: str) -> bool:
        """Tell whether a path is a folder, and note it. Never raises."""
        found = self.host.is_dir(path)
        self._note_there(path, True if found else (False if self.host.exists(path) else None))
        return found

    def readlink(self, path: str) -> str:
        """Return the target of a link and note it. Raises OSError, NotCaptured."""
        real = self._real(path, follow=False)
        try:
            target = self.host.readlink(path)
        except NotCaptured:
            raise
        except OSError as error:
            if error.errno == errno.ENOENT:
                self._note(real, ABSENT, self.host.monotonic())
            else:
                self._note_there(path, self.host.is_dir(path) if self.host.exists(path) else None)
            raise
        self._target(real)
        return target

    def realpath(self, path: str) -> str:
        """Return the path with every link followed, and note them. Never raises."""
        self.exists(path)
        return self.host.realpath(path)

    def which(self, name: str) -> str | None:
        """Return the path of a program and note it, also that it is missing."""
        found = self.host.which(name)
        if found is None:
            self.notes.not_found.add(name)
        else:
            self._note_there(found, False)
        return found

    def run(self, argv: Sequence[str], timeout_s: float = 10.0, stdin: bytes | None = None) -> Result:
        """Run a command and note its answer; raises like the Host's."""
        try:
            result = self.host.run(argv, timeout_s, stdin)
        except NotInstalled:
            self.notes.not_found.add(argv[0])
            raise
        with self._lock:
            self.notes.answers.append(result)
        return result

    def stream(
        self,
        argv: Sequence[str],
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> RecordingLines:
        """Run a command, give its lines and note them; raises like the Host's."""
        at = self.host.monotonic()
        try:
            lines = self.host.stream(argv, timeout_s, stdin, is_cancelled)
        except NotInstalled:
            self.notes.not_found.add(argv[0])
            raise
        return RecordingLines(lines, lambda text, code: self._note_answer(tuple(argv), text, code, at))

    def _note_answer(self, argv: tuple[str, ...], text: str, returncode: int, at: float) -> None:
        with self._lock:
            self.notes.answers.append(Result(argv, returncode, text, "", self.host.monotonic() - at))

    def spawn(self, argv: Sequence[str]) -> Child:
        """Pass on, nothing is noted."""
        return self.host.spawn(argv)

    def write(self, path: str, text: str) -> None:
        """Pass on, nothing is noted."""
        self.host.write(path, text)

    def watch(self, subsystem: str) -> Watch:
        """Pass on; the listing of the class is noted."""
        with contextlib.suppress(OSError):
            self.listdir(f"/sys/class/{subsystem}")
        return self.host.watch(subsystem)


class RecordingLines(Iterator[str]):
    """The lines of a command, which are noted once they have ended, see `toolkit.host.base.Lines`."""

    def __init__(self, lines: Lines, note: Callable[[str, int], None]) -> None:
        self._inner = lines
        self._note: Callable[[str, int], None] | None = note
        self._kept: list[str] = []

    @property
    def returncode(self) -> int | None:
        """The exit status once the lines have ended."""
        return self._inner.returncode

    @property
    def timed_out(self) -> bool:
        """It was ended at its limit."""
        return self._inner.timed_out

    @property
    def cancelled(self) -> bool:
        """It was cancelled."""
        return self._inner.cancelled

    def __iter__(self) -> RecordingLines:
        return self

    def __next__(self) -> str:
        try:
            line = next(self._inner)
        except StopIteration:
            self._end()
            raise
        self._kept.append(line)
        return line

    def close(self) -> None:
        """End the command and note what came."""
        self._inner.close()
        self._end()

    def _end(self) -> None:
        note, self._note = self._note, None
        if note is not None:
            note("".join(f"{line}\n" for line in self._kept), self.returncode or 0)


class RecordingValue:
    """A value file of which every read is noted."""

    __slots__ = ("_inner", "read")

    def __init__(self, inner: ValueReader, read: Callable[[], bytes]) -> None:
        self._inner = inner
        self.read = read

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._inner.close()
        self.read = self._inner.read
