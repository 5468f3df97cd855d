"""The second line of every screen: one sentence that says what is wrong, or that nothing is."""

from __future__ import annotations

from rich.cells import cell_len

from screens.format import Severity, shorten
from screens.widgets.canvas import Canvas, Row
from toolkit.text import printable

ROWS = 2
"""A long sentence runs on into the empty line below, so nothing moves."""


def wrap(text: str, width: int, rows: int) -> list[str]:
    """Break a sentence at spaces into at most `rows` lines of `width` cells; what is left over ends in an ellipsis."""
    if width <= 0:
        return []
    lines: list[str] = []
    rest = text
    while rest and len(lines) < rows - 1 and cell_len(rest) > width:
        cut = rest
        while cell_len(cut) > width and " " in cut:
            cut = cut.rpartition(" ")[0]
        if cell_len(cut) > width:
            break
        lines.append(cut)
        rest = rest[len(cut) :].lstrip()
    if rest:
        lines.append(shorten(rest, width))
    return lines


def verdict_rows(text: str, severity: Severity, width: int) -> list[Row]:
    """Lay a verdict out: glyph and first words stand out by severity, never by colour alone."""
    glyph = f"{severity.glyph} " if severity.glyph else ""
    ink = severity.value if severity in (Severity.WARN, Severity.BAD) else ""
    lines = wrap(printable(text, 400), width - 2 - len(glyph), ROWS)
    rows: list[Row] = []
    for number, line in enumerate(lines):
        lead = f" {glyph}" if number == 0 else " " * (1 + len(glyph))
        rows.append(((lead, ink), (line, ink)))
    return rows + [()] * (ROWS - len(rows))


class VerdictLine(Canvas):
    """Shows a sentence and how bad it is."""

    def __init__(self) -> None:
        """Start without a sentence."""
        super().__init__([()] * ROWS, id="verdict")
        self.sentence = ""
        self.severity = Severity.NOTE

    def show_verdict(self, text: str, severity: Severity) -> None:
        """Show another sentence."""
        if (text, severity) != (self.sentence, self.severity):
            self.sentence, self.severity = text, severity
            self._lay_out()

    def _lay_out(self) -> None:
        if self.size.width:
            self.show(verdict_rows(self.sentence, self.severity, self.size.width))

    def on_resize(self) -> None:
        """Lay out again for the new width."""
        self._lay_out()
