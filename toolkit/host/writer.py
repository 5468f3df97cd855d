"""Turns the notes of a RecordingHost into a capture, with secrets replaced, and saves it.

assets/schema/capture.md describes the format; toolkit.host.capture reads it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolkit import __version__
from toolkit.errors import NotCaptured
from toolkit.host.base import Host
from toolkit.host.capturemeta import SCHEMA
from toolkit.host.natural import natural_key
from toolkit.host.notes import SLOW_S, Outcome
from toolkit.host.record import RecordingHost
from toolkit.host.redact import Redactor
from toolkit.host.saving import check_place, save_members
from toolkit.host.tree import THIN
from toolkit.host.treetext import Entry, Kind, errno_name, escape, fits, format_tree

_KEPT_ENVIRON = ("LANG", "TERM")


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved.

    Attributes:
        path: where.
        files: files with their content.
        unreadable: path and errno name of what could not be read.
        commands: answers of commands.
        changes: entries of changes.jsonl.
        replaced: how many different secrets were replaced, by kind (`MAC addresses`).
        size: of the capture in bytes, before compression.
    """

    path: str
    files: int
    unreadable: tuple[tuple[str, str], ...]
    commands: int
    changes: int
    replaced: Mapping[str, int]
    size: int


@dataclass(slots=True)
class _Parts:
    """A capture that is being put together; paths are those of the machine, with secrets replaced."""

    links: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    errors: dict[str, int] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    commands: list[dict[str, Any]] = field(default_factory=list)


def save_capture(host: RecordingHost, path: str, overwrite: bool = False) -> Saved:
    """Save everything that a RecordingHost noted, as a folder, or as a .tar.gz where the path ends so.

    Raises UsageError where something is there already (unless `overwrite`, and then only a capture is replaced) or
    the place cannot be written. What was there before is whole until the new capture is.
    """
    path = os.path.abspath(path)
    check_place(path, overwrite)
    release = _os_release(host)
    redactor = host.redactor
    _learn(host, redactor)
    parts = _collect(host, redactor)
    members = _members(host, parts, redactor, release)
    save_members(path, members, host.started_at)
    return Saved(
        path=path,
        files=len(parts.files),
        unreadable=tuple((name, errno_name(parts.errors[name])) for name in sorted(parts.errors, key=natural_key)),
        commands=len(parts.commands),
        changes=len(parts.changes),
        replaced=redactor.counts(),
        size=sum(map(len, members.values())),
    )


