"""The temperatures screen as plain text, for copying. Pure."""

from __future__ import annotations

from screens.format import number
from screens.temperatures_page import TemperaturesPage
from screens.temperatures_summary import facts_of
from screens.widgets.canvas import Row, row_text
from screens.widgets.sensor_table import header_row, heading_row, note_row, plan_columns, sensor_row
from toolkit.sensors.history import HEADLINE
from toolkit.sensors.model import Machine
from toolkit.text import printable

WIDTH = 96


def page_text(page: TemperaturesPage, verdict: str, machine: Machine | None) -> str:
    """Return machine, verdict, headline with its facts, and every row of the table."""
    lines = []
    if machine is not None:
        names = [printable(name) for name in (machine.model, machine.kernel, machine.cpu) if name]
        lines.append(" · ".join(names))
    lines.append(verdict)
    snapshot = page.snapshot
    if snapshot is not None:
        headline, extent = snapshot.headline, page.history.extent(HEADLINE)
        if headline.celsius is not None:
            limit = f", limit {number(headline.limit_celsius)}" if headline.limit_celsius is not None else ""
            seen = f", min {number(extent.minimum)}, max {number(extent.maximum)}" if extent is not None else ""
            lines.append(f"CPU {headline.celsius} °C{seen}{limit}")
        lines += [text for text, _ink in facts_of(snapshot)]
    columns = plan_columns(WIDTH)
    rows: list[Row] = [(), header_row(columns)]
    for entry in page.listing.entries:
        if entry.ids:
            rows.append(sensor_row(page.facts(entry), columns))
        elif entry.heading:
            rows.append(heading_row(entry.text, entry.note, WIDTH))
        else:
            rows.append(note_row(entry.text, WIDTH))
    lines += [row_text(row).rstrip() for row in rows]
    return "\n".join(line for line in lines) + "\n"
