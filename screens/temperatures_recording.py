"""A recording started from the screen: its own monitor in its own thread.

So it goes on at its own rate while another screen is seen, while the values stand still, and while the disk is slow.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from screens.format import number
from screens.monitoring import Monitor
from toolkit.config import folders
from toolkit.errors import ToolkitError
from toolkit.export import safe_name
from toolkit.sensors.recorder import Recorder, Recording, Setup

if TYPE_CHECKING:
    from toolkit.sensors.summary import Summary

RATE_HZ = 1.0
"""Looks a second: coretemp refreshes its values no faster (Documentation/hwmon/coretemp.rst)."""
STOP_WAIT_S = 5.0
"""How long the end of the program waits for a chip or a disk that does not answer."""


def recording_folders(environ: Mapping[str, str]) -> list[str]:
    """Return where recordings go: the state folder, and the temporary one where the home cannot be written to."""
    return [folders(environ).recordings, f"{tempfile.gettempdir()}/toolkit-recordings"]


class _Clock:
    """The steady clock, with a wait that ends at once when the recording does."""

    def __init__(self, done: threading.Event) -> None:
        self._done = done

    def monotonic(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        self._done.wait(seconds)


class ScreenRecording:
    """A recording that is under way.

    Attributes:
        started_monotonic: when it was started, on the host's clock.
    """

    def __init__(
        self,
        open_monitor: Callable[[], Monitor],
        folders: Sequence[str],
        thresholds: Mapping[str, float],
        now_s: float,
        failed: Callable[[str], None],
        warned: Callable[[str], None],
        label: str = "",
    ) -> None:
        """Prepare; nothing is opened before `start`.

        Args:
            open_monitor: makes the monitor, in the recording's thread.
            folders: the files go into the first that takes them.
            thresholds: the person's own, by sensor id.
            now_s: the host's clock.
            failed: told in one sentence where it cannot begin, or broke; called in the recording's thread.
            warned: told in one sentence where the disk is full; called in the recording's thread.
            label: of a machine that is not this one; the files' names begin with it.
        """
        self.started_monotonic = now_s
        self._open_monitor = open_monitor
        self._folders = tuple(folders)
        self._thresholds = dict(thresholds)
        self._failed = failed
        self._warned = warned
        self._label = safe_name(label) if label else ""
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._early_marks: list[str] = []
        self._recording: Recording | None = None
        self._summary: Summary | None = None
        self._thread = threading.Thread(target=self._run, name="toolkit-recording", daemon=True)

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    @property
    def path(self) -> str:
        """Where the CSV is; empty before the first row."""
        return self._recording.path if self._recording is not None else ""

    @property
    def json_path(self) -> str:
        """Where the summary is, as JSON; empty before the first row."""
        return self._recording.json_path if self._recording is not None else ""

    @property
    def problems(self) -> list[str]:
        """What went wrong with the files, one sentence each."""
        return list(self._recording.problems) if self._recording is not None else []

    def mark(self, text: str) -> None:
        """Mark this moment."""
        with self._lock:
            if self._recording is None:
                self._early_marks.append(text)
            else:
                self._recording.mark(text)

    def stop(self) -> Summary | None:
        """Write what is left and return the summary; None where it never began. May take seconds; never raises."""
        self._done.set()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(STOP_WAIT_S)
        if self._recording is not None and self._summary is None:
            self._summary = self._recording.stop()
        return self._summary

    def _run(self) -> None:
        """The body of the thread."""
        monitor: Monitor | None = None
        try:
            monitor = self._open_monitor()
            self._begin(monitor)
            assert self._recording is not None
            Recorder(monitor, self._recording, RATE_HZ, _Clock(self._done)).run(self._done.is_set)
        except ToolkitError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self._failed(f"Recording stopped: {error.message}{hint}")
        except Exception as error:  # noqa: BLE001 - a fault of the recording must not take the screens along
            self._failed(f"Recording stopped by a fault of its own: {type(error).__name__}: {error}")
        finally:
            if monitor is not None:
                monitor.close()

    def _begin(self, monitor: Monitor) -> None:
        recording = Recording.start_in(
            monitor.snapshot(),
            self._folders,
            Setup(machine=monitor.machine, rate_hz=RATE_HZ, thresholds=self._thresholds, report=self._warned),
            self._label,
        )
        with self._lock:
            self._recording = recording
            for text in self._early_marks:
                recording.mark(text)
            self._early_marks.clear()


def summary_sentence(summary: Summary | None, path: str) -> str:
    """Return what a person is told at the end: what was seen, and where it is."""
    if summary is None:
        return "Nothing was recorded."
    stats = summary.headline.stats
    seen = (
        f"{number(stats.minimum)} / {number(stats.mean)} / {number(stats.maximum)} °C (min / mean / max), "
        if stats
        else ""
    )
    rows = f"{summary.samples} row{'s' if summary.samples != 1 else ''}"
    return f"Recorded {summary.duration_s:.0f} s, {seen}{rows}. {path}"
