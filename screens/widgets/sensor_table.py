"""The table of sensors: columns for a width, and each row as text with inks. Pure.

Numbers are right-aligned in columns of fixed width, units stand beside them, and where a sensor gives no value the
reason stands in its place. Limits that the chip tells decide on warm and hot; a person's own threshold is told apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from screens.format import DASH, Heat, fit, heat, shorten
from screens.widgets.bar import FINE, Blocks, bar, share_of
from screens.widgets.canvas import Piece, Row
from toolkit.sensors.history import Extent
from toolkit.sensors.model import Quantity, Reading, State
from toolkit.text import printable

NUMBER = 6
UNIT = 4
LEAD = 3
_DIGITS = {
    Quantity.TEMPERATURE: 0,
    Quantity.FAN: 0,
    Quantity.VOLTAGE: 2,
    Quantity.CURRENT: 2,
    Quantity.POWER: 1,
    Quantity.ENERGY: 0,
    Quantity.HUMIDITY: 0,
}
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns for one width; a width of 0 leaves a column out.

    Attributes:
        width: of a whole row.
        name, mean, minimum, limit, crit, bar, state: cells of each column.
    """

    width: int
    name: int
    minimum: int
    mean: int
    limit: int
    crit: int
    bar: int
    state: int

    @property
    def values(self) -> int:
        """Cells right of the name: where a reason has its place."""
        return self.width - LEAD - self.name


