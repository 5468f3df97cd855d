"""Which rows the temperatures screen has, and in which order. Pure: readings and choices in, entries out.

Everything a person chose is kept by sensor id. A choice whose sensor is not here is told in a quiet line at the end; it
is never given to another sensor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from toolkit.host.natural import natural_key
from toolkit.sensors.clean import is_unused
from toolkit.sensors.model import Quantity, Reading, State
from toolkit.text import printable


class Order(Enum):
    """The order of the rows; the value is what the screen calls it."""

    CHIP = "by chip"
    HEAT = "hottest first"
    LIMIT = "nearest limit first"
    NAME = "by name"

    @property
    def next(self) -> Order:
        """The order that follows when `o` is pressed."""
        orders = list(Order)
        return orders[(orders.index(self) + 1) % len(orders)]


@dataclass(frozen=True, slots=True)
class View:
    """What a person chose.

    Attributes:
        order: of the rows.
        text: only rows that hold it are shown, whatever the case of its letters.
        show_hidden: hidden and unused sensors are shown, too.
        hidden, pinned, names, thresholds: by sensor id, as in the settings.
        expired: ids of sensors that have been gone for so long that they are not shown any more.
    """

    order: Order = Order.CHIP
    text: str = ""
    show_hidden: bool = False
    hidden: frozenset[str] = frozenset()
    pinned: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    expired: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Entry:
    """One row.

    Attributes:
        text: the name, the title of a chip, or the note; printable.
        ids: the sensors that the row stands for; empty for a heading and a note.
        index: of the first of them in the snapshot's readings; -1 where there is none.
        heading: the row is the title of a chip.
        note: what stands at the right of a heading.
        indent: cells before the name.
        hidden, pinned, judged: see RowFacts.
        threshold: the person's own.
    """

    text: str
    ids: tuple[str, ...] = ()
    index: int = -1
    heading: bool = False
    note: str = ""
    indent: int = 0
    hidden: bool = False
    pinned: bool = False
    judged: bool = True
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """All rows, and how many sensors are not among them since they are hidden or unused."""

    entries: tuple[Entry, ...]
    left_out: int = 0
    filtered_out: int = 0


_MakeEntry = Callable[[int, str, int], Entry]


def build_listing(readings: Sequence[Reading], view: View) -> Listing:
    """Return the rows for these readings."""
    names = display_names(readings, view.names)
    controls = control_values(readings)
    wanted = view.text.casefold()
    shown: list[int] = []
    left_out = filtered_out = 0
    for index, reading in enumerate(readings):
        sensor = reading.sensor
        if sensor.id in view.expired:
            continue
        unseen = sensor.id in view.hidden or (is_idle(reading) and sensor.id not in view.pinned)
        if unseen and not view.show_hidden:
            left_out += 1
        elif wanted and wanted not in _searched(reading, names[index]):
            filtered_out += 1
        else:
            shown.append(index)

    def entry(index: int, text: str, indent: int) -> Entry:
        sensor = readings[index].sensor
        return Entry(
            text,
            (sensor.id,),
            index,
            indent=indent,
            hidden=sensor.id in view.hidden,
            pinned=sensor.id in view.pinned,
            judged=sensor.id not in controls,
            threshold=view.thresholds.get(sensor.id),
        )

    entries: list[Entry] = []
    pins = [index for sensor_id in view.pinned for index in shown if readings[index].sensor.id == sensor_id]
    if pins:
        entries.append(Entry("Pinned", heading=True))
        entries += [entry(index, _with_chip(names[index], readings[index]), 2) for index in pins]
    pinned = set(pins)
    rest = [index for index in shown if index not in pinned]
    if view.order is Order.CHIP:
        entries += _by_chip(readings, rest, names, entry)
    else:
        ordered = _ordered(readings, rest, names, view.order, controls)
        if pins and ordered:
            entries.append(Entry(f"Others, {view.order.value}", heading=True))
        indent = 2 if pins else 0
        entries += [entry(index, _with_chip(names[index], readings[index]), indent) for index in ordered]
    missing = missing_choices(readings, view)
    if missing:
        entries.append(Entry(missing))
    return Listing(tuple(entries), left_out, filtered_out)


def is_idle(reading: Reading) -> bool:
    """True for a channel that its board does not use; a CPU's own sensor is never one."""
    sensor = reading.sensor
    return is_unused(sensor.chip.name, reading.state, sensor.label, reading.raw)


def display_names(readings: Sequence[Reading], chosen: Mapping[str, str]) -> list[str]:
    """Return what each sensor is called: the person's name, else the label, with its number where labels repeat."""
    seen: dict[tuple[str, str, str], int] = {}
    for reading in readings:
        sensor = reading.sensor
        key = (sensor.chip.path, sensor.quantity.value, sensor.name)
        seen[key] = seen.get(key, 0) + 1
    names = []
    for reading in readings:
        sensor = reading.sensor
        name = chosen.get(sensor.id)
        if name is None:
            name = sensor.name
            if seen[sensor.chip.path, sensor.quantity.value, sensor.name] > 1:
                name = f"{name} #{sensor.index}"
        names.append(printable(name, 60))
    return names


