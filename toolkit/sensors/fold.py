"""Folds the CPU's sensors into the one figure of the headline. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from toolkit.sensors.clean import CPU_CHIPS, whole_degrees
from toolkit.sensors.model import Headline, Quantity, Reading, Rule, State

_CORETEMP = re.compile(r"(Package id|Physical id|Core) \d+$")
_AMD = ("k10temp", "zenpower")
_SOC_CHIP = re.compile(r"(x86_pkg_temp|cpu[-_0-9a-z]*thermal.*|.*cpu.*|soc[-_]thermal.*|TCPU|B0D4)$", re.IGNORECASE)
_EC_CPU = {
    "thinkpad": re.compile(r"CPU$"),
    "dell_smm": re.compile(r"CPU$"),
    "dell_ddv": re.compile(r"CPU$"),
    "asusec": re.compile(r"CPU$"),
    "cros_ec": re.compile(r"(cpu@.*|cpu|peci|PECI)$"),
    "framework_laptop": re.compile(r"(cpu@.*|cpu|peci|PECI)$"),
}
"""Embedded controllers whose label is known to mean the CPU.

A Super-I/O chip's CPUTIN is not here: it is often open."""


@dataclass(frozen=True, slots=True)
class CpuFacts:
    """What the fold may know beside the readings, to say why there is no figure.

    Attributes:
        vendor: `GenuineIntel`, `AuthenticAMD` ... of /proc/cpuinfo; None where unknown.
        virtual: the machine is a virtual one.
        no_hwmon: there is no hwmon device at all.
        captured: hwmon is in the capture (True on a real machine).
        denied: a folder or file of hwmon that this user may not look at; empty where there is none.
    """

    vendor: str | None = None
    virtual: bool = False
    no_hwmon: bool = False
    captured: bool = True
    denied: str = ""


def fold(readings: Sequence[Reading], rule: Rule = Rule.BEST, facts: CpuFacts = CpuFacts()) -> Headline:
    """Return the headline: the maximum over every CPU package, never a guess.

    coretemp gives every `Package id`, `Physical id` and `Core`; k10temp and zenpower give `Tdie` where the chip has it
    (Tctl carries an offset of 10, 20 or 27 on some parts), else `Tctl`, else the unlabelled temp1. Without these, an
    SoC zone or an embedded controller that is known to mean the CPU, marked as second-best.
    """
    temperatures = [reading for reading in readings if reading.sensor.quantity is Quantity.TEMPERATURE]
    plain = _usable(_plain_candidates(temperatures))
    plain_celsius = max((_degrees(reading) for reading in plain), default=None)
    if rule is Rule.TCTL:
        if plain:
            return _headline(plain, plain_celsius, rule)
        return Headline(None, None, (), rule, "no Tctl and no coretemp reading" + _because(temperatures, facts))
    best, reason = _best_candidates(temperatures)
    if best:
        return _headline(best, plain_celsius, rule, reason, second_best=bool(reason))
    for candidates, word in (
        (_soc(temperatures), "an SoC zone"),
        (_controller(temperatures), "the embedded controller"),
    ):
        usable = _usable(candidates)
        if usable:
            why = f"from {word}, since {_why_second_best(temperatures)}"
            return _headline(usable, plain_celsius, rule, why, second_best=True)
    return Headline(None, plain_celsius, (), rule, _no_figure(temperatures, facts))


def _why_second_best(readings: Sequence[Reading]) -> str:
    for reading in readings:
        if is_cpu_reading(reading) and reading.state is not State.GONE:
            return f"{reading.sensor.chip.name} gives no value ({reading.reason or reading.state.value})"
    return "no CPU sensor of its own was found"


def is_cpu_reading(reading: Reading) -> bool:
    """True for a temperature that the headline may be folded from as a first choice."""
    sensor = reading.sensor
    return sensor.quantity is Quantity.TEMPERATURE and sensor.chip.name in CPU_CHIPS


def _best_candidates(readings: Sequence[Reading]) -> tuple[list[Reading], str]:
    """Return the usable first-choice readings, and a reason where one of them is only a makeshift."""
    best = _usable(reading for reading in readings if _is_coretemp(reading))
    reason = ""
    for name in _AMD:
        for chip in dict.fromkeys(r.sensor.chip for r in readings if r.sensor.chip.name == name):
            rows = [reading for reading in readings if reading.sensor.chip == chip]
            present = [reading for reading in rows if reading.state is not State.GONE]
            tdie = [reading for reading in present if reading.sensor.label == "Tdie"]
            tctl = [reading for reading in present if reading.sensor.label == "Tctl"]
            bare = [reading for reading in present if reading.sensor.label is None and reading.sensor.index == 1]
            first = _usable(tdie) or _usable(tctl) or (_usable(bare) if not tdie and not tctl else [])
            if tdie and not _usable(tdie) and first:
                reason = f"Tdie cannot be read ({tdie[0].reason}); this is Tctl, which may carry an offset"
            best.extend(first)
    best.extend(_usable(r for r in readings if r.sensor.chip.name in ("k8temp", "via_cputemp")))
    return best, reason


