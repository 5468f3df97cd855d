"""commands.jsonl and changes.jsonl of a capture: text in, answers and changes out. Everything here is pure."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from toolkit.errors import Problem
from toolkit.host.tree import Tree
from toolkit.host.treetext import BadLine, clean_path, errno_number

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded answer of a command."""

    argv: tuple[str, ...]
    returncode: int = 0
    stdout: str = ""
    stderr: str = ""
    seconds: float = 0.0
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one path some seconds after the start.

    Exactly one of data, error, link and absent is set. `slow_s` goes with data or error and lets the read take long.
    """

    after_s: float
    path: str
    data: bytes | None = None
    error: int = 0
    link: str | None = None
    absent: bool = False
    slow_s: float = 0.0

    def apply(self, tree: Tree) -> None:
        """Make the change. Raises OSError where something else is in the way."""
        if self.absent:
            tree.remove(self.path)
        elif self.link is not None:
            tree.put_link(self.path, self.link)
        elif self.error:
            tree.put_error(self.path, self.error, self.slow_s)
        else:
            tree.put_file(self.path, self.data or b"", slow_s=self.slow_s)


def number(value: Any) -> float | None:
    """Return a finite JSON number from 0 on, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def texts(value: Any) -> list[str] | None:
    """Return a list of texts, None for anything else."""
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def parse_lines(data: bytes, where: str, parse: Callable[[dict[str, Any]], T], problems: list[Problem]) -> list[T]:
    """Return what the lines of a .jsonl give; a line that cannot be understood is a problem.

    Args:
        where: the file, for messages.
        parse: `answer` or `change`.
    """
    if not data:
        return []
    import json

    found: list[T] = []
    whole = _all_at_once(data)
    if whole is not None:
        with contextlib.suppress(BadLine):
            return [parse(value) for value in whole]
    for count, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        line = f"{where}:{count}"
        try:
            value = json.loads(raw.decode())
            if isinstance(value, dict):
                found.append(parse(value))
            else:
                problems.append(Problem(line, "not a JSON object", "write one object a line"))
        except json.JSONDecodeError as error:
            problems.append(Problem(line, f"broken JSON: {error.msg}", "mend the line or remove it"))
        except UnicodeDecodeError:
            problems.append(Problem(line, "not UTF-8", "save it as UTF-8"))
        except RecursionError:
            problems.append(Problem(line, "nested too deeply", "remove the line"))
        except BadLine as bad:
            problems.append(Problem(line, bad.reason, bad.hint))
        except ValueError:
            problems.append(Problem(line, "a number with too many digits", "mend the line or remove it"))
    return found


def _all_at_once(data: bytes) -> list[dict[str, Any]] | None:
    """Return the objects of a file that has no fault, ten times quicker than line by line; None for any other."""
    import json

    lines = [line for line in data.split(b"\n") if line and not line.isspace()]
    if not all(line[:1] == b"{" and line[-1:] == b"}" for line in lines):
        return None
    try:
        whole = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        return None
    return whole if len(whole) == len(lines) else None


def _field(value: dict[str, Any], key: str, form: type | tuple[type, ...], default: Any, what: str) -> Any:
    item = value.get(key, default)
    if (isinstance(item, bool) and form is not bool) or not isinstance(item, form):
        raise BadLine(f'"{key}" is not {what}', f'write "{key}" as {what}')
    return item


def answer(value: dict[str, Any]) -> Answer:
    """Return one line of commands.jsonl. Raises BadLine."""
    argv = texts(value.get("argv"))
    if not argv:
        raise BadLine('"argv" is not a list of texts', 'write "argv" as a list such as ["lsblk", "--json"]')
    seconds = number(value.get("seconds", 0.0))
    if seconds is None:
        raise BadLine('"seconds" is not a number', 'write "seconds" as a number such as 0.1')
    return Answer(
        tuple(argv),
        _field(value, "returncode", int, 0, "a whole number"),
        _field(value, "stdout", str, "", "a text"),
        _field(value, "stderr", str, "", "a text"),
        seconds,
        _field(value, "timed_out", bool, False, "true or false"),
    )


def change(value: dict[str, Any]) -> Change:
    """Return one line of changes.jsonl. Raises BadLine."""
    after_s = number(value.get("after_s"))
    if after_s is not None and len(value) == 3 and type(value.get("text")) is type(value.get("path")) is str:
        return Change(after_s, clean_path(value["path"]), data=_with_newline(value["text"]))
    if after_s is None:
        raise BadLine('"after_s" is not a number of seconds', 'write "after_s" as a number from 0 on')
    path = clean_path(_field(value, "path", str, None, "a text"))
    kinds = [key for key in ("text", "errno", "link", "absent") if value.get(key) is not None]
    if len(kinds) != 1:
        raise BadLine("not exactly one of text, errno, link and absent", "write one of them")
    slow_s = number(value.get("slow_s", 0.0))
    if slow_s is None:
        raise BadLine('"slow_s" is not a number', 'write "slow_s" as a number such as 1.5')
    if kinds[0] == "text":
        data = _with_newline(_field(value, "text", str, "", "a text"))
        return Change(after_s, path, data=data, slow_s=slow_s)
    if kinds[0] == "errno":
        code = errno_number(_field(value, "errno", str, "", "an errno name"))
        return Change(after_s, path, error=code, slow_s=slow_s)
    if kinds[0] == "link":
        target = _field(value, "link", str, "", "a text")
        if not target or "\0" in target:
            raise BadLine("a link without a target", 'write "link" as the target of the link')
        return Change(after_s, path, link=target)
    if value["absent"] is not True:
        raise BadLine('"absent" is not true', 'write "absent": true, or the text that the path has')
    return Change(after_s, path, absent=True)


def _with_newline(text: str) -> bytes:
    if text and text[-1] != "\n":
        text += "\n"
    return text.encode("utf-8", "surrogateescape")
