"""meta.json of a capture: text in, Meta out. Everything here is pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkit.errors import CaptureError, Problem
from toolkit.host.capturelines import number, texts

SCHEMA = 1
"""The version of the capture format that this program writes and reads."""

CAPTURE_HINT = "make a new one with: toolkit capture FILE"


@dataclass(frozen=True, slots=True)
class Meta:
    """meta.json; `raw` has every key, also those that this program does not know."""

    taken_at: float = 0.0
    uid: int = 1000
    kernel: str = ""
    os_release: Mapping[str, str] = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    commands_not_found: frozenset[str] = frozenset()
    loop_s: float = 0.0
    raw: Mapping[str, Any] = field(default_factory=dict)


def parse_meta(data: bytes, where: str, problems: list[Problem]) -> Meta:
    """Return what meta.json says; a key of the wrong type is left out and becomes a problem.

    Args:
        where: the file, for messages.

    Raises CaptureError where it is no JSON object or of a schema that this version does not know.
    """
    raw = _json_object(data, where)
    schema = raw.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int):
        raise CaptureError(f'{where} has no "schema" number', f'write "schema": {SCHEMA} into it')
    if schema != SCHEMA:
        hint = "use a newer toolkit" if schema > SCHEMA else CAPTURE_HINT
        raise CaptureError(f"{where} has schema {schema}; this version reads schema {SCHEMA}", hint)

    def take(key: str, check: Callable[[Any], Any], default: Any, form: str) -> Any:
        if raw.get(key) is None:
            return default
        value = check(raw[key])
        if value is None:
            problems.append(Problem(where, f'"{key}" is not {form}', f'write "{key}" as {form}'))
            return default
        return value

    return Meta(
        taken_at=take("taken_at", _moment, 0.0, "seconds since 1970 or a date like 2026-01-31T12:00:00Z"),
        uid=take("uid", _whole, 1000, "a whole number"),
        kernel=take("kernel", lambda value: value if isinstance(value, str) else None, "", "a text"),
        os_release=take("os_release", _mapping, {}, "an object of texts"),
        environ=take("environ", _mapping, {}, "an object of texts"),
        commands_not_found=frozenset(take("commands_not_found", texts, [], "a list of texts")),
        loop_s=take("loop_s", _period, 0.0, "a number of seconds from 0.1 on"),
        raw=raw,
    )


def _json_object(data: bytes, where: str) -> dict[str, Any]:
    import json

    try:
        value = json.loads(data.decode())
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CaptureError(f"{where}:{line}: not UTF-8", "save it as UTF-8") from error
    except json.JSONDecodeError as error:
        raise CaptureError(f"{where}:{error.lineno}: {error.msg}", "mend the JSON there") from error
    except ValueError as error:
        raise CaptureError(f"{where}: a number with too many digits", "mend the JSON there") from error
    except RecursionError as error:
        raise CaptureError(f"{where}: nested too deeply", CAPTURE_HINT) from error
    if not isinstance(value, dict):
        raise CaptureError(f"{where}: not a JSON object", f'write {{"schema": {SCHEMA}}} at least')
    return value


def _period(value: Any) -> float | None:
    found = number(value)
    return found if found is not None and found >= 0.1 else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _moment(value: Any) -> float | None:
    if not isinstance(value, str):
        return number(value)
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _mapping(value: Any) -> dict[str, str] | None:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    return None
