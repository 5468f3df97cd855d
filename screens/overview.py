"""The overview (1): the whole machine on one page, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from screens.base import ToolkitScreen
from screens.format import fit, number
from screens.next_steps import Step, next_steps, overview_verdict
from screens.overview_lines import Facts, Line, overview_lines
from screens.widgets.bar import FINE, Blocks
from screens.widgets.canvas import Canvas, Piece, Row, fit_row, row_text
from screens.widgets.footer import FooterKey, shown_keys
from screens.widgets.graph import GUTTER, Plot, Series, plot_rows, time_axis
from toolkit.sensors.history import HEADLINE
from toolkit.sensors.model import Snapshot

LABEL_WIDTH = 9
LEAD = 3
MOST_STEPS = 6
GRAPH_LEAST, GRAPH_MOST = 4, 24
LEAST_SPAN_C = 20.0


@dataclass(frozen=True, slots=True)
class Page:
    """The overview laid out.

    Attributes:
        rows: everything, maybe more than fits.
        items: row number of each thing that can be selected: the lines, then the steps.
    """

    rows: tuple[Row, ...]
    items: tuple[int, ...]


def lay_out(lines: Sequence[Line], steps: Sequence[Step], cursor: int, width: int, blocks: Blocks = FINE) -> Page:
    """Lay lines and steps out for `width` cells; the selected one has a mark before it."""
    rows: list[Row] = []
    items: list[int] = []
    for line in lines:
        items.append(len(rows))
        rows.append((*_lead(cursor == len(items) - 1, fit(line.label, LABEL_WIDTH), blocks), *line.pieces))
    if steps:
        rows += [(), (("  What next", "title"),)]
    shown = steps[:MOST_STEPS]
    column = min(max((cell_len(step.what) for step in shown), default=0), (width - LEAD) * 3 // 5)
    for step in shown:
        items.append(len(rows))
        what = fit(step.what, max(column, min(cell_len(step.what), width - LEAD - 4 - cell_len(step.command))))
        tail: Piece = (f"   {step.command}", "accent") if step.command else ("   ›", "faint")
        rows.append((*_lead(cursor == len(items) - 1, what, blocks), tail))
    return Page(tuple(fit_row(row, width - 1) for row in rows), tuple(items))


def _lead(chosen: bool, label: str, blocks: Blocks) -> tuple[Piece, Piece]:
    return (f" {blocks.cursor} " if chosen else " " * LEAD, "select"), (label, "select" if chosen else "dim")


def graph_columns(width: int) -> int:
    """Return how many columns the graph below the lines has."""
    return max(0, width - LEAD - GUTTER - 1)


def graph_height(room: int) -> int:
    """Return how many rows of a graph fit into the room below the lines, with its title and its axis of time."""
    tall = min(room - 3, GRAPH_MOST)
    return tall if tall >= GRAPH_LEAST else 0


def graph_rows(plot: Plot, minutes: int, blocks: Blocks = FINE) -> list[Row]:
    """Return a graph with its title and its axis of time; nothing where there is no room or no value."""
    if not plot.height or plot.scale is None:
        return []
    limit = f", limit {number(plot.limit)} °C" if plot.limit is not None else ""
    lead: Piece = (" " * (LEAD - 1), "")
    drawn = [(lead, *row) for row in plot_rows(plot, blocks=blocks)]
    axis = (lead, *time_axis(len(plot.values), minutes))
    return [(), (("  CPU, °C", "title"), (limit, "dim")), *drawn, axis]


class Board(Canvas):
    """Shows the page, scrolled so that the selected item is seen."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(id="board")
        self._top = 0

    def show_page(self, rows: Sequence[Row], selected_row: int) -> None:
        """Show as many rows as fit, the selected one among them."""
        height = max(1, self.size.height)
        if selected_row < self._top:
            self._top = selected_row
        elif selected_row >= self._top + height:
            self._top = selected_row - height + 1
        self._top = max(0, min(self._top, len(rows) - height))
        self.show(rows[self._top : self._top + height])

    def row_at(self, y: int) -> int:
        """Return the number of the page's row at a line of the widget."""
        return self._top + y

    def on_resize(self) -> None:
        """Lay out again for the new size."""
        if isinstance(self.screen, OverviewScreen):
            self.screen.draw()

    def on_click(self, event: events.Click) -> None:
        """Select what was clicked; a click on what is selected opens it."""
        if isinstance(self.screen, OverviewScreen):
            self.screen.click_row(self.row_at(event.y))


