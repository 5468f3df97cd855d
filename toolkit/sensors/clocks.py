"""Clocks of the cores by type, the policy that rules them, and the load.

Sources: Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst, amd-pstate.rst; proc_stat(5), proc_loadavg(5);
Documentation/ABI/testing/sysfs-platform_profile. P and E cores are told apart by the PMUs cpu_core and cpu_atom.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.errors import NotCaptured, Problem
from toolkit.host.base import Host
from toolkit.host.natural import natural_sorted
from toolkit.host.read import read_all, read_line, read_number
from toolkit.sensors.model import ClockGroup, Clocks

CPU = "/sys/devices/system/cpu"
_KINDS = (
    ("P", "/sys/devices/cpu_core/cpus"),
    ("E", "/sys/devices/cpu_atom/cpus"),
    ("LP", "/sys/devices/cpu_lowpower/cpus"),
)
_IDLE_PERCENT = 10.0
_IDLE_SAMPLE = 4
"""How many cores of a type are asked on an idle machine: older kernels wake each core that is asked."""


@dataclass(frozen=True, slots=True)
class _Policy:
    path: str
    cpus: tuple[int, ...]
    kind: str
    ceiling_khz: int | None


class ClockProbe:
    """Looks at clocks and load; keeps the load counters of the look before."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._busy_idle: tuple[int, int] | None = None
        self._problem: Problem | None = None
        self._policies = self._find_policies()
        self._turn = 0

    def look(self) -> Clocks:
        """Return the clocks now. Never raises for the machine's faults."""
        load = self._load_percent()
        self._turn += 1
        host = self._host
        first = self._policies[0].path if self._policies else None
        return Clocks(
            groups=self._groups(load),
            driver=read_line(host, f"{first}/scaling_driver") if first else None,
            governor=read_line(host, f"{first}/scaling_governor") if first else None,
            energy_preference=read_line(host, f"{first}/energy_performance_preference") if first else None,
            platform_profile=read_line(host, "/sys/firmware/acpi/platform_profile"),
            boost=self._boost(),
            load_percent=load,
            load_average=parse_loadavg(read_all(host, "/proc/loadavg")),
            problem=self._problem,
        )

    def _find_policies(self) -> list[_Policy]:
        host = self._host
        kinds: dict[int, str] = {}
        for kind, path in _KINDS:
            kinds.update(dict.fromkeys(parse_cpu_list(read_all(host, path)), kind))
        try:
            names = host.listdir(f"{CPU}/cpufreq")
        except NotCaptured:
            self._problem = Problem(f"{CPU}/cpufreq", "not captured")
            return []
        except OSError:
            self._problem = Problem(f"{CPU}/cpufreq", "this machine shows no clocks (no cpufreq driver)")
            return []
        policies = []
        for name in natural_sorted(names):
            if not name.startswith("policy"):
                continue
            path = f"{CPU}/cpufreq/{name}"
            cpus = parse_cpu_list(read_all(host, f"{path}/affected_cpus") or read_all(host, f"{path}/related_cpus"))
            cpus = cpus or parse_cpu_list(name.removeprefix("policy"))
            kind = kinds.get(cpus[0], "CPU") if cpus else "CPU"
            policies.append(_Policy(path, cpus, kind, read_number(host, f"{path}/cpuinfo_max_freq")))
        return policies

    def _groups(self, load: float | None) -> tuple[ClockGroup, ...]:
        kinds: dict[str, list[_Policy]] = {}
        for policy in self._policies:
            kinds.setdefault(policy.kind, []).append(policy)
        return tuple(self._group(kind, kinds[kind], load) for kind in ("CPU", "P", "E", "LP") if kind in kinds)

    def _group(self, kind: str, policies: list[_Policy], load: float | None) -> ClockGroup:
        asked = policies
        if load is not None and load < _IDLE_PERCENT and len(policies) > _IDLE_SAMPLE:
            start = self._turn * _IDLE_SAMPLE % len(policies)
            asked = (policies + policies)[start : start + _IDLE_SAMPLE]
        now = [
            khz for policy in asked if (khz := read_number(self._host, f"{policy.path}/scaling_cur_freq")) is not None
        ]
        allowed = [khz for p in asked[:1] if (khz := read_number(self._host, f"{p.path}/scaling_max_freq")) is not None]
        ceilings = [policy.ceiling_khz for policy in policies if policy.ceiling_khz is not None]
        # The policy is compared with the ceiling of the very core that was asked: favoured cores have a higher one.
        policy_mhz = None
        if allowed and asked[0].ceiling_khz is not None:
            below = allowed[0] < asked[0].ceiling_khz
            policy_mhz = (allowed[0] if below else max(ceilings)) / 1000
        return ClockGroup(
            kind=kind,
            cpus=tuple(cpu for policy in policies for cpu in policy.cpus),
            mean_mhz=sum(now) / len(now) / 1000 if now else None,
            min_mhz=min(now) / 1000 if now else None,
            max_mhz=max(now) / 1000 if now else None,
            ceiling_mhz=max(ceilings) / 1000 if ceilings else None,
            policy_mhz=policy_mhz,
        )

    def _boost(self) -> bool | None:
        no_turbo = read_number(self._host, f"{CPU}/intel_pstate/no_turbo")
        if no_turbo is not None:
            return no_turbo == 0
        boost = read_number(self._host, f"{CPU}/cpufreq/boost")
        return None if boost is None else boost != 0

    def _load_percent(self) -> float | None:
        before, self._busy_idle = self._busy_idle, parse_stat(read_all(self._host, "/proc/stat", 4096))
        now = self._busy_idle
        if before is None or now is None:
            return None
        busy, idle = now[0] - before[0], now[1] - before[1]
        if busy < 0 or idle < 0 or busy + idle == 0:
            return None
        return 100.0 * busy / (busy + idle)


def parse_stat(text: str) -> tuple[int, int] | None:
    """Return (busy, idle) ticks of the first line of /proc/stat; None where it is not that line. Never raises."""
    fields = text.split("\n", 1)[0].split()
    if len(fields) < 5 or fields[0] != "cpu":
        return None
    try:
        ticks = [int(field) for field in fields[1:9]]
    except ValueError:
        return None
    idle = ticks[3] + (ticks[4] if len(ticks) > 4 else 0)
    return sum(ticks) - idle, idle


def parse_loadavg(text: str) -> tuple[float, float, float] | None:
    """Return the three load averages of /proc/loadavg; None where they are not there. Never raises."""
    fields = text.split()
    try:
        one, five, fifteen = (float(field) for field in fields[:3])
    except ValueError:
        return None
    return one, five, fifteen


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """Parse the kernel's list of CPUs, `0-3,8` or `0 1 2`; what is not a number or a range is left out."""
    cpus: list[int] = []
    for part in text.replace(",", " ").split():
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(first) > 5 or len(last) > 5:
            continue
        low, high = int(first), int(last) if dash else int(first)
        cpus.extend(range(low, min(high, low + 8192) + 1))
    return tuple(cpus)
