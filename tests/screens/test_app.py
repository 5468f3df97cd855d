"""The application: sizes, digits, back and quit, pause, failures, themes, copying, a clean end."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input

from screens.app import ToolkitApp, run
from screens.base import ToolkitScreen
from screens.help import HelpScreen
from screens.palette import palette_commands
from screens.subjects import SUBJECTS, Subject, app_bindings, app_modes
from screens.themes import ANSI, DARK, THEMES, choose_theme
from screens.widgets.footer import FooterLine
from screens.widgets.verdict import VerdictLine
from tests.screens.support import (
    BARE,
    HOT,
    SIZES,
    StandInHost,
    StandInMonitor,
    check_golden,
    first_look,
    make_app,
    painted,
    shown,
    snapshot,
)
from toolkit.config import Settings, TemperatureSettings, load_settings
from toolkit.errors import Problem, UsageError
from toolkit.sensors.model import Rule, Snapshot


class QuietScreen(ToolkitScreen):
    """A second subject for these tests, so that they need no other screen."""

    SUBJECT = "quiet"
    TITLE_ON_TOP = "Quiet"

    def on_snapshot(self, snapshot: Snapshot) -> None:
        self.set_verdict(f"{snapshot.headline.celsius} seen.")


class TwoApp(ToolkitApp, inherit_bindings=False):
    """The application with the overview and a quiet second subject."""

    SUBJECTS = (SUBJECTS[0], Subject("quiet", "2", "Quiet", "quiet", "Nothing much", QuietScreen))
    MODES = app_modes(SUBJECTS)
    BINDINGS = app_bindings(SUBJECTS)


def two(tmp_path: Path, *models: Snapshot | Exception, **kwargs: Any) -> ToolkitApp:
    return make_app(tmp_path, *models, app_class=TwoApp, **kwargs)


FAILURE = OSError(5, "Input/output error")


@pytest.mark.parametrize(
    ("size", "of"),
    [
        *((size, of) for size in SIZES for of in (snapshot(), BARE, FAILURE)),
        *((size, HOT) for size in [(1, 1), (3, 2), (59, 40), (60, 17), (100, 18)]),
    ],
)
async def test_opens_at_every_size(tmp_path: Path, size: tuple[int, int], of: Snapshot | Exception) -> None:
    app = two(tmp_path, of)
    async with app.run_test(size=size) as pilot:
        await first_look(app, pilot)
        for key in ("2", "question_mark", "q", "q"):
            await pilot.press(key)
            if size[0] >= 60 and size[1] >= 18:
                await painted(
                    app, pilot, lambda text: text.rstrip().endswith("? help") or isinstance(app.screen, HelpScreen)
                )
            elif size[0] >= 20 and size[1] >= 3 and isinstance(of, Snapshot) and of.headline.celsius:
                headline = f"{of.headline.celsius} °C"
                await painted(app, pilot, lambda text, wanted=headline: wanted in text)


async def test_too_small_says_so_and_comes_back(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        assert "50x12" in shown(app)
        assert "54 °C" in shown(app)
        assert "Power" not in shown(app)
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "Power" in shown(app)
        assert "50x12" not in shown(app)


@pytest.mark.parametrize(
    ("width", "height", "classes"),
    [
        (60, 18, {"-w60", "-h18"}),
        (80, 24, {"-w80", "-h24"}),
        (120, 40, {"-w120", "-h36"}),
        (200, 50, {"-w160", "-h36"}),
    ],
)
async def test_breakpoints(tmp_path: Path, width: int, height: int, classes: set[str]) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(width, height)) as pilot:
        await pilot.pause()
        assert {name for name in app.screen.classes if re.match(r"-[wh]\d|-tiny|-low", name)} == classes


async def test_digits_switch_and_q_leads_back_and_out(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert "1 overview  2 quiet" in shown(app).split("\n")[-1]
        await pilot.press("2")
        assert app.current_mode == "quiet"
        assert shown(app).startswith(" toolkit  Quiet")
        assert "54 seen." in shown(app)
        assert shown(app).split("\n")[-1] == " ? help"
        await pilot.press("7")
        assert app.current_mode == "quiet"
        await pilot.press("q")
        assert app.current_mode == "overview"
        await pilot.press("2", "escape", "q")
        await pilot.pause()
    assert app.return_value == 0


@pytest.mark.parametrize("key", ["Q", "ctrl+q", "ctrl+c"])
async def test_quits_from_everywhere(tmp_path: Path, key: str) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("2", "question_mark", key)
        await pilot.pause()
    assert app.return_value == 0


async def test_enter_on_a_line_opens_its_subject(tmp_path: Path) -> None:
    class Renamed(ToolkitApp, inherit_bindings=False):
        SUBJECTS = (SUBJECTS[0], Subject("temperatures", "2", "Temperatures", "temps", "x", QuietScreen))
        MODES = app_modes(SUBJECTS)
        BINDINGS = app_bindings(SUBJECTS)

    app = make_app(tmp_path, app_class=Renamed)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert app.current_mode == "temperatures"


@pytest.mark.parametrize("wish", ["quiet", "2", "Quiet"])
async def test_first_screen_can_be_chosen(tmp_path: Path, wish: str) -> None:
    app = two(tmp_path, screen=wish)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert app.current_mode == "quiet"
        assert "54 seen." in shown(app)


def test_unknown_screen_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no screen 'disks'"):
        make_app(tmp_path, screen="disks")


# Polling


async def test_pause_stops_the_values_and_shows_it(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("p")
        assert " paused " in shown(app)
        looks = app.monitor.looks  # type: ignore[union-attr]
        await pilot.pause(0.2)
        assert app.monitor.looks == looks  # type: ignore[union-attr]
        await pilot.press("p")
        assert " paused " not in shown(app)


async def test_slow_probe_leaves_the_keys_alive(tmp_path: Path) -> None:
    free = threading.Event()
    app = two(tmp_path, monitor=StandInMonitor(snapshot(), delay=lambda: (free.wait(20.0), None)[1]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Looking at the sensors" in shown(app)
        assert "--" in shown(app)
        started = time.monotonic()
        await pilot.press("2", "1", "question_mark", "q")
        assert time.monotonic() - started < 2.0
        assert app.latest is None
        free.set()
        await first_look(app, pilot)
        assert "54 °C" in shown(app)


async def test_failure_is_said_with_its_reason_and_taken_back(tmp_path: Path) -> None:
    settings = Settings(temperatures=TemperatureSettings(interval_s=0.1))
    monitor = StandInMonitor(OSError(5, "Input/output error", "/sys/class/hwmon"))
    app = two(tmp_path, monitor=monitor, settings=settings)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert "No new values from temperatures: Input/output error: /sys/class/hwmon" in app.screen.verdict  # type: ignore[attr-defined]
        for key in ("y", "Y", "p", "p", "enter", "down", "2", "y", "Y", "question_mark", "q", "1"):
            await pilot.press(key)
        assert "!! No new values" in shown(app)
        monitor.models = [snapshot()]
        for _ in range(100):
            await pilot.pause(0.02)
            if app.problem is None:
                break
        await pilot.pause()
        assert "All well" in shown(app)


async def test_resuming_a_screen_shows_the_newest_values(tmp_path: Path) -> None:
    app = two(tmp_path, snapshot(54), snapshot(66))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("2")
        assert "54 seen." in shown(app)
        await pilot.press("1")
        app.poller.refresh_now()
        for _ in range(100):
            await pilot.pause(0.01)
            if app.latest is not None and app.latest.headline.celsius == 66:
                break
        await pilot.press("2")
        assert "66 seen." in shown(app)


async def test_history_is_kept_whatever_screen_is_seen(tmp_path: Path) -> None:
    app = two(tmp_path, screen="quiet")
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert app.history.latest("headline") == 54


# Themes and colour


@pytest.mark.parametrize("theme", [theme.name for theme in THEMES])
@pytest.mark.parametrize("of", [snapshot(), HOT], ids=["ok", "hot"])
async def test_every_theme_shows_the_same_text(tmp_path: Path, theme: str, of: Snapshot) -> None:
    app = two(tmp_path, of, settings=Settings(theme=theme))
    plain = two(tmp_path, of)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert app.theme == theme
        await pilot.press("question_mark")
        await pilot.press("q")
        themed = shown(app)
    async with plain.run_test(size=(80, 24)) as pilot:
        await first_look(plain, pilot)
        assert shown(plain) == themed


async def test_every_theme_of_textual_is_there(tmp_path: Path) -> None:
    app = two(tmp_path)
    assert {"nord", "gruvbox", "textual-dark", *(theme.name for theme in THEMES)} <= set(app.available_themes)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for name in sorted(app.available_themes):
            app.theme = name
            await pilot.pause()
            assert "54 °C" in shown(app)


def test_theme_is_chosen_by_environment_then_settings_then_terminal() -> None:
    known = [theme.name for theme in THEMES] + ["nord"]
    assert choose_theme({}, "auto", known) == (DARK.name, "")
    assert choose_theme({"TERM": "linux"}, "auto", known) == (ANSI.name, "")
    assert choose_theme({"TERM": "linux"}, "nord", known) == ("nord", "")
    assert choose_theme({"TEXTUAL_THEME": "nord"}, "toolkit-light", known) == ("nord", "")
    name, notice = choose_theme({}, "purple", known)
    assert name == DARK.name
    assert "'purple'" in notice


async def test_unknown_theme_and_wrong_settings_are_notices(tmp_path: Path) -> None:
    problem = Problem("config.toml", "colour: no such key", "remove it")
    app = two(tmp_path, settings=Settings(theme="purple", problems=(problem,)))
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await first_look(app, pilot)
        notices = [notice.message for notice in app._notifications]
    assert any("'purple'" in notice for notice in notices)
    assert any("colour: no such key" in notice for notice in notices)


def test_theme_for_this_once_must_exist(tmp_path: Path) -> None:
    host: Any = StandInHost()
    assert ToolkitApp(host, Settings(), theme="nord", environ={"HOME": str(tmp_path)}).theme == "nord"
    with pytest.raises(UsageError, match="no theme 'purple'"):
        ToolkitApp(host, Settings(), theme="purple", environ={"HOME": str(tmp_path)})


async def test_chosen_theme_is_remembered_and_the_first_one_is_not(tmp_path: Path) -> None:
    app = two(tmp_path)
    environ = {"HOME": str(tmp_path)}
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert not (tmp_path / ".config").exists()
        app.theme = "nord"
        await pilot.pause()
        assert load_settings(environ).theme == "nord"
        app.theme = "toolkit-dark"
        await pilot.pause()
        assert load_settings(environ).theme == "toolkit-dark"


@pytest.mark.parametrize("of", [snapshot(), HOT, BARE], ids=["ok", "hot", "bare"])
async def test_no_color_has_no_colour_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: Snapshot
) -> None:
    coloured = two(tmp_path, of)
    async with coloured.run_test(size=(80, 24)) as pilot:
        await first_look(coloured, pilot)
        text = shown(coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    app = two(tmp_path, of)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert shown(app) == text
        svg = app.export_screenshot()
    for red, green, blue in re.findall(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", svg.split("<g transform", 1)[0]):
        values = [int(red, 16), int(green, 16), int(blue, 16)]
        assert max(values) - min(values) <= 3 or (red, green, blue) in {
            ("ff", "5f", "57"),
            ("fe", "bc", "2e"),
            ("28", "c8", "40"),
        }


async def test_hot_is_told_without_colour(tmp_path: Path) -> None:
    app = two(tmp_path, HOT)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        text = shown(app).split("\n")
        assert text[0].rstrip().endswith("!! 97 °C")
        assert text[1].startswith(" !! Held back")
        assert "!! held back" in text[3]


# Copying and files


async def test_copy_goes_to_clipboard_and_file_and_says_both(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await first_look(app, pilot)
        await pilot.press("Y")
        assert app.clipboard.startswith(" toolkit  Overview")
        assert "? help" not in app.clipboard
        assert "not held back" in app.clipboard
        kept = tmp_path / ".local/state/toolkit/copied.txt"
        assert kept.read_text(encoding="utf-8") == app.clipboard
        notice = [notice.message for notice in app._notifications][-1]
        assert "~/.local/state/toolkit/copied.txt" in notice
        assert "Copied the page" in notice
        await pilot.press("2", "y")
        assert "No row is selected" in [notice.message for notice in app._notifications][-1]


async def test_copy_with_a_read_only_home_still_reaches_the_clipboard(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("a file in the way")
    app = two(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await first_look(app, pilot)
        await pilot.press("y")
        assert app.clipboard.startswith("CPU:")
        assert "Cannot write" in [notice.message for notice in app._notifications][-1]


async def test_screenshot_is_svg_and_text(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.save_screenshot_files()
    folder = tmp_path / ".local/state/toolkit/screenshots"
    svg, text = sorted(folder.iterdir(), key=lambda path: path.suffix)
    assert svg.suffix == ".svg"
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert "54 °C" in text.read_text(encoding="utf-8")


async def test_settings_that_cannot_be_saved_are_used_all_the_same(tmp_path: Path) -> None:
    (tmp_path / ".config").write_text("a file in the way")
    monitor = StandInMonitor()
    app = two(tmp_path, monitor=monitor)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await first_look(app, pilot)
        wish = replace(app.settings, temperatures=replace(app.settings.temperatures, rule=Rule.TCTL, interval_s=0.5))
        app.save_settings(wish)
        assert app.settings == wish
        assert app.poller.interval_s == 0.5
        await pilot.pause()
        assert "cannot be" in [notice.message for notice in app._notifications][-1]
        for _ in range(100):
            await pilot.pause(0.01)
            if monitor.closed:
                break
        assert monitor.closed == 1


# The top line


async def test_label_of_a_capture_is_on_the_top_line(tmp_path: Path) -> None:
    app = two(tmp_path, label="demo")
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert " demo " in shown(app).split("\n")[0]
        await pilot.press("2")
        assert " demo " in shown(app).split("\n")[0]


class StandInRecording:
    """A recording that began 134 seconds ago."""

    def __init__(self) -> None:
        self.started_monotonic = -134.0
        self.stopped = 0

    def stop(self) -> None:
        self.stopped += 1


async def test_recording_is_on_the_top_line_of_every_screen(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.recording = StandInRecording()
        app.refresh_top()
        await pilot.pause()
        assert "●REC 02:14" in shown(app)
        await pilot.press("2", "question_mark")
        assert "●REC 02:14" in shown(app)


async def test_recording_is_saved_at_the_end(tmp_path: Path) -> None:
    monitor = StandInMonitor()
    app = two(tmp_path, monitor=monitor)
    recording = StandInRecording()
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.recording = recording
        await pilot.press("Q")
    app.close()
    app.close()
    assert recording.stopped == 1
    assert monitor.closed == 1


# Crashes


class CrashingScreen(ToolkitScreen):
    """A screen with a bug."""

    TITLE_ON_TOP = "Crash"

    def on_snapshot(self, snapshot: Snapshot) -> None:
        raise ZeroDivisionError("a bug of ours")


class CrashingApp(ToolkitApp, inherit_bindings=False):
    SUBJECTS = (Subject("overview", "1", "Crash", "crash", "x", CrashingScreen),)
    MODES = app_modes(SUBJECTS)
    BINDINGS = app_bindings(SUBJECTS)


@pytest.mark.parametrize("debug", [False, True])
def test_crash_is_one_line_and_the_recording_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, debug: bool
) -> None:
    monkeypatch.setattr("screens.app.ToolkitApp", CrashingApp)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("TEXTUAL_DRIVER", "")
    recording = StandInRecording()
    original = CrashingApp.run

    def headless(self: CrashingApp, **kwargs: Any) -> Any:
        self.recording = recording
        return original(self, headless=True, size=(80, 24), **kwargs)

    monkeypatch.setattr(CrashingApp, "run", headless)
    host: Any = StandInHost()
    status = run(host, Settings(), debug=debug, open_monitor=lambda _host, _settings: StandInMonitor())
    assert status == 1
    assert recording.stopped == 1
    said = capsys.readouterr().err
    if debug:
        assert "ZeroDivisionError" in said
        assert "on_snapshot" in said
    else:
        assert "toolkit: stopped by a fault of its own: ZeroDivisionError: a bug of ours." in said
        assert "on_snapshot" not in said
        assert "on_snapshot" in (tmp_path / ".local/state/toolkit/crash.txt").read_text()


# Footer


async def test_footer_follows_what_a_key_is_called_now(tmp_path: Path) -> None:
    from textual.binding import Binding

    class WordScreen(QuietScreen):
        BINDINGS = [Binding("r", "record", "record")]  # noqa: RUF012
        on = False

        def footer_word(self, action: str) -> str | None:
            return "stop recording" if self.on else None

        def action_record(self) -> None:
            self.on = not self.on
            self.refresh_bindings()

    class WordApp(ToolkitApp, inherit_bindings=False):
        SUBJECTS = (Subject("overview", "1", "Word", "word", "x", WordScreen),)
        MODES = app_modes(SUBJECTS)
        BINDINGS = app_bindings(SUBJECTS)

    app = make_app(tmp_path, app_class=WordApp)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert shown(app).split("\n")[-1] == " r record  ? help"
        await pilot.press("r")
        await pilot.pause()
        assert shown(app).split("\n")[-1] == " r stop recording  ? help"
        await pilot.click(FooterLine, offset=(4, 0))
        await pilot.pause()
        assert shown(app).split("\n")[-1] == " r record  ? help"
        await pilot.click(FooterLine, offset=(13, 0))
        await pilot.pause()
        assert isinstance(app.screen, HelpScreen)


# Help


async def test_help_looks_as_it_did_and_scrolls(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("f1")
        assert shown(app).startswith(" toolkit  Help › Overview")
        check_golden("help-overview-80x24", shown(app) + "\n")
        await pilot.press("space")
        await pilot.press("G")
        assert "No state is told by colour alone." in shown(app)
        await pilot.press("g", "question_mark")
        assert "What you see" in shown(app)
        await pilot.press("Y")
        assert "Keys" in app.clipboard
        assert "No state is told" in app.clipboard
        await pilot.press("q")
        assert app.current_mode == "overview"
        assert not isinstance(app.screen, HelpScreen)


async def test_digit_leaves_help(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("question_mark", "2")
        await pilot.pause()
        assert app.current_mode == "quiet"
        assert shown(app).startswith(" toolkit  Quiet")
        await pilot.press("1")
        await pilot.pause()
        assert shown(app).startswith(" toolkit  Overview")


async def test_missing_help_page_is_said(tmp_path: Path) -> None:
    app = two(tmp_path)
    QuietScreen.HELP_PAGE = "nowhere"
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await first_look(app, pilot)
            await pilot.press("2", "question_mark")
            assert "There is no help page 'nowhere'" in shown(app)
    finally:
        del QuietScreen.HELP_PAGE


# The palette


async def test_palette_opens_and_runs_a_command(tmp_path: Path) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("ctrl+p")
        await pilot.pause(0.3)
        assert app.screen.query_one(Input)
        for word in ("Go to Quiet", "Copy the page", "Screenshot", "Paths"):
            assert word in [command.title for command in palette_commands(app)]
        await pilot.press(*"go to quiet")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert app.current_mode == "quiet"


@pytest.mark.parametrize("title", ["Copy the row", "Copy the page", "Capture this machine", "Paths", "Screenshot"])
async def test_commands_of_the_palette_work(tmp_path: Path, title: str) -> None:
    app = two(tmp_path)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await first_look(app, pilot)
        command = next(command for command in palette_commands(app) if command.title == title)
        command.run()
        await pilot.pause(0.05)
        said = "\n".join(notice.message for notice in app._notifications)
        assert "~/.local/state/toolkit" in said


async def test_verdict_of_a_probe_with_escape_codes_is_harmless(tmp_path: Path) -> None:
    app = two(tmp_path, OSError(5, "\x1b[2J[red]"))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert "\x1b" not in app.screen.query_one(VerdictLine).text
        assert "[red]" in shown(app)
