"""Snapshots made by hand, and a monitor that plays them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from toolkit.sensors.model import (
    NO_LIMITS,
    Chip,
    Clocks,
    Headline,
    Held,
    HeldBack,
    Limits,
    Machine,
    Power,
    Quantity,
    Reading,
    Rule,
    Sensor,
    Snapshot,
    State,
    Throttling,
)

MACHINE = Machine("Framework Laptop 13", "6.8.0-31-generic", "Intel Core i7-1165G7", "Ubuntu 24.04")
UNIX_START = 1796070000.0


def sensor(
    chip: str = "coretemp",
    label: str | None = "Package id 0",
    quantity: Quantity = Quantity.TEMPERATURE,
    index: int = 1,
    device: str = "platform/coretemp.0",
    limits: Limits = NO_LIMITS,
) -> Sensor:
    path = f"/sys/class/hwmon/hwmon0/{quantity.value}{index}_input"
    return Sensor(
        id=f"{chip}@{device}/{quantity.value}/{label if label is not None else index}",
        chip=Chip(chip, device, "hwmon0", "/sys/class/hwmon/hwmon0", chip),
        quantity=quantity,
        index=index,
        label=label,
        path=path,
        limits=limits,
    )


PACKAGE = sensor(limits=Limits(max=100.0, crit=105.0))
FAN = sensor("cros_ec", "fan1", Quantity.FAN, 1, "platform/cros_ec")
DISK = sensor("nvme", "Composite", Quantity.TEMPERATURE, 1, "pci0000:00/0000:01:00.0", Limits(max=84.0))


def reading(which: Sensor, value: float | None, state: State | None = None, reason: str = "") -> Reading:
    if value is None:
        return Reading(which, state or State.UNREADABLE, reason=reason or "EIO: the read failed")
    return Reading(which, state or State.OK, round(value * which.quantity.scale), value, reason)


def headline(celsius: int | None, limit: float | None = 100.0) -> Headline:
    ids = (PACKAGE.id,) if celsius is not None else ()
    reason = "" if celsius is not None else "no CPU sensor"
    return Headline(celsius, celsius, ("coretemp · Package id 0",), Rule.BEST, reason, False, ids, limit)


def snapshot(
    at_s: float,
    readings: Sequence[Reading],
    celsius: int | None = 50,
    *,
    slept_s: float = 0.0,
    clocks: Clocks | None = None,
    power: Power | None = None,
    throttling: Throttling | None = None,
    held_back: HeldBack | None = None,
) -> Snapshot:
    return Snapshot(
        taken_at=UNIX_START + at_s + slept_s,
        monotonic_s=at_s,
        headline=headline(celsius),
        readings=tuple(readings),
        clocks=clocks or Clocks(),
        power=power or Power(on_ac=True),
        throttling=throttling or Throttling(reason="not an Intel CPU"),
        held_back=held_back or HeldBack(Held.NO),
    )


def simple(at_s: float, value: float | None) -> Snapshot:
    """A machine with one sensor."""
    return snapshot(at_s, [reading(PACKAGE, value)], None if value is None else round(value))


class FakeClock:
    """A clock that only waiting moves; each `look_s` of it is spent in a snapshot."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ends_at = float("inf")

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now = min(self.now + seconds, max(self.ends_at, self.now))


class FakeMonitor:
    """Gives the value of the moment: the last of `(from_s, value)` that has begun."""

    def __init__(self, clock: FakeClock, values: Sequence[tuple[float, float | None]], look_s: float = 0.0) -> None:
        self.clock = clock
        self.values = values
        self.look_s = look_s
        self.looks: list[float] = []

    def snapshot(self) -> Snapshot:
        self.looks.append(self.clock.now)
        self.clock.now += self.look_s
        value = [value for from_s, value in self.values if from_s <= self.clock.now][-1]
        return simple(self.clock.now, value)


def without(taken: Snapshot, which: Sensor) -> Snapshot:
    """The same snapshot, its sensor gone from the list."""
    left = tuple(r for r in taken.readings if r.sensor.id != which.id)
    return replace(taken, readings=left, changed_sensors=True)