def _plain_candidates(readings: Sequence[Reading]) -> Iterable[Reading]:
    has_label = {r.sensor.chip for r in readings if r.sensor.chip.name in _AMD and r.sensor.label in ("Tctl", "Tdie")}
    for reading in readings:
        sensor = reading.sensor
        bare = sensor.label is None and sensor.index == 1 and sensor.chip not in has_label
        if _is_coretemp(reading) or (sensor.chip.name in _AMD and (sensor.label == "Tctl" or bare)):
            yield reading


def _is_coretemp(reading: Reading) -> bool:
    label = reading.sensor.label
    return reading.sensor.chip.name == "coretemp" and label is not None and _CORETEMP.match(label) is not None


def _soc(readings: Sequence[Reading]) -> list[Reading]:
    return [r for r in readings if r.sensor.chip.name not in CPU_CHIPS and _SOC_CHIP.match(r.sensor.chip.name)]


def _controller(readings: Sequence[Reading]) -> list[Reading]:
    found = []
    for reading in readings:
        pattern = _EC_CPU.get(reading.sensor.chip.name)
        if pattern is not None and reading.sensor.label is not None and pattern.match(reading.sensor.label):
            found.append(reading)
    return found


def _usable(readings: Iterable[Reading]) -> list[Reading]:
    """Keep what has a value that is at most some seconds old."""
    return [
        reading
        for reading in readings
        if reading.raw is not None
        and (reading.state is State.OK or (reading.state is State.SLOW and reading.age_s <= 30.0))
    ]


def _degrees(reading: Reading) -> int:
    assert reading.raw is not None
    return whole_degrees(reading.raw)


def _headline(
    readings: list[Reading], plain_celsius: int | None, rule: Rule, reason: str = "", second_best: bool = False
) -> Headline:
    top = max(reading.raw for reading in readings if reading.raw is not None)
    leading = [reading for reading in readings if reading.raw == top]
    leading.sort(key=lambda reading: reading.sensor.label is None or reading.sensor.label.startswith("Core"))
    return Headline(
        celsius=whole_degrees(top),
        plain_celsius=plain_celsius,
        sources=tuple(source_name(reading) for reading in leading),
        rule=rule,
        reason=reason,
        second_best=second_best,
        sensor_ids=tuple(reading.sensor.id for reading in leading),
        limit_celsius=leading[0].sensor.bar_limit,
    )


def source_name(reading: Reading) -> str:
    """Return `coretemp · Package id 0`."""
    return f"{reading.sensor.chip.name} · {reading.sensor.name}"


def _because(readings: Sequence[Reading], facts: CpuFacts) -> str:
    other = _usable(_soc(readings)) or _usable(_controller(readings))
    if other and not any(is_cpu_reading(reading) for reading in readings):
        return f": the rule tctl leaves out {source_name(other[0])}, which the rule best takes"
    return f": {_no_figure(readings, facts)}"


def _no_figure(readings: Sequence[Reading], facts: CpuFacts) -> str:
    """Say why there is no figure: the most specific fault first."""
    cpu = [r for r in readings if is_cpu_reading(r) or r in _soc(readings) or r in _controller(readings)]
    for reading in cpu:
        if reading.state is State.IMPLAUSIBLE and reading.sensor.chip.name in _AMD:
            return reading.reason
    if cpu and all(reading.state is State.GONE for reading in cpu):
        return f"sensor gone: {source_name(cpu[0])}"
    present = [reading for reading in cpu if reading.state is not State.GONE and not _usable([reading])]
    if present:
        worst = present[0]
        return f"{source_name(worst)} gives no value ({worst.reason or worst.state.value})"
    if facts.denied:
        return f"permission denied for {facts.denied}"
    if not facts.captured:
        return "the capture holds no hwmon"
    if facts.virtual:
        return "this is a virtual machine, which is given no CPU sensor"
    module = {"AuthenticAMD": "k10temp", "HygonGenuine": "k10temp", "GenuineIntel": "coretemp"}.get(facts.vendor or "")
    what = "there is no hwmon device at all" if facts.no_hwmon else "no CPU sensor"
    if module is None:
        return f"{what}; no driver is known for this CPU"
    return f"{what}; is {module} loaded? (sudo modprobe {module})"
