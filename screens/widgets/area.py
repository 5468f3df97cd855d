"""A history as a filled area of block characters, several rows high."""

from __future__ import annotations

from collections.abc import Sequence

from screens.format import BLOCKS, heat, number
from screens.widgets.canvas import Piece, Row

AXIS_WIDTH = 6
"""`  100 ┤`: cells that the axis takes at the left."""


def area_rows(
    values: Sequence[float | None], height: int, low: float, high: float, limit: float | None = None
) -> list[Row]:
    """Draw one column a value in `height` rows, with an axis at the left; a gap stays empty.

    The scale is fixed, `low` at the bottom and `high` at the top; a column is inked by its distance to `limit`.
    """
    steps = [_eighths(value, height, low, high) for value in values]
    inks = [_ink(value, limit) for value in values]
    rows: list[Row] = []
    for row in range(height):
        floor = (height - 1 - row) * 8
        pieces: list[Piece] = [(_axis(row, height, low, high), "dim")]
        text, ink = "", ""
        for eighths, wanted in zip(steps, inks, strict=True):
            filled = eighths - floor
            char = " " if filled <= 0 else BLOCKS[min(8, filled) - 1]
            wanted = ink if char == " " else wanted
            if wanted != ink and text:
                pieces.append((text, ink))
                text = ""
            ink = wanted
            text += char
        pieces.append((text, ink))
        rows.append(tuple(pieces))
    return rows


def _eighths(value: float | None, height: int, low: float, high: float) -> int:
    """Return how many eighths of a row a column is high; at least one where there is a value."""
    if value is None:
        return 0
    share = (value - low) / max(high - low, 1e-9)
    return min(height * 8, max(1, round(share * height * 8)))


def _ink(value: float | None, limit: float | None) -> str:
    judged = heat(value, limit)
    return judged.ink if judged.glyph else "cool"


def _axis(row: int, height: int, low: float, high: float) -> str:
    """Return the axis of one row: figures at top, middle and bottom."""
    middle = (height - 1) // 2
    if row == 0:
        figure = number(high)
    elif row == height - 1:
        figure = number(low)
    elif row == middle and height >= 5:
        figure = number(high - (high - low) * (row + 0.5) / height)
    else:
        figure = ""
    return f"{figure:>{AXIS_WIDTH - 2}} {'┤' if figure else '│'}"
