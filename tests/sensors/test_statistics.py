"""Time-weighted statistics, against a brute-force oracle."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.sensors.statistics import TimeSpent, percentile, seconds_at_or_above, stats_of, time_spent

STEPS = st.lists(
    st.tuples(st.integers(0, 40), st.one_of(st.none(), st.integers(-50, 120).map(float))), min_size=1, max_size=40
)
"""Tenths of a second since the sample before, and the value."""


def _samples(steps: list[tuple[int, float | None]]) -> list[tuple[float, float | None]]:
    at, samples = 0, []
    for step, value in steps:
        at += step
        samples.append((at / 10, value))
    return samples


def _oracle(steps: list[tuple[int, float | None]], gap_tenths: int) -> dict[float, Fraction]:
    """Walk through every tenth of a second and ask what stood then."""
    spent: dict[float, Fraction] = {value: Fraction(0) for _, value in steps if value is not None}
    for (_, value), (length, _) in pairwise(steps):
        if value is None or length > gap_tenths:
            continue
        for _tenth in range(length):
            spent[value] += Fraction(1, 10)
    return spent


@given(STEPS, st.integers(1, 30))
def test_seconds_at_each_value_match_the_oracle(steps: list[tuple[int, float | None]], gap_tenths: int) -> None:
    spent = time_spent(_samples(steps), gap_tenths / 10 + 0.01)
    expected = _oracle(steps, gap_tenths)
    assert spent.keys() == expected.keys()
    for value, seconds in expected.items():
        assert spent[value] == pytest.approx(float(seconds), abs=1e-9)


@given(STEPS, st.floats(0.0, 1.0))
def test_statistics_match_the_oracle(steps: list[tuple[int, float | None]], share: float) -> None:
    expected = _oracle(steps, 10_000)
    stats = stats_of(time_spent(_samples(steps), 1e9))
    if not expected:
        assert stats is None
        return
    assert stats is not None
    total = sum(expected.values())
    weights = expected if total else dict.fromkeys(expected, Fraction(1))
    mean = sum(Fraction(value) * weight for value, weight in weights.items()) / sum(weights.values())
    assert stats.minimum == min(expected)
    assert stats.maximum == max(expected)
    assert stats.mean == pytest.approx(float(mean), abs=1e-6)
    assert stats.known_s == pytest.approx(float(total), abs=1e-9)
    tenths = sorted(value for value, weight in weights.items() for _ in range(int(weight * 10)))
    found = percentile(time_spent(_samples(steps), 1e9), share)
    at_most = sum(value <= found for value in tenths)
    less = sum(value < found for value in tenths)
    assert at_most >= share * len(tenths) - 1e-6
    assert less <= share * len(tenths) + 1e-6


@given(STEPS, st.integers(-60, 130))
def test_time_above_a_limit_matches_the_oracle(steps: list[tuple[int, float | None]], limit: int) -> None:
    expected = sum(seconds for value, seconds in _oracle(steps, 10_000).items() if value >= limit)
    assert seconds_at_or_above(time_spent(_samples(steps), 1e9), limit) == pytest.approx(float(expected), abs=1e-9)


def test_a_sleep_is_not_in_the_mean() -> None:
    spent = time_spent([(0, 40.0), (1, 40.0), (3601, 90.0), (3602, 90.0)], gap_s=2.0)
    stats = stats_of(spent)
    assert stats is not None
    assert spent == {40.0: 1.0, 90.0: 1.0}
    assert stats.mean == 65.0
    assert stats.known_s == 2.0


def test_a_lost_value_counts_until_it_is_lost_and_again_from_where_it_is_back() -> None:
    assert time_spent([(0, 40.0), (1, None), (5, 50.0), (7, 50.0)], gap_s=10.0) == {40.0: 1.0, 50.0: 2.0}


def test_a_single_sample_has_statistics_without_time() -> None:
    stats = stats_of(time_spent([(3.0, 42.0)], 1.0))
    assert stats is not None
    assert (stats.minimum, stats.mean, stats.maximum, stats.median, stats.known_s) == (42.0, 42.0, 42.0, 42.0, 0.0)


def test_nothing_known_has_no_statistics() -> None:
    assert stats_of({}) is None
    with pytest.raises(ValueError, match="no value"):
        percentile({}, 0.5)


def test_at_the_limit_counts_as_reached() -> None:
    assert seconds_at_or_above({99.9: 1.0, 100.0: 2.0, 101.0: 4.0}, 100.0) == 6.0


def test_memory_grows_with_values_and_not_with_samples() -> None:
    spent: TimeSpent[float] = TimeSpent()
    for number in range(10_000):
        spent.change(number / 10, 40.0 + number % 3)
    assert len(spent.seconds) == 3


def test_time_of_texts() -> None:
    spent: TimeSpent[str] = TimeSpent()
    spent.change(0.0, "temperature")
    spent.change(2.5, None)
    spent.change(4.0, "temperature")
    spent.finish(5.0)
    assert spent.seconds == {"temperature": 3.5}
