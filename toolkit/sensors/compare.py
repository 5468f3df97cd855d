"""Recordings side by side: what differs, and whether they may be compared at all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.sensors.clean import whole
from toolkit.sensors.loading import LoadedRecording
from toolkit.sensors.recording import Conditions
from toolkit.sensors.report import command_text, number_text, unit_symbol, wrapped
from toolkit.sensors.statistics import Stats
from toolkit.sensors.summary import ColumnSummary, Summary
from toolkit.sensors.verdict import is_hot
from toolkit.text import clipped, padded

MOST = 5
"""Recordings that fit beside each other in 80 columns."""
START_MARGIN_C = 10
"""Starts that differ by more than this many degrees are not the same start."""
RATE_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the comparison.

    Attributes:
        key: of JSON: the sensor's id, or the name of the figure.
        title: for a person.
        unit: as in JSON; empty for a count.
        values: one for each recording, None where it has none.
        means: `values` are means over time, and `maxima` holds the greatest value.
    """

    key: str
    title: str
    unit: str
    values: tuple[float | None, ...]
    maxima: tuple[float | None, ...] = ()
    is_sensor: bool = False

    @property
    def in_all(self) -> bool:
        """Every recording has it."""
        return None not in self.values


@dataclass(frozen=True, slots=True)
class Comparison:
    """Recordings side by side.

    Attributes:
        rows: figures, then the sensors that all have.
        letters: A, B, ... for each recording.
        only: sensors that some lack: title, and the letters of the recordings that have it.
        warnings: why the figures may not be comparable, one sentence each.
    """

    recordings: tuple[LoadedRecording, ...]
    letters: tuple[str, ...]
    rows: tuple[Row, ...]
    only: tuple[tuple[str, tuple[str, ...]], ...]
    warnings: tuple[str, ...]


def compare(recordings: Sequence[LoadedRecording]) -> Comparison:
    """Compare two or more recordings, sensor by sensor (by id; by the column's name where a JSON twin is missing)."""
    summaries = [recording.summary for recording in recordings]
    rows = [
        *_column_rows(summaries, "headline", lambda s: [s.headline]),
        *_column_rows(summaries, "power", lambda s: [s.power]),
        _figure("energy", "Energy", "joule", [s.energy_j for s in summaries]),
        *_column_rows(summaries, "clock", lambda s: s.clocks),
        *_column_rows(summaries, "load", lambda s: [s.load]),
        _figure("throttle_events", "Throttle events", "", [_events(s) for s in summaries]),
        _figure(
            "throttled",
            "Throttled",
            "s",
            [None if s.throttled_ms is None else s.throttled_ms / 1000 for s in summaries],
        ),
        _figure("duration", "Duration", "s", [s.duration_s if s.samples else None for s in summaries]),
    ]
    rows = [row for row in rows if any(value is not None for value in row.values)]
    sensors = _column_rows(summaries, "", lambda s: s.sensors)
    rows += [row for row in sensors if row.in_all]
    letters = tuple("ABCDE"[: len(recordings)])
    only = [
        (row.title, tuple(letter for letter, value in zip(letters, row.values, strict=True) if value is not None))
        for row in sensors
        if not row.in_all
    ]
    return Comparison(tuple(recordings), letters, tuple(rows), tuple(only), tuple(_warnings(letters, recordings)))


def _figure(key: str, title: str, unit: str, values: Sequence[float | int | None]) -> Row:
    return Row(key, title, unit, tuple(None if value is None else float(value) for value in values))


def _events(summary: Summary) -> int | None:
    if summary.package_events is None and summary.core_events is None:
        return None
    return (summary.package_events or 0) + (summary.core_events or 0)


