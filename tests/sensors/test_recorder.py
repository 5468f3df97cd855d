"""A recording under way: steady rate, gaps, full disks, and the API that a screen uses."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.snapshots import DISK, MACHINE, PACKAGE, FakeClock, FakeMonitor, reading, simple, snapshot
from toolkit.errors import ToolkitError, UsageError
from toolkit.sensors import recorder, rowfile
from toolkit.sensors.loading import load_recording
from toolkit.sensors.model import Clocks, PackagePower, Power, Snapshot
from toolkit.sensors.recorder import EVENT_LIMIT, Recorder, Recording, Setup
from toolkit.sensors.rowfile import RowFile

SETUP = Setup(MACHINE, rate_hz=10.0)


def _rows(path: Path | str) -> list[str]:
    return Path(path).read_text().splitlines()[1:]


# The rate


@pytest.mark.parametrize("rate_hz", [0.1, 1.0, 10.0, 20.0])
def test_delays_do_not_add_up(tmp_path: Path, rate_hz: float) -> None:
    clock = FakeClock()
    monitor = FakeMonitor(clock, [(0.0, 50.0)], look_s=0.013)
    recording = Recording.start(simple(0.0, 50.0), str(tmp_path / "run"), Setup(MACHINE, rate_hz))
    Recorder(monitor, recording, rate_hz, clock).run(lambda: False, 100 / rate_hz)
    recording.stop()
    period = 1 / rate_hz
    assert len(monitor.looks) == 101
    for number, at_s in enumerate(monitor.looks):
        assert at_s == pytest.approx(number * period, abs=1e-6)


def test_a_look_that_takes_too_long_skips_moments_and_keeps_to_the_beat(tmp_path: Path) -> None:
    clock = FakeClock()
    monitor = FakeMonitor(clock, [(0.0, 50.0)], look_s=0.25)
    recording = Recording.start(simple(0.0, 50.0), str(tmp_path / "run"), SETUP)
    Recorder(monitor, recording, 10.0, clock).run(lambda: False, 1.2)
    assert [round(at, 6) for at in monitor.looks] == [0.0, 0.3, 0.6, 0.9, 1.2]
    recording.stop()


def test_it_ends_when_told_and_takes_a_last_sample(tmp_path: Path) -> None:
    clock = FakeClock()
    monitor = FakeMonitor(clock, [(0.0, 50.0), (0.25, 80.0)])
    recording = Recording.start(simple(0.0, 50.0), str(tmp_path / "run"), SETUP)
    clock.ends_at = 0.25
    Recorder(monitor, recording, 10.0, clock).run(lambda: clock.now >= 0.25, sample_now=False)
    summary = recording.stop()
    assert [round(at, 6) for at in monitor.looks] == [0.1, 0.2, 0.25]
    assert summary.headline.stats is not None
    assert summary.headline.stats.maximum == 80.0


def test_the_first_and_the_last_snapshot_may_look_closer(tmp_path: Path) -> None:
    clock = FakeClock()
    monitor = FakeMonitor(clock, [(0.0, 50.0)])
    closer = FakeMonitor(clock, [(0.0, 50.0)])
    recording = Recording.start(simple(0.0, 50.0), str(tmp_path / "run"), SETUP)
    Recorder(monitor, recording, 10.0, clock, edge=closer.snapshot).run(lambda: False, 0.35)
    assert closer.looks == [0.0, 0.35]
    assert [round(at, 6) for at in monitor.looks] == [0.1, 0.2, 0.3]
    recording.stop()


# Statistics over a whole recording


def test_a_sleep_is_a_gap_and_not_part_of_the_mean(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    recording.add(simple(1.0, 40.0))
    recording.add(snapshot(1.1, [reading(PACKAGE, 90)], 90, slept_s=3600.0))  # CLOCK_MONOTONIC stood still
    recording.add(snapshot(2.1, [reading(PACKAGE, 90)], 90, slept_s=3600.0))
    recording.add(snapshot(102.1, [reading(PACKAGE, 30)], 30, slept_s=3600.0))  # stopped with Ctrl+Z, say
    recording.add(snapshot(104.1, [reading(PACKAGE, 30)], 30, slept_s=3600.0))
    summary = recording.stop()
    assert summary.headline.stats is not None
    assert summary.headline.stats.mean == pytest.approx((40 + 90 + 2 * 30) / 4)
    assert summary.headline.stats.known_s == pytest.approx(4.0)
    assert (summary.gaps, round(summary.gap_s, 3)) == (2, 3700.1)
    assert [event.text for event in summary.facts.events] == [
        "the clock jumped 3600 s: the machine slept, or its clock was set",
        "nothing was sampled for 100.0 s",
    ]
    assert summary.verdict.fair is False


def test_a_wall_clock_that_goes_back_is_told_and_is_no_gap(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    recording.add(snapshot(1.0, [reading(PACKAGE, 40)], 40, slept_s=-60.0))
    summary = recording.stop()
    assert summary.gaps == 0
    assert [(event.kind, event.text) for event in summary.facts.events] == [("clock", "the wall clock went back 60 s")]


def test_energy_comes_from_the_counters_since_the_start_of_the_recording(tmp_path: Path) -> None:
    def taken(at_s: float, joules: float) -> object:
        power = Power(tuple(PackagePower(f"package-{n}", 10.0, None, None, "RAPL", joules + n) for n in range(2)))
        return snapshot(at_s, [reading(PACKAGE, 50)], power=power)

    recording = Recording.start(taken(0.0, 500.0), str(tmp_path / "run"), SETUP)  # type: ignore[arg-type]
    recording.add(taken(1.0, 510.0))  # type: ignore[arg-type]
    recording.add(taken(2.0, 530.0))  # type: ignore[arg-type]
    assert recording.stop().energy_j == 60.0


def test_energy_is_integrated_from_watts_where_there_is_no_counter(tmp_path: Path) -> None:
    powers = [Power((PackagePower("PPT", watts, None, None, "amdgpu PPT"),)) for watts in (None, 10.0, 30.0)]
    recording = Recording.start(snapshot(0.0, [], power=powers[0]), str(tmp_path / "run"), SETUP)
    for at_s, power in ((1.0, powers[1]), (1.5, powers[1]), (3.0, powers[2])):
        recording.add(snapshot(at_s, [], power=power))
    summary = recording.stop()
    assert summary.energy_j == 10.0 * 1.0 + 30.0 * 2.0
    assert summary.power.stats is not None
    assert (summary.power.stats.minimum, summary.power.stats.maximum) == (10.0, 30.0)


def test_a_look_at_the_very_end_counts_for_energy_and_not_as_a_mean(tmp_path: Path) -> None:
    def taken(at_s: float, watts: float | None, joules: float) -> Snapshot:
        power = Power((PackagePower("package-0", watts, None, None, "RAPL", joules),))
        return snapshot(at_s, [reading(PACKAGE, 50)], power=power, clocks=Clocks(load_percent=watts))

    recording = Recording.start(taken(0.0, None, 0.0), str(tmp_path / "run"), SETUP)
    recording.add(taken(1.0, 10.0, 10.0))
    recording.add(taken(1.004, 99.0, 10.4))
    summary = recording.stop()
    assert summary.energy_j == 10.4
    assert summary.power.stats is not None
    assert summary.power.stats.maximum == 10.0
    assert summary.load.stats is not None
    assert summary.load.stats.maximum == 10.0


def test_without_power_the_summary_says_why(tmp_path: Path) -> None:
    from toolkit.errors import Problem
    from toolkit.sensors.report import summary_lines

    power = Power(problem=Problem("/sys/class/powercap", "needs root"))
    recording = Recording.start(snapshot(0.0, [reading(PACKAGE, 50)], power=power), str(tmp_path / "run"), SETUP)
    summary = recording.stop()
    assert summary.energy_j is None
    assert "Energy      not known: needs root" in summary_lines(summary)


def test_time_at_each_limit_and_at_the_persons_own(tmp_path: Path) -> None:
    setup = Setup(MACHINE, 1.0, thresholds={PACKAGE.id: 90.0})
    recording = Recording.start(simple(0.0, 80.0), str(tmp_path / "run"), setup)
    for at_s, celsius in ((1.0, 95.0), (2.0, 100.0), (4.0, 106.0), (5.0, 50.0)):
        recording.add(simple(at_s, celsius))
    (package,) = recording.stop().sensors
    assert package.at_limit == (("max", 100.0, 3.0), ("crit", 105.0, 1.0), ("threshold", 90.0, 4.0))


def test_before_and_after_the_command_are_not_in_the_figures(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP, "before")
    recording.add(simple(1.0, 42.0), "before")
    for at_s, celsius in ((1.1, 42.0), (2.1, 80.0), (3.1, 80.0)):
        recording.add(simple(at_s, celsius), "run")
    for at_s, celsius in ((3.2, 70.0), (4.2, 50.0)):
        recording.add(simple(at_s, celsius), "after")
    live = recording.stop()
    assert live.headline.stats is not None
    assert (live.headline.stats.minimum, live.headline.stats.mean) == (42.0, pytest.approx(61.0))
    assert live.duration_s == pytest.approx(2.0)
    assert live.before is not None
    assert live.before.mean == pytest.approx(40.0)
    assert live.after is not None
    assert (live.after.minimum, live.after.maximum) == (50.0, 70.0)
    assert live.facts.conditions.start_celsius == 42
    assert load_recording(str(tmp_path / "run")).summary == live


# What a screen uses


def test_start_in_takes_the_first_folder_that_can_be_written_and_a_free_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folders = [str(tmp_path / "file" / "recordings"), str(tmp_path / "state" / "recordings")]
    recordings = [Recording.start_in(simple(0.0, 40.0), folders, SETUP) for _ in range(2)]
    names = [os.path.basename(recording.path) for recording in recordings]
    assert names[1] == names[0].replace(".csv", "-2.csv")
    assert all(os.path.dirname(recording.path) == folders[1] for recording in recordings)
    for recording in recordings:
        recording.stop()
    with pytest.raises(ToolkitError, match="Not a directory"):
        Recording.start_in(simple(0.0, 40.0), folders[:1], SETUP)
    with pytest.raises(ToolkitError, match="no folder"):
        Recording.start_in(simple(0.0, 40.0), [], SETUP)


def test_marks_are_events_and_stand_in_the_next_row(tmp_path: Path) -> None:
    recording = Recording.start(simple(5.0, 40.0), str(tmp_path / "run"), SETUP)
    recording.mark("first\x1b[2J")
    recording.mark("")
    recording.add(simple(6.0, 41.0))
    assert recording.elapsed_s == 1.0
    assert recording.started_monotonic == 5.0
    summary = recording.stop()
    assert _rows(tmp_path / "run.csv")[1].endswith(r",first\x1b[2J; mark")
    assert [event.text for event in summary.facts.events] == [r"first\x1b[2J", "mark"]


def test_after_stop_nothing_more_is_written_and_stop_gives_the_same_again(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    summary = recording.stop()
    recording.add(simple(1.0, 41.0))
    assert recording.stop() is summary
    assert len(_rows(recording.path)) == 1


def test_rows_from_two_threads_are_whole_rows(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)

    def add() -> None:
        for number in range(200):
            recording.add(simple(number / 100, 40.0 + number % 7))
            recording.mark("x")

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recording.stop()
    assert load_recording(str(tmp_path / "run")).summary.samples == 401


def test_files_that_are_there_are_not_replaced_unless_asked(tmp_path: Path) -> None:
    for name in ("run.csv", "run.json"):
        (tmp_path / name).write_text("precious")
        with pytest.raises(UsageError, match=rf"{name} is there already") as caught:
            Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
        assert "--force" in caught.value.hint
        assert (tmp_path / name).read_text() == "precious"
        (tmp_path / name).unlink()
    (tmp_path / "run.csv").write_text("old " * 1000)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), Setup(MACHINE, 1.0, overwrite=True))
    recording.stop()
    assert load_recording(str(tmp_path / "run")).summary.samples == 1


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ToolkitError, match=r"no/run\.csv cannot be made: No such file or directory"):
        Recording.start(simple(0.0, 40.0), str(tmp_path / "no" / "run"), SETUP)


def test_discard_leaves_no_file(tmp_path: Path) -> None:
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    recording.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_flapping_sensor_does_not_fill_the_memory(tmp_path: Path) -> None:
    recording = Recording.start(snapshot(0.0, [reading(DISK, 40)]), str(tmp_path / "run"), SETUP)
    for number in range(1, EVENT_LIMIT + 100):
        recording.add(snapshot(number / 10, [reading(DISK, None if number % 2 else 40)]))
    summary = recording.stop()
    assert len(summary.facts.events) == EVENT_LIMIT
    assert recording.problems == ["99 more events are not listed"]


# Full disks


class FaultyDisk:
    """os.write as a disk with room for `room` bytes would have it; `error` from then on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int, error: int = errno.ENOSPC) -> None:
        self.room = room
        self.error = error
        self.calls: list[int] = []
        self._write = os.write
        self.broken_folder = ""
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if not path.endswith("run.csv") or not path.startswith(self.broken_folder):
            return self._write(descriptor, data)
        self.calls.append(len(data))
        if self.room <= 0:
            raise OSError(self.error, os.strerror(self.error))
        written = self._write(descriptor, bytes(data)[: self.room])
        self.room -= written
        return written


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rowfile, "RETRY_S", 0.0)


