"""Checks of a machine through its Host, so that a capture can be asked what is wrong over there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.doctor.model import Finding, Verdict, care, note, ok
from toolkit.errors import NotCaptured
from toolkit.text import printable

if TYPE_CHECKING:
    from toolkit.host.base import Host

CPU_DRIVERS = frozenset({"coretemp", "k10temp", "k8temp", "zenpower", "via_cputemp"})


def check_machine(host: Host) -> Iterator[Finding]:
    """All checks of this module. Never raises for what it finds."""
    for subject, check in CHECKS.items():
        try:
            yield from check(host, subject)
        except NotCaptured as error:
            yield Finding(Verdict.UNKNOWN, subject, f"not captured: {error.filename}")


def check_sensors(host: Host, subject: str) -> Iterator[Finding]:
    """How many hwmon devices there are, and what stands in for them."""
    names = chip_names(host)
    zones = host.glob("/sys/class/thermal/thermal_zone*")
    if names:
        yield ok(subject, f"{len(names)} hwmon devices: {printable(', '.join(dict.fromkeys(names)))}")
    elif zones:
        yield care(subject, f"no hwmon device; {len(zones)} thermal zones stand in")
    else:
        yield care(
            subject, "neither a hwmon device nor a thermal zone", "toolkit --demo shows a machine that has sensors"
        )


def chip_names(host: Host) -> list[str]:
    """The `name` of every hwmon device; `hwmonN` where it cannot be read."""
    return [read_word(host, f"{path}/name") or path.rsplit("/", 1)[1] for path in host.glob("/sys/class/hwmon/hwmon*")]


def read_word(host: Host, path: str) -> str:
    """A file's stripped text, empty where it cannot be read."""
    try:
        return host.read_text(path).strip()
    except OSError:
        return ""


def check_cpu_sensor(host: Host, subject: str) -> Iterator[Finding]:
    """The driver of the CPU's own sensor is loaded, or it is said how it can be, or why there is none."""
    loaded = CPU_DRIVERS.intersection(chip_names(host))
    if loaded:
        yield ok(subject, ", ".join(sorted(loaded)))
        return
    cpu = cpu_facts(host)
    driver = cpu.driver
    if "hypervisor" in cpu.flags:
        yield note(subject, "a virtual machine: its host does not pass the CPU's sensor on")
    elif driver is None:
        yield note(subject, f"{printable(cpu.vendor) or 'this CPU'} has no driver of its own; thermal zones stand in")
    elif driver == "coretemp" and cpu.flags and "dtherm" not in cpu.flags:
        yield note(subject, "this CPU has no digital sensor (no `dtherm` in /proc/cpuinfo)")
    elif lacks_module(host, driver):
        hint = "install your distribution's full kernel instead of the one for clouds and virtual machines"
        yield care(subject, f"this kernel was built without {driver}", hint)
    else:
        hint = f"sudo modprobe {driver}; for every boot: echo {driver} | sudo tee /etc/modules-load.d/{driver}.conf"
        yield care(subject, f"{driver} is not loaded", hint)


@dataclass(frozen=True, slots=True)
class Cpu:
    """What /proc/cpuinfo says of the first CPU; empty values where it says nothing."""

    vendor: str
    family: int
    flags: frozenset[str]

    @property
    def driver(self) -> str | None:
        """The kernel's driver for its sensor (Documentation/hwmon/{coretemp,k8temp,k10temp}.rst)."""
        if self.vendor == "GenuineIntel":
            return "coretemp"
        if self.vendor in ("AuthenticAMD", "HygonGenuine"):
            return "k8temp" if self.family == 0x0F else "k10temp"
        return None


def cpu_facts(host: Host) -> Cpu:
    """Read the first block of /proc/cpuinfo. Raises NotCaptured."""
    try:
        text = host.read_text("/proc/cpuinfo")
    except NotCaptured:
        raise
    except OSError:
        text = ""
    pairs = (line.partition(":") for line in text.split("\n\n", 1)[0].splitlines())
    values = {key.strip(): value.strip() for key, _, value in pairs}
    family = values.get("cpu family", "")
    flags = frozenset(values.get("flags", "").split())
    return Cpu(values.get("vendor_id", ""), int(family) if family.isdecimal() else 0, flags)


def lacks_module(host: Host, driver: str) -> bool:
    """True where the running kernel's modules are known and the driver is neither among them nor built in."""
    try:
        folder = f"/lib/modules/{host.read_text('/proc/sys/kernel/osrelease').strip()}"
        builtin = host.read_text(f"{folder}/modules.builtin")
    except OSError:
        return False
    return f"/{driver}.ko" not in builtin and not host.glob(f"{folder}/kernel/drivers/hwmon/{driver}.ko*")


def check_disks(host: Host, subject: str) -> Iterator[Finding]:
    """SATA disks show a temperature only where drivetemp is loaded (Documentation/hwmon/drivetemp.rst)."""
    vendors = host.glob("/sys/block/sd*/device/vendor")
    disks = ", ".join(path.split("/")[3] for path in vendors if read_word(host, path) == "ATA")
    if not disks:
        return
    if "drivetemp" in chip_names(host):
        yield ok(subject, f"drivetemp is loaded for {disks}")
    else:
        yield note(subject, f"no temperature of {disks} without drivetemp", "sudo modprobe drivetemp")


def check_cpu_power(host: Host, subject: str) -> Iterator[Finding]:
    """The energy counters of RAPL can be read. Since CVE-2020-8694 the kernel gives them to root alone."""
    packages = [path for path in host.glob("/sys/class/powercap/*-rapl:*") if path.count(":") == 1]
    if not packages:
        yield note(subject, "no RAPL counter")
        return
    path = f"{packages[0]}/energy_uj"
    try:
        host.read_text(path)
    except PermissionError:
        hint = f'sudo "$(command -v toolkit)" temps; or, for every user until the next boot: sudo chmod a+r {path}'
        yield note(subject, "the RAPL counter is for root alone (CVE-2020-8694)", hint)
    except NotCaptured:
        raise
    except OSError as error:
        yield note(subject, f"the RAPL counter cannot be read: {error.strerror}")
    else:
        yield ok(subject, f"RAPL, {len(packages)} package{'s' if len(packages) > 1 else ''}")


def check_hot_plug(host: Host, subject: str) -> Iterator[Finding]:
    """Udevd runs, so that new devices are told at once."""
    try:
        running = "control" in host.listdir("/run/udev")
    except NotCaptured:
        raise
    except OSError:
        running = False
    if running:
        yield ok(subject, "udev runs")
    else:
        yield note(subject, "udev does not run; new devices are found by looking again now and then")


CHECKS: dict[str, Callable[[Host, str], Iterator[Finding]]] = {
    "sensors": check_sensors,
    "CPU sensor": check_cpu_sensor,
    "SATA disks": check_disks,
    "CPU power": check_cpu_power,
    "hot-plug": check_hot_plug,
}
