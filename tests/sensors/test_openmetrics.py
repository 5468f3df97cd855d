"""The textfile collector's format, read back by Prometheus' own parser and by a small strict one."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.snapshots import DISK, FAN, MACHINE, PACKAGE, UNIX_START, reading, sensor, snapshot
from toolkit.errors import ToolkitError
from toolkit.sensors import openmetrics
from toolkit.sensors.model import (
    Battery,
    ClockGroup,
    Clocks,
    Held,
    HeldBack,
    Machine,
    PackagePower,
    Power,
    Quantity,
    Reading,
    Snapshot,
    State,
    Throttling,
)
from toolkit.sensors.openmetrics import escape_label, render_openmetrics, write_openmetrics

Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]

_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"')


def parse(text: str) -> tuple[Series, dict[str, str]]:
    """A strict reader of the exposition format, written from its specification and not from our writer."""
    series: Series = {}
    types: dict[str, str] = {}
    helped: set[str] = set()
    current = ""
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helped, f"second HELP for {name}"
            helped.add(name)
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"second TYPE for {name}"
            assert kind in ("gauge", "counter")
            types[name] = kind
            current = name
            continue
        found = _NAME.match(line)
        assert found is not None, line
        name, rest = found.group(), line[found.end() :]
        assert name == current, f"{name} stands under {current}"
        labels = []
        if rest.startswith("{"):
            rest = rest[1:]
            while not rest.startswith("}"):
                label = _LABEL.match(rest)
                assert label is not None, rest
                value = re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), label.group(2))
                labels.append((label.group(1), value))
                rest = rest[label.end() :].removeprefix(",")
            rest = rest[1:]
            assert len({key for key, _ in labels}) == len(labels)
        assert rest.startswith(" ")
        assert rest.count(" ") == 1, "a time stamp: the collector refuses the file"
        key = (name, tuple(sorted(labels)))
        assert key not in series, f"twice: {key}"
        series[key] = float(rest)
    assert types.keys() == helped
    return series, types


def by_prometheus(text: str) -> Series:
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus_client is not installed")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parser.text_string_to_metric_families(text)
        for sample in family.samples
    }


def _full() -> Snapshot:
    group = ClockGroup("P", (0, 1), 2400.5, 800.0, 2600.0, 4800.0, None)
    return snapshot(
        12.5,
        [
            reading(PACKAGE, 54.125),
            reading(FAN, 4210),
            reading(DISK, None, State.ASLEEP, "asleep"),
            reading(sensor("BAT0", None, Quantity.VOLTAGE, 0, "LNXSYSTM:00"), 12.3),
        ],
        54,
        clocks=Clocks(groups=(group,), load_percent=12.5),
        power=Power(
            (PackagePower("package-0", 9.5, 28.0, 64.0, "RAPL", 1234.5),),
            on_ac=False,
            batteries=(Battery("BAT0", 83.0, "Discharging", -9.25), Battery("BAT1", None, None, None)),
        ),
        throttling=Throttling(offered=True, package_events=3, core_events=12, throttled_ms=1500),
        held_back=HeldBack(Held.YES, "temperature"),
    )


def test_every_value_is_there_in_base_units() -> None:
    text = render_openmetrics(_full(), MACHINE)
    series, types = parse(text)
    assert by_prometheus(text) == series

    def one(name: str, **labels: str) -> float:
        (value,) = [v for (n, said), v in series.items() if n == name and labels.items() <= dict(said).items()]
        return value

    assert one("toolkit_temperature_celsius", chip="coretemp", sensor="temp1", label="Package id 0") == 54.125
    assert one("toolkit_temperature_celsius", device="platform/coretemp.0") == 54.125
    assert one("toolkit_temperature_limit_celsius", limit="crit") == 105.0
    assert one("toolkit_fan_rpm", chip="cros_ec") == 4210.0
    assert one("toolkit_voltage_volts", sensor="in0", label="") == 12.3
    assert one("toolkit_cpu_headline_celsius", rule="best", second_best="0") == 54.0
    assert one("toolkit_cpu_clock_hertz", cores="P") == 2400500000.0
    assert one("toolkit_cpu_busy_ratio") == 0.125
    assert one("toolkit_cpu_package_power_watts", package="package-0", source="RAPL") == 9.5
    assert one("toolkit_cpu_package_energy_joules_total") == 1234.5
    assert one("toolkit_cpu_throttle_events_total", scope="package") == 3.0
    assert one("toolkit_cpu_throttle_events_total", scope="core") == 12.0
    assert one("toolkit_cpu_throttled_seconds_total") == 1.5
    assert one("toolkit_cpu_held_back", by="temperature") == 1.0
    assert one("toolkit_cpu_held_back", by="power limit") == 0.0
    assert one("toolkit_mains_online") == 0.0
    assert one("toolkit_battery_charge_ratio", battery="BAT0") == 0.83
    assert one("toolkit_battery_power_watts", battery="BAT0") == -9.25
    assert one("toolkit_machine_info", model="Framework Laptop 13", kernel="6.8.0-31-generic") == 1.0
    assert one("toolkit_scrape_timestamp_seconds") == UNIX_START + 12.5
    assert types["toolkit_cpu_throttle_events_total"] == "counter"
    assert types["toolkit_temperature_celsius"] == "gauge"


def test_a_sensor_without_a_value_has_a_state_and_no_value() -> None:
    series, _ = parse(render_openmetrics(_full(), MACHINE))
    nvme = [
        (name, dict(labels), value) for (name, labels), value in series.items() if dict(labels).get("chip") == "nvme"
    ]
    assert {name for name, _, _ in nvme} == {"toolkit_sensor_state", "toolkit_temperature_limit_celsius"}
    assert [said["state"] for name, said, value in nvme if name == "toolkit_sensor_state" and value == 1.0] == [
        "asleep"
    ]
    states = {said["state"] for name, said, _ in nvme if name == "toolkit_sensor_state"}
    assert states == {state.value for state in State}


def test_nothing_known_gives_no_value_and_no_nan() -> None:
    bare = snapshot(0.0, [reading(PACKAGE, None)], None, power=Power())
    bare = replace(bare, held_back=HeldBack(Held.UNKNOWN))
    text = render_openmetrics(bare, Machine(None, None, None, None))
    series, _ = parse(text)
    assert {name for name, _ in series} == {
        "toolkit_sensor_state",
        "toolkit_temperature_limit_celsius",
        "toolkit_machine_info",
        "toolkit_scrape_timestamp_seconds",
    }
    assert "nan" not in text.lower()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_absent(value: float) -> None:
    odd = snapshot(0.0, [Reading(PACKAGE, State.OK, 1, value)])
    assert "toolkit_temperature_celsius{" not in render_openmetrics(odd, MACHINE)


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("a", "a"),
        ('a"b', r"a\"b"),
        ("a\\b", r"a\\b"),
        ("a\nb", r"a\nb"),
        ('\\"\n', r"\\\"\n"),
        ("{}=,", "{}=,"),
        ("°", "°"),
    ],
)
def test_label_values_are_escaped(value: str, escaped: str) -> None:
    assert escape_label(value) == escaped


NAMES = st.text(st.characters(blacklist_categories=["Cs"]), max_size=10)


@given(st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(1, 2), st.floats(-300, 300)), max_size=6))
def test_any_names_are_read_back_and_no_series_is_there_twice(
    named: list[tuple[str, str, str, int, float]],
) -> None:
    readings = [
        reading(sensor(chip, label, Quantity.TEMPERATURE, index, device), value)
        for chip, label, device, index, value in named
    ]
    text = render_openmetrics(snapshot(0.0, readings), MACHINE)
    series, _ = parse(text)
    found = [(dict(labels), value) for (name, labels), value in series.items() if name == "toolkit_temperature_celsius"]
    assert sorted((said["chip"], said["label"], value) for said, value in found) == sorted(
        (chip, label, value) for chip, label, _, _, value in named
    )


def test_prometheus_reads_hostile_labels_as_we_meant_them() -> None:
    hostile = sensor('a"b\\', 'x\ny{z="1"} 5', device="d")
    text = render_openmetrics(snapshot(0.0, [reading(hostile, 40)]), MACHINE)
    assert by_prometheus(text) == parse(text)[0]


def test_the_file_is_replaced_whole_and_readable_by_all(tmp_path: Path) -> None:
    path = tmp_path / "toolkit.prom"
    path.write_text("old")
    before = os.umask(0o077)
    try:
        assert write_openmetrics(str(path), _full(), MACHINE) is None
    finally:
        os.umask(before)
    assert path.read_text() == render_openmetrics(_full(), MACHINE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["toolkit.prom"]


def test_on_the_way_no_file_that_the_collector_reads_is_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    order: list[str] = []
    fsync, rename = os.fsync, os.replace

    def watch_fsync(descriptor: int) -> None:
        seen.append(sorted(entry.name for entry in tmp_path.iterdir()))
        order.append("fsync")
        fsync(descriptor)

    def watch_replace(source: str, target: str) -> None:
        order.append("replace")
        assert os.path.dirname(source) == str(tmp_path)
        rename(source, target)

    monkeypatch.setattr(os, "fsync", watch_fsync)
    monkeypatch.setattr(os, "replace", watch_replace)
    write_openmetrics(str(tmp_path / "toolkit.prom"), _full(), MACHINE)
    assert order == ["fsync", "replace"]
    assert all(not name.endswith(".prom") for names in seen for name in names)


def test_a_leftover_of_a_killed_run_does_not_stand_in_the_way(tmp_path: Path) -> None:
    (tmp_path / f".t.prom.{os.getpid()}.tmp").write_text("half")
    write_openmetrics(str(tmp_path / "t.prom"), _full(), MACHINE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.prom"]


def test_a_name_that_the_collector_ignores_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openmetrics, "_warned", set())
    path = str(tmp_path / "toolkit.txt")
    problem = write_openmetrics(path, _full(), MACHINE)
    assert problem is not None
    assert problem.source == path
    assert ".prom" in problem.reason
    assert write_openmetrics(path, _full(), MACHINE) is None
    assert parse(Path(path).read_text())[0]


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=r"no/t\.prom cannot be written: No such file or directory"):
        write_openmetrics(str(tmp_path / "no" / "t.prom"), _full(), MACHINE)


def test_a_full_disk_leaves_the_old_file_and_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.prom"
    path.write_text("old\n")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ToolkitError, match="No space left"):
        write_openmetrics(str(path), _full(), MACHINE)
    monkeypatch.undo()
    assert path.read_text() == "old\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.prom"]
