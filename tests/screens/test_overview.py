"""The overview: its lines, what to do next, its verdict, and how it looks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from screens.app import ToolkitApp
from screens.format import Severity
from screens.next_steps import Step, next_steps, overview_verdict
from screens.overview import OverviewScreen, lay_out
from screens.overview_lines import Facts, overview_lines
from screens.widgets.bar import COARSE
from screens.widgets.canvas import row_text, row_width
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
from toolkit.errors import Problem
from toolkit.sensors.history import History
from toolkit.sensors.model import (
    Battery,
    ClockGroup,
    Clocks,
    Headline,
    Held,
    HeldBack,
    PackagePower,
    Power,
    Quantity,
    Rule,
    Snapshot,
    State,
)


def facts(of: Snapshot | None, width: int = 67, replayed: bool = False) -> Facts:
    history = History()
    if of is not None:
        history.add(of)
    return Facts(of, history, width, replayed)


def lines(of: Snapshot | None, width: int = 67) -> dict[str, str]:
    return {line.label: row_text(line.pieces) for line in overview_lines(facts(of, width))}


def steps(of: Snapshot, replayed: bool = False) -> list[Step]:
    return next_steps(facts(of, replayed=replayed))


def test_before_the_first_look_there_are_dashes() -> None:
    assert list(lines(None)) == ["CPU"]
    assert "--" in lines(None)["CPU"]
    assert next_steps(facts(None)) == []
    assert overview_verdict(facts(None))[1] is Severity.NOTE


def test_healthy_laptop() -> None:
    said = lines(snapshot())
    assert said["CPU"].endswith(" 54 °C   max  54 of 100   not held back")
    assert said["Power"] == "battery 83 %, discharging  9.2 W · CPU package  6.1 W of 28 W"
    assert said["Clocks"] == "P-cores 1.9 GHz  E-cores 1.2 GHz · governor powersave"
    assert said["Load"] == "12 % busy · load 0.52 0.48 0.40 (1, 5, 15 min)"
    assert said["Fans"] == "4210 rpm"
    assert said["Others"] == "nvme 52 °C · amdgpu ~ asleep"


def test_fans_of_one_name_on_two_chips_are_told_with_their_chips() -> None:
    one, two, other = (
        sensor(chip, label, Quantity.FAN) for chip, label in (("it87", "fan1"), ("dell", "fan1"), ("dell", "fan2"))
    )
    said = lines(snapshot(readings=(reading(0.0, one), reading(900.0, two), reading(1187.0, other))))["Fans"]
    assert said == "it87 fan1 still · dell fan1  900 rpm · fan2 1187 rpm"


def test_a_control_value_of_the_cpu_is_no_other_part() -> None:
    offset = sensor("k10temp", "Tctl")
    assert "k10temp" not in lines(snapshot(readings=(reading(54.0, PACKAGE), reading(75.0, offset)))).get("Others", "")


def test_every_line_fits_its_room() -> None:
    for width in range(30, 190):
        for line in overview_lines(facts(HOT, width)):
            if line.label == "CPU":
                assert row_width(line.pieces) <= max(width, 44)


def test_machine_with_nothing_has_no_empty_lines() -> None:
    said = lines(replace(BARE, clocks=Clocks()))
    assert said == {"CPU": "--   no CPU sensor was found: a virtual machine has none"}


def test_on_mains_with_a_full_battery() -> None:
    power = Power(on_ac=True, batteries=(Battery("BAT0", 100.0, "Full", 0.0),))
    assert lines(snapshot(power=power))["Power"] == "on mains · battery 100 %, full"


def test_two_batteries_and_two_packages() -> None:
    power = Power(
        packages=(
            PackagePower("package-0", 30.0, 60.0, None, "RAPL"),
            PackagePower("package-1", 31.5, None, None, "R"),
        ),
        batteries=(Battery("BAT0", 50.0, "Charging", 20.0), Battery("BAT1", None, None, None)),
    )
    said = lines(snapshot(power=power))["Power"]
    assert said == "battery 50 %, charging 20.0 W · battery -- · CPU package 61.5 W"


def test_power_that_needs_root_says_so_and_names_the_command() -> None:
    assert "package power needs root" in lines(HOT)["Power"]
    assert Step("package power needs root", "sudo toolkit temps") in steps(HOT)
    assert all("sudo" not in step.command for step in steps(HOT, replayed=True))


def test_power_that_nothing_can_show_is_no_line() -> None:
    of = snapshot(power=Power(problem=Problem("/sys/class/powercap", "this machine shows no package power")))
    assert "Power" not in lines(of)


def test_clocks_of_one_kind_boost_off_and_a_profile() -> None:
    clocks = Clocks(
        groups=(ClockGroup("CPU", (0,), None, None, None, None, None),), boost=False, platform_profile="low-power"
    )
    assert lines(snapshot(clocks=clocks))["Clocks"] == "all cores -- · boost off · profile low-power"


def test_clocks_that_cannot_be_read_say_why() -> None:
    clocks = Clocks(problem=Problem("cpufreq", "no cpufreq driver"))
    assert lines(snapshot(clocks=clocks))["Clocks"] == "-- (no cpufreq driver)"


def test_several_fans_have_names_and_a_still_one_says_so() -> None:
    other = sensor("cros_ec", "fan2", Quantity.FAN, index=2)
    said = lines(snapshot(readings=(reading(4210.0, FAN), reading(0.0, other))))["Fans"]
    assert said == "fan1 4210 rpm · fan2 still"


def test_others_shows_the_hottest_of_each_chip_and_marks_the_hot() -> None:
    second = sensor("nvme", "Sensor 2", limit=84.0, index=3)
    said = lines(snapshot(readings=(reading(54.0, PACKAGE), reading(60.0, NVME), reading(80.0, second))))["Others"]
    assert said == "nvme !! 80 °C"


def test_label_with_escape_codes_and_markup_is_harmless() -> None:
    evil = sensor("\x1b[31m[red]evil", "x")
    said = lines(snapshot(readings=(reading(54.0, evil),)))["Others"]
    assert "\x1b" not in said
    assert "[red]" in said


def test_no_sensor_proposes_demo_and_doctor() -> None:
    assert [step.command for step in steps(BARE)] == ["toolkit --demo", "toolkit doctor"]
    assert steps(BARE, replayed=True) == []


def test_second_best_names_its_source() -> None:
    headline = Headline(41, 41, ("cros_ec · cpu@4c",), Rule.BEST, "no CPU sensor", second_best=True)
    assert any("cros_ec · cpu@4c" in step.what for step in steps(snapshot(headline=headline)))


def test_policy_names_the_knob() -> None:
    held = HeldBack(Held.YES, "policy", "Held back by policy: the ceiling is 2.0 of 4.7 GHz.")
    clocks = Clocks(
        groups=(ClockGroup("CPU", (0,), 2000.0, 2000.0, 2000.0, 4700.0, 2000.0),),
        driver="intel_pstate",
        boost=False,
        platform_profile="low-power",
    )
    commands = [step.command for step in steps(snapshot(held_back=held, clocks=clocks))]
    assert "powerprofilesctl set balanced" in commands
    assert "echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo" in commands
    assert "sudo cpupower frequency-set -u 4700MHz" in commands
    amd = steps(snapshot(held_back=held, clocks=replace(clocks, driver="amd-pstate-epp")))
    assert any(step.command.endswith("cpufreq/boost") for step in amd)
    assert not [step for step in steps(snapshot(clocks=clocks)) if step.command]


def test_sensors_without_a_value_are_counted() -> None:
    assert Step("1 sensor gives no value: see why", subject="temperatures") in steps(snapshot())
    two = snapshot(readings=(reading(None, NVME, State.FAULT), reading(None, CORE, State.GONE)))
    assert Step("2 sensors give no value: see why", subject="temperatures") in steps(two)
    asleep = snapshot(readings=(reading(None, GPU, State.ASLEEP),))
    assert steps(asleep) == []


def test_other_problems_with_a_hint_are_steps() -> None:
    problem = Problem("/sys/class/thermal", "cannot be read", "sudo toolkit temps")
    of = snapshot(problems=(problem, problem, Problem("/sys/class/hwmon", "is not there", "ENOENT")), readings=())
    assert steps(of) == [Step("/sys/class/thermal: cannot be read", "sudo toolkit temps")]


@pytest.mark.parametrize(
    ("of", "says", "severity"),
    [
        (snapshot(54), "All well: the CPU is 46 degrees below its limit, and nothing holds it back.", Severity.OK),
        (snapshot(88), "The CPU is warm: 88 °C, its limit is 100.", Severity.WARN),
        (snapshot(97), "The CPU is hot: 97 °C, its limit is 100.", Severity.BAD),
        (HOT, "Held back: the CPU package reached its limit 12 times in the last minute.", Severity.BAD),
        (BARE, "No CPU temperature: no CPU sensor was found: a virtual machine has none.", Severity.WARN),
        (
            snapshot(54, held_back=HeldBack(Held.LIKELY, "power limit", "Probably held back by the power limit")),
            "Probably held back by the power limit.",
            Severity.WARN,
        ),
        (
            snapshot(54, readings=(reading(82.0, NVME),)),
            "nvme · Composite is hot: 82 °C, its limit is 84.",
            Severity.WARN,
        ),
        (
            snapshot(54, held_back=HeldBack(Held.UNKNOWN), headline=replace(snapshot(54).headline, limit_celsius=None)),
            "All well: the CPU is at 54 °C.",
            Severity.OK,
        ),
    ],
)
def test_verdict(of: Snapshot, says: str, severity: Severity) -> None:
    assert overview_verdict(facts(of)) == (says, severity)


def test_selection_is_a_mark_and_not_only_a_colour() -> None:
    known = facts(HOT)
    page = lay_out(overview_lines(known), next_steps(known), 1, 80)
    assert [row_text(page.rows[item]).startswith(" ▸ ") for item in page.items].index(True) == 1
    coarse = lay_out(overview_lines(known), [], 0, 80, COARSE)
    assert row_text(coarse.rows[0]).startswith(" > CPU")


def test_page_is_cut_with_an_ellipsis_at_60() -> None:
    known = facts(HOT, 47)
    page = lay_out(overview_lines(known), next_steps(known), 0, 60)
    assert all(row_width(row) < 60 for row in page.rows)
    assert any(row_text(row).endswith("…") for row in page.rows)


# In the application


def heated(app: ToolkitApp) -> None:
    """Ten minutes of a benchmark."""
    for second in range(600):
        wave = 60 + 14 * math.sin(second / 40) + (20 if 300 < second < 380 else 0)
        app.history.add(snapshot(int(wave), at=float(second) - 600.0))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_looks_as_it_did(tmp_path: Path, size: tuple[int, int]) -> None:
    app = make_app(tmp_path, snapshot(at=0.0))
    heated(app)
    async with app.run_test(size=size) as pilot:
        await first_look(app, pilot)
        app.poller.pause()
        check_golden(f"overview-{size[0]}x{size[1]}", shown(app) + "\n")


@pytest.mark.parametrize(("name", "of"), [("hot", HOT), ("bare", BARE)])
async def test_other_machines_look_as_they_did(tmp_path: Path, name: str, of: Snapshot) -> None:
    app = make_app(tmp_path, of, label="demo" if name == "hot" else "")
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        check_golden(f"overview-{name}-80x24", shown(app) + "\n")


async def test_keys_move_and_enter_opens_or_copies(tmp_path: Path) -> None:
    app = make_app(tmp_path, BARE)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        await pilot.press("down", "j")
        assert " ▸ see what it looks like" in shown(app)
        await pilot.press("enter")
        assert app.clipboard == "toolkit --demo\n"
        await pilot.press("G")
        assert " ▸ find out what is missing" in shown(app)
        await pilot.press("y")
        assert app.clipboard == "toolkit doctor\n"
        await pilot.press("up", "k", "k", "k", "k")
        assert " ▸ CPU" in shown(app)
        await pilot.press("y")
        assert app.clipboard.startswith("CPU: --")


async def test_click_selects_and_opens(tmp_path: Path) -> None:
    app = make_app(tmp_path, BARE)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        y = next(y for y, line in enumerate(shown(app).split("\n")) if "find out" in line)
        await pilot.click(offset=(10, y))
        assert " ▸ find out" in shown(app)
        await pilot.click(offset=(10, y))
        assert app.clipboard == "toolkit doctor\n"


async def test_mouse_selects_text_and_ctrl_c_copies_it(tmp_path: Path) -> None:
    app = make_app(tmp_path, BARE)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        lines = shown(app).split("\n")
        y = next(y for y, line in enumerate(lines) if "toolkit doctor" in line)
        x = lines[y].index("toolkit doctor")
        await pilot.mouse_down(offset=(x, y))
        await pilot.hover(offset=(x + 13, y))
        await pilot.mouse_up(offset=(x + 13, y))
        await pilot.pause()
        await pilot.press("ctrl+c")
        assert app.clipboard.strip() == "toolkit doctor"
        assert app.is_running


async def test_short_window_scrolls_to_the_selected(tmp_path: Path) -> None:
    problems = tuple(Problem(f"/sys/p{n}", "odd", f"fix {n}") for n in range(6))
    app = make_app(tmp_path, snapshot(problems=problems))
    async with app.run_test(size=(60, 18)) as pilot:
        await first_look(app, pilot)
        await pilot.press("end")
        assert " ▸ /sys/p5" in shown(app)
        await pilot.press("home")
        assert " ▸ CPU" in shown(app)


async def test_only_cells_that_changed_are_painted(tmp_path: Path) -> None:
    """A tick with another temperature leaves the rest of the screen alone."""
    monitor = StandInMonitor(snapshot(54))
    app = make_app(tmp_path, monitor=monitor)
    async with app.run_test(size=(80, 24)) as pilot:
        await first_look(app, pilot)
        app.poller.pause()
        await pilot.pause()
        painted: list[int] = []
        display = app._display

        def counting(screen: object, renderable: object) -> None:
            chops = getattr(renderable, "chops", None)
            painted.append(24 * 80 if chops is None else sum(x2 - x1 for _, x1, x2 in renderable.spans))  # type: ignore[attr-defined]
            display(screen, renderable)  # type: ignore[arg-type]

        app._display = counting  # type: ignore[method-assign]
        monitor.models = [snapshot(55)]
        app.poller.refresh_now()
        for _ in range(100):
            await pilot.pause(0.01)
            if "55 °C" in shown(app):
                break
        await pilot.pause()
        assert isinstance(app.screen, OverviewScreen)
        assert sum(painted) < 300, painted
