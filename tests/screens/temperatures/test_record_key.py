"""Recording from the screen: its own monitor and thread, marks, the end, and what goes wrong."""

from __future__ import annotations

import csv
import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from screens.app import ToolkitApp
from screens.monitoring import open_thermal_monitor
from screens.temperatures import TemperaturesScreen
from screens.temperatures_recording import ScreenRecording, recording_folders, summary_sentence
from tests.screens.support import StandInMonitor, first_look, make_app, shown, snapshot
from toolkit.errors import ToolkitError


async def wait_for(pilot: Any, done: Any, what: str) -> None:
    """Wait until something is true, five seconds at most."""
    for _ in range(250):
        if done():
            return
        await pilot.pause(0.02)
    pytest.fail(f"waited in vain: {what}")


def recording_app(tmp_path: Path, told: list[str], monitor: Any = None) -> ToolkitApp:
    app = make_app(tmp_path, screen="temperatures")
    app.notify = lambda message, **_more: told.append(message)  # type: ignore[method-assign]
    return app


def use_monitor(app: ToolkitApp, monitor: Any) -> None:
    assert isinstance(app.screen, TemperaturesScreen)
    app.screen.open_monitor = lambda _host, _settings: monitor


async def test_r_records_m_marks_and_r_stops(tmp_path: Path) -> None:
    told: list[str] = []
    app = recording_app(tmp_path, told)
    async with app.run_test(size=(100, 30)) as pilot:
        await first_look(app, pilot)
        monitor = StandInMonitor(snapshot(60), snapshot(70))
        use_monitor(app, monitor)
        await pilot.press("r")
        assert "●REC" in shown(app)
        assert "r stop recording" in shown(app)
        recording = app.recording
        assert isinstance(recording, ScreenRecording)
        await wait_for(pilot, lambda: recording.path, "the first row")
        await pilot.press("m", "p", "r")
        assert "●REC" not in shown(app)
        await wait_for(pilot, lambda: any(text.startswith("Recorded") for text in told), "the summary")
        assert "r record" in shown(app)
    (path,) = (tmp_path / ".local/state/toolkit/recordings").glob("*.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert rows[0]["headline_celsius"] == "60"
    assert rows[-1]["headline_celsius"] == "70"
    assert "mark 1" in {row["mark"] for row in rows}
    twin = json.loads(path.with_suffix(".json").read_text())
    assert twin["complete"] is True
    assert monitor.closed == 1
    assert any("60 / " in text and "~/.local/state/toolkit/recordings" in text for text in told)


async def test_the_end_of_the_program_ends_the_recording_too(tmp_path: Path) -> None:
    app = recording_app(tmp_path, [])
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        use_monitor(app, StandInMonitor(snapshot(60)))
        await pilot.press("r")
        recording = app.recording
        assert isinstance(recording, ScreenRecording)
        await wait_for(pilot, lambda: recording.path, "the first row")
    app.close()
    (path,) = (tmp_path / ".local/state/toolkit/recordings").glob("*.json")
    assert json.loads(path.read_text())["complete"] is True


async def test_a_recording_that_cannot_begin_says_why(tmp_path: Path) -> None:
    told: list[str] = []
    app = recording_app(tmp_path, told)

    class Broken(StandInMonitor):
        def snapshot(self) -> Any:
            raise ToolkitError("the sensors are locked", "unlock them")

    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        use_monitor(app, Broken())
        await pilot.press("r")
        await wait_for(pilot, lambda: app.recording is None, "the end")
        await wait_for(pilot, lambda: "Recording stopped: the sensors are locked (unlock them)" in told, "the reason")
        await pilot.pause(0.05)
        assert "●REC" not in shown(app)


def test_marks_made_before_the_first_row_are_kept(tmp_path: Path) -> None:
    gate = threading.Event()
    monitor = StandInMonitor(snapshot(60), delay=lambda: gate.wait(5) and None)
    recording = ScreenRecording(lambda: monitor, [str(tmp_path)], {}, 0.0, print, print)
    recording.start()
    recording.mark("early")
    gate.set()
    for _ in range(200):
        if recording.path:
            break
        threading.Event().wait(0.01)
    summary = recording.stop()
    assert summary is not None
    assert recording.stop() is summary
    assert "early" in Path(recording.path).read_text()
    assert recording.problems == []
    assert summary_sentence(summary, "x.csv").startswith("Recorded ")


def test_a_recording_that_never_began_has_nothing_to_tell(tmp_path: Path) -> None:
    told: list[str] = []

    def open_monitor() -> Any:
        raise OSError(5, "Input/output error")

    recording = ScreenRecording(open_monitor, [str(tmp_path)], {}, 0.0, told.append, told.append)
    recording.start()
    assert recording.stop() is None
    assert told == ["Recording stopped by a fault of its own: OSError: [Errno 5] Input/output error"]
    assert summary_sentence(None, "") == "Nothing was recorded."


def test_folders_are_the_state_folder_then_the_temporary_one(tmp_path: Path) -> None:
    first, second = recording_folders({"HOME": str(tmp_path)})
    assert first == str(tmp_path / ".local/state/toolkit/recordings")
    assert second.endswith("/toolkit-recordings")


async def test_a_captured_machine_can_be_recorded(tmp_path: Path, replay: Any) -> None:
    told: list[str] = []
    host = replay("framework13-intel", clock="real")
    app = recording_app(tmp_path, told)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert isinstance(app.screen, TemperaturesScreen)
        app.screen.open_monitor = lambda _host, settings: open_thermal_monitor(host, settings)
        await pilot.press("r")
        recording = app.recording
        assert isinstance(recording, ScreenRecording)
        await wait_for(pilot, lambda: recording.path, "the first row")
        await pilot.press("r")
        await wait_for(pilot, lambda: any(text.startswith("Recorded") for text in told), "the summary")
    assert replace(snapshot()).headline.celsius == 54


async def test_the_last_recording_is_shown_whole(tmp_path: Path) -> None:
    told: list[str] = []
    app = recording_app(tmp_path, told)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("R")
        assert told[-1] == "Nothing was recorded yet; r records."
        use_monitor(app, StandInMonitor(snapshot(60), snapshot(70)))
        await pilot.press("r")
        recording = app.recording
        assert isinstance(recording, ScreenRecording)
        await wait_for(pilot, lambda: recording.path, "the first row")
        await pilot.press("r")
        await wait_for(pilot, lambda: any(text.endswith("R shows it all.") for text in told), "the summary")
        await pilot.press("R")
        await pilot.pause()
        seen = shown(app)
        for words in ("MIN", "CPU headline", "Energy", "Throttling", "Files", ".csv", ".json"):
            assert words in seen
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, TemperaturesScreen)
