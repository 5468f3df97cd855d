"""The last line of every screen, made from the bindings that are active: at most six keys, then help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from textual import events
from textual.binding import ActiveBinding
from textual.screen import Screen

from screens.format import fit
from screens.widgets.canvas import Canvas, Piece, Row, row_width

if TYPE_CHECKING:
    from screens.base import ToolkitScreen

MOST_KEYS = 6
PIECES_A_KEY = 3
"""The gap before a key, the key, what it does."""

_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "pageup": "page up",
    "pagedown": "page down",
    "plus": "+",
    "minus": "-",
    "space": "space",
    "full_stop": ".",
    "comma": ",",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "delete": "del",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
}


def key_name(key: str) -> str:
    """Return a key as a person reads it: `question_mark` is `?`, `upper_q` and `Q` are `Q`, `f1` is `F1`."""
    *modifiers, last = key.split("+")
    if last.startswith("upper_"):
        last = last[6:].upper()
    elif len(last) > 1 and last[0] == "f" and last[1:].isdigit():
        last = last.upper()
    else:
        last = _KEY_NAMES.get(last, last)
    return "+".join([*modifiers, last])


@dataclass(frozen=True, slots=True)
class FooterKey:
    """One key of the footer: as a person reads it, what it does, and what to run on a click."""

    key: str
    word: str
    action: str = ""


HELP_KEY = FooterKey("?", "help", "app.help")


def footer_row(keys: Sequence[FooterKey], width: int, help_key: FooterKey = HELP_KEY) -> Row:
    """Lay keys out in `width` cells: those at the right go first where there is no room, help stays.

    Two spaces stand between keys where they fit, else one.
    """
    chosen = list(keys)[:MOST_KEYS]
    while True:
        for gap in (2, 1):
            row = _pieces([*chosen, help_key], gap)
            if row_width(row) <= width:
                return row
        if not chosen:
            return ((fit(f" {help_key.key}", width), "key"),)
        chosen.pop()


def _pieces(keys: Iterable[FooterKey], gap: int) -> Row:
    pieces: list[Piece] = []
    for number, key in enumerate(keys):
        pieces.append((" " if number == 0 else " " * gap, ""))
        pieces.append((key.key, "key"))
        pieces.append((f" {key.word}", "dim"))
    return tuple(pieces)


def shown_keys(screen: ToolkitScreen, bindings: Iterable[ActiveBinding]) -> list[FooterKey]:
    """Pick the keys of the footer: bindings of the screen and its focused widget with `show`, in their order.

    The application's own keys are in help; where two keys do the same, the first is shown. The way back is last.
    """
    keys: list[FooterKey] = []
    seen: set[str] = set()
    for active in bindings:
        binding = active.binding
        if not binding.show or not active.enabled or active.node is screen.app or binding.action in seen:
            continue
        seen.add(binding.action)
        word = screen.footer_word(binding.action) or binding.description
        keys.append(FooterKey(binding.key_display or key_name(binding.key), word, binding.action))
    return sorted(keys, key=lambda key: key.action == "back")


class FooterLine(Canvas):
    """Shows the keys of the screen it stands on."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        """Start empty; the keys are known once the screen is there."""
        super().__init__([()], id="footer")
        self.keys: tuple[FooterKey, ...] = ()

    def on_mount(self) -> None:
        """Follow the screen's bindings."""
        self.screen.bindings_updated_signal.subscribe(self, self._bindings_changed)
        self._bindings_changed(self.screen)

    def on_resize(self) -> None:
        """Lay out again for the new width."""
        self._lay_out()

    def _bindings_changed(self, screen: Screen[Any]) -> None:
        from screens.base import ToolkitScreen

        if screen is self.screen and isinstance(screen, ToolkitScreen):
            self.keys = tuple(screen.footer_keys())
            self._lay_out()

    def _lay_out(self) -> None:
        if self.size.width:
            self.show([footer_row(self.keys, self.size.width)])

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the key that was clicked."""
        row = self.rows[0] if self.rows else ()
        shown = [*self.keys[: max(0, len(row) // PIECES_A_KEY - 1)], HELP_KEY]
        edge = 0
        for index, (text, _ink) in enumerate(row):
            edge += cell_len(text)
            if event.x < edge:
                await self.screen.run_action(shown[min(index // PIECES_A_KEY, len(shown) - 1)].action)
                break
