"""Recordings side by side."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.snapshots import DISK, FAN, MACHINE, PACKAGE, reading, snapshot
from toolkit.commands.temps_compare import run_compare
from toolkit.errors import UsageError
from toolkit.host.local import LocalHost
from toolkit.sensors.compare import compare, comparison_json, comparison_lines
from toolkit.sensors.loading import LoadedRecording, load_recording
from toolkit.sensors.model import ClockGroup, Clocks, Machine, PackagePower, Power, Sensor, Throttling
from toolkit.sensors.recorder import Recording, Setup
from toolkit.sensors.recording import CommandRun


def _made(
    path: Path,
    values: list[float],
    *,
    machine: Machine = MACHINE,
    on_ac: bool = True,
    governor: str = "powersave",
    second: Sensor = DISK,
    step_s: float = 1.0,
    watts: float = 20.0,
    events: int = 0,
    status: int = 0,
) -> LoadedRecording:
    recording = None
    for number, value in enumerate(values):
        at_s = number * step_s
        group = ClockGroup("P", (0,), 3000.0 - value, None, None, 4800.0, 4800.0)
        taken = snapshot(
            at_s,
            [reading(PACKAGE, value), reading(second, 40)],
            round(value),
            clocks=Clocks((group,), "intel_pstate", governor),
            power=Power((PackagePower("package-0", watts, None, None, "RAPL", at_s * watts),), on_ac=on_ac),
            throttling=Throttling(offered=True, package_events=events * number),
        )
        if recording is None:
            recording = Recording.start(taken, str(path), Setup(machine, 1 / step_s))
        else:
            recording.add(taken)
    assert recording is not None
    recording.set_command(CommandRun(("make", "-j8"), exit_status=status))
    recording.stop()
    return load_recording(str(path))


def test_two_alike_recordings_have_differences_and_no_warning(tmp_path: Path) -> None:
    one = _made(tmp_path / "one", [50, 60, 70, 70])
    two = _made(tmp_path / "two", [52, 70, 82, 82], watts=25.0)
    comparison = compare([one, two])
    assert comparison.warnings == ()
    assert comparison.only == ()
    assert comparison_lines(comparison) == [
        "A  one: Fair: not throttled, started at 50 °C, on mains.",
        "B  two: Fair: not throttled, started at 52 °C, on mains.",
        "",
        "                                             A               B           B - A",
        "                                   MEAN     MAX    MEAN     MAX    MEAN     MAX",
        "CPU headline               °C      60.0    70.0    68.0    82.0    +8.0   +12.0",
        "CPU package                W       20.0    20.0    25.0    25.0    +5.0    +5.0",
        "Energy                     J       60.0            75.0           +15.0",
        "P-core clock               MHz     2940    2950    2932    2948      -8      -2",
        "Throttle events                       0               0               0",
        "Duration                   s        3.0             3.0             0.0",
        "coretemp / Package id 0    °C      60.0    70.0    68.0    82.0    +8.0   +12.0",
        "nvme / Composite           °C      40.0    40.0    40.0    40.0     0.0     0.0",
    ]


def test_what_makes_them_incomparable_is_said(tmp_path: Path) -> None:
    one = _made(tmp_path / "one", [50, 60])
    other = Machine("ThinkPad T14", MACHINE.kernel, "AMD Ryzen 7", None)
    two = _made(
        tmp_path / "two", [75, 85, 90], machine=other, on_ac=False, governor="performance", step_s=3.0, status=2
    )
    assert compare([one, two]).warnings == (
        "Different machines: A Framework Laptop 13, B ThinkPad T14.",
        "Different processors: A Intel Core i7-1165G7, B AMD Ryzen 7.",
        "Different power: A on mains, B on battery.",
        "Different governors: A powersave, B performance.",
        "Different starts: A 50 °C, B 75 °C.",
        "B: the command ended with exit status 2.",
    )


def test_a_different_rate_and_a_hot_start_are_said(tmp_path: Path) -> None:
    one = _made(tmp_path / "one", [75, 85, 90, 90, 90], step_s=0.1)
    two = _made(tmp_path / "two", [76, 85, 90, 91], step_s=1.0)
    assert compare([one, two]).warnings == (
        "Started hot: A, B.",
        "Different sampling rates, so short peaks may be missing: A 10 a second, B 1 a second.",
    )


def test_sensors_that_one_lacks_are_listed_apart(tmp_path: Path) -> None:
    comparison = compare([_made(tmp_path / "one", [50, 60]), _made(tmp_path / "two", [50, 60], second=FAN)])
    assert comparison.only == (("nvme / Composite", ("A",)), ("cros_ec / fan1", ("B",)))
    assert comparison_lines(comparison)[-3:] == [
        "Not in all of them:",
        "  nvme / Composite (only A)",
        "  cros_ec / fan1 (only B)",
    ]


def test_sensors_match_by_id_though_their_columns_have_other_names(tmp_path: Path) -> None:
    from toolkit.sensors.model import Quantity

    twin = replace(DISK, id="nvme@other/temp/Composite", chip=replace(DISK.chip, device="other"))
    recording = Recording.start(
        snapshot(0, [reading(PACKAGE, 50), reading(DISK, 41), reading(twin, 61)]),
        str(tmp_path / "two"),
        Setup(MACHINE, 1),
    )
    recording.add(snapshot(1, [reading(PACKAGE, 50), reading(DISK, 41), reading(twin, 61)]))
    recording.stop()
    comparison = compare([_made(tmp_path / "one", [50, 60]), load_recording(str(tmp_path / "two"))])
    (row,) = [row for row in comparison.rows if row.key == DISK.id]
    assert row.values == (40.0, 41.0)
    assert comparison.only == (("nvme / Composite", ("B",)),)
    assert Quantity.TEMPERATURE.unit == row.unit


def test_without_a_twin_sensors_match_by_name(tmp_path: Path) -> None:
    _made(tmp_path / "one", [50, 60])
    (tmp_path / "one.json").unlink()
    comparison = compare([load_recording(str(tmp_path / "one")), _made(tmp_path / "two", [50, 60])])
    assert [row.key for row in comparison.rows if row.is_sensor] == [
        "coretemp/Package id 0 [celsius]",
        "nvme/Composite [celsius]",
    ]
    assert comparison.warnings == ("A: its JSON file is missing, so machine, command and limits are not known.",)


def test_a_recording_without_rows_can_be_compared(tmp_path: Path) -> None:
    one = _made(tmp_path / "one", [50, 60])
    header = (tmp_path / "one.csv").read_text().splitlines()[0]
    (tmp_path / "two.csv").write_text(header + "\n")
    comparison = compare([one, load_recording(str(tmp_path / "two"))])
    assert "B: it has no rows." in comparison.warnings
    assert any("-" in line for line in comparison_lines(comparison))


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_table_fits_80_columns(tmp_path: Path, count: int) -> None:
    long = replace(PACKAGE, label="a label that is far too long for any table")
    found = []
    for number in range(count):
        path = tmp_path / f"run-with-a-long-name-{number}"
        found.append(_made(path, [50.0 + number, 99.5, 104.0], second=replace(long, id="x"), events=1000 * number))
    lines = comparison_lines(compare(found))
    assert max(map(len, lines)) <= 80
    letters = "ABCDE"[:count]
    assert any(line.split()[:count] == list(letters) for line in lines)


def test_equal_names_from_two_folders_stay_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    one, two = _made(tmp_path / "a" / "run", [50, 60]), _made(tmp_path / "b" / "run", [75, 80])
    assert compare([one, two]).warnings == ("Different starts: A 50 °C, B 75 °C.",)


def test_json_has_units_and_lists_in_the_order_given(tmp_path: Path) -> None:
    comparison = compare([_made(tmp_path / "one", [50, 60]), _made(tmp_path / "two", [60, 70], events=2)])
    data = json.loads(json.dumps(comparison_json(comparison)))
    assert [r["letter"] + r["name"] for r in data["recordings"]] == ["Aone", "Btwo"]
    rows = {row["key"]: row for row in data["rows"]}
    assert rows["headline"] == {
        "key": "headline",
        "title": "CPU headline",
        "unit": "celsius",
        "mean": [50.0, 60.0],
        "max": [60.0, 70.0],
    }
    assert rows["throttle_events"]["value"] == [0.0, 2.0]
    assert [r["fair"] for r in data["recordings"]] == [True, False]


@pytest.mark.parametrize("count", [1, 6])
def test_a_wrong_number_of_recordings_is_a_usage_error(count: int) -> None:
    with pytest.raises(UsageError, match="2 to 5"):
        run_compare(argparse.Namespace(compare=["x"] * count, json=False), LocalHost())


def test_the_command_prints_to_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _made(tmp_path / "one", [50, 60])
    _made(tmp_path / "two", [50, 60])
    files = [str(tmp_path / "one.csv"), str(tmp_path / "two.json")]
    assert run_compare(argparse.Namespace(compare=files, json=False), LocalHost()) == 0
    assert capsys.readouterr().out.startswith("A  one: Fair")
    assert run_compare(argparse.Namespace(compare=files, json=True), LocalHost()) == 0
    assert json.loads(capsys.readouterr().out)["data"]["recordings"][1]["path"] == str(tmp_path / "two.csv")
