"""A summary as plain lines that fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolkit.sensors.clean import whole
from toolkit.sensors.recording import CommandRun
from toolkit.sensors.summary import ColumnSummary, Summary
from toolkit.text import clipped, padded, printable

NAME_WIDTH = 28
LIMIT_WIDTH = 21
"""Takes `crit 100: 12 min 05 s`."""
_SYMBOLS = {
    "celsius": "°C",
    "rpm": "rpm",
    "volt": "V",
    "ampere": "A",
    "watt": "W",
    "mhz": "MHz",
    "percent": "%",
}
_SHOWN_UNITS = ("celsius", "rpm", "watt")
"""Sensors of other units are in the files, and would only make the table long."""


def summary_lines(summary: Summary) -> list[str]:
    """Return the summary for a terminal, without the names of files."""
    lines = [_head(summary), summary.verdict.sentence, ""]
    lines.append(f"{'':{NAME_WIDTH}} {'':4}{'MIN':>8}{'MEAN':>8}{'MAX':>8}  AT THE LIMIT")
    shown = [summary.headline]
    shown += [sensor for sensor in summary.sensors if sensor.column.unit in _SHOWN_UNITS and sensor.stats]
    shown += [summary.power, *summary.clocks, summary.load]
    lines += [_row(entry) for entry in shown if entry.stats is not None]
    lines.append("")
    lines += _notes(summary)
    return [line.rstrip() for line in wrapped(lines)]


def wrapped(lines: Iterable[str], width: int = 80) -> Iterable[str]:
    """Break lines that are too long between words; what follows is indented."""
    for text in lines:
        line = text
        while len(line) > width:
            cut = line.rfind(" ", 20, width + 1)
            if line.startswith((" °C", " MiB", " s", " W"), cut):
                cut = line.rfind(" ", 20, cut)
            if cut < 0:
                break
            yield line[:cut]
            line = "  " + line[cut + 1 :]
        yield line


def seconds_text(seconds: float) -> str:
    """Return a duration as a person writes it: `5.0 s`, `2 min 05 s`, `1 h 02 min`."""
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def number_text(value: float, unit: str) -> str:
    """Return a value with as many digits as a person needs."""
    return f"{value:z.0f}" if unit in ("rpm", "mhz") else f"{value:z.1f}"


def command_text(argv: Sequence[str], limit: int = 60) -> str:
    """Return a command as one would type it."""
    from shlex import join

    return printable(join(argv), limit)


def unit_symbol(unit: str) -> str:
    """Return the sign of a unit."""
    return _SYMBOLS.get(unit, "")


def _head(summary: Summary) -> str:
    asked = summary.facts.asked_hz
    rate = f", {summary.achieved_hz:.3g} a second" if summary.achieved_hz is not None else ""
    wanted = f" ({asked:g} asked)" if rate and asked is not None else ""
    count = f"{summary.samples} sample{'s' if summary.samples != 1 else ''}"
    return f"Recorded {seconds_text(summary.duration_s)}: {count}{rate}{wanted}."


def _row(entry: ColumnSummary) -> str:
    stats, unit = entry.stats, entry.column.unit
    assert stats is not None
    name = clipped(entry.column.title or entry.column.name, NAME_WIDTH)
    numbers = "".join(f"{number_text(v, unit):>8}" for v in (stats.minimum, stats.mean, stats.maximum))
    limits = [f"{kind} {limit:g}: {seconds_text(seconds)}" for kind, limit, seconds in entry.at_limit]
    reached = [text for text, (_, _, seconds) in zip(limits, entry.at_limit, strict=True) if seconds > 0]
    said = (reached or [f"{kind} {limit:g}: no" for kind, limit, _ in entry.at_limit])[-1:]
    return f"{padded(name, NAME_WIDTH)} {unit_symbol(unit):4}{numbers}  {clipped(said[0], LIMIT_WIDTH) if said else ''}"


def _notes(summary: Summary) -> list[str]:
    conditions = summary.facts.conditions
    lines = [_energy(summary), _throttling(summary)]
    for by, seconds in summary.held:
        likely = "probably " if by.endswith("?") else ""
        lines.append(f"Held back   {likely}by {by.rstrip('?')} for {seconds_text(seconds)}")
    policy = [word for word in (conditions.governor, conditions.energy_preference, conditions.platform_profile) if word]
    if policy:
        lines.append(f"Policy      {', '.join(policy)}{'; turbo off' if conditions.boost is False else ''}")
    if summary.before is not None:
        lines.append(f"Before      headline {summary.before.mean:z.1f} °C on average over the wait")
    if summary.after is not None:
        lines.append(f"After       headline down to {whole(summary.after.minimum)} °C")
    if summary.gaps:
        many = f"{summary.gaps} gap{'s' if summary.gaps != 1 else ''}"
        lines.append(f"Gaps        {many}, {seconds_text(summary.gap_s)} about which nothing is known")
    counted: dict[str, int] = {}
    for event in summary.facts.events:
        if event.kind in ("gone", "back", "new", "mark", "clock"):
            counted[event.kind] = counted.get(event.kind, 0) + 1
    if counted:
        words = {"gone": "value lost", "back": "value back", "new": "new sensor", "mark": "mark", "clock": "clock set"}
        lines.append("Events      " + ", ".join(f"{words[kind]}: {count}" for kind, count in counted.items()))
    if summary.facts.command is not None:
        lines.append(_command(summary.facts.command))
    return lines


def _energy(summary: Summary) -> str:
    if summary.power.stats is None and summary.energy_j is None:
        reason = summary.facts.conditions.power_reason or "no value came in this time"
        return f"Energy      not known: {reason}"
    parts = []
    if summary.energy_j is not None:
        parts.append(f"{summary.energy_j:.1f} J ({summary.energy_j / 3600:.4f} Wh)")
    if summary.power.stats is not None:
        parts.append(f"mean {summary.power.stats.mean:.1f} W, most {summary.power.stats.maximum:.1f} W")
    source = summary.facts.conditions.power_source
    return f"Energy      {', '.join(parts)}{f'  ({source})' if source else ''}"


def _throttling(summary: Summary) -> str:
    conditions = summary.facts.conditions
    if summary.package_events is None and summary.core_events is None:
        if conditions.throttle_offered is None:
            return "Throttling  not recorded"
        reason = f" ({conditions.throttle_reason})" if conditions.throttle_reason else ""
        return f"Throttling  not counted here{reason}"
    events = f"{summary.package_events or 0} package events, {summary.core_events or 0} core events"
    time = f", {summary.throttled_ms / 1000:.1f} s" if summary.throttled_ms is not None else ""
    return f"Throttling  {events}{time}"


def _command(command: CommandRun) -> str:
    parts = []
    if command.exit_status is not None:
        parts.append(f"exit status {command.exit_status}")
    if command.ended_s is not None:
        parts.append(seconds_text(command.ended_s - command.started_s))
    if command.user_s is not None and command.system_s is not None:
        parts.append(f"CPU {command.user_s:.2f} s user + {command.system_s:.2f} s system")
    if command.peak_bytes:
        most = "at most " if command.peak_at_most else ""
        parts.append(f"peak memory {most}{command.peak_bytes / 2**20:.0f} MiB")
    if command.stopped_by:
        parts.append(f"stopped: {command.stopped_by}")
    return f"Command     {command_text(command.argv, 40)}: {', '.join(parts)}"
