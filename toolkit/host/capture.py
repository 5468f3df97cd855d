"""Reading a capture: a folder or a .tar.gz with `meta.json` and what was found on a machine.

assets/schema/capture.md describes the format. Only a missing or unreadable meta.json, and a schema that this version
does not know, are errors; any other bad line is left out and becomes a `Problem`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from toolkit.errors import CaptureError, Problem
from toolkit.host.tree import NOT_READ, FileNode, Tree, failure
from toolkit.host.treetext import BadLine, Kind, clean_path, errno_number, parse_tree, unescape

SCHEMA = 1
"""The version of the capture format that this program writes and reads."""

T = TypeVar("T")

CAPTURE_HINT = "make a new one with: toolkit capture FILE"


class Source(Protocol):
    """Where the files of a capture lie."""

    name: str

    def read(self, name: str) -> bytes | None:
        """Return one of the capture's own files (`meta.json`), None where it is not there. Raises CaptureError."""
        ...

    def fill(self, tree: Tree) -> list[Problem]:
        """Put everything below root/ into the tree."""
        ...


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


@dataclass(slots=True)
class Capture:
    """Everything that a capture holds."""

    name: str
    meta: Meta
    tree: Tree
    answers: list[Answer]
    changes: list[Change]
    problems: list[Problem]