def test_each_row_is_one_write_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FaultyDisk(monkeypatch, 1 << 30)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    for number in range(1, 6):
        recording.add(simple(number / 10, 40.0))
        assert len(_rows(recording.path)) == number + 1
    assert len(disk.calls) == 7  # the header and six rows
    recording.stop()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("room", [0, 10, 150, 300, 301, 333, 400])
@pytest.mark.usefixtures("no_wait")
def test_rows_wait_while_the_disk_is_full_and_are_written_when_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, error: int
) -> None:
    said: list[str] = []
    disk = FaultyDisk(monkeypatch, room, error)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), Setup(MACHINE, 10.0, report=said.append))
    for number in range(1, 20):
        recording.add(simple(number / 10, 40.0 + number))
    assert recording.samples_waiting > 0
    assert said == [f"{tmp_path}/run.csv: {os.strerror(error)}; rows wait in memory and are tried again"]
    disk.room = 77  # a little room: rows are taken up in the middle of one
    recording.add(simple(2.0, 60.0))
    disk.room = 1 << 30
    recording.add(simple(2.1, 61.0))
    assert recording.samples_waiting == 0
    summary = recording.stop()
    loaded = load_recording(str(tmp_path / "run"))
    assert loaded.summary.samples == 22
    assert loaded.summary == summary
    assert [event.kind for event in summary.facts.events] == ["disk", "disk"]
    assert recording.problems == []
    assert len(said) == 1


