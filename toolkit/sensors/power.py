"""Power of the CPU packages, mains and batteries.

Sources: Documentation/power/powercap/powercap.rst (energy_uj runs on to max_energy_range_uj and starts again at 0; it
has been for root only since CVE-2020-8694), Documentation/ABI/testing/sysfs-class-power. Only packages are summed:
core and uncore lie inside the package, psys is a rival total.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence

from toolkit.errors import NotCaptured, Problem
from toolkit.host.base import Host
from toolkit.host.natural import natural_sorted
from toolkit.host.read import errno_name, parse_number, read_line, read_number
from toolkit.sensors.model import Battery, PackagePower, Power, Quantity, Reading, State

POWERCAP = "/sys/class/powercap"
SUPPLY = "/sys/class/power_supply"
_SUPPLY_INTERVAL_S = 4.95
"""Each look at a battery asks the embedded controller, which is slow on many machines."""


def unwrap(before: int, now: int, limit: int) -> int:
    """Return the energy between two looks at a counter that starts again at 0 after `limit`."""
    return now - before if now >= before else now + limit + 1 - before


class _Zone:
    """One RAPL package: its counter, undone of wrap-around, and its limits."""

    def __init__(self, host: Host, path: str, name: str) -> None:
        self._host = host
        self.path = path
        self.name = name
        self.range_uj = read_number(host, f"{path}/max_energy_range_uj") or (1 << 32) - 1
        self.long_w, self.short_w = self._limits()
        self.total_uj = 0
        self._counter_uj: int | None = None
        self._at: float | None = None
        self.error: OSError | None = None

    def look(self) -> PackagePower:
        watts = None
        try:
            counter = parse_number(self._host.read_bytes(f"{self.path}/energy_uj", 64))
            self.error = None
        except OSError as error:
            counter, self.error = None, error
        now = self._host.monotonic()
        if counter is not None and self._counter_uj is not None and self._at is not None and now > self._at:
            used = unwrap(self._counter_uj, counter, self.range_uj)
            self.total_uj += used
            # A package always uses something: a counter that stands still was not renewed since.
            watts = used / (now - self._at) / 1e6 if used else None
        if counter is not None and counter != self._counter_uj:
            self._counter_uj, self._at = counter, now
        known = self._counter_uj is not None
        return PackagePower(self.name, watts, self.long_w, self.short_w, "RAPL", self.total_uj / 1e6 if known else None)

    def _limits(self) -> tuple[float | None, float | None]:
        limits: dict[str, float] = {}
        for number in range(4):
            name = read_line(self._host, f"{self.path}/constraint_{number}_name")
            value = read_number(self._host, f"{self.path}/constraint_{number}_power_limit_uw")
            if name is not None and value:
                limits[name] = value / 1e6
        return limits.get("long_term"), limits.get("short_term")


class PowerProbe:
    """Looks at power; keeps the counters of the look before."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._problem: Problem | None = None
        self._zones = self._find_zones()
        self._supplies: tuple[bool | None, tuple[Battery, ...]] = (None, ())
        self._supplies_at: float | None = None

    def look(self, readings: Sequence[Reading]) -> Power:
        """Return the power now; `readings` are those of hwmon, which stand in where RAPL cannot be read."""
        packages = tuple(zone.look() for zone in self._zones)
        problem = self._problem
        denied = next((zone for zone in self._zones if zone.error is not None), None)
        if denied is not None and denied.error is not None:
            problem = _why_not(denied.path, denied.error)
        if not packages or denied is not None:
            instead = _from_hwmon(readings)
            if instead is not None:
                limits = packages[0] if packages else None
                packages = (_with_limits(instead, limits),)
                problem = None
        on_ac, batteries = self._look_at_supplies()
        return Power(packages=packages, on_ac=on_ac, batteries=batteries, problem=problem)

    def _find_zones(self) -> list[_Zone]:
        try:
            names = self._host.listdir(POWERCAP)
        except NotCaptured:
            self._problem = Problem(POWERCAP, "not captured")
            return []
        except OSError:
            self._problem = Problem(POWERCAP, "this machine shows no package power (no powercap)")
            return []
        zones = []
        for name in natural_sorted(names):
            path = f"{POWERCAP}/{name}"
            if name.count(":") != 1 or not name.startswith("intel-rapl:"):
                continue
            label = read_line(self._host, f"{path}/name")
            if label is not None and label.startswith("package"):
                zones.append(_Zone(self._host, path, label))
        if not zones:
            self._problem = Problem(POWERCAP, "this machine shows no package power (no RAPL package)")
        return zones

    def _look_at_supplies(self) -> tuple[bool | None, tuple[Battery, ...]]:
        now = self._host.monotonic()
        if self._supplies_at is None or now - self._supplies_at >= _SUPPLY_INTERVAL_S:
            self._supplies_at = now
            self._supplies = probe_supplies(self._host)
        return self._supplies


