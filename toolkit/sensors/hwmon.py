"""Finds the chips and sensors of hwmon, and of the thermal zones where no hwmon chip knows the CPU.

Source: Documentation/hwmon/sysfs-interface.rst, Documentation/ABI/testing/sysfs-class-thermal. Only `name` is sure to
be there, numbers have holes and go past 9, and hwmonN differs from boot to boot: a sensor is known by its chip's
name, device path and label.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass, replace

from toolkit.errors import NotCaptured, Problem
from toolkit.host.base import Host
from toolkit.host.natural import natural_key, natural_sorted
from toolkit.host.read import errno_name, read_line, read_number
from toolkit.sensors.clean import CPU_CHIPS, GPU_CHIPS, bar_limit, make_limits
from toolkit.sensors.model import Chip, Quantity, Sensor
from toolkit.text import printable

AWAKE_STATUS = ("active", "unsupported", "error")
AWAKE_STATE = ("D0", "unknown", "error")
HWMON = "/sys/class/hwmon"
THERMAL = "/sys/class/thermal"

_DENIED = "may not be read"
_INPUT = re.compile(r"(temp|fan|in|curr|power|energy|humidity)([0-9]{1,5})_(input|average)")
_LIMIT_NAMES = ("max", "crit", "emergency", "min", "lcrit", "max_hyst", "crit_hyst")
_QUANTITY_ORDER = {quantity: number for number, quantity in enumerate(Quantity)}
_CHURNING = re.compile(r"/(nvme/nvme\d+|ieee80211/phy\d+|hwmon/hwmon\d+|hwmon\d+)$")
_CHIP_RANK = {
    **dict.fromkeys(CPU_CHIPS, 0),
    "cpu_thermal": 0,
    "soc_thermal": 1,
    "amdgpu": 2,
    "nouveau": 2,
    "radeon": 2,
    "i915": 2,
    "xe": 2,
    "nvme": 3,
    "drivetemp": 4,
}
_CPU_ZONE = re.compile(r"(x86_pkg_temp|TCPU|B0D4|.*cpu.*|soc[-_]thermal.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Channel:
    """A sensor and the files that go with it; None where the chip has no such file."""

    sensor: Sensor
    enable: str | None = None
    fault: str | None = None
    alarm: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """All channels, in the order of the screen, and what could not be looked at.

    Attributes:
        denied: the first folder or file that this user may not look at; empty where there is none.
    """

    channels: tuple[Channel, ...]
    problems: tuple[Problem, ...]
    chips: tuple[Chip, ...]
    denied: str = ""


def find(host: Host) -> Found:
    """Find every sensor of the machine. No value file is opened; labels and limits are read, once."""
    problems: list[Problem] = []
    chips = _find_chips(host, problems)
    channels: list[Channel] = []
    for chip in chips:
        channels.extend(_find_channels(host, chip, problems))
    if not any(channel.sensor.chip.name in CPU_CHIPS for channel in channels):
        zones = _find_zones(host, every=not chips)
        chips = [*[zone.sensor.chip for zone in zones], *chips]
        channels = [*zones, *channels]
    denied = next((problem.source for problem in problems if problem.reason.startswith(_DENIED)), "")
    return Found(tuple(_with_unique_ids(channels)), tuple(problems), tuple(chips), denied)


def is_asleep(host: Host, device: str) -> bool:
    """True where reading values of the device below this folder would wake it. Wakes nothing itself."""
    for folder in (device, f"{device}/device"):
        status = read_line(host, f"{folder}/power/runtime_status")
        state = read_line(host, f"{folder}/power_state")
        if status not in (None, *AWAKE_STATUS) or state not in (None, *AWAKE_STATE):
            return True
    return False


def _find_chips(host: Host, problems: list[Problem]) -> list[Chip]:
    try:
        names = host.listdir(HWMON)
    except NotCaptured:
        problems.append(Problem(HWMON, "not captured"))
        return []
    except OSError as error:
        problems.append(Problem(HWMON, _denied(error) or f"this kernel shows no hwmon devices ({errno_name(error)})"))
        return []
    chips = [_look_at_chip(host, name, problems) for name in natural_sorted(names) if name.startswith("hwmon")]
    chips.sort(key=lambda chip: _CHIP_RANK.get(chip.name, 9 if _is_supply(chip) else 5))
    return _with_titles(host, chips)


def _look_at_chip(host: Host, hwmon: str, problems: list[Problem]) -> Chip:
    path = f"{HWMON}/{hwmon}"
    name = read_line(host, f"{path}/name") or read_line(host, f"{path}/device/name")
    if name is None:
        problems.append(Problem(f"{path}/name", f"{_why_no_name(host, path)}, so the chip is listed as {hwmon}"))
        name = hwmon
    return Chip(name=name, device=_device_of(host, path), hwmon=hwmon, path=path, title=name)


def _why_no_name(host: Host, path: str) -> str:
    try:
        host.read_bytes(f"{path}/name", 1)
    except OSError as error:
        return _denied(error) or "no name"
    return "no name"


def _denied(error: OSError) -> str:
    """Say that this user may not look there: that is not the same as absent. Empty for any other error."""
    return f"{_DENIED} ({errno_name(error)})" if error.errno in (errno.EACCES, errno.EPERM) else ""


def _device_of(host: Host, path: str) -> str:
    """Return where the chip sits below /sys/devices, without the parts that are numbered anew at each boot."""
    link = f"{path}/device"
    real = host.realpath(link) if host.exists(link) else host.realpath(path)
    if not real.startswith("/sys/devices/"):
        return ""
    device = real[len("/sys/devices/") :]
    while (shorter := _CHURNING.sub("", device)) != device:
        device = shorter
    return "" if device in ("virtual", "virtual/hwmon") else device


def _with_titles(host: Host, chips: list[Chip]) -> list[Chip]:
    """Give each chip the name that a person would use, and tell chips of one name apart."""
    titled: list[Chip] = []
    same: dict[str, int] = {}
    for chip in chips:
        same[chip.name] = same.get(chip.name, 0) + 1
    nvme = 0
    for chip in chips:
        title = chip.name
        if chip.name == "nvme":
            title = f"{_nvme_node(host, chip) or f'nvme{nvme}'}  {_model(host, chip)}".rstrip()
            nvme += 1
        elif chip.name == "drivetemp":
            title = f"drivetemp  {_block_name(host, chip)} {_model(host, chip)}".rstrip()
        elif same[chip.name] > 1 and chip.device:
            title = f"{chip.name}  {printable(chip.device.rsplit('/', 1)[-1], 40)}"
        elif same[chip.name] > 1:
            title = f"{chip.name}  {chip.hwmon}"
        titled.append(replace(chip, title=title))
    return titled


def _nvme_node(host: Host, chip: Chip) -> str | None:
    base = host.realpath(f"{chip.path}/device").rsplit("/", 1)[-1]
    if re.fullmatch(r"nvme\d+", base):
        return base
    try:
        nodes = host.listdir(f"{chip.path}/device/nvme")
    except OSError:
        return None
    return nodes[0] if nodes else None


def _block_name(host: Host, chip: Chip) -> str:
    try:
        names = host.listdir(f"{chip.path}/device/block")
    except OSError:
        return ""
    return printable(names[0], 20) if names else ""


def _model(host: Host, chip: Chip) -> str:
    node = _nvme_node(host, chip) if chip.name == "nvme" else None
    for path in (f"{chip.path}/device/model", f"{chip.path}/device/nvme/{node}/model"):
        model = read_line(host, path)
        if model:
            return model
    return ""


def _find_channels(host: Host, chip: Chip, problems: list[Problem]) -> list[Channel]:
    for folder in (chip.path, f"{chip.path}/device"):
        try:
            names = frozenset(host.listdir(folder))
        except OSError as error:
            if folder == chip.path:
                problems.append(Problem(folder, _denied(error) or f"cannot be listed ({errno_name(error)})"))
            continue
        found = [match for name in names if (match := _INPUT.fullmatch(name)) is not None]
        if found:
            return _make_channels(host, chip, folder, names, found)
    return []


def _make_channels(
    host: Host, chip: Chip, folder: str, names: frozenset[str], found: list[re.Match[str]]
) -> list[Channel]:
    inputs: dict[tuple[Quantity, int], str] = {}
    for match in found:
        key = (Quantity(match[1]), int(match[2]))
        if match[3] == "input" or key not in inputs:
            inputs[key] = match[0]
    awake = chip.name in CPU_CHIPS or not is_asleep(host, f"{chip.path}/device")
    channels = [
        _make_channel(host, chip, folder, names, quantity, index, inputs[quantity, index], awake)
        for quantity, index in inputs
    ]
    channels.sort(key=lambda channel: _order_in_chip(channel.sensor))
    return channels


def _make_channel(
    host: Host, chip: Chip, folder: str, names: frozenset[str], quantity: Quantity, index: int, name: str, awake: bool
) -> Channel:
    stem = f"{quantity.value}{index}"
    # A graphics card's limits of fans and watts ask the card, as its values do; those of temperatures are constants.
    read_limits = awake and (chip.name not in GPU_CHIPS or quantity is Quantity.TEMPERATURE)

    def file(kind: str) -> str | None:
        return f"{folder}/{stem}_{kind}" if f"{stem}_{kind}" in names else None

    raw: dict[str, int] = {}
    for kind in _LIMIT_NAMES if read_limits else ():
        path = file(kind)
        if path is not None and (value := read_number(host, path)) is not None:
            raw[kind] = value
    limits = make_limits(quantity, raw)
    label_file = file("label")
    label = read_line(host, label_file) if label_file is not None else None
    sensor = Sensor(
        id=f"{chip.name}@{chip.device}/{quantity.value}/{label if label is not None else index}",
        chip=chip,
        quantity=quantity,
        index=index,
        label=label,
        path=f"{folder}/{name}",
        limits=limits,
        bar_limit=bar_limit(chip.name, quantity, limits),
    )
    # Limits that are all 0 were never set, and an alarm over them says nothing.
    meaningless = bool(raw) and not any(raw.values())
    alarm = None if meaningless else file("crit_alarm") or file("alarm")
    return Channel(sensor, enable=file("enable"), fault=file("fault"), alarm=alarm)


def _order_in_chip(sensor: Sensor) -> tuple[object, ...]:
    order = _QUANTITY_ORDER[sensor.quantity]
    if sensor.chip.name == "coretemp" and sensor.label is not None:
        return order, sensor.label.startswith("Core"), natural_key(sensor.label)
    return order, False, ((0, sensor.index),)


def _find_zones(host: Host, every: bool) -> list[Channel]:
    """Return the thermal zones that are known to be the CPU's, or all of them, one chip a zone."""
    try:
        names = host.listdir(THERMAL)
    except OSError:
        return []
    channels = []
    for name in natural_sorted(names):
        path = f"{THERMAL}/{name}"
        kind = read_line(host, f"{path}/type") if name.startswith("thermal_zone") else None
        if kind is None or not (every or _CPU_ZONE.match(kind)):
            continue
        chip = Chip(name=kind, device=f"thermal/{kind}", hwmon=name, path=path, title=f"{kind}  thermal zone")
        limits = make_limits(Quantity.TEMPERATURE, _trip_points(host, path))
        sensor = Sensor(
            id=f"{kind}@thermal/temp/1",
            chip=chip,
            quantity=Quantity.TEMPERATURE,
            index=1,
            label=None,
            path=f"{path}/temp",
            limits=limits,
            bar_limit=limits.crit,
        )
        channels.append(Channel(sensor))
    return channels


