"""Every captured machine on every screen at every size: nothing raises, the footer is whole, every key is in help."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.binding import ActiveBinding
from textual.pilot import Pilot

from screens.app import ToolkitApp
from screens.base import ToolkitScreen
from screens.help import HelpScreen, Key, all_keys
from screens.widgets.footer import key_name
from screens.widgets.topline import TopLine
from tests.screens.support import SIZES, first_look, shown
from tests.support.captures import find_capture, machines
from toolkit.config import Settings
from toolkit.host.replay import ReplayHost

ODD_CASES = ["E05", "E10", "E11", "E13", "E22-card-appears", "E25", "E28"]


def open_capture(tmp_path: Path, path: Path) -> ToolkitApp:
    environ = {"HOME": str(tmp_path), "TERM": "xterm-256color"}
    return ToolkitApp(ReplayHost(str(path)), Settings(), environ=environ)


def whole_footer(text: str) -> bool:
    return text.rpartition("\n")[2].rstrip().endswith("? help")


async def see_all(app: ToolkitApp, pilot: Pilot[Any], sizes: list[tuple[int, int]]) -> None:
    await first_look(app, pilot)
    assert app.problem is None, app.problem
    for width, height in sizes:
        await pilot.resize_terminal(width, height)
        for subject in app.SUBJECTS:
            app.action_show_subject(subject.id)
            app.poller.refresh_now()
            await pilot.pause()
            text = shown(app)
            assert "\x1b" not in text
            if width >= 60 and height >= 18:
                assert whole_footer(text), text
                assert text.startswith(" toolkit  "), text
            if width == 60:
                app.action_help()
                await pilot.pause()
                assert isinstance(app.screen, HelpScreen)
                app.go_back()
                await pilot.pause()


@pytest.mark.parametrize("machine", machines(), ids=lambda path: path.name)
async def test_every_machine_on_every_screen(tmp_path: Path, machine: Path) -> None:
    if not (machine / "meta.json").exists():
        pytest.fail(f"{machine} is not there")
    app = open_capture(tmp_path, machine)
    async with app.run_test(size=(80, 24)) as pilot:
        await see_all(app, pilot, SIZES)
        assert app.screen_stack


@pytest.mark.parametrize("case", ODD_CASES)
async def test_odd_machines_on_every_screen(tmp_path: Path, case: str) -> None:
    app = open_capture(tmp_path, find_capture(case))
    async with app.run_test(size=(80, 24)) as pilot:
        await see_all(app, pilot, [(80, 24), (60, 18)])


async def test_every_binding_is_in_help(tmp_path: Path) -> None:
    app = open_capture(tmp_path, find_capture("framework13-intel"))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for subject in app.SUBJECTS:
            await pilot.press(subject.digit)
            await pilot.pause()
            bindings = list(app.screen.active_bindings.values())
            await pilot.press("question_mark")
            await pilot.pause()
            screen = app.screen
            assert isinstance(screen, HelpScreen)
            text = screen.page_as_text()
            keys = all_keys(bindings)
            assert len(keys) >= 10
            for active in bindings:
                assert_explained(active, keys, text)
            await pilot.press("q")


def assert_explained(active: ActiveBinding, keys: list[Key], text: str) -> None:
    """A binding stands in help: with its key at the beginning of a line, and words on what it does."""
    name = active.binding.key_display or key_name(active.binding.key)
    own = [key for key in keys if name in key.names]
    assert own, f"{name} ({active.binding.action}) is not among the keys"
    labels = [line.strip().split("   ")[0] for line in text.split("\n")]
    assert any(" ".join(key.names) == label or label.startswith(" ".join(key.names)) for key in own for label in labels)
    assert active.binding.tooltip or active.binding.description, f"{name} does not say what it does"


async def test_bindings_have_ids_that_name_their_screen(tmp_path: Path) -> None:
    app = open_capture(tmp_path, find_capture("framework13-intel"))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for subject in app.SUBJECTS:
            await pilot.press(subject.digit)
            await pilot.pause()
            for active in app.screen.active_bindings.values():
                if isinstance(active.node, ToolkitScreen | ToolkitApp) and active.binding.action != "command_palette":
                    assert active.binding.id is not None, active.binding
                    assert "." in active.binding.id


async def test_headline_is_on_the_top_line_of_every_screen(tmp_path: Path) -> None:
    app = open_capture(tmp_path, find_capture("framework13-intel"))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.poller.pause()
        for subject in app.SUBJECTS:
            await pilot.press(subject.digit)
            await pilot.pause()
            assert app.latest is not None
            top = shown(app).split("\n")[0].rstrip()
            assert top.endswith(f"{app.latest.headline.celsius} °C")
            assert "framework13-intel" in top
            assert app.screen.query_one(TopLine).state.machine == app.machine
