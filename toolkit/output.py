"""The only writer to stdout: plain tables, JSON, and lines that are refreshed in place."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.errors import Problem, ToolkitError
from toolkit.host.base import Host
from toolkit.text import cell_width, padded, printable

SCHEMA = 1


def envelope(data: Any, problems: Sequence[Problem], host: Host, taken_at: float | None = None) -> dict[str, Any]:
    """Return the one shape of all JSON: `{"schema", "tool", "taken_at", "machine", "data", "problems"}`."""
    return {
        "schema": SCHEMA,
        "tool": "toolkit",
        "taken_at": iso_time(host.time() if taken_at is None else taken_at),
        "from": host.label or None,
        "data": data,
        "problems": [problem_as_dict(problem) for problem in problems],
    }


def problem_as_dict(problem: Problem) -> dict[str, str]:
    """Return a problem as JSON has it."""
    return {"source": problem.source, "reason": problem.reason, "hint": problem.hint}


def iso_time(seconds: float) -> str:
    """Return seconds since 1970 as `2026-11-30T20:49:07.123Z`."""
    from time import gmtime, strftime

    whole = int(seconds // 1)
    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(whole)) + f".{int((seconds - whole) * 1000):03d}Z"


def write_json(
    data: Any, problems: Sequence[Problem], host: Host, taken_at: float | None = None, one_line: bool = False
) -> None:
    """Write one JSON object to stdout, on one line where many follow each other."""
    import json

    text = json.dumps(
        envelope(data, problems, host, taken_at), ensure_ascii=False, allow_nan=False, indent=None if one_line else 2
    )
    write(text)


def write(text: str, end: str = "\n") -> None:
    """Write text to stdout at once, so that a reader at the other end of a pipe sees it as it comes.

    Raises BrokenPipeError where the reader is gone, ToolkitError where stdout takes nothing (a full disk, `>&-`).
    """
    if sys.stdout is None:
        raise ToolkitError("there is no stdout to write to")
    try:
        sys.stdout.write(text + end)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _silence()
        raise ToolkitError(f"the output cannot be written: {error.strerror}") from error


def _silence() -> None:
    """Send what is still written to stdout nowhere: Python would fail on it once more at its exit."""
    import os

    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def warn(text: str) -> None:
    """Write one line to stderr, after `toolkit: `."""
    sys.stderr.write(f"toolkit: {text}\n")
    sys.stderr.flush()


def warn_of(problems: Sequence[Problem]) -> None:
    """Write one line a problem to stderr."""
    for problem in problems:
        hint = f" ({problem.hint})" if problem.hint else ""
        warn(f"{printable(problem.source)}: {printable(problem.reason)}{hint}")


def table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), right: frozenset[int] = frozenset()) -> list[str]:
    """Return lines with columns of equal width, two spaces apart; the columns in `right` are right-aligned."""
    all_rows = [header, *rows] if header else list(rows)
    if not all_rows:
        return []
    widths = [0] * max(len(row) for row in all_rows)
    for row in all_rows:
        for number, cell in enumerate(row):
            widths[number] = max(widths[number], cell_width(cell))
    lines = []
    for row in all_rows:
        cells = [padded(cell, widths[number], right=number in right) for number, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip())
    return lines


def write_table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), right: frozenset[int] = frozenset()) -> None:
    """Write `table` to stdout."""
    for line in table(rows, header, right):
        write(line)


def no_nulls(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping without the keys whose value is None."""
    return {key: value for key, value in mapping.items() if value is not None}