class OverviewScreen(ToolkitScreen):
    """One line a subject, and what to do next."""

    SUBJECT = "overview"
    TITLE_ON_TOP = "Overview"
    HELP_PAGE = "overview"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="overview.open", tooltip="Open the line, or copy the command of the step"),
        Binding("up,k", "move(-1)", "up", id="overview.up", show=False, tooltip="Select the line above"),
        Binding("down,j", "move(1)", "down", id="overview.down", show=False, tooltip="Select the line below"),
        Binding("home,g", "move(-999)", "first", id="overview.first", show=False, tooltip="Select the first line"),
        Binding("end,G", "move(999)", "last", id="overview.last", show=False, tooltip="Select the last line"),
    ]

    def __init__(self) -> None:
        """Start with the first line selected."""
        super().__init__()
        self._cursor = 0
        self._lines: list[Line] = []
        self._steps: list[Step] = []
        self._items: tuple[int, ...] = ()
        self._series = Series()
        self._drawn: list[Row] = []
        self._drawn_for: tuple[int, int, int, float | None] | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the board."""
        yield Board()

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the digits of the subjects, and as many of the screen's own keys as fit beside them."""
        digits = [
            FooterKey(subject.digit, subject.word, f"app.show_subject('{subject.id}')")
            for subject in self.toolkit.SUBJECTS
        ]
        leave = FooterKey("q", "quit", "back")
        return [*digits, *shown_keys(self, self.active_bindings.values()), leave]

    def on_mount(self) -> None:
        """Paint with dashes at once."""
        self.draw()

    def on_snapshot(self, snapshot: Snapshot) -> None:  # noqa: ARG002 - drawn from the application's
        """Show new values."""
        self.draw()

    def draw(self) -> None:
        """Bring verdict and board up to date; only cells that differ are painted."""
        if not self.is_mounted or self.has_class("-tiny") or self.has_class("-low"):
            return
        app = self.toolkit
        board = self.query_one(Board)
        width = board.size.width
        if not width:
            return
        blocks = app.blocks
        facts = Facts(app.latest, app.history, width - LEAD - LABEL_WIDTH - 1, app.host.kind == "replay", blocks)
        self._lines = overview_lines(facts)
        self._steps = next_steps(facts)
        count = len(self._lines) + min(len(self._steps), MOST_STEPS)
        self._cursor = max(0, min(self._cursor, count - 1))
        page = lay_out(self._lines, self._steps, self._cursor, width, blocks)
        self._items = page.items
        rows = [*page.rows, *self._graph(width, board.size.height - len(page.rows))]
        board.show_page(rows, page.items[self._cursor] if page.items else 0)
        if app.problem is None:
            self.set_verdict(*overview_verdict(facts))

    def _graph(self, width: int, room: int) -> list[Row]:
        """Return the headline's history as a graph that fits; drawn anew only where it differs."""
        app = self.toolkit
        minutes = app.settings.temperatures.history_minutes
        height = graph_height(room)
        limit = app.latest.headline.limit_celsius if app.latest is not None else None
        changed = self._series.update(app.history, HEADLINE, minutes * 60.0, graph_columns(width), LEAST_SPAN_C)
        key = (width, height, minutes, limit)
        if changed or key != self._drawn_for:
            plot = Plot(self._series.values, self._series.scale, height, limit)
            self._drawn_for, self._drawn = key, graph_rows(plot, minutes, app.blocks)
        return self._drawn

    def _chosen(self) -> Line | Step | None:
        """Return what is selected."""
        if self._cursor < len(self._lines):
            return self._lines[self._cursor]
        index = self._cursor - len(self._lines)
        return self._steps[index] if index < len(self._steps) else None

    def row_as_text(self) -> str:
        """Return the selected line, or the command of the selected step."""
        chosen = self._chosen()
        if isinstance(chosen, Line):
            return f"{chosen.label}: {row_text(chosen.pieces).strip()}\n"
        return f"{chosen.command or chosen.what}\n" if chosen is not None else ""

    def click_row(self, row: int) -> None:
        """Select the item on a row of the page, or open it where it is selected already."""
        if row in self._items:
            index = self._items.index(row)
            if index == self._cursor:
                self.action_open()
            else:
                self._cursor = index
                self.draw()

    def action_move(self, by: int) -> None:
        """Select another item."""
        self._cursor = max(0, min(self._cursor + by, len(self._items) - 1))
        self.draw()

    def action_open(self) -> None:
        """Open the screen of the line, or copy the command of the step."""
        chosen: Any = self._chosen()
        if chosen is None:
            return
        if chosen.subject:
            self.toolkit.action_show_subject(chosen.subject)
        else:
            self.toolkit.copy_text(f"{chosen.command}\n", "the command")
