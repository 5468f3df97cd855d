from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from toolkit.cli import main
from toolkit.commands.capture import ATTRIBUTES, look_at_everything
from toolkit.errors import NotCaptured
from toolkit.host.local import LocalHost
from toolkit.host.record import RecordingHost
from toolkit.host.replay import ReplayHost
from toolkit.sensors.monitor import ThermalMonitor


def test_a_capture_says_what_is_in_it_and_shows_the_same_machine(
    capture_path: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = capture_path("framework13-intel"), str(tmp_path / "mine.tar.gz")
    assert main(["--from", source, "capture", target]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert lines[0].startswith(f"{target}: ")
    assert " files, " in lines[0]
    assert lines[1].startswith("replaced: ")
    assert "Look it over before you send it" in said.out
    assert f"toolkit --from {target}" in said.out
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o600
    for command in (["temps", "--headline"], ["temps"]):
        assert main(["--from", source, *command]) == main(["--from", target, *command])
    told = capsys.readouterr().out
    assert "coretemp" in told
    first = ThermalMonitor(ReplayHost(source)).snapshot()
    again = ThermalMonitor(ReplayHost(target)).snapshot()
    assert first.headline == again.headline
    assert first.readings == again.readings


def test_values_move_in_the_capture(capture_path: Callable[[str], str], tmp_path: Path) -> None:
    target = tmp_path / "mine"
    assert main(["--demo", "capture", str(target)]) == 0
    replay = ReplayHost(str(target))
    assert replay.problems == ()
    monitor = ThermalMonitor(replay)
    values = []
    for _ in range(3):
        values.append(tuple(reading.raw for reading in monitor.snapshot().readings))
        replay.sleep(1)
    assert len(set(values)) > 1


def test_json(capture_path: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = str(tmp_path / "mine")
    assert main(["--json", "--from", capture_path("thinkpad-t490"), "capture", target]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["data"]["path"] == target
    assert told["data"]["files"] > 20
    assert all(set(entry) == {"path", "errno"} for entry in told["data"]["unreadable"])


def test_what_could_not_be_read_is_listed_with_its_errno(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "meta.json").write_text('{"schema": 1}')
    rapl = [f"sys/class/powercap/intel-rapl:{n}" for n in range(9)]
    lines = ["sys/class/hwmon/hwmon0/name = coretemp", "sys/class/hwmon/hwmon0/temp1_input = 41000"]
    lines += [f"{path}/{what}" for path in rapl for what in ("name = package-0", "energy_uj = !EACCES")]
    (source / "tree.txt").write_text("\n".join(lines))
    assert main(["--from", str(source), "capture", str(tmp_path / "mine")]) == 0
    said = capsys.readouterr().out
    assert "could not be read: 9" in said
    assert "EACCES     /sys/class/powercap/intel-rapl:0/energy_uj" in said
    assert "unreadable.tsv" in said
    listed = (tmp_path / "mine/unreadable.tsv").read_text().splitlines()
    assert listed == [f"{path}/energy_uj\tEACCES" for path in rapl]


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "mine.tar.gz"
    target.write_text("precious")
    assert main(["--demo", "capture", str(target)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert target.read_text() == "precious"
    assert main(["--demo", "capture", "--force", str(target)]) == 0
    assert ReplayHost(str(target)).exists("/sys/class/hwmon")
    assert main(["--demo", "capture", str(tmp_path / "absent/mine")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_seen_before_any_sensor_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(host: object) -> None:
        raise AssertionError("it looked")

    monkeypatch.setattr("toolkit.commands.capture.look_at_everything", look)
    assert main(["--demo", "capture", str(tmp_path / "absent/mine")]) == 2


def test_serial_numbers_are_replaced_unless_they_are_to_be_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "meta.json").write_text('{"schema": 1}')
    (source / "tree.txt").write_text(
        "sys/class/hwmon/hwmon0/name = nvme\nsys/class/hwmon/hwmon0/temp1_input = 41000\n"
        "proc/cmdline = wol=3c:58:c2:aa:bb:cc\nproc/version = Serial Number: S4EMNX0N123456\n"
    )
    for options, kept in ([], False), (["--keep-serials"], True):
        target = tmp_path / f"mine{kept}"
        assert main(["--from", str(source), "capture", str(target), *options]) == 0
        replay = ReplayHost(str(target))
        assert ("S4EMNX0N123456" in replay.read_text("/proc/version")) is kept
        assert "3c:58:c2" not in replay.read_text("/proc/cmdline")
        said = capsys.readouterr().out
        assert "MAC addresses (1)" in said
        assert ("serial numbers kept, as you asked" in said) is kept


def test_nothing_that_sleeps_is_woken(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "meta.json").write_text('{"schema": 1}')
    (source / "tree.txt").write_text(
        "sys/class/hwmon/hwmon0/name = amdgpu\n"
        "sys/class/hwmon/hwmon0/temp1_input = 41000\n"
        "sys/class/hwmon/hwmon0/temp1_crit = 99000\n"
        "sys/class/hwmon/hwmon0/temp1_label = edge\n"
        "sys/class/hwmon/hwmon0/device/power/runtime_status = suspended\n"
        "sys/class/hwmon/hwmon1/name = drivetemp\n"
        "sys/class/hwmon/hwmon1/temp1_input = 30000\n"
        "sys/class/hwmon/hwmon2/name = coretemp\n"
        "sys/class/hwmon/hwmon2/temp1_input = 50000\n"
        "sys/class/hwmon/hwmon2/temp1_reset_history = 1\n"
        "sys/class/hwmon/hwmon2/temp1_unknown_thing = 7\n"
        "sys/class/hwmon/hwmon2/uevent = x\n"
    )
    host = ReplayHost(str(source))
    recorder = RecordingHost(host)
    look_at_everything(recorder)
    for path in (
        "hwmon0/temp1_input",
        "hwmon0/temp1_crit",
        "hwmon1/temp1_input",
        "hwmon2/temp1_reset_history",
        "hwmon2/uevent",
    ):
        assert host.opened[f"/sys/class/hwmon/{path}"] == 0, path
    assert host.opened["/sys/class/hwmon/hwmon2/temp1_unknown_thing"] == 1
    recorder.save(str(tmp_path / "mine"))
    replay = ReplayHost(str(tmp_path / "mine"))
    assert replay.read_text("/sys/class/hwmon/hwmon0/temp1_label") == "edge\n"
    with pytest.raises(NotCaptured):
        replay.read_text("/sys/class/hwmon/hwmon0/temp1_input")
    assert "asleep" in {reading.state.value for reading in ThermalMonitor(replay).snapshot().readings}


def test_a_mounted_tree_can_be_captured_by_anybody(tmp_path: Path) -> None:
    root = tmp_path / "mnt"
    (root / "sys/class/hwmon/hwmon0").mkdir(parents=True)
    (root / "sys/class/hwmon/hwmon0/name").write_text("coretemp\n")
    (root / "sys/class/hwmon/hwmon0/temp1_input").write_text("41000\n")
    (root / "sys/class/hwmon/hwmon0/temp1_label").write_text("Package id 0\n")
    recorder = RecordingHost(LocalHost(str(root)))
    recorder.sleep = lambda seconds: None
    look_at_everything(recorder)
    recorder.save(str(tmp_path / "mine"))
    assert ThermalMonitor(ReplayHost(str(tmp_path / "mine"))).snapshot().headline.celsius == 41


def test_every_pattern_is_a_path_of_the_kernel_s() -> None:
    for folder, names in ATTRIBUTES.items():
        assert folder.startswith("/sys/")
        assert names.split()


@pytest.mark.hardware
def test_this_machine_can_be_captured(tmp_path: Path) -> None:
    target = tmp_path / "mine.tar.gz"
    assert main(["capture", str(target)]) == 0
    replay = ReplayHost(str(target))
    assert replay.problems == ()
    assert replay.meta.kernel == os.uname().release
