"""What a recording comes to: statistics for each column, energy, throttling, gaps, and whether the run was fair.

`Tally` is fed row by row, live or from a file, and gives the same `Summary` both times.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from toolkit.sensors.clean import whole
from toolkit.sensors.recording import (
    CLOCK_PREFIX,
    CORE_EVENTS,
    COUNTER_COLUMNS,
    ENERGY,
    HEADLINE,
    HELD_BACK,
    LOAD,
    MEAN_COLUMNS,
    ON_AC,
    PACKAGE_EVENTS,
    POWER,
    TEXT_COLUMNS,
    THROTTLED_MS,
    TIME,
    UNIX_TIME,
    Column,
    RecordingFacts,
)
from toolkit.sensors.statistics import Stats, TimeSpent, seconds_at_or_above, stats_of
from toolkit.sensors.verdict import Seen, Verdict, judge

RUN = "run"
CLOCK_JUMP_S = 2.0
"""A jump of the wall clock against the steady clock that is taken for a sleep of the machine."""
GAP_PERIODS = 3.0
LEAST_GAP_S = 2.0


def gap_seconds(steady_s: float, wall_s: float, period_s: float) -> float:
    """Return how long nothing was recorded between two rows; 0 where they follow each other as they should.

    Linux's CLOCK_MONOTONIC stands still while the machine sleeps, so a sleep shows as a jump of the wall clock.

    Args:
        steady_s, wall_s: from one row to the next by the steady and by the wall clock.
        period_s: between two rows as asked for.
    """
    if wall_s - steady_s > CLOCK_JUMP_S:
        return wall_s
    return steady_s if steady_s > max(LEAST_GAP_S, GAP_PERIODS * period_s) else 0.0


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column: its statistics (None where it never had a value) and the seconds at or above each limit."""

    column: Column
    stats: Stats | None
    at_limit: tuple[tuple[str, float, float], ...] = ()
    """Kind of limit, the limit, seconds at or above it."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a recording comes to. Everything is about the part `run`; `before` and `after` are its surroundings.

    Attributes:
        duration_s: from the first to the last row, by a clock that stands still while the machine sleeps.
        achieved_hz: rows a second; None for fewer than three rows.
        gap_s: seconds, by the wall clock where the machine slept, about which nothing is known.
        power: package power; its `stats` are None where there was none, see `facts.conditions.power_reason`.
        energy_j: of all CPU packages.
        package_events, core_events, throttled_ms: None where the CPU does not count them.
        held: by what the machine was held back, and for how many seconds.
        battery_s: seconds on battery.
        before, after: the headline before and after the command.
    """

    facts: RecordingFacts
    duration_s: float
    samples: int
    achieved_hz: float | None
    gaps: int
    gap_s: float
    headline: ColumnSummary
    sensors: tuple[ColumnSummary, ...]
    power: ColumnSummary
    energy_j: float | None
    clocks: tuple[ColumnSummary, ...]
    load: ColumnSummary
    package_events: int | None
    core_events: int | None
    throttled_ms: int | None
    held: tuple[tuple[str, float], ...]
    battery_s: float
    before: Stats | None
    after: Stats | None
    verdict: Verdict


@dataclass(slots=True)
class _Counter:
    """A number that only grows, from 0 at the start of the recording."""

    first: float
    last: float


@dataclass(slots=True)
class _Part:
    """What is kept about the rows of one phase."""

    spent: list[TimeSpent[float]]
    held: TimeSpent[str] = field(default_factory=TimeSpent)
    counters: dict[int, _Counter] = field(default_factory=dict)
    samples: int = 0
    first_s: float = 0.0
    last_s: float = 0.0
    gaps: int = 0
    gap_s: float = 0.0


Value = float | str | None


