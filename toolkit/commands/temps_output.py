"""How a Snapshot is written on the command line: a table, one line, named fields, or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolkit.errors import UsageError
from toolkit.output import table
from toolkit.sensors.clean import heat_word, is_unused, whole
from toolkit.sensors.model import Machine, Quantity, Reading, Snapshot, State
from toolkit.text import printable

_DECIMALS = {
    Quantity.TEMPERATURE: 0,
    Quantity.FAN: 0,
    Quantity.VOLTAGE: 2,
    Quantity.CURRENT: 2,
    Quantity.POWER: 1,
    Quantity.ENERGY: 0,
    Quantity.HUMIDITY: 0,
}


def _number(value: float | None, decimals: int = 0) -> str:
    if value is None:
        return ""
    return f"{value:z.{decimals}f}" if decimals else str(whole(value))


def _class(snapshot: Snapshot) -> str:
    head = snapshot.headline
    return "" if head.celsius is None else heat_word(head.celsius, head.limit_celsius)


FIELDS: dict[str, tuple[str, Callable[[Snapshot], str]]] = {
    "celsius": ("the headline, whole degrees", lambda s: _number(s.headline.celsius)),
    "plain": ("maximum of Tctl and coretemp", lambda s: _number(s.headline.plain_celsius)),
    "source": ("where it comes from", lambda s: s.headline.sources[0] if s.headline.sources else ""),
    "limit": ("the chip's limit", lambda s: _number(s.headline.limit_celsius)),
    "watts": ("power of the CPU packages", lambda s: _number(s.power.package_watts, 1)),
    "mhz": ("mean clock of all cores", lambda s: _number(_mean_mhz(s))),
    "load": ("busy share of the CPUs, percent", lambda s: _number(s.clocks.load_percent)),
    "fan": ("the fastest fan, rpm", lambda s: _number(_fastest_fan(s))),
    "battery": ("charge, percent", lambda s: _number(s.power.batteries[0].percent) if s.power.batteries else ""),
    "class": ("ok, warm or hot, for a style sheet; empty where the chip tells no limit", _class),
    "held": ("held back: yes, likely, no, unknown", lambda s: s.held_back.held.value),
    "by": ("what holds it back", lambda s: s.held_back.by),
}
"""Fields of `--format`: name -> what it is, and how it is made."""


DIFFERENCES = frozenset({"watts", "load", "held", "by"})
"""Fields that are the difference between two looks, or rest on one."""


def describe_fields() -> str:
    """Return the names for the help text."""
    return ", ".join(f"{{{name}}}" for name in FIELDS)


def check_format(text: str) -> None:
    """Raise UsageError where a format names a field that does not exist or is not well-formed."""
    for _, field in _parts(text):
        if field is not None and field not in FIELDS:
            import difflib

            near = difflib.get_close_matches(field, FIELDS, 1)
            hint = f"do you mean {{{near[0]}}}?" if near else f"the fields are {', '.join(FIELDS)}"
            raise UsageError(f"--format: there is no field {{{printable(field, 40)}}}", hint)


def needs_two_looks(text: str) -> bool:
    """True where a checked format has a field that one look cannot give."""
    return any(field in DIFFERENCES for _, field in _parts(text))


def fill_in(text: str, snapshot: Snapshot) -> str:
    """Return a checked format with its fields filled in; what is unknown is left empty. `{{` is a brace."""
    return "".join(before + (FIELDS[field][1](snapshot) if field is not None else "") for before, field in _parts(text))


def _parts(text: str) -> Iterator[tuple[str, str | None]]:
    from string import Formatter

    try:
        for before, field, spec, conversion in Formatter().parse(text):
            if spec or conversion:
                raise UsageError(f"--format: {{{field}}} takes no further format", "write the bare name in braces")
            yield before, field
    except ValueError as error:
        raise UsageError(f"--format: {error}", "write {{ for a brace that is no field") from None


def summary_line(snapshot: Snapshot) -> str:
    """Return the line that `--watch` refreshes."""
    head = snapshot.headline
    words = [f"{head.celsius} °C" if head.celsius is not None else f"-- °C ({head.reason})"]
    if (watts := snapshot.power.package_watts) is not None:
        words.append(f"{watts:.1f} W")
    words += [
        f"{'' if g.kind == 'CPU' else g.kind + ' '}{g.mean_mhz / 1000:.1f} GHz"
        for g in snapshot.clocks.groups
        if g.mean_mhz is not None
    ]
    if (load := snapshot.clocks.load_percent) is not None:
        words.append(f"load {load:.0f} %")
    if (fan := _fastest_fan(snapshot)) is not None:
        words.append(f"fan {fan:.0f} rpm")
    return "  ".join(words) + "  " + snapshot.held_back.sentence


def as_lines(snapshot: Snapshot, machine: Machine, label: str, show_all: bool) -> Iterator[str]:
    """Yield the lines of the plain print: machine, headline, verdict, then every sensor by chip."""
    names = " · ".join(word for word in (machine.model, machine.kernel) if word)
    if names or label:
        yield names + (f"  [{label}]" if label else "")
    yield headline_sentence(snapshot)
    yield snapshot.held_back.sentence
    yield from surroundings(snapshot)
    rows, unused = _rows(snapshot, show_all)
    if rows:
        yield ""
        yield from table(rows, ("SENSOR", "NOW", "LIMIT", "STATE"), right=frozenset({1, 2}))
    if unused:
        yield f"({unused} unused input{'s' if unused > 1 else ''} not listed; --all lists them)"
    for problem in snapshot.problems:
        yield f"- {problem.source}: {problem.reason}" + (f" ({problem.hint})" if problem.hint else "")


def headline_sentence(snapshot: Snapshot) -> str:
    """Return `CPU 54 °C (coretemp · Package id 0, limit 100)`, or why there is no figure."""
    head = snapshot.headline
    if head.celsius is None:
        return f"CPU: no figure: {head.reason}."
    notes = [head.sources[0]]
    if head.limit_celsius is not None:
        notes.append(f"limit {whole(head.limit_celsius)}")
    if head.reason:
        notes.append(head.reason)
    if head.plain_celsius is not None and head.plain_celsius != head.celsius:
        notes.append(f"Tctl {head.plain_celsius}, a control value")
    return f"CPU {head.celsius} °C ({', '.join(notes)})"


def surroundings(snapshot: Snapshot) -> Iterator[str]:
    """Yield `Power: ...` and `Clocks: ...`, each where there is something to say."""
    words = [
        f"{package.name} {package.watts:.1f} W ({package.source})"
        for package in snapshot.power.packages
        if package.watts is not None
    ]
    for battery in snapshot.power.batteries:
        parts = [
            f"{battery.percent:.0f} %" if battery.percent is not None else "",
            (battery.status or "").lower(),
            f"{abs(battery.watts):.1f} W" if battery.watts is not None and abs(battery.watts) >= 0.05 else "",
        ]
        words.append(f"{battery.name} " + ", ".join(part for part in parts if part))
    if snapshot.power.on_ac is not None:
        words.append("on mains" if snapshot.power.on_ac else "on battery")
    if words:
        yield "Power: " + " · ".join(words)
    clocks = [
        f"{'cores' if g.kind == 'CPU' else g.kind + ' cores'} {g.mean_mhz / 1000:.1f} GHz"
        + (f" of {g.ceiling_mhz / 1000:.1f}" if g.ceiling_mhz else "")
        for g in snapshot.clocks.groups
        if g.mean_mhz is not None
    ]
    if (load := snapshot.clocks.load_percent) is not None:
        clocks.append(f"load {load:.0f} %")
    if snapshot.clocks.governor:
        clocks.append(f"governor {snapshot.clocks.governor}")
    if clocks:
        yield "Clocks: " + " · ".join(clocks)


def _rows(snapshot: Snapshot, show_all: bool) -> tuple[list[tuple[str, ...]], int]:
    rows: list[tuple[str, ...]] = []
    unused = 0
    chip = None
    for reading in snapshot.readings:
        if not show_all and is_unused(reading.sensor.chip.name, reading.state, reading.sensor.label, reading.raw):
            unused += 1
            continue
        if reading.sensor.chip != chip:
            chip = reading.sensor.chip
            rows.append((chip.title,))
        rows.append(_row(reading))
    return rows, unused


def _row(reading: Reading) -> tuple[str, ...]:
    sensor = reading.sensor
    decimals = _DECIMALS[sensor.quantity]
    now = f"{_number(reading.value, decimals)} {sensor.quantity.symbol:<3}" if reading.value is not None else "-    "
    state = _state_word(reading)
    if reading.reason:
        state += f": {reading.reason}"
    if reading.alarm:
        state += " (the chip's alarm is set)"
    return f"  {sensor.name}", now, _number(sensor.bar_limit), state


def _state_word(reading: Reading) -> str:
    """Return the state as the screen says it; JSON keeps to `ok`."""
    if reading.state is not State.OK or reading.value is None or reading.sensor.quantity is not Quantity.TEMPERATURE:
        return reading.state.value
    word = heat_word(reading.value, reading.sensor.bar_limit)
    return {"hot": "!! hot", "warm": "! warm"}.get(word, "ok")


def as_dict(snapshot: Snapshot, machine: Machine) -> dict[str, Any]:
    """Return a snapshot as JSON has it: units in key names or beside the value, null for what is unknown."""
    from dataclasses import asdict

    head = snapshot.headline
    return {
        "headline": {
            "celsius": head.celsius,
            "plain_celsius": head.plain_celsius,
            "sources": list(head.sources),
            "rule": head.rule.value,
            "reason": head.reason or None,
            "second_best": head.second_best,
            "limit_celsius": head.limit_celsius,
        },
        "held_back": {
            "held": snapshot.held_back.held.value,
            "by": snapshot.held_back.by or None,
            "sentence": snapshot.held_back.sentence,
            "evidence": list(snapshot.held_back.evidence),
        },
        "machine": asdict(machine),
        "sensors": [reading_as_dict(reading) for reading in snapshot.readings],
        "clocks": {key: value for key, value in asdict(snapshot.clocks).items() if key != "problem"},
        "power": {key: value for key, value in asdict(snapshot.power).items() if key != "problem"}
        | {"package_watts": snapshot.power.package_watts},
        "throttling": asdict(snapshot.throttling),
    }


def reading_as_dict(reading: Reading) -> dict[str, Any]:
    """Return one sensor with its reading as JSON has it."""
    sensor, limits = reading.sensor, reading.sensor.limits
    return {
        "id": sensor.id,
        "chip": sensor.chip.name,
        "title": sensor.chip.title,
        "device": sensor.chip.device,
        "hwmon": sensor.chip.hwmon,
        "index": sensor.index,
        "label": sensor.label,
        "quantity": sensor.quantity.name.lower(),
        "value": reading.value,
        "unit": sensor.quantity.unit,
        "state": reading.state.value,
        "reason": reading.reason or None,
        "alarm": reading.alarm,
        "raw": reading.raw,
        "age_s": round(reading.age_s, 3),
        "max": limits.max,
        "crit": limits.crit,
        "emergency": limits.emergency,
        "min": limits.min,
        "lcrit": limits.lcrit,
        "max_hyst": limits.max_hyst,
        "crit_hyst": limits.crit_hyst,
        "limit": sensor.bar_limit,
    }


def _mean_mhz(snapshot: Snapshot) -> float | None:
    groups = [(g.mean_mhz, len(g.cpus)) for g in snapshot.clocks.groups if g.mean_mhz is not None]
    cores = sum(count for _, count in groups)
    return sum(mhz * count for mhz, count in groups) / cores if cores else None


def _fastest_fan(snapshot: Snapshot) -> float | None:
    speeds = [
        r.value
        for r in snapshot.readings
        if r.sensor.quantity is Quantity.FAN and r.value is not None and r.state is State.OK
    ]
    return max(speeds, default=None)
