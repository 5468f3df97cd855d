"""Thermal events that the CPU counts, and the cooling devices that the kernel uses now.

Sources: Documentation/ABI/testing/sysfs-devices-system-cpu (thermal_throttle: Intel only; the package counter stands
at every CPU of the package and is counted once), Documentation/driver-api/thermal/sysfs-api.rst (cooling devices).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from toolkit.errors import NotCaptured
from toolkit.host.base import Host, ValueReader
from toolkit.host.natural import natural_sorted
from toolkit.host.read import parse_number, read_line, read_number
from toolkit.sensors.clocks import CPU
from toolkit.sensors.hwmon import THERMAL
from toolkit.sensors.model import Throttling

RECENT_S = 60.0
_COOLING_TYPES = ("Processor", "intel_powerclamp", "cpufreq-", "thermal-cpufreq", "cpu-idle", "TCC Offset")


class _Counter:
    """One counter file, kept open; counts upward steps from the first look on."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._before = self._value()
        self.total = 0

    def look(self) -> int:
        """Return the steps since the look before."""
        now = self._value()
        if now is None:
            return 0
        before, self._before = self._before, now
        step = now - before if before is not None else 0
        step = max(step, 0)  # counted anew after a CPU went off line and on
        self.total += step
        return step

    def _value(self) -> int | None:
        try:
            return parse_number(self._read())
        except OSError:
            return None


class ThrottleProbe:
    """Counts thermal events since it was made. Counts from before are not reported."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._package: list[_Counter] = []
        self._core: list[_Counter] = []
        self._time: list[_Counter] = []
        self._events: deque[tuple[float, int, int]] = deque()
        self.last_event_s: float | None = None
        self.reason = ""
        self._readers: list[ValueReader] = []
        self._find()
        self._cooling = self._find_cooling()

    def look(self) -> Throttling:
        """Return what happened since the first look, and in the last minute. Never raises."""
        now = self._host.monotonic()
        package = sum(counter.look() for counter in self._package)
        core = sum(counter.look() for counter in self._core)
        for counter in self._time:
            counter.look()
        if package or core:
            self._events.append((now, package, core))
            self.last_event_s = now
        while self._events and self._events[0][0] < now - RECENT_S:
            self._events.popleft()
        return Throttling(
            offered=bool(self._package or self._core),
            package_events=sum(counter.total for counter in self._package),
            core_events=sum(counter.total for counter in self._core),
            recent_package_events=sum(event[1] for event in self._events),
            recent_core_events=sum(event[2] for event in self._events),
            throttled_ms=max(counter.total for counter in self._time) if self._time else None,
            cooling=self._active_cooling(),
            reason=self.reason,
        )

    def seconds_since_event(self) -> float | None:
        """Return how long ago the last thermal event was counted, None where none was."""
        return None if self.last_event_s is None else self._host.monotonic() - self.last_event_s

    def _find(self) -> None:
        host = self._host
        try:
            names = host.listdir(CPU)
        except NotCaptured:
            self.reason = "not captured"
            return
        except OSError:
            self.reason = "not offered by this kernel"
            return
        packages: set[int | str] = set()
        cores: set[tuple[int | str, int | str]] = set()
        for name in natural_sorted(names):
            folder = f"{CPU}/{name}/thermal_throttle"
            if not name.startswith("cpu") or not name[3:].isdecimal() or not host.exists(folder):
                continue
            package: int | str | None = read_number(host, f"{CPU}/{name}/topology/physical_package_id")
            core: int | str | None = read_number(host, f"{CPU}/{name}/topology/core_id")
            package = package if package is not None else 0
            core = core if core is not None else name
            if package not in packages and self._add(self._package, f"{folder}/package_throttle_count"):
                packages.add(package)
                self._add(self._time, f"{folder}/package_throttle_total_time_ms")
            if (package, core) not in cores and self._add(self._core, f"{folder}/core_throttle_count"):
                cores.add((package, core))
        if not self._package and not self._core:
            self.reason = "not offered by this CPU"

    def _add(self, counters: list[_Counter], path: str) -> bool:
        try:
            reader = self._host.open_value(path)
        except OSError:
            return False
        self._readers.append(reader)
        counters.append(_Counter(reader.read))
        return True

    def close(self) -> None:
        """Close the counter files."""
        for reader in self._readers:
            reader.close()
        self._readers.clear()

    def _find_cooling(self) -> list[tuple[str, str]]:
        try:
            names = self._host.listdir(THERMAL)
        except OSError:
            return []
        found = []
        for name in natural_sorted(names):
            if not name.startswith("cooling_device"):
                continue
            kind = read_line(self._host, f"{THERMAL}/{name}/type")
            if kind is not None and kind.startswith(_COOLING_TYPES) and kind != "TCC Offset":
                found.append((kind, f"{THERMAL}/{name}/cur_state"))
        return found

    def _active_cooling(self) -> tuple[str, ...]:
        active = {kind for kind, path in self._cooling if (read_number(self._host, path) or 0) > 0}
        return tuple(sorted(active))
