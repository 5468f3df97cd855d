"""The application: modes, keys, themes, the poller of temperatures, copying, and a clean end.

`run` is what `toolkit.cli` calls. The application owns no facts: it hands snapshots to the screen that is seen.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App
from textual.binding import BindingType

from screens.base import ToolkitScreen, screen_text
from screens.messages import ProbeFailed, SnapshotTaken
from screens.monitoring import Monitor, OpenMonitor, Recording, open_thermal_monitor
from screens.picture import repaired
from screens.poller import Poller
from screens.subjects import SUBJECTS, Subject, app_bindings, app_modes, known_subject
from screens.temperatures_alarm import ThresholdWatch, sensor_names
from screens.themes import AVAILABLE, THEMES, choose_theme, known_theme
from screens.widgets.bar import COARSE, FINE, Blocks
from toolkit.errors import Problem, ToolkitError
from toolkit.export import tilde, write_export
from toolkit.host.base import Host
from toolkit.sensors.history import History
from toolkit.sensors.model import Machine, Snapshot
from toolkit.text import printable

if TYPE_CHECKING:
    from textual.command import Provider

    from toolkit.config import Settings

__all__ = ["THERMAL", "Monitor", "OpenMonitor", "Recording", "ToolkitApp", "open_thermal_monitor", "run"]

THERMAL = "temperatures"
"""Name of the poller whose snapshots feed the top line of every screen."""


def _palette_provider() -> type[Provider]:
    """Return what fills the palette; imported when it is first opened."""
    from screens.palette import PaletteProvider

    return PaletteProvider


class ToolkitApp(App[int], inherit_bindings=False):
    """The terminal interface of toolkit."""

    TITLE = "toolkit"
    COMMANDS: ClassVar[set[Any]] = {_palette_provider}
    CSS_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "styles", "base.tcss")
    SUBJECTS: ClassVar[tuple[Subject, ...]] = SUBJECTS
    MODES: ClassVar[dict[str, Any]] = app_modes(SUBJECTS)
    DEFAULT_MODE = SUBJECTS[0].id
    BINDINGS: ClassVar[list[BindingType]] = app_bindings(SUBJECTS)

    def __init__(
        self,
        host: Host,
        settings: Settings,
        *,
        screen: str | None = None,
        theme: str | None = None,
        open_monitor: OpenMonitor = open_thermal_monitor,
        environ: Mapping[str, str] | None = None,
        debug_crashes: bool = False,
        keep_choices: bool = True,
    ) -> None:
        """Prepare the application.

        Args:
            host: the machine that is looked at.
            settings: as loaded; `save_settings` replaces them.
            screen: id of the first subject; the overview where None.
            theme: to use this once, before every other wish; UsageError where there is none of that name.
            open_monitor: makes what takes snapshots; called in the poller's thread. Tests give their own.
            environ: of the process; None is os.environ. It says where copies and settings are kept.
            debug_crashes: print the traceback of a fault of our own.
            keep_choices: what is chosen for sensors goes into the person's file; False where the machine is another.
        """
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        super().__init__()
        self.host = host
        self.settings = settings
        self.monitor: Monitor | None = None
        self.machine: Machine | None = None
        self.latest: Snapshot | None = None
        self.problem: Problem | None = None
        self.history = History()
        self.thresholds = ThresholdWatch()
        self.recording: Recording | None = None
        self.crash: BaseException | None = None
        self.catch_signals = False
        """End in good order on SIGTERM, and on SIGHUP when the terminal is closed; `run` asks for it."""
        self.blocks: Blocks = COARSE if self.environ.get("TERM") == "linux" else FINE
        """The characters that this terminal's font has."""
        self._open_monitor = open_monitor
        self._reopen = False
        self._debug_crashes = debug_crashes
        self._keep_choices = keep_choices
        if not keep_choices:
            self.settings = settings = replace(settings, temperatures=settings.temperatures.without_sensors())
        self._first = known_subject(self.SUBJECTS, screen).id
        self.poller: Poller[Snapshot] = Poller(self, self._look, settings.temperatures.interval_s, THERMAL)
        for ours in THEMES:
            self.register_theme(ours)
        self._remembered_theme, self._theme_notice = self._first_theme(theme)
        self.theme = self._remembered_theme
        self.animation_level = "none"

    def _first_theme(self, wish: str | None) -> tuple[str, str]:
        """Return the theme to start with, and a notice where a wish could not be met."""
        if wish is not None:
            return known_theme(wish, self.available_themes), ""
        return choose_theme(self.environ, self.settings.theme, self.available_themes)

    # The poller

    def _look(self) -> Snapshot:
        """Take a snapshot; runs in the poller's thread."""
        if self._reopen and self.monitor is not None:
            self.monitor.close()
            self.monitor = None
        self._reopen = False
        if self.monitor is None:
            self.monitor = self._open_monitor(self.host, self.settings)
        return self.monitor.snapshot()

    def reopen_monitor(self) -> None:
        """Find the sensors anew, with the settings as they are now, before the next look."""
        self._reopen = True
        self.poller.refresh_now()

    def on_snapshot_taken(self, message: SnapshotTaken) -> None:
        """Keep a snapshot, and hand it to the screen that is seen."""
        if message.name != THERMAL or not isinstance(message.model, Snapshot):
            return
        self.latest = message.model
        self.problem = None
        if self.monitor is not None:
            self.machine = self.monitor.machine
        self.history.add(message.model)
        self.watch_thresholds(message.model)
        screen = self.seen_screen()
        if screen is not None:
            screen.take(message.model)

    def watch_thresholds(self, snapshot: Snapshot) -> None:
        """Tell, on whichever screen is seen, each threshold of the person's that was crossed since the look before."""
        kept = self.settings.temperatures
        for crossing in self.thresholds.look(snapshot, kept.thresholds, sensor_names(snapshot, kept.names)):
            self.notify(crossing.sentence, severity="warning", markup=False, timeout=10)

    def on_probe_failed(self, message: ProbeFailed) -> None:
        """Keep why there are no values, and tell it to the screen that is seen."""
        self.problem = message.problem
        screen = self.seen_screen()
        if screen is not None:
            screen.on_problem(message.problem)

    def seen_screen(self) -> ToolkitScreen | None:
        """Return the topmost screen of ours, also below the palette; None before there is one, and at the end."""
        if not self.is_running:
            return None
        for screen in reversed(self.screen_stack):
            if isinstance(screen, ToolkitScreen) and screen.is_mounted:
                return screen
        return None

    @property
    def paused(self) -> bool:
        """The values stand still."""
        return self.poller.paused

    @property
    def recording_s(self) -> float | None:
        """How long the recording has been running; None where none is."""
        if self.recording is None:
            return None
        return max(0.0, self.host.monotonic() - self.recording.started_monotonic)

    def toggle_pause(self) -> None:
        """Let the values stand still, or go on. A recording is not paused."""
        if self.poller.paused:
            self.poller.resume()
        else:
            self.poller.pause()
        self.refresh_top()

    def refresh_top(self) -> None:
        """Bring the top line of the screen that is seen up to date, for example when a recording starts."""
        screen = self.seen_screen()
        if screen is not None:
            screen.refresh_top()

    # Start and end

    def on_mount(self) -> None:
        """Start to look, and open the wished screen."""
        if self.catch_signals:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit, 128 + number)
        self.poller.start()
        if self._first != self.DEFAULT_MODE:
            self.switch_mode(self._first)
        notices = [f"{p.source}: {p.reason}. {p.hint}".rstrip() for p in self.settings.problems]
        for notice in [*notices, self._theme_notice]:
            if notice:
                self.notify(printable(notice, 400), severity="warning", timeout=10, markup=False)

    def close(self) -> None:
        """Stop looking, save a recording, close files. Called once the terminal is restored; never raises."""
        recording, self.recording = self.recording, None
        if recording is not None:
            recording.stop()
        if self.poller.stop(wait_s=0.5) and self.monitor is not None:
            self.monitor.close()
            self.monitor = None

    async def on_unmount(self) -> None:
        """The application ends."""
        self.poller.stop()

    def _fatal_error(self) -> None:
        """Textual's hook for an exception that nobody handled: a person gets one line, `--debug` the traceback."""
        self.crash = self._exception
        if self._debug_crashes:
            super()._fatal_error()
            return
        where = ""
        try:
            import traceback

            text = "".join(traceback.format_exception(self._exception)) if self._exception else ""
            path = write_export(self.environ, "crash.txt", text)
            where = f" Where: {tilde(self.environ, path)}."
        except ToolkitError:
            where = " Start with --debug to see where."
        kind = type(self._exception).__name__
        self.panic(Text(f"toolkit: stopped by a fault of its own: {kind}: {self._exception}.{where}"))

    # Going about

    def action_show_subject(self, subject: str) -> None:
        """Open a subject, and leave what lies above the present one."""
        if isinstance(self.screen, ToolkitScreen) and subject in self.MODES:
            while len(self.screen_stack) > 1:
                self.pop_screen()
            self.switch_mode(subject)

    def go_back(self) -> None:
        """Leave help or a page above a subject; from a subject to the overview; from there, quit."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self.current_mode != self.DEFAULT_MODE:
            self.switch_mode(self.DEFAULT_MODE)
        else:
            self.exit(0)

    async def action_quit(self) -> None:
        """Leave, from wherever."""
        self.exit(0)

    def action_help(self) -> None:
        """Open help about the screen that is seen."""
        from screens.help import HelpScreen

        screen = self.seen_screen()
        if screen is not None and not isinstance(screen, HelpScreen):
            self.push_screen(HelpScreen(screen))

    # Settings

    def save_settings(self, settings: Settings) -> None:
        """Use other settings from now on, and keep them in the person's file; tells where that fails."""
        from toolkit.config import Settings, save_settings

        before, self.settings = self.settings, settings
        if settings.temperatures.interval_s != before.temperatures.interval_s:
            self.poller.set_interval(settings.temperatures.interval_s)
        wanted = (settings.temperatures.rule, settings.temperatures.read_disks)
        if wanted != (before.temperatures.rule, before.temperatures.read_disks):
            self.reopen_monitor()
        try:
            if self._keep_choices:
                self.settings = save_settings(self.environ, settings, before)
            elif settings.theme != before.theme:
                save_settings(self.environ, Settings(settings.theme), Settings(before.theme))
        except (ToolkitError, OSError) as error:
            self.notify(f"The settings cannot be saved: {error}", severity="warning", markup=False)

    def watch_theme(self, name: str) -> None:
        """Remember the theme that a person chose; the one to start with is not a choice."""
        if name != self._remembered_theme:
            self._remembered_theme = name
            self.save_settings(replace(self.settings, theme=name))

    # Taking along

    def copy_text(self, text: str, what: str) -> None:
        """Copy a text by OSC 52, and to a file, since some terminals ignore OSC 52 and none confirm it."""
        self.copy_to_clipboard(text)
        try:
            path = tilde(self.environ, write_export(self.environ, "copied.txt", text))
            self.notify(f"Copied {what}. Should the clipboard stay empty: {path}", markup=False, timeout=4)
        except ToolkitError as error:
            self.notify(f"Copied {what} to the clipboard. {error.message}", severity="warning", markup=False)

    def save_screenshot_files(self) -> None:
        """Save the screen as SVG and as text in the state folder."""
        name = f"{self.current_mode}-{time.strftime('%Y%m%d-%H%M%S')}"
        try:
            picture = repaired(self.export_screenshot())
            svg = write_export(self.environ, f"{name}.svg", picture, folder="screenshots", keep=True)
            text = screen_text(self.screen) + "\n"
            write_export(self.environ, f"{name}.txt", text, folder="screenshots", keep=True)
        except ToolkitError as error:
            self.notify(error.message, severity="error", markup=False)
        else:
            self.notify(f"Saved {tilde(self.environ, svg)}, and the same as .txt", markup=False)


