"""Snapshots turned into the rows of a recording; only what changed since the row before costs time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolkit.sensors.model import Clocks, Held, Power, Reading, Snapshot, Throttling
from toolkit.sensors.recording import (
    CLOCK_PREFIX,
    CLOCK_SUFFIX,
    CORE_EVENTS,
    ENERGY,
    HEADLINE,
    HELD_BACK,
    LOAD,
    MARK,
    ON_AC,
    PACKAGE_EVENTS,
    PHASE,
    POWER,
    THROTTLED_MS,
    Event,
    cell,
    plan_columns,
)
from toolkit.sensors.summary import CLOCK_JUMP_S, Value, gap_seconds
from toolkit.text import printable

LEAST_MEAN_S = 0.2
"""A mean over less than this (the look at the very end) says more about the counter's steps than about the machine."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: as a line of the CSV, and as what changed since the row before.

    Attributes:
        line: with its newline.
        time_s: since the recording began.
        gap_s: nothing is known about the time since the row before, which was this long; 0 as a rule.
    """

    line: str
    time_s: float
    changes: tuple[tuple[int, Value], ...]
    gap_s: float
    events: tuple[Event, ...]


class Rows:
    """Makes the rows of one recording. The columns are those of the sensors that were there at its start.

    A monitor gives the same Reading, Clocks, Power and Throttling object as long as nothing changed, so identity
    tells what to look at.
    """

    def __init__(self, first: Snapshot, thresholds: Mapping[str, float], period_s: float) -> None:
        self.columns = plan_columns(first, thresholds)
        self._period_s = period_s
        self._start_s = first.monotonic_s
        self._name_index = {column.name: index for index, column in enumerate(self.columns)}
        self._sensor_index = {c.sensor_id: i for i, c in enumerate(self.columns) if c.sensor_id is not None}
        self._cells = [""] * len(self.columns)
        self._phase, self._mark = self._name_index[PHASE], self._name_index[MARK]
        self._headline, self._held = self._name_index[HEADLINE], self._name_index[HELD_BACK]
        self._readings: tuple[Reading, ...] = ()
        self._power: Power | None = None
        self._power_s = 0.0
        self._clocks: Clocks | None = None
        self._clocks_s = 0.0
        self._throttling: Throttling | None = None
        self._counted_from = first.throttling
        self._joules = _Joules()
        self._no_column: set[str] = set()
        self._last: tuple[float, float] | None = None
        self._changes: list[tuple[int, Value]] = []
        self._events: list[Event] = []

    def row(self, snapshot: Snapshot, phase: str, mark: str = "") -> Row:
        """Return the row for a snapshot."""
        self._changes, self._events = [], []
        time_s = round(snapshot.monotonic_s - self._start_s, 3)
        if self._last is not None and time_s < self._last[0]:
            time_s = self._last[0]
        gap_s = self._gap(time_s, snapshot.taken_at)
        self._take_readings(snapshot, time_s)
        self._set(self._headline, snapshot.headline.celsius)
        self._take_power(snapshot.power, time_s, gap_s)
        self._take_clocks(snapshot.clocks, time_s)
        self._take_throttling(snapshot.throttling)
        held = snapshot.held_back
        self._set_text(
            self._held, held.by if held.held is Held.YES else f"{held.by}?" if held.held is Held.LIKELY else ""
        )
        cells = self._cells
        cells[0], cells[1] = f"{time_s:.3f}", f"{snapshot.taken_at:.3f}"
        cells[self._phase], cells[self._mark] = phase, cell(mark)
        return Row(",".join(cells) + "\n", time_s, tuple(self._changes), gap_s, tuple(self._events))

    def _gap(self, time_s: float, unix_s: float) -> float:
        gap_s = 0.0
        if self._last is not None:
            steady, wall = time_s - self._last[0], unix_s - self._last[1]
            gap_s = gap_seconds(steady, wall, self._period_s)
            if gap_s > steady + CLOCK_JUMP_S:
                self._event(time_s, "gap", f"the clock jumped {gap_s:.0f} s: the machine slept, or its clock was set")
            elif gap_s:
                self._event(time_s, "gap", f"nothing was sampled for {gap_s:.1f} s")
            elif steady - wall > CLOCK_JUMP_S:
                self._event(time_s, "clock", f"the wall clock went back {steady - wall:.0f} s")
        self._last = time_s, round(unix_s, 3)
        return gap_s

    def _take_readings(self, snapshot: Snapshot, time_s: float) -> None:
        readings, before = snapshot.readings, self._readings
        self._readings = readings
        if len(readings) == len(before) and not snapshot.changed_sensors:
            for old, new in zip(before, readings, strict=True):
                if new is not old:
                    self._take_reading(new, time_s)
            return
        for reading in readings:
            self._take_reading(reading, time_s)
        present = {reading.sensor.id for reading in readings}
        for reading in before:
            if reading.sensor.id not in present:
                self._lose(reading, time_s)

    def _take_reading(self, reading: Reading, time_s: float) -> None:
        index = self._sensor_index.get(reading.sensor.id)
        if index is None:
            if reading.sensor.id not in self._no_column:
                self._no_column.add(reading.sensor.id)
                name = printable(f"{reading.sensor.chip.name} / {reading.sensor.name}")
                self._event(time_s, "new", f"{name} came; it has no column in this recording", reading.sensor.id)
            return
        had_value = bool(self._cells[index])
        self._set(index, reading.value)
        has_value = bool(self._cells[index])
        if had_value and not has_value:
            reason = printable(reading.reason) or reading.state.value
            self._event(time_s, "gone", f"{self.columns[index].title}: {reason}", reading.sensor.id)
        elif has_value and not had_value and time_s > 0:
            self._event(time_s, "back", f"{self.columns[index].title} has a value again", reading.sensor.id)

    def _lose(self, reading: Reading, time_s: float) -> None:
        index = self._sensor_index.get(reading.sensor.id)
        if index is not None and self._cells[index]:
            self._set(index, None)
            self._event(time_s, "gone", f"{self.columns[index].title}: no longer there", reading.sensor.id)

    def _take_power(self, power: Power, time_s: float, gap_s: float) -> None:
        if power is self._power:
            return
        first = self._power is None
        since_s = 0.0 if first or gap_s else time_s - self._power_s
        self._power, self._power_s = power, time_s
        if first or gap_s or since_s >= LEAST_MEAN_S:
            self._set_named(POWER, power.package_watts)
        self._set_named(ENERGY, self._joules.look(power, since_s))
        self._set_named(ON_AC, None if power.on_ac is None else float(power.on_ac))

    def _take_clocks(self, clocks: Clocks, time_s: float) -> None:
        if clocks is self._clocks:
            return
        long_enough = self._clocks is None or time_s - self._clocks_s >= LEAST_MEAN_S
        self._clocks, self._clocks_s = clocks, time_s
        for group in clocks.groups:
            self._set_named(f"{CLOCK_PREFIX}{group.kind}{CLOCK_SUFFIX}", group.mean_mhz)
        if long_enough:
            self._set_named(LOAD, clocks.load_percent)

    def _take_throttling(self, throttling: Throttling) -> None:
        if throttling is self._throttling or not throttling.offered:
            return
        self._throttling = throttling
        start = self._counted_from
        self._set_named(PACKAGE_EVENTS, throttling.package_events - start.package_events)
        self._set_named(CORE_EVENTS, throttling.core_events - start.core_events)
        if throttling.throttled_ms is not None:
            self._set_named(THROTTLED_MS, throttling.throttled_ms - (start.throttled_ms or 0))

    def _set_named(self, name: str, value: float | None) -> None:
        index = self._name_index.get(name)
        if index is not None:
            self._set(index, value)

    def _set(self, index: int, value: float | None) -> None:
        text = self.columns[index].text_of(value)
        if text != self._cells[index]:
            self._cells[index] = text
            self._changes.append((index, float(text) if text else None))

    def _set_text(self, index: int, text: str) -> None:
        if text != self._cells[index]:
            self._cells[index] = text
            self._changes.append((index, text))

    def _event(self, time_s: float, kind: str, text: str, sensor_id: str | None = None) -> None:
        self._events.append(Event(time_s, kind, text, sensor_id))


class _Joules:
    """Energy since the start: by the counter of each package, or from its watts where it has no counter."""

    def __init__(self) -> None:
        self._start: dict[str, float] = {}
        self._grown: dict[str, float] = {}

    def look(self, power: Power, since_s: float) -> float | None:
        """Return the sum over all packages, None where none gives energy or watts.

        Args:
            since_s: seconds for which the watts are the mean.
        """
        for package in power.packages:
            name = package.name
            if package.energy_j is not None:
                self._grown[name] = package.energy_j - self._start.setdefault(name, package.energy_j)
            elif package.watts is not None and name not in self._start:
                self._grown[name] = self._grown.get(name, 0.0) + package.watts * since_s
        return sum(self._grown.values()) if self._grown else None
