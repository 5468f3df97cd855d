"""A recording that is under way, and the loop that feeds one at a steady rate.

`Recording` does not own the sampling: a screen's poller, or the `Recorder` below, gives it snapshots. It never
raises for a fault of the disk: rows wait in memory, and at the end go where there is room.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from toolkit.errors import ToolkitError, UsageError
from toolkit.sensors.model import Machine, Snapshot
from toolkit.sensors.recording import (
    CommandRun,
    Event,
    RecordingFacts,
    RecordingPaths,
    conditions_of,
    header_line,
    paths_of,
)
from toolkit.sensors.rowfile import RowFile
from toolkit.sensors.rows import Rows
from toolkit.sensors.summary import RUN, Summary, Tally
from toolkit.sensors.twin import twin_json, write_twin
from toolkit.text import printable

LEAST_HZ, MOST_HZ = 0.1, 20.0
EVENT_LIMIT = 2000
"""Events kept; a sensor that comes and goes at every look must not fill the memory."""


def new_recording_name(now_s: float) -> str:
    """Return a file name for a recording that begins now (seconds since 1970), in local time, without a suffix."""
    from time import localtime, strftime

    return strftime("%Y-%m-%d-%H%M%S", localtime(now_s))


def _say_nothing(_: object) -> None:
    """Nobody wants to hear it."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How to record.

    Attributes:
        machine: what it is recorded on.
        rate_hz: how often `Recording.add` will be called.
        thresholds: the person's own limits, sensor id -> value in the sensor's unit.
        overwrite: replace files that are there already.
        fallback_folders: where the recording goes at the end if its disk is full then.
        command: what will run beside it, if anything.
        report: told once, in one sentence, when the disk is full; called in the thread of `add`.
    """

    machine: Machine
    rate_hz: float
    thresholds: Mapping[str, float] = field(default_factory=dict)
    overwrite: bool = False
    fallback_folders: tuple[str, ...] = ()
    command: CommandRun | None = None
    report: Callable[[str], None] = _say_nothing


class Recording:
    """A recording that is under way. May be used from several threads.

    Attributes:
        path: of the CSV; after `stop` where it truly is.
        json_path: of its twin.
        started_monotonic: the host's monotonic clock at the first row.
        problems: what went wrong with the files, one sentence each.
    """

    def __init__(self, first: Snapshot, paths: RecordingPaths, setup: Setup, phase: str) -> None:
        """See `start`."""
        self.path, self.json_path = paths.csv, paths.json
        self.started_monotonic = first.monotonic_s
        self.problems: list[str] = []
        self._setup = setup
        self._lock = threading.Lock()
        self._rows = Rows(first, setup.thresholds, 1 / setup.rate_hz)
        self._tally = Tally(self._rows.columns)
        self._events: list[Event] = []
        self._events_left_out = 0
        self._marks: list[str] = []
        self._now_s = 0.0
        self._disk_full = False
        self._summary: Summary | None = None
        self._conditions_wanted = True
        self._facts = RecordingFacts(
            machine=setup.machine,
            started_at=round(first.taken_at, 3),
            asked_hz=setup.rate_hz,
            conditions=conditions_of(first),
            command=setup.command,
        )
        self._file = _create(paths, setup.overwrite)
        self._write(header_line(self._rows.columns))
        self._write_twin(self.json_path, None)
        self.add(first, phase)

    @classmethod
    def start(cls, first: Snapshot, path: str, setup: Setup, phase: str = RUN) -> Recording:
        """Create the files and write the first row.

        Args:
            first: the sensors in it are the columns.
            path: `run1`, `run1.csv` or `run1.json`.

        Raises UsageError where a file is there already and not to be overwritten, ToolkitError where the file cannot
        be made.
        """
        return cls(first, paths_of(path), setup, phase)

    @classmethod
    def start_in(cls, first: Snapshot, folders: Sequence[str], setup: Setup, label: str = "") -> Recording:
        """Start a recording named after the date, in the first of these folders that takes it.

        The folders are made where they are missing. Raises ToolkitError where none takes it.

        Args:
            label: what comes before the date, for a recording that is not of this machine.
        """
        name = f"{label}-{new_recording_name(first.taken_at)}".lstrip("-")
        error = ToolkitError("there is no folder to record into")
        for folder in folders:
            others = tuple(other for other in folders if other != folder)
            for number in range(1, 100):
                path = os.path.join(folder, name if number == 1 else f"{name}-{number}")
                try:
                    os.makedirs(folder, mode=0o700, exist_ok=True)
                    return cls.start(first, path, replace(setup, fallback_folders=others))
                except UsageError as found:
                    error = found  # taken: the next number
                except ToolkitError as found:
                    error = found
                    break
                except OSError as found:
                    error = ToolkitError(f"{printable(folder)}: {found.strerror}")
                    break
        raise error

    @property
    def elapsed_s(self) -> float:
        """Seconds from the first row to the last, by the host's steady clock."""
        return self._now_s

    @property
    def samples_waiting(self) -> int:
        """Rows that wait in memory since the disk is full; 0 as a rule."""
        return self._file.held_rows

    def add(self, snapshot: Snapshot, phase: str = RUN) -> None:
        """Write a row; does nothing after `stop`. Never raises for a fault of the disk."""
        with self._lock:
            if self._summary is not None:
                return
            mark, self._marks = "; ".join(self._marks), []
            row = self._rows.row(snapshot, phase, mark)
            self._now_s = row.time_s
            self._note(row.events)
            if self._conditions_wanted and phase == RUN:
                self._conditions_wanted = False
                self._facts = replace(self._facts, conditions=conditions_of(snapshot))
            self._tally.row(row.time_s, phase, row.changes, row.gap_s)
            self._write(row.line)

    def mark(self, text: str) -> None:
        """Mark this moment: an event now, and the text in the `mark` column of the next row."""
        text = printable(text) or "mark"
        with self._lock:
            self._marks.append(text)
            self._note((Event(self._now_s, "mark", text),))

    def event(self, kind: str, text: str) -> None:
        """Note an event of another kind."""
        with self._lock:
            self._note((Event(self._now_s, kind, text),))

    def set_command(self, command: CommandRun) -> None:
        """Tell what became of the command."""
        with self._lock:
            self._facts = replace(self._facts, command=command)

    def stop(self) -> Summary:
        """Write what waits, close the files and return the summary; a second call returns the same.

        May take seconds on a slow disk, so a screen calls it in a thread. Never raises for a fault of the disk: see
        `problems`.
        """
        with self._lock:
            if self._summary is None:
                self._close_file()
                self._finish()
                assert self._summary is not None
            return self._summary

    def discard(self) -> None:
        """End the recording and remove its files: nothing worth keeping was recorded."""
        with self._lock:
            self._file.close(())
            self._summary = self._tally.summary(self._facts)
            for path in (self.path, self.json_path):
                with contextlib.suppress(OSError):
                    os.unlink(path)

    def _close_file(self) -> None:
        first = self._file
        asked = first.path
        where = first.close(self._setup.fallback_folders)
        if first.thinned:
            self._problem(f"{first.thinned} rows were left out: the disk was full for too long")
        if not where:
            self._problem(f"{printable(asked)}: {first.fault}; no other folder took the rest, it is lost")
        elif where != asked and first.split:
            self._problem(f"{printable(asked)} has the first part ({first.fault}); the rest is in {printable(where)}")
        elif where != asked:
            self._problem(f"{printable(asked)}: {first.fault}; the whole recording is in {printable(where)}")
        if first.sync_fault:
            self._problem(f"{printable(asked)}: {first.sync_fault}; some rows may not be on the disk")
        if where and not first.split:
            self.path = where

    def _finish(self) -> None:
        if self._events_left_out:
            self._problem(f"{self._events_left_out} more events are not listed")
        facts = replace(self._facts, events=tuple(self._events), problems=tuple(self.problems), complete=True)
        self._facts = facts
        self._summary = self._tally.summary(facts)
        beside = paths_of(self.path).json
        if self._write_twin(beside, self._summary, last_try=False):
            self.json_path = beside
            return
        # The one from the start is not true any more, and its room may be all that is missing.
        with contextlib.suppress(OSError):
            os.unlink(beside)
        for path in dict.fromkeys((beside, *self._twins_elsewhere())):
            if self._write_twin(path, self._summary):
                self.json_path = path
                return

    def _twins_elsewhere(self) -> list[str]:
        name = os.path.basename(self.json_path)
        return [os.path.join(folder, name) for folder in self._setup.fallback_folders]

    def _write_twin(self, path: str, summary: Summary | None, last_try: bool = True) -> bool:
        try:
            if summary is not None:
                os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
            write_twin(path, twin_json(self._facts, self._rows.columns, summary))
        except OSError as error:
            if summary is not None and last_try:
                self._problem(f"{printable(path)}: {error.strerror or error}")
            return False
        return True

    def _write(self, line: str) -> None:
        written = self._file.append(line.encode("utf-8", "replace"))
        if not written and not self._disk_full:
            self._disk_full = True
            text = f"{printable(self.path)}: {self._file.fault}; rows wait in memory and are tried again"
            self._note((Event(self._now_s, "disk", text),))
            with contextlib.suppress(OSError):  # the terminal that should hear it may be gone
                self._setup.report(text)
        elif written and self._disk_full:
            self._disk_full = False
            self._note((Event(self._now_s, "disk", "the rows that waited are written"),))

    def _problem(self, text: str) -> None:
        self.problems.append(text)

    def _note(self, events: Sequence[Event]) -> None:
        room = EVENT_LIMIT - len(self._events)
        self._events += events[:room]
        self._events_left_out += max(0, len(events) - room)


