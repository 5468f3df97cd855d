"""The file format of recordings: what is written is read back, and what is broken is told in one line."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.snapshots import DISK, FAN, MACHINE, PACKAGE, reading, sensor, snapshot, without
from toolkit.errors import UsageError
from toolkit.sensors.loading import load_recording
from toolkit.sensors.model import (
    ClockGroup,
    Clocks,
    Held,
    HeldBack,
    PackagePower,
    Power,
    Quantity,
    Reading,
    Sensor,
    Snapshot,
    State,
    Throttling,
)
from toolkit.sensors.recorder import Recording, Setup
from toolkit.sensors.recording import column_of, header_line, paths_of, plan_columns
from toolkit.sensors.twin import summary_json

SETUP = Setup(MACHINE, rate_hz=1.0)


def _rich(at_s: float, celsius: float | None, watts: float | None = 20.0, events: int = 0) -> Snapshot:
    group = ClockGroup("P", (0, 1), 2400.0 + at_s, 800.0, 2600.0, 4800.0, 4800.0)
    return snapshot(
        at_s,
        [reading(PACKAGE, celsius), reading(FAN, 3000 + at_s), reading(DISK, 40.85)],
        None if celsius is None else round(celsius),
        clocks=Clocks(groups=(group,), governor="powersave", driver="intel_pstate", load_percent=12.34),
        power=Power((PackagePower("package-0", watts, 28.0, 64.0, "RAPL", at_s * 20.0),), on_ac=True),
        throttling=Throttling(
            offered=True, package_events=5 + events, core_events=9 + events, throttled_ms=100 * events
        ),
        held_back=HeldBack(Held.YES, "temperature") if events else HeldBack(Held.NO),
    )


def _record(path: Path, snapshots: list[Snapshot], setup: Setup = SETUP) -> Recording:
    recording = Recording.start(snapshots[0], str(path), setup)
    for taken in snapshots[1:]:
        recording.add(taken)
    return recording


def test_the_header_tells_units_and_the_twin_tells_sensor_ids(tmp_path: Path) -> None:
    recording = _record(tmp_path / "run1", [_rich(0, 54.5), _rich(1, 55)])
    recording.mark("fans, on")
    recording.add(_rich(2, 56))
    recording.stop()
    with open(tmp_path / "run1.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        "time_s",
        "unix_time_s",
        "phase",
        "headline_celsius",
        "coretemp/Package id 0 [celsius]",
        "cros_ec/fan1 [rpm]",
        "nvme/Composite [celsius]",
        "package_power_watt",
        "package_energy_joule",
        "clock_P_mhz",
        "load_percent",
        "throttle_package_events",
        "throttle_core_events",
        "throttled_ms",
        "on_ac",
        "held_back",
        "mark",
    ]
    assert list(rows[2].values()) == [
        *("2.000", "1796070002.000", "run", "56", "56", "3002", "40.85", "20", "40", "2402", "12.3", "0", "0", "0"),
        *("1", "", "fans, on"),
    ]
    twin = json.loads((tmp_path / "run1.json").read_text())
    ids = {column["name"]: column["sensor"] for column in twin["columns"]}
    assert ids["coretemp/Package id 0 [celsius]"] == PACKAGE.id
    assert ids["headline_celsius"] is None
    assert {c["name"]: c["limits"] for c in twin["columns"]}["nvme/Composite [celsius]"] == {"max": 84.0}
    assert twin["schema"] == 1
    assert twin["complete"] is True
    assert twin["machine"]["model"] == "Framework Laptop 13"
    assert twin["rate"] == {"asked_hz": 1.0, "achieved_hz": 1.0}
    assert [event["text"] for event in twin["events"]] == ["fans, on"]


def test_both_files_have_the_mode_of_ordinary_files(tmp_path: Path) -> None:
    _record(tmp_path / "run1", [_rich(0, 50)]).stop()
    assert {path.name for path in tmp_path.iterdir()} == {"run1.csv", "run1.json"}


@pytest.mark.parametrize("given_name", ["run1", "run1.csv", "run1.json"])
def test_the_file_may_be_named_in_three_ways(given_name: str) -> None:
    assert paths_of(f"/tmp/x.y/{given_name}") == paths_of("/tmp/x.y/run1")
    assert paths_of(given_name).csv == "run1.csv"


@pytest.mark.parametrize(
    ("name", "expected"), [("run.5", "run.5.csv"), (".csv", ".csv.csv"), ("a.csv.csv", "a.csv.csv")]
)
def test_other_suffixes_stay(name: str, expected: str) -> None:
    assert paths_of(name).csv == expected


@pytest.mark.parametrize("name", ["", "/", "/tmp", "folder/"])
def test_a_folder_or_nothing_is_no_file_name(name: str) -> None:
    with pytest.raises(UsageError, match="not the name of a file"):
        paths_of(name)


def test_equal_labels_get_columns_of_their_own() -> None:
    twins = [
        sensor("nvme", "Composite", device="pci/01"),
        sensor("nvme", "Composite", device="pci/02"),
        sensor("dell_smm", "Other", device="platform/dell", index=1),
        sensor("dell_smm", "Other", device="platform/dell", index=2),
    ]
    names = [c.name for c in plan_columns(snapshot(0, [reading(s, 40) for s in twins]), {}) if c.is_sensor]
    assert names == [
        "nvme@pci/01/Composite [celsius]",
        "nvme@pci/02/Composite [celsius]",
        "dell_smm@platform/dell/Other temp1 [celsius]",
        "dell_smm@platform/dell/Other temp2 [celsius]",
    ]


LABELS = st.text(max_size=12)


@given(st.lists(st.tuples(LABELS, LABELS, st.sampled_from(list(Quantity)), st.integers(1, 3)), max_size=8))
def test_any_labels_give_unique_columns_that_a_csv_reader_reads_back(
    named: list[tuple[str, str, Quantity, int]],
) -> None:
    sensors = [sensor(chip, label, quantity, index) for chip, label, quantity, index in named]
    columns = plan_columns(snapshot(0, [reading(s, 1.0) for s in sensors]), {})
    names = [column.name for column in columns]
    assert len(set(names)) == len(names)
    (back,) = csv.reader(io.StringIO(header_line(columns)), strict=True)
    assert back == names
    assert [column_of(name).unit for name in back if name.endswith("]")] == [s.quantity.unit for s in sensors]


VALUES = st.one_of(st.none(), st.integers(-55000, 125000).map(lambda milli: milli / 1000))
STEPS = st.lists(
    st.tuples(
        st.sampled_from([0.05, 0.5, 1.0, 1.001, 7.5]),  # to the next row
        VALUES,
        VALUES,
        st.one_of(st.none(), st.floats(0, 90)),  # watts
        st.integers(0, 3),  # new thermal events
        st.sampled_from([0.0, 0.0, 0.0, 3600.0]),  # slept
        st.sampled_from(["", "", "", "mark", 'say "x", ok']),
    ),
    min_size=1,
    max_size=25,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(STEPS)
def test_the_file_gives_the_summary_that_was_made_live(tmp_path: Path, steps: list[tuple[object, ...]]) -> None:
    at_s, slept_s, events = 0.0, 0.0, 0
    recording = None
    for step, one, two, watts, more, sleep, mark in steps:
        events += more
        taken = snapshot(
            at_s,
            [reading(PACKAGE, one), reading(DISK, two)],
            None if one is None else round(one),
            slept_s=slept_s,
            power=Power((PackagePower("package-0", watts, None, None, "RAPL"),), on_ac=bool(more)),
            throttling=Throttling(offered=True, package_events=events),
            held_back=HeldBack(Held.LIKELY, "power limit") if more else HeldBack(Held.NO),
        )
        if recording is None:
            recording = Recording.start(taken, str(tmp_path / "run"), Setup(MACHINE, 1.0, overwrite=True))
        else:
            recording.add(taken)
        if mark:
            recording.mark(mark)
        at_s, slept_s = at_s + step, slept_s + sleep
    live = recording.stop()
    loaded = load_recording(str(tmp_path / "run"))
    assert loaded.notes == ()
    assert loaded.summary == live
    assert summary_json(loaded.summary) == json.loads((tmp_path / "run.json").read_text())["summary"]


def test_wherever_the_file_is_cut_the_whole_rows_before_count(tmp_path: Path) -> None:
    _record(tmp_path / "run", [_rich(second, 50 + second) for second in range(4)]).stop()
    data = (tmp_path / "run.csv").read_bytes()
    header_end = data.index(b"\n") + 1
    cut = tmp_path / "cut.csv"
    for end in range(header_end, len(data)):
        cut.write_bytes(data[:end])
        loaded = load_recording(str(cut))
        assert loaded.summary.samples == data[:end].count(b"\n") - 1
        assert ("its last line was cut and is left out" in loaded.notes) == (data[end - 1 : end] != b"\n")
    for end in range(header_end):
        cut.write_bytes(data[:end])
        with pytest.raises(UsageError, match=r"cut\.csv:1: empty, or cut in its first line"):
            load_recording(str(cut))


def test_zeros_at_the_end_after_a_power_cut_are_a_cut_line(tmp_path: Path) -> None:
    _record(tmp_path / "run", [_rich(0, 50), _rich(1, 51)]).stop()
    with open(tmp_path / "run.csv", "ab") as stream:
        stream.write(b"\0" * 512)
    loaded = load_recording(str(tmp_path / "run"))
    assert loaded.summary.samples == 2
    assert loaded.notes == ("its last line was cut and is left out",)


def test_without_the_twin_the_csv_stands_for_itself(tmp_path: Path) -> None:
    live = _record(tmp_path / "run", [_rich(second, 50 + second, events=second) for second in range(6)]).stop()
    (tmp_path / "run.json").unlink()
    loaded = load_recording(str(tmp_path / "run"))
    assert loaded.notes == ("its JSON file is missing, so machine, command and limits are not known",)
    assert loaded.summary.headline.stats == live.headline.stats
    assert [s.stats for s in loaded.summary.sensors] == [s.stats for s in live.sensors]
    assert loaded.summary.energy_j == live.energy_j == 100.0
    assert loaded.summary.package_events == 5
    assert loaded.summary.throttled_ms == 500
    assert [s.column.title for s in loaded.summary.clocks] == ["P-core clock"]
    assert [s.column.unit for s in loaded.summary.sensors] == ["celsius", "rpm", "celsius"]


def test_without_the_twin_a_gap_is_seen_by_the_usual_step(tmp_path: Path) -> None:
    _record(tmp_path / "run", [_rich(second, 50) for second in (0, 10, 20, 30, 90, 100)], Setup(MACHINE, 0.1)).stop()
    (tmp_path / "run.json").unlink()
    summary = load_recording(str(tmp_path / "run")).summary
    assert (summary.gaps, summary.gap_s) == (1, 60.0)


def test_a_recording_that_was_killed_says_so_and_counts(tmp_path: Path) -> None:
    recording = _record(tmp_path / "run", [_rich(0, 50), _rich(1, 60)])  # never stopped
    loaded = load_recording(str(tmp_path / "run"))
    assert loaded.notes == ("it was not ended properly; what had been written is used",)
    assert loaded.summary.samples == 2
    assert loaded.facts.machine == MACHINE
    assert dict(loaded.columns[3].limits) == {"crit": 100.0}
    recording.stop()


HEADER = b"time_s,unix_time_s,phase,headline_celsius,coretemp/Core 0 [celsius]\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "x.csv:1: empty, or cut in its first line; not a recording"),
        (b"\x7fELF\x02\x01\n", "x.csv:1: the first column is not time_s; not a recording"),
        (b"hello\n", "x.csv:1: the first column is not time_s; not a recording"),
        (b"time_s,a,a\n", "x.csv:1: the column a is there twice"),
        (HEADER + b"0,1,run,50,50\n1,2,run,50\n", "x.csv:3: 4 cells where the header has 5"),
        (HEADER + b"0,1,run,50,5x0\n", "x.csv:2: '5x0' is not a number (column coretemp/Core 0 [celsius])"),
        (HEADER + b"0,1,run,nan,50\n", "x.csv:2: 'nan' is not a number (column headline_celsius)"),
        (HEADER + b"0,1,run,50,\x1b[31m\n", "x.csv:2: '\\x1b[31m' is not a number (column coretemp/Core 0 [celsius])"),
        (HEADER + b",1,run,50,50\n", "x.csv:2: no time in the column time_s"),
        (HEADER + b"5,1,run,50,50\n4,2,run,50,50\n", "x.csv:3: the time goes back in the column time_s"),
        (HEADER + b'0,1,run,50,"50"x\n', "x.csv:2: not CSV (',' expected after '\"')"),
    ],
)
def test_garbage_is_one_line_with_file_and_line(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        load_recording(str(tmp_path / "x"))
    assert caught.value.message == f"{tmp_path}/{message}"
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"schema": 1,\n "kind":', "x.json:2: not JSON (Expecting value)"),
        ("[1]", "x.json:1: not the JSON of a recording"),
        ('{"schema": 1}', "x.json:1: not the JSON of a recording"),
        ('{"schema": 2, "kind": "toolkit recording"}', "x.json: schema 2, this version reads 1"),
        ("[" * 100_000, "x.json:1: not JSON that a recording has (nested too deeply)"),
    ],
)
def test_a_broken_twin_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.csv").write_bytes(HEADER)
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        load_recording(str(tmp_path / "x.csv"))
    assert caught.value.message == f"{tmp_path}/{message}"
    assert "move it away" in caught.value.hint


def test_a_missing_recording_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nothing\.csv: no such recording"):
        load_recording(str(tmp_path / "nothing"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_recording_or_a_usage_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(HEADER + data)
    message = ""
    try:
        load_recording(str(tmp_path / "x"))
    except UsageError as error:
        message = error.message
    assert "\n" not in message


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(max_size=6), children, max_size=4),
    max_leaves=10,
)
KEYS = st.sampled_from(["machine", "command", "rate", "conditions", "columns", "events", "problems", "started_at"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.dictionaries(KEYS, JSON_VALUES, max_size=6))
def test_a_twin_with_wrong_types_counts_as_not_said(tmp_path: Path, said: dict[str, object]) -> None:
    (tmp_path / "x.csv").write_bytes(HEADER + b"0,1,run,50,50\n1,2,run,52,52\n")
    (tmp_path / "x.json").write_text(json.dumps({**said, "schema": 1, "kind": "toolkit recording"}))
    summary = load_recording(str(tmp_path / "x")).summary
    assert summary.samples == 2
    assert summary.headline.stats is not None


def test_a_sensor_that_dies_leaves_empty_cells_and_events(tmp_path: Path) -> None:
    full, dead = snapshot(0, [reading(PACKAGE, 50), reading(DISK, 40)]), reading(DISK, None)
    recording = Recording.start(full, str(tmp_path / "run"), SETUP)
    recording.add(snapshot(1, [full.readings[0], dead]))
    recording.add(snapshot(2, [full.readings[0], dead]))
    recording.add(snapshot(3, [full.readings[0], reading(DISK, 44)]))
    recording.add(without(snapshot(4, [full.readings[0], reading(DISK, 44)]), DISK))
    new = sensor("nct6775", "SYSTIN", device="platform/nct6775")
    recording.add(snapshot(5, [full.readings[0], reading(new, 33)]))
    summary = recording.stop()
    with open(tmp_path / "run.csv", newline="") as stream:
        cells = [row["nvme/Composite [celsius]"] for row in csv.DictReader(stream)]
    assert cells == ["40", "", "", "44", "", ""]
    assert [(e.time_s, e.kind, e.text) for e in summary.facts.events] == [
        (1.0, "gone", "nvme / Composite: EIO: the read failed"),
        (3.0, "back", "nvme / Composite has a value again"),
        (4.0, "gone", "nvme / Composite: no longer there"),
        (5.0, "new", "nct6775 / SYSTIN came; it has no column in this recording"),
    ]
    disk = summary.sensors[1]
    assert disk.stats is not None
    assert (disk.stats.known_s, disk.stats.mean) == (2.0, 42.0)


def test_a_slow_chips_old_value_counts_and_an_unreadable_one_does_not(tmp_path: Path) -> None:
    slow = Reading(DISK, State.SLOW, 40000, 40.0, "takes 1.5 s to answer")
    summary = _record(tmp_path / "run", [snapshot(at, [slow, reading(PACKAGE, None)]) for at in range(3)]).stop()
    assert [s.stats is not None for s in summary.sensors] == [True, False]


def _same_reading_twice(which: Sensor) -> list[Snapshot]:
    kept = reading(which, 50)
    return [snapshot(0, [kept]), snapshot(1, [kept]), snapshot(2, [reading(which, 50)])]


def test_an_equal_reading_is_the_same_as_the_identical_one(tmp_path: Path) -> None:
    summary = _record(tmp_path / "run", _same_reading_twice(PACKAGE)).stop()
    assert summary.sensors[0].stats is not None
    assert summary.sensors[0].stats.known_s == 2.0
    assert summary.facts.events == ()
