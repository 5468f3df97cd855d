"""`toolkit capture FILE`: what the program sees of this machine, with secrets replaced, for a bug report."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolkit import output
from toolkit.text import printable

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host
    from toolkit.host.record import RecordingHost
    from toolkit.host.writer import Saved

HELP = "write what the program sees of this machine to a file, for a bug report"

LOOKS = 3
LOOK_INTERVAL_S = 1.0
"""Three looks a second apart, so that the capture holds how values move."""

FILE_LIMIT = 4096
"""Bytes of one attribute: sysfs gives a page at most (Documentation/filesystems/sysfs.rst)."""

WHOLE_FILES = (
    "/etc/os-release",
    "/etc/debian_version",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ostype",
    "/proc/cpuinfo",
    "/proc/cmdline",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
)

_CPU = "/sys/devices/system/cpu"

ATTRIBUTES = {
    "/sys/class/dmi/id": "sys_vendor product_name product_version product_family product_sku board_vendor board_name "
    "board_version bios_vendor bios_version bios_date bios_release ec_firmware_release chassis_type",
    "/sys/class/thermal/thermal_zone*": "type temp mode policy trip_point_*",
    "/sys/class/thermal/cooling_device*": "type cur_state max_state",
    "/sys/class/powercap/*": "name enabled energy_uj max_energy_range_uj power_uw constraint_*",
    _CPU: "online possible present smt/active smt/control cpufreq/boost intel_pstate/* amd_pstate/*",
    f"{_CPU}/cpu*": "online cpu_capacity thermal_throttle/*",
    f"{_CPU}/cpu*/topology": "package_id physical_package_id die_id core_id core_type cluster_id core_cpus_list "
    "thread_siblings_list",
    f"{_CPU}/cpufreq/policy*": "*",
    "/sys/devices": "cpu_core/cpus cpu_atom/cpus cpu_lowpower/cpus",
    "/sys/firmware/acpi": "platform_profile platform_profile_choices",
    "/sys/class/power_supply/*": "type scope online present status capacity capacity_level technology cycle_count "
    "manufacturer model_name voltage_now voltage_min_design current_now power_now energy_now energy_full "
    "energy_full_design charge_now charge_full charge_full_design charge_control_* temp",
    "/sys/class/drm/card*/device": "vendor device power_state",
}
"""What is read beside the probes' own reads: pattern of a folder -> patterns of names in it."""

LISTINGS = ("/sys/module", "/sys/bus/platform/drivers", "/sys/bus/pci/drivers")
"""Folders whose names alone tell something: which drivers there are."""

_NOT_READ = ("uevent", "bind", "unbind", "remove", "rescan", "reset")
"""Attributes that are there to be written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file, and what may be kept in it."""
    parser.add_argument("file", metavar="FILE", help="where to: a name that ends in .tar.gz, or a new folder")
    parser.add_argument("--force", action="store_true", help="replace a capture that is there")
    parser.add_argument("--keep-serials", action="store_true", help="keep the serial numbers of devices")


def run(args: argparse.Namespace, host: Host) -> int:
    """Look at everything, save it and say what is in it. Raises UsageError where FILE cannot be written."""
    from toolkit.host.record import RecordingHost
    from toolkit.host.redact import Redactor
    from toolkit.host.saving import check_place

    check_place(args.file, args.force)
    recorder = RecordingHost(host, Redactor(keep=("serial",) if args.keep_serials else ()))
    look_at_everything(recorder)
    saved = recorder.save(args.file, overwrite=args.force)
    if args.json:
        output.write_json(_as_dict(saved), (), host)
    else:
        _report(saved, args.keep_serials)
    return 0


def look_at_everything(host: RecordingHost) -> None:
    """Run every probe of the program on a recorder, and read what a bug report needs beside that.

    Nothing is read that would wake a device or keep a disk from sleeping. What fails is noted by the recorder.
    """
    from toolkit.sensors.monitor import ThermalMonitor

    monitor = ThermalMonitor(host)
    try:
        _ = monitor.machine
        monitor.snapshot()
        _look_around(host)
        for _ in range(LOOKS - 1):
            host.sleep(LOOK_INTERVAL_S)
            monitor.snapshot()
    finally:
        monitor.close()


def _look_around(host: Host) -> None:
    for path in WHOLE_FILES:
        with contextlib.suppress(OSError):
            host.read_bytes(path)
    _read_chips(host)
    for folder, names in ATTRIBUTES.items():
        for name in names.split():
            pattern = f"{folder}/{name}"
            _read_all(host, host.glob(pattern) if "*" in pattern else [pattern])
    for folder in LISTINGS:
        with contextlib.suppress(OSError):
            host.listdir(folder)


def _read_chips(host: Host) -> None:
    """Read every attribute of every hwmon chip that is awake and no disk; of the others, what names them."""
    from toolkit.host.read import read_line
    from toolkit.sensors.plan import Guard

    for chip in host.glob("/sys/class/hwmon/hwmon*"):
        name = read_line(host, f"{chip}/name")
        sleeps = name == "drivetemp" or Guard(host, f"{chip}/device").asleep() is not None
        for path in host.glob(f"{chip}/*"):
            attribute = path.rpartition("/")[2]
            if not sleeps or attribute in ("name", "label") or attribute.endswith("_label"):
                _read_all(host, [path])
        for device in (f"{chip}/device", f"{chip}/device/device"):
            _read_all(host, [f"{device}/{name}" for name in ("model", "vendor", "power_state", "power/runtime_status")])


def _read_all(host: Host, paths: Iterable[str]) -> None:
    for path in paths:
        name = path.rpartition("/")[2]
        if name in _NOT_READ or name.endswith("reset_history") or host.is_dir(path):
            continue
        with contextlib.suppress(OSError):
            host.read_bytes(path, FILE_LIMIT)


def _report(saved: Saved, keep_serials: bool) -> None:
    replaced = ", ".join(f"{title} ({count})" for title, count in saved.replaced.items()) or "nothing"
    output.write(
        f"{printable(saved.path, 4096)}: {saved.files} files, {saved.changes} changes, {saved.commands} commands"
    )
    output.write(f"replaced: {replaced}" + ("; serial numbers kept, as you asked" if keep_serials else ""))
    if saved.unreadable:
        output.write(f"could not be read: {len(saved.unreadable)}")
        for path, name in saved.unreadable[:8]:
            output.write(f"  {name:<10} {printable(path)}")
        if len(saved.unreadable) > 8:
            output.write("  ... all of them stand in unreadable.tsv in the capture")
    output.write("Look it over before you send it: it is plain text" + _how_to_look(saved.path))
    output.write(f"See your machine as others will: toolkit --from {printable(saved.path, 4096)}")


def _how_to_look(path: str) -> str:
    return (
        f" (tar -xzf {printable(path, 4096)})"
        if path.endswith(("gz",))
        else f" (less {printable(path, 4096)}/tree.txt)"
    )


def _as_dict(saved: Saved) -> dict[str, object]:
    return {
        "path": saved.path,
        "files": saved.files,
        "changes": saved.changes,
        "commands": saved.commands,
        "size_bytes": saved.size,
        "replaced": dict(saved.replaced),
        "unreadable": [{"path": path, "errno": name} for path, name in saved.unreadable],
    }
