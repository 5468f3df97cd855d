"""The first line of every screen: program, screen, machine, and the headline temperature at the right."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from screens.format import celsius, duration, heat, shorten
from screens.widgets.canvas import Canvas, Piece, Row, row_width
from toolkit.sensors.model import Headline, Machine
from toolkit.text import printable

MACHINE_COLUMN = 28
"""Where the machine's name begins, so that it stands still from screen to screen."""
HEADLINE_WIDTH = 9
"""`!! 100 °C`: the field keeps its width, so nothing left of it moves."""


@dataclass(frozen=True, slots=True)
class TopState:
    """What the top line shows.

    Attributes:
        name: of the screen.
        machine: None until the first look.
        label: says that this is not this machine (`demo`, the name of a capture); empty for this one.
        headline: None until the first look.
        recording_s: how long a recording has been running; None where none is.
        paused: values stand still.
    """

    name: str
    machine: Machine | None = None
    label: str = ""
    headline: Headline | None = None
    recording_s: float | None = None
    paused: bool = False


def headline_piece(headline: Headline | None) -> Piece:
    """Return the headline with its glyph, right-aligned in its field: `   54 °C`, `!! 97 °C`, `≈ 41 °C`, `--`."""
    if headline is None or headline.celsius is None:
        return celsius(None, HEADLINE_WIDTH), "dim"
    judged = heat(headline.celsius, headline.limit_celsius)
    glyph = judged.glyph or ("≈" if headline.second_best else "")
    text = f"{glyph} {celsius(headline.celsius)}".strip()
    return text.rjust(HEADLINE_WIDTH), judged.ink if judged.glyph else "strong"


def machine_text(machine: Machine | None, width: int) -> str:
    """Return model and kernel in at most `width` cells; the kernel goes first where both do not fit."""
    if machine is None:
        return ""
    model = printable(machine.model) if machine.model else ""
    kernel = printable(machine.kernel) if machine.kernel else ""
    both = " · ".join(part for part in (model, kernel) if part)
    if cell_len(both) <= width:
        return both
    only = model or kernel
    return only if cell_len(only) <= width else (shorten(only, width) if width >= 8 else "")


def top_row(state: TopState, width: int) -> Row:
    """Lay the top line out for `width` cells; from the right: headline, recording, paused, label, machine, names."""
    right: list[Piece] = []
    if state.label:
        right += [(f" {shorten(printable(state.label), 20)} ", "label"), (" ", "")]
    if state.paused:
        right += [(" paused ", "label"), (" ", "")]
    if state.recording_s is not None:
        right += [(f"●REC {duration(state.recording_s)}", "bad"), ("", "")]
    right += [headline_piece(state.headline), (" ", "")]
    left: list[Piece] = [(" toolkit", "title"), ("  ", ""), (state.name, "strong")]
    while right[:-2] and row_width(tuple(left + right)) > width - 1:
        left = left[2:] if len(left) > 1 else left
        if len(left) == 1 and row_width(tuple(left + right)) > width - 1:
            break
    room = width - row_width(tuple(left)) - row_width(tuple(right))
    if room < 0:
        return _narrow(state, width)
    gap = max(2, MACHINE_COLUMN - row_width(tuple(left)))
    machine = machine_text(state.machine, room - gap - 2) if room > gap + 2 else ""
    if machine:
        left += [(" " * gap, ""), (machine, "dim")]
    filler = width - row_width(tuple(left)) - row_width(tuple(right))
    return (*left, (" " * filler, ""), *right)


def _narrow(state: TopState, width: int) -> Row:
    """The top line where not even the screen's name fits: the headline alone."""
    text, ink = headline_piece(state.headline)
    return ((shorten(text.strip(), width).rjust(width), ink),)


class TopLine(Canvas):
    """Shows a `TopState`."""

    ALLOW_SELECT = False

    def __init__(self, state: TopState) -> None:
        """Start with a state; the width is known from the first resize on."""
        super().__init__(id="topline")
        self._state = state

    @property
    def state(self) -> TopState:
        """What is shown."""
        return self._state

    def show_state(self, state: TopState) -> None:
        """Show another state; only the cells that differ are painted."""
        if state != self._state:
            self._state = state
            self._lay_out()

    def _lay_out(self) -> None:
        if self.size.width:
            self.show([top_row(self._state, self.size.width)])

    def on_resize(self) -> None:
        """Lay out again for the new width."""
        self._lay_out()