def identities(host: Host) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of what names this machine and its people; nothing of it enters a capture."""
    environ = host.environ
    for path in ("/etc/hostname", "/proc/sys/kernel/hostname"):
        with contextlib.suppress(OSError):
            name = host.read_text(path, 256).strip()
            yield "host", name
            yield "host", name.split(".")[0]
    yield "host", environ.get("HOSTNAME", "")
    for key in ("USER", "LOGNAME", "SUDO_USER"):
        yield "user", environ.get(key, "")
    with contextlib.suppress(OSError):
        for line in host.read_text("/etc/passwd").splitlines():
            words = line.split(":")
            # People have these numbers (UID_MIN and UID_MAX in login.defs(5)).
            if len(words) > 5 and words[2].isdigit() and 1000 <= int(words[2]) < 60000:
                yield "user", words[0]
                yield "user", words[4].split(",")[0]


def _paths(host: RecordingHost) -> Iterator[str]:
    notes = host.notes
    yield from notes.files
    yield from notes.links
    yield from notes.there
    yield from (path for _, path, _ in notes.changes)
    for folder, names in notes.folders.items():
        yield folder
        if not isinstance(names, int):
            yield from (f"{folder}/{name}" for name in names)


def _learn(host: RecordingHost, redactor: Redactor) -> None:
    """Look for secrets in everything before anything is rewritten: one may show itself only in the last file."""
    notes = host.notes
    paths = list(_paths(host))
    redactor.protect(paths)
    for kind, name in identities(host.host):
        redactor.learn(kind, name)
    for path, seen in notes.files.items():
        for outcome in (seen.first, *(later for _, later in seen.later)):
            redactor.find(outcome.data.decode("utf-8", "surrogateescape"), path)
    for target in notes.links.values():
        redactor.find(target)
    for path in paths:
        redactor.find(path)
    for answer in notes.answers:
        for text in (*answer.argv, answer.stdout, answer.stderr):
            redactor.find(text)


def _collect(host: RecordingHost, redactor: Redactor) -> _Parts:
    parts = _Parts()
    clean = redactor.text
    notes = host.notes
    for path, target in notes.links.items():
        parts.links[clean(path)] = clean(target)
    for path, names in notes.folders.items():
        parts.folders.add(clean(path))
        if isinstance(names, int):
            parts.errors[clean(path)] = names
    for path, folder in notes.there.items():
        if folder:
            parts.folders.add(clean(path))
        elif path not in notes.files:
            parts.unread.add(clean(path))
    for path, seen in notes.files.items():
        _put(parts, host.host, redactor, path, seen.first)
        if seen.slow_s > SLOW_S:
            parts.slow[clean(path)] = seen.slow_s
    _put_changes(host, parts, redactor)
    for answer in notes.answers:
        parts.commands.append(
            {
                "argv": [clean(word) for word in answer.argv],
                "returncode": answer.returncode,
                "stdout": clean(answer.stdout),
                "stderr": clean(answer.stderr),
                "seconds": round(answer.seconds, 3),
            }
            | ({"timed_out": True} if answer.timed_out else {})
        )
    return parts


def _topmost_missing(host: Host, path: str) -> str:
    """Return the highest folder of a missing path that is known to be missing too: it says more in one line."""
    while True:
        parent = path.rpartition("/")[0]
        if not parent or host.exists(parent):
            return path
        try:
            host.listdir(parent)
        except NotCaptured:
            return path
        except OSError:
            path = parent


def _put(parts: _Parts, host: Host, redactor: Redactor, path: str, outcome: Outcome) -> None:
    name = redactor.text(path)
    if outcome.error == errno.ENOENT:
        parts.absent.add(redactor.text(_topmost_missing(host, path)))
    elif outcome.error:
        parts.errors[name] = outcome.error
    elif redactor.is_opaque(path):
        parts.unread.add(name)
    else:
        parts.files[name] = redactor.data(outcome.data, path)


def _put_changes(host: RecordingHost, parts: _Parts, redactor: Redactor) -> None:
    changes: list[tuple[float, dict[str, Any]]] = []
    for path, seen in host.notes.files.items():
        name = redactor.text(path)
        for at, outcome in seen.later:
            what: dict[str, Any] = {"path": name[1:]}
            if outcome.error == errno.ENOENT:
                what["absent"] = True
            elif outcome.error:
                what["errno"] = errno_name(outcome.error)
            elif redactor.is_opaque(path):
                continue
            else:
                what["text"] = _change_text(redactor.data(outcome.data, path))
            changes.append((at, what))
    for at, path, target in host.notes.changes:
        name = redactor.text(path)[1:]
        changes.append(
            (at, {"path": name, "link": redactor.text(target)} if target else {"path": name, "absent": True})
        )
    # Rounded down: who reads at that very moment of the replay must find it done.
    parts.changes = [
        {"after_s": math.floor(at * 1000) / 1000, **what} for at, what in sorted(changes, key=lambda change: change[0])
    ]


def _change_text(data: bytes) -> str:
    """Return content as it stands in changes.jsonl, where one newline is added to a text that has none at its end."""
    text = data.decode("utf-8", "surrogateescape")
    return text[:-1] if len(text) > 1 and text[-1] == "\n" != text[-2] else text


def _members(host: RecordingHost, parts: _Parts, redactor: Redactor, release: Mapping[str, str]) -> dict[str, bytes]:
    """Return the files of the capture: name -> bytes."""
    members = {"meta.json": _meta(host, redactor, release)}
    roots = {path: data for path, data in parts.files.items() if not fits(data)}
    members["tree.txt"] = format_tree(_entries(parts, roots)).encode()
    if parts.errors:
        rows = [f"{_row(path)}\t{errno_name(parts.errors[path])}\n" for path in sorted(parts.errors, key=natural_key)]
        members["unreadable.tsv"] = "".join(rows).encode()
    if parts.slow:
        rows = [f"{_row(path)}\t{parts.slow[path]!r}\n" for path in sorted(parts.slow, key=natural_key)]
        members["slow.tsv"] = "".join(rows).encode()
    for name, lines in (("commands.jsonl", parts.commands), ("changes.jsonl", parts.changes)):
        if lines:
            members[name] = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    for path in sorted(roots, key=natural_key):
        members[f"root{path}"] = roots[path]
    return members


def _row(path: str) -> str:
    return escape(os.fsencode(path[1:]), more="#" if path[1:2] == "#" else "")


def _entries(parts: _Parts, roots: Mapping[str, bytes]) -> Iterator[Entry]:
    """Yield the entries of tree.txt: what is implied by another entry is left out."""
    taken = set(parts.links) | set(parts.files) | set(parts.errors)
    unread = parts.unread - taken
    holders = _parents(taken | unread)
    folders = {folder for folder in parts.folders - holders - taken - unread if folder != "/"}
    known = holders | parts.folders | _parents(folders) | {"/"}
    found: dict[str, Entry] = {}
    for path, target in parts.links.items():
        found[path] = Entry(path[1:], Kind.LINK, target=target)
    for path, data in parts.files.items():
        if path not in roots:
            found[path] = Entry(path[1:], Kind.FILE, content=data)
    for path in unread:
        found[path] = Entry(path[1:], Kind.UNREAD)
    for path in folders - _parents(folders):
        found[path] = Entry(path[1:], Kind.FOLDER)
    for path in parts.absent - taken - unread:
        # In a folder of which all is captured, what is not there is absent anyhow.
        if _holder(path, known) in THIN:
            found[path] = Entry(path[1:], Kind.ABSENT)
    for path in sorted(found, key=natural_key):
        yield found[path]


def _parents(paths: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for path in paths:
        while (path := path.rpartition("/")[0]) and path not in found:
            found.add(path)
    return found


def _holder(path: str, known: set[str]) -> str:
    while (path := path.rpartition("/")[0]) and path not in known:
        pass
    return path or "/"


def _os_release(host: RecordingHost) -> dict[str, str]:
    """Return /etc/os-release as a mapping (os-release(5)); it is read through the recorder, and so captured."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in host.read_text("/etc/os-release", 65536).splitlines():
            key, equals, value = line.strip().partition("=")
            if equals and not key.startswith("#"):
                found[key] = value.strip("\"'")
    return found


def _meta(host: RecordingHost, redactor: Redactor, release: Mapping[str, str]) -> bytes:
    kernel = ""
    with contextlib.suppress(OSError):
        kernel = host.host.read_text("/proc/sys/kernel/osrelease", 256).strip()
    meta = {
        "schema": SCHEMA,
        "tool": f"toolkit {__version__}",
        "taken_at": round(host.started_at, 3),
        "kernel": redactor.text(kernel),
        "os_release": {key: redactor.text(value) for key, value in release.items()},
        "uid": host.euid(),
        "environ": {key: redactor.text(host.environ[key]) for key in _KEPT_ENVIRON if key in host.environ},
        "commands_not_found": sorted(redactor.text(name) for name in host.notes.not_found),
        "replaced": redactor.counts(),
    }
    return f"{json.dumps(meta, indent=2)}\n".encode()