def control_values(readings: Sequence[Reading]) -> set[str]:
    """Return the ids of `Tctl` sensors whose chip also has the true `Tdie`: they may carry an offset, so no limit
    is held against them (Documentation/hwmon/k10temp.rst).
    """
    with_tdie = {reading.sensor.chip.path for reading in readings if reading.sensor.label == "Tdie"}
    return {
        reading.sensor.id
        for reading in readings
        if reading.sensor.label == "Tctl" and reading.sensor.chip.path in with_tdie
    }


def missing_choices(readings: Sequence[Reading], view: View) -> str:
    """Return one quiet sentence on saved choices whose sensors are not here; empty where there are none."""
    here = {reading.sensor.id for reading in readings}
    kinds: dict[str, list[str]] = {}
    saved: tuple[tuple[str, Collection[str]], ...] = (
        ("pinned", view.pinned),
        ("threshold", view.thresholds),
        ("renamed", view.names),
        ("hidden", sorted(view.hidden)),
    )
    for word, ids in saved:
        for sensor_id in ids:
            if sensor_id not in here:
                kinds.setdefault(sensor_id, []).append(word)
    if not kinds:
        return ""
    first = next(iter(kinds))
    what = f"{printable(first, 60)} ({', '.join(kinds[first])})"
    more = f", and {len(kinds) - 1} more" if len(kinds) > 1 else ""
    return f"Saved, but not here now: {what}{more}"


def _searched(reading: Reading, name: str) -> str:
    """Return the text that a filter looks into."""
    sensor = reading.sensor
    words = [name, sensor.name, sensor.chip.title, sensor.chip.name, sensor.quantity.name, sensor.quantity.value]
    return "\n".join([*words, reading.state.value]).casefold()


def _with_chip(name: str, reading: Reading) -> str:
    return f"{name} · {_title(reading)}"


def _title(reading: Reading) -> str:
    return printable(reading.sensor.chip.title, 60)


def _by_chip(readings: Sequence[Reading], shown: Sequence[int], names: Sequence[str], entry: _MakeEntry) -> list[Entry]:
    """Return headings and rows, chip by chip; one row for a chip that has one sensor, or that sleeps as a whole."""
    sizes: dict[tuple[str, str, str], int] = {}
    for reading in readings:
        key = _chip_key(reading)
        sizes[key] = sizes.get(key, 0) + 1
    groups: dict[tuple[str, str, str], list[int]] = {}
    for index in shown:
        groups.setdefault(_chip_key(readings[index]), []).append(index)
    entries: list[Entry] = []
    for key, members in groups.items():
        first = readings[members[0]]
        if sizes[key] == 1:
            label = first.sensor.label
            named = names[members[0]] != first.sensor.name
            text = f"{_title(first)} · {names[members[0]]}" if label is not None or named else _title(first)
            entries.append(entry(members[0], text, 0))
        elif len(members) > 1 and _all_alike(readings, members):
            together = entry(members[0], _title(first), 0)
            ids = tuple(readings[index].sensor.id for index in members)
            hidden = all(readings[index].sensor.id in ids and entry(index, "", 0).hidden for index in members)
            entries.append(Entry(together.text, ids, members[0], hidden=hidden))
        else:
            entries.append(Entry(_title(first), heading=True))
            entries += [entry(index, names[index], 2) for index in members]
    return entries


def _chip_key(reading: Reading) -> tuple[str, str, str]:
    chip = reading.sensor.chip
    return chip.name, chip.device, chip.title


def _all_alike(readings: Sequence[Reading], members: Sequence[int]) -> bool:
    """True where every sensor of a chip sleeps, or is gone, for the same reason."""
    first = readings[members[0]]
    return first.state in (State.ASLEEP, State.GONE) and all(
        readings[index].state is first.state and readings[index].reason == first.reason for index in members
    )


def _ordered(
    readings: Sequence[Reading], shown: Sequence[int], names: Sequence[str], order: Order, controls: Collection[str]
) -> list[int]:
    """Return the rows in an order that is not by chip; temperatures first where heat decides."""

    def by_name(index: int) -> tuple[object, ...]:
        return natural_key(_with_chip(names[index], readings[index]).casefold())

    def by_heat(index: int) -> tuple[object, ...]:
        reading = readings[index]
        if reading.sensor.quantity is not Quantity.TEMPERATURE or reading.value is None:
            return (1 if reading.value is not None else 2, 0.0, index)
        return (0, -reading.value, index)

    def by_limit(index: int) -> tuple[object, ...]:
        reading = readings[index]
        limit = reading.sensor.bar_limit
        if reading.value is None or limit is None or reading.sensor.id in controls:
            return (1, *by_heat(index))
        return (0, limit - reading.value, index)

    keys = {Order.NAME: by_name, Order.HEAT: by_heat, Order.LIMIT: by_limit}
    return sorted(shown, key=keys[order])
