"""The sampler beside chips that are slow, hang, sleep or vanish, on the real clock and real threads."""

from __future__ import annotations

import errno
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolkit.host.local import LocalHost
from toolkit.sensors.hwmon import find
from toolkit.sensors.model import State
from toolkit.sensors.monitor import ThermalMonitor
from toolkit.sensors.plan import Stuck
from toolkit.sensors.sampler import Sampler


class OddHost(LocalHost):
    """A LocalHost on a fake tree, some of whose value files hang, dawdle or fail."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root))
        self.odd: dict[str, Callable[[], bytes]] = {}
        self.opened: list[str] = []

    def open_value(self, path: str):  # type: ignore[no-untyped-def]
        reader = super().open_value(path)
        self.opened.append(path)
        if path in self.odd:
            reader.read = self.odd[path]
        return reader

    def read_bytes(self, path: str, limit: int = 1 << 20) -> bytes:
        return self.odd[path]() if path in self.odd else super().read_bytes(path, limit)


def make_chip(root: Path, number: int, name: str, **values: str) -> str:
    folder = root / f"sys/class/hwmon/hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    for key, value in values.items():
        (folder / key).write_text(value + "\n")
    return f"/sys/class/hwmon/hwmon{number}"


@pytest.fixture
def host(tmp_path: Path) -> OddHost:
    make_chip(tmp_path, 0, "coretemp", temp1_label="Package id 0", temp1_input="54000")
    return OddHost(tmp_path)


def test_files_are_opened_once_and_read_again(host: OddHost, tmp_path: Path) -> None:
    sampler = Sampler(host, find(host).channels)
    assert sampler.tick(everything=True) == [54000]
    (tmp_path / "sys/class/hwmon/hwmon0/temp1_input").write_text("61000\n")
    assert sampler.tick(everything=True) == [61000]
    assert host.opened == ["/sys/class/hwmon/hwmon0/temp1_input"]
    sampler.close()


def test_a_chip_that_hangs_holds_up_nobody(host: OddHost, tmp_path: Path) -> None:
    chip = make_chip(tmp_path, 1, "ath10k_hwmon", temp1_input="40000")
    freed = threading.Event()

    def hang() -> bytes:
        freed.wait(30)
        return b"41000\n"

    host.odd[f"{chip}/temp1_input"] = hang
    sampler = Sampler(host, find(host).channels)
    started = time.monotonic()
    values = sampler.guarded_tick(everything=True, limit_s=0.2)
    assert values[0] == 54000
    assert isinstance(values[1], Stuck)
    for _ in range(5):
        assert sampler.guarded_tick(limit_s=0.2)[0] == 54000
    assert time.monotonic() - started < 1.0
    freed.set()
    sampler.close()


def test_what_a_given_up_thread_brings_late_is_not_taken_for_new(host: OddHost, tmp_path: Path) -> None:
    chip = make_chip(tmp_path, 1, "nct7802", temp1_input="40000")
    freed = threading.Event()

    def hang() -> bytes:
        freed.wait(30)
        return b"1\n"

    host.odd[f"{chip}/temp1_input"] = hang
    sampler = Sampler(host, find(host).channels)
    sampler.guarded_tick(everything=True, limit_s=0.1)
    freed.set()
    time.sleep(0.05)
    assert isinstance(sampler.guarded_tick(limit_s=0.5)[1], Stuck)
    sampler.close()


def test_a_slow_chip_is_read_apart(host: OddHost, tmp_path: Path) -> None:
    chip = make_chip(tmp_path, 1, "dell_smm", temp1_label="CPU", temp1_input="47000")

    def dawdle() -> bytes:
        time.sleep(0.03)
        return b"47000\n"

    host.odd[f"{chip}/temp1_input"] = dawdle
    sampler = Sampler(host, find(host).channels)
    for _ in range(2):  # twice over 20 ms: then it is moved
        assert sampler.guarded_tick(everything=True)[1] == 47000
    started = time.monotonic()
    for _ in range(20):
        assert sampler.guarded_tick()[1] == 47000
    assert time.monotonic() - started < 0.2
    sampler.close()


def test_a_chip_that_answers_after_seconds_is_said_to_be_slow(host: OddHost, tmp_path: Path) -> None:
    chip = make_chip(tmp_path, 1, "nct7802", temp1_label="VRM", temp1_input="40000")

    def dawdle() -> bytes:
        time.sleep(1.3)
        return b"40000\n"

    host.odd[f"{chip}/temp1_input"] = dawdle
    monitor = ThermalMonitor(host)
    row = monitor.snapshot().readings[1]
    assert row.state is State.SLOW
    assert monitor.snapshot().headline.celsius == 54
    monitor.close()


def test_a_sensor_that_vanishes_and_returns_under_another_number(host: OddHost, tmp_path: Path) -> None:
    monitor = ThermalMonitor(host)
    first = monitor.snapshot()
    gone = OSError(errno.ENODEV, "No such device")

    def fail() -> bytes:
        raise gone

    old = tmp_path / "sys/class/hwmon/hwmon0"
    old.rename(tmp_path / "sys/class/hwmon/hwmon7")
    monitor._rescanned_at -= 10
    second = monitor.snapshot()
    assert second.changed_sensors
    assert [r.sensor.id for r in second.readings] == [r.sensor.id for r in first.readings]
    assert second.readings[0].sensor.chip.hwmon == "hwmon7"
    assert second.headline.celsius == 54
    monitor.close()


def test_an_unchanged_reading_is_the_same_object(host: OddHost, tmp_path: Path) -> None:
    monitor = ThermalMonitor(host)
    first, second = monitor.snapshot(), monitor.snapshot()
    assert first.readings[0] is second.readings[0]
    (tmp_path / "sys/class/hwmon/hwmon0/temp1_input").write_text("61500\n")
    third = monitor.snapshot()
    assert third.readings[0] is not second.readings[0]
    assert third.headline.celsius == 62
    monitor.close()


def test_a_fault_flag_and_a_switched_off_input(host: OddHost, tmp_path: Path) -> None:
    chip = make_chip(tmp_path, 1, "nct6775", temp1_input="41000", temp1_fault="1", temp2_input="0", temp2_enable="0")

    def no_data() -> bytes:
        raise OSError(errno.ENODATA, "No data available")

    host.odd[f"{chip}/temp2_input"] = no_data
    monitor = ThermalMonitor(host)
    states = [reading.state for reading in monitor.snapshot().readings]
    assert states == [State.OK, State.FAULT, State.DISABLED]
    (tmp_path / chip[1:] / "temp1_fault").write_text("0\n")
    time.sleep(1.0)
    assert monitor.snapshot().readings[1].value == 41.0
    monitor.close()


def test_a_file_that_cannot_be_opened_is_tried_again(host: OddHost, tmp_path: Path) -> None:
    chip = tmp_path / make_chip(tmp_path, 1, "nvme", temp1_input="30000")[1:]
    monitor = ThermalMonitor(host)
    (chip / "temp1_input").unlink()
    first = monitor.snapshot()
    assert first.readings[-1].state in (State.UNREADABLE, State.GONE)
    (chip / "temp1_input").write_text("31000\n")
    monitor._rescanned_at -= 10
    monitor.rescan()
    time.sleep(0.01)
    assert monitor.snapshot().readings[-1].value == 31.0
    monitor.close()


def test_chips_with_power_states_of_their_own_are_read_on_a_real_file_system(tmp_path: Path) -> None:
    for number, (name, value) in enumerate((("coretemp", 51000), ("nouveau", 48000), ("k10temp", 45125))):
        chip = tmp_path / f"sys/class/hwmon/hwmon{number}"
        (chip / "device/power").mkdir(parents=True)
        (chip / "device/power/runtime_status").write_text("unsupported\n")
        (chip / "name").write_text(f"{name}\n")
        (chip / "temp1_input").write_text(f"{value}\n")
    monitor = ThermalMonitor(LocalHost(str(tmp_path)))
    for _ in range(2):
        readings = monitor.snapshot().readings
        seen = {reading.sensor.chip.name: (reading.state, reading.value) for reading in readings}
        assert seen == {"coretemp": (State.OK, 51.0), "nouveau": (State.OK, 48.0), "k10temp": (State.OK, 45.125)}
    monitor.close()
