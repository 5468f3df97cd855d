"""Statistics of a signal that is looked at now and then, weighted by time and aware of gaps.

A reading stands until the next one: between two looks the signal is taken to keep the value of the
earlier one. Time in which nothing was known (a sensor that failed, a machine that slept) counts nowhere.
Everything follows from one table, the seconds spent at each value, so that memory grows with the number of
different values and not with the length of a recording.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", float, str)


class TimeSpent(Generic[K]):
    """Seconds spent at each value of one signal; told only when the value changes.

    Attributes:
        seconds: value -> seconds; a value that was seen for no time at all stands there with 0.
    """

    __slots__ = ("_since", "_value", "seconds")

    def __init__(self) -> None:
        self.seconds: dict[K, float] = {}
        self._value: K | None = None
        self._since = 0.0

    def change(self, at_s: float, value: K | None) -> None:
        """The signal has this value from `at_s` on; None means that it is unknown from there."""
        self._settle(at_s)
        self._value = value
        if value is not None:
            self.seconds.setdefault(value, 0.0)

    def skip(self, from_s: float, to_s: float) -> None:
        """Nothing is known about the time between the two; the value is the same on both sides."""
        self._settle(from_s)
        self._since = to_s

    def finish(self, at_s: float) -> None:
        """The recording ended (or its part that counts ended) at `at_s`."""
        self.change(at_s, None)

    def _settle(self, at_s: float) -> None:
        if self._value is not None and at_s > self._since:
            self.seconds[self._value] += at_s - self._since
        self._since = at_s


@dataclass(frozen=True, slots=True)
class Stats:
    """What a signal did, in its own unit; `known_s` is for how many seconds its value was known."""

    minimum: float
    mean: float
    maximum: float
    median: float
    p95: float
    known_s: float


def stats_of(seconds: Mapping[float, float]) -> Stats | None:
    """Return the statistics of a table of seconds spent at each value; None where it is empty."""
    if not seconds:
        return None
    low, high = min(seconds), max(seconds)
    known_s = sum(seconds.values())
    mean = sum(value * spent for value, spent in seconds.items()) / known_s if known_s > 0 else _plain_mean(seconds)
    return Stats(
        minimum=low,
        mean=min(max(mean, low), high),
        maximum=high,
        median=percentile(seconds, 0.5),
        p95=percentile(seconds, 0.95),
        known_s=known_s,
    )


def percentile(seconds: Mapping[float, float], share: float) -> float:
    """Return the least value that the signal did not exceed for this share (0..1) of the known time.

    Where no time passed at all, every value counts alike. Raises ValueError for an empty table.
    """
    if not seconds:
        raise ValueError("no value was ever known")
    total = sum(seconds.values())
    weights = seconds if total > 0 else dict.fromkeys(seconds, 1.0)
    wanted = share * (total if total > 0 else len(seconds))
    so_far = 0.0
    values = sorted(value for value, weight in weights.items() if weight > 0)
    for value in values:
        so_far += weights[value]
        if so_far >= wanted - 1e-9:
            return value
    return values[-1]


def seconds_at_or_above(seconds: Mapping[float, float], limit: float) -> float:
    """Return for how many seconds the signal stood at the limit or above it."""
    return sum(spent for value, spent in seconds.items() if value >= limit)


def time_spent(samples: Iterable[tuple[float, float | None]], gap_s: float) -> dict[float, float]:
    """Return the seconds spent at each value of samples `(time_s, value)` in the order of time.

    Args:
        samples: None is "unknown until the next sample".
        gap_s: two samples further apart than this have a gap between them, which counts nowhere.
    """
    spent: TimeSpent[float] = TimeSpent()
    previous: float | None = None
    for at_s, value in samples:
        if previous is not None and at_s - previous > gap_s:
            spent.skip(previous, at_s)
        spent.change(at_s, value)
        previous = at_s
    if previous is not None:
        spent.finish(previous)
    return spent.seconds


def _plain_mean(values: Mapping[float, float]) -> float:
    return sum(values) / len(values)


__all__ = ["Stats", "TimeSpent", "percentile", "seconds_at_or_above", "stats_of", "time_spent"]
