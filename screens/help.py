"""Help (`?`): what am I seeing, the keys that work now, what colours and glyphs mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import VerticalScroll

from screens.base import ToolkitScreen
from screens.format import Severity, fit
from screens.widgets.canvas import Canvas, Row
from screens.widgets.footer import key_name
from screens.widgets.verdict import wrap
from toolkit.errors import ToolkitError

WIDEST = 90
"""Lines longer than this are tiring to read."""
KEY_WIDTH = 14

GLYPHS: tuple[tuple[str, str, str], ...] = (
    ("ok", "ok", "as it should be"),
    ("! warm", "warn", "within 15 degrees of the part's own limit"),
    ("!! hot", "bad", "within 7 degrees of it, or above"),
    ("x FAULTED", "bad", "the chip itself says that the value means nothing"),
    ("? implausible", "warn", "a value that cannot be true; it is not counted"),
    ("- not readable", "warn", "reading failed; the reason stands beside it"),
    ("~ asleep", "dim", "not read, since reading would wake the device"),
    ("--", "dim", "not known, never a zero"),
    ("≈", "strong", "second-best: not from a sensor of the CPU itself"),
    ("●REC", "bad", "a recording is under way"),
)


@dataclass(frozen=True, slots=True)
class Key:
    """All keys of one action, as a person reads them, and what it does."""

    names: tuple[str, ...]
    does: str
    everywhere: bool


def all_keys(bindings: Iterable[ActiveBinding]) -> list[Key]:
    """Return every action that has a key, in the order of the bindings."""
    keys: dict[tuple[str, bool], list[str]] = {}
    words: dict[tuple[str, bool], str] = {}
    for active in bindings:
        binding = active.binding
        everywhere = isinstance(active.node, App) or (binding.id or "").startswith("common.")
        action = (binding.action, everywhere)
        name = binding.key_display or key_name(binding.key)
        names = keys.setdefault(action, [])
        if name not in names:
            names.append(name)
        words.setdefault(action, binding.tooltip or binding.description or binding.action)
    return [Key(tuple(names), words[action], action[1]) for action, names in keys.items()]


def key_rows(keys: Iterable[Key], width: int) -> list[Row]:
    """Return a row or more for each action: its keys, and what it does."""
    rows: list[Row] = []
    for key in keys:
        lines = wrap(key.does, width - KEY_WIDTH - 5, 3)
        label = " ".join(key.names)
        if len(label) > KEY_WIDTH - 1:
            rows.append((("   ", ""), (label, "key")))
            label = ""
        for number, line in enumerate(lines):
            rows.append((("   ", ""), (fit(label if number == 0 else "", KEY_WIDTH), "key"), (line, "")))
    return rows


def page_rows(text: str, width: int) -> list[Row]:
    """Lay a help page out: `#` and `##` are headings, `- ` begins an item, an indented line stands as it is.

    The pages hold no other markup; `code` in back-quotes is inked.
    """
    rows: list[Row] = []
    paragraph: list[str] = []

    def flush() -> None:
        if paragraph:
            joined = " ".join(paragraph)
            lead = "- " if joined.startswith("- ") else ""
            for number, line in enumerate(wrap(joined, width - 6, 40)):
                indent = "   " if number == 0 or not lead else "     "
                rows.append(((indent, ""), *_inked(line)))
            paragraph.clear()

    for line in text.split("\n"):
        if line.startswith("#"):
            flush()
            rows += [*([()] if rows and rows[-1] != () else []), ((f"  {line.lstrip('#').strip()}", "title"),)]
        elif line.startswith("    "):
            flush()
            rows.append(((f"   {line.rstrip()}"[: width - 1], "accent"),))
        elif not line.strip():
            flush()
            if rows and rows[-1] != ():
                rows.append(())
        else:
            if line.startswith("- "):
                flush()
            paragraph.append(line.strip())
    flush()
    return rows


def _inked(line: str) -> Row:
    """Ink what stands between back-quotes; a single one left over is left as it is."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return tuple((part, "accent" if number % 2 else "") for number, part in enumerate(parts) if part)


