"""How values look."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from screens.format import (
    Heat,
    ago,
    celsius,
    duration,
    fit,
    gigahertz,
    heat,
    number,
    percent,
    shorten,
    state_words,
    watts,
)
from tests.screens.support import PACKAGE, reading
from toolkit.sensors.model import State


def test_unknown_is_never_a_zero() -> None:
    for text in (number(None), celsius(None), watts(None), gigahertz(None), percent(None), celsius(float("nan"))):
        assert text == "--"


def test_units_and_widths() -> None:
    assert celsius(54, 7) == "  54 °C"
    assert celsius(53.5) == "54 °C"
    assert celsius(-0.5) == "0 °C"
    assert celsius(-1.5) == "-1 °C"
    assert watts(9.24) == "9.2 W"
    assert gigahertz(1912.0) == "1.9 GHz"
    assert percent(82.6, 6) == "  83 %"
    assert number(-0.04, digits=1) == "0.0"
    assert number(4210, 6) == "  4210"


@pytest.mark.parametrize(("seconds", "text"), [(0, "00:00"), (134.9, "02:14"), (3734, "1:02:14"), (-3, "00:00")])
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_ago() -> None:
    assert [ago(value) for value in (3, 89, 90, 5399, 5400)] == ["3 s", "89 s", "1 min", "89 min", "1 h"]


@pytest.mark.parametrize(
    ("value", "limit", "expected"),
    [
        (54.0, 100.0, Heat.CALM),
        (84.4, 100.0, Heat.CALM),
        (85.0, 100.0, Heat.WARM),
        (93.0, 100.0, Heat.HOT),
        (120.0, 100.0, Heat.HOT),
        (54.0, None, Heat.UNKNOWN),
        (None, 100.0, Heat.UNKNOWN),
    ],
)
def test_heat(value: float | None, limit: float | None, expected: Heat) -> None:
    assert heat(value, limit) is expected


def test_every_state_has_a_word_and_the_reason() -> None:
    for state in State:
        text, _ink = state_words(reading(50.0, PACKAGE, state, "because"), 100.0)
        assert text
        assert state is State.OK or "because" in text


def test_state_of_a_value_says_how_hot() -> None:
    assert state_words(reading(50.0, PACKAGE), 100.0) == ("ok", "ok")
    assert state_words(reading(88.0, PACKAGE), 100.0) == ("! warm", "warn")
    assert state_words(reading(97.0, PACKAGE), 100.0) == ("!! hot", "bad")
    assert state_words(reading(97.0, PACKAGE)) == ("", "")


def test_reason_cannot_carry_escape_codes() -> None:
    text, _ink = state_words(reading(None, PACKAGE, State.UNREADABLE, "EIO\x1b[2J"))
    assert "\x1b" not in text


@given(st.text(max_size=40), st.integers(0, 50))
def test_fit_gives_exactly_the_width(text: str, width: int) -> None:
    printable = "".join(char for char in text if char.isprintable())
    assert cell_len(fit(printable, width)) == width
    assert cell_len(shorten(printable, width)) <= width


def test_shorten_shows_that_something_is_missing() -> None:
    assert shorten("Framework Laptop", 9) == "Framewor…"
    assert shorten("Framework", 9) == "Framework"
    assert shorten("温度温度", 5) == "温度…"
