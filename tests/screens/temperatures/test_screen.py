"""The screen in the application: every key, what is kept in the settings, every size, no colour."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.widgets import Input

from screens.app import ToolkitApp
from screens.base import screen_text
from screens.temperatures import TemperaturesScreen
from screens.temperatures_list import Order
from screens.temperatures_page import TemperaturesPage
from screens.temperatures_panel import Panel, Prompt
from tests.screens.support import (
    BARE,
    CORE,
    FAN,
    GPU,
    HOT,
    NVME,
    PACKAGE,
    StandInMonitor,
    check_golden,
    first_look,
    make_app,
    reading,
    sensor,
    shown,
    snapshot,
)
from tests.screens.temperatures.kit import many, with_readings
from toolkit.config import Settings, TemperatureSettings, load_settings
from toolkit.sensors.model import Snapshot, State

STILL = Settings(temperatures=TemperatureSettings(interval_s=60.0))


def temperatures_app(tmp_path: Path, *models: Snapshot | Exception, **more: Any) -> ToolkitApp:
    """Make the application on the temperatures screen; it looks once, and then when a test asks for it."""
    more.setdefault("settings", STILL)
    return make_app(tmp_path, *models, screen="temperatures", **more)


def kept(app: ToolkitApp) -> TemperatureSettings:
    """Return what the settings file says."""
    return load_settings(app.environ).temperatures


def page(app: ToolkitApp) -> TemperaturesPage:
    assert isinstance(app.screen, TemperaturesScreen)
    return app.screen.page


async def look_again(app: ToolkitApp, pilot: Any) -> None:
    """Take one more snapshot."""
    before = app.latest
    app.poller.refresh_now()
    for _ in range(200):
        await pilot.pause(0.01)
        if app.latest is not before:
            break
    await pilot.pause()


async def test_the_first_paint_has_dashes_and_the_first_look_has_values(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        text = shown(app)
        assert "coretemp · Package id 0" in text
        assert "Package id 0            54" in text.replace("▸", " ")
        assert text.split("\n")[-1].startswith(" r record  m mark  h hide  t limit  g 10 min  z zero min/max  ? help")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 18)])
async def test_how_the_screen_looks(tmp_path: Path, size: tuple[int, int]) -> None:
    app = temperatures_app(tmp_path, HOT)
    async with app.run_test(size=size) as pilot:
        await first_look(app, pilot)
        check_golden(f"temperatures-{size[0]}x{size[1]}", shown(app) + "\n")


@pytest.mark.parametrize("size", [(80, 24), (60, 18), (120, 40), (160, 50), (200, 50), (72, 18), (59, 17), (20, 5)])
async def test_every_size(tmp_path: Path, size: tuple[int, int]) -> None:
    app = temperatures_app(tmp_path, HOT)
    async with app.run_test(size=size) as pilot:
        await first_look(app, pilot)
        await pilot.press("i", "down", "i", "o", "H")
        lines = shown(app).split("\n")
        assert len(lines) == size[1]
        assert all(len(line) <= size[0] for line in lines)


async def test_resizing_lays_out_again(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, HOT)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for size in ((200, 50), (60, 18), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            panel = app.screen.query_one(Panel)
            assert (page(app).layout.width, page(app).layout.height) == panel.size
            assert len(panel.rows) == panel.size.height


# The cursor


async def test_arrows_pages_and_ends(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, with_readings(many(60)))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        steps = [
            ("down", "s1"),
            ("j", "s2"),
            ("up", "s1"),
            ("k", "s0"),
            ("pagedown", "s12"),
            ("end", "s59"),
            ("pageup", "s47"),
            ("home", "s0"),
            ("G", "s59"),
        ]
        for key, sensor_id in steps:
            await pilot.press(key)
            assert page(app).cursor_id == sensor_id, key
            assert "▸" in shown(app)


async def test_the_mouse_selects_and_the_wheel_scrolls(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, with_readings(many(60)))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        lines = shown(app).split("\n")
        y = next(number for number, line in enumerate(lines) if "Sensor 4 " in line)
        top = app.screen.query_one(Panel).region.y
        await pilot.click(Panel, offset=(10, y - top))
        await pilot.pause()
        assert page(app).cursor_id == "s4"
        app.screen.query_one(Panel).post_message(Panel.Wheeled(30))
        await pilot.pause()
        assert page(app).cursor_id != "s4"


async def test_hot_plug_keeps_the_selection(tmp_path: Path) -> None:
    new = reading(33.0, sensor("aaa", "new"))
    later = snapshot(readings=(new, *snapshot().readings), changed_sensors=True)
    gone = tuple(r for r in snapshot().readings if r.sensor.id != NVME.id)
    last = snapshot(readings=(*gone, reading(None, NVME, State.GONE, "gone since 12:00")))
    app = temperatures_app(tmp_path, snapshot(), later, last)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("down", "down")
        assert page(app).cursor_id == NVME.id
        await look_again(app, pilot)
        assert page(app).cursor_id == NVME.id
        await look_again(app, pilot)
        assert page(app).cursor_id == NVME.id
        assert "x gone since 12:00" in shown(app)


# What is kept


async def test_hiding_is_kept_and_taken_back(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("down", "h")
        assert kept(app).hidden == {CORE.id}
        assert "Core 0" not in shown(app)
        assert "1 hidden" in shown(app)
        await pilot.press("H")
        assert "Core 0" in shown(app)
        page(app).select_id(CORE.id)
        await pilot.press("up", "down")
        assert "h unhide" in shown(app)
        await pilot.press("h")
        assert kept(app).hidden == frozenset()


@pytest.mark.parametrize("key", ["space", "asterisk"])
async def test_pinning_is_kept_and_comes_first(tmp_path: Path, key: str) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await first_look(app, pilot)
        page(app).select_id(NVME.id)
        await pilot.press(key)
        assert kept(app).pinned == (NVME.id,)
        assert page(app).listing.entries[1].ids == (NVME.id,)
        assert "Composite 52° ┤" in shown(app)
        assert page(app).cursor_id == NVME.id
        await pilot.press(key)
        assert kept(app).pinned == ()


async def test_renaming_is_kept_and_validated(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        page(app).select_id(NVME.id)
        await pilot.press("n")
        assert "A name for Composite" in shown(app)
        await pilot.press(*"Left disk", "enter")
        assert kept(app).names == {NVME.id: "Left disk"}
        assert "nvme · Left disk" in shown(app)
        await pilot.press("n")
        app.screen.query_one(Input).value = "x" * 49
        await pilot.press("enter")
        assert "! a name has at most 40 characters, this one has 49" in shown(app)
        await pilot.press("escape")
        assert kept(app).names == {NVME.id: "Left disk"}
        await pilot.press("n", "ctrl+u", "enter")
        assert kept(app).names == {}


async def test_a_threshold_is_kept_validated_and_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    warm = tuple(replace(r, raw=61_000, value=61.0) if r.sensor.id == NVME.id else r for r in snapshot().readings)
    app = temperatures_app(tmp_path, snapshot(), snapshot(readings=warm))
    app.notify = lambda message, **_more: told.append(message)  # type: ignore[method-assign]
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        page(app).select_id(NVME.id)
        await pilot.press("t", *"warm", "enter")
        assert "! 'warm' is not a number; type for example 85, or nothing" in shown(app)
        await pilot.press("ctrl+u", *"999", "enter")
        assert "is out of range" in shown(app)
        await pilot.press("ctrl+u", *"60", "enter")
        assert kept(app).thresholds == {NVME.id: 60.0}
        assert told == []
        await look_again(app, pilot)
        await look_again(app, pilot)
        assert told == ["Composite of nvme is at 61 °C; your threshold is 60 °C."]
        assert "Composite of nvme is at 61 °C; your threshold is 60 °C." in shown(app)
        assert "! >60" in shown(app)
        await pilot.press("t", "ctrl+u", "enter")
        assert kept(app).thresholds == {}


async def test_saved_choices_are_used_and_those_for_absent_sensors_are_told(tmp_path: Path) -> None:
    saved = replace(
        STILL.temperatures,
        hidden=frozenset({FAN.id}),
        pinned=("k10temp@x/temp/Tctl", CORE.id),
        names={CORE.id: "First core"},
        history_minutes=60,
    )
    app = temperatures_app(tmp_path, settings=Settings(temperatures=saved))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        text = shown(app)
        assert "First core" in text
        assert "fan1" not in text
        assert "60 min ago" in text
        assert "Saved, but not here now: k10temp@x/temp/Tctl (pinned)" in text


async def test_the_span_of_the_graph_is_kept(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for minutes in (60, 1, 10):
            await pilot.press("g")
            assert f"{minutes} min ago" in shown(app)
            assert f"g {minutes} min" in shown(app)
            assert kept(app).history_minutes == minutes


async def test_the_interval_is_kept(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, settings=Settings())
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("minus", "minus")
        assert (kept(app).interval_s, app.poller.interval_s) == (5.0, 5.0)
        await pilot.press("plus", "minus", "minus", "minus", "minus")
        assert kept(app).interval_s == 10.0


# What is not kept


async def test_zero_begins_anew(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, snapshot(90), snapshot(50))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await look_again(app, pilot)
        assert "max 90 of 100" in shown(app)
        await pilot.press("z")
        await look_again(app, pilot)
        assert "max 50 of 100" in shown(app)


async def test_sorting_goes_round(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        seen = []
        for _ in Order:
            await pilot.press("o")
            seen.append(page(app).view.order)
        assert seen == [Order.HEAT, Order.LIMIT, Order.NAME, Order.CHIP]
        await pilot.press("o")
        assert "SENSOR hottest first" in shown(app)


async def test_a_filter_is_live_kept_by_enter_and_taken_back_by_escape(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("slash", *"nvme")
        assert shown(app).split("\n")[-1].startswith(" enter keep  esc leave")
        assert "SENSOR with “nvme”" in shown(app)
        assert "fan1" not in shown(app)
        await pilot.press("escape")
        assert "fan1" in shown(app)
        await pilot.press("slash", *"fan", "enter")
        assert not app.screen.query_one(Prompt).is_open
        assert shown(app).split("\n")[-1].startswith(" r record")
        assert "Composite" not in shown(app)
        await pilot.press("escape")
        assert "Composite" in shown(app)
        assert app.current_mode == "temperatures"
        await pilot.press("escape")
        assert app.current_mode == "overview"


async def test_keys_typed_into_the_line_do_nothing_else(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("slash", *"qrhztgmpoi1")
        assert app.current_mode == "temperatures"
        assert app.recording is None
        assert app.screen.query_one(Input).value == "qrhztgmpoi1"
        await pilot.press("escape", "tab", "h")
        assert kept(app).hidden


@pytest.mark.parametrize("key", ["i", "enter"])
async def test_details_open_and_close(tmp_path: Path, key: str) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert "Critical" not in shown(app)
        await pilot.press(key)
        assert "Critical  100 °C (the bar's end)" in shown(app)
        await pilot.press(key)
        assert "Critical" not in shown(app)
        await pilot.resize_terminal(120, 40)
        await pilot.press(key)
        assert f"{PACKAGE.path[:20]}" in shown(app)


async def test_marks_stand_in_the_graph(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        before = shown(app).count("│")
        await pilot.press("m")
        assert shown(app).count("│") > before
        assert len(page(app).graph.marks) == 1


async def test_copying_row_and_page(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("y")
        assert "Threshold none (t sets one)" in app.clipboard
        assert f"Id        {PACKAGE.id}" in app.clipboard
        await pilot.press("Y")
        assert "Framework Laptop 13" in app.clipboard
        assert "- ENODATA: the radio is off" in app.clipboard


async def test_pausing_lets_the_values_stand(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("p")
        assert "paused" in shown(app)
        await pilot.press("p")
        assert "paused" not in shown(app)


async def test_actions_without_a_sensor_say_so(tmp_path: Path) -> None:
    told: list[str] = []
    app = temperatures_app(tmp_path, BARE)
    app.notify = lambda message, **_more: told.append(message)  # type: ignore[method-assign]
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        for key in ("h", "space", "n", "t"):
            await pilot.press(key)
        assert told == ["No sensor is selected."] * 4
        await pilot.press("y", "i", "m", "z", "g", "o", "down", "end")


async def test_a_row_that_stands_for_many_cannot_be_renamed_but_hidden(tmp_path: Path) -> None:
    told: list[str] = []
    gpu = [GPU, sensor("amdgpu", "junction", index=2)]
    asleep = tuple(reading(None, of, State.ASLEEP, "asleep (suspended), not read") for of in gpu)
    app = temperatures_app(tmp_path, with_readings((reading(54.0, PACKAGE), *asleep)))
    app.notify = lambda message, **_more: told.append(message)  # type: ignore[method-assign]
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        assert "(2 sensors)" in shown(app)
        await pilot.press("end", "n")
        assert told[-1].startswith("This row stands for 2 sensors")
        await pilot.press("h")
        assert kept(app).hidden == {of.id for of in gpu}


async def test_a_failed_probe_is_told_and_every_key_still_works(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, snapshot(), OSError(5, "Input/output error", "/sys/x"))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.poller.refresh_now()
        for _ in range(100):
            await pilot.pause(0.01)
            if app.problem is not None:
                break
        assert "No new values" in shown(app)
        for binding in TemperaturesScreen.BINDINGS:
            if getattr(binding, "action", "") not in ("record", "filter", "rename", "threshold"):
                await pilot.press(binding.key.split(",")[0])  # type: ignore[union-attr]
        assert "▸" in shown(app)


async def test_every_binding_is_in_help(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path)
    async with app.run_test(size=(100, 50)) as pilot:
        await first_look(app, pilot)
        await pilot.press("question_mark")
        await pilot.pause()
        page_text = app.screen.page_as_text()  # type: ignore[attr-defined]
        for binding in TemperaturesScreen.BINDINGS:
            assert binding.tooltip in " ".join(page_text.split())  # type: ignore[union-attr]
            assert binding.id  # type: ignore[union-attr]


async def test_without_colour_every_state_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = temperatures_app(tmp_path, HOT)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        text = shown(app)
        assert "!! hot" in text
        assert "ok" in text
        assert "~ " in text
        assert "- ENODATA" in text
        assert "▸" in text


async def test_the_console_theme_draws_with_the_console_font(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, HOT)
    async with app.run_test(size=(120, 40)) as pilot:
        await first_look(app, pilot)
        assert "▸" in shown(app)
        app.theme = "ansi"
        await pilot.pause()
        body = "\n".join(shown(app).split("\n")[3:-1])
        assert not set("▏▎▍▋▊▉▁▂▃▅▆▇▸╌") & set(body)


# What a tick costs


async def test_a_tick_refreshes_only_lines_that_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = many(1000)
    moved = (*readings[:3], replace(readings[3], raw=77_000, value=77.0), *readings[4:])
    app = temperatures_app(tmp_path, monitor=StandInMonitor(with_readings(readings), with_readings(moved)))
    regions: list[Region] = []
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        panel = app.screen.query_one(Panel)
        refresh = panel.refresh

        def counted(*args: Region, **more: Any) -> Any:
            regions.extend(args or [Region(0, 0, 999, 999)])
            return refresh(*args, **more)

        monkeypatch.setattr(panel, "refresh", counted)
        await look_again(app, pilot)
        (region,) = regions
        assert region.height == 1
        assert "Sensor 3 " in shown(app).split("\n")[panel.region.y + region.y]


async def test_a_thousand_sensors_scroll(tmp_path: Path) -> None:
    app = temperatures_app(tmp_path, with_readings(many(1000)))
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press(*["pagedown"] * 5, "end")
        assert "Sensor 999" in screen_text(app.screen)
        assert "of 1100" in screen_text(app.screen)


async def test_choices_for_a_captured_machine_stay_out_of_the_persons_file(tmp_path: Path) -> None:
    from dataclasses import replace

    from toolkit.config import Settings, TemperatureSettings, load_settings

    settings = Settings(temperatures=TemperatureSettings(hidden=frozenset({"x"}), names={"y": "Y"}))
    app = make_app(tmp_path, screen="temperatures", settings=settings, keep_choices=False)
    assert app.settings.temperatures == TemperatureSettings()
    async with app.run_test() as pilot:
        await first_look(app, pilot)
        await pilot.press("h")
        app.save_settings(replace(app.settings, theme="toolkit-light"))
        assert app.settings.temperatures.hidden
    assert load_settings(app.environ) == Settings(theme="toolkit-light")


async def test_the_palette_offers_what_the_screen_can_do(tmp_path: Path) -> None:
    from screens.palette import palette_commands

    app = make_app(tmp_path, screen="temperatures")
    async with app.run_test() as pilot:
        await first_look(app, pilot)
        commands = {command.title: command for command in palette_commands(app)}
        for title in ("Record", "Mark", "Hide the selected sensor", "Tell me at a temperature", "Span of the graph"):
            assert title in commands
        assert not {"Up", "Down", "Page up"} & set(commands)
        commands["Hide the selected sensor"].run()
        await pilot.pause()
        assert app.settings.temperatures.hidden
        assert "Show the selected sensor" not in commands