class FolderSource:
    """A capture that is a folder. Files below root/ are read when they are asked for."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._path = path

    def read(self, name: str) -> bytes | None:
        """Return one of the capture's own files. Raises CaptureError."""
        path = os.path.join(self._path, name)
        try:
            with open(path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise CaptureError(f"{path} cannot be read: {error.strerror}", "look at its permissions") from error

    def fill(self, tree: Tree) -> list[Problem]:
        """Put everything below root/ into the tree."""
        problems: list[Problem] = []
        waiting = [(os.path.join(self._path, "root"), "")]
        if not os.path.isdir(waiting[0][0]):
            return problems
        while waiting:
            folder, base = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                problems.append(Problem(folder, f"cannot be listed: {error.strerror}", "look at its permissions"))
                continue
            for entry in entries:
                path = f"{base}/{entry.name}"
                if entry.is_symlink():
                    tree.put_link(path, os.readlink(entry.path))
                elif entry.is_dir():
                    tree.folder(path)
                    waiting.append((entry.path, path))
                elif entry.is_file():
                    tree.file(path).load = _loader(entry.path)
                else:
                    problems.append(Problem(entry.path, "neither a file, a folder nor a link", "remove it"))
        return problems


def _loader(path: str) -> Callable[[], bytes]:
    def load() -> bytes:
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            raise failure(error.errno or 5, path) from error

    return load


def open_source(path: str) -> Source:
    """Return the source for a capture given by a person. Raises CaptureError."""
    if os.path.basename(path) == "meta.json" and os.path.isfile(path):
        path = os.path.dirname(path) or "."
    if os.path.isdir(path):
        return FolderSource(path)
    if not os.path.lexists(path):
        raise CaptureError(f"{path}: there is no such capture", "give a folder or a .tar.gz that toolkit capture wrote")
    from toolkit.host.archive import ArchiveSource

    return ArchiveSource(path)


def load_capture(path: str) -> Capture:
    """Read a capture. Raises CaptureError where meta.json is missing, broken or of another schema."""
    source = open_source(path)
    problems: list[Problem] = []
    meta = _meta(source, problems)
    tree = Tree()
    text = source.read("tree.txt")
    if text is not None:
        _plant(tree, text, f"{source.name}/tree.txt", problems)
    problems += source.fill(tree)
    _unreadable(source, tree, problems)
    _slow(source, tree, problems)
    _from_meta(tree, meta)
    answers = _lines(source, "commands.jsonl", _answer, problems)
    changes = sorted(_lines(source, "changes.jsonl", _change, problems), key=lambda change: change.after_s)
    if meta.loop_s and changes and changes[-1].after_s > meta.loop_s:
        late = f"changes after loop_s ({meta.loop_s:g} s) never happen"
        problems.append(Problem(f"{source.name}/changes.jsonl", late, "raise loop_s in meta.json"))
        changes = [change for change in changes if change.after_s <= meta.loop_s]
    return Capture(source.name, meta, tree, answers, changes, problems)


def _meta(source: Source, problems: list[Problem]) -> Meta:
    where = f"{source.name}/meta.json"
    data = source.read("meta.json")
    if data is None:
        raise CaptureError(f"{source.name} is no capture: it has no meta.json", CAPTURE_HINT)
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
        os_release=take("os_release", _texts, {}, "an object of texts"),
        environ=take("environ", _texts, {}, "an object of texts"),
        commands_not_found=frozenset(take("commands_not_found", _names, [], "a list of texts")),
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
    except RecursionError as error:
        raise CaptureError(f"{where}: nested too deeply", CAPTURE_HINT) from error
    if not isinstance(value, dict):
        raise CaptureError(f"{where}: not a JSON object", f'write {{"schema": {SCHEMA}}} at least')
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _period(value: Any) -> float | None:
    number = _number(value)
    return number if number is not None and number >= 0.1 else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _moment(value: Any) -> float | None:
    if not isinstance(value, str):
        return _number(value)
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _texts(value: Any) -> dict[str, str] | None:
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return value
    return None


def _names(value: Any) -> list[str] | None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return value
    return None


def _plant(tree: Tree, text: bytes, where: str, problems: list[Problem]) -> None:
    entries, bad = parse_tree(text, where)
    problems += bad
    # Links first, the shallow ones before the deep ones: a line may lead through a link that stands further down.
    links = sorted((entry for entry in entries if entry.kind is Kind.LINK), key=lambda entry: entry.path.count("/"))
    for entry in links + [entry for entry in entries if entry.kind is not Kind.LINK]:
        try:
            if entry.kind is Kind.LINK:
                tree.put_link(entry.path, entry.target)
            elif entry.kind is Kind.FOLDER:
                tree.folder(entry.path)
            elif entry.kind is Kind.ABSENT:
                tree.remove(entry.path)
            elif entry.kind is Kind.UNREAD:
                tree.put_file(entry.path, error=NOT_READ)
            else:
                tree.put_file(entry.path, entry.content, entry.error, entry.slow_s)
        except OSError as error:
            problems.append(_in_the_way(f"{where}:{entry.line}", entry.path, error))


def _in_the_way(where: str, path: str, error: OSError) -> Problem:
    return Problem(where, f"{path}: {error.strerror}", "give that path once, as a file, a link or a folder")


def _rows(source: Source, name: str, problems: list[Problem]) -> list[tuple[str, str, str]]:
    """Return (where, path, value) for each line of a .tsv."""
    data = source.read(name)
    rows: list[tuple[str, str, str]] = []
    for number, raw in enumerate((data or b"").split(b"\n"), 1):
        where = f"{source.name}/{name}:{number}"
        line = os.fsdecode(raw.removesuffix(b"\r"))
        if not line.strip() or line.startswith("#"):
            continue
        path, tab, value = line.rpartition("\t")
        if not tab:
            problems.append(Problem(where, "no tab", "write the path, one tab, and the value"))
            continue
        try:
            rows.append((where, clean_path(os.fsdecode(unescape(path))), value.strip()))
        except BadLine as bad:
            problems.append(Problem(where, bad.reason, bad.hint))
    return rows


def _unreadable(source: Source, tree: Tree, problems: list[Problem]) -> None:
    for where, path, value in _rows(source, "unreadable.tsv", problems):
        try:
            tree.put_error(path, errno_number(value))
        except BadLine as bad:
            problems.append(Problem(where, bad.reason, bad.hint))
        except OSError as error:
            problems.append(_in_the_way(where, path, error))


def _slow(source: Source, tree: Tree, problems: list[Problem]) -> None:
    for where, path, value in _rows(source, "slow.tsv", problems):
        try:
            seconds = _number(float(value))
        except ValueError:
            seconds = None
        if seconds is None:
            problems.append(Problem(where, f"{value[:40]!r} is no number of seconds", "write a number such as 1.5"))
            continue
        try:
            node = tree.find(path)
        except OSError:
            node = None
        if isinstance(node, FileNode):
            node.slow_s = seconds
        else:
            problems.append(Problem(where, f"{path} is no file of this capture", "remove the line or add the file"))


def _from_meta(tree: Tree, meta: Meta) -> None:
    """Serve the kernel's release and os-release from meta.json where the capture has no such files."""
    for path, text in (
        ("proc/sys/kernel/osrelease", f"{meta.kernel}\n" if meta.kernel else ""),
        ("etc/os-release", "".join(f'{key}="{value}"\n' for key, value in meta.os_release.items())),
    ):
        if text:
            try:
                tree.find(path)
            except FileNotFoundError:
                tree.put_file(path, text.encode())
            except OSError:
                pass  # the capture says that reading it fails


def _lines(source: Source, name: str, parse: Callable[[dict[str, Any]], T], problems: list[Problem]) -> list[T]:
    """Return what the lines of a .jsonl give; a line that cannot be understood is a problem."""
    data = source.read(name)
    if not data:
        return []
    import json

    found: list[T] = []
    for number, raw in enumerate(data.split(b"\n"), 1):
        if not raw.strip():
            continue
        where = f"{source.name}/{name}:{number}"
        try:
            value = json.loads(raw.decode())
            if isinstance(value, dict):
                found.append(parse(value))
            else:
                problems.append(Problem(where, "not a JSON object", "write one object a line"))
        except json.JSONDecodeError as error:
            problems.append(Problem(where, f"broken JSON: {error.msg}", "mend the line or remove it"))
        except UnicodeDecodeError:
            problems.append(Problem(where, "not UTF-8", "save it as UTF-8"))
        except RecursionError:
            problems.append(Problem(where, "nested too deeply", "remove the line"))
        except BadLine as bad:
            problems.append(Problem(where, bad.reason, bad.hint))
    return found


def _field(value: dict[str, Any], key: str, form: type | tuple[type, ...], default: Any, what: str) -> Any:
    item = value.get(key, default)
    if (isinstance(item, bool) and form is not bool) or not isinstance(item, form):
        raise BadLine(f'"{key}" is not {what}', f'write "{key}" as {what}')
    return item


def _answer(value: dict[str, Any]) -> Answer:
    argv = _names(value.get("argv"))
    if not argv:
        raise BadLine('"argv" is not a list of texts', 'write "argv" as a list such as ["lsblk", "--json"]')
    seconds = _number(value.get("seconds", 0.0))
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


def _change(value: dict[str, Any]) -> Change:
    after_s = _number(value.get("after_s"))
    if after_s is None:
        raise BadLine('"after_s" is not a number of seconds', 'write "after_s" as a number from 0 on')
    path = clean_path(_field(value, "path", str, None, "a text"))
    kinds = [key for key in ("text", "errno", "link", "absent") if value.get(key) is not None]
    if len(kinds) != 1:
        raise BadLine("not exactly one of text, errno, link and absent", "write one of them")
    slow_s = _number(value.get("slow_s", 0.0))
    if slow_s is None:
        raise BadLine('"slow_s" is not a number', 'write "slow_s" as a number such as 1.5')
    if kinds[0] == "text":
        text = _field(value, "text", str, "", "a text")
        data = text.encode("utf-8", "surrogateescape") if not text or text[-1] == "\n" else f"{text}\n".encode()
        return Change(after_s, path, data=data, slow_s=slow_s)
    if kinds[0] == "errno":
        number = errno_number(_field(value, "errno", str, "", "an errno name"))
        return Change(after_s, path, error=number, slow_s=slow_s)
    if kinds[0] == "link":
        target = _field(value, "link", str, "", "a text")
        if not target or "\0" in target:
            raise BadLine("a link without a target", 'write "link" as the target of the link')
        return Change(after_s, path, link=target)
    if value["absent"] is not True:
        raise BadLine('"absent" is not true', 'write "absent": true, or the text that the path has')
    return Change(after_s, path, absent=True)
