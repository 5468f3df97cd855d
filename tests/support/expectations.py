"""The expectations that stand beside a captured machine in `expect.json`, and how they are checked.

One object with

    title       one line: what is odd about this machine
    source      public reports (`owner/repo#n`) or kernel documents it comes from; `(ours)` where we made it up
    note        optional: more for the reader
    options     optional: `rule` (best, tctl), `read_disks`, `wake`: the options of the monitor
    steps       what a snapshot says at `at_s` seconds of the machine's clock; see STEP_KEYS
    captures    instead of `steps`: the boots of one machine, `{"a": {"steps": ...}, "b": ...}`, one folder each

and claims about the whole of a case:

    never_opened        files that are not opened; links are followed before they are compared
    never_shown         texts that stand in no label, name, title, reason or id
    reads_at_most       file -> how often it may be read over all steps
    opened_at_most      file -> how often it may be opened
    read_once_per_tick  no value file is read twice for one snapshot
    clock_moves_at_most_s   what a snapshot after the first may take on the machine's clock
    same_ids            every step, and every boot, has the same sensors by id
    ids_only_in         boot -> rows whose ids no other boot has
    labels_printable    no control character stands in what is shown

A row is named by `chip` with `label` or `index`, and `quantity` (temp unless given); `hwmon` and `device` tell chips of
one name apart. What else stands in a row is compared. An unknown key is an error, so that a slip of the pen does
not make a case say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from toolkit.host.replay import ReplayHost
from toolkit.sensors.model import Quantity, Reading, Rule, Snapshot
from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

CASE_KEYS = {
    "title", "source", "note", "options", "steps", "captures", "never_opened", "never_shown", "reads_at_most",
    "opened_at_most", "read_once_per_tick", "clock_moves_at_most_s", "same_ids", "ids_only_in", "labels_printable",
}  # fmt: skip
STEP_KEYS = {
    "at_s", "headline", "rows", "absent_rows", "no_ok_rows", "row_count", "row_order", "throttling", "power",
    "held_back", "clocks", "machine", "problems_contain", "changed_sensors",
}  # fmt: skip
ROW_NAMES = {"chip", "label", "index", "quantity", "hwmon", "device"}
LIMITS = {"max", "crit", "emergency", "min", "lcrit", "max_hyst", "crit_hyst"}


@dataclass
class Run:
    """What one machine did while its steps were played."""

    host: ReplayHost
    snapshots: list[Snapshot] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def load_expectations(folder: Path) -> dict[str, Any]:
    """Return the expectations of a case or a capture. Raises ValueError for an unknown key."""
    expect: dict[str, Any] = json.loads((folder / "expect.json").read_text())
    _known(f"{folder.name}/expect.json", expect, CASE_KEYS)
    if not expect.get("title") or not expect.get("source"):
        raise ValueError(f"{folder.name}/expect.json: title and source are needed")
    if ("steps" in expect) == ("captures" in expect):
        raise ValueError(f"{folder.name}/expect.json: either steps or captures is needed")
    return expect


def check(folder: Path) -> list[str]:
    """Play the machine of a folder and return what differs from its expectations, one line each."""
    expect = load_expectations(folder)
    if "steps" in expect:
        boots = {"": play(folder, expect, expect["steps"])}
    else:
        boots = {name: play(folder / name, expect, boot["steps"]) for name, boot in expect["captures"].items()}
    faults = [f"{name} {fault}".strip() for name, run in boots.items() for fault in run.faults]
    ids = {name: {reading.sensor.id for reading in run.snapshots[-1].readings} for name, run in boots.items()}
    if expect.get("same_ids") and len({frozenset(found) for found in ids.values()}) != 1:
        faults.append(f"the boots have different ids: {ids}")
    for name, rows in expect.get("ids_only_in", {}).items():
        others = set().union(*(found for other, found in ids.items() if other != name))
        for wanted in rows:
            found = [reading.sensor.id for reading in select(boots[name].snapshots[-1], wanted)]
            if not found or set(found) & others:
                faults.append(f"boot {name}: {wanted} should be there with an id of its own, has {found}")
    return faults


def play(folder: Path, expect: dict[str, Any], steps: list[dict[str, Any]]) -> Run:
    """Take a snapshot at each step, on the virtual clock, and compare it."""
    run = Run(ReplayHost(str(folder), clock="virtual"))
    run.faults += [f"the capture has a problem: {problem}" for problem in run.host.problems]
    monitor = ThermalMonitor(run.host, options_of(expect))
    try:
        for step in steps:
            _known(f"step {step.get('at_s')}", step, STEP_KEYS)
            run.host.sleep(step["at_s"] - run.host.monotonic())
            before, reads = run.host.monotonic(), run.host.reads.copy()
            snapshot = monitor.snapshot()
            run.snapshots.append(snapshot)
            at = f"at {step['at_s']} s:"
            run.faults += [f"{at} {fault}" for fault in compare(snapshot, step)]
            twice = {path: count for path, count in (run.host.reads - reads).items() if count > 1}
            if expect.get("read_once_per_tick") and twice:
                run.faults.append(f"{at} read more than once for one snapshot: {twice}")
            took = run.host.monotonic() - before
            if len(run.snapshots) > 1 and took > expect.get("clock_moves_at_most_s", float("inf")):
                run.faults.append(f"{at} the snapshot took {took:.3f} s")
    finally:
        monitor.close()
    run.faults += list(_over_all(run, expect))
    return run


def options_of(expect: dict[str, Any]) -> MonitorOptions:
    """Return the monitor's options as a case wants them."""
    options = dict(expect.get("options", {}))
    _known("options", options, {"rule", "read_disks", "wake"})
    if "rule" in options:
        options["rule"] = Rule(options["rule"])
    return MonitorOptions(**options)


