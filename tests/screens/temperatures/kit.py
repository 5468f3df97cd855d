"""Helpers for the tests of the temperatures screen: pages without an application, and sensors of every state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from screens.temperatures_page import TemperaturesPage
from screens.widgets.canvas import Row, row_text, row_width
from tests.screens.support import reading, sensor, snapshot
from toolkit.sensors.history import History
from toolkit.sensors.model import Chip, Limits, Quantity, Reading, Sensor, Snapshot, State


def many(count: int, celsius: float = 40.0) -> tuple[Reading, ...]:
    """Make sensors, ten a chip."""
    readings = []
    for number in range(count):
        chip = Chip(
            f"chip{number // 10}",
            f"dev/{number // 10}",
            f"hwmon{number // 10}",
            f"/sys/c{number // 10}",
            f"chip{number // 10}",
        )
        of = Sensor(
            f"s{number}",
            chip,
            Quantity.TEMPERATURE,
            number % 10 + 1,
            f"Sensor {number}",
            f"{chip.path}/temp{number}_input",
            Limits(crit=100.0),
            100.0,
        )
        readings.append(reading(celsius + number % 7, of))
    return tuple(readings)


def page_of(*snapshots: Snapshot, size: tuple[int, int] = (80, 20)) -> TemperaturesPage:
    """Make a page that saw these snapshots."""
    page = TemperaturesPage(History())
    page.resize(*size)
    for one in snapshots:
        page.history.add(one)
        page.take(one)
    return page


def show(page: TemperaturesPage, one: Snapshot) -> list[Row]:
    """Give a page another snapshot, and return its rows."""
    page.history.add(one)
    page.take(one)
    return page.rows()


def text(rows: Iterable[Row]) -> str:
    """Return rows as text."""
    return "\n".join(row_text(row).rstrip() for row in rows)


def check_size(page: TemperaturesPage) -> None:
    """Every row must be exactly as wide as the body, and there must be as many as it is high."""
    rows = page.rows()
    assert len(rows) == page.layout.height
    assert {row_width(row) for row in rows} == {page.layout.width}


STATES: tuple[tuple[Reading, str], ...] = (
    (reading(None, sensor("a", "one"), State.FAULT, "the chip reports a fault"), "x fault: the chip reports a fault"),
    (reading(None, sensor("a", "two"), State.DISABLED, "switched off (enable is 0)"), "- switched off (enable is 0)"),
    (reading(None, sensor("a", "three"), State.UNREADABLE, "EIO: the read failed"), "- EIO: the read failed"),
    (reading(None, sensor("a", "four"), State.UNREADABLE), "- not readable"),
    (reading(None, sensor("a", "five"), State.IMPLAUSIBLE, "121 °C: an open input"), "? implausible: 121 °C: an open"),
    (reading(None, sensor("a", "six"), State.ASLEEP, "asleep (suspended), not read"), "~ asleep (suspended), not read"),
    (reading(None, sensor("a", "seven"), State.ASLEEP), "~ asleep, not read"),
    (
        reading(None, sensor("a", "eight"), State.SLOW, "has not answered for 1.0 s"),
        "~ slow: has not answered for 1.0 s",
    ),
    (reading(None, sensor("a", "nine"), State.GONE, "gone since 12:00:01"), "x gone since 12:00:01"),
    (reading(None, sensor("a", "ten"), State.OK), "--"),
)
"""A sensor without a value in every state, and what its row says."""


def at(one: Snapshot, seconds: float) -> Snapshot:
    """Return the same snapshot at another time."""
    return replace(one, monotonic_s=seconds, taken_at=1_800_000_000.0 + seconds)


def with_readings(readings: Iterable[Reading], seconds: float = 1.0, celsius: int = 54) -> Snapshot:
    """Make a snapshot of these sensors."""
    return snapshot(celsius, seconds, readings=tuple(readings))
