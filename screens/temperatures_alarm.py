"""A person's own thresholds: told once when a sensor reaches one, again only after it has fallen well below. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from screens.widgets.sensor_table import figure
from toolkit.sensors.model import Quantity, Snapshot
from toolkit.text import printable

HYSTERESIS_C = 2.0
"""Degrees that a temperature must fall below its threshold before it is told again."""
HYSTERESIS_SHARE = 0.03
"""The same for all else, as a share of the threshold."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A sensor that has just reached its threshold, in the sensor's unit."""

    sensor_id: str
    name: str
    value: float
    threshold: float
    quantity: Quantity

    @property
    def sentence(self) -> str:
        """What a person is told."""
        unit = self.quantity.symbol
        value, threshold = figure(self.value, self.quantity), figure(self.threshold, self.quantity)
        return f"{self.name} is at {value} {unit}; your threshold is {threshold} {unit}."


class ThresholdWatch:
    """Remembers which thresholds are crossed, from one snapshot to the next."""

    def __init__(self) -> None:
        self._over: dict[str, float] = {}
        self._crossed: tuple[Crossing, ...] = ()

    @property
    def over(self) -> tuple[Crossing, ...]:
        """Thresholds that are crossed now, with the newest values."""
        return self._crossed

    def look(
        self, snapshot: Snapshot, thresholds: Mapping[str, float], name_of: Callable[[str], str]
    ) -> list[Crossing]:
        """Return what was crossed since the look before; the same snapshot again gives nothing.

        A sensor without a value keeps its state: a gap is no proof that it cooled down. A threshold that was changed
        or taken away counts as new.

        Args:
            thresholds: sensor id -> the person's threshold in the sensor's unit.
            name_of: what the person calls a sensor, by its id.
        """
        if not thresholds:
            self._over.clear()
            self._crossed = ()
            return []
        fresh: list[Crossing] = []
        now: list[Crossing] = []
        for sensor_id in [known for known, value in self._over.items() if thresholds.get(known) != value]:
            del self._over[sensor_id]
        for reading in snapshot.readings:
            sensor = reading.sensor
            threshold = thresholds.get(sensor.id)
            if threshold is None or reading.value is None:
                continue
            crossing = Crossing(sensor.id, name_of(sensor.id), reading.value, threshold, sensor.quantity)
            if sensor.id in self._over:
                if reading.value < threshold - _hysteresis(threshold, sensor.quantity):
                    del self._over[sensor.id]
            elif reading.value >= threshold:
                self._over[sensor.id] = threshold
                fresh.append(crossing)
            if reading.value >= threshold:
                now.append(crossing)
        self._crossed = tuple(now)
        return fresh


def sensor_names(snapshot: Snapshot, names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what tells a sensor's name for a sentence: the person's own, else `Composite of nvme0`."""

    def name_of(sensor_id: str) -> str:
        if sensor_id in names:
            return printable(names[sensor_id], 60)
        for reading in snapshot.readings:
            if reading.sensor.id == sensor_id:
                chip = printable(reading.sensor.chip.title, 60).partition("  ")[0]
                return f"{printable(reading.sensor.name)} of {chip}"
        return printable(sensor_id)

    return name_of


def _hysteresis(threshold: float, quantity: Quantity) -> float:
    return HYSTERESIS_C if quantity is Quantity.TEMPERATURE else abs(threshold) * HYSTERESIS_SHARE


def parse_threshold(text: str, quantity: Quantity) -> float | None:
    """Read a threshold that a person typed, in the sensor's unit; None for an empty text, which takes it away.

    Accepts a comma for the point, and the unit behind the number. Raises ValueError with one clear sentence.
    """
    typed = text.strip()
    if not typed:
        return None
    bare = typed
    for unit in (quantity.symbol, quantity.symbol.lstrip("°"), "°"):
        if bare.casefold().endswith(unit.casefold()):
            bare = bare[: -len(unit)].rstrip()
            break
    try:
        value = float(bare.replace(",", ".").replace("_", "?"))
    except ValueError:
        raise ValueError(f"{typed!r} is not a number; type for example {_EXAMPLES[quantity]}, or nothing") from None
    low, high = _SENSIBLE[quantity]
    if not low <= value <= high:
        unit = quantity.symbol
        raise ValueError(f"{typed} is out of range; a threshold lies between {low:g} and {high:g} {unit}")
    return value


_EXAMPLES = {
    Quantity.TEMPERATURE: "85",
    Quantity.FAN: "4000",
    Quantity.VOLTAGE: "12.5",
    Quantity.CURRENT: "1.5",
    Quantity.POWER: "28",
    Quantity.ENERGY: "1000",
    Quantity.HUMIDITY: "60",
}
_SENSIBLE = {
    Quantity.TEMPERATURE: (-50.0, 200.0),
    Quantity.FAN: (0.0, 30_000.0),
    Quantity.VOLTAGE: (-100.0, 1000.0),
    Quantity.CURRENT: (-500.0, 500.0),
    Quantity.POWER: (0.0, 5000.0),
    Quantity.ENERGY: (0.0, 999_999.0),
    Quantity.HUMIDITY: (0.0, 100.0),
}