def _create(paths: RecordingPaths, overwrite: bool) -> RowFile:
    import time

    if not overwrite:
        for path in (paths.csv, paths.json):
            if os.path.lexists(path):
                raise UsageError(f"{printable(path)} is there already", "choose another name, or --force to replace it")
    try:
        return RowFile(paths.csv, overwrite=overwrite, monotonic=time.monotonic)
    except FileExistsError:
        raise UsageError(
            f"{printable(paths.csv)} is there already", "choose another name, or --force to replace it"
        ) from None
    except OSError as error:
        raise ToolkitError(f"{printable(paths.csv)} cannot be made: {error.strerror}") from None


class SnapshotSource(Protocol):
    """What the recorder samples: a ThermalMonitor."""

    def snapshot(self) -> Snapshot:
        """Look at everything; bounded in time."""
        ...


class Clock(Protocol):
    """The time that the recorder keeps its rate by."""

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        ...

    def wait(self, seconds: float) -> None:
        """Wait, or less where something happened."""
        ...


class Recorder:
    """Samples at a steady rate: each moment follows from the start, so that delays do not add up."""

    def __init__(
        self,
        source: SnapshotSource,
        recording: Recording,
        rate_hz: float,
        clock: Clock,
        look: Callable[[Snapshot], None] = _say_nothing,
        edge: Callable[[], Snapshot] | None = None,
    ) -> None:
        """Prepare.

        Args:
            look: sees each snapshot after its row was written.
            edge: takes the first and the last snapshot, so that counters of energy and throttling, which a monitor
                looks at once a second at most, are counted from the start to the end.
        """
        self._source = source
        self._edge = edge or source.snapshot
        self._recording = recording
        self._period_s = 1 / rate_hz
        self._clock = clock
        self._look = look

    def sample(self, phase: str = RUN, *, at_edge: bool = False) -> None:
        """Take one snapshot and write its row."""
        snapshot = self._edge() if at_edge else self._source.snapshot()
        self._recording.add(snapshot, phase)
        self._look(snapshot)

    def run(
        self, done: Callable[[], bool], seconds: float | None = None, phase: str = RUN, sample_now: bool = True
    ) -> None:
        """Sample now (unless a row was just written), then at the rate, and once more at the end.

        The end is when `done` says so, asked after each wait, or when so many seconds passed. A moment that was missed
        since a sample took too long is left out, not made up for.
        """
        began = self._clock.monotonic()
        end = None if seconds is None else began + seconds
        if sample_now:
            self.sample(phase, at_edge=True)
        beat = 0
        while True:
            now = self._clock.monotonic()
            beat = max(beat + 1, int((now - began) / self._period_s) + 1)
            due = began + beat * self._period_s
            if end is not None and due >= end:
                self._is_done_before(end, done)
                break
            if self._is_done_before(due, done):
                break
            self.sample(phase)
        self.sample(phase, at_edge=True)

    def _is_done_before(self, due: float, done: Callable[[], bool]) -> bool:
        """Wait until `due`; True where the recording is to end before."""
        waited = False
        while (left := due - self._clock.monotonic()) > 0:
            self._clock.wait(left)
            waited = True
            if done():
                return True
        return not waited and done()
