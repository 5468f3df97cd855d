"""The body of the temperatures screen as rows of text: it holds what is shown, and redraws only what changed.

No widget here: a snapshot, a history and a person's choices go in, rows come out. A row whose reading and figures are
the ones of the look before is the very same object, so that whoever draws can tell by `is`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from screens.temperatures_details import detail_rows
from screens.temperatures_graph import GraphArea
from screens.temperatures_layout import GAP, Layout, plan_layout, scroll_to, split_panes
from screens.temperatures_list import Entry, Listing, Order, View, build_listing
from screens.temperatures_summary import summary_rows
from screens.widgets.bar import FINE, Blocks
from screens.widgets.canvas import Row
from screens.widgets.sensor_table import (
    Columns,
    RowFacts,
    header_row,
    heading_row,
    note_row,
    plan_columns,
    sensor_row,
)
from toolkit.sensors.history import HEADLINE, Extent, History
from toolkit.sensors.model import Reading, Snapshot, State

GONE_KEPT_S = 600.0
"""How long a sensor that went is still shown."""
RESORT_S = 2.0
"""How often rows that are ordered by heat may change places."""


class TemperaturesPage:
    """What the screen shows, and where the cursor is.

    The cursor is on a sensor, by its id: whatever comes, goes or changes places, it stays with that sensor.
    """

    def __init__(self, history: History, blocks: Blocks = FINE) -> None:
        """Start without a snapshot and without a size."""
        self.history = history
        self.view = View()
        self.details: bool | None = None
        self.snapshot: Snapshot | None = None
        self.listing = Listing(())
        self.layout: Layout = plan_layout(80, 20, None)
        self.graph = GraphArea(history)
        self.cursor_id: str | None = None
        self._blocks = blocks
        self._cursor = 0
        self._offset = 0
        self._split = 0
        self._columns: Columns = plan_columns(self.layout.pane)
        self._at: dict[str, int] = {}
        self._listed_s = 0.0
        self._gone_since: dict[str, float] = {}
        self._drawn: dict[int, tuple[Reading | None, tuple[float, ...], bool, Row]] = {}

    # What comes in

    def take(self, snapshot: Snapshot) -> None:
        """Show another snapshot."""
        before, self.snapshot = self.snapshot, snapshot
        self._watch_gone(snapshot)
        if before is None or len(before.readings) != len(snapshot.readings):
            self.resize(self.layout.width, self.layout.height)
        if before is None or self._list_is_due(before.readings, snapshot):
            self.relist()

    def resize(self, width: int, height: int) -> None:
        """Lay out for another size."""
        self.layout = plan_layout(width, height, self.details, self._wanted())
        self._columns = plan_columns(self.layout.pane)
        self._drawn.clear()
        self._keep_cursor_seen()

    def _wanted(self) -> int | None:
        """Return how many rows the table has where nothing is hidden or filtered: a filter must not move the graph."""
        if self.snapshot is None:
            return None
        readings = self.snapshot.readings
        return len(readings) + len({reading.sensor.chip.path for reading in readings})

    def choose(self, view: View) -> None:
        """Show what a person chose."""
        self.view = view
        self.relist()

    def use_blocks(self, blocks: Blocks) -> None:
        """Draw with other block characters."""
        if blocks is not self._blocks:
            self._blocks = blocks
            self.graph.forget()
            self._drawn.clear()

    def toggle_details(self) -> None:
        """Open the details of the selected row, or close them."""
        self.details = not (self.layout.beside or self.layout.below)
        self.resize(self.layout.width, self.layout.height)

    # The list and the cursor

    def relist(self) -> None:
        """Make the list of rows anew; the cursor stays with its sensor."""
        if self.snapshot is None:
            return
        now = self.snapshot.monotonic_s
        expired = frozenset(known for known, since in self._gone_since.items() if now - since > GONE_KEPT_S)
        self.listing = build_listing(self.snapshot.readings, replace(self.view, expired=expired))
        self._listed_s = now
        self._drawn.clear()
        self._at = {sensor_id: number for number, entry in enumerate(self.listing.entries) for sensor_id in entry.ids}
        found = self._at.get(self.cursor_id) if self.cursor_id is not None else None
        self._cursor = found if found is not None else self._nearest_sensor(self._cursor)
        if found is None:
            self._remember_cursor()
        self._keep_cursor_seen()

    def _list_is_due(self, before: Sequence[Reading], snapshot: Snapshot) -> bool:
        """True where rows may come, go or change places: another list of sensors, another state, time to sort."""
        readings = snapshot.readings
        if len(before) != len(readings):
            return True
        for old, new in zip(before, readings, strict=True):
            if old is not new and (
                old.state is not new.state
                or old.sensor is not new.sensor
                or (new.value is None and old.reason != new.reason)
            ):
                return True
        now = snapshot.monotonic_s
        if self.view.order in (Order.HEAT, Order.LIMIT) and now - self._listed_s >= RESORT_S:
            return True
        return any(GONE_KEPT_S < now - since < GONE_KEPT_S + 5 for since in self._gone_since.values())

    def _watch_gone(self, snapshot: Snapshot) -> None:
        """Remember since when each sensor has been gone."""
        gone = {reading.sensor.id for reading in snapshot.readings if reading.state is State.GONE}
        if gone or self._gone_since:
            self._gone_since = {sensor_id: self._gone_since.get(sensor_id, snapshot.monotonic_s) for sensor_id in gone}

    def move(self, by: int) -> None:
        """Move the cursor by so many sensors; it stops at the ends."""
        rows = [number for number, entry in enumerate(self.listing.entries) if entry.ids]
        if rows:
            here = rows.index(self._cursor) if self._cursor in rows else 0
            self._select(rows[max(0, min(len(rows) - 1, here + by))])

    def scroll(self, by: int) -> None:
        """Show rows further up or down, as a mouse wheel asks; the cursor comes along where it would not be seen."""
        most = max(0, len(self.listing.entries) - self.layout.capacity)
        self._offset = max(0, min(most, self._offset + by))
        seen = range(self._offset, self._offset + self.layout.capacity)
        if self._cursor not in seen:
            self._cursor = self._nearest_sensor(seen[0] if self._cursor < seen[0] else seen[-1], seen)
            self._remember_cursor()

    def select_at(self, x: int, y: int) -> bool:
        """Select the sensor at a cell of the body; False where there is none."""
        number = self._number_at(x, y)
        if number is None or not self.listing.entries[number].ids:
            return False
        self._select(number)
        return True

    def select_id(self, sensor_id: str) -> None:
        """Select a sensor, where it is in the list."""
        if sensor_id in self._at:
            self._select(self._at[sensor_id])

    @property
    def selected(self) -> Entry | None:
        """The row of the cursor; None where there is no sensor."""
        entries = self.listing.entries
        if 0 <= self._cursor < len(entries) and entries[self._cursor].ids:
            return entries[self._cursor]
        return None

    @property
    def selected_facts(self) -> RowFacts | None:
        """What the row of the cursor shows."""
        entry = self.selected
        return self.facts(entry) if entry is not None else None

    def facts(self, entry: Entry) -> RowFacts:
        """Return what a sensor's row shows."""
        assert self.snapshot is not None
        return RowFacts(
            entry.text,
            self.snapshot.readings[entry.index],
            self.history.extent(entry.ids[0]),
            entry.threshold,
            entry.judged,
            entry.hidden,
            len(entry.ids),
            entry.indent,
        )

    def _select(self, number: int) -> None:
        self._cursor = number
        self._remember_cursor()
        self._keep_cursor_seen()

    def _remember_cursor(self) -> None:
        entry = self.selected
        self.cursor_id = entry.ids[0] if entry is not None else None

    def _nearest_sensor(self, number: int, within: range | None = None) -> int:
        """Return the row of a sensor that is nearest to a row, below it first."""
        entries = self.listing.entries
        allowed = within if within is not None else range(len(entries))
        rows = [at for at in allowed if at < len(entries) and entries[at].ids]
        return min(rows, key=lambda at: (abs(at - number), -at), default=0)

    def _keep_cursor_seen(self) -> None:
        entries, capacity = self.listing.entries, self.layout.capacity
        self._split = self.layout.table
        if len(entries) <= capacity:
            self._offset = 0
            self._split = split_panes([not entry.ids or not entry.indent for entry in entries], self.layout)
            return
        self._offset = scroll_to(self._offset, self._cursor, len(entries), capacity)
        if self._offset == self._cursor and self._cursor > 0 and entries[self._cursor - 1].heading:
            self._offset -= 1

    def _number_at(self, x: int, y: int) -> int | None:
        layout = self.layout
        line = y - layout.table_top - 1
        pane = x // (layout.pane + GAP)
        if not 0 <= line < layout.table or pane >= layout.panes:
            return None
        return self._number(pane, line)

    def _number(self, pane: int, line: int) -> int | None:
        """Return which row of the list stands at a line of a pane."""
        number = self._offset + line
        if pane:
            number += self._split
        elif line >= self._split:
            return None
        return number if number < len(self.listing.entries) else None

    # What goes out

    def rows(self) -> list[Row]:
        """Return the whole body, exactly as high and as wide as its size."""
        layout = self.layout
        rows = self._block_rows()
        rows.append(((" " * layout.width, ""),))
        table = self._table_rows()
        if layout.beside:
            details = detail_rows(self.selected, self.selected_facts, layout.beside - GAP, len(table))
            edge = self._edge
            rows += [(*row, edge, *right) for row, right in zip(table, details, strict=True)]
        else:
            rows += table
        if layout.below:
            rows += self._rule_rows()
            inner = detail_rows(self.selected, self.selected_facts, layout.width - 3, layout.below - 1)
            rows += [(("   ", ""), *row) for row in inner]
        return rows[: layout.height]

    _edge = ("  │ ", "edge")

    def _rule_rows(self) -> list[Row]:
        return [((" " + "─" * (self.layout.width - 2) + " ", "edge"),)]

    def _block_rows(self) -> list[Row]:
        layout = self.layout
        rows = summary_rows(self.snapshot, self.history.extent(HEADLINE), layout.summary, layout.block)
        if layout.graph:
            limit = self.snapshot.headline.limit_celsius if self.snapshot is not None else None
            right = self.graph.rows(layout.graph, layout.block, limit, self._pins(), self._blocks)
            gap = (" " * GAP, "")
            rows = [(*left, gap, *graph) for left, graph in zip(rows, right, strict=True)]
        return rows

    def _pins(self) -> list[tuple[Reading, str]]:
        """Return the pinned sensors that are here, with what they are called."""
        if self.snapshot is None or not self.view.pinned:
            return []
        pins = []
        for sensor_id in self.view.pinned:
            number = self._at.get(sensor_id)
            if number is not None:
                entry = self.listing.entries[number]
                pins.append((self.snapshot.readings[entry.index], entry.text.partition(" · ")[0]))
        return pins

    def _table_rows(self) -> list[Row]:
        """Return head and rows of the table, pane beside pane."""
        layout = self.layout
        panes = [self._pane_rows(pane) for pane in range(layout.panes)]
        if layout.panes == 1:
            return panes[0]
        gap = (" " * GAP, "")
        odd = layout.width - (layout.beside + GAP if layout.beside else 0) - 2 * layout.pane - GAP
        end = ((" " * odd, ""),) if odd else ()
        return [(*left, gap, *right, *end) for left, right in zip(*panes, strict=True)]

    def _pane_rows(self, pane: int) -> list[Row]:
        rows = [header_row(self._columns, *self._titles(pane))]
        blank: Row = ((" " * self.layout.pane, ""),)
        for line in range(self.layout.table):
            number = self._number(pane, line)
            rows.append(blank if number is None else self._row(number))
        if pane == 0 and not self.listing.entries:
            for line, text in enumerate(self._why_empty()[: self.layout.table], 1):
                rows[line] = note_row(text, self.layout.pane)
        return rows

    def _row(self, number: int) -> Row:
        """Return one row, the one drawn before where nothing of it changed."""
        entry = self.listing.entries[number]
        drawn = self._drawn.get(number)
        if not entry.ids:
            if drawn is not None:
                return drawn[3]
            width = self.layout.pane
            row = heading_row(entry.text, entry.note, width) if entry.heading else note_row(entry.text, width)
            self._drawn[number] = (None, (), False, row)
            return row
        facts = self.facts(entry)
        extent = _seen(facts.extent, self._columns)
        selected = number == self._cursor
        if drawn is not None and drawn[0] is facts.reading and drawn[1] == extent and drawn[2] is selected:
            return drawn[3]
        row = sensor_row(facts, self._columns, selected, self._blocks)
        if selected:
            row = tuple((text, f"{ink}+row") for text, ink in row)
        if drawn is not None and drawn[3] == row:
            row = drawn[3]
        self._drawn[number] = (facts.reading, extent, selected, row)
        return row

    def _titles(self, pane: int) -> tuple[str, list[str]]:
        """Return the head's left word, and for its right end how much of the list is seen, the longest first."""
        title = self._title() if pane == 0 else "SENSOR"
        if pane != self.layout.panes - 1:
            return title, []
        listing, capacity = self.listing, self.layout.capacity
        count, hidden = len(listing.entries), f"{listing.left_out} hidden" if listing.left_out else ""
        if count <= capacity:
            return title, [hidden]
        last = self._offset + capacity
        seen = f"{self._offset + 1}-{last} of {count}"
        return title, [f"{seen} · {hidden}", seen, f"{last}/{count}"] if hidden else [seen, f"{last}/{count}"]

    def _title(self) -> str:
        if self.view.text:
            return f"SENSOR with “{self.view.text}”"
        return "SENSOR" if self.view.order is Order.CHIP else f"SENSOR {self.view.order.value}"

    def _why_empty(self) -> list[str]:
        """Say what would be here, and what to do."""
        if self.snapshot is None:
            return ["The sensors come with the first look."]
        if self.listing.filtered_out:
            return [f"No sensor has “{self.view.text}” in its name, chip or state.", "Escape takes the filter away."]
        if self.listing.left_out:
            return [f"Hidden or unused: all there are ({self.listing.left_out}).", "H shows them."]
        reasons = [
            f"{problem.source}: {problem.reason}"
            for problem in self.snapshot.problems
            if "hwmon" in problem.source or "thermal" in problem.source
        ]
        why = reasons[0] if reasons else "/sys/class/hwmon holds no chip"
        return [f"There is no sensor here ({why}).", "A virtual machine has none. toolkit --demo shows a laptop's."]


def _seen(extent: Extent | None, columns: Columns) -> tuple[float, ...]:
    """Return the figures of an extent as far as they can be seen, so that a mean that creeps redraws nothing."""
    if extent is None:
        return ()
    return (extent.minimum, round(extent.mean, 2) if columns.mean else 0.0, extent.maximum)
