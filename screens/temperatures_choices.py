"""What a person chooses for a sensor, as changes of the settings. Pure; everything is kept by sensor id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from toolkit.config import TemperatureSettings
from toolkit.text import printable

LONGEST_NAME = 40


def toggle_hidden(settings: TemperatureSettings, ids: Iterable[str], hidden: bool) -> TemperatureSettings:
    """Hide sensors, or show them again; a hidden sensor is not pinned."""
    chosen = frozenset(ids)
    if not hidden:
        return replace(settings, hidden=settings.hidden - chosen)
    pinned = tuple(sensor_id for sensor_id in settings.pinned if sensor_id not in chosen)
    return replace(settings, hidden=settings.hidden | chosen, pinned=pinned)


def toggle_pinned(settings: TemperatureSettings, sensor_id: str) -> TemperatureSettings:
    """Pin a sensor after those that are pinned already, or let it go; a pinned sensor is not hidden."""
    if sensor_id in settings.pinned:
        return replace(settings, pinned=tuple(other for other in settings.pinned if other != sensor_id))
    return replace(settings, pinned=(*settings.pinned, sensor_id), hidden=settings.hidden - {sensor_id})


def rename(settings: TemperatureSettings, sensor_id: str, text: str, true_name: str) -> TemperatureSettings:
    """Give a sensor a name; an empty one, or its own, takes the name away. Raises ValueError with one sentence."""
    name = printable(text)
    if len(text.strip()) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, this one has {len(text.strip())}")
    names = {known: value for known, value in settings.names.items() if known != sensor_id}
    if name and name != true_name:
        names[sensor_id] = name
    return replace(settings, names=names)


def with_threshold(settings: TemperatureSettings, sensor_id: str, value: float | None) -> TemperatureSettings:
    """Set a sensor's threshold, in its unit; None takes it away."""
    thresholds = {known: kept for known, kept in settings.thresholds.items() if known != sensor_id}
    if value is not None:
        thresholds[sensor_id] = value
    return replace(settings, thresholds=thresholds)
