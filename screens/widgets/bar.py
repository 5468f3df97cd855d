"""Bars and the set of block characters that a terminal's font has. Pure: text in, text out."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Blocks:
    """The characters that pictures are drawn with.

    Attributes:
        across: a cell filled from the left, from the least part to the whole.
        up: a cell filled from below, from the least part to the whole.
        cursor: marks the selected row.
        mark: the vertical line of a mark in a graph.
        limit: the horizontal line of a limit in a graph.
        pin: stands before a pinned sensor's name.
        ellipsis: stands where text was cut.
    """

    across: str
    up: str
    cursor: str
    mark: str
    limit: str
    pin: str
    ellipsis: str


FINE = Blocks(across="▏▎▍▌▋▊▉█", up="▁▂▃▄▅▆▇█", cursor="▸", mark="│", limit="╌", pin="*", ellipsis="…")
"""Eighth blocks, which every terminal emulator has."""
COARSE = Blocks(across="▌█", up="▄█", cursor=">", mark="│", limit="-", pin="*", ellipsis="~")
"""Halves only: the font of a Linux console holds code page 437, and no eighths (console_codes(4), setfont(8))."""


def share_of(value: float | None, limit: float | None) -> float | None:
    """Return how much of the limit a value reaches, from 0 to 1; None where either is unknown or the limit is not
    above zero.
    """
    if value is None or limit is None or not math.isfinite(value) or not math.isfinite(limit) or limit <= 0:
        return None
    return min(1.0, max(0.0, value / limit))


def bar(share: float | None, width: int, blocks: Blocks = FINE) -> str:
    """Return a bar of exactly `width` cells that is filled to `share` (0 to 1); blanks where it is None.

    The end is rounded to the nearest part of a cell, but only a share of 1 fills the last part, and anything above
    zero shows at least the least part.
    """
    if width <= 0:
        return ""
    if share is None or not math.isfinite(share):
        return " " * width
    parts = len(blocks.across)
    total = width * parts
    filled = round(min(1.0, max(0.0, share)) * total)
    if share > 0:
        filled = max(1, filled)
    if share < 1:
        filled = min(total - 1, filled)
    whole, rest = divmod(filled, parts)
    drawn = blocks.across[-1] * whole + (blocks.across[rest - 1] if rest else "")
    return drawn.ljust(width)
