"""The demo: the shipped file is what the generator writes, and a round tells the story that it should."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from itertools import pairwise
from types import ModuleType

import pytest

from tests.support.captures import CAPTURES, DEMO
from toolkit.host.replay import ReplayHost
from toolkit.sensors.model import Held, Reading, Snapshot, State
from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

ROUND_S = 180


@pytest.fixture(scope="module")
def generator() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("make_demo", CAPTURES / "make_demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up by name
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "make_demo", module)
        spec.loader.exec_module(module)
        yield module


@pytest.fixture(scope="module")
def rounds() -> list[Snapshot]:
    """One snapshot a second over two rounds and a bit."""
    host = ReplayHost(str(DEMO))
    monitor = ThermalMonitor(host, MonitorOptions())
    snapshots = []
    for _ in range(2 * ROUND_S + 20):
        snapshots.append(monitor.snapshot())
        host.sleep(1.0)
    monitor.close()
    return snapshots


def test_shipped_file_is_what_the_generator_writes(generator: ModuleType) -> None:
    text, used_uj = generator.generate(DEMO)
    assert (DEMO / "changes.jsonl").read_text() == text
    assert int(generator.read_tree(DEMO)[f"{generator.RAPL}/max_energy_range_uj"]) + 1 == used_uj
    assert len(text) < 250_000


def test_round_ends_where_it_began(generator: ModuleType) -> None:
    host = ReplayHost(str(DEMO))
    start = generator.read_tree(DEMO)
    host.sleep(ROUND_S + 0.05)
    run_on = ("proc/stat", generator.ENERGY)
    differs = [
        path
        for path, text in start.items()
        if not text.startswith("!") and path not in run_on and host.read_text(f"/{path}") != f"{text}\n"
    ]
    assert differs == []
    assert host.problems == ()


def test_every_change_is_to_a_file_that_is_there(generator: ModuleType) -> None:
    host = ReplayHost(str(DEMO))
    text, _ = generator.generate(DEMO)
    for line in text.splitlines():
        path = "/" + line.split('"path":"')[1].split('"')[0]
        assert host.exists(path), path


def test_names_its_machine() -> None:
    monitor = ThermalMonitor(ReplayHost(str(DEMO)), MonitorOptions())
    assert monitor.machine.model == "Framework Laptop 13 (13th Gen Intel Core)"
    assert monitor.machine.kernel == "6.14.0-29-generic"
    assert monitor.machine.distribution == "Ubuntu 24.04.3 LTS"
    monitor.close()


def test_begins_at_54_degrees_and_comes_back(rounds: list[Snapshot]) -> None:
    celsius = [snapshot.headline.celsius or 0 for snapshot in rounds]
    assert celsius[0] == celsius[ROUND_S] == celsius[2 * ROUND_S] == 54
    assert all(52 <= value <= 100 for value in celsius)
    assert 99 <= max(celsius[:ROUND_S]) <= 100
    assert celsius[5:ROUND_S] == celsius[ROUND_S + 5 : 2 * ROUND_S]


def test_heat_limit_comes_first_then_the_power_limit(rounds: list[Snapshot]) -> None:
    assert rounds[10].held_back.held is Held.NO
    assert (rounds[40].held_back.held, rounds[40].held_back.by) == (Held.YES, "temperature")
    assert (rounds[85].held_back.held, rounds[85].held_back.by) == (Held.LIKELY, "power limit")
    assert rounds[170].held_back.held is Held.NO
    assert rounds[60].throttling.package_events >= 12
    assert rounds[60].throttling.core_events >= 3
    assert (rounds[60].throttling.throttled_ms or 0) > 0


def test_counters_that_start_again_are_no_events(rounds: list[Snapshot]) -> None:
    events = [snapshot.throttling.package_events for snapshot in rounds]
    assert events == sorted(events)
    assert events[2 * ROUND_S] == 2 * events[ROUND_S]


def test_power_is_true_over_the_wrap(rounds: list[Snapshot], generator: ModuleType) -> None:
    watts = [snapshot.power.package_watts for snapshot in rounds[1:]]
    assert all(value is not None and 4.5 <= value <= 64.5 for value in watts)
    assert rounds[85].power.package_watts == pytest.approx(28.0, abs=0.2)
    energy = [snapshot.power.packages[0].energy_j or 0.0 for snapshot in rounds]
    assert energy == sorted(energy)
    round_j = (int(generator.read_tree(DEMO)[f"{generator.RAPL}/max_energy_range_uj"]) + 1) / 1e6
    assert energy[2 * ROUND_S] - energy[ROUND_S] == pytest.approx(round_j, rel=1e-6)
    assert sum(value or 0.0 for value in watts) == pytest.approx(energy[-1], rel=1e-6)


def test_load_clocks_and_power_agree(rounds: list[Snapshot]) -> None:
    for second, snapshot in enumerate(rounds[:ROUND_S]):
        if second in range(20, 94):
            assert (snapshot.clocks.load_percent or 0) > 95
        elif second in range(100, 145):
            assert (snapshot.clocks.load_percent or 100) < 10
    kinds = {group.kind: group for group in rounds[85].clocks.groups}
    assert set(kinds) == {"P", "E"}
    assert 2300 < (kinds["P"].mean_mhz or 0) < 2600
    assert 1700 < (kinds["E"].mean_mhz or 0) < 2000
    early = {group.kind: group.mean_mhz for group in rounds[20].clocks.groups}
    assert (early["P"] or 0) > (kinds["P"].mean_mhz or 0)


def test_wireless_card_goes_and_comes_back(rounds: list[Snapshot]) -> None:
    states = [_named(snapshot, "iwlwifi_1", "temp1").state for snapshot in rounds[:ROUND_S]]
    assert states[100] is State.OK
    assert states[125] is State.UNREADABLE
    assert _named(rounds[125], "iwlwifi_1", "temp1").reason.startswith("ENODATA")
    assert states[150] is State.OK


def test_fan_follows(rounds: list[Snapshot]) -> None:
    fan = [_named(snapshot, "cros_ec", "fan1").value for snapshot in rounds[:ROUND_S]]
    assert fan[10] == 0.0
    assert max(value or 0.0 for value in fan) > 5000
    assert (fan[20] or 0.0) < (fan[30] or 0.0)
    assert fan[-1] == 0.0


def test_not_everything_changes_at_once(rounds: list[Snapshot]) -> None:
    for before, after in pairwise(rounds):
        changed = sum(a is not b for a, b in zip(before.readings, after.readings, strict=True))
        assert changed < len(after.readings)


def _named(snapshot: Snapshot, chip: str, name: str) -> Reading:
    return next(r for r in snapshot.readings if r.sensor.chip.name == chip and r.sensor.name == name)


def test_folder_is_small() -> None:
    assert sum(path.stat().st_size for path in DEMO.rglob("*") if path.is_file()) < 250_000
