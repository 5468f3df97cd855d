"""How values look on every screen: fixed widths, units, glyph and word for each state.

State is never told by colour alone: glyph, word and ink go together.
"""

from __future__ import annotations

import math
from enum import Enum

from rich.cells import cell_len, set_cell_size

from toolkit.sensors.clean import heat_word, whole
from toolkit.sensors.model import Reading, State
from toolkit.text import printable

DASH = "--"
"""Stands where a number is not known."""


class Severity(Enum):
    """How bad what a sentence says is; the value is the ink."""

    OK = "ok"
    """Nothing is wrong."""
    NOTE = ""
    """Neither good nor bad: still looking, not known."""
    WARN = "warn"
    """Needs care."""
    BAD = "bad"
    """Something is wrong now."""

    @property
    def glyph(self) -> str:
        """The mark that says the same without colour."""
        return {Severity.OK: "", Severity.NOTE: "", Severity.WARN: "!", Severity.BAD: "!!"}[self]


class Heat(Enum):
    """How near a temperature is to its limit."""

    UNKNOWN = ("", "", "")
    CALM = ("", "ok", "ok")
    WARM = ("!", "warm", "warn")
    HOT = ("!!", "hot", "bad")

    @property
    def glyph(self) -> str:
        """The mark before the word; empty while calm."""
        return self.value[0]

    @property
    def word(self) -> str:
        """`ok`, `warm`, `hot`, or nothing where no limit is known."""
        return self.value[1]

    @property
    def ink(self) -> str:
        """The ink of word and bar."""
        return self.value[2]


def heat(celsius: float | None, limit_celsius: float | None) -> Heat:
    """Judge a temperature against a measured limit: hot from 7 degrees below it on, warm from 15 on."""
    if celsius is None or limit_celsius is None:
        return Heat.UNKNOWN
    return {"hot": Heat.HOT, "warm": Heat.WARM}.get(heat_word(celsius, limit_celsius), Heat.CALM)


_STATES: dict[State, tuple[str, str, str]] = {
    State.OK: ("", "ok", "ok"),
    State.FAULT: ("x", "FAULTED", "bad"),
    State.DISABLED: ("-", "switched off", "dim"),
    State.UNREADABLE: ("-", "not readable", "warn"),
    State.IMPLAUSIBLE: ("?", "implausible", "warn"),
    State.ASLEEP: ("~", "asleep", "dim"),
    State.SLOW: ("~", "slow", "dim"),
    State.GONE: ("x", "gone", "warn"),
}


def state_words(reading: Reading, limit_celsius: float | None = None) -> tuple[str, str]:
    """Return what stands in the row for a reading's state, and its ink: `("!! hot", "bad")`.

    `limit_celsius` is what the value is judged by: the chip's own limit, or the person's.
    """
    if reading.state is State.OK:
        if reading.value is None or limit_celsius is None:
            return "", ""
        judged = heat(reading.value, limit_celsius)
        return f"{judged.glyph} {judged.word}".strip(), judged.ink
    glyph, word, ink = _STATES[reading.state]
    reason = f": {printable(reading.reason)}" if reading.reason else ""
    return f"{glyph} {word}{reason}", ink


def number(value: float | None, width: int = 0, digits: int = 0) -> str:
    """Return a number right-aligned in `width` cells, rounded like the headline; dashes where there is none."""
    if value is None or not math.isfinite(value):
        return DASH.rjust(width)
    return (f"{value:z.{digits}f}" if digits else str(whole(value))).rjust(width)


def celsius(value: float | None, width: int = 0) -> str:
    """Return whole degrees with the unit: `54 °C`, or dashes."""
    text = number(value)
    return (text if text == DASH else f"{text} °C").rjust(width)


def watts(value: float | None, width: int = 0) -> str:
    """Return watts with one digit: `9.2 W`."""
    return (DASH if value is None else f"{number(value, digits=1)} W").rjust(width)


def gigahertz(mhz: float | None, width: int = 0) -> str:
    """Return a clock in GHz with one digit: `1.9 GHz`."""
    return (DASH if mhz is None else f"{number(mhz / 1000, digits=1)} GHz").rjust(width)


def percent(value: float | None, width: int = 0) -> str:
    """Return whole percent: `83 %`."""
    return (DASH if value is None else f"{number(value)} %").rjust(width)


def duration(seconds: float) -> str:
    """Return `02:14`, or `1:02:14` from an hour on."""
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes:02d}:{left:02d}"


def ago(seconds: float) -> str:
    """Return how long ago something was, for a sentence: `12 s`, `5 min`, `3 h`."""
    if seconds < 90:
        return f"{max(0, int(seconds))} s"
    return f"{int(seconds / 60)} min" if seconds < 5400 else f"{int(seconds / 3600)} h"


def fit(text: str, width: int) -> str:
    """Return text cut (with an ellipsis) or filled to exactly `width` cells; wide characters count as two."""
    if width <= 0:
        return ""
    return set_cell_size(shorten(text, width), width)


def shorten(text: str, width: int) -> str:
    """Return text cut to at most `width` cells, with an ellipsis where something is missing."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    cut = set_cell_size(text, width - 1).rstrip() if width > 1 else ""
    return f"{cut}…"