def test_a_full_disk_is_tried_again_only_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FaultyDisk(monkeypatch, 0)
    now = [0.0]
    file = RowFile(str(tmp_path / "run.csv"), overwrite=False, monotonic=lambda: now[0])
    for tenth in range(100):
        now[0] = tenth / 10
        file.append(b"row\n")
    assert len(disk.calls) == 1 + 3  # at 0, 3, 6 and 9 seconds
    disk.room = 1 << 20
    assert file.close(()) == file.path
    assert Path(file.path).read_bytes() == b"row\n" * 100


@pytest.mark.parametrize("room", [0, 10, 300, 333, 5000])
@pytest.mark.usefixtures("no_wait")
def test_a_disk_that_stays_full_sends_the_whole_recording_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    disk = FaultyDisk(monkeypatch, room)
    disk.broken_folder = str(here)
    setup = Setup(MACHINE, 10.0, fallback_folders=(str(tmp_path / "here" / "sub"), str(there)))
    recording = Recording.start(simple(0.0, 40.0), str(here / "run"), setup)
    for number in range(1, 500):
        recording.add(simple(number / 10, 40.0 + number % 9))
    summary = recording.stop()
    assert recording.path == str(there / "run.csv")
    assert load_recording(recording.path).summary == summary
    assert summary.samples == 500
    assert recording.problems == [f"{here}/run.csv: No space left on device; the whole recording is in {there}/run.csv"]
    left = (here / "run.csv").read_bytes()
    assert left == b"" or left.endswith(b"\n")  # no half row stays behind


