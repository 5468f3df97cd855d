"""What to do next: only what is true of this machine now, each with the command or the screen that does it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from screens.format import Heat, Severity, gigahertz, heat, number
from screens.overview_lines import Facts
from toolkit.sensors.model import Clocks, Held, Quantity, Snapshot, State
from toolkit.text import printable


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do: what, and either a command to copy or a subject to open."""

    what: str
    command: str = ""
    subject: str = ""


def next_steps(facts: Facts) -> list[Step]:
    """Return the steps that make sense now, the most useful first, each once."""
    if facts.snapshot is None:
        return []
    steps: list[Step] = []
    for step in _all_steps(facts.snapshot, facts.replayed):
        if step not in steps:
            steps.append(step)
    return steps


def _all_steps(snapshot: Snapshot, replayed: bool) -> Iterator[Step]:
    headline = snapshot.headline
    if headline.celsius is None and not replayed:
        yield Step("see what it looks like with sensors", "toolkit --demo")
        yield Step("find out what is missing here", "toolkit doctor")
    if headline.second_best:
        source = printable(headline.sources[0]) if headline.sources else "another sensor"
        yield Step(f"the figure is second-best, from {source}: look at it", subject="temperatures")
    if snapshot.held_back.by == "policy" and snapshot.held_back.held is not Held.NO:
        yield from _policy_steps(snapshot.clocks)
    problem = snapshot.power.problem
    if problem is not None and problem.hint and snapshot.power.package_watts is None and not replayed:
        yield Step(printable(problem.reason), printable(problem.hint))
    for other in snapshot.problems:
        if " " in other.hint and other is not problem and not replayed:  # one word alone is nothing to do
            yield Step(f"{printable(other.source)}: {printable(other.reason)}", printable(other.hint))
    doubtful = sum(
        reading.state in (State.FAULT, State.IMPLAUSIBLE, State.UNREADABLE, State.GONE) for reading in snapshot.readings
    )
    if doubtful:
        noun = "sensor gives" if doubtful == 1 else "sensors give"
        yield Step(f"{doubtful} {noun} no value: see why", subject="temperatures")


def _policy_steps(clocks: Clocks) -> Iterator[Step]:
    """Name the knob that holds the CPU back (Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst)."""
    if clocks.platform_profile in ("low-power", "quiet", "cool"):
        name = clocks.platform_profile
        yield Step(f"the platform profile is {name}", "powerprofilesctl set balanced")
    if clocks.boost is False:
        if clocks.driver and clocks.driver.startswith("intel"):
            yield Step("turbo is switched off", "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo")
        else:
            yield Step("boost is switched off", "echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost")
    for group in clocks.groups:
        if group.policy_mhz is not None and group.ceiling_mhz is not None and group.policy_mhz < group.ceiling_mhz - 1:
            kind = "all cores" if group.kind == "CPU" else f"{group.kind}-cores"
            yield Step(
                f"{kind} may run at {gigahertz(group.policy_mhz)} of {gigahertz(group.ceiling_mhz)}",
                f"sudo cpupower frequency-set -u {round(group.ceiling_mhz)}MHz",
            )


def overview_verdict(facts: Facts) -> tuple[str, Severity]:
    """Return the sentence of the overview, and how bad it is."""
    snapshot = facts.snapshot
    if snapshot is None:
        return "Looking at the sensors…", Severity.NOTE
    held = snapshot.held_back
    if held.held is Held.YES:
        return _sentence(held.sentence, f"Held back by {held.by}."), Severity.BAD
    headline = snapshot.headline
    if headline.celsius is None:
        return f"No CPU temperature: {printable(headline.reason).rstrip('.')}.", Severity.WARN
    judged = heat(headline.celsius, headline.limit_celsius)
    if judged is Heat.HOT:
        return f"The CPU is hot: {headline.celsius} °C, its limit is {number(headline.limit_celsius)}.", Severity.BAD
    if held.held is Held.LIKELY:
        return _sentence(held.sentence, f"Probably held back by {held.by}."), Severity.WARN
    hot = _hottest_other(snapshot)
    if hot:
        return hot, Severity.WARN
    if judged is Heat.WARM:
        return f"The CPU is warm: {headline.celsius} °C, its limit is {number(headline.limit_celsius)}.", Severity.WARN
    free = ", and nothing holds it back" if held.held is Held.NO and held.sentence.startswith("Nothing") else ""
    if headline.limit_celsius is not None:
        left = number(headline.limit_celsius - headline.celsius)
        return f"All well: the CPU is {left} degrees below its limit{free}.", Severity.OK
    return f"All well: the CPU is at {headline.celsius} °C{free}.", Severity.OK


def _sentence(sentence: str, fallback: str) -> str:
    text = printable(sentence) or fallback
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _hottest_other(snapshot: Snapshot) -> str:
    """Name a part other than the CPU that is hot; empty where none is."""
    for reading in snapshot.readings:
        sensor = reading.sensor
        if sensor.quantity is Quantity.TEMPERATURE and sensor.id not in snapshot.headline.sensor_ids:
            judged = heat(reading.value, sensor.bar_limit)
            if judged is Heat.HOT:
                part = f"{printable(sensor.chip.title)} · {printable(sensor.name)}"
                return f"{part} is hot: {number(reading.value)} °C, its limit is {number(sensor.bar_limit)}."
    return ""
