"""Every captured machine loads, is read for ten seconds, says what its expect.json states, and no row lies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.captures import CAPTURES, find_capture, machines
from tests.support.expectations import check, shown_texts
from toolkit.host.replay import ReplayHost
from toolkit.sensors.clean import whole_degrees
from toolkit.sensors.model import Limits, Quantity, Reading, Rule, Snapshot, State
from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

MACHINES = machines()
IDS = [path.name for path in MACHINES]
PLAUSIBLE = {
    Quantity.TEMPERATURE: (-50.0, 130.0),
    Quantity.FAN: (0.0, 20_000.0),
    Quantity.VOLTAGE: (-20.0, 60.0),
    Quantity.CURRENT: (-20.0, 20.0),
    Quantity.POWER: (0.0, 500.0),
    Quantity.ENERGY: (0.0, 1e9),
    Quantity.HUMIDITY: (0.0, 100.0),
}
VENDORS_OF_MAC_OR_SERIAL = re.compile(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b", re.IGNORECASE)


def test_every_machine_that_is_described_is_there() -> None:
    assert {
        "framework13-intel", "framework13-amd7040", "thinkpad-p14s-gen6-amd", "thinkpad-t490", "dell-precision-5530",
        "threadripper-2950x", "vm-without-sensors", "hybrid-13th-gen", "framework13",
    } <= set(IDS)  # fmt: skip


@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_loads_without_problems(folder: Path) -> None:
    host = ReplayHost(str(folder))
    host.sleep(3600)
    host.exists("/sys")
    assert host.problems == ()
    assert json.loads((folder / "meta.json").read_text())["note"]


@pytest.mark.parametrize("folder", [path for path in MACHINES if path.parent == CAPTURES], ids=lambda path: path.name)
def test_says_what_its_expectations_state(folder: Path) -> None:
    faults = check(folder)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_no_row_lies_over_ten_seconds(folder: Path) -> None:
    host = ReplayHost(str(folder))
    monitor = ThermalMonitor(host, MonitorOptions())
    try:
        for _ in range(41):
            snapshot = monitor.snapshot()
            assert not list(lies(host, snapshot))
            host.sleep(0.25)
    finally:
        monitor.close()


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_headline_is_the_maximum_of_its_sources(folder: Path, rule: Rule) -> None:
    host = ReplayHost(str(folder))
    monitor = ThermalMonitor(host, MonitorOptions(rule=rule))
    try:
        for _ in range(11):
            snapshot = monitor.snapshot()
            head = snapshot.headline
            raw = {reading.sensor.id: reading.raw for reading in snapshot.readings}
            assert head.rule is rule
            assert (head.celsius is None) == (not head.sensor_ids)
            assert {whole_degrees(raw[sensor_id] or 0) for sensor_id in head.sensor_ids} <= {head.celsius}
            assert head.celsius is not None or head.reason
            host.sleep(1.0)
    finally:
        monitor.close()


@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_links_lead_somewhere(folder: Path) -> None:
    host = ReplayHost(str(folder))
    links = [line.split(" -> ")[0] for line in (folder / "tree.txt").read_text().splitlines() if " -> " in line]
    assert [link for link in links if not host.exists(f"/{link}")] == []
    hwmon = [link for link in links if link.startswith("sys/class/hwmon/")]
    for link in hwmon:
        device = host.realpath(f"/{link}/device")
        assert host.realpath(f"/{link}").startswith(f"{device}/"), link


@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_holds_nothing_personal(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            text = path.read_text()
            assert VENDORS_OF_MAC_OR_SERIAL.search(text) is None
            assert "serial" not in text.lower(), path
            assert "/home/" not in text


@pytest.mark.parametrize("folder", MACHINES, ids=IDS)
def test_can_be_read_by_a_person(folder: Path) -> None:
    lines = (folder / "tree.txt").read_text().splitlines()
    assert sum(line.startswith("# ") for line in lines) >= 5
    assert max(len(line) for line in lines) <= 200
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < 250_000
    assert not any(path.is_symlink() for path in folder.rglob("*")), "a wheel cannot carry links"


def test_is_found_by_name() -> None:
    assert find_capture("T01").name.startswith("T01-")
    assert find_capture("T22/a").name == "a"
    assert find_capture("framework13").parent.name == "demo"
    with pytest.raises(LookupError):
        find_capture("no-such-machine")


def lies(host: ReplayHost, snapshot: Snapshot) -> Iterator[str]:
    """Yield what cannot be true in a snapshot, seen against the captured files themselves."""
    ids = [reading.sensor.id for reading in snapshot.readings]
    if len(set(ids)) != len(ids):
        yield f"an id stands twice: {sorted(ids)}"
    for reading in snapshot.readings:
        yield from (f"{reading.sensor.id}: {lie}" for lie in _lies_of_row(host, reading))
    yield from (f"not printable: {text!r}" for text in shown_texts(snapshot) if not text.isprintable())
    load = snapshot.clocks.load_percent
    if load is not None and not 0.0 <= load <= 100.0:
        yield f"a load of {load} %"
    for package in snapshot.power.packages:
        if package.watts is not None and not 0.0 <= package.watts < 500.0:
            yield f"{package.name} draws {package.watts} W"


def _lies_of_row(host: ReplayHost, reading: Reading) -> Iterator[str]:
    sensor = reading.sensor
    if reading.state is State.OK:
        low, high = PLAUSIBLE[sensor.quantity]
        if reading.value is None or reading.raw is None:
            yield "ok without a value"
        elif not low <= reading.value <= high:
            yield f"{reading.value} is not plausible"
        elif reading.value != reading.raw / sensor.quantity.scale:
            yield f"{reading.value} is not {reading.raw} in its unit"
        elif reading.age_s == 0.0 and not _stood_there(host, sensor.path, reading.raw):
            yield f"{reading.raw} never stood in {sensor.path}"
        if reading.reason:
            yield f"ok with a reason: {reading.reason}"
    elif not reading.reason or (reading.value is not None and reading.state is not State.SLOW):
        yield f"{reading.state} without a reason, or with a value"
    yield from _lies_of_limits(sensor.limits)


def _stood_there(host: ReplayHost, path: str, raw: int) -> bool:
    """True where this number is what the file gives now, or one that stood there since the monitor looked last."""
    try:
        if int(host.read_text(path)) == raw:
            return True
    except (OSError, ValueError):
        pass
    return str(raw) in _values(host.label).get(host.realpath(path), ())


@cache
def _values(name: str) -> dict[str, set[str]]:
    """Return every text that the files which change ever hold."""
    folder = find_capture(name)
    host = ReplayHost(str(folder))
    values: dict[str, set[str]] = {}
    changes = folder / "changes.jsonl"
    for line in changes.read_text().splitlines() if changes.exists() else ():
        change = json.loads(line)
        path = host.realpath("/" + change["path"])
        if path not in values:
            values[path] = {host.read_text(path).strip()}
        values[path].add(change.get("text", ""))
    return values


def _lies_of_limits(limits: Limits) -> Iterator[str]:
    order = [value for value in (limits.max, limits.crit, limits.emergency) if value is not None]
    if order != sorted(order):
        yield f"limits out of order: {limits}"
    for value in (*order, limits.min, limits.lcrit, limits.max_hyst, limits.crit_hyst):
        if value is not None and not -100.0 < value < 30_000.0:
            yield f"a limit that is none: {limits}"
