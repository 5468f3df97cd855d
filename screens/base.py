"""What all screens have in common: top line, verdict, body, footer, the common keys, copying.

A screen overrides `compose_body`, `on_snapshot`, `row_as_text`, and sets `SUBJECT`, `TITLE_ON_TOP`, `HELP_PAGE`.
Its bindings have ids `<screen>.<action>`; those with `show=True` are in the footer (the first six), all are in help.
`SORT` and `FILTER` below are for screens that can do it; they then define `action_sort`, `action_filter`.
An `Input` on a screen takes `cursor_blink = False`: a blinking cursor is a timer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widget import Widget

from screens.format import Severity
from screens.small import LEAST_HEIGHT, LEAST_WIDTH, SmallNotice
from screens.widgets.canvas import INK_CLASSES
from screens.widgets.footer import FooterKey, FooterLine, shown_keys
from screens.widgets.topline import TopLine, TopState
from screens.widgets.verdict import VerdictLine
from toolkit.errors import Problem
from toolkit.sensors.model import Snapshot

if TYPE_CHECKING:
    from screens.app import ToolkitApp
    from screens.palette import Command

SORT = Binding("o", "sort", "sort", id="common.sort", tooltip="Change the order of the rows")
FILTER = Binding("slash", "filter", "filter", id="common.filter", tooltip="Show only the rows that hold a text")

WIDTHS: list[tuple[int, str]] = [(0, "-tiny"), (LEAST_WIDTH, "-w60"), (80, "-w80"), (120, "-w120"), (160, "-w160")]
"""Classes of a screen by its width; exactly one is set, so a rule for wide screens names -w120 and -w160."""
HEIGHTS: list[tuple[int, str]] = [(0, "-low"), (LEAST_HEIGHT, "-h18"), (24, "-h24"), (36, "-h36")]
"""Classes of a screen by its height; exactly one is set."""


class Body(Widget):
    """Holds what `compose_body` yields, one below the other."""

    DEFAULT_CSS = "Body { layout: vertical; height: 1fr; width: 1fr; }"


class ToolkitScreen(Screen[None], inherit_bindings=False):
    """A screen with top line, verdict, body and footer."""

    SUBJECT: ClassVar[str] = ""
    """The id of the subject in screens/subjects.py; empty for screens that stand above a subject."""
    TITLE_ON_TOP: ClassVar[str] = ""
    HELP_PAGE: ClassVar[str] = "overview"
    """Name of the page in assets/help, without `.md`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = set(INK_CLASSES)
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "copy_row", "copy row", id="common.copy_row", show=False, tooltip="Copy the selected row as text"),
        Binding("Y", "copy_page", "copy page", id="common.copy_page", show=False, tooltip="Copy the page as text"),
        Binding("p", "pause", "pause", id="common.pause", show=False, tooltip="Let the values stand still, and go on"),
        Binding("q,escape", "back", "back", id="common.back", show=False, tooltip="Back; on the overview it quits"),
        Binding("tab", "app.focus_next", id="common.focus_next", show=False, tooltip="To the next part of the screen"),
        Binding("shift+tab", "app.focus_previous", id="common.focus_previous", show=False, tooltip="To the one before"),
        Binding(
            "ctrl+c",
            "screen.copy_text",
            id="common.copy_text",
            show=False,
            tooltip="Copy what is selected, else leave",
        ),
    ]

    def __init__(self) -> None:
        """Make the lines that all screens have."""
        super().__init__()
        self._top_line = TopLine(TopState(""))
        self._verdict_line = VerdictLine()
        self._notice = SmallNotice()

    @property
    def toolkit(self) -> ToolkitApp:
        """The application, as what it is."""
        return cast("ToolkitApp", self.app)

    @property
    def name_on_top(self) -> str:
        """What stands on the top line; override where it depends on what is shown."""
        return self.TITLE_ON_TOP

    def compose(self) -> ComposeResult:
        """Yield the parts; a screen overrides `compose_body` instead."""
        yield self._top_line
        yield self._verdict_line
        with Body(id="body"):
            yield from self.compose_body()
        yield FooterLine()
        yield self._notice

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between verdict and footer."""
        yield from ()

    # What comes from outside

    def on_snapshot(self, snapshot: Snapshot) -> None:
        """Show a snapshot; called for each one while the screen is seen, and once when it comes to be seen."""

    def on_problem(self, problem: Problem) -> None:
        """Say that the probe failed; the next snapshot takes it back."""
        hint = f" ({problem.hint})" if problem.hint else ""
        self.set_verdict(f"No new values from {problem.source}: {problem.reason}{hint}.", Severity.BAD)

    def take(self, snapshot: Snapshot) -> None:
        """Called by the application: top line first, then the screen's own."""
        self.refresh_top()
        self.on_snapshot(snapshot)

    def on_mount(self) -> None:
        """Show what is known already."""
        self._catch_up()

    def on_screen_resume(self) -> None:
        """The screen comes to be seen: show the newest values."""
        self._catch_up()

    def _catch_up(self) -> None:
        latest = self.toolkit.latest
        if latest is not None:
            self.take(latest)
        else:
            self.refresh_top()
        if self.toolkit.problem is not None:
            self.on_problem(self.toolkit.problem)

    # Top line, verdict, footer

    def _top_state(self) -> TopState:
        app = self.toolkit
        return TopState(
            name=self.name_on_top,
            machine=app.machine,
            label=app.host.label,
            headline=app.latest.headline if app.latest is not None else None,
            recording_s=app.recording_s,
            paused=app.paused,
        )

    def refresh_top(self) -> None:
        """Bring the top line up to date: after a snapshot, a pause, a change of `name_on_top`."""
        state = self._top_state()
        self._top_line.show_state(state)
        self._notice.show_headline(state.headline, state.label)

    def set_verdict(self, text: str, severity: Severity = Severity.OK) -> None:
        """Show one sentence on the second line."""
        self._verdict_line.show_verdict(text, severity)

    @property
    def verdict(self) -> str:
        """The sentence on the second line."""
        return self._verdict_line.sentence

    def footer_keys(self) -> Iterable[FooterKey]:
        """Return the keys for the footer, the most wanted first; six are shown at most, help comes after them."""
        return shown_keys(self, self.active_bindings.values())

    def footer_word(self, action: str) -> str | None:  # noqa: ARG002 - a hook
        """Return what an action is called now (`stop recording`), or None for its description.

        Call `refresh_bindings()` when the answer changes.
        """
        return None

    def deed_title(self, action: str) -> str | None:
        """Return what the palette calls an action, where the footer's word says a state or too little."""
        return self.footer_word(action)

    def palette_commands(self) -> Iterable[Command]:
        """Yield what this screen adds to the command palette."""
        return ()

    # Common actions

    def row_as_text(self) -> str:
        """Return the selected row as text; empty where nothing is selected."""
        return ""

    def page_as_text(self) -> str:
        """Return the page as text, by default as it stands on the screen, without the footer."""
        lines = screen_text(self).split("\n")[:-1]
        return "\n".join(lines).rstrip("\n") + "\n"

    def action_copy_row(self) -> None:
        """Copy the selected row."""
        text = self.row_as_text()
        if text:
            self.toolkit.copy_text(text, "the row")
        else:
            self.notify("No row is selected; Y copies the page.", severity="warning")

    def action_copy_page(self) -> None:
        """Copy the page."""
        self.toolkit.copy_text(self.page_as_text(), "the page")

    def action_pause(self) -> None:
        """Let the values stand still, or go on."""
        self.toolkit.toggle_pause()

    def action_back(self) -> None:
        """Go back."""
        self.toolkit.go_back()


def screen_text(screen: Screen[Any]) -> str:
    """Return what stands on a screen as text, one line a row.

    The compositor is a private part of Textual; this is the one place that uses it.
    """
    strips = screen._compositor.render_strips()  # noqa: SLF001 - nothing public gives the text
    return "\n".join(strip.text.rstrip() for strip in strips)
