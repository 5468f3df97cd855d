"""The one way in which a screen gets its data: a probe that runs again and again in its own thread.

One long-lived thread a poller costs less than one worker a beat, and makes it exclusive by construction: a slow
probe skips beats, it never queues. The thread touches nothing of Textual but `post_message`, which is thread-safe.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from textual.message import Message

from screens.messages import ProbeFailed, SnapshotTaken
from toolkit.errors import Problem, ToolkitError

T = TypeVar("T")

MIN_INTERVAL_S = 0.1


class Receiver(Protocol):
    """Who gets the messages: the application, or a stand-in in a test."""

    def post_message(self, message: Message) -> bool:
        """Queue a message; called from the poller's thread."""
        ...


class Poller(Generic[T]):
    """Runs `probe` every `interval_s` seconds and posts `SnapshotTaken(name, model)` or `ProbeFailed(name, problem)`.

    All methods are quick, may be called from any thread, and may be called in any state.
    """

    def __init__(self, app: Receiver, probe: Callable[[], T], interval_s: float, name: str) -> None:
        """Prepare the poller; nothing runs before `start`.

        Args:
            app: receives the messages.
            probe: blocking; runs in the poller's thread only, one call at a time.
            interval_s: seconds from one beat to the next, at least 0.1.
            name: which poller a message comes from.
        """
        self.name = name
        self._app = app
        self._probe = probe
        self._interval_s = max(MIN_INTERVAL_S, interval_s)
        self._condition = threading.Condition()
        self._paused = False
        self._wanted_now = False
        self._stopping = False
        self._due = 0.0
        self._thread: threading.Thread | None = None

    @property
    def interval_s(self) -> float:
        """Seconds from one beat to the next."""
        return self._interval_s

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._paused

    def start(self) -> None:
        """Start the thread; the first beat comes at once. A second call does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"poll {self.name}", daemon=True)
            self._thread.start()

    def stop(self, wait_s: float = 0.0) -> bool:
        """Ask the thread to end, and wait at most `wait_s` for a probe that is under way.

        Returns True where the thread has ended.
        """
        with self._condition:
            self._stopping = True
            self._condition.notify()
        if self._thread is None:
            return True
        if wait_s > 0 and self._thread is not threading.current_thread():
            self._thread.join(wait_s)
        return not self._thread.is_alive()

    def pause(self) -> None:
        """Make no more beats until `resume`; one that is under way still reports."""
        with self._condition:
            self._paused = True
            self._condition.notify()

    def resume(self) -> None:
        """Go on, with a beat at once."""
        with self._condition:
            if self._paused:
                self._paused = False
                self._due = time.monotonic()
                self._condition.notify()

    def refresh_now(self) -> None:
        """Make one beat as soon as the probe is free, also while paused."""
        with self._condition:
            self._wanted_now = True
            self._condition.notify()

    def set_interval(self, interval_s: float) -> None:
        """Change the interval; it counts from the last beat."""
        with self._condition:
            new = max(MIN_INTERVAL_S, interval_s)
            self._due += new - self._interval_s
            self._interval_s = new
            self._condition.notify()

    def _wait_for_beat(self) -> bool:
        """Wait until a beat is due; False where the thread should end."""
        with self._condition:
            while not self._stopping:
                now = time.monotonic()
                if self._wanted_now or (not self._paused and now >= self._due):
                    self._wanted_now = False
                    # Beats keep their rhythm; those that a slow probe missed are skipped.
                    if now >= self._due:
                        self._due += self._interval_s * (1 + (now - self._due) // self._interval_s)
                    return True
                self._condition.wait(None if self._paused else self._due - now)
            return False

    def _run(self) -> None:
        """The body of the thread."""
        self._due = time.monotonic()
        while self._wait_for_beat():
            message: Message
            try:
                message = SnapshotTaken(self.name, self._probe())
            except Exception as error:  # noqa: BLE001 - a probe's bug must not end the watching
                message = ProbeFailed(self.name, problem_of(error, self.name))
            if self._stopping:
                return
            try:
                self._app.post_message(message)
            except RuntimeError:  # the event loop is closed: the application has ended
                return


def problem_of(error: Exception, source: str) -> Problem:
    """Say in one clause why a probe failed."""
    if isinstance(error, ToolkitError):
        return Problem(source, error.message, error.hint)
    if isinstance(error, OSError):
        where = f": {error.filename}" if error.filename else ""
        return Problem(source, f"{error.strerror or type(error).__name__}{where}")
    return Problem(source, f"{type(error).__name__}: {error}", "start with --debug to see where")
