"""Every odd machine of tests/cases/temps is played, and must be read as its expect.json says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.captures import CASES
from tests.support.expectations import check, load_expectations
from toolkit.cli import main
from toolkit.host.read import parse_number
from toolkit.host.replay import ReplayHost
from toolkit.sensors.clean import whole_degrees
from toolkit.sensors.model import State
from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

FOLDERS = sorted(path.parent for path in CASES.glob("*/expect.json"))
BOOTS = sorted(path.parent for path in CASES.glob("**/meta.json"))
ROUNDING = [
    tuple(line.split("\t")) for line in (CASES / "rounding.tsv").read_text().splitlines() if not line.startswith("#")
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_machine_is_read_as_expected(folder: Path) -> None:
    faults = check(folder)
    assert not faults, "\n".join([load_expectations(folder)["title"], *faults])


@pytest.mark.parametrize("folder", BOOTS, ids=lambda path: str(path.relative_to(CASES)))
def test_commands_print_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    look = ["--debug", "--from", str(folder), "temps"]
    assert main([*look, "--all"]) in (0, 1)
    table = capsys.readouterr().out
    assert [line for line in table.split("\n") if not line.isprintable()] == []
    status = main([*look, "--json"])
    data = json.loads(capsys.readouterr().out)["data"]
    celsius = data["headline"]["celsius"]
    assert status == (1 if celsius is None else 0)
    assert {sensor["state"] for sensor in data["sensors"]} <= {state.value for state in State}
    assert all(sensor["value"] is not None for sensor in data["sensors"] if sensor["state"] == "ok")
    assert main([*look, "--headline"]) == status
    assert capsys.readouterr().out == ("" if celsius is None else f"{celsius}\n")


def test_every_case_is_found() -> None:
    assert len(FOLDERS) >= 70
    assert {path.name for path in CASES.iterdir() if path.is_dir()} == {folder.name for folder in FOLDERS}


def test_names_and_titles_are_unique() -> None:
    numbers = Counter(folder.name.split("-")[0] for folder in FOLDERS)
    titles = Counter(load_expectations(folder)["title"] for folder in FOLDERS)
    assert max(numbers.values()) == max(titles.values()) == 1
    assert all(re.fullmatch(r"[TE]\d\d[a-z]?(-[a-z0-9]+)+", folder.name) for folder in FOLDERS)


@pytest.mark.parametrize(("text", "degrees", "why"), ROUNDING, ids=[repr(row[0]) for row in ROUNDING])
def test_rounding(text: str, degrees: str, why: str, tmp_path: Path) -> None:
    value = parse_number(text.encode())
    if degrees != "-":
        assert value is not None, why
        assert whole_degrees(value) == int(degrees), why
    headline = _headline_of(text, tmp_path)
    if degrees == "-" or int(degrees) < -55:
        assert headline is None, why
    else:
        assert headline == int(degrees), why


def _headline_of(text: str, folder: Path) -> int | None:
    """Return the headline of a machine whose one CPU sensor gives this text, without a newline."""
    (folder / "meta.json").write_text('{"schema": 1}')
    chip = folder / "root/sys/class/hwmon/hwmon0"
    chip.mkdir(parents=True)
    (chip / "name").write_text("coretemp\n")
    (chip / "temp1_label").write_text("Package id 0\n")
    (chip / "temp1_input").write_text(text)
    monitor = ThermalMonitor(ReplayHost(str(folder)), MonitorOptions())
    try:
        return monitor.snapshot().headline.celsius
    finally:
        monitor.close()
