"""What stands on a terminal that is too small for a screen: the headline, and that it is too small."""

from __future__ import annotations

from screens.format import celsius, fit, shorten
from screens.widgets.canvas import Canvas, Row
from toolkit.sensors.model import Headline

LEAST_WIDTH = 60
LEAST_HEIGHT = 18


def small_rows(headline: Headline | None, label: str, width: int, height: int) -> list[Row]:
    """Return rows for any size down to 1x1: the headline first, then the reason, then the way out."""
    value = celsius(headline.celsius if headline else None)
    first = f"{value} {label}".strip() if label else value
    lines = [
        (shorten(first, width), "strong"),
        (shorten(f"{LEAST_WIDTH}x{LEAST_HEIGHT} at least; this window is {width}x{height}.", width), ""),
        (shorten("Make it larger, or press Q to quit.", width), "dim"),
    ]
    lines = lines[:height]
    above = max(0, (height - len(lines)) // 2)
    rows: list[Row] = [()] * above
    for text, ink in lines:
        rows.append(((" " * max(0, (width - len(text)) // 2), ""), (text, ink)))
    return [tuple((fit(text, len(text)), ink) for text, ink in row) for row in rows]


class SmallNotice(Canvas):
    """Stands in for the whole screen under 60x18; styles/base.tcss shows and hides it."""

    def __init__(self) -> None:
        """Start without a headline."""
        super().__init__([()], id="small")
        self._headline: Headline | None = None
        self._label = ""

    def show_headline(self, headline: Headline | None, label: str) -> None:
        """Show another headline."""
        self._headline, self._label = headline, label
        self._lay_out()

    def _lay_out(self) -> None:
        if self.size.width and self.size.height:
            self.show(small_rows(self._headline, self._label, self.size.width, self.size.height))

    def on_resize(self) -> None:
        """Lay out again for the new size."""
        self._lay_out()
