"""The file format of a recording: FILE.csv with one row a sample, and FILE.json that explains it.

The CSV stands for itself: units in the header, one row a sample, an empty cell where nothing was known,
numbers with a point. The JSON twin (schema 1) maps each column to the id of its sensor and says what was run on
which machine; it is written at the start, so that it is there even after a crash, and again at the end.

Columns, in this order:

    time_s                     seconds since the recording began, of a clock that never goes back
    unix_time_s                seconds since 1970
    phase                      `before`, `run` or `after` the command; `run` where there is none
    headline_celsius           the CPU's temperature, whole degrees
    CHIP/LABEL [UNIT]          one for each sensor; `CHIP@DEVICE/LABEL [UNIT]` where that would not be unique
    package_power_watt         mean since the row before, all CPU packages
    package_energy_joule       since the recording began
    clock_KIND_mhz             mean over the cores of one type
    load_percent               mean since the row before
    throttle_package_events    since the recording began; core events and time likewise
    throttle_core_events
    throttled_ms
    on_ac                      1 on mains, 0 on battery
    held_back                  by what the machine was held back: `temperature`, `power limit?` (likely), or empty
    mark                       what a person marked
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.errors import UsageError
from toolkit.sensors.model import Machine, Sensor, Snapshot
from toolkit.text import printable

SCHEMA = 1
KIND = "toolkit recording"

TIME = "time_s"
UNIX_TIME = "unix_time_s"
PHASE = "phase"
HEADLINE = "headline_celsius"
POWER = "package_power_watt"
ENERGY = "package_energy_joule"
LOAD = "load_percent"
PACKAGE_EVENTS = "throttle_package_events"
CORE_EVENTS = "throttle_core_events"
THROTTLED_MS = "throttled_ms"
ON_AC = "on_ac"
HELD_BACK = "held_back"
MARK = "mark"

CLOCK_PREFIX, CLOCK_SUFFIX = "clock_", "_mhz"
TEXT_COLUMNS = frozenset({PHASE, HELD_BACK, MARK})
COUNTER_COLUMNS = frozenset({ENERGY, PACKAGE_EVENTS, CORE_EVENTS, THROTTLED_MS})
MEAN_COLUMNS = frozenset({POWER, LOAD})
"""Columns whose value is the mean since the row before, where all others are the value at that moment."""

_DECIMALS = {"celsius": 3, "rpm": 0, "volt": 3, "ampere": 3, "watt": 2, "joule": 3, "percent": 1, "mhz": 0}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the CSV.

    Attributes:
        name: the header.
        unit: as in JSON: celsius, rpm, watt ...; empty for text and flags.
        sensor_id: the id of the sensor; None for what is derived, and where the JSON twin is missing.
        title: what a person reads: `coretemp / Package id 0`.
        limits: `max`, `crit`, `threshold` in the column's unit, as far as there are any.
    """

    name: str
    unit: str = ""
    sensor_id: str | None = None
    title: str = ""
    limits: tuple[tuple[str, float], ...] = ()

    @property
    def is_sensor(self) -> bool:
        """The column holds one sensor, and not something derived."""
        return self.name.endswith("]")

    @property
    def decimals(self) -> int:
        """How many digits after the point are written."""
        return _DECIMALS.get(self.unit, 3)

    def text_of(self, value: float | None) -> str:
        """Return a value as it stands in a cell; empty for None and for what is not a finite number."""
        if value is None or value - value != 0:
            return ""
        text = f"{value:.{self.decimals}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
        return "0" if text == "-0" else text


@dataclass(frozen=True, slots=True)
class RecordingPaths:
    """The two files of a recording."""

    csv: str
    json: str


def paths_of(file: str) -> RecordingPaths:
    """Return both files for a name given with or without `.csv` or `.json`. Raises UsageError for an empty name."""
    base = file
    for suffix in (".csv", ".json"):
        if file.endswith(suffix) and os.path.basename(file) != suffix:
            base = file[: -len(suffix)]
    if not os.path.basename(base) or os.path.isdir(base):
        raise UsageError(f"{file or '(nothing)'}: not the name of a file", "give a name, for example run1")
    return RecordingPaths(base + ".csv", base + ".json")


