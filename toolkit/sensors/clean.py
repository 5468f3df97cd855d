"""What a value from hwmon may mean: limits that are markers, readings that cannot be true. Pure.

Sources: Documentation/hwmon/sysfs-interface.rst and the pages of the drivers named below. Figures that no sensor of
that kind can show were collected from public reports on floating inputs (121, 109, -60, 127 ...).
"""

from __future__ import annotations

import math
import re

from toolkit.sensors.model import Limits, Quantity, State

CPU_CHIPS = frozenset({"coretemp", "k10temp", "zenpower", "k8temp", "via_cputemp"})
"""Drivers whose temperatures are the CPU's own."""

_SUPER_IO = re.compile(r"(nct[67]\d|it8\d|w83|f718|f8000|sch5|smsc|asus|atk0110|lm78|lm85|adt74|dme1737|gigabyte)")
GPU_CHIPS = frozenset({"amdgpu", "radeon", "nouveau", "i915", "xe", "nvidia"})

_RANGE: dict[Quantity, tuple[int, int]] = {
    Quantity.TEMPERATURE: (-55_000, 150_000),
    Quantity.FAN: (0, 30_000),
    Quantity.VOLTAGE: (-100_000, 1_000_000),
    Quantity.CURRENT: (-500_000, 500_000),
    Quantity.POWER: (-1_000_000_000, 5_000_000_000),
    Quantity.ENERGY: (0, 1 << 63),
    Quantity.HUMIDITY: (0, 100_000),
}
_OPEN_INPUT_RANGE = (-30_000, 105_000)
_MARKERS = frozenset({127_000, 128_000, -128_000, -127_000})

HOT_BELOW_LIMIT_C = 7.0
WARM_BELOW_LIMIT_C = 15.0
"""A temperature is called hot, or warm, from so many degrees below its measured limit on."""

JUMP_MILLIDEGREES = 60_000
"""A change of more than this from one look to the next is noise of an open input, not heat."""
NOISE_SECONDS = 60.0
"""How long an input that jumped stays doubted."""


def whole_degrees(millidegrees: int) -> int:
    """Round to whole degrees, halves upwards, below zero too: 61499 -> 61, 61500 -> 62, -500 -> 0, -501 -> -1."""
    return (millidegrees + 500) // 1000


def whole(value: float) -> int:
    """Round as the headline is rounded, for every temperature that is shown whole: 68.5 -> 69, -0.5 -> 0."""
    return math.floor(value + 0.5)


def heat_word(celsius: float, limit_celsius: float | None) -> str:
    """Return `hot` from 7 degrees below the limit on, `warm` from 15 on, else `ok`; empty where no limit is known.

    What is judged is the whole figure that is shown, so that a headline and its row agree.
    """
    if limit_celsius is None:
        return ""
    left = limit_celsius - whole(celsius)
    return "hot" if left <= HOT_BELOW_LIMIT_C else "warm" if left <= WARM_BELOW_LIMIT_C else "ok"


def make_limits(quantity: Quantity, raw: dict[str, int]) -> Limits:
    """Turn raw limits (keys `max`, `crit`, ...) into units; markers for "no limit" become None.

    NVMe gives 65261850 and -273150 for 0xFFFF K and 0 K; many Super-I/O chips give 0 for a maximum.
    """

    def upper(key: str) -> float | None:
        value = raw.get(key)
        if value is None or value <= 0:
            return None
        if quantity is Quantity.TEMPERATURE and value >= 200_000:
            return None
        return value / quantity.scale

    def lower(key: str) -> float | None:
        value = raw.get(key)
        if value is None or (quantity is Quantity.TEMPERATURE and value <= -200_000):
            return None
        return value / quantity.scale

    return Limits(
        max=upper("max"),
        crit=upper("crit"),
        emergency=upper("emergency"),
        min=lower("min"),
        lcrit=lower("lcrit"),
        max_hyst=upper("max_hyst"),
        crit_hyst=upper("crit_hyst"),
    )


def bar_limit(chip_name: str, quantity: Quantity, limits: Limits) -> float | None:
    """Return the limit of the part itself, or None where the driver only has a constant.

    k10temp reports a maximum of 70 and zenpower one of 95 whatever the part is (Documentation/hwmon/k10temp.rst); a
    `crit` of k10temp is read from the part. Fans, volts and watts have no bar but for a power cap.
    """
    if quantity is not Quantity.TEMPERATURE:
        return None
    if chip_name in ("k10temp", "zenpower"):
        return limits.crit
    return limits.crit or limits.max or limits.emergency


def judge(chip_name: str, quantity: Quantity, label: str | None, raw: int) -> tuple[State, str]:
    """Say whether a raw value can be true: `(State.OK, "")`, or `(State.IMPLAUSIBLE, reason)`."""
    if quantity is Quantity.FAN and raw >= 65_535:
        return State.IMPLAUSIBLE, "no valid reading (0xFFFF)"
    low, high = _RANGE[quantity]
    if not low <= raw <= high:
        return State.IMPLAUSIBLE, f"{_shown(quantity, raw)} cannot be true"
    if quantity is not Quantity.TEMPERATURE:
        return State.OK, ""
    if chip_name in ("k10temp", "zenpower") and raw == 0:
        return State.IMPLAUSIBLE, f"{chip_name} reports 0: this kernel does not know this CPU"
    if chip_name in CPU_CHIPS or chip_name in GPU_CHIPS:
        return State.OK, ""
    if raw in _MARKERS:
        return State.IMPLAUSIBLE, f"{raw // 1000} °C is this kind of chip's word for no reading"
    if raw == 0 and (label is None or chip_name in ("thinkpad", "acpitz")):
        return State.IMPLAUSIBLE, "reads 0: nothing is connected, or it is off"
    low, high = _OPEN_INPUT_RANGE
    if _SUPER_IO.match(chip_name) and not low <= raw <= high:
        return State.IMPLAUSIBLE, f"{_shown(quantity, raw)}: probably an open input"
    return State.OK, ""


def is_jump(chip_name: str, quantity: Quantity, before: int, now: int) -> bool:
    """True where a temperature changed faster than matter can (a CPU's own sensor is never doubted so)."""
    return (
        quantity is Quantity.TEMPERATURE
        and chip_name not in CPU_CHIPS
        and chip_name not in GPU_CHIPS
        and abs(now - before) > JUMP_MILLIDEGREES
    )


def is_unused(chip_name: str, state: State, label: str | None, raw: int | None) -> bool:
    """True for a channel that the chip has and the board does not use: not worth a row unless all are asked for.

    A CPU's own sensor is never one: its 0 says that the kernel does not know the CPU.
    """
    return state is State.IMPLAUSIBLE and label is None and raw == 0 and chip_name not in CPU_CHIPS


def _shown(quantity: Quantity, raw: int) -> str:
    value = raw / quantity.scale
    return f"{whole(value)} {quantity.symbol}" if abs(value) < 1e9 else "a value out of range"
