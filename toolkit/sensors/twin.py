"""FILE.json, the twin of a recording's CSV: written, and read back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from toolkit.errors import UsageError
from toolkit.sensors.clean import whole
from toolkit.sensors.model import Machine
from toolkit.sensors.recording import (
    KIND,
    SCHEMA,
    Column,
    CommandRun,
    Conditions,
    Event,
    RecordingFacts,
    columns_json,
)
from toolkit.sensors.summary import ColumnSummary, Summary
from toolkit.text import printable

TEXT_LIMIT = 4000
"""Characters of a text that are taken from a file."""


def twin_json(facts: RecordingFacts, columns: Sequence[Column], summary: Summary | None) -> dict[str, Any]:
    """Return the document; without a summary while the recording runs."""
    return {
        "schema": SCHEMA,
        "kind": KIND,
        "complete": facts.complete,
        "started_at": facts.started_at,
        "machine": asdict(facts.machine),
        "command": asdict(facts.command) if facts.command else None,
        "rate": {"asked_hz": facts.asked_hz, "achieved_hz": _rounded(summary.achieved_hz) if summary else None},
        "conditions": asdict(facts.conditions),
        "columns": columns_json(columns),
        "summary": summary_json(summary) if summary else None,
        "events": [asdict(event) for event in facts.events],
        "problems": list(facts.problems),
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    """Return a summary for JSON, with units in the names or beside the values."""
    return {
        "duration_s": _rounded(summary.duration_s),
        "samples": summary.samples,
        "achieved_hz": _rounded(summary.achieved_hz),
        "gaps": summary.gaps,
        "gap_s": _rounded(summary.gap_s),
        "fair": summary.verdict.fair,
        "verdict": summary.verdict.sentence,
        "reasons": list(summary.verdict.reasons),
        "headline": _column_json(summary.headline),
        "sensors": [_column_json(sensor) for sensor in summary.sensors],
        "power": _column_json(summary.power),
        "energy_joule": _rounded(summary.energy_j),
        "energy_watt_hour": _rounded(None if summary.energy_j is None else summary.energy_j / 3600, 6),
        "clocks": [_column_json(clock) for clock in summary.clocks],
        "load": _column_json(summary.load),
        "throttle_package_events": summary.package_events,
        "throttle_core_events": summary.core_events,
        "throttled_ms": summary.throttled_ms,
        "held_back_s": {by: _rounded(seconds) for by, seconds in summary.held},
        "battery_s": _rounded(summary.battery_s),
        "headline_before": _stats_json(summary.before),
        "headline_after": _stats_json(summary.after),
    }


def _column_json(entry: ColumnSummary) -> dict[str, Any]:
    return {
        "name": entry.column.name,
        "sensor": entry.column.sensor_id,
        "unit": entry.column.unit or None,
        **(_stats_json(entry.stats) or {}),
        "at_limit": [
            {"kind": kind, "limit": limit, "seconds": _rounded(seconds)} for kind, limit, seconds in entry.at_limit
        ],
    }


def _stats_json(stats: Any) -> dict[str, Any] | None:
    if stats is None:
        return None
    return {
        "min": stats.minimum,
        "mean": _rounded(stats.mean),
        "max": stats.maximum,
        "median": stats.median,
        "p95": stats.p95,
        "known_s": _rounded(stats.known_s),
    }


def _rounded(value: float | None, digits: int = 3) -> float | None:
    return None if value is None else round(value, digits)


def write_atomically(path: str, data: bytes, mode: int | None = None) -> None:
    """Replace a file by way of a new one in the same folder, so that nobody ever reads half of it.

    The name of the new one begins with a dot and ends in `.tmp`. Raises OSError; the new one is removed then.

    Args:
        mode: the file's permissions, whatever the umask; by default 0644 less the umask.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(temporary, flags, 0o644)
    except FileExistsError:
        os.unlink(temporary)
        descriptor = os.open(temporary, flags, 0o644)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        os.unlink(temporary)
        raise


def write_twin(path: str, document: dict[str, Any]) -> None:
    """Write the document. Raises OSError."""
    import json

    text = json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_atomically(path, text.encode("utf-8", "replace"))