def plan_columns(width: int) -> Columns:
    """Return the columns for a width: a bar and the mean from 72 cells on, `crit` and longer words from 92 on."""
    if width < 72:
        state = 8
        name = max(1, width - LEAD - NUMBER - UNIT - 3 * NUMBER - 1 - state)
        return Columns(width, name, NUMBER, 0, NUMBER, 0, 0, state)
    crit = NUMBER if width >= 92 else 0
    state = 11 if width >= 92 else 7
    left = width - LEAD - NUMBER - UNIT - 4 * NUMBER - crit - 2 - state
    name = min(40, max(20, left * 2 // 3 if left < 40 else left // 2))
    drawn = min(60, left - name)
    return Columns(width, name, NUMBER, NUMBER, NUMBER, crit, drawn, state + left - name - drawn)


def figure(value: float | None, quantity: Quantity) -> str:
    """Return a value in at most six cells: whole degrees and rpm, two digits of a volt, `1.23M` for a million."""
    if value is None or not math.isfinite(value):
        return DASH
    digits = _DIGITS[quantity]
    rounded = math.floor(value + 0.5) if digits == 0 and abs(value) < 1e15 else value
    text = f"{rounded:.{digits}f}"
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    if len(text) <= NUMBER - 1:
        return text
    for size, prefix in _PREFIXES:
        if abs(value) >= size:
            scaled = value / size
            return f"{scaled:.{0 if abs(scaled) >= 99.5 else 1}f}{prefix}" if abs(scaled) < 9999 else f">9{prefix}"
    return text[:NUMBER]


def header_row(columns: Columns, title: str = "SENSOR", right: Sequence[str] = ()) -> Row:
    """Return the head of the table; °C stands in it, other units beside their values.

    Of `right`, the first for which there is room stands at the right end.
    """
    names = [("NOW", NUMBER), ("°C", UNIT), ("MIN", columns.minimum), ("MEAN", columns.mean), ("MAX", NUMBER)]
    names += [("LIMIT", columns.limit), ("CRIT", columns.crit)]
    text = " " * LEAD + fit(title, columns.name)
    for name, width in names:
        text += f" {name}".ljust(width) if name == "°C" else name.rjust(width) if width else ""
    room = columns.width - cell_len(text)
    tail = next((words for words in right if cell_len(words) <= room - 2), "")
    return ((f"{text}{' ' * (room - cell_len(tail) - 1)}{tail} "[: columns.width] if room > 0 else text, "dim"),)


@dataclass(frozen=True, slots=True)
class RowFacts:
    """What a row shows.

    Attributes:
        name: what the person calls the sensor; already printable.
        reading: the newest one.
        extent: minimum, mean, maximum since zero; None where nothing was seen.
        threshold: the person's own, or None.
        judged: the chip's limit decides on warm and hot; False for a control value beside the true one.
        dimmed: the row is hidden and only shown because all are.
        count: how many sensors the row stands for.
        indent: cells before the name.
    """

    name: str
    reading: Reading
    extent: Extent | None = None
    threshold: float | None = None
    judged: bool = True
    dimmed: bool = False
    count: int = 1
    indent: int = 2


def sensor_row(facts: RowFacts, columns: Columns, selected: bool = False, blocks: Blocks = FINE) -> Row:
    """Return one row, exactly as wide as the columns."""
    reading = facts.reading
    lead = f" {blocks.cursor} " if selected else " " * LEAD
    name = lead + fit(" " * facts.indent + facts.name, columns.name)
    name_ink = "faint" if facts.dimmed else "select" if selected else ""
    if reading.value is None:
        words, ink = reason_words(reading)
        if facts.count > 1:
            words = f"{words}  ({facts.count} sensors)"
        return ((name, name_ink), ("  " + fit(shorten(words, columns.values - 3), columns.values - 2), ink))
    judged = judge_row(facts)
    words, ink = state_words(facts, judged, columns.state)
    limit = reading.sensor.bar_limit
    loud = "faint" if facts.dimmed else judged.ink if judged.glyph else ""
    shown = figure(reading.value, reading.sensor.quantity)
    # Blanks stand in pieces of a plain ink: without colours some inks are underlined.
    pieces: list[Piece] = [
        (name + " " * (NUMBER - len(shown)), name_ink),
        (shown, loud or "strong"),
        (f"{_numbers(facts, columns)} ", "faint" if facts.dimmed else "dim"),
    ]
    room = columns.state
    if columns.bar:
        drawn = bar(share_of(reading.value, limit), columns.bar, blocks).rstrip()
        if drawn:
            pieces.append((drawn, "faint" if facts.dimmed else f"{judged.ink}+fill"))
        rest = " " * (columns.bar - len(drawn))
        if facts.threshold is not None:
            rest = _with_threshold(rest, share_of(facts.threshold, limit), columns.bar, blocks)
        pieces.append((f"{rest} ", "dim"))
    if facts.dimmed:
        words, ink = "hidden", "dim"
    words = fit(words, room).rstrip()
    return (*pieces, (words, ink), (" " * (room - cell_len(words)), ""))


def _numbers(facts: RowFacts, columns: Columns) -> str:
    """Return what stands between the value and the bar, as one text: unit, minimum, mean, maximum, limits."""
    sensor, extent = facts.reading.sensor, facts.extent
    quantity = sensor.quantity
    unit = "" if quantity is Quantity.TEMPERATURE else quantity.symbol
    text = f" {unit}".ljust(UNIT)
    if quantity is Quantity.ENERGY:
        text += " " * (columns.minimum + columns.mean + NUMBER)  # a counter that only grows has no extent
    else:
        lowest, mean, highest = (extent.minimum, extent.mean, extent.maximum) if extent else (None, None, None)
        text += figure(lowest, quantity).rjust(columns.minimum)
        text += figure(mean, quantity).rjust(columns.mean) if columns.mean else ""
        text += figure(highest, quantity).rjust(NUMBER)
    limit = sensor.bar_limit
    text += (figure(limit, quantity) if limit is not None else "").rjust(columns.limit)
    if columns.crit:
        crit = sensor.limits.crit
        text += (figure(crit, quantity) if crit is not None else "").rjust(columns.crit)
    return text


def _with_threshold(rest: str, share: float | None, width: int, blocks: Blocks) -> str:
    """Put the mark of a person's own threshold into what is left of a bar, where the bar does not cover it."""
    at = -1 if share is None else min(width - 1, int(share * width)) - (width - len(rest))
    return rest[:at] + blocks.mark + rest[at + 1 :] if 0 <= at < len(rest) else rest


def judge_row(facts: RowFacts) -> Heat:
    """Judge a value by the limit that its chip tells; temperatures only."""
    reading = facts.reading
    if not facts.judged or reading.sensor.quantity is not Quantity.TEMPERATURE:
        return Heat.UNKNOWN
    return heat(reading.value, reading.sensor.bar_limit)


def is_over(value: float | None, threshold: float | None) -> bool:
    """True where a value has reached the person's own threshold."""
    return value is not None and threshold is not None and value >= threshold


def state_words(facts: RowFacts, judged: Heat, width: int) -> tuple[str, str]:
    """Return the last column of a row that has a value, and its ink: glyph and word."""
    reading = facts.reading
    if reading.state is State.SLOW:
        return (f"~ {reading.age_s:.0f} s old" if width >= 10 else f"~ {reading.age_s:.0f} s"), "dim"
    if judged is Heat.HOT:
        return "!! hot", "bad"
    if is_over(reading.value, facts.threshold):
        over = figure(facts.threshold, reading.sensor.quantity)
        return (f"! over {over}" if width >= 10 else f"! >{over}"), "warn"
    if judged.word:
        return f"{judged.glyph} {judged.word}".strip(), judged.ink
    if not facts.judged and width >= 10:
        return "control", "dim"
    return "", ""


_GLYPHS: dict[State, tuple[str, str, str]] = {
    State.OK: ("", "", "dim"),
    State.FAULT: ("x", "fault", "bad"),
    State.DISABLED: ("-", "switched off", "dim"),
    State.UNREADABLE: ("-", "", "warn"),
    State.IMPLAUSIBLE: ("?", "implausible", "warn"),
    State.ASLEEP: ("~", "", "dim"),
    State.SLOW: ("~", "slow", "dim"),
    State.GONE: ("x", "", "warn"),
}
_DEFAULTS = {State.UNREADABLE: "not readable", State.ASLEEP: "asleep, not read", State.GONE: "gone", State.OK: DASH}


def reason_words(reading: Reading) -> tuple[str, str]:
    """Return what stands in a row that has no value, and its ink: `- ENODATA: radio off`, `~ asleep, not read`."""
    glyph, word, ink = _GLYPHS[reading.state]
    reason = printable(reading.reason) if reading.reason else ""
    if word and reason.startswith(word):
        word = ""
    words = ": ".join(part for part in (word, reason) if part) or _DEFAULTS.get(reading.state, "")
    return f"{glyph} {words}".strip(), ink


def heading_row(title: str, note: str, width: int) -> Row:
    """Return the line above the sensors of a chip."""
    right = f"{note} " if note else ""
    room = max(0, width - LEAD - len(right))
    return ((" " * LEAD + fit(title, room), "title"), (right, "dim"))


def note_row(text: str, width: int) -> Row:
    """Return a quiet line that nothing can be done with."""
    return ((fit(" " * LEAD + text, width), "dim"),)
