"""All that is known of the selected row, as rows of text. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from screens.format import fit, number
from screens.temperatures_list import Entry
from screens.widgets.canvas import Piece, Row
from screens.widgets.sensor_table import RowFacts, figure, judge_row, reason_words, state_words
from toolkit.sensors.model import Limits, Quantity, Reading, State
from toolkit.text import printable

KEY = 10
_LIMIT_WORDS = (
    ("max", "Max"),
    ("max_hyst", "Max until"),
    ("crit", "Critical"),
    ("crit_hyst", "Crit until"),
    ("emergency", "Emergency"),
    ("min", "Min"),
    ("lcrit", "Low crit"),
)
_RAW_UNITS = {
    Quantity.TEMPERATURE: "m°C",
    Quantity.FAN: "rpm",
    Quantity.VOLTAGE: "mV",
    Quantity.CURRENT: "mA",
    Quantity.POWER: "µW",
    Quantity.ENERGY: "µJ",
    Quantity.HUMIDITY: "m%",
}


def detail_rows(entry: Entry | None, facts: RowFacts | None, width: int, height: int) -> list[Row]:
    """Return `height` rows of `width` cells; the first is the name, under a rule where it stands alone."""
    rows: list[Row] = []
    if entry is None or facts is None:
        rows.append(((fit("Nothing is selected.", width), "dim"),))
    else:
        for key, value, ink in _lines(entry, facts):
            rows += _wrapped(key, value, ink, width)
    del rows[height:]
    return rows + [((" " * width, ""),)] * (height - len(rows))


def detail_text(entry: Entry, facts: RowFacts) -> str:
    """Return the details as plain text, for copying."""
    return "\n".join(f"{key:<{KEY}}{value}".rstrip() for key, value, _ink in _lines(entry, facts))


def _lines(entry: Entry, facts: RowFacts) -> Iterator[tuple[str, str, str]]:
    """Yield what there is to say: key, value, ink."""
    reading = facts.reading
    sensor = reading.sensor
    quantity, unit = sensor.quantity, sensor.quantity.symbol
    yield "", entry.text, "title"
    yield "", f"{printable(sensor.chip.title)}, {quantity.name.lower()}", "dim"
    if entry.text != sensor.name and printable(sensor.name) not in entry.text:
        yield "Label", printable(sensor.name), ""
    if reading.value is None:
        words, ink = reason_words(reading)
        yield "Now", words, ink
    else:
        yield "Now", f"{_precise(reading)} {unit}", "strong"
        yield from _state(facts)
    if facts.extent is not None and quantity is not Quantity.ENERGY:
        extent = facts.extent
        low, mean, high = (figure(value, quantity) for value in (extent.minimum, extent.mean, extent.maximum))
        yield "Seen", f"{low} to {high} {unit}, mean {mean}", ""
    yield from _limits(sensor.limits, sensor.bar_limit, quantity)
    if facts.threshold is not None:
        yield "Threshold", f"{figure(facts.threshold, quantity)} {unit} (t changes it)", "accent"
    else:
        yield "Threshold", "none (t sets one)", "dim"
    if not facts.judged:
        yield "", "A control value: it may carry an offset, so no limit is held against it.", "dim"
    if reading.alarm:
        yield "Alarm", "the chip's own alarm bit is set; some chips never clear it", "warn"
    if facts.count > 1:
        yield "Stands for", f"{facts.count} sensors of this chip, all in the same state", "dim"
    if reading.raw is not None:
        yield "Raw", f"{reading.raw} {_RAW_UNITS[quantity]}", "dim"
    if sensor.chip.device:
        yield "Device", printable(sensor.chip.device), "dim"
    yield "File", printable(sensor.path), "dim"
    yield "Id", printable(sensor.id), "dim"


def _precise(reading: Reading) -> str:
    """Return a value with all the digits that the kernel gave it."""
    assert reading.value is not None
    return f"{reading.value:.3f}".rstrip("0").rstrip(".") if reading.value % 1 else f"{reading.value:.0f}"


def _state(facts: RowFacts) -> Iterator[tuple[str, str, str]]:
    reading = facts.reading
    if reading.state is State.SLOW:
        yield "State", f"~ slow: {printable(reading.reason)}", "dim"
        return
    words, ink = state_words(facts, judge_row(facts), 20)
    limit = reading.sensor.bar_limit
    if words and limit is not None and facts.judged and reading.value is not None:
        left = limit - reading.value
        where = f"{number(left)} below its limit" if left > 0 else "at its limit" if left == 0 else "above its limit"
        yield "State", f"{words}, {where}", ink
    elif words and facts.judged:
        yield "State", words, ink
    elif facts.judged and reading.sensor.quantity is Quantity.TEMPERATURE:
        yield "State", "the chip tells no limit, so it is not judged", "dim"


def _limits(limits: Limits, bar_limit: float | None, quantity: Quantity) -> Iterator[tuple[str, str, str]]:
    ends = [name for name in ("crit", "max", "emergency") if getattr(limits, name) == bar_limit and bar_limit]
    for name, word in _LIMIT_WORDS:
        value = getattr(limits, name)
        if value is not None:
            note = " (the bar's end)" if name in ends[:1] else ""
            yield word, f"{figure(value, quantity)} {quantity.symbol}{note}", ""


def _wrapped(key: str, value: str, ink: str, width: int) -> list[Row]:
    """Return a key and its value in as many rows as it takes; a long path breaks at any character."""
    lead = KEY if key else 0
    room = max(8, width - lead)
    rows: list[Row] = []
    rest = value
    while rest or not rows:
        line = rest
        if cell_len(line) > room:
            line = rest[:room]
            while cell_len(line) > room:
                line = line[:-1]
            space = line.rfind(" ")
            if space > room // 2 and rest[len(line) : len(line) + 1] != " ":
                line = line[:space]
        rest = rest[len(line) :].lstrip()
        label: Piece = (fit(key if not rows else "", lead), "dim")
        rows.append((label, (fit(line, width - lead), ink)) if lead else ((fit(line, width), ink),))
    return rows
