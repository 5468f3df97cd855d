"""The history graph: areas of block characters with an axis of values and one of time. Pure but for reading a History.

The range of the axis is the true range of what is drawn, rounded outwards to round numbers. A column is the maximum
of its share of time, so that a short peak stays visible over an hour.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from screens.format import fit, heat
from screens.widgets.bar import FINE, Blocks
from screens.widgets.canvas import Piece, Row
from toolkit.sensors.history import History

GUTTER = 5
"""Cells left of the plot where nothing but the axis stands there: four of a label and the line."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of values that a graph shows, both ends included, and the step its ends are multiples of."""

    low: float
    high: float
    step: float = 1.0

    def label(self, value: float) -> str:
        """Return a value as it stands on the axis, with as many digits as the step needs."""
        digits = max(0, -math.floor(math.log10(self.step))) if self.step < 1 else 0
        text = f"{value:.{digits}f}"
        return text if len(text) < GUTTER else f"{value:.3g}"


def nice_step(rough: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, 50 ... (or 0.5, 0.2 ...) that is not below `rough`."""
    if not math.isfinite(rough) or rough <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    for factor in (1.0, 2.0, 5.0):
        if rough <= factor * power * (1 + 1e-9):
            return factor * power
    return 10.0 * power


def nice_scale(low: float, high: float, least_span: float, ceiling: float | None = None) -> Scale:
    """Return the range from `low` to `high` rounded outwards to round numbers and at least `least_span` wide.

    Room is made on both sides, but not above a `ceiling` that nothing has reached: a limit is a natural end.
    """
    span = max(high - low, least_span)
    step = nice_step(span / 4)
    bottom = math.floor(low / step + 1e-9) * step
    top = math.ceil(high / step - 1e-9) * step
    while top - bottom < span * (1 - 1e-9):
        at_ceiling = ceiling is not None and top >= ceiling
        if top - high <= low - bottom and not at_ceiling:
            top += step
        else:
            bottom -= step
    return Scale(bottom, top, step)


def fit_scale(
    current: Scale | None, values: Sequence[float | None], least_span: float, ceiling: float | None = None
) -> Scale | None:
    """Return the range for these values; the current one while it still fits them well, so that nothing jumps.

    None where there is no value at all and there was no range before.
    """
    known = [value for value in values if value is not None and math.isfinite(value)]
    if not known:
        return current
    low, high = min(known), max(known)
    wanted = nice_scale(low, high, least_span, ceiling)
    if current is None or low < current.low or high > current.high:
        return wanted
    return wanted if wanted.high - wanted.low <= 0.6 * (current.high - current.low) else current


def area(values: Sequence[float | None], scale: Scale, height: int, blocks: Blocks = FINE) -> list[str]:
    """Return `height` rows, top first, of one character a value; a gap is a blank, the least value the least block."""
    parts = len(blocks.up)
    span = max(scale.high - scale.low, 1e-9)
    top = height * parts - 1
    levels = [
        0
        if value is None or not math.isfinite(value)
        else 1 + min(top, max(0, math.floor((value - scale.low) / span * top + 0.5)))
        for value in values
    ]
    up = blocks.up
    return [
        "".join([up[min(parts, level - base) - 1] if level > base else " " for level in levels])
        for base in range((height - 1) * parts, -1, -parts)
    ]


def row_of(value: float, scale: Scale, height: int) -> int | None:
    """Return the row, counted from the top, in which the top of a value lies; None where it is out of range."""
    if not scale.low <= value <= scale.high or height <= 0:
        return None
    share = (value - scale.low) / max(scale.high - scale.low, 1e-9)
    return height - 1 - min(height - 1, int(share * height))


def column_inks(values: Sequence[float | None], limit: float | None) -> list[str]:
    """Return the ink of each column: by how near its value is to a measured limit."""
    judged = [heat(value, limit) for value in values]
    return [one.ink if one.glyph else "cool" for one in judged]


@dataclass(frozen=True, slots=True)
class Plot:
    """One graph: what to draw, and how high.

    Attributes:
        values: a value a column, oldest first; None is a gap.
        scale: the range; None where there is nothing to draw yet.
        height: rows.
        limit: the measured limit, for the inks and, where it is in range, a line.
        label: stands left of the middle row in place of the axis's figures.
        marks: columns that a person marked.
    """

    values: Sequence[float | None]
    scale: Scale | None
    height: int
    limit: float | None = None
    label: str = ""
    marks: Collection[int] = ()


def plot_rows(plot: Plot, gutter: int = GUTTER, blocks: Blocks = FINE) -> list[Row]:
    """Return the rows of one graph: labels, axis, area, marks."""
    width, height, scale = len(plot.values), plot.height, plot.scale
    if height <= 0:
        return []
    texts = [" " * width] * height if scale is None else area(plot.values, scale, height, blocks)
    inks = column_inks(plot.values, plot.limit)
    limit_row = None if plot.limit is None or scale is None or plot.label else row_of(plot.limit, scale, height)
    rows: list[Row] = []
    for row, text in enumerate(texts):
        label = _row_label(plot, row)
        axis = " " * (gutter - 2 - cell_len(label)) + fit(label, min(cell_len(label), gutter - 2))
        axis += " ┤" if label else " │"
        empty = blocks.limit if row == limit_row else " "
        rows.append(((axis, "dim"), *_in_pieces(text, inks, plot.marks, empty, blocks.mark)))
    return rows


def _row_label(plot: Plot, row: int) -> str:
    middle = (plot.height - 1) // 2
    if plot.label:
        return plot.label if row == middle else ""
    if plot.scale is None:
        return ""
    scale = plot.scale
    if row == 0:
        return scale.label(scale.high)
    if row == plot.height - 1:
        return scale.label(scale.low)
    if row == middle and plot.height >= 7 and plot.height % 2:
        return scale.label((scale.high + scale.low) / 2)
    return ""


def _in_pieces(text: str, inks: Sequence[str], marks: Collection[int], empty: str, mark: str) -> Iterator[Piece]:
    """Cut one row into pieces of one ink; blanks have a plain one, since without colours some inks are underlined."""
    run, run_ink = "", ""
    for column, char in enumerate(text):
        if column in marks:
            char, ink = mark, "strong"  # noqa: PLW2901
        elif char != " ":
            ink = inks[column]
        else:
            char, ink = empty, "cool" if empty == " " else "dim"  # noqa: PLW2901
        if ink != run_ink and run:
            yield run, run_ink
            run = ""
        run, run_ink = run + char, ink
    if run:
        yield run, run_ink


def time_axis(width: int, minutes: int, gutter: int = GUTTER, marks: Collection[int] = ()) -> Row:
    """Return the line of time below a graph of `width` columns: how long ago at the left, `now` at the right."""
    words = f" {minutes} min ago "
    half = f" {minutes / 2:g} min " if minutes > 1 else " 30 s "
    cells = ["─"] * width
    for column in marks:
        if 0 <= column < width:
            cells[column] = "┴"
    _write(cells, 1, words.lstrip() if width < 30 else words)
    if width >= 44:
        _write(cells, width // 2 - len(half) // 2, half)
    _write(cells, width - len(" now"), " now")
    return ((" " * (gutter - 1) + "└" + "".join(cells), "dim"),)


def _write(cells: list[str], at: int, text: str) -> None:
    if at >= 0 and at + len(text) <= len(cells):
        cells[at : at + len(text)] = text


class Series:
    """The columns of one series of a History, kept from look to look so that a tick costs next to nothing."""

    __slots__ = ("_column", "_keyed", "scale", "values")

    def __init__(self) -> None:
        self.values: list[float | None] = []
        self.scale: Scale | None = None
        self._keyed: tuple[str, float, int] | None = None
        self._column: int | None = None

    def update(
        self,
        history: History,
        key: str,
        seconds: float,
        count: int,
        least_span: float,
        ceiling: float | None = None,
    ) -> bool:
        """Bring the columns up to the newest row; True where a column or the range changed.

        Args:
            history: where the values are.
            key: of the series.
            seconds: how far back the graph reaches.
            count: how many columns it has.
            least_span: the least range, in the series' unit, so that noise does not look like a mountain.
            ceiling: a limit above which the range does not reach unless the values do.
        """
        newest = history.last_s
        column = None if newest is None or count <= 0 else int(newest // (seconds / count))
        if self._keyed == (key, seconds, count) and column == self._column:
            if not self._raise_last(history.latest(key)):
                return False
        else:
            values = history.columns(key, seconds, count)
            if self._keyed is not None and self._keyed != (key, seconds, count):
                self.scale = None
            self._keyed, self._column = (key, seconds, count), column
            if values == self.values and self.scale is not None:
                return False
            self.values = values
        self.scale = fit_scale(self.scale, self.values, least_span, ceiling)
        return True

    def _raise_last(self, value: float | None) -> bool:
        """Take a value into the newest column; False where that changes nothing."""
        if value is None or not self.values:
            return False
        last = self.values[-1]
        if last is not None and value <= last:
            return False
        self.values[-1] = value
        return True


def mark_columns(marks: Sequence[float], newest_s: float | None, seconds: float, count: int) -> tuple[int, ...]:
    """Return the columns in which marks lie that were made at these times (seconds, the history's clock)."""
    if newest_s is None or count <= 0:
        return ()
    width = seconds / count
    first = int(newest_s // width) - count + 1
    return tuple(sorted({int(at // width) - first for at in marks if 0 <= int(at // width) - first < count}))
