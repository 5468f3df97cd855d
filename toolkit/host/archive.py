"""A capture in a .tar.gz, read into memory. Nothing is ever unpacked to a disk."""

from __future__ import annotations

import tarfile
import zlib

from toolkit.errors import CaptureError, Problem
from toolkit.host.tree import Tree
from toolkit.text import printable

SIZE_LIMIT = 256 << 20
"""Bytes that a capture may unpack to; captures have some hundred kilobytes."""

COUNT_LIMIT = 200_000
"""Files that a capture may have."""


class ArchiveSource:
    """A capture that is a .tar.gz (or a .tar of another compression that Python knows).

    Raises CaptureError where the file is no archive, is damaged, or holds paths that lead outside.
    """

    def __init__(self, path: str) -> None:
        self.name = shown = printable(path, 4096)
        self._files: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._folders: list[str] = []
        self._problems: list[Problem] = []
        try:
            with tarfile.open(path, "r:*") as archive:
                self._load(archive)
        except tarfile.ReadError as error:
            hint = "give a folder or a .tar.gz that toolkit capture wrote"
            if _begins_gzip(path):
                raise CaptureError(f"{shown} is damaged or cut short", "copy it again") from error
            raise CaptureError(f"{shown} is no capture", hint) from error
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as error:
            raise CaptureError(f"{shown} is damaged or cut short", "copy it again") from error
        except OSError as error:
            # gzip's BadGzipFile and lzma's errors have no strerror.
            reason = f"cannot be read: {error.strerror}" if error.strerror else "is damaged or cut short"
            raise CaptureError(f"{shown} {reason}", "copy it again, or look at its permissions") from error
        self._strip_top()

    def _load(self, archive: tarfile.TarFile) -> None:
        size = 0
        for count, member in enumerate(archive):
            size += member.size
            if size > SIZE_LIMIT or count >= COUNT_LIMIT:
                raise CaptureError(f"{self.name} unpacks to more than a capture ever has", "it is not opened")
            name = self._inside(member.name)
            if not name:
                continue
            if member.isdir():
                self._folders.append(name)
            elif member.issym():
                self._links[name] = member.linkname
            elif member.islnk():
                self._files[name] = self._files.get(self._inside(member.linkname), b"")
            elif member.isfile():
                file = archive.extractfile(member)
                self._files[name] = file.read() if file is not None else b""
            else:
                self._problems.append(
                    Problem(f"{self.name}: {printable(name)}", "neither a file, a folder nor a link", "remove it")
                )

    def _inside(self, name: str) -> str:
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts:
            raise CaptureError(f"{self.name} holds a path that leads outside it: {name[:80]!r}", "it is not opened")
        return "/".join(parts)

    def _strip_top(self) -> None:
        """Take away the folder that the capture lies in, where it lies in one."""
        metas = [name for name in self._files if name == "meta.json" or name.endswith("/meta.json")]
        metas = [name for name in metas if "root" not in name.split("/")[:-1]]
        if not metas:
            return
        top = min(metas, key=lambda name: name.count("/")).removesuffix("meta.json")
        if top:
            self._files = {name[len(top) :]: data for name, data in self._files.items() if name.startswith(top)}
            self._links = {name[len(top) :]: link for name, link in self._links.items() if name.startswith(top)}
            self._folders = [name[len(top) :] for name in self._folders if name.startswith(top)]

    def read(self, name: str) -> bytes | None:
        """Return one of the capture's own files, None where it is not there."""
        return self._files.get(name)

    def fill(self, tree: Tree) -> list[Problem]:
        """Put everything below root/ into the tree."""
        problems = list(self._problems)
        for name in sorted(self._links):
            if name.startswith("root/"):
                tree.put_link(name[5:], self._links[name])
        for name in self._folders:
            if name.startswith("root/"):
                tree.folder(name[5:])
        for name, data in self._files.items():
            if not name.startswith("root/"):
                continue
            try:
                tree.put_file(name[5:], data)
            except OSError as error:
                problems.append(
                    Problem(f"{self.name}: {printable(name)}", f"{error.strerror}", "make the capture anew")
                )
        return problems


def _begins_gzip(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:
        return False
