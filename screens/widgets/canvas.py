"""Rows of styled text, drawn with `render_line`; only cells that changed are painted again.

This is the base of the top line, the verdict, the footer and the overview: at one update a second a layout or a
full repaint would be most of the program's cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from screens.format import shorten

Piece: TypeAlias = tuple[str, str]
"""Text and the name of its ink: `("54 °C", "strong")`. The empty name is the widget's own style."""
Row: TypeAlias = tuple[Piece, ...]

INKS = frozenset(
    {"dim", "faint", "strong", "accent", "key", "ok", "warn", "bad", "title", "cool", "select", "edge", "label"}
)
"""Names of inks; each is the component class `ink--NAME` of the screen, coloured in styles/base.tcss."""

INK_CLASSES = frozenset(f"ink--{name}" for name in INKS)
"""They belong to the screen and not to each canvas: Textual works out every component class of every widget at each
resize and each change of screen, which would be most of the time that these take.
"""


def row_width(row: Row) -> int:
    """Return how many cells a row takes."""
    return sum(cell_len(text) for text, _ink in row)


def row_text(row: Row) -> str:
    """Return a row without its inks."""
    return "".join(text for text, _ink in row)


def fit_row(row: Row, width: int) -> Row:
    """Return a row cut to `width` cells, with an ellipsis where something is missing."""
    if row_width(row) <= width:
        return row
    kept: list[Piece] = []
    room = width
    for text, ink in row:
        size = cell_len(text)
        if size >= room:
            kept.append((shorten(f"{text}…" if size == room else text, room), ink))
            break
        kept.append((text, ink))
        room -= size
    return tuple(kept)


def changed_span(old: Row, new: Row) -> tuple[int, int] | None:
    """Return the first changed cell and the number of changed cells, or None where the rows are equal.

    Pieces are compared as they are, so numbers of fixed width repaint their own cells only.
    """
    if old == new:
        return None
    start = 0
    common = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        start += cell_len(after[0])
        common += 1
    old_width, new_width = row_width(old), row_width(new)
    end = max(old_width, new_width)
    if old_width == new_width:
        for before, after in zip(reversed(old[common:]), reversed(new[common:]), strict=False):
            if before != after:
                break
            end -= cell_len(after[0])
    return start, end - start


class Canvas(Widget):
    """A widget that shows the rows it was last given."""

    DEFAULT_CSS = "Canvas { width: 1fr; height: auto; }"

    def __init__(self, rows: Sequence[Row] = (), *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        """Start with the given rows."""
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = tuple(rows)
        self._inks: dict[str, Style] = {}

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def text(self) -> str:
        """What is shown, without inks."""
        return "\n".join(row_text(row).rstrip() for row in self._rows)

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows; repaints the cells that differ, and lays out again only where the number of rows differs."""
        old, new = self._rows, tuple(rows)
        if old == new:
            return
        self._rows = new
        if not self.is_mounted:
            return
        if len(old) != len(new) and self.styles.height is not None and self.styles.height.is_auto:
            self.refresh(layout=True)
            return
        gutter = self.gutter
        width = self.size.width
        for y in range(max(len(old), len(new))):
            span = changed_span(old[y] if y < len(old) else (), new[y] if y < len(new) else ())
            if span is not None and span[0] < width:
                start, count = span
                self.refresh(Region(start + gutter.left, y + gutter.top, min(count, width - start), 1))

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002 - Textual's signature
        """Return the width of the widest row."""
        return max((row_width(row) for row in self._rows), default=0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - as above
        """Return the number of rows."""
        return len(self._rows)

    def ink(self, name: str) -> Style:
        """Return the style of an ink on this widget's background, from memory where it was asked for before.

        Where the screen has no such ink, it is the widget's own style.
        """
        style = self._inks.get(name)
        if style is None:
            style = self._inks[name] = self._mix(name)
        return style

    def _mix(self, name: str) -> Style:
        own = self.rich_style
        try:
            of_screen = self.screen.get_component_styles(f"ink--{name}")
        except KeyError:
            return own
        full = self.screen.get_component_rich_style(f"ink--{name}")
        return full if of_screen.has_rule("background") else full + Style(bgcolor=own.bgcolor)

    def notify_style_update(self) -> None:
        """Forget the inks: the theme or a class has changed."""
        self._inks.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Draw one row, cut or filled to the widget's width."""
        width = self.size.width
        if not 0 <= y < len(self._rows):
            return Strip.blank(width, self.ink(""))
        segments = [Segment(text, self.ink(ink)) for text, ink in self._rows[y] if text]
        strip = Strip(segments).adjust_cell_length(width, self.ink(""))
        if not self.allow_select:
            return strip
        return self._mark_selection(strip, y).apply_offsets(0, y)

    def _mark_selection(self, strip: Strip, y: int) -> Strip:
        """Draw what the mouse has selected in the style of a selection."""
        selection = self.text_selection
        span = selection.get_span(y) if selection is not None else None
        if span is None:
            return strip
        width = strip.cell_length
        start, end = span[0], width if span[1] == -1 else span[1]
        style = self.screen.get_component_rich_style("screen--selection")
        before, marked, after = strip.crop(0, start), strip.crop(start, end), strip.crop(end, width)
        return Strip.join([before, marked.apply_style(style), after])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text that the mouse has selected, and what stands between it and the next widget's."""
        text = "\n".join(row_text(row).rstrip() or " " for row in self._rows)
        return selection.extract(text + "\n " * max(0, self.size.height - len(self._rows))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual's signature
        """Draw anew with another selection."""
        self.refresh()