def probe_supplies(host: Host) -> tuple[bool | None, tuple[Battery, ...]]:
    """Return whether mains is there (None where the machine does not say) and the machine's own batteries."""
    try:
        names = host.listdir(SUPPLY)
    except OSError:
        return None, ()
    online: list[bool] = []
    batteries = []
    for name in natural_sorted(names):
        path = f"{SUPPLY}/{name}"
        kind = read_line(host, f"{path}/type")
        if kind in ("Mains", "USB"):
            state = read_number(host, f"{path}/online")
            if state is not None and (kind == "Mains" or state):
                online.append(state != 0)
        elif kind == "Battery" and read_line(host, f"{path}/scope") != "Device":
            batteries.append(_battery(host, path, name))
    return (any(online) if online else None), tuple(batteries)


def _battery(host: Host, path: str, name: str) -> Battery:
    status = read_line(host, f"{path}/status")
    power = read_number(host, f"{path}/power_now")
    watts: float | None = None
    if power is not None:
        watts = abs(power) / 1e6
    else:
        current, voltage = read_number(host, f"{path}/current_now"), read_number(host, f"{path}/voltage_now")
        if current is not None and voltage is not None:
            watts = abs(current) * voltage / 1e12
    if watts is not None and status == "Discharging":
        watts = -watts
    percent = read_number(host, f"{path}/capacity")
    return Battery(name, _percent_from_charge(host, path) if percent is None else float(percent), status, watts)


def _percent_from_charge(host: Host, path: str) -> float | None:
    for kind in ("energy", "charge"):
        now, full = read_number(host, f"{path}/{kind}_now"), read_number(host, f"{path}/{kind}_full")
        if now is not None and full:
            return 100.0 * now / full
    return None


def _why_not(path: str, error: OSError) -> Problem:
    source = f"{path}/energy_uj"
    if isinstance(error, NotCaptured):
        return Problem(source, "not captured")
    if error.errno in (errno.EACCES, errno.EPERM):
        from toolkit.host.privilege import own_command

        return Problem(source, "package power needs root", f"sudo {own_command()} temps")
    return Problem(source, f"package power cannot be read ({errno_name(error)})")


def _from_hwmon(readings: Sequence[Reading]) -> PackagePower | None:
    """Return the CPU's power from zenpower (core and SoC rails), or from amdgpu where it is inside the CPU."""
    watts = [r for r in readings if r.sensor.quantity is Quantity.POWER and r.value is not None and r.state is State.OK]
    rails = [r for r in watts if r.sensor.chip.name == "zenpower"]
    if rails:
        return PackagePower("SVI2", sum(r.value or 0.0 for r in rails), None, None, "zenpower")
    for reading in watts:
        if reading.sensor.chip.name == "amdgpu" and _is_apu(readings, reading):
            return PackagePower(reading.sensor.name, reading.value, None, None, f"amdgpu {reading.sensor.name}")
    return None


def _is_apu(readings: Sequence[Reading], power: Reading) -> bool:
    """True where the amdgpu chip is part of the CPU: it has the rail vddnb, and no memory or junction sensor."""
    labels = {r.sensor.label for r in readings if r.sensor.chip == power.sensor.chip}
    return "vddnb" in labels and not labels & {"mem", "junction"}


def _with_limits(power: PackagePower, limits: PackagePower | None) -> PackagePower:
    if limits is None:
        return power
    return PackagePower(power.name, power.watts, limits.long_limit_w, limits.short_limit_w, power.source)
