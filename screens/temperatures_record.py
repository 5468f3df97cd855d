"""The keys of a recording: start, stop, mark, and what a person is told of it."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.message import Message

from screens.base import ToolkitScreen
from screens.monitoring import OpenMonitor, open_thermal_monitor
from screens.temperatures_recording import ScreenRecording, recording_folders, summary_sentence
from toolkit.export import tilde

if TYPE_CHECKING:
    from toolkit.sensors.summary import Summary


class RecordingTold(Message):
    """The recording's thread has something to say."""

    def __init__(self, text: str, over: bool) -> None:
        """Keep the sentence, and whether the recording has ended by it."""
        super().__init__()
        self.text, self.over = text, over


class RecordingSaved(Message):
    """A recording is closed, and its files are whole."""

    def __init__(self, summary: Summary | None, path: str, json_path: str, problems: list[str]) -> None:
        """Keep what there is to tell."""
        super().__init__()
        self.summary, self.path, self.json_path, self.problems = summary, path, json_path, problems


class RecordingScreen(ToolkitScreen):
    """A screen from which a recording is started and stopped; the application has at most one."""

    def __init__(self) -> None:
        """Start without one."""
        super().__init__()
        self.open_monitor: OpenMonitor = open_thermal_monitor
        """Makes the monitor of a recording; a test gives its own."""
        self._saving = False
        self._told_last: RecordingSaved | None = None

    def action_record(self) -> None:
        """Start a recording, or stop the one that is under way."""
        app = self.toolkit
        if app.recording is not None:
            self._stop_recording()
        elif self._saving:
            self.notify("The recording before this one is still being written.", severity="warning", timeout=4)
        else:
            places = recording_folders(app.environ)
            recording = ScreenRecording(
                lambda: self.open_monitor(app.host, app.settings),
                places,
                app.settings.temperatures.thresholds,
                app.host.monotonic(),
                lambda text: self._told(text, over=True),
                lambda text: self._told(text, over=False),
                app.host.label,
            )
            app.recording = recording
            recording.start()
            self.notify(f"Recording into {tilde(app.environ, places[0])}. r stops.", markup=False, timeout=4)
        app.refresh_top()
        self.refresh_bindings()

    def _told(self, text: str, over: bool) -> None:
        self.post_message(RecordingTold(text, over))

    def _stop_recording(self) -> None:
        """Close the recording in a thread of its own, since a disk may be slow."""
        recording, self.toolkit.recording = self.toolkit.recording, None
        if not isinstance(recording, ScreenRecording):
            return
        self._saving = True

        def save() -> None:
            summary = recording.stop()
            with suppress(RuntimeError):  # the application has ended meanwhile
                self.post_message(RecordingSaved(summary, recording.path, recording.json_path, recording.problems))

        # Not a daemon: should the program end now, it ends after the files are whole.
        threading.Thread(target=save, name="toolkit-save").start()

    def on_recording_told(self, message: RecordingTold) -> None:
        """Tell the person; where the recording ended by it, close it."""
        self.notify(message.text, severity="error" if message.over else "warning", markup=False, timeout=10)
        if message.over and self.toolkit.recording is not None:
            self._stop_recording()
            self.toolkit.refresh_top()
            self.refresh_bindings()

    def on_recording_saved(self, message: RecordingSaved) -> None:
        """Tell what was recorded, and where it is."""
        self._saving = False
        if message.summary is not None:
            where = tilde(self.toolkit.environ, message.path)
            self.notify(f"{summary_sentence(message.summary, where)}  R shows it all.", markup=False, timeout=10)
            self._told_last = message
        for problem in message.problems:
            self.notify(problem, severity="warning", markup=False, timeout=10)

    def action_summary(self) -> None:
        """Show what the last recording came to."""
        told = self._told_last
        if told is None or told.summary is None:
            self.notify("Nothing was recorded yet; r records.", timeout=4)
            return
        from screens.temperatures_told import SummaryScreen

        files = [tilde(self.toolkit.environ, path) for path in (told.path, told.json_path) if path]
        self.app.push_screen(SummaryScreen(told.summary, files, told.problems))

    def mark_recording(self, text: str) -> bool:
        """Mark this moment in the recording; False where none is under way."""
        recording = self.toolkit.recording
        if isinstance(recording, ScreenRecording):
            recording.mark(text)
            return True
        return False
