"""What the command palette (ctrl+p) offers: pages, copying, screenshots, themes, and where things are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand

from toolkit.export import tilde

if TYPE_CHECKING:
    from screens.app import ToolkitApp


def palette_commands(app: ToolkitApp) -> Iterator[SystemCommand]:
    """Yield the commands that make sense now."""
    for subject in app.SUBJECTS:
        if subject.id != app.current_mode:
            action = partial(app.action_show_subject, subject.id)
            yield SystemCommand(f"Go to {subject.title}", f"{subject.summary} (key {subject.digit})", action)
    yield SystemCommand("Help", "What am I seeing, and which keys work here (key ?)", app.action_help)
    screen = app.seen_screen()
    if screen is not None:
        yield SystemCommand("Copy the row", "The selected row as text (key y)", screen.action_copy_row)
        yield SystemCommand("Copy the page", "The whole page as text (key Y)", screen.action_copy_page)
    word = "Go on" if app.paused else "Pause"
    yield SystemCommand(f"{word} with the values", "Let the values stand still, and go on (key p)", app.toggle_pause)
    yield SystemCommand(
        "Screenshot",
        "Save what is on the screen as SVG and as text",
        # The palette is still there when its command runs: wait until it is gone.
        lambda: app.call_later(app.save_screenshot_files),
    )
    yield SystemCommand(
        "Capture this machine",
        "Copies the command that makes a file for a bug report: toolkit capture FILE",
        partial(app.copy_text, "toolkit capture machine.tar.gz", "the command"),
    )
    yield SystemCommand("Paths", "Where settings, copies and recordings are kept", partial(show_paths, app))
    yield SystemCommand("Choose a theme", "Search through all of them", app.action_change_theme)
    for name in sorted(app.available_themes, key=lambda name: (not name.startswith("toolkit"), name)):
        if name != app.theme:
            yield SystemCommand(f"Theme {name}", "Show it and remember it", partial(setattr, app, "theme", name), False)
    yield SystemCommand("Quit", "Leave toolkit; a recording is saved first (key Q)", app.action_quit)


def show_paths(app: ToolkitApp) -> None:
    """Tell where things are kept."""
    from toolkit.config import folders

    where = folders(app.environ)
    named = (("settings", where.config), ("state   ", where.state), ("cache   ", where.cache))
    lines = [f"{name}  {tilde(app.environ, path)}" for name, path in named]
    app.notify("\n".join(lines), title="Paths", timeout=12, markup=False)
