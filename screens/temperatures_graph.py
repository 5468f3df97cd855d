"""The graphs at the top of the temperatures screen: the headline's, and a low one for each pinned sensor."""

from __future__ import annotations

from collections.abc import Sequence

from screens.widgets.bar import FINE, Blocks
from screens.widgets.canvas import Row, row_width
from screens.widgets.graph import GUTTER, Plot, Series, mark_columns, plot_rows, time_axis
from screens.widgets.sensor_table import figure
from toolkit.sensors.history import HEADLINE, History
from toolkit.sensors.model import Quantity, Reading

SPANS_MIN = (1, 10, 60)
LEAST_SPAN = {
    Quantity.TEMPERATURE: 15.0,
    Quantity.FAN: 400.0,
    Quantity.VOLTAGE: 0.2,
    Quantity.CURRENT: 0.2,
    Quantity.POWER: 2.0,
    Quantity.ENERGY: 10.0,
    Quantity.HUMIDITY: 5.0,
}
"""The least range of an axis, in the quantity's unit."""
MOST_MARKS = 200
LEAST_HEADLINE_ROWS = 2
"""Rows that the headline's graph keeps, however many sensors are pinned."""


def next_span(minutes: int) -> int:
    """Return the span that follows when `g` is pressed: 1, 10, 60, 1 ... minutes."""
    return next((span for span in SPANS_MIN if span > minutes), SPANS_MIN[0])


class GraphArea:
    """Draws the graphs, and draws them again only when a column, the range, a mark or the size changed."""

    def __init__(self, history: History) -> None:
        """Start empty, over ten minutes."""
        self.minutes = 10
        self.marks: list[float] = []
        self._history = history
        self._series: dict[str, Series] = {}
        self._key: tuple[object, ...] = ()
        self._rows: list[Row] = []

    def mark(self, at_s: float) -> None:
        """Mark a moment on the history's clock; the last two hundred are kept."""
        self.marks.append(at_s)
        del self.marks[:-MOST_MARKS]

    def forget(self) -> None:
        """Draw everything anew at the next look."""
        self._key = ()

    def rows(
        self, width: int, height: int, limit: float | None, pins: Sequence[tuple[Reading, str]], blocks: Blocks = FINE
    ) -> list[Row]:
        """Return `height` rows of `width` cells.

        Args:
            limit: the headline's, for inks and its line.
            pins: pinned sensors and what they are called.
        """
        shown = list(pins)[: max(0, height - 1 - LEAST_HEADLINE_ROWS)]
        labels = [_label(reading, name, width) for reading, name in shown]
        gutter = max([GUTTER, *[len(label) + 2 for label in labels]])
        count = max(1, width - gutter)
        changed = self._update(shown, count, limit)
        marks = mark_columns(self.marks, self._history.last_s, self.minutes * 60.0, count)
        key = (width, height, limit, tuple(labels), self.minutes, marks, blocks)
        if not changed and key == self._key:
            return self._rows
        self._key = key
        each = 2 if shown and (height - 1 - 2 * len(shown)) >= max(4, height // 2) else 1
        main = self._series[HEADLINE]
        plot = Plot(main.values, main.scale, height - 1 - each * len(shown), limit, marks=marks)
        rows = plot_rows(plot, gutter, blocks)
        for (reading, _name), label in zip(shown, labels, strict=True):
            series = self._series[reading.sensor.id]
            own = Plot(series.values, series.scale, each, reading.sensor.bar_limit, label, marks)
            rows += plot_rows(own, gutter, blocks)
        rows.append(time_axis(count, self.minutes, gutter, marks))
        self._rows = [_padded(row, width) for row in rows]
        return self._rows

    def _update(self, pins: Sequence[tuple[Reading, str]], count: int, limit: float | None) -> bool:
        """Bring all series up to date; True where one changed."""
        seconds = self.minutes * 60.0
        wanted = {HEADLINE: (LEAST_SPAN[Quantity.TEMPERATURE], limit)}
        for reading, _name in pins:
            sensor = reading.sensor
            wanted[sensor.id] = (LEAST_SPAN[sensor.quantity], sensor.bar_limit)
        changed = False
        for key, (least_span, ceiling) in wanted.items():
            series = self._series.setdefault(key, Series())
            changed = series.update(self._history, key, seconds, count, least_span, ceiling) or changed
        for key in self._series.keys() - wanted.keys():
            del self._series[key]
        return changed


def _label(reading: Reading, name: str, width: int) -> str:
    """Return what stands left of a pinned sensor's graph: its name and value, in at most a third of the width."""
    sensor = reading.sensor
    unit = {Quantity.TEMPERATURE: "°"}.get(sensor.quantity, f" {sensor.quantity.symbol}")
    value = f"{figure(reading.value, sensor.quantity)}{unit}" if reading.value is not None else "--"
    room = max(4, min(16, width // 3 - 3 - len(value)))
    return f"{name if len(name) <= room else name[: room - 1] + '…'} {value}"


def _padded(row: Row, width: int) -> Row:
    used = row_width(row)
    return row if used >= width else (*row, (" " * (width - used), ""))
