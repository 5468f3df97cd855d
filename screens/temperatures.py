"""Temperatures (2): the headline in large digits, its history, and every sensor, live."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from screens.base import FILTER, SORT
from screens.format import Severity
from screens.temperatures_alarm import parse_threshold
from screens.temperatures_choices import rename, toggle_hidden, toggle_pinned, with_threshold
from screens.temperatures_details import detail_text
from screens.temperatures_graph import next_span
from screens.temperatures_list import Entry, View
from screens.temperatures_page import TemperaturesPage
from screens.temperatures_panel import Panel, Prompt, Question
from screens.temperatures_record import RecordingScreen
from screens.temperatures_summary import verdict_of
from screens.temperatures_text import page_text
from screens.widgets.bar import COARSE
from screens.widgets.footer import FooterKey
from toolkit.config import TemperatureSettings
from toolkit.sensors.model import Snapshot
from toolkit.text import printable

INTERVALS_S = (0.5, 1.0, 2.0, 5.0, 10.0)


class TemperaturesScreen(RecordingScreen):
    """Every sensor, live, with its history and its limits."""

    SUBJECT = "temperatures"
    TITLE_ON_TOP = "Temperatures"
    HELP_PAGE = "temperatures"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "record", "record", id="temperatures.record", tooltip="Record into a file, and stop"),
        Binding(
            "R",
            "summary",
            "last recording",
            show=False,
            id="temperatures.summary",
            tooltip="What the last recording came to: the summary and where its files are",
        ),
        Binding("m", "mark", "mark", id="temperatures.mark", tooltip="Mark this moment in graph and recording"),
        Binding("h", "hide", "hide", id="temperatures.hide", tooltip="Hide the selected sensor, or show it again"),
        Binding("t", "threshold", "limit", id="temperatures.threshold", tooltip="Tell me when it reaches a value"),
        Binding("g", "span", "span", id="temperatures.span", tooltip="The graph over 1, 10 or 60 minutes"),
        Binding("z", "zero", "zero", id="temperatures.zero", tooltip="Begin minimum, mean and maximum anew"),
        Binding(
            "space,asterisk",
            "pin",
            "pin",
            show=False,
            id="temperatures.pin",
            tooltip="Pin the sensor: first in the table, and in the graph",
        ),
        Binding("n", "rename", "rename", show=False, id="temperatures.rename", tooltip="Give the sensor another name"),
        Binding(
            "i,enter",
            "details",
            "details",
            show=False,
            id="temperatures.details",
            tooltip="All that is known of the selected sensor",
        ),
        Binding(
            "H",
            "show_hidden",
            "show hidden",
            show=False,
            id="temperatures.show_hidden",
            tooltip="Show hidden and unused sensors too, or leave them out",
        ),
        replace(SORT, show=False),
        replace(FILTER, show=False),
        Binding(
            "plus,equals_sign",
            "faster",
            "look more often",
            show=False,
            id="temperatures.faster",
            tooltip="Look more often, down to twice a second",
        ),
        Binding(
            "minus",
            "slower",
            "look less often",
            show=False,
            id="temperatures.slower",
            tooltip="Look less often, up to every ten seconds",
        ),
        Binding("up,k", "move(-1)", "up", show=False, id="temperatures.up", tooltip="Select the sensor above"),
        Binding("down,j", "move(1)", "down", show=False, id="temperatures.down", tooltip="Select the sensor below"),
        Binding("pageup", "page(-1)", "page up", show=False, id="temperatures.page_up", tooltip="One page up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="temperatures.page_down", tooltip="One page down"),
        Binding("home", "move(-99999)", "first", show=False, id="temperatures.first", tooltip="To the first sensor"),
        Binding("end,G", "move(99999)", "last", show=False, id="temperatures.last", tooltip="To the last sensor"),
    ]

    def __init__(self) -> None:
        """Start empty; the application is known once the screen is mounted."""
        super().__init__()
        self._page: TemperaturesPage | None = None

    def compose_body(self) -> ComposeResult:
        """Yield the panel, which draws everything, and the line for typing."""
        yield Panel()
        yield Prompt()

    @property
    def page(self) -> TemperaturesPage:
        """What is shown."""
        if self._page is None:
            self._page = TemperaturesPage(self.toolkit.history, self.toolkit.blocks)
            self._page.graph.minutes = self._settings.history_minutes
            self._choose()
        return self._page

    @property
    def _settings(self) -> TemperatureSettings:
        return self.toolkit.settings.temperatures

    # What comes from outside

    def on_mount(self) -> None:
        """Follow the theme: the sixteen colours are those of a console, whose font has no eighth blocks."""
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._use_font())
        self._use_font()
        self.set_verdict("Looking at the sensors.", Severity.NOTE)

    def _use_font(self) -> None:
        self.page.use_blocks(COARSE if self.app.theme == "ansi" else self.toolkit.blocks)
        self._draw()

    def on_snapshot(self, snapshot: Snapshot) -> None:
        """Take the values, tell crossed thresholds, draw what changed."""
        self.page.take(snapshot)
        self.toolkit.watch_thresholds(snapshot)  # again here: a threshold may have been set since
        self.set_verdict(*verdict_of(snapshot, [crossing.sentence for crossing in self.toolkit.thresholds.over]))
        self._draw()

    def on_panel_resized(self, event: Panel.Resized) -> None:
        """Lay out for the panel's new size."""
        event.stop()
        self._draw()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        panel = self.query_one(Panel)
        size = panel.size
        if size.width and size.height:
            page = self.page
            if (page.layout.width, page.layout.height) != (size.width, size.height):
                page.resize(size.width, size.height)
            panel.show(page.rows())

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys of the line for typing while it is open."""
        if self.query_one(Prompt).is_open:
            return (FooterKey("enter", "keep"), FooterKey("esc", "leave", "back"))
        return super().footer_keys()

    def footer_word(self, action: str) -> str | None:
        """Return what the keys do now."""
        if action == "record":
            return "stop recording" if self.toolkit.recording is not None else None
        if action == "span":
            return f"{self.page.graph.minutes} min"
        if action == "zero":
            return "zero min/max"
        entry = self.page.selected
        return "unhide" if action == "hide" and entry is not None and entry.hidden else None

    def deed_title(self, action: str) -> str | None:
        """Return what the palette calls an action."""
        entry = self.page.selected
        titles = {
            "span": "Span of the graph",
            "threshold": "Tell me at a temperature",
            "zero": "Begin minimum and maximum anew",
            "pin": "Pin the selected sensor",
            "rename": "Rename the selected sensor",
            "hide": f"{'Show' if entry is not None and entry.hidden else 'Hide'} the selected sensor",
        }
        return titles.get(action) or self.footer_word(action)

    # The cursor

    def action_move(self, by: int) -> None:
        """Select another sensor."""
        self._moved(lambda page: page.move(by))

    def action_page(self, direction: int) -> None:
        """Go a page up or down."""
        self._moved(lambda page: page.move(direction * max(1, page.layout.table - 1)))

    def on_panel_pressed(self, event: Panel.Pressed) -> None:
        """Select what was clicked; a double click opens its details."""
        event.stop()
        if self.page.select_at(event.x, event.y):
            self._draw()
            self.refresh_bindings()
            if event.twice:
                self.action_details()

    def on_panel_wheeled(self, event: Panel.Wheeled) -> None:
        """Scroll."""
        event.stop()
        self._moved(lambda page: page.scroll(event.by))

    def _moved(self, change: Callable[[TemperaturesPage], None]) -> None:
        hidden = self.page.selected is not None and self.page.selected.hidden
        change(self.page)
        self._draw()
        if hidden != (self.page.selected is not None and self.page.selected.hidden):
            self.refresh_bindings()

    # What is shown

    def _choose(self) -> None:
        """Bring the page's view in line with the settings."""
        if self._page is not None:
            kept = self._settings
            view = self._page.view
            self._page.choose(
                replace(view, hidden=kept.hidden, pinned=kept.pinned, names=kept.names, thresholds=kept.thresholds)
            )

    def _keep(self, settings: TemperatureSettings) -> None:
        """Save choices, and show them."""
        self.toolkit.save_settings(replace(self.toolkit.settings, temperatures=settings))
        self._choose()
        self._draw()

    def _view(self, view: View) -> None:
        self.page.choose(view)
        self._draw()

    def action_sort(self) -> None:
        """Go on to the next order."""
        self._view(replace(self.page.view, order=self.page.view.order.next))

    def action_show_hidden(self) -> None:
        """Show hidden and unused sensors too, or leave them out."""
        self._view(replace(self.page.view, show_hidden=not self.page.view.show_hidden))

    def action_filter(self) -> None:
        """Ask for a text that rows must hold."""
        before = self.page.view.text

        def typed(text: str) -> None:
            self._view(replace(self.page.view, text=text.strip()))

        label = "Show rows that hold this text: enter keeps it, escape takes it back"
        self._ask(Question(label, before, "core, nvme, fan, asleep", typed, typed, lambda: typed(before)))

    def action_details(self) -> None:
        """Open or close the details of the selected row."""
        self.page.toggle_details()
        self._draw()

    def action_span(self) -> None:
        """Go on to the next span of the graph."""
        minutes = next_span(self.page.graph.minutes)
        self.page.graph.minutes = minutes
        self._keep(replace(self._settings, history_minutes=minutes))
        self.refresh_bindings()

    def action_zero(self) -> None:
        """Begin minimum, mean and maximum anew."""
        self.toolkit.history.zero()
        self._draw()
        self.notify("Minimum, mean and maximum begin anew.", timeout=3)

    def action_faster(self) -> None:
        """Look more often."""
        self._set_interval([value for value in INTERVALS_S if value < self._settings.interval_s][-1:])

    def action_slower(self) -> None:
        """Look less often."""
        self._set_interval([value for value in INTERVALS_S if value > self._settings.interval_s][:1])

    def _set_interval(self, wanted: list[float]) -> None:
        if wanted:
            self._keep(replace(self._settings, interval_s=wanted[0]))
        seconds = self._settings.interval_s
        self.notify("A look every second." if seconds == 1 else f"A look every {seconds:g} seconds.", timeout=3)

    # The selected sensor

    def _single(self) -> Entry | None:
        """Return the selected row where it stands for one sensor; else say what to do."""
        entry = self.page.selected
        if entry is None:
            self.notify("No sensor is selected.", severity="warning", timeout=4)
        elif len(entry.ids) > 1:
            self.notify(
                f"This row stands for {len(entry.ids)} sensors; wait until they can be read.",
                severity="warning",
                timeout=5,
                markup=False,
            )
        else:
            return entry
        return None

    def action_hide(self) -> None:
        """Hide the selected sensor, or show it again."""
        entry = self.page.selected
        if entry is None:
            self.notify("No sensor is selected.", severity="warning", timeout=4)
            return
        self._keep(toggle_hidden(self._settings, entry.ids, not entry.hidden))
        if not entry.hidden and not self.page.view.show_hidden:
            self.notify(f"{entry.text} is hidden. H shows what is hidden.", markup=False, timeout=4)
        self.refresh_bindings()

    def action_pin(self) -> None:
        """Pin the selected sensor, or let it go."""
        entry = self._single()
        if entry is not None:
            self._keep(toggle_pinned(self._settings, entry.ids[0]))

    def action_rename(self) -> None:
        """Ask for another name of the selected sensor."""
        entry = self._single()
        facts = self.page.selected_facts
        if entry is None or facts is None:
            return
        sensor_id, true_name = entry.ids[0], facts.reading.sensor.name

        def done(text: str) -> None:
            self._keep(rename(self._settings, sensor_id, text, true_name))

        label = f"A name for {printable(true_name)}: enter keeps it, an empty line removes it, escape leaves"
        self._ask(Question(label, self._settings.names.get(sensor_id, ""), printable(true_name), done))

    def action_threshold(self) -> None:
        """Ask for the value at which the person wants to be told."""
        entry = self._single()
        facts = self.page.selected_facts
        if entry is None or facts is None:
            return
        sensor_id, quantity = entry.ids[0], facts.reading.sensor.quantity

        def done(text: str) -> None:
            self._keep(with_threshold(self._settings, sensor_id, parse_threshold(text, quantity)))
            if self.toolkit.latest is not None:
                self.on_snapshot(self.toolkit.latest)

        now = self._settings.thresholds.get(sensor_id)
        label = f"Tell me when {entry.text} reaches ({quantity.symbol}): enter keeps it, an empty line removes it"
        self._ask(Question(label, "" if now is None else f"{now:g}", "no threshold", done))

    def _ask(self, question: Question) -> None:
        self.query_one(Prompt).ask(question)

    def action_back(self) -> None:
        """Leave the line for typing, then the filter, then the screen."""
        prompt = self.query_one(Prompt)
        if prompt.is_open:
            prompt.close(cancelled=True)
        elif self.page.view.text:
            self._view(replace(self.page.view, text=""))
        else:
            super().action_back()

    def action_mark(self) -> None:
        """Mark this moment, in the graph and in the recording."""
        now = self.toolkit.history.last_s
        if now is not None:
            self.page.graph.mark(now)
        if not self.mark_recording(f"mark {len(self.page.graph.marks)}"):
            self.notify("Marked in the graph. A recording (r) keeps marks, too.", timeout=3)
        self._draw()

    # Taking along

    def row_as_text(self) -> str:
        """Return all that is known of the selected sensor."""
        entry, facts = self.page.selected, self.page.selected_facts
        return "" if entry is None or facts is None else f"{detail_text(entry, facts)}\n"

    def page_as_text(self) -> str:
        """Return headline and whole table, also the rows that are not seen."""
        return page_text(self.page, self.verdict, self.toolkit.machine)
