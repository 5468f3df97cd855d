"""A recording read back from its files.

The summary is always made from the CSV, so a file that was cut by a crash, or by hand to the part that counts,
has the summary of what is there. The JSON twin adds what the CSV does not say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.errors import UsageError
from toolkit.sensors.recording import PHASE, TEXT_COLUMNS, TIME, UNIX_TIME, Column, RecordingFacts, column_of, paths_of
from toolkit.sensors.summary import RUN, Summary, Tally, Value, gap_seconds
from toolkit.sensors.twin import facts_of, read_twin
from toolkit.text import printable

_LINE_LIMIT = 1 << 20
_PERIOD_ROWS = 50
"""Rows from which the period is estimated where the JSON twin does not tell the rate."""


@dataclass(frozen=True, slots=True)
class LoadedRecording:
    """A recording from files.

    Attributes:
        name: what it is called in a table: the file's name without `.csv`.
        path: of the CSV.
        notes: what is wrong with the files without making them useless, one clause each.
    """

    name: str
    path: str
    columns: tuple[Column, ...]
    summary: Summary
    notes: tuple[str, ...] = ()

    @property
    def facts(self) -> RecordingFacts:
        """What the recording says about itself."""
        return self.summary.facts


def load_recording(file: str) -> LoadedRecording:
    """Read a recording, given as `run1`, `run1.csv` or `run1.json`.

    A last line that was cut (a crash, a full disk) is left out; a missing JSON twin is made up for.
    Raises UsageError, one line that names file and line, for a missing file and for what is no recording.
    """
    paths = paths_of(file)
    try:
        document = read_twin(paths.json)
        with open(paths.csv, "rb") as stream:
            lines = _Lines(paths.csv, stream)
            return _load(paths.csv, lines, document)
    except FileNotFoundError:
        raise UsageError(f"{printable(paths.csv)}: no such recording") from None
    except OSError as error:
        raise UsageError(f"{printable(error.filename or paths.csv)}: {error.strerror or error}") from None


class _Lines:
    """The lines of a file as text, without the last one where it was cut, and the number of the present one."""

    def __init__(self, path: str, stream: Any) -> None:
        self.path = printable(path)
        self.number = 0
        self.cut = False
        self._stream = stream

    def __iter__(self) -> Iterator[str]:
        while line := self._stream.readline(_LINE_LIMIT):
            self.number += 1
            if not line.endswith(b"\n") or line.startswith(b"\0"):
                if len(line) >= _LINE_LIMIT:
                    raise UsageError(f"{self.path}:{self.number}: a line of a megabyte; not a recording")
                self.cut = True
                return
            yield line.decode("utf-8", "replace")

    def wrong(self, text: str) -> UsageError:
        """Return the error for the present line."""
        return UsageError(f"{self.path}:{self.number}: {text}")


def _load(path: str, lines: _Lines, document: dict[str, Any] | None) -> LoadedRecording:
    import csv

    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, None)
        if header is None:
            raise UsageError(f"{lines.path}:1: empty, or cut in its first line; not a recording")
        columns = _columns(lines, header, document)
        facts = facts_of(document) if document is not None else RecordingFacts()
        summary = _Reader(lines, columns, facts).read(rows)
    except csv.Error as error:
        raise lines.wrong(f"not CSV ({error})") from None
    notes = []
    if document is None:
        notes.append("its JSON file is missing, so machine, command and limits are not known")
    elif not facts.complete:
        notes.append("it was not ended properly; what had been written is used")
    if lines.cut:
        notes.append("its last line was cut and is left out")
    name = os.path.basename(path).removesuffix(".csv")
    return LoadedRecording(printable(name, 60), path, columns, summary, tuple(notes))


def _columns(lines: _Lines, header: Sequence[str], document: dict[str, Any] | None) -> tuple[Column, ...]:
    described = document.get("columns") if document is not None else None
    by_name = {
        entry["name"]: entry
        for entry in (described if isinstance(described, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("name"), str)
    }
    if not header or header[0] != TIME:
        raise lines.wrong(f"the first column is not {TIME}; not a recording")
    if len(set(header)) != len(header):
        twice = next(name for i, name in enumerate(header) if name in header[:i])
        raise lines.wrong(f"the column {printable(twice, 60)} is there twice")
    return tuple(column_of(name, by_name.get(name)) for name in header)


class _Reader:
    """Feeds the rows of a CSV to a tally."""

    def __init__(self, lines: _Lines, columns: tuple[Column, ...], facts: RecordingFacts) -> None:
        self._lines = lines
        self._columns = columns
        self._facts = facts
        self._tally = Tally(columns)
        names = [column.name for column in columns]
        self._phase = names.index(PHASE) if PHASE in names else None
        self._unix = names.index(UNIX_TIME) if UNIX_TIME in names else None
        self._is_text = [name in TEXT_COLUMNS for name in names]
        self._last = [""] * len(names)
        self._last_time: tuple[float, float] | None = None

    def read(self, rows: Iterator[list[str]]) -> Summary:
        period_s = 1 / self._facts.asked_hz if self._facts.asked_hz else None
        if period_s is None:
            head = [row for row, _ in zip(rows, range(_PERIOD_ROWS), strict=False)]
            period_s = self._estimate(head)
            # The numbers of these lines are those of a second pass over them.
            last_number, first = self._lines.number, self._lines.number - len(head)
            for offset, row in enumerate(head, start=1):
                self._lines.number = first + offset
                self._row(row, period_s)
            self._lines.number = last_number
        for row in rows:
            self._row(row, period_s)
        return self._tally.summary(self._facts)

    def _estimate(self, rows: list[list[str]]) -> float:
        from itertools import pairwise

        times = []
        for row in rows:
            try:
                times.append(float(row[0]))
            except (IndexError, ValueError):
                break
        steps = sorted(after - before for before, after in pairwise(times))
        return max(steps[len(steps) // 2], 0.0) if steps else 1.0

    def _row(self, row: list[str], period_s: float) -> None:
        if len(row) != len(self._columns):
            raise self._lines.wrong(f"{len(row)} cells where the header has {len(self._columns)}")
        time_s = self._number(row[0], 0)
        if time_s is None:
            raise self._lines.wrong(f"no time in the column {TIME}")
        unix_s = self._number(row[self._unix], self._unix) if self._unix is not None else None
        wall_s = time_s if unix_s is None else unix_s
        gap_s = 0.0
        if self._last_time is not None:
            steady = time_s - self._last_time[0]
            if steady < 0:
                raise self._lines.wrong(f"the time goes back in the column {TIME}")
            gap_s = gap_seconds(steady, wall_s - self._last_time[1], period_s)
        self._last_time = time_s, wall_s
        phase = row[self._phase] if self._phase is not None else RUN
        self._tally.row(time_s, phase, self._changes(row), gap_s)

    def _changes(self, row: list[str]) -> list[tuple[int, Value]]:
        changes: list[tuple[int, Value]] = []
        for index, (text, last) in enumerate(zip(row, self._last, strict=True)):
            if text != last:
                changes.append((index, text if self._is_text[index] else self._number(text, index)))
        self._last = row
        return changes

    def _number(self, text: str, index: int) -> float | None:
        if not text:
            return None
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if number - number != 0:
            column = printable(self._columns[index].name, 60)
            raise self._lines.wrong(f"'{printable(text, 40)}' is not a number (column {column})")
        return number
