"""Helpers for the tests of the screens: hand-made snapshots, a stand-in monitor, the screen as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from screens.app import ToolkitApp
from screens.base import screen_text
from toolkit.config import Settings
from toolkit.errors import Problem
from toolkit.sensors.model import (
    Battery,
    Chip,
    ClockGroup,
    Clocks,
    Headline,
    Held,
    HeldBack,
    Limits,
    Machine,
    PackagePower,
    Power,
    Quantity,
    Reading,
    Rule,
    Sensor,
    Snapshot,
    State,
    Throttling,
)

SIZES = [(80, 24), (60, 18), (120, 40), (200, 50), (40, 10)]
GOLDEN = Path(__file__).parent / "golden"
MACHINE = Machine("Framework Laptop 13", "6.8.0-31-generic", "11th Gen Intel(R) Core(TM) i7-1165G7", "Ubuntu 24.04")


def sensor(
    chip: str, label: str | None, quantity: Quantity = Quantity.TEMPERATURE, limit: float | None = None, index: int = 1
) -> Sensor:
    """Make a sensor."""
    home = Chip(chip, f"platform/{chip}.0", "hwmon0", f"/sys/class/hwmon/{chip}", chip)
    name = label if label is not None else str(index)
    return Sensor(
        f"{chip}@{home.device}/{quantity.value}/{name}",
        home,
        quantity,
        index,
        label,
        f"{home.path}/{quantity.value}{index}_input",
        Limits(crit=limit),
        limit,
    )


def reading(value: float | None, of: Sensor, state: State = State.OK, reason: str = "") -> Reading:
    """Make a reading."""
    raw = None if value is None else round(value * of.quantity.scale)
    return Reading(of, state, raw, value if state is State.OK else None, reason)


PACKAGE = sensor("coretemp", "Package id 0", limit=100.0)
CORE = sensor("coretemp", "Core 0", limit=100.0, index=2)
NVME = sensor("nvme", "Composite", limit=84.0)
FAN = sensor("cros_ec", "fan1", Quantity.FAN)
GPU = sensor("amdgpu", "edge")
WIFI = sensor("iwlwifi_1", None)


def snapshot(celsius: int | None = 54, at: float = 1.0, **changes: Any) -> Snapshot:
    """Make a snapshot of a healthy laptop; `changes` replace its fields."""
    headline = Headline(
        celsius,
        celsius,
        ("coretemp · Package id 0",) if celsius is not None else (),
        Rule.BEST,
        "" if celsius is not None else "no CPU sensor was found",
        sensor_ids=(PACKAGE.id,) if celsius is not None else (),
        limit_celsius=100.0 if celsius is not None else None,
    )
    readings: tuple[Reading, ...] = (
        reading(52.0, NVME),
        reading(4210.0, FAN),
        reading(None, GPU, State.ASLEEP, "power/runtime_status is suspended"),
        reading(None, WIFI, State.UNREADABLE, "ENODATA: the radio is off"),
    )
    if celsius is not None:
        readings = (reading(float(celsius), PACKAGE), reading(celsius - 1.0, CORE), *readings)
    made = Snapshot(
        taken_at=1_800_000_000.0 + at,
        monotonic_s=at,
        headline=headline,
        readings=readings,
        clocks=Clocks(
            groups=(
                ClockGroup("P", (0, 1, 2, 3), 1912.0, 800.0, 3400.0, 4700.0, 4700.0),
                ClockGroup("E", (4, 5, 6, 7), 1204.0, 800.0, 2400.0, 3600.0, 3600.0),
            ),
            driver="intel_pstate",
            governor="powersave",
            boost=True,
            load_percent=12.4,
            load_average=(0.52, 0.48, 0.40),
        ),
        power=Power(
            packages=(PackagePower("package-0", 6.1, 28.0, 64.0, "RAPL", 6.1),),
            on_ac=False,
            batteries=(Battery("BAT1", 83.0, "Discharging", -9.2),),
        ),
        throttling=Throttling(offered=True),
        held_back=HeldBack(Held.NO, "", "Nothing holds the CPU back."),
    )
    return replace(made, **changes)


BARE = snapshot(
    None,
    readings=(),
    clocks=Clocks(load_average=(0.1, 0.1, 0.1)),
    power=Power(),
    throttling=Throttling(reason="no such counters"),
    held_back=HeldBack(Held.UNKNOWN),
    headline=Headline(None, None, (), Rule.BEST, "no CPU sensor was found: a virtual machine has none"),
)
"""A virtual machine: no sensor at all."""

HOT = snapshot(
    97,
    held_back=HeldBack(
        Held.YES,
        "temperature",
        "Held back: the CPU package reached its limit 12 times in the last minute.",
        ("12 package events",),
    ),
    power=Power(problem=Problem("/sys/class/powercap", "package power needs root", "sudo toolkit temps"), on_ac=True),
)


class StandInHost:
    """As much of a Host as the application itself uses."""

    kind = "local"
    label = ""

    def __init__(self, label: str = "", kind: str = "local") -> None:
        self.label = label
        self.kind = kind
        self.now = 0.0
        self.environ: Mapping[str, str] = {}

    def monotonic(self) -> float:
        """The time that the test sets."""
        return self.now


class StandInMonitor:
    """Gives the snapshots of a list (the last one for ever, a second later each time), or raises."""

    def __init__(self, *models: Snapshot | Exception, delay: Callable[[], None] | None = None) -> None:
        self.models = list(models) or [snapshot()]
        self.machine = MACHINE
        self.looks = 0
        self.closed = 0
        self._delay = delay

    def snapshot(self) -> Snapshot:
        """The next one."""
        if self._delay is not None:
            self._delay()
        model = self.models[min(self.looks, len(self.models) - 1)]
        self.looks += 1
        if isinstance(model, Exception):
            raise model
        return replace(model, monotonic_s=model.monotonic_s + self.looks, taken_at=model.taken_at + self.looks)

    def close(self) -> None:
        """Count it."""
        self.closed += 1


def make_app(
    tmp_path: Path,
    *models: Snapshot | Exception,
    settings: Settings | None = None,
    label: str = "",
    screen: str | None = None,
    monitor: StandInMonitor | None = None,
    environ: Mapping[str, str] | None = None,
    app_class: type[ToolkitApp] = ToolkitApp,
    keep_choices: bool = True,
) -> ToolkitApp:
    """Make the application on a stand-in monitor, with its folders below tmp_path."""
    stand_in = monitor if monitor is not None else StandInMonitor(*models)
    host: Any = StandInHost(label, "replay" if label else "local")
    return app_class(
        host,
        settings if settings is not None else Settings(),
        screen=screen,
        open_monitor=lambda _host, _settings: stand_in,
        environ={"HOME": str(tmp_path), "TERM": "xterm-256color", **(environ or {})},
        keep_choices=keep_choices,
    )


async def painted(app: ToolkitApp, pilot: Any, wanted: Callable[[str], bool]) -> str:
    """Wait until what is seen is as wanted, and return it; fail with what is seen after five seconds."""
    import time

    deadline = time.monotonic() + 5.0
    while not wanted(text := shown(app)):
        assert time.monotonic() < deadline, text
        await pilot.pause(0.02)
    return text


async def first_look(app: ToolkitApp, pilot: Any) -> None:
    """Wait until the first snapshot, or the first failure, is on the screen."""
    for _ in range(200):
        await pilot.pause(0.01)
        if app.latest is not None or app.problem is not None:
            break
    await pilot.pause()


def shown(app: ToolkitApp) -> str:
    """What stands on the screen, as text."""
    return screen_text(app.screen)


def check_golden(name: str, text: str) -> None:
    """Compare with a golden file; `UPDATE_GOLDEN=1` writes it instead."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{name} looks different; UPDATE_GOLDEN=1 accepts it"
