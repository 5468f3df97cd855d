"""The files of one chip that are read together, when they may be read, and what comes back instead of a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolkit.host.base import Host, ValueReader
from toolkit.sensors.hwmon import AWAKE_STATE, AWAKE_STATUS, Channel
from toolkit.text import printable

STUCK_S = 1.0
"""How long a look at all chips waits for one that does not answer."""
UNDERSCORE = ord("_")
"""`int` takes 1_000 for a thousand; no driver writes that."""


class Asleep(Exception):
    """The device was not read, since that would wake it; the text is the reason."""


class Stuck(Exception):
    """The chip has not answered yet; the text says for how long."""


class Plan:
    """The files of one chip that are read together, and when they are due."""

    __slots__ = ("channels", "delay_s", "due", "guard", "interval_s", "lagging", "last_s", "readers", "rows", "seen_at")

    def __init__(self, channels: Sequence[tuple[int, Channel]], interval_s: float, guard: Guard | None) -> None:
        self.channels = tuple(channels)
        self.interval_s = interval_s
        self.guard = guard
        self.due = 0.0
        self.seen_at: float | None = None
        self.last_s = 0.0
        self.lagging = 0
        self.delay_s = 0.0
        self.readers: list[ValueReader] = []
        self.rows: list[tuple[int, Callable[[], bytes]]] = []


class Guard:
    """Tells whether a device may be read without waking it, from attributes that do not wake it themselves."""

    def __init__(self, host: Host, device: str) -> None:
        folders = (device, f"{device}/device")
        self._checks: list[tuple[Callable[[], bytes], tuple[str, ...]]] = []
        for folder in folders:
            for name, awake in (("power/runtime_status", AWAKE_STATUS), ("power_state", AWAKE_STATE)):
                try:
                    reader = host.open_value(f"{folder}/{name}")
                except OSError:
                    continue
                self._checks.append((reader.read, awake))
        self.backoff_s = _backoff(host, f"{device}/power")

    @property
    def needed(self) -> bool:
        """True where the device can sleep at all."""
        return bool(self._checks)

    def asleep(self) -> str | None:
        """Return why the device must not be read now, or None."""
        for read, awake in self._checks:
            try:
                status = printable(read().decode(errors="replace"), 20)
            except OSError:
                continue
            if status and status not in awake:
                return f"{status}: not read, that would wake it"
        return None


class Fault(OSError):
    """The chip's `_fault` says that the value means nothing."""


def not_a_number(data: bytes) -> int:
    """Raise ValueError: in a loop that reads numbers, a call is quicker than a branch that is never taken."""
    raise ValueError(data)


def _backoff(host: Host, power: str) -> float:
    """Return how long to wait between looks so that the device can still fall asleep by itself, in seconds."""
    try:
        if host.read_text(f"{power}/control", 16).strip() != "auto":
            return 0.0
        delay_ms = int(host.read_text(f"{power}/autosuspend_delay_ms", 16))
    except (OSError, ValueError):
        return 0.0
    return min(60.0, delay_ms / 1000.0 * 1.5 + 1.0) if delay_ms > 0 else 0.0
