r"""`tree.txt`, the part of a capture that holds one-line files, links and folders, one a line.

    # a comment
    sys/class/hwmon/hwmon3 -> ../../devices/platform/coretemp.0/hwmon/hwmon3
    sys/devices/platform/coretemp.0/hwmon/hwmon3/name = coretemp
    sys/class/hwmon/hwmon9/temp1_input = !EIO
    sys/class/hwmon/hwmon9/temp2_input = !ABSENT
    sys/class/hwmon/hwmon9/temp3_input = !SLOW 1.5 44000
    sys/class/hwmon/hwmon9/temp4_input = !UNREAD
    sys/class/powercap/

Everything here is pure: text in, entries and problems out. `\n`, `\t`, `\\` and `\xHH` are understood in paths,
contents and link targets. assets/schema/capture.md describes the format for people.
"""

from __future__ import annotations

import errno
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from toolkit.errors import Problem
from toolkit.text import printable

_ESCAPE = re.compile(rb"\\(x[0-9A-Fa-f]{2}|n|t|\\|)")
_SIMPLE_ESCAPES = {b"n": b"\n", b"t": b"\t", b"\\": b"\\"}
_SEPARATOR = re.compile(r" = | -> | =$")


class Kind(Enum):
    """What a line of tree.txt describes."""

    FILE = "file"
    LINK = "link"
    FOLDER = "folder"
    ABSENT = "absent"
    UNREAD = "unread"
    """A file that is there; its content was not captured."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of tree.txt.

    Attributes:
        path: relative to the machine's root, no leading slash.
        content: of a file, with its newline.
        error: the errno that reading the file gives; 0 where it can be read.
        slow_s: how long reading takes, in seconds.
        target: of a link.
        line: its number in the file, from 1.
    """

    path: str
    kind: Kind
    content: bytes = b""
    error: int = 0
    slow_s: float = 0.0
    target: str = ""
    line: int = 0


class BadLine(ValueError):
    """A line that cannot be understood; the message is one short clause, `hint` says what to write instead."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def errno_number(name: str) -> int:
    """Return the number of an errno by its name (`EIO`). Raises BadLine."""
    number = getattr(errno, name, None) if name[:1] == "E" else None
    if not isinstance(number, int):
        raise BadLine(f"{name[:40]!r} is no errno name", "write one such as EIO, ENODATA, ENXIO, EACCES or ETIMEDOUT")
    return number


def errno_name(number: int) -> str:
    """Return the name of an errno, EIO for a number that has none."""
    return errno.errorcode.get(number, "EIO")


def unescape(text: str) -> bytes:
    r"""Return the bytes that a text with `\n`, `\t`, `\\`, `\xHH` stands for. Raises BadLine."""
    data = text.encode("utf-8", "surrogateescape")
    if b"\\" not in data:
        return data

    def replace(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if not code:
            raise BadLine("a backslash that begins no escape", r"write \\ for a backslash, or use \n, \t, \xHH")
        return bytes([int(code[1:], 16)]) if code[:1] == b"x" else _SIMPLE_ESCAPES[code]

    return _ESCAPE.sub(replace, data)


def escape(data: bytes, more: str = "") -> str:
    """Return text without control characters from which `unescape` gives the bytes back.

    Args:
        more: ASCII characters that are to be written as `\\xHH` as well.
    """
    out = []
    for char in data.decode("utf-8", "surrogateescape"):
        if char == "\\":
            out.append("\\\\")
        elif char == "\n":
            out.append("\\n")
        elif char == "\t":
            out.append("\\t")
        elif char in more or not (char.isprintable() or char == " "):
            raw = char.encode("utf-8", "surrogateescape")
            out.append("".join(f"\\x{byte:02x}" for byte in raw))
        else:
            out.append(char)
    return "".join(out)


def clean_path(text: str) -> str:
    """Return a path of a capture relative to the machine's root. Raises BadLine for one that leads elsewhere."""
    if text and text[0] not in "/." and text[-1] != "/" and "//" not in text and "/." not in text and "\0" not in text:
        return text  # as nearly all are: a capture may have some thousand
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if not parts:
        raise BadLine("no path", "write PATH = CONTENT, PATH -> TARGET or PATH/")
    if ".." in parts:
        raise BadLine("a path with .. in it", "write the path from the machine's root")
    if "\0" in text:
        raise BadLine("a path with a NUL byte in it")
    return "/".join(parts)


