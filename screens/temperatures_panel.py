"""The widgets of the temperatures screen: one that draws the whole body, and the line for typing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.app import ComposeResult
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from screens.widgets.canvas import Canvas, Row, changed_span
from toolkit.text import printable


class Panel(Canvas):
    """Draws the body: one widget, so that a tick costs one message and one repaint of the cells that changed.

    An ink may end in `+fill`: the same without a line below it, for blocks; and in `+row`: the same on the background
    of the selected row.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"panel--row"}
    DEFAULT_CSS = """
    Panel { height: 1fr; }
    Panel .panel--row { background: $panel; }
    """

    class Resized(Message):
        """The panel has another size."""

    class Pressed(Message):
        """A cell was clicked; `twice` where it was a double click."""

        def __init__(self, x: int, y: int, twice: bool) -> None:
            """Keep the cell."""
            super().__init__()
            self.x, self.y, self.twice = x, y, twice

    class Wheeled(Message):
        """The mouse wheel was turned, by so many rows."""

        def __init__(self, by: int) -> None:
            """Keep the direction."""
            super().__init__()
            self.by = by

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(id="panel")

    def show(self, rows: Sequence[Row]) -> None:
        """Show other rows; one refresh for all the cells that differ."""
        old, new = self._rows, tuple(rows)
        self._rows = new
        if not self.is_mounted:
            return
        width = self.size.width
        if len(old) != len(new):
            self.refresh()
            return
        regions = []
        for y, (before, after) in enumerate(zip(old, new, strict=True)):
            if before is after:
                continue
            span = changed_span(before, after)
            if span is not None and span[0] < width:
                regions.append(Region(span[0], y, min(span[1], width - span[0]), 1))
        if regions:
            self.refresh(*regions)

    def _mix(self, name: str) -> Style:
        """Return the style of an ink with what stands behind its plus signs."""
        base, *more = name.split("+")
        style = super()._mix(base)
        if "fill" in more:
            style += Style(underline=False)
        if "row" in more:
            background = self.get_component_styles("panel--row").background
            if background.ansi is None:  # the terminal's own background cannot be told apart from a row's
                style += Style(bgcolor=background.rich_color)
        return style

    def on_resize(self) -> None:
        """Tell the screen."""
        self.post_message(self.Resized())

    def on_click(self, event: events.Click) -> None:
        """Tell the screen where."""
        self.post_message(self.Pressed(event.x, event.y, event.chain > 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll down."""
        event.stop()
        self.post_message(self.Wheeled(3))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll up."""
        event.stop()
        self.post_message(self.Wheeled(-3))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for in the line for typing.

    Attributes:
        label: what stands before the text, with how to leave.
        text: what stands there at first.
        placeholder: what stands there while nothing is typed.
        done: called with the text on enter; raises ValueError with one sentence where it will not do.
        typed: called with the text at each key, or None.
        cancelled: called when the line is left by escape, or None.
    """

    label: str
    text: str
    placeholder: str
    done: Callable[[str], None]
    typed: Callable[[str], None] | None = None
    cancelled: Callable[[], None] | None = None


class Prompt(Widget):
    """A line for typing below the table; seen only while something is asked for."""

    DEFAULT_CSS = """
    Prompt { height: 2; display: none; layout: vertical; }
    Prompt.-open { display: block; }
    Prompt Input, Prompt Input:focus { height: 1; border: none; padding: 0 3; background: $panel; }
    Prompt Canvas { height: 1; }
    """

    def __init__(self) -> None:
        """Start unseen."""
        super().__init__(id="prompt")
        self._question: Question | None = None

    def compose(self) -> ComposeResult:
        """Yield the label's line and the input."""
        yield Canvas([()], id="prompt-label")
        field = Input(id="prompt-input", select_on_focus=False)
        field.cursor_blink = False
        field.can_focus = False  # until something is asked for
        yield field

    @property
    def is_open(self) -> bool:
        """True while something is asked for."""
        return self._question is not None

    def ask(self, question: Question) -> None:
        """Open the line."""
        self._question = None  # what is set below is not typed
        field = self.query_one(Input)
        field.placeholder = question.placeholder
        with field.prevent(Input.Changed):
            field.value = question.text
        field.cursor_position = len(question.text)
        self._question = question
        self._say(question.label, "title")
        self.add_class("-open")
        field.can_focus = True
        field.focus()

    def close(self, cancelled: bool = False) -> None:
        """Close the line."""
        question, self._question = self._question, None
        self.remove_class("-open")
        self.screen.set_focus(None)
        self.query_one(Input).can_focus = False
        if cancelled and question is not None and question.cancelled is not None:
            question.cancelled()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass on what is typed; a complaint goes with the first key."""
        event.stop()
        question = self._question
        if question is None:
            return
        self._say(question.label, "title")
        if question.typed is not None:
            question.typed(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the text, or say in one line why it will not do."""
        event.stop()
        question = self._question
        if question is None:
            return
        try:
            question.done(event.value)
        except ValueError as error:
            self._say(f"! {error}", "warn")
            return
        self.close()

    def _say(self, text: str, ink: str) -> None:
        self.query_one("#prompt-label", Canvas).show([(("   ", ""), (printable(text), ink))])
