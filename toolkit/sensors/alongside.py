"""A command that runs while something records: its end, its signals, its exit status, and the rule that stops it."""

from __future__ import annotations

import os
import signal
import time
from types import FrameType
from typing import Any, Self

from toolkit.errors import ToolkitError
from toolkit.host.base import Child
from toolkit.sensors.model import Quantity, Reading, Snapshot
from toolkit.text import printable

GRACE_S = 5.0
"""From SIGTERM to SIGKILL where the stop rule ends the command."""
STEP_S = 0.2
"""Longest wait without a look at what was asked meanwhile: Python goes on with a sleep after a signal."""

_FORWARDED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts the signals that ask the program to end, and passes them to a command while there is one.

    A signal that was ignored when the program started (nohup, a job in the background) stays ignored.

    Attributes:
        last: the last of SIGINT, SIGQUIT, SIGTERM, SIGHUP that came, None where none came.
    """

    def __init__(self) -> None:
        self.last: int | None = None
        self._child: Child | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in _FORWARDED:
            before = signal.getsignal(number)
            if before is not signal.SIG_IGN:
                self._before[number] = before
                signal.signal(number, self._came)
        return self

    def __exit__(self, *exception: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before if before is not None else signal.SIG_DFL)

    def forward_to(self, child: Child | None) -> None:
        """Pass signals to this command from now on, or to none; also one that came while it was started."""
        self._child = child
        if child is not None and self.last is not None:
            child.signal(self.last)

    def forget(self) -> None:
        """Begin anew, for the part after the command."""
        self.last = None

    def _came(self, number: int, _: FrameType | None) -> None:
        self.last = number
        if self._child is not None:
            self._child.signal(number)


class Pause:
    """The recorder's clock where no command runs."""

    monotonic = staticmethod(time.monotonic)

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts

    def wait(self, seconds: float) -> None:
        """Wait, at most a step."""
        if not self.ended():
            time.sleep(min(seconds, STEP_S))

    def ended(self) -> bool:
        """True where a signal came."""
        return self._interrupts.last is not None


class Alongside:
    """A running command as the recorder's clock: waiting is waiting for its end.

    Attributes:
        stopped_by: why `stop` was called; empty where it was not.
    """

    monotonic = staticmethod(time.monotonic)

    def __init__(self, child: Child, grace_s: float = GRACE_S) -> None:
        self._child = child
        self._grace_s = grace_s
        self._kill_at: float | None = None
        self._seen_running = False
        self.stopped_by = ""

    def wait(self, seconds: float) -> None:
        """Wait until the command ends, at most a step."""
        self._seen_running = self._child.wait(min(seconds, STEP_S)) is None

    def ended(self) -> bool:
        """True where the command has ended. Sends SIGKILL where it was to stop and did not."""
        if self._seen_running:
            self._seen_running = False  # a wait has just looked
        elif self._child.poll() is not None:
            return True
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._kill_at = None
            self._child.signal(signal.SIGKILL)
        return False

    def stop(self, why: str) -> None:
        """End the whole process group: SIGTERM now, SIGKILL after the grace. Acts once."""
        if not self.stopped_by:
            self.stopped_by = why
            self._kill_at = time.monotonic() + self._grace_s
            self._child.signal(signal.SIGTERM)

    def end_group(self) -> None:
        """After a stop, and after the command's own end: end what is left of its process group."""
        deadline = self._kill_at or time.monotonic()
        while self._group_lives():
            if time.monotonic() >= deadline:
                _signal_group(self._child.pid, signal.SIGKILL)
                return
            time.sleep(0.02)

    def _group_lives(self) -> bool:
        return _signal_group(self._child.pid, 0)

    def exit_status(self) -> int:
        """Return the exit status as a shell gives it: 128 + n where signal n ended the command."""
        status = self._child.poll()
        if status is None:
            raise ValueError("the command still runs")
        return 128 - status if status < 0 else status


def _signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False where there is none any more."""
    try:
        os.killpg(group, number)
    except PermissionError:
        return True
    except ProcessLookupError:
        return False
    return True


class StopRule:
    """Acts once, when the CPU gets hotter than a limit in degrees Celsius."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._acted = False

    def check_start(self, snapshot: Snapshot) -> None:
        """Raises ToolkitError where the rule cannot work, or would act at once: the command is not started then."""
        if snapshot.headline.celsius is None:
            raise ToolkitError(
                f"no CPU temperature here to stop by: {printable(snapshot.headline.reason)}", "leave --stop-above out"
            )
        if why := self._reason(snapshot):
            raise ToolkitError(f"not started: {why} already", "let it cool down, or give a higher limit")

    def look(self, snapshot: Snapshot) -> str:
        """Return which sensor and value are above the limit, at the first snapshot where one is; else nothing."""
        why = "" if self._acted else self._reason(snapshot)
        self._acted = self._acted or bool(why)
        return why

    def _reason(self, snapshot: Snapshot) -> str:
        found = self._hottest(snapshot)
        if found is None or found[1] <= self._limit:
            return ""
        sensor, value = found[0].sensor, found[1]
        name = printable(f"{sensor.chip.name} · {sensor.name}")
        return f"{name} reached {value:g} °C, above the limit of {self._limit:g} °C"

    def _hottest(self, snapshot: Snapshot) -> tuple[Reading, float] | None:
        wanted = snapshot.headline.sensor_ids
        found = [
            (reading, reading.value)
            for reading in snapshot.readings
            if reading.sensor.id in wanted
            and reading.sensor.quantity is Quantity.TEMPERATURE
            and reading.value is not None
        ]
        return max(found, key=lambda pair: pair[1], default=None)