def help_rows(page: str, bindings: Iterable[ActiveBinding], width: int) -> list[Row]:
    """Return the whole help for `width` cells."""
    width = min(width, WIDEST)
    rows = page_rows(page.strip(), width)
    keys = all_keys(bindings)
    for title, everywhere in (("Keys of this screen", False), ("Keys that work everywhere", True)):
        chosen = [key for key in keys if key.everywhere is everywhere]
        if chosen:
            rows += [(), ((f"  {title}", "title"),), (), *key_rows(chosen, width)]
    rows += [(), (("  Glyphs and colours", "title"),), ()]
    for glyph, ink, meaning in GLYPHS:
        lines = wrap(meaning, width - KEY_WIDTH - 7, 3)
        for number, line in enumerate(lines):
            rows.append((("   ", ""), (fit(glyph if number == 0 else "", KEY_WIDTH + 2), ink), (line, "")))
    rows.append(())
    rows += [((f"   {line}", "dim"),) for line in wrap("No state is told by colour alone.", width - 5, 3)]
    return rows


class HelpText(Canvas):
    """The text of help, as high as it needs to be."""

    def on_resize(self) -> None:
        """Lay out again for the new width."""
        if isinstance(self.screen, HelpScreen):
            self.screen.lay_out(self.size.width)


class HelpScreen(ToolkitScreen):
    """Help about the screen below it."""

    TITLE_ON_TOP = "Help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,pagedown", "page(1)", "next page", id="help.page_down", tooltip="One page down"),
        Binding("b,pageup", "page(-1)", "page before", id="help.page_up", tooltip="One page up"),
        Binding("up,k", "scroll(-1)", "up", id="help.up", show=False, tooltip="Scroll up"),
        Binding("down,j", "scroll(1)", "down", id="help.down", show=False, tooltip="Scroll down"),
        Binding("home,g", "edge(-1)", "top", id="help.top", show=False, tooltip="To the top"),
        Binding("end,G", "edge(1)", "end", id="help.end", show=False, tooltip="To the end"),
        Binding("q,escape,backspace", "back", "back", id="help.back", tooltip="Back to where you were"),
    ]

    def __init__(self, about: ToolkitScreen) -> None:
        """Explain `about`, the screen that was seen."""
        super().__init__()
        self._about = about
        self._bindings_there = list(about.active_bindings.values())
        self._page = _read_page(about.HELP_PAGE)

    @property
    def name_on_top(self) -> str:
        """Which screen this help is about."""
        return f"Help › {self._about.name_on_top}"

    def compose_body(self) -> ComposeResult:
        """Yield the text, scrollable."""
        with VerticalScroll(id="help-scroll", can_focus=False):
            yield HelpText(id="help-text")

    def on_mount(self) -> None:
        """Say how to leave."""
        self.set_verdict(f"What the screen {self._about.name_on_top} shows, and what the keys do.", Severity.NOTE)

    def lay_out(self, width: int) -> None:
        """Lay the text out for a width."""
        self.query_one(HelpText).show(help_rows(self._page, self._bindings_there, width))

    def page_as_text(self) -> str:
        """Return the whole help, not only what is seen."""
        return f"{self.query_one(HelpText).text}\n"

    def _scroller(self) -> VerticalScroll:
        return self.query_one("#help-scroll", VerticalScroll)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self._scroller().scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Scroll by pages."""
        scroller = self._scroller()
        scroller.scroll_relative(y=by * max(1, scroller.size.height - 1), animate=False)

    def action_edge(self, to: int) -> None:
        """Scroll to an end."""
        if to < 0:
            self._scroller().scroll_home(animate=False)
        else:
            self._scroller().scroll_end(animate=False)


def _read_page(name: str) -> str:
    """Return a page of assets/help; a missing one is said and no reason to stop."""
    from toolkit.assets import read_text

    try:
        return read_text(f"help/{name}.md")
    except ToolkitError:
        return f"There is no help page {name!r} in this installation; the keys below are complete."
