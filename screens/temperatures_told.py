"""What a recording came to, as a page of its own: the same lines as `toolkit temps --record` ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from screens.base import ToolkitScreen
from screens.format import Severity
from screens.widgets.canvas import Canvas
from toolkit.sensors.report import summary_lines
from toolkit.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.sensors.summary import Summary


class SummaryScreen(ToolkitScreen):
    """The summary of one recording."""

    TITLE_ON_TOP = "Temperatures › Recording"
    HELP_PAGE = "temperatures"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll(-1)", "up", id="summary.up", show=False, tooltip="Scroll up"),
        Binding("down,j", "scroll(1)", "down", id="summary.down", show=False, tooltip="Scroll down"),
        Binding("space,pagedown", "page(1)", "next page", id="summary.page_down", show=False, tooltip="One page down"),
        Binding("b,pageup", "page(-1)", "page before", id="summary.page_up", show=False, tooltip="One page up"),
        Binding("q,escape,enter,backspace", "back", "back", id="summary.back", tooltip="Back to the temperatures"),
    ]

    def __init__(self, summary: Summary, files: Sequence[str], problems: Sequence[str]) -> None:
        """Show a summary, the files that hold it, and what went wrong with them."""
        super().__init__()
        self._sentence = summary.verdict.sentence
        told = [
            *summary_lines(summary),
            *(f"{'' if number else 'Files':12}{file}" for number, file in enumerate(files)),
        ]
        told += [f"{'' if number else 'But':12}{printable(text, 400)}" for number, text in enumerate(problems)]
        self._lines = [line for line in told if line != self._sentence]

    def compose_body(self) -> ComposeResult:
        """Yield the lines, scrollable."""
        with VerticalScroll(id="help-scroll", can_focus=False):
            yield Canvas([((f" {line}", ""),) if line else () for line in self._lines], id="help-text")

    def on_mount(self) -> None:
        """The verdict says whether the recording was fair."""
        self.set_verdict(self._sentence, Severity.NOTE)

    def page_as_text(self) -> str:
        """Return all lines, not only what is seen."""
        return "\n".join([self._sentence, *self._lines]) + "\n"

    def _scroller(self) -> VerticalScroll:
        return self.query_one("#help-scroll", VerticalScroll)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self._scroller().scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        scroller = self._scroller()
        scroller.scroll_relative(y=by * max(1, scroller.size.height - 1), animate=False)
