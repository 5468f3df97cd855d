"""The history: rows, gaps, columns, minimum, mean and maximum."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.screens.support import NVME, PACKAGE, reading, snapshot
from toolkit.sensors.history import HEADLINE, PACKAGE_WATTS, History
from toolkit.sensors.model import State


def fill(history: History, values: list[int | None], start: float = 0.0, step: float = 1.0) -> None:
    for number, value in enumerate(values):
        history.add(snapshot(value, at=start + number * step))


def test_keeps_headline_power_and_every_sensor() -> None:
    history = History()
    fill(history, [50, 60, 55])
    assert history.latest(HEADLINE) == 55
    assert history.latest(PACKAGE.id) == 55
    assert history.latest(NVME.id) == 52
    assert history.latest(PACKAGE_WATTS) == pytest.approx(6.1)
    extent = history.extent(HEADLINE)
    assert extent is not None
    assert (extent.count, extent.minimum, extent.mean, extent.maximum) == (3, 50, 55, 60)


def test_gap_is_none_and_does_not_count() -> None:
    history = History()
    fill(history, [50, None, 60])
    assert [value for _, value in history.series(HEADLINE)] == [50, None, 60]
    extent = history.extent(HEADLINE)
    assert extent is not None
    assert extent.mean == 55
    fill(history, [None], start=3.0)
    assert history.latest(HEADLINE) is None


def test_unknown_key_is_empty_everywhere() -> None:
    history = History()
    assert history.extent("x") is None
    assert history.latest("x") is None
    assert history.peak("x", 60) is None
    assert history.columns("x", 60, 3) == [None] * 3
    assert list(history.series("x")) == []
    assert history.last_s is history.first_s is history.zeroed_s is None


def test_series_that_begins_late_has_a_gap_before() -> None:
    history = History()
    fill(history, [None, None, 70])
    assert [value for _, value in history.series(PACKAGE.id)] == [None, None, 70]


def test_same_snapshot_twice_is_one_row() -> None:
    history = History()
    one = snapshot(50, at=5.0)
    history.add(one)
    history.add(one)
    history.add(snapshot(99, at=4.0))
    assert len(history) == 1
    assert history.latest(HEADLINE) == 50


def test_same_id_twice_in_a_snapshot_counts_once() -> None:
    history = History()
    history.add(snapshot(50, readings=(reading(50.0, PACKAGE), reading(90.0, PACKAGE))))
    history.add(snapshot(50, at=2.0))
    assert [value for _, value in history.series(PACKAGE.id)] == [50, 50]


def test_old_value_of_a_slow_chip_is_a_gap() -> None:
    history = History()
    old = replace(reading(44.0, NVME), state=State.SLOW, value=44.0, age_s=500.0)
    history.add(snapshot(50, readings=(old,)))
    assert history.latest(NVME.id) is None


def test_zero_begins_anew_and_keeps_the_rows() -> None:
    history = History()
    fill(history, [90, 50])
    history.zero()
    assert history.extent(HEADLINE) is None
    assert history.zeroed_s == 1.0
    fill(history, [51], start=2.0)
    extent = history.extent(HEADLINE)
    assert extent is not None
    assert (extent.count, extent.maximum) == (1, 51)
    assert len(history) == 3


def test_capacity_drops_the_oldest_in_one_go() -> None:
    history = History(capacity=10, slack=5)
    fill(history, list(range(40, 54)))
    assert len(history) == 14
    fill(history, [99], start=14.0)
    assert len(history) == 10
    assert [value for _, value in history.series(HEADLINE)] == [*range(45, 54), 99]
    extent = history.extent(HEADLINE)
    assert extent is not None
    assert extent.count == 15


def test_peak_looks_back_only_so_far() -> None:
    history = History()
    fill(history, [90, 50, 50, 50, 60])
    assert history.peak(HEADLINE, 2.0) == 60
    assert history.peak(HEADLINE, 10.0) == 90


def test_columns_show_the_maximum_of_their_share() -> None:
    history = History()
    fill(history, [50, 70, 52, 53, 60, 51])
    assert history.columns(HEADLINE, 6.0, 3) == [70, 53, 60]


def test_columns_before_the_start_and_in_a_long_gap_are_none() -> None:
    history = History()
    fill(history, [50, 51])
    fill(history, [60, 61], start=20.0)
    columns = history.columns(HEADLINE, 30.0, 30)
    assert columns[-2:] == [60, 61]
    assert columns[-22:-20] == [50, 51]
    assert columns[-20:-2] == [None] * 18
    assert columns[:8] == [None] * 8


def test_columns_narrower_than_the_interval_have_no_holes() -> None:
    history = History()
    fill(history, [50, 52, 54], step=5.0)
    assert history.columns(HEADLINE, 11.0, 11) == [50] * 5 + [52] * 5 + [54]


def test_shape_does_not_tremble_as_time_goes_on() -> None:
    history = History()
    fill(history, [40 + (7 * n) % 30 for n in range(100)])
    before = history.columns(HEADLINE, 60.0, 20)
    fill(history, [41, 42, 43], start=100.0)
    after = history.columns(HEADLINE, 60.0, 20)
    assert before[2:-1] in (after[1:-2], after[2:-1])


@given(
    st.lists(st.tuples(st.floats(0.01, 30.0), st.one_of(st.none(), st.integers(-50, 130))), max_size=60),
    st.floats(1.0, 4000.0),
    st.integers(0, 120),
)
@example([(1.0, 0)], 1.0, 5)
def test_columns_hold_nothing_but_values_that_were_seen(
    rows: list[tuple[float, int | None]], seconds: float, count: int
) -> None:
    history = History(capacity=30, slack=7)
    now = 0.0
    for step, value in rows:
        now += step
        history.add(snapshot(value, at=now))
    columns = history.columns(HEADLINE, seconds, count)
    assert len(columns) == count
    seen = {value for _, value in history.series(HEADLINE)}
    assert set(columns) <= seen | {None}
    if count and rows and rows[-1][1] is not None and columns:
        assert columns[-1] is not None