@pytest.mark.usefixtures("no_wait")
def test_without_any_room_the_first_part_stays_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FaultyDisk(monkeypatch, 400)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), Setup(MACHINE, 10.0))
    for number in range(1, 20):
        recording.add(simple(number / 10, 40.0))
    recording.stop()
    assert recording.problems == [
        f"{tmp_path}/run.csv: No space left on device; no other folder took the rest, it is lost"
    ]
    assert load_recording(str(tmp_path / "run")).summary.samples > 1


@pytest.mark.usefixtures("no_wait")
def test_what_no_longer_can_be_read_back_leaves_the_rest_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    disk = FaultyDisk(monkeypatch, 600, errno.EIO)
    disk.broken_folder = str(here)
    recording = Recording.start(
        simple(0.0, 40.0), str(here / "run"), Setup(MACHINE, 10.0, fallback_folders=(str(there),))
    )
    for number in range(1, 20):
        recording.add(simple(number / 10, 40.0))
    real_read = os.read

    def read(descriptor: int, size: int) -> bytes:
        if os.readlink(f"/proc/self/fd/{descriptor}") == str(here / "run.csv"):
            raise OSError(errno.EIO, "Input/output error")
        return real_read(descriptor, size)

    monkeypatch.setattr(os, "read", read)  # the stick was pulled
    recording.stop()
    assert "has the first part" in recording.problems[0]
    assert f"the rest is in {there}/run.csv" in recording.problems[0]
    assert load_recording(str(there / "run")).summary.samples > 5