def plan_columns(snapshot: Snapshot, thresholds: Mapping[str, float]) -> tuple[Column, ...]:
    """Return the columns for a recording that begins with this snapshot.

    Args:
        thresholds: the person's own limits, sensor id -> value in the sensor's unit.
    """
    limit = snapshot.headline.limit_celsius
    columns = [Column(TIME, "s"), Column(UNIX_TIME, "s"), Column(PHASE)]
    columns.append(
        Column(HEADLINE, "celsius", title="CPU headline", limits=(("crit", limit),) if limit is not None else ())
    )
    sensors = [reading.sensor for reading in snapshot.readings]
    for sensor, name in zip(sensors, _sensor_column_names(sensors), strict=True):
        columns.append(
            Column(
                name,
                sensor.quantity.unit,
                sensor.id,
                printable(f"{sensor.chip.name} / {sensor.name}"),
                _limits(sensor, thresholds),
            )
        )
    columns += [Column(POWER, "watt", title="CPU package"), Column(ENERGY, "joule", title="CPU package")]
    columns += [
        Column(f"{CLOCK_PREFIX}{group.kind}{CLOCK_SUFFIX}", "mhz", title=clock_title(group.kind))
        for group in snapshot.clocks.groups
    ]
    columns += [Column(LOAD, "percent", title="CPU load")]
    columns += [Column(PACKAGE_EVENTS), Column(CORE_EVENTS), Column(THROTTLED_MS), Column(ON_AC)]
    return (*columns, Column(HELD_BACK), Column(MARK))


def clock_title(kind: str) -> str:
    """Return what a person calls the clock of a core type."""
    return "CPU clock" if kind == "CPU" else f"{kind}-core clock"