def parse_line(line: str, number: int = 0) -> Entry | None:
    """Return the entry of one line, None for an empty line and a comment. Raises BadLine."""
    text = line.lstrip(" \t")
    if not text or text[0] == "#":
        return None
    separator = _SEPARATOR.search(text)
    if separator is None:
        bare = text.rstrip(" \t")
        if not bare.endswith("/"):
            raise BadLine("neither a file, a link nor a folder", "write PATH = CONTENT, PATH -> TARGET or PATH/")
        return Entry(_path(bare), Kind.FOLDER, line=number)
    path = _path(text[: separator.start()])
    rest = text[separator.end() :]
    if separator[0] == " -> ":
        target = os.fsdecode(unescape(rest.rstrip(" \t")))
        if not target or "\0" in target:
            raise BadLine("a link without a target", "write PATH -> TARGET")
        return Entry(path, Kind.LINK, target=target, line=number)
    if separator[0] == " =":
        return Entry(path, Kind.FILE, line=number)
    return _file(path, rest, number)


def _path(text: str) -> str:
    return clean_path(os.fsdecode(unescape(text.rstrip(" \t"))))


def _file(path: str, text: str, number: int) -> Entry:
    slow_s = 0.0
    if text.startswith("!SLOW"):
        words = text.split(" ", 2)
        slow_s = _seconds(words[1] if len(words) > 1 and words[0] == "!SLOW" else "")
        if len(words) < 3:
            return Entry(path, Kind.FILE, slow_s=slow_s, line=number)
        text = words[2]
    if not text.startswith("!"):
        return Entry(path, Kind.FILE, unescape(text) + b"\n", slow_s=slow_s, line=number)
    word = text[1:].rstrip(" \t")
    if word == "ABSENT" and not slow_s:
        return Entry(path, Kind.ABSENT, line=number)
    if word == "UNREAD" and not slow_s:
        return Entry(path, Kind.UNREAD, line=number)
    return Entry(path, Kind.FILE, error=errno_number(word), slow_s=slow_s, line=number)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not (math.isfinite(seconds) and seconds >= 0):
        raise BadLine("!SLOW without a number of seconds", "write PATH = !SLOW 1.5 CONTENT")
    return seconds


def parse_tree(data: bytes, source: str = "tree.txt") -> tuple[list[Entry], list[Problem]]:
    """Return the entries of a tree.txt and what is wrong with it; a bad line is left out and the rest goes on."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            entry = parse_line(_decode(raw), number)
        except BadLine as bad:
            problems.append(Problem(f"{source}:{number}", bad.reason, bad.hint))
            continue
        if entry is None:
            continue
        if entry.path in seen and entry.kind is not Kind.FOLDER:
            reason = f"{printable(entry.path)} stands in line {seen[entry.path]} too; this line counts"
            problems.append(Problem(f"{source}:{number}", reason, "remove one of the two"))
        seen[entry.path] = number
        entries.append(entry)
    return entries, problems


def _decode(raw: bytes) -> str:
    try:
        return raw.removesuffix(b"\r").decode()
    except UnicodeDecodeError:
        raise BadLine("not UTF-8", r"write other bytes as \xHH") from None


def format_entry(entry: Entry) -> str | None:
    """Return the line for an entry, without its newline; None where tree.txt cannot hold it (see `fits`)."""
    path = escape(os.fsencode(entry.path), more=" #" if entry.path[0] in " #" else " ")
    if entry.kind is Kind.FOLDER:
        return f"{path}/"
    if entry.kind is Kind.LINK:
        return f"{path} -> {escape(os.fsencode(entry.target), more=' ')}"
    if entry.kind in (Kind.ABSENT, Kind.UNREAD):
        return f"{path} = !{entry.kind.name}"
    slow = f"!SLOW {entry.slow_s!r} " if entry.slow_s else ""
    if entry.error:
        return f"{path} = {slow}!{errno_name(entry.error)}"
    if not fits(entry.content):
        return None
    if not entry.content:
        return f"{path} = {slow}".rstrip()
    text = escape(entry.content[:-1])
    if text.startswith("!"):
        text = "\\x21" + text[1:]
    return f"{path} = {slow}{text}"


def fits(content: bytes) -> bool:
    """True where tree.txt can hold a file with this content: empty, or one line of text with its newline."""
    if not content:
        return True
    if len(content) > 1024 or content[-1:] != b"\n" or b"\n" in content[:-1] or b"\0" in content:
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def format_tree(entries: Iterable[Entry]) -> str:
    """Return a tree.txt for entries that all fit."""
    lines = [format_entry(entry) for entry in entries]
    return "".join(f"{line}\n" for line in lines if line is not None)
