"""What a check of `toolkit doctor` finds, as frozen values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from toolkit.errors import EXIT_MISSING, EXIT_OK, EXIT_PROBLEM_FOUND


class Verdict(Enum):
    """How a check ended; the value is the mark that a person reads."""

    OK = "ok"
    NOTE = "-"
    """Something is not to be had here, and that does no harm."""
    UNKNOWN = "?"
    """The capture does not say."""
    CARE = "!"
    """Works, but worse than it could."""
    MISSING = "x"
    """Something needed is not there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Attributes:
        subject: what was looked at, two or three words.
        text: what was found, one clause.
        hint: what to do, a command where there is one; empty where nothing is to be done.
    """

    verdict: Verdict
    subject: str
    text: str
    hint: str = ""


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(Verdict.OK, subject, text)


def note(subject: str, text: str, hint: str = "") -> Finding:
    """Something is not to be had, without harm."""
    return Finding(Verdict.NOTE, subject, text, hint)


def care(subject: str, text: str, hint: str = "") -> Finding:
    """Something needs care."""
    return Finding(Verdict.CARE, subject, text, hint)


def exit_status(findings: Iterable[Finding]) -> int:
    """0, 1 where something needs care, 3 where something needed is missing."""
    verdicts = {finding.verdict for finding in findings}
    if Verdict.MISSING in verdicts:
        return EXIT_MISSING
    return EXIT_PROBLEM_FOUND if Verdict.CARE in verdicts else EXIT_OK
