"""Is the machine held back now, and by what.

Sources: Documentation/ABI/testing/sysfs-devices-system-cpu (thermal_throttle: Intel only; the package counter stands
at every CPU of the package and is counted once), Documentation/driver-api/thermal/sysfs-api.rst (cooling devices).
The counters tell thermal events, not power limits: those are inferred, and said to be likely.
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
from toolkit.sensors.model import Clocks, Headline, Held, HeldBack, Power, Throttling

RECENT_S = 60.0
_NOW_S = 15.0
_COOLING_TYPES = ("Processor", "intel_powerclamp", "cpufreq-", "thermal-cpufreq", "cpu-idle", "TCC Offset")
_BUSY_PERCENT = 40.0


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


def judge_held_back(
    headline: Headline, throttling: Throttling, clocks: Clocks, power: Power, since_event_s: float | None
) -> HeldBack:
    """Say whether the machine is held back now: counted events first, then what can be inferred, then policy."""
    held = (
        _by_counters(throttling, since_event_s)
        or _by_cooling(throttling)
        or _at_the_limit(headline, clocks)
        or _by_power(headline, clocks, power)
        or _by_policy(clocks)
    )
    if held is not None:
        return held
    if headline.celsius is None and not clocks.groups:
        return HeldBack(
            Held.UNKNOWN,
            "",
            "Whether this machine is held back cannot be told: it shows neither a CPU temperature nor clocks.",
        )
    if throttling.recent_package_events or throttling.recent_core_events:
        return HeldBack(Held.NO, "", f"Not held back now; {_events(throttling)} in the last minute.")
    return HeldBack(Held.NO, "", "Nothing holds this machine back.")


def _by_counters(throttling: Throttling, since_event_s: float | None) -> HeldBack | None:
    if since_event_s is None or since_event_s > _NOW_S:
        return None
    return HeldBack(
        Held.YES,
        "temperature",
        f"Held back: {_events(throttling)} in the last minute.",
        (f"{throttling.recent_package_events} package, {throttling.recent_core_events} core events in 60 s",),
    )


def _events(throttling: Throttling) -> str:
    count = throttling.recent_package_events
    what = "the CPU package"
    if not count:
        count, what = throttling.recent_core_events, "a core"
    return f"{what} reached its limit {count} time{'s' if count != 1 else ''}"


def _by_cooling(throttling: Throttling) -> HeldBack | None:
    if not throttling.cooling:
        return None
    names = ", ".join(throttling.cooling)
    return HeldBack(
        Held.YES,
        "temperature",
        f"Held back: the kernel is cooling the CPU ({names}).",
        (f"cooling device active: {names}",),
    )


def _at_the_limit(headline: Headline, clocks: Clocks) -> HeldBack | None:
    limit = headline.limit_celsius
    if headline.celsius is None:
        return None
    if limit is not None and headline.celsius >= limit - 1:
        return HeldBack(
            Held.LIKELY,
            "temperature",
            f"Probably held back: {headline.celsius} °C, and the limit is {limit:.0f}.",
            (f"{headline.celsius} of {limit:.0f} °C",),
        )
    slow = _slowed(clocks)
    if limit is None and headline.celsius >= 95 and slow is not None and _busy(clocks):
        return HeldBack(
            Held.LIKELY,
            "temperature",
            f"Probably held back by heat: {headline.celsius} °C, {slow}.",
            (f"{headline.celsius} °C", slow, "this CPU counts no thermal events"),
        )
    return None


def _by_power(headline: Headline, clocks: Clocks, power: Power) -> HeldBack | None:
    """Under load, below the thermal limit, clocks down, and power flat at the long-term limit: likely."""
    if not _busy(clocks):
        return None
    slow = _slowed(clocks)
    for package in power.packages:
        limit = package.long_limit_w
        if package.watts is None or not limit or package.watts < 0.95 * limit or slow is None:
            continue
        if package.watts > 1.15 * limit:
            continue  # the short-term limit still lends
        ceiling = headline.limit_celsius
        if headline.celsius is not None and ceiling is not None and headline.celsius > ceiling - 5:
            continue  # heat is the nearer cause
        figure = f"{package.watts:.1f} W of {limit:.0f} W"
        return HeldBack(
            Held.LIKELY,
            "power limit",
            f"Probably held back by the power limit: {figure} (PL1), {slow}.",
            (figure, slow),
        )
    return None


def _by_policy(clocks: Clocks) -> HeldBack | None:
    if clocks.boost is False:
        return HeldBack(Held.YES, "policy", "Held back by policy: turbo is switched off.", ("boost off",))
    for group in clocks.groups:
        if group.policy_mhz and group.ceiling_mhz and group.policy_mhz < 0.97 * group.ceiling_mhz:
            figure = f"{group.policy_mhz / 1000:.1f} of {group.ceiling_mhz / 1000:.1f} GHz allowed"
            return HeldBack(Held.YES, "policy", f"Held back by policy: {_cores(group.kind)}{figure}.", (figure,))
    if clocks.platform_profile == "low-power":
        return HeldBack(
            Held.YES,
            "policy",
            "Held back by policy: the platform profile is low-power.",
            ("platform_profile low-power",),
        )
    return None


def _busy(clocks: Clocks) -> bool:
    return clocks.load_percent is not None and clocks.load_percent >= _BUSY_PERCENT


def _slowed(clocks: Clocks) -> str | None:
    """Return a clause on the first core type that runs well below its ceiling, or None."""
    for group in clocks.groups:
        if group.mean_mhz is not None and group.ceiling_mhz is not None and group.mean_mhz < 0.9 * group.ceiling_mhz:
            return f"{_cores(group.kind)}at {group.mean_mhz / 1000:.1f} of {group.ceiling_mhz / 1000:.1f} GHz"
    return None


def _cores(kind: str) -> str:
    return "cores " if kind == "CPU" else f"{kind} cores "