def check_wishes(screen: str | None, theme: str | None) -> None:
    """Refuse a screen or a theme that does not exist with a UsageError that names those there are."""
    known_subject(SUBJECTS, screen)
    if theme is not None:
        known_theme(theme, AVAILABLE)


def run(
    host: Host,
    settings: Settings,
    *,
    screen: str | None = None,
    no_color: bool = False,
    mouse: bool = True,
    theme: str | None = None,
    debug: bool = False,
    open_monitor: OpenMonitor = open_thermal_monitor,
) -> int:
    """Show the screens until the person leaves, and return the exit status.

    Args:
        host: the machine that is looked at.
        settings: as loaded from the person's file.
        screen: id, word or digit of the first subject; UsageError where there is none of that name.
        no_color: no colours, as NO_COLOR in the environment asks too.
        mouse: take the mouse; else the terminal keeps it.
        theme: to use this once; UsageError where there is none of that name.
        debug: print the traceback of a fault of our own.
        open_monitor: makes what takes snapshots.
    """
    stderr = sys.__stderr__
    if stderr is not None and not stderr.isatty():
        # Textual draws on stderr: with `2>log` the screen would go into the log.
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]
    if no_color:
        os.environ["NO_COLOR"] = "1"  # Textual looks there and nowhere else
    app = ToolkitApp(
        host,
        settings,
        screen=screen,
        theme=theme,
        open_monitor=open_monitor,
        debug_crashes=debug,
        keep_choices=not host.label,
    )
    app.catch_signals = True
    try:
        status = app.run(mouse=mouse)
    finally:
        sys.__stderr__ = stderr  # type: ignore[misc]
        app.close()
    if app.crash is not None:
        return 1
    return status if status is not None else 0
