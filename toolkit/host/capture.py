"""Reading a capture: a folder or a .tar.gz with `meta.json` and what was found on a machine.

assets/schema/capture.md describes the format. Only a missing or unreadable meta.json, and a schema that this version
does not know, are errors; any other bad line is left out and becomes a `Problem`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from toolkit.errors import CaptureError, Problem
from toolkit.host.capturelines import Answer, Change, answer, change, number, parse_lines
from toolkit.host.capturemeta import CAPTURE_HINT, Meta, parse_meta
from toolkit.host.tree import NOT_READ, FileNode, FolderNode, Tree, failure
from toolkit.host.treetext import BadLine, Kind, clean_path, errno_number, parse_tree, unescape
from toolkit.text import printable


class Source(Protocol):
    """Where the files of a capture lie."""

    name: str

    def read(self, name: str) -> bytes | None:
        """Return one of the capture's own files (`meta.json`), None where it is not there. Raises CaptureError."""
        ...

    def fill(self, tree: Tree) -> list[Problem]:
        """Put everything below root/ into the tree."""
        ...


@dataclass(slots=True)
class Capture:
    """Everything that a capture holds."""

    name: str
    meta: Meta
    tree: Tree
    answers: list[Answer]
    changes_text: bytes
    problems: list[Problem]

    def changes(self) -> list[Change]:
        """Parse changes.jsonl, in the order of time; what is wrong in it is added to `problems`."""
        where = f"{self.name}/changes.jsonl"
        changes = parse_lines(self.changes_text, where, change, self.problems)
        changes.sort(key=lambda entry: entry.after_s)
        loop_s = self.meta.loop_s
        if loop_s and changes and changes[-1].after_s > loop_s:
            late = f"changes after loop_s ({loop_s:g} s) never happen"
            self.problems.append(Problem(where, late, "raise loop_s in meta.json"))
            changes = [entry for entry in changes if entry.after_s <= loop_s]
        return changes


class FolderSource:
    """A capture that is a folder. Files below root/ are read when they are asked for."""

    def __init__(self, path: str) -> None:
        self.name = printable(path, 4096)
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
            raise CaptureError(
                f"{printable(path, 4096)} cannot be read: {error.strerror}", "look at its permissions"
            ) from error

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
                problems.append(
                    Problem(printable(folder, 4096), f"cannot be listed: {error.strerror}", "look at its permissions")
                )
                continue
            for entry in entries:
                path = f"{base}/{entry.name}"
                try:
                    if _plant_entry(tree, entry, path):
                        waiting.append((entry.path, path))
                except OSError as error:
                    problems.append(_in_the_way(printable(entry.path, 4096), path, error))
        return problems


def _plant_entry(tree: Tree, entry: os.DirEntry[str], path: str) -> bool:
    """Put one entry of a folder below root/ into the tree; True where it is a folder. Raises OSError."""
    if entry.is_symlink():
        tree.put_link(path, os.readlink(entry.path))
    elif entry.is_dir():
        tree.folder(path)
        return True
    elif entry.is_file():
        tree.put_file(path).load = _loader(entry.path)
    else:
        raise OSError(0, "neither a file, a folder nor a link", entry.path)
    return False


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
        shown = printable(path, 4096)
        raise CaptureError(
            f"{shown}: there is no such capture", "give a folder or a .tar.gz that toolkit capture wrote"
        )
    from toolkit.host.archive import ArchiveSource

    return ArchiveSource(path)


def load_capture(path: str) -> Capture:
    """Read a capture. Raises CaptureError where meta.json is missing, broken or of another schema."""
    source = open_source(path)
    problems: list[Problem] = []
    text = source.read("meta.json")
    if text is None:
        raise CaptureError(f"{source.name} is no capture: it has no meta.json", CAPTURE_HINT)
    meta = parse_meta(text, f"{source.name}/meta.json", problems)
    tree = Tree()
    text = source.read("tree.txt")
    if text is not None:
        _plant(tree, text, f"{source.name}/tree.txt", problems)
    problems += source.fill(tree)
    _unreadable(source, tree, problems)
    _slow(source, tree, problems)
    _from_meta(tree, meta)
    answers = parse_lines(source.read("commands.jsonl") or b"", f"{source.name}/commands.jsonl", answer, problems)
    return Capture(source.name, meta, tree, answers, source.read("changes.jsonl") or b"", problems)


def _plant(tree: Tree, text: bytes, where: str, problems: list[Problem]) -> None:
    entries, bad = parse_tree(text, where)
    problems += bad
    # Links first, the shallow ones before the deep ones: a line may lead through a link that stands further down.
    links = sorted((entry for entry in entries if entry.kind is Kind.LINK), key=lambda entry: entry.path.count("/"))
    folders: dict[str, FolderNode] = {}
    for entry in links + [entry for entry in entries if entry.kind is not Kind.LINK]:
        try:
            if entry.kind is Kind.LINK:
                tree.put_link(entry.path, entry.target)
            elif entry.kind is Kind.FOLDER:
                tree.folder(entry.path)
            elif entry.kind is Kind.ABSENT:
                tree.remove(entry.path)
            else:
                error = NOT_READ if entry.kind is Kind.UNREAD else entry.error
                folder, _, name = entry.path.rpartition("/")
                place = folders.get(folder)
                if place is None:
                    place = folders[folder] = tree.folder(folder)
                if name in place.children or tree.absent:
                    tree.put_file(entry.path, entry.content, error, entry.slow_s)
                else:
                    place.children[name] = FileNode(entry.content, error, entry.slow_s)
        except OSError as error:
            problems.append(_in_the_way(f"{where}:{entry.line}", entry.path, error))


def _in_the_way(where: str, path: str, error: OSError) -> Problem:
    return Problem(where, f"{printable(path)}: {error.strerror}", "give that path once, as a file, a link or a folder")


def _rows(source: Source, name: str, problems: list[Problem]) -> list[tuple[str, str, str]]:
    """Return (where, path, value) for each line of a .tsv."""
    data = source.read(name)
    rows: list[tuple[str, str, str]] = []
    for count, raw in enumerate((data or b"").split(b"\n"), 1):
        where = f"{source.name}/{name}:{count}"
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
            seconds = number(float(value))
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
            problems.append(
                Problem(where, f"{printable(path)} is no file of this capture", "remove the line or add the file")
            )


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
