"""The file tree of a captured machine, in memory.

Nodes are mutable: a change to a file keeps the node, so that a reader that was opened before sees the new content; a
removed node is marked as gone, so that such a reader fails as sysfs lets it fail (ENODEV).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping

from toolkit.errors import NotCaptured

LINK_LIMIT = 40
"""Links that one look-up follows at most, as the kernel does (path_resolution(7))."""

_THIN = {
    "": "bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var",
    "/dev": "disk",
    "/proc": "sys sys/kernel",
    "/run": "udev",
    "/sys": "block bus class dev devices devices/platform devices/system devices/virtual firmware firmware/acpi fs "
    "kernel module",
    "/usr": "bin lib lib64 libexec local local/bin local/sbin sbin share",
    "/var": "cache lib log",
}

THIN = frozenset(["/"] + [f"{base}/{name}" for base, names in _THIN.items() for name in names.split()])
"""Folders of which a capture holds only what was asked for: what is missing there was not captured, not absent."""


NOT_READ = -1
"""In the place of an errno: the file is there, its content was not captured."""


class FileNode:
    """A file: its bytes, or how to load them, or the errno that reading it gives."""

    __slots__ = ("data", "error", "gone", "load", "slow_s")

    def __init__(
        self, data: bytes = b"", error: int = 0, slow_s: float = 0.0, load: Callable[[], bytes] | None = None
    ) -> None:
        self.data = data
        self.error = error
        self.slow_s = slow_s
        self.load = load
        self.gone = False

    def content(self) -> bytes:
        """Return the bytes. Raises OSError where they are on a disk that fails."""
        if self.load is not None:
            self.data = self.load()
            self.load = None
        return self.data


class LinkNode:
    """A symbolic link."""

    __slots__ = ("target",)

    def __init__(self, target: str) -> None:
        self.target = target


class FolderNode:
    """A folder; `error` is the errno that listing it or passing through it gives."""

    __slots__ = ("children", "error")

    def __init__(self) -> None:
        self.children: dict[str, Node] = {}
        self.error = 0


Node = FileNode | LinkNode | FolderNode


def split(path: str) -> list[str]:
    """Return the parts of a path."""
    return [part for part in path.split("/") if part not in ("", ".")]


def failure(number: int, path: str) -> OSError:
    """Return the OSError (of the fitting subclass) for an errno, NotCaptured for NOT_READ."""
    if number == NOT_READ:
        return NotCaptured(path)
    return OSError(number, os.strerror(number), path)


class Tree:
    """Files, links and folders below `/`, and the paths that are known not to be there."""

    def __init__(self) -> None:
        self.root = FolderNode()
        self.absent: set[str] = set()

    def find(self, path: str, follow: bool = True) -> Node:
        """Return the node at a path. Raises OSError, NotCaptured.

        Args:
            follow: follow a link in the last part too.
        """
        return self.locate(path, follow)[1]

    def locate(self, path: str, follow: bool = True) -> tuple[list[str], Node]:
        """Return the parts of the path with all links followed, and the node there. Raises OSError, NotCaptured."""
        names, node, rest = self._walk(path, follow)
        if node is None:
            raise self._missing(path, names, rest)
        return names, node

    def realpath(self, path: str) -> str:
        """Return the path with links followed as far as the tree knows. Never raises."""
        try:
            names, _, rest = self._walk(path, True)
        except OSError:
            return "/" + "/".join(split(path))
        for part in rest:
            if part != "..":
                names.append(part)
            elif names:
                names.pop()
        return "/" + "/".join(names)

    def _walk(self, path: str, follow: bool) -> tuple[list[str], Node | None, list[str]]:
        """Return the parts found, the node there or None, and the parts that were not found."""
        pending = split(path)
        pending.reverse()
        names: list[str] = []
        trail: list[Node] = [self.root]
        links = 0
        while pending:
            part = pending.pop()
            node = trail[-1]
            if not isinstance(node, FolderNode):
                raise failure(errno.ENOTDIR, path)
            if part == "..":
                if names:
                    names.pop()
                    trail.pop()
                continue
            if node.error:
                raise failure(node.error, path)
            child = node.children.get(part)
            if child is None:
                pending.append(part)
                pending.reverse()
                return names, None, pending
            if isinstance(child, LinkNode) and (pending or follow):
                links += 1
                if links > LINK_LIMIT:
                    raise failure(errno.ELOOP, path)
                if child.target.startswith("/"):
                    names.clear()
                    del trail[1:]
                pending.extend(reversed(split(child.target)))
                continue
            names.append(part)
            trail.append(child)
        return names, trail[-1], []

    def _missing(self, path: str, names: list[str], rest: list[str]) -> OSError:
        prefix = "/".join(names)
        for part in rest:
            prefix = f"{prefix}/{part}" if prefix else part
            if prefix in self.absent:
                return failure(errno.ENOENT, path)
        if "/" + "/".join(names) in THIN:
            return NotCaptured(path)
        return failure(errno.ENOENT, path)

    def listdir(self, path: str) -> Iterable[str]:
        """Return the names in a folder, in no order. Raises OSError, NotCaptured."""
        node = self.find(path)
        if isinstance(node, LinkNode):
            raise failure(errno.ELOOP, path)
        if node.error:
            raise failure(node.error, path)
        if not isinstance(node, FolderNode):
            raise failure(errno.ENOTDIR, path)
        return list(node.children)

    def readlink(self, path: str) -> str:
        """Return the target of a link. Raises OSError, NotCaptured."""
        node = self.find(path, follow=False)
        if not isinstance(node, LinkNode):
            raise failure(errno.EINVAL, path)
        return node.target

    def folder(self, path: str) -> FolderNode:
        """Return the folder at a path; it and its parents are made where they are missing. Raises OSError."""
        node = self._make(split(path), path)[1]
        if not isinstance(node, FolderNode):
            raise failure(errno.ENOTDIR, path)
        return node

    def _make(self, parts: list[str], path: str) -> tuple[list[str], Node]:
        """Walk along the parts, make the folders that are missing, follow links even to what is not there yet."""
        pending = parts[::-1]
        names: list[str] = []
        trail: list[Node] = [self.root]
        links = 0
        while pending:
            part = pending.pop()
            if part == "..":
                if names:
                    names.pop()
                    trail.pop()
                continue
            node = trail[-1]
            if not isinstance(node, FolderNode):
                raise failure(errno.ENOTDIR, path)
            child = node.children.get(part)
            if isinstance(child, LinkNode):
                links += 1
                if links > LINK_LIMIT:
                    raise failure(errno.ELOOP, path)
                if child.target.startswith("/"):
                    names.clear()
                    del trail[1:]
                pending.extend(reversed(split(child.target)))
                continue
            if child is None:
                child = node.children[part] = FolderNode()
            names.append(part)
            trail.append(child)
            if self.absent:
                self.absent.discard("/".join(names))
        return names, trail[-1]

    def _place(self, path: str) -> tuple[FolderNode, str, Node | None]:
        """Return the folder, the name in it, and what is there now, for something to be put at a path."""
        parts = split(path)
        links = 0
        while True:
            if not parts or parts[-1] == "..":
                raise failure(errno.EISDIR, path)
            names, parent = self._make(parts[:-1], path)
            if not isinstance(parent, FolderNode):
                raise failure(errno.ENOTDIR, path)
            name = parts[-1]
            child = parent.children.get(name)
            if not isinstance(child, LinkNode):
                self.absent.discard("/".join([*names, name]))
                return parent, name, child
            links += 1
            if links > LINK_LIMIT:
                raise failure(errno.ELOOP, path)
            target = split(child.target)
            parts = target if child.target.startswith("/") else names + target

    def file(self, path: str) -> FileNode:
        """Return the file at a path (through links); it is made, empty, where it is missing. Raises OSError."""
        parent, name, child = self._place(path)
        if isinstance(child, FolderNode):
            raise failure(errno.EISDIR, path)
        if not isinstance(child, FileNode):
            child = parent.children[name] = FileNode()
        return child

    def put_file(self, path: str, data: bytes = b"", error: int = 0, slow_s: float = 0.0) -> FileNode:
        """Set what a file gives when it is read. Raises OSError where a folder is in the way."""
        node = self.file(path)
        node.data, node.error, node.slow_s, node.load = data, error, slow_s, None
        return node

    def put_link(self, path: str, target: str) -> None:
        """Make a link, in place of what is there. Raises OSError."""
        parts = split(path)
        names, parent = self._make(parts[:-1], path)
        if not parts or not isinstance(parent, FolderNode):
            raise failure(errno.ENOTDIR, path)
        old = parent.children.get(parts[-1])
        if old is not None:
            mark_gone(old)
        parent.children[parts[-1]] = LinkNode(target)
        self.absent.discard("/".join([*names, parts[-1]]))

    def put_error(self, path: str, number: int, slow_s: float = 0.0) -> None:
        """Let reading a file, or listing a folder, fail with an errno. Raises OSError."""
        try:
            node = self.find(path)
        except FileNotFoundError:
            node = self.file(path)
        if isinstance(node, (FileNode, FolderNode)):
            node.error = number
        if isinstance(node, FileNode):
            node.slow_s = slow_s

    def remove(self, path: str) -> None:
        """Take a file, a link (not what it points to) or a folder with all in it away; note it as absent."""
        try:
            names, _, rest = self._walk(path, False)
        except OSError:
            return
        self.absent.add("/".join(names + rest))
        if rest or not names:
            return
        parent = self.find("/" + "/".join(names[:-1]))
        if isinstance(parent, FolderNode):
            mark_gone(parent.children.pop(names[-1]))

    def files(self) -> Iterator[tuple[str, FileNode]]:
        """Yield every file with its path, links not followed; for tests and for the writer of captures."""
        for path, node in self.nodes():
            if isinstance(node, FileNode):
                yield path, node

    def nodes(self) -> Iterator[tuple[str, Node]]:
        """Yield every node with its path, links not followed, folders before what is in them."""
        waiting: list[tuple[str, Mapping[str, Node]]] = [("", self.root.children)]
        while waiting:
            base, children = waiting.pop()
            for name, node in children.items():
                path = f"{base}/{name}"
                yield path, node
                if isinstance(node, FolderNode):
                    waiting.append((path, node.children))


def mark_gone(node: Node) -> None:
    """Mark every file at and below a node as removed."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, FileNode):
            current.gone = True
        elif isinstance(current, FolderNode):
            waiting.extend(current.children.values())