def read_twin(path: str) -> dict[str, Any] | None:
    """Return the document; None where there is no such file. Raises UsageError for what is not one, OSError."""
    import json

    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            text = stream.read()
    except FileNotFoundError:
        return None
    hint = "move it away to use the CSV file alone"
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: not JSON ({error.msg})", hint) from None
    except RecursionError:
        raise UsageError(f"{path}:1: not JSON that a recording has (nested too deeply)", hint) from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise UsageError(f"{path}:1: not the JSON of a recording", hint)
    schema = document.get("schema")
    if schema != SCHEMA:
        raise UsageError(f"{path}: schema {printable(str(schema), 20)}, this version reads {SCHEMA}", hint)
    return document


def facts_of(document: dict[str, Any]) -> RecordingFacts:
    """Return what the document says about the recording; what is missing or of a wrong type counts as not said."""
    machine, rate = _dict(document, "machine"), _dict(document, "rate")
    problems = document.get("problems")
    return RecordingFacts(
        machine=Machine(*(_text(machine, key) for key in ("model", "kernel", "cpu", "distribution"))),
        started_at=_number(document, "started_at"),
        asked_hz=_number(rate, "asked_hz"),
        conditions=_conditions(_dict(document, "conditions")),
        command=_command(document.get("command")),
        events=tuple(_events(document.get("events"))),
        problems=tuple(printable(text, TEXT_LIMIT) for text in problems if isinstance(text, str))
        if isinstance(problems, list)
        else (),
        complete=document.get("complete") is True,
    )


def _conditions(said: dict[str, Any]) -> Conditions:
    start = _number(said, "start_celsius")
    limits = said.get("clock_limits")
    clock_limits = []
    for entry in limits if isinstance(limits, list) else []:
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[0], str):
            values = {"policy": entry[1], "ceiling": entry[2]}
            clock_limits.append((printable(entry[0]), _number(values, "policy"), _number(values, "ceiling")))
    return Conditions(
        rule=_text(said, "rule") or "",
        driver=_text(said, "driver"),
        governor=_text(said, "governor"),
        energy_preference=_text(said, "energy_preference"),
        platform_profile=_text(said, "platform_profile"),
        boost=_flag(said, "boost"),
        on_ac=_flag(said, "on_ac"),
        start_celsius=None if start is None else whole(start),
        limit_celsius=_number(said, "limit_celsius"),
        clock_limits=tuple(clock_limits),
        throttle_offered=_flag(said, "throttle_offered"),
        throttle_reason=_text(said, "throttle_reason") or "",
        power_source=_text(said, "power_source") or "",
        power_reason=_text(said, "power_reason") or "",
    )


def _command(said: Any) -> CommandRun | None:
    if not isinstance(said, dict) or not isinstance(said.get("argv"), list):
        return None
    status, peak = _number(said, "exit_status"), _number(said, "peak_bytes")
    return CommandRun(
        argv=tuple(printable(str(word), TEXT_LIMIT) for word in said["argv"]),
        exit_status=None if status is None else round(status),
        started_s=_number(said, "started_s") or 0.0,
        ended_s=_number(said, "ended_s"),
        user_s=_number(said, "user_s"),
        system_s=_number(said, "system_s"),
        peak_bytes=None if peak is None else round(peak),
        peak_at_most=_flag(said, "peak_at_most") or False,
        stopped_by=_text(said, "stopped_by") or "",
    )


def _events(said: Any) -> list[Event]:
    return [
        Event(
            _number(entry, "time_s") or 0.0,
            _text(entry, "kind") or "",
            _text(entry, "text") or "",
            _text(entry, "sensor_id"),
        )
        for entry in (said if isinstance(said, list) else [])
        if isinstance(entry, dict)
    ]


def _dict(said: dict[str, Any], key: str) -> dict[str, Any]:
    value = said.get(key)
    return value if isinstance(value, dict) else {}


def _text(said: dict[str, Any], key: str) -> str | None:
    value = said.get(key)
    return printable(value, TEXT_LIMIT) if isinstance(value, str) else None


def _flag(said: dict[str, Any], key: str) -> bool | None:
    value = said.get(key)
    return value if isinstance(value, bool) else None


def _number(said: dict[str, Any], key: str) -> float | None:
    value = said.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if number - number == 0 else None