def _limits(sensor: Sensor, thresholds: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    own = thresholds.get(sensor.id)
    found = (("max", sensor.limits.max), ("crit", sensor.limits.crit), ("threshold", own))
    return tuple((kind, value) for kind, value in found if value is not None)


def _sensor_column_names(sensors: Sequence[Sensor]) -> list[str]:
    """Name the columns: as short as can be, longer where two would be the same."""
    forms: tuple[Callable[[Sensor], str], ...] = (
        lambda s: f"{s.chip.name}/{s.name}",
        lambda s: f"{s.chip.name}@{s.chip.device}/{s.name}",
        lambda s: f"{s.chip.name}@{s.chip.device or s.chip.hwmon}/{s.name} {s.quantity.value}{s.index}",
        lambda s: s.id,
    )
    names = [""] * len(sensors)
    waiting = list(range(len(sensors)))
    for form in forms:
        tried = {i: printable(f"{form(sensors[i])} [{sensors[i].quantity.unit}]") for i in waiting}
        count: dict[str, int] = {}
        for name in [*tried.values(), *filter(None, names)]:
            count[name] = count.get(name, 0) + 1
        for i, name in tried.items():
            if count[name] == 1:
                names[i] = name
        waiting = [i for i in waiting if not names[i]]
    taken = set(names)
    for i in waiting:
        number = 2
        unit = sensors[i].quantity.unit
        while (name := printable(f"{sensors[i].id} ({number}) [{unit}]")) in taken:
            number += 1
        names[i] = name
        taken.add(name)
    return names


def cell(text: str) -> str:
    """Quote a text by the rules of RFC 4180 where it needs it."""
    return '"' + text.replace('"', '""') + '"' if any(char in text for char in ',"\r\n') else text


def header_line(columns: Sequence[Column]) -> str:
    """Return the first line of the CSV, with its newline."""
    return ",".join(cell(column.name) for column in columns) + "\n"


def column_of(name: str, described: Mapping[str, Any] | None = None) -> Column:
    """Return the column for a header, with what the JSON twin says about it where there is one."""
    unit = ""
    if name.endswith("]") and " [" in name:
        unit = name[name.rindex(" [") + 2 : -1]
    else:
        for suffix in ("celsius", "watt", "joule", "mhz", "percent", "s"):
            if name.endswith("_" + suffix):
                unit = suffix
                break
    title = _derived_title(name)
    if described is None:
        return Column(name, unit, None, title)
    sensor_id = described.get("sensor")
    said = described.get("title")
    return Column(
        name,
        unit,
        sensor_id if isinstance(sensor_id, str) else None,
        printable(said) if isinstance(said, str) and said else title,
        tuple(_described_limits(described.get("limits"))),
    )


def _described_limits(limits: Any) -> Iterable[tuple[str, float]]:
    if isinstance(limits, dict):
        for kind, value in limits.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield printable(str(kind)), float(value)


def _derived_title(name: str) -> str:
    if name.startswith(CLOCK_PREFIX) and name.endswith(CLOCK_SUFFIX):
        return clock_title(name[len(CLOCK_PREFIX) : -len(CLOCK_SUFFIX)])
    known = {HEADLINE: "CPU headline", POWER: "CPU package", ENERGY: "CPU package", LOAD: "CPU load"}
    return known.get(name) or printable(name.rsplit(" [", 1)[0].replace("/", " / ", 1))


def columns_json(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Return the columns as they stand in the JSON twin."""
    return [
        {
            "name": column.name,
            "unit": column.unit or None,
            "sensor": column.sensor_id,
            "title": column.title or None,
            "limits": dict(column.limits),
        }
        for column in columns
    ]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened during a recording.

    Attributes:
        time_s: since the recording began.
        kind: `gone`, `back`, `new`, `gap`, `clock`, `mark`, `command`, `stop`, `disk`.
        text: one clause.
        sensor_id: the sensor it is about, if any.
    """

    time_s: float
    kind: str
    text: str
    sensor_id: str | None = None


@dataclass(frozen=True, slots=True)
class Conditions:
    """What held when the recording (or the command in it) began; None where the machine does not say.

    Attributes:
        start_celsius, limit_celsius: the headline at the start, and the limit of its chip.
        clock_limits: core type, what the policy allows and what the hardware allows, in MHz.
        throttle_offered, throttle_reason: whether the CPU counts thermal events, and why not.
        power_source, power_reason: where the package power comes from, or why there is none.
    """

    rule: str = ""
    driver: str | None = None
    governor: str | None = None
    energy_preference: str | None = None
    platform_profile: str | None = None
    boost: bool | None = None
    on_ac: bool | None = None
    start_celsius: int | None = None
    limit_celsius: float | None = None
    clock_limits: tuple[tuple[str, float | None, float | None], ...] = ()
    throttle_offered: bool | None = None
    throttle_reason: str = ""
    power_source: str = ""
    power_reason: str = ""


NO_CONDITIONS = Conditions()


def conditions_of(snapshot: Snapshot) -> Conditions:
    """Return the conditions that a snapshot tells."""
    clocks, power, throttling = snapshot.clocks, snapshot.power, snapshot.throttling
    sources = dict.fromkeys(package.source for package in power.packages)
    return Conditions(
        rule=snapshot.headline.rule.value,
        driver=clocks.driver,
        governor=clocks.governor,
        energy_preference=clocks.energy_preference,
        platform_profile=clocks.platform_profile,
        boost=clocks.boost,
        on_ac=power.on_ac,
        start_celsius=snapshot.headline.celsius,
        limit_celsius=snapshot.headline.limit_celsius,
        clock_limits=tuple((group.kind, group.policy_mhz, group.ceiling_mhz) for group in clocks.groups),
        throttle_offered=throttling.offered,
        throttle_reason=throttling.reason,
        power_source=", ".join(sources),
        power_reason="" if power.packages else (power.problem.reason if power.problem else "no source found"),
    )


@dataclass(frozen=True, slots=True)
class CommandRun:
    """The command that ran beside the recording.

    Attributes:
        exit_status: as a shell gives it: 128 + n where signal n ended it, 126 or 127 where it could not start;
            None while it runs.
        started_s, ended_s: since the recording began.
        user_s, system_s: CPU seconds of it and of its children that it waited for.
        peak_bytes: memory of the largest of these processes.
        peak_at_most: the true peak is this or less: Linux counts the recorder's own size, too, which the command had
            between fork and exec.
        stopped_by: which sensor and value made the stop rule act; empty otherwise.
    """

    argv: tuple[str, ...]
    exit_status: int | None = None
    started_s: float = 0.0
    ended_s: float | None = None
    user_s: float | None = None
    system_s: float | None = None
    peak_bytes: int | None = None
    peak_at_most: bool = False
    stopped_by: str = ""


NO_MACHINE = Machine(None, None, None, None)


@dataclass(frozen=True, slots=True)
class RecordingFacts:
    """All that a recording says about itself besides its rows."""

    machine: Machine = NO_MACHINE
    started_at: float | None = None
    asked_hz: float | None = None
    conditions: Conditions = NO_CONDITIONS
    command: CommandRun | None = None
    events: tuple[Event, ...] = ()
    problems: tuple[str, ...] = ()
    complete: bool = False
