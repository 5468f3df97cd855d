"""A person's own thresholds: once an edge, with hysteresis; and what may be typed."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.temperatures_alarm import HYSTERESIS_C, ThresholdWatch, parse_threshold, sensor_names
from screens.temperatures_choices import rename, toggle_hidden, toggle_pinned, with_threshold
from tests.screens.support import FAN, NVME, reading
from tests.screens.temperatures.kit import with_readings
from toolkit.config import TemperatureSettings
from toolkit.sensors.model import Quantity, State


def look(watch: ThresholdWatch, *celsius: float | None, threshold: float = 70.0) -> list[int]:
    """Return how many crossings each value brought."""
    told = []
    for second, value in enumerate(celsius):
        state = State.OK if value is not None else State.UNREADABLE
        told.append(
            len(watch.look(with_readings([reading(value, NVME, state)], second + 1.0), {NVME.id: threshold}, str))
        )
    return told


def test_a_threshold_is_told_once_when_it_is_reached() -> None:
    assert look(ThresholdWatch(), 60, 69.9, 70, 75, 80, 71) == [0, 0, 1, 0, 0, 0]


def test_it_is_told_again_only_after_the_sensor_fell_well_below() -> None:
    assert look(ThresholdWatch(), 71, 69, 71, 70 - HYSTERESIS_C, 71, 67.9, 71) == [1, 0, 0, 0, 0, 0, 1]


def test_a_gap_is_no_proof_that_it_cooled_down() -> None:
    assert look(ThresholdWatch(), 71, None, None, 72) == [1, 0, 0, 0]


def test_the_same_snapshot_again_tells_nothing() -> None:
    watch, one = ThresholdWatch(), with_readings([reading(80.0, NVME)])
    assert len(watch.look(one, {NVME.id: 70.0}, str)) == 1
    assert watch.look(one, {NVME.id: 70.0}, str) == []
    assert [crossing.value for crossing in watch.over] == [80.0]


def test_a_changed_threshold_counts_as_new_and_one_that_went_is_forgotten() -> None:
    watch, one = ThresholdWatch(), with_readings([reading(80.0, NVME)])
    watch.look(one, {NVME.id: 70.0}, str)
    assert len(watch.look(one, {NVME.id: 75.0}, str)) == 1
    assert watch.look(one, {NVME.id: 85.0}, str) == []
    assert watch.over == ()
    assert watch.look(one, {}, str) == []
    assert len(watch.look(one, {NVME.id: 75.0}, str)) == 1


def test_the_sentence_has_name_value_threshold_and_unit() -> None:
    watch = ThresholdWatch()
    (crossing,) = watch.look(with_readings([reading(4210.0, FAN)]), {FAN.id: 4000.0}, lambda _id: "Left fan")
    assert crossing.sentence == "Left fan is at 4210 rpm; your threshold is 4000 rpm."


def test_a_sensor_is_named_in_a_sentence() -> None:
    name_of = sensor_names(with_readings([reading(80.0, NVME), reading(1.0, FAN)]), {FAN.id: "Left\x1bfan"})
    assert name_of(NVME.id) == "Composite of nvme"
    assert name_of(FAN.id) == "Left\\x1bfan"
    assert name_of("elsewhere") == "elsewhere"


@given(st.lists(st.floats(20, 110), max_size=60), st.floats(30, 100))
def test_between_two_tellings_lies_a_fall_below_the_hysteresis(values: list[float], threshold: float) -> None:
    told = look(ThresholdWatch(), *values, threshold=threshold)
    edges = [at for at, count in enumerate(told) if count]
    for first, second in pairwise(edges):
        assert min(values[first:second]) < threshold - HYSTERESIS_C
    assert all(values[at] >= threshold for at in edges)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("85", 85.0),
        (" 85 ", 85.0),
        ("85 °C", 85.0),
        ("85c", 85.0),
        ("85°", 85.0),
        ("71,5", 71.5),
        ("-5", -5.0),
        ("", None),
        ("  ", None),
    ],
)
def test_what_may_be_typed(typed: str, value: float | None) -> None:
    assert parse_threshold(typed, Quantity.TEMPERATURE) == value


@pytest.mark.parametrize("typed", ["hot", "1_0", "85 K", "0x55", "1e9", "nan", "inf", "-300", "8 5", "°"])
def test_what_will_not_do_gets_one_clear_sentence(typed: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|is out of range") as caught:
        parse_threshold(typed, Quantity.TEMPERATURE)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=20), st.sampled_from(list(Quantity)))
def test_whatever_is_typed_it_is_a_number_nothing_or_a_sentence(typed: str, quantity: Quantity) -> None:
    said = ""
    value = None
    try:
        value = parse_threshold(typed, quantity)
    except ValueError as error:
        said = str(error)
    assert value is None or (abs(value) < 1e6 and not said)
    assert not said or "a threshold lies between" in said or "type for example" in said


def test_choices_are_changes_of_the_settings() -> None:
    start = TemperatureSettings(pinned=("a", "b"), names={"a": "A"}, thresholds={"a": 50.0})
    hidden = toggle_hidden(start, ("a", "c"), True)
    assert hidden.hidden == {"a", "c"}
    assert hidden.pinned == ("b",)
    assert toggle_hidden(hidden, ("a",), False).hidden == {"c"}
    assert toggle_pinned(hidden, "a").pinned == ("b", "a")
    assert toggle_pinned(hidden, "a").hidden == {"c"}
    assert toggle_pinned(start, "a").pinned == ("b",)
    assert with_threshold(start, "b", 60.0).thresholds == {"a": 50.0, "b": 60.0}
    assert with_threshold(start, "a", None).thresholds == {}


def test_names() -> None:
    start = TemperatureSettings(names={"a": "A"})
    assert rename(start, "a", " Left ", "temp1").names == {"a": "Left"}
    assert rename(start, "a", "", "temp1").names == {}
    assert rename(start, "a", "temp1", "temp1").names == {}
    assert rename(start, "b", "\x1b[31m", "temp1").names == {"a": "A", "b": "\\x1b[31m"}
    with pytest.raises(ValueError, match="at most 40"):
        rename(start, "a", "x" * 41, "temp1")