def test_a_file_that_was_removed_meanwhile_is_saved_elsewhere(tmp_path: Path) -> None:
    setup = Setup(MACHINE, 10.0, fallback_folders=(str(tmp_path / "there"),))
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), setup)
    recording.add(simple(0.1, 41.0))
    (tmp_path / "run.csv").unlink()
    recording.add(simple(0.2, 42.0))
    recording.stop()
    assert "the file was removed meanwhile; the whole recording is in" in recording.problems[0]
    assert load_recording(str(tmp_path / "there" / "run")).summary.samples == 3


def test_memory_for_waiting_rows_is_bounded_by_thinning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FaultyDisk(monkeypatch, 2)
    file = RowFile(str(tmp_path / "run.csv"), overwrite=False, monotonic=lambda: 0.0, hold_bytes=1000)
    for number in range(2000):
        file.append(f"{number:04d}\n".encode())
        assert sum(map(len, file._held)) <= 1000
    disk.room = 1 << 20
    file.close(())
    numbers = [int(line) for line in Path(file.path).read_text().split()]
    assert numbers == sorted(numbers)
    assert numbers[0] == 0
    assert len(numbers) + file.thinned == 2000
    assert numbers[-1] >= 1998


@pytest.mark.usefixtures("no_wait")
def test_dev_full_is_a_full_disk(tmp_path: Path) -> None:
    (tmp_path / "run.csv").symlink_to("/dev/full")
    setup = Setup(MACHINE, 10.0, overwrite=True, fallback_folders=(str(tmp_path / "there"),))
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), setup)
    recording.add(simple(0.1, 41.0))
    recording.stop()
    assert load_recording(str(tmp_path / "there" / "run")).summary.samples == 2