def _column_rows(
    summaries: Sequence[Summary], key: str, pick: Callable[[Summary], Sequence[ColumnSummary]]
) -> list[Row]:
    """Match columns over all summaries; those of sensors by id, or by name where an id is missing on one side."""
    ids_everywhere = all(entry.column.sensor_id for s in summaries for entry in pick(s) if entry.column.is_sensor)

    def key_of(entry: ColumnSummary) -> str:
        return (entry.column.sensor_id if ids_everywhere else None) or entry.column.name

    found: dict[str, list[ColumnSummary | None]] = {}
    for number, summary in enumerate(summaries):
        for entry in pick(summary):
            if entry.stats is not None:
                found.setdefault(key_of(entry), [None] * len(summaries))[number] = entry
    rows = []
    for name, entries in found.items():
        first = next(entry for entry in entries if entry is not None)
        stats: list[Stats | None] = [entry.stats if entry is not None else None for entry in entries]
        rows.append(
            Row(
                name if not key or key == "clock" else key,
                first.column.title or name,
                first.column.unit,
                tuple(None if s is None else s.mean for s in stats),
                tuple(None if s is None else s.maximum for s in stats),
                is_sensor=first.column.is_sensor,
            )
        )
    return rows


def _warnings(letters: Sequence[str], recordings: Sequence[LoadedRecording]) -> list[str]:
    lettered = list(zip(letters, recordings, strict=True))
    warnings = [f"{letter}: {note}." for letter, r in lettered for note in r.notes]
    warnings += [f"{letter}: it has no rows." for letter, r in lettered if r.summary.samples == 0]
    facts = [r.facts for r in recordings]
    for title, values in (
        ("machines", [f.machine.model for f in facts]),
        ("processors", [f.machine.cpu for f in facts]),
        ("kernels", [f.machine.kernel for f in facts]),
        ("commands", [command_text(f.command.argv) if f.command else None for f in facts]),
        ("power", [_mains(r) for r in recordings]),
        *((title, [pick(f.conditions) for f in facts]) for title, pick in _SETTINGS),
    ):
        if len({value for value in values if value is not None}) > 1:
            warnings.append(f"Different {title}: {_each(letters, [v or '(not known)' for v in values])}.")
    return warnings + _start_warnings(lettered) + _run_warnings(lettered)


def _each(letters: Sequence[str], values: Sequence[str]) -> str:
    return ", ".join(f"{letter} {value}" for letter, value in zip(letters, values, strict=True))


def _boost_word(conditions: Conditions) -> str | None:
    return None if conditions.boost is None else "on" if conditions.boost else "off"


_SETTINGS: tuple[tuple[str, Callable[[Conditions], str | None]], ...] = (
    ("headline rules", lambda c: c.rule or None),
    ("clock drivers", lambda c: c.driver),
    ("governors", lambda c: c.governor),
    ("energy preferences", lambda c: c.energy_preference),
    ("platform profiles", lambda c: c.platform_profile),
    ("turbo", _boost_word),
)


def _mains(recording: LoadedRecording) -> str | None:
    on_ac, battery_s = recording.facts.conditions.on_ac, recording.summary.battery_s
    if battery_s > 0:
        return "on battery" if battery_s > 0.9 * recording.summary.duration_s else "partly on battery"
    return None if on_ac is None else "on mains" if on_ac else "on battery"


def _start_warnings(lettered: Sequence[tuple[str, LoadedRecording]]) -> list[str]:
    known, hot = {}, []
    for letter, recording in lettered:
        conditions = recording.facts.conditions
        if conditions.start_celsius is not None:
            known[letter] = conditions.start_celsius
            if is_hot(conditions.start_celsius, conditions.limit_celsius):
                hot.append(letter)
    if len(known) > 1 and max(known.values()) - min(known.values()) > START_MARGIN_C:
        return [f"Different starts: {_each(list(known), [f'{celsius} °C' for celsius in known.values()])}."]
    return [f"Started hot: {', '.join(hot)}."] if hot else []


