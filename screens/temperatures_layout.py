"""Where everything stands on the temperatures screen, for any size. Pure."""

from __future__ import annotations

from dataclasses import dataclass

GAP = 2
"""Cells between two parts that stand side by side."""
SPARE = 4
"""Rows that the table keeps empty before the graph grows, so that a stick that is plugged in moves nothing."""
MOST_GROWN = 10
LEAST_PANE = 76
"""Two panes stand side by side where each gets at least so many cells: a bar must have its place."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes in cells.

    Attributes:
        width, height: of the whole body.
        block: rows of the headline and the graph at the top.
        summary: cells of the headline's part of the block.
        graph: cells of the graph; 0 where there is no room.
        table: rows of sensors, without the head.
        panes: how many panes the rows are spread over.
        pane: cells of one pane.
        beside: cells of the details right of the table; 0 where they are not there.
        below: rows of the details below the table, with their rule; 0 where they are not there.
    """

    width: int
    height: int
    block: int
    summary: int
    graph: int
    table: int
    panes: int
    pane: int
    beside: int
    below: int

    @property
    def table_top(self) -> int:
        """The line of the table's head."""
        return self.block + 1

    @property
    def capacity(self) -> int:
        """How many rows are seen at once."""
        return self.table * self.panes


def plan_layout(width: int, height: int, details: bool | None, wanted: int | None = None) -> Layout:
    """Return the layout for a body of this size.

    Args:
        details: whether the person wants the details of the selected row; None leaves it to the room that is there.
        wanted: how many rows the table has as a rule; where it needs less than there is, the graph is higher.
    """
    block = 3 if height < 18 else 5 if height < 28 else 10 if height < 42 else 14
    summary, graph = width, 0
    if block > 3 and width >= 72:
        summary = 38 if block >= 9 else 41
        graph = width - summary - GAP
    beside = 0
    if details is not False and (120 <= width < 160 or width >= 196):
        beside = 36 if width < 160 else 42
    room = max(1, height - block - 2)
    below = min(11, room - 4) if details and not beside and room >= 8 else 0
    inner = width - (beside + GAP if beside else 0)
    panes = 2 if width >= 160 and (inner - GAP) // 2 >= LEAST_PANE else 1
    pane = (inner - GAP * (panes - 1)) // panes
    if graph and block >= 9 and wanted is not None:
        spare = room - below - SPARE - -(-wanted // panes)
        grown = max(0, min(MOST_GROWN, spare // 2 * 2))
        block, room = block + grown, room - grown
    return Layout(width, height, block, summary, graph, room - below, panes, pane, beside, below)


def split_panes(starts_group: list[bool], layout: Layout) -> int:
    """Return how many of the rows stand in the first pane where all are seen at once.

    The two panes are made as even as the chips allow, so that a heading never stands apart from its sensors.
    """
    count, tall = len(starts_group), layout.table
    if layout.panes == 1:
        return count
    half = (count + 1) // 2
    groups = [at for at in range(1, count) if starts_group[at] and at <= tall and count - at <= tall]
    return min(groups, key=lambda at: abs(at - half), default=min(tall, max(half, count - tall)))


def scroll_to(offset: int, cursor: int, count: int, capacity: int) -> int:
    """Return the first row to show, moved as little as possible so that the row of the cursor is seen."""
    if cursor < offset:
        offset = cursor
    elif cursor >= offset + capacity:
        offset = cursor - capacity + 1
    return max(0, min(offset, count - capacity))