def test_a_fault_of_syncing_is_told_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fdatasync", fail)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    recording.stop()
    assert recording.problems == [f"{tmp_path}/run.csv: Input/output error; some rows may not be on the disk"]


def test_rows_are_synced_in_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rowfile, "SYNC_S", 0.01)
    synced, by = threading.Event(), []

    def sync(descriptor: int) -> None:
        by.append(threading.current_thread().name)
        synced.set()

    monkeypatch.setattr(os, "fdatasync", sync)
    recording = Recording.start(simple(0.0, 40.0), str(tmp_path / "run"), SETUP)
    assert synced.wait(5.0)
    assert by[0] == "recording-sync"
    recording.stop()


def test_the_twin_goes_elsewhere_where_its_folder_is_gone(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    setup = Setup(MACHINE, 10.0, fallback_folders=(str(there),))
    recording = Recording.start(simple(0.0, 40.0), str(here / "run"), setup)
    for path in here.iterdir():
        path.unlink()
    here.rmdir()
    recording.stop()
    assert recording.json_path == str(there / "run.json")
    assert json.loads((there / "run.json").read_text())["complete"] is True


@contextlib.contextmanager
def _small_tmpfs(folder: Path) -> Iterator[list[str]]:
    """The words that run a command in a mount namespace with a 64 kB tmpfs at `folder`."""
    folder.mkdir()
    script = 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"'
    words = ["unshare", "-m", "sh", "-c", script, str(folder)]
    try:
        tried = subprocess.run([*words, "true"], capture_output=True, timeout=10)
    except FileNotFoundError:
        pytest.skip("unshare (util-linux) is not installed")
    if tried.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {tried.stderr.decode().strip()}")
    yield words


@pytest.mark.root
def test_a_real_full_disk_loses_nothing(tmp_path: Path) -> None:
    script = """
import sys
from tests.support.snapshots import MACHINE, simple
from toolkit.sensors import rowfile
from toolkit.sensors.recorder import Recording, Setup
rowfile.RETRY_S = 0.0
said = []
setup = Setup(MACHINE, 10.0, fallback_folders=(sys.argv[2],), report=said.append)
recording = Recording.start(simple(0.0, 40.0), sys.argv[1] + "/run", setup)
for number in range(1, 3000):
    recording.add(simple(number / 10, 40.0 + number % 50))
assert recording.samples_waiting > 100, recording.samples_waiting
recording.stop()
print(said, recording.path, recording.problems)
"""
    full, there = tmp_path / "full", tmp_path / "there"
    with _small_tmpfs(full) as words:
        done = subprocess.run(
            [*words, sys.executable, "-c", script, str(full), str(there)],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=Path(__file__).parents[2],
        )
    assert done.returncode == 0, done.stderr
    assert "No space left on device; rows wait in memory" in done.stdout
    assert load_recording(str(there / "run")).summary.samples == 3000
    assert not (full / "run.json").exists()


def test_a_full_disk_at_the_end_takes_the_old_summary_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, elsewhere = tmp_path / "full", tmp_path / "not there yet"
    folder.mkdir()
    setup = Setup(MACHINE, 1.0, fallback_folders=(str(elsewhere),))
    recording = Recording.start(simple(0.0, 40.0), str(folder / "run"), setup)
    real = recorder.write_twin

    def write_twin(path: str, text: str) -> None:
        if path.startswith(str(folder)):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, text)

    monkeypatch.setattr(recorder, "write_twin", write_twin)
    recording.stop()
    assert recording.json_path == str(elsewhere / "run.json")
    assert not (folder / "run.json").exists()
    assert json.loads((elsewhere / "run.json").read_text())["complete"] is True
    assert sum("No space left" in problem for problem in recording.problems) == 1
