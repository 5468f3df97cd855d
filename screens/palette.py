"""What the command palette (ctrl+p) offers: pages, copying, screenshots, themes, and where things are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from screens.widgets.footer import key_name
from toolkit.export import tilde

if TYPE_CHECKING:
    from screens.app import ToolkitApp
    from screens.base import ToolkitScreen


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the palette.

    Attributes:
        title: what is searched.
        explains: one line.
        run: what it does.
        found_only: not in the list that is shown before anything is typed.
    """

    title: str
    explains: str
    run: Callable[[], Any]
    found_only: bool = False


def palette_commands(app: ToolkitApp) -> Iterator[Command]:
    """Yield the commands that make sense now, the most wanted first."""
    for subject in app.SUBJECTS:
        if subject.id != app.current_mode:
            action = partial(app.action_show_subject, subject.id)
            yield Command(f"Go to {subject.title}", f"{subject.summary} (key {subject.digit})", action)
    screen = app.seen_screen()
    if screen is not None:
        yield from screen.palette_commands()
        yield from own_deeds(screen)
        yield Command("Copy the row", "The selected row as text (key y)", screen.action_copy_row)
        yield Command("Copy the page", "The whole page as text (key Y)", screen.action_copy_page)
    word = "Let the values go on" if app.paused else "Pause the values"
    yield Command(word, "They stand still until you go on (key p)", app.toggle_pause)
    # The palette is still there when its command runs; the screenshot is taken once it is gone.
    later = partial(app.call_later, app.save_screenshot_files)
    yield Command("Screenshot", "What is on the screen, as SVG and as text", later)
    yield Command("Theme", "Search through all themes", app.action_change_theme)
    capture = partial(app.copy_text, "toolkit capture machine.tar.gz\n", "the command")
    yield Command("Capture this machine", "For a bug report: copies the command", capture)
    yield Command("Paths", "Where settings, copies and recordings are kept", partial(show_paths, app))
    yield Command("Help", "What am I seeing, and which keys work (key ?)", app.action_help)
    yield Command("Quit", "A recording is saved first (key Q)", app.action_quit)
    for name in sorted(app.available_themes, key=lambda name: (not name.startswith("toolkit"), name)):
        if name != app.theme:
            use = partial(setattr, app, "theme", name)
            yield Command(f"Theme {name}", "Show it and remember it", use, found_only=True)


_MOVING = ("move", "page", "scroll", "edge", "back")


def own_deeds(screen: ToolkitScreen) -> Iterator[Command]:
    """Yield what the keys of a screen do, but for moving about; copying and the like stand elsewhere."""
    told = set()
    for active in screen.active_bindings.values():
        binding = active.binding
        if active.node is not screen or (binding.id or "").startswith("common."):
            continue
        action = binding.action
        if action.partition("(")[0] in _MOVING or action in told:
            continue
        told.add(action)
        title = screen.deed_title(action) or binding.description or action
        text = f"{binding.tooltip or binding.description} (key {binding.key_display or key_name(binding.key)})"
        # The palette is still there when its command runs; what the action opens must come above the screen.
        yield Command(title[:1].upper() + title[1:], text, partial(screen.call_later, screen.run_action, action))


class PaletteProvider(Provider):
    """Gives the palette its commands, in the order of `palette_commands`."""

    def _commands(self) -> Iterator[Command]:
        return palette_commands(cast("ToolkitApp", self.app))

    async def discover(self) -> Hits:
        """Yield what stands there before anything is typed."""
        for command in self._commands():
            if not command.found_only:
                yield DiscoveryHit(command.title, command.run, help=command.explains)

    async def search(self, query: str) -> Hits:
        """Yield what fits the words that were typed."""
        matcher = self.matcher(query)
        for command in self._commands():
            score = matcher.match(command.title)
            if score > 0:
                yield Hit(score, matcher.highlight(command.title), command.run, help=command.explains)


def show_paths(app: ToolkitApp) -> None:
    """Tell where things are kept."""
    from toolkit.config import folders

    where = folders(app.environ)
    named = (("settings", where.config), ("state   ", where.state), ("cache   ", where.cache))
    lines = [f"{name}  {tilde(app.environ, path)}" for name, path in named]
    app.notify("\n".join(lines), title="Paths", timeout=12, markup=False)