class Tally:
    """Statistics over rows; only what changed from row to row is told."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = tuple(columns)
        names = [column.name for column in columns]
        skipped = TEXT_COLUMNS | COUNTER_COLUMNS | {TIME, UNIX_TIME}
        self._measured = frozenset(i for i, name in enumerate(names) if name not in skipped)
        self._means = frozenset(i for i, name in enumerate(names) if name in MEAN_COLUMNS)
        self._counted = frozenset(i for i, name in enumerate(names) if name in COUNTER_COLUMNS)
        self._held = names.index(HELD_BACK) if HELD_BACK in names else -1
        self._now: list[Value] = [None] * len(names)
        self._parts: dict[str, _Part] = {}
        self._phase = ""
        self._before_s = 0.0

    def row(self, time_s: float, phase: str, changes: Iterable[tuple[int, Value]], gap_s: float = 0.0) -> None:
        """Take one row.

        Args:
            time_s: never less than that of the row before.
            changes: (column, value) for every column whose value differs from the row before.
            gap_s: nothing is known about the time since the row before, which was this long.
        """
        if phase != self._phase:
            for index, value in changes:
                self._now[index] = value
            self._enter(phase, time_s)
            part = self._parts[phase]
        else:
            part = self._parts[phase]
            if gap_s > 0:
                self._skip(part, time_s, gap_s)
            mean_since = time_s if gap_s > 0 else self._before_s
            for index, value in changes:
                self._now[index] = value
                self._change(part, index, mean_since if index in self._means else time_s, value)
        part.samples += 1
        part.last_s = self._before_s = time_s

    def _change(self, part: _Part, index: int, time_s: float, value: Value) -> None:
        if index in self._measured:
            part.spent[index].change(time_s, value if isinstance(value, float) else None)
        elif index in self._counted:
            if isinstance(value, float):
                part.counters.setdefault(index, _Counter(0.0, value)).last = value
        elif index == self._held:
            part.held.change(time_s, value if isinstance(value, str) and value else None)

    def _enter(self, phase: str, time_s: float) -> None:
        self._leave()
        self._phase = phase
        part = self._parts.get(phase)
        if part is None:
            part = self._parts[phase] = _Part([TimeSpent() for _ in self.columns], first_s=time_s)
            part.counters = {i: _Counter(v, v) for i in self._counted if isinstance(v := self._now[i], float)}
        for index, value in enumerate(self._now):
            self._change(part, index, time_s, value)

    def _leave(self) -> None:
        part = self._parts.get(self._phase)
        if part is not None:
            for spent in part.spent:
                spent.finish(part.last_s)
            part.held.finish(part.last_s)

    def _skip(self, part: _Part, time_s: float, gap_s: float) -> None:
        part.gaps += 1
        part.gap_s += gap_s
        for spent in part.spent:
            spent.skip(self._before_s, time_s)
        part.held.skip(self._before_s, time_s)

    def summary(self, facts: RecordingFacts) -> Summary:
        """Return the summary of the rows so far; further rows may follow only in a new phase."""
        self._leave()
        self._phase = ""
        part = self._parts.get(RUN) or _Part([TimeSpent() for _ in self.columns])
        by_name = {column.name: index for index, column in enumerate(self.columns)}

        def column(name: str) -> ColumnSummary:
            index = by_name.get(name)
            return ColumnSummary(Column(name), None) if index is None else self._column(part, index)

        def grown(name: str) -> float | None:
            counter = part.counters.get(by_name.get(name, -1))
            return counter.last - counter.first if counter is not None else None

        duration_s = part.last_s - part.first_s
        on_ac = part.spent[by_name[ON_AC]].seconds if ON_AC in by_name else {}
        headline = column(HEADLINE)
        return Summary(
            facts=facts,
            duration_s=duration_s,
            samples=part.samples,
            achieved_hz=(part.samples - 1) / duration_s if part.samples > 2 and duration_s > 0 else None,
            gaps=part.gaps,
            gap_s=part.gap_s,
            headline=headline,
            sensors=tuple(self._column(part, i) for i, c in enumerate(self.columns) if c.is_sensor),
            power=column(POWER),
            energy_j=grown(ENERGY),
            clocks=tuple(self._column(part, i) for name, i in by_name.items() if name.startswith(CLOCK_PREFIX)),
            load=column(LOAD),
            package_events=_whole(grown(PACKAGE_EVENTS)),
            core_events=_whole(grown(CORE_EVENTS)),
            throttled_ms=_whole(grown(THROTTLED_MS)),
            held=tuple(sorted(part.held.seconds.items(), key=lambda item: -item[1])),
            battery_s=on_ac.get(0.0, 0.0),
            before=self._headline_of("before", by_name),
            after=self._headline_of("after", by_name),
            verdict=judge(
                facts.conditions,
                Seen(
                    rows=part.samples,
                    has_headline=headline.stats is not None,
                    events=(_whole(grown(PACKAGE_EVENTS)) or 0) + (_whole(grown(CORE_EVENTS)) or 0),
                    throttled_ms=_whole(grown(THROTTLED_MS)),
                    held=part.held.seconds,
                    was_on_battery=0.0 in on_ac,
                    was_on_mains=1.0 in on_ac,
                    gaps=part.gaps,
                    stopped_by=facts.command.stopped_by if facts.command else "",
                ),
            ),
        )

    def _headline_of(self, phase: str, by_name: dict[str, int]) -> Stats | None:
        part = self._parts.get(phase)
        return stats_of(part.spent[by_name[HEADLINE]].seconds) if part is not None and HEADLINE in by_name else None

    def _column(self, part: _Part, index: int) -> ColumnSummary:
        column, seconds = self.columns[index], part.spent[index].seconds
        stats = stats_of(seconds)
        if stats is None:
            return ColumnSummary(column, None)
        at_limit = tuple((kind, limit, seconds_at_or_above(seconds, limit)) for kind, limit in column.limits)
        return ColumnSummary(column, stats, at_limit)


def _whole(value: float | None) -> int | None:
    return None if value is None else whole(value)
