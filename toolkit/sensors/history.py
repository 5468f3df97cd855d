"""What the sensors said: an hour of rows in compact arrays, and minimum, mean and maximum since zero.

All series share one column of times. A gap is kept as minus infinity, so that the maximum of a slice is found at
the speed of C and a gap never looks like a value.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.sensors.model import Snapshot

HEADLINE = "headline"
"""Key of the headline's series, in whole degrees."""
PACKAGE_WATTS = "package-watts"
"""Key of the series of package power, in watts."""

CAPACITY = 3600
SLACK = 600
GAP = float("-inf")


@dataclass(frozen=True, slots=True)
class Extent:
    """Minimum, mean and maximum since zero, in the sensor's unit, over `count` looks."""

    count: int
    minimum: float
    mean: float
    maximum: float


class _Track:
    """One series and what is summed up of it."""

    __slots__ = ("count", "high", "low", "total", "values")

    def __init__(self, rows: int) -> None:
        self.values = array("f", [GAP]) * rows
        self.zero()

    def zero(self) -> None:
        self.count = 0
        self.total = 0.0
        self.low = float("inf")
        self.high = GAP

    def put(self, value: float) -> None:
        self.values.append(value)
        self.count += 1
        self.total += value
        self.low = min(self.low, value)
        self.high = max(self.high, value)


class History:
    """Keeps the last `capacity` snapshots (an hour at one a second) of every sensor.

    Series are named by sensor id, and by `HEADLINE` and `PACKAGE_WATTS`. Not for use from several threads at once.
    """

    def __init__(self, capacity: int = CAPACITY, slack: int = SLACK) -> None:
        """Start empty. `slack` is how many rows more are held before the oldest are dropped in one go."""
        self._capacity = max(1, capacity)
        self._slack = max(1, slack)
        self._times = array("d")
        self._tracks: dict[str, _Track] = {}
        self._zeroed_at: float | None = None

    def __len__(self) -> int:
        """The number of rows kept."""
        return len(self._times)

    @property
    def last_s(self) -> float | None:
        """The time of the newest row on the host's monotonic clock; None while empty."""
        return self._times[-1] if self._times else None

    @property
    def first_s(self) -> float | None:
        """The time of the oldest row kept."""
        return self._times[0] if self._times else None

    @property
    def zeroed_s(self) -> float | None:
        """When minimum, mean and maximum were last set to zero, or the first row; None while empty."""
        return self._zeroed_at

    def keys(self) -> tuple[str, ...]:
        """The names of all series, in the order in which they were first seen."""
        return tuple(self._tracks)

    def add(self, snapshot: Snapshot) -> None:
        """Append one row. A snapshot that is not newer than the last row is left out (the same one twice)."""
        now = snapshot.monotonic_s
        if self._times and now <= self._times[-1]:
            return
        if self._zeroed_at is None:
            self._zeroed_at = now
        rows = len(self._times)
        self._times.append(now)
        for key, value in _values(snapshot):
            track = self._tracks.get(key)
            if track is None:
                track = self._tracks[key] = _Track(rows)
            if len(track.values) == rows:
                track.put(value)
        rows += 1
        for track in self._tracks.values():
            if len(track.values) < rows:
                track.values.append(GAP)
        if rows >= self._capacity + self._slack:
            self._drop(rows - self._capacity)

    def _drop(self, count: int) -> None:
        """Forget the oldest rows, and series that have nothing left."""
        del self._times[:count]
        for key, track in list(self._tracks.items()):
            del track.values[:count]
            if track.count == 0 and max(track.values) == GAP:
                del self._tracks[key]

    def zero(self) -> None:
        """Begin minimum, mean and maximum anew; the rows stay."""
        self._zeroed_at = self.last_s
        for track in self._tracks.values():
            track.zero()

    def clear(self) -> None:
        """Forget everything."""
        self._times = array("d")
        self._tracks.clear()
        self._zeroed_at = None

    def extent(self, key: str) -> Extent | None:
        """Return minimum, mean and maximum since zero; None where nothing was seen since."""
        track = self._tracks.get(key)
        if track is None or not track.count:
            return None
        return Extent(track.count, track.low, track.total / track.count, track.high)

    def latest(self, key: str) -> float | None:
        """Return the value in the newest row; None for a gap."""
        track = self._tracks.get(key)
        return None if track is None or not track.values or track.values[-1] == GAP else track.values[-1]

    def peak(self, key: str, seconds: float) -> float | None:
        """Return the maximum of the last `seconds`; None where there is no value."""
        track = self._tracks.get(key)
        if track is None or not self._times:
            return None
        top = max(track.values[bisect_left(self._times, self._times[-1] - seconds) :], default=GAP)
        return None if top == GAP else top

    def columns(self, key: str, seconds: float, count: int) -> list[float | None]:
        """Return the last `seconds` as `count` columns, oldest first; each is the maximum in its share of time.

        Columns begin at whole multiples of their width, so a graph moves on by whole columns and its shape
        does not tremble. None stands for no data: before the start, in a gap, or where samples are further apart
        than a column is wide and no earlier sample is near (a value stands until the next sample, for two
        intervals at most).
        """
        if count <= 0:
            return []
        track = self._tracks.get(key)
        times = self._times
        if track is None or not times:
            return [None] * count
        width = seconds / count
        last_column = int(times[-1] // width)
        values = track.values
        result: list[float | None] = []
        start = bisect_left(times, (last_column - count + 1) * width)
        for column in range(last_column - count + 1, last_column + 1):
            # The last column takes the newest value also where rounding puts the value on the column's very edge.
            end = len(times) if column == last_column else bisect_left(times, (column + 1) * width, start)
            if end > start:
                top = max(values[start:end])
                result.append(None if top == GAP else top)
            else:
                result.append(self._bridge(values, start, width))
            start = end
        return result

    def _bridge(self, values: array[float], row: int, width: float) -> float | None:
        """Return what to draw in a column without a sample, which lies before `row`.

        It is the value before, where samples are regular and merely rarer than columns.
        """
        times = self._times
        if not 0 < row < len(times):
            return None
        step = times[row] - times[row - 1]
        usual = (times[-1] - times[max(0, len(times) - 11)]) / max(1, min(10, len(times) - 1))
        if step > max(2 * usual, 2 * width) or values[row - 1] == GAP:
            return None
        return values[row - 1]

    def series(self, key: str, seconds: float | None = None) -> Iterator[tuple[float, float | None]]:
        """Yield (time, value or None) of the rows kept, oldest first, of the last `seconds` where given."""
        track = self._tracks.get(key)
        if track is None:
            return
        first = 0 if seconds is None else bisect_left(self._times, self._times[-1] - seconds)
        for time_s, value in zip(self._times[first:], track.values[first:], strict=True):
            yield time_s, None if value == GAP else value


def _values(snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """Yield the values of one snapshot by the names of their series."""
    if snapshot.headline.celsius is not None:
        yield HEADLINE, float(snapshot.headline.celsius)
    watts = snapshot.power.package_watts
    if watts is not None:
        yield PACKAGE_WATTS, watts
    for reading in snapshot.readings:
        if reading.value is not None and reading.age_s < STALE_S:
            yield reading.sensor.id, reading.value


STALE_S = 120.0
"""A value of a chip that is read apart counts as a value until it is this old."""