def select(snapshot: Snapshot, wanted: dict[str, Any]) -> list[Reading]:
    """Return the readings that a row names."""
    quantity = Quantity(wanted.get("quantity", "temp"))
    return [
        reading
        for reading in snapshot.readings
        if reading.sensor.quantity is quantity
        and wanted.get("chip") in (None, reading.sensor.chip.name)
        and ("label" not in wanted or reading.sensor.label == wanted["label"])
        and ("index" not in wanted or reading.sensor.index == wanted["index"])
        and wanted.get("hwmon") in (None, reading.sensor.chip.hwmon)
        and wanted.get("device") in (None, reading.sensor.chip.device)
    ]


def compare(snapshot: Snapshot, step: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between a snapshot and what a step says of it."""
    yield from _compare_headline(snapshot, step.get("headline", {}))
    for wanted in step.get("rows", []):
        yield from _compare_row(snapshot, wanted)
    for wanted in step.get("absent_rows", []):
        for reading in select(snapshot, wanted):
            yield f"there should be no row {_name(reading)}"
    for wanted in step.get("no_ok_rows", []):
        for reading in select(snapshot, wanted):
            if reading.value is not None:
                yield f"{_name(reading)} should show no value, shows {reading.value} ({reading.state.value})"
    for chip, count in step.get("row_count", {}).items():
        found = [_name(reading) for reading in snapshot.readings if reading.sensor.chip.name == chip]
        if len(found) != count:
            yield f"{chip} should have {count} rows, has {len(found)}: {found}"
    for chip, names in step.get("row_order", {}).items():
        found = [r.sensor.name for r in snapshot.readings if r.sensor.chip.name == chip]
        if found != names:
            yield f"the rows of {chip} should be {names}, are {found}"
    yield from _compare_rest(snapshot, step)


def _compare_headline(snapshot: Snapshot, wanted: dict[str, Any]) -> Iterator[str]:
    head = snapshot.headline
    sources = "; ".join(head.sources)
    for key, value in wanted.items():
        if key == "reason_contains":
            right = value in head.reason
        elif key == "source_contains":
            right = value in sources
        elif key == "source_excludes":
            right = value not in sources
        else:
            right = _same(getattr(head, key), value)
        if not right:
            yield f"headline: {key} should be {value!r}; it is {head}"
    if wanted.get("celsius", 0) is None and not head.reason:
        yield "headline: there is no figure and no reason"


def _compare_row(snapshot: Snapshot, wanted: dict[str, Any]) -> Iterator[str]:
    found = select(snapshot, wanted)
    if len(found) != 1:
        there = [_name(reading) for reading in snapshot.readings]
        yield f"{_short(wanted)} should be one row, is {len(found)}; there are {there}"
        return
    reading = found[0]
    sensor = reading.sensor
    actual = {
        "state": reading.state.value,
        "value": reading.value,
        "alarm": reading.alarm,
        "bar_limit": sensor.bar_limit,
        "label_is": sensor.label,
        **{key: getattr(sensor.limits, key) for key in LIMITS},
    }
    for key, value in wanted.items():
        if key == "reason_contains":
            if value not in reading.reason:
                yield f"{_name(reading)}: the reason should contain {value!r}, is {reading.reason!r}"
        elif key == "title_contains":
            if value not in sensor.chip.title:
                yield f"{_name(reading)}: the title should contain {value!r}, is {sensor.chip.title!r}"
        elif key not in ROW_NAMES and not _same(actual[key], value):
            yield f"{_name(reading)}: {key} should be {value!r}, is {actual[key]!r} ({reading.reason})"
    if reading.state.value not in ("ok", "slow") and (reading.value is not None or not reading.reason):
        yield f"{_name(reading)}: {reading.state.value} needs a reason and has no value: {reading}"


def _compare_rest(snapshot: Snapshot, step: dict[str, Any]) -> Iterator[str]:
    throttling = dict(step.get("throttling", {}))
    reason = throttling.pop("reason_contains", "")
    if reason not in snapshot.throttling.reason:
        yield f"throttling: the reason should contain {reason!r}, is {snapshot.throttling.reason!r}"
    yield from _compare_fields("throttling", snapshot.throttling, throttling)
    held = dict(step.get("held_back", {}))
    if "held" in held and snapshot.held_back.held.value not in _as_list(held.pop("held")):
        yield f"held back: should be {step['held_back']}, is {snapshot.held_back}"
    yield from _compare_fields("held back", snapshot.held_back, held)
    yield from _compare_power(snapshot, dict(step.get("power", {})))
    clocks = dict(step.get("clocks", {}))
    groups = {group.kind: list(group.cpus) for group in snapshot.clocks.groups}
    if clocks.pop("groups", groups) != groups:
        yield f"clocks: the groups should be {step['clocks']['groups']}, are {groups}"
    yield from _compare_fields("clocks", snapshot.clocks, clocks)
    if "changed_sensors" in step and snapshot.changed_sensors is not step["changed_sensors"]:
        yield f"changed_sensors should be {step['changed_sensors']}"
    for text in step.get("problems_contain", []):
        if not any(text in f"{p.source} {p.reason} {p.hint}" for p in snapshot.problems):
            yield f"a problem should mention {text!r}; there are {snapshot.problems}"


def _compare_power(snapshot: Snapshot, wanted: dict[str, Any]) -> Iterator[str]:
    power = snapshot.power
    if "problem_contains" in wanted:
        text = wanted.pop("problem_contains")
        said = f"{power.problem.reason} {power.problem.hint}" if power.problem is not None else ""
        if text not in said:
            yield f"power: the problem should contain {text!r}, is {power.problem}"
    if "packages" in wanted and len(power.packages) != wanted.pop("packages"):
        yield f"power: another number of packages: {power.packages}"
    for key in ("energy_j", "long_limit_w", "short_limit_w"):
        if key in wanted:
            value = wanted.pop(key)
            found = [getattr(package, key) for package in power.packages]
            if len(found) != 1 or not _same(found[0], value):
                yield f"power: {key} should be [{value}], is {found}"
    batteries = {battery.name: battery for battery in power.batteries}
    for name, fields in wanted.pop("batteries", {}).items():
        if name not in batteries:
            yield f"power: battery {name} is missing, there are {sorted(batteries)}"
        else:
            yield from _compare_fields(f"battery {name}", batteries[name], fields)
    yield from _compare_fields("power", power, wanted)


def _compare_fields(what: str, actual: object, wanted: dict[str, Any]) -> Iterator[str]:
    for key, value in wanted.items():
        if not _same(getattr(actual, key), value):
            yield f"{what}: {key} should be {value!r}, is {getattr(actual, key)!r}"


def _over_all(run: Run, expect: dict[str, Any]) -> Iterator[str]:
    host = run.host
    opened = {host.realpath(path) for path in host.opened}
    for path in expect.get("never_opened", []):
        if host.realpath(path) in opened:
            yield f"{path} was opened and must not be"
    for key, counter in (("reads_at_most", host.reads), ("opened_at_most", host.opened)):
        for path, most in expect.get(key, {}).items():
            count = sum(number for other, number in counter.items() if host.realpath(other) == host.realpath(path))
            if count > most:
                yield f"{path}: {key.replace('_', ' ')} {most}, is {count}"
    shown = "\n".join(text for snapshot in run.snapshots for text in shown_texts(snapshot))
    yield from (f"{text!r} is shown" for text in expect.get("never_shown", []) if text in shown)
    if expect.get("labels_printable"):
        yield from (f"not printable: {text!r}" for text in shown.split("\n") if not text.isprintable())
    if expect.get("same_ids"):
        ids = [sorted(reading.sensor.id for reading in snapshot.readings) for snapshot in run.snapshots]
        yield from (f"the ids changed: {ids[0]} to {other}" for other in ids if other != ids[0])


def shown_texts(snapshot: Snapshot) -> Iterator[str]:
    """Yield every text that a person may get to see."""
    yield from (*snapshot.headline.sources, snapshot.headline.reason, snapshot.held_back.sentence)
    yield from snapshot.held_back.evidence
    for reading in snapshot.readings:
        sensor = reading.sensor
        yield from (sensor.id, sensor.name, sensor.chip.name, sensor.chip.title, sensor.chip.device, reading.reason)
    for problem in snapshot.problems:
        yield from (problem.source, problem.reason, problem.hint)


def _same(actual: object, wanted: object) -> bool:
    if isinstance(wanted, (int, float)) and not isinstance(wanted, bool):
        return isinstance(actual, (int, float)) and actual == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    return actual == wanted


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(reading: Reading) -> str:
    return f"{reading.sensor.chip.name}/{reading.sensor.quantity.value}{reading.sensor.index} {reading.sensor.name!r}"


def _short(wanted: dict[str, Any]) -> str:
    return str({key: value for key, value in wanted.items() if key in ROW_NAMES})


def _known(where: str, given: dict[str, Any], keys: set[str]) -> None:
    unknown = sorted(set(given) - keys)
    if unknown:
        raise ValueError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(keys))}")