def _trip_points(host: Host, path: str) -> dict[str, int]:
    raw: dict[str, int] = {}
    for number in range(12):
        kind = read_line(host, f"{path}/trip_point_{number}_type")
        if kind is None:
            break
        value = read_number(host, f"{path}/trip_point_{number}_temp")
        if kind == "critical" and value is not None:
            raw["crit"] = value
    return raw


def _with_unique_ids(channels: list[Channel]) -> list[Channel]:
    """Tell sensors apart that share chip name, device and label, by their index, then by their order."""
    count: dict[str, int] = {}
    for channel in channels:
        count[channel.sensor.id] = count.get(channel.sensor.id, 0) + 1
    taken: set[str] = set()
    unique = []
    for channel in channels:
        sensor = channel.sensor
        new_id = sensor.id
        if count[new_id] > 1 and sensor.label is not None:
            new_id = f"{new_id} #{sensor.index}"
        number = 2
        base = new_id
        while new_id in taken:
            new_id = f"{base}~{number}"
            number += 1
        taken.add(new_id)
        unique.append(channel if new_id == sensor.id else replace(channel, sensor=replace(sensor, id=new_id)))
    return unique


def _is_supply(chip: Chip) -> bool:
    return chip.name.startswith(("BAT", "ucsi_source", "AC", "ADP", "hidpp_battery"))
