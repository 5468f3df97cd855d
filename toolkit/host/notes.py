"""What a RecordingHost notes of a machine."""

from __future__ import annotations

import errno
from dataclasses import dataclass, field

from toolkit.host.base import Result

SLOW_S = 0.02
"""A file whose reads take longer is noted as slow; it is the limit beyond which the sampler reads a chip apart."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a look at a path gave: bytes, or an errno (ENOENT: it was not there). `cut`: there may be more bytes."""

    data: bytes = b""
    error: int = 0
    cut: bool = False

    def same(self, other: Outcome) -> bool:
        """True where the two may be looks at the same content."""
        if self.error or other.error:
            return self.error == other.error
        if self.cut and len(self.data) <= len(other.data):
            return other.data.startswith(self.data)
        if other.cut and len(other.data) <= len(self.data):
            return self.data.startswith(other.data)
        return self.data == other.data


ABSENT = Outcome(error=errno.ENOENT)


@dataclass(slots=True)
class Seen:
    """Every look at one path."""

    first: Outcome
    last: Outcome
    took_s: list[float] = field(default_factory=list)
    later: list[tuple[float, Outcome]] = field(default_factory=list)

    @property
    def slow_s(self) -> float:
        """What a look takes as a rule: the middle of all, so that one look at a busy moment does not count."""
        return round(sorted(self.took_s)[len(self.took_s) // 2], 4) if self.took_s else 0.0


@dataclass(slots=True)
class Notes:
    """Everything that was noted. Paths have their links followed.

    Attributes:
        files: looks at files, and at what was not there.
        folders: names in a folder, or the errno of listing it.
        links: targets of links.
        there: paths that are known to be there without a look inside; True for a folder.
        changes: links and removals after the start: seconds, path, target or None.
        answers: answers of commands, in order.
        not_found: commands that are not installed.
    """

    files: dict[str, Seen] = field(default_factory=dict)
    folders: dict[str, list[str] | int] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    there: dict[str, bool] = field(default_factory=dict)
    changes: list[tuple[float, str, str | None]] = field(default_factory=list)
    answers: list[Result] = field(default_factory=list)
    not_found: set[str] = field(default_factory=set)
