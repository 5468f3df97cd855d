from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolkit.host import hotplug
from toolkit.host.hotplug import LocalWatch


class FakeMonitor:
    """A monitor of pyudev whose events lie in a pipe."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        self.waiting = 0
        self.error: Exception | None = None
        self.subsystem = ""

    def filter_by(self, subsystem: str) -> None:
        self.subsystem = subsystem

    def start(self) -> None: ...

    def fileno(self) -> int:
        return self.reader

    def event(self) -> None:
        os.write(self.writer, b"x")
        self.waiting += 1

    def poll(self, timeout: float) -> object | None:
        assert timeout == 0
        if self.error is not None:
            os.read(self.reader, 1)
            raise self.error
        if self.waiting == 0:
            return None
        self.waiting -= 1
        os.read(self.reader, 1)
        return object()


@pytest.fixture
def monitor(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMonitor]:
    fake = FakeMonitor()

    class Pyudev:
        Context = object

        class Monitor:
            @staticmethod
            def from_netlink(context: object, source: str) -> FakeMonitor:
                assert source in ("udev", "kernel")
                return fake

    monkeypatch.setitem(sys.modules, "pyudev", Pyudev)  # type: ignore[arg-type]
    yield fake
    os.close(fake.reader)
    os.close(fake.writer)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    moment = [100.0]
    monkeypatch.setattr(hotplug.time, "monotonic", lambda: moment[0])
    return moment


def test_an_event_is_told_once(tmp_path: Path, monitor: FakeMonitor, now: list[float]) -> None:
    watch = LocalWatch(str(tmp_path), "hwmon")
    assert not watch.changed()
    assert monitor.subsystem == "hwmon"
    monitor.event()
    monitor.event()
    assert watch.changed()
    assert not watch.changed()


def test_lost_events_count_as_a_change(tmp_path: Path, monitor: FakeMonitor, now: list[float]) -> None:
    watch = LocalWatch(str(tmp_path), "hwmon")
    watch.changed()
    monitor.error = OSError(105, "No buffer space available")
    monitor.event()
    assert watch.changed()


def test_listings_are_compared_at_the_first_call_and_every_five_seconds(
    tmp_path: Path, monitor: FakeMonitor, now: list[float]
) -> None:
    watch = LocalWatch(str(tmp_path), "hwmon")
    (tmp_path / "hwmon0").mkdir()
    assert watch.changed(), "it came before anybody listened"
    (tmp_path / "hwmon1").mkdir()
    now[0] += 4.9
    assert not watch.changed()
    now[0] += 0.2
    assert watch.changed()
    assert not watch.changed()


@pytest.mark.parametrize("broken", [None, object()])
def test_without_pyudev_every_call_compares_listings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: object
) -> None:
    monkeypatch.setitem(sys.modules, "pyudev", broken)  # type: ignore[arg-type]
    watch = LocalWatch(str(tmp_path), "hwmon")
    assert not watch.changed()
    (tmp_path / "hwmon0").mkdir()
    assert watch.changed()
    (tmp_path / "hwmon0").rmdir()
    tmp_path.rmdir()
    assert watch.changed()
    assert not watch.changed()


def test_a_closed_watch_says_nothing_of_events(tmp_path: Path, monitor: FakeMonitor, now: list[float]) -> None:
    watch = LocalWatch(str(tmp_path), "hwmon")
    watch.close()
    monitor.event()
    assert not watch.changed()
