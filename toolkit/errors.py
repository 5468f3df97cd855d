"""The errors of toolkit, and the `Problem` that stands in a model where a value would be.

    ToolkitError            exit status 1   something is wrong, and the message says what
    ├── UsageError          exit status 2   the command line, the configuration or a file given is wrong
    │   └── CaptureError    exit status 2   a capture cannot be read
    ├── MissingError        exit status 3   a tool or a right is missing
    └── ProcedureError      exit status 4   a procedure failed

Faults of the machine are not errors: a probe returns its model with `Problem`s in it.
`NotCaptured` is an OSError, so that code which copes with an absent file copes with it too.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass

EXIT_OK = 0
EXIT_PROBLEM_FOUND = 1
EXIT_USAGE = 2
EXIT_MISSING = 3
EXIT_PROCEDURE = 4
EXIT_INTERRUPTED = 130


class ToolkitError(Exception):
    """An error with one sentence for the person, a hint on what to do, and an exit status."""

    exit_status = EXIT_PROBLEM_FOUND

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ToolkitError):
    """The command line, the configuration or a given file is wrong."""

    exit_status = EXIT_USAGE


class CaptureError(UsageError):
    """A capture is missing, broken or of a schema that this version cannot read."""


class MissingError(ToolkitError):
    """A tool, a right or a device that is needed is not there."""

    exit_status = EXIT_MISSING


class ProcedureError(ToolkitError):
    """A step of a procedure failed."""

    exit_status = EXIT_PROCEDURE


class NotCaptured(FileNotFoundError):
    """The captured machine may have this file or command; the capture does not hold it."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ENOENT, "not captured", path)


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a value is absent: where, for what reason, and what the person can do about it.

    Attributes:
        source: the file, command or subject, for example `/sys/class/powercap`.
        reason: one short clause, for example `needs root`.
        hint: what to do, a command where there is one; empty where nothing can be done.
    """

    source: str
    reason: str
    hint: str = ""