def _run_warnings(lettered: Sequence[tuple[str, LoadedRecording]]) -> list[str]:
    warnings = []
    rates = {letter: r.summary.achieved_hz for letter, r in lettered if r.summary.achieved_hz}
    if len(rates) > 1 and max(rates.values()) > RATE_FACTOR * min(rates.values()):
        each = _each(list(rates), [f"{rate:.3g} a second" for rate in rates.values()])
        warnings.append(f"Different sampling rates, so short peaks may be missing: {each}.")
    for letter, recording in lettered:
        command = recording.facts.command
        if recording.summary.gaps:
            warnings.append(f"{letter}: the machine slept or stalled meanwhile.")
        if command is not None and command.exit_status not in (0, None):
            warnings.append(f"{letter}: the command ended with exit status {command.exit_status}.")
    return warnings


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison for JSON."""
    return {
        "recordings": [
            {
                "letter": letter,
                "name": r.name,
                "path": r.path,
                "started_at": r.facts.started_at,
                "command": list(r.facts.command.argv) if r.facts.command else None,
                "exit_status": r.facts.command.exit_status if r.facts.command else None,
                "samples": r.summary.samples,
                "fair": r.summary.verdict.fair,
                "verdict": r.summary.verdict.sentence,
            }
            for letter, r in zip(comparison.letters, comparison.recordings, strict=True)
        ],
        "rows": [
            {
                "key": row.key,
                "title": row.title,
                "unit": row.unit or None,
                **({"mean": row.values, "max": row.maxima} if row.maxima else {"value": row.values}),
            }
            for row in comparison.rows
        ],
        "not_in_all": [{"title": title, "in": list(letters)} for title, letters in comparison.only],
        "warnings": list(comparison.warnings),
    }


def comparison_lines(comparison: Comparison) -> list[str]:
    """Return the comparison for a terminal, 80 columns wide: two with differences, more without."""
    recordings = comparison.recordings
    lines = [
        f"{letter}  {r.name}: {r.summary.verdict.sentence}"
        for letter, r in zip(comparison.letters, recordings, strict=True)
    ]
    if comparison.warnings:
        lines += ["", "Careful when comparing:"]
        lines += [f"! {warning}" for warning in comparison.warnings]
    lines.append("")
    lines += _pair_table(comparison.rows) if len(recordings) == 2 else _wide_table(comparison.rows, len(recordings))
    if comparison.only:
        lines += ["", "Not in all of them:"]
        lines += [f"  {title} (only {', '.join(letters)})" for title, letters in comparison.only]
    return [line.rstrip() for line in wrapped(lines)]


def _pair_table(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"{'':31}{'A':>15}{'B':>16}{'B - A':>16}",
        f"{'':31}{'MEAN':>8}{'MAX':>8}{'MEAN':>8}{'MAX':>8}{'MEAN':>8}{'MAX':>8}",
    ]
    for row in rows:
        if row.maxima:
            pairs = list(zip(row.values, row.maxima, strict=True))
            cells = [_number(value, row.unit) for pair in pairs for value in pair]
            cells += [_difference(row.values, row.unit), _difference(row.maxima, row.unit)]
        else:
            cells = []
            for value in row.values:
                cells += [_number(value, row.unit), ""]
            cells += [_difference(row.values, row.unit), ""]
        lines.append(_title(row, 26) + "".join(f"{cell:>8}" for cell in cells))
    return lines


def _wide_table(rows: Sequence[Row], count: int) -> list[str]:
    lines = [f"{'':35}" + "".join(f"{letter:>9}" for letter in "ABCDE"[:count]) + "  (means)"]
    lines += [_title(row, 30) + "".join(f"{_number(value, row.unit):>9}" for value in row.values) for row in rows]
    return lines


def _title(row: Row, width: int) -> str:
    title = padded(clipped(row.title, width), width)
    symbol = "J" if row.unit == "joule" else "s" if row.unit == "s" else unit_symbol(row.unit)
    return f"{title} {symbol:4}"


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    return str(whole(value)) if not unit else number_text(value, unit)


def _difference(values: Sequence[float | None], unit: str) -> str:
    first, second = values
    if first is None or second is None:
        return "-"
    text = f"{second - first:+.0f}" if not unit or unit in ("rpm", "mhz") else f"{second - first:+.1f}"
    return text.lstrip("+-") if float(text) == 0 else text


__all__ = ["MOST", "Comparison", "Row", "compare", "comparison_json", "comparison_lines"]
