"""The rows of the table: figures, columns, states, and what a limit decides."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.format import Heat
from screens.widgets.bar import COARSE, FINE
from screens.widgets.canvas import row_text, row_width
from screens.widgets.sensor_table import (
    LEAD,
    NUMBER,
    RowFacts,
    figure,
    header_row,
    heading_row,
    judge_row,
    note_row,
    plan_columns,
    reason_words,
    sensor_row,
)
from tests.screens.support import CORE, FAN, NVME, PACKAGE, WIFI, reading, sensor
from tests.screens.temperatures.kit import STATES
from toolkit.sensors.history import Extent
from toolkit.sensors.model import Quantity, Reading, State


@pytest.mark.parametrize(
    ("value", "quantity", "shown"),
    [
        (53.5, Quantity.TEMPERATURE, "54"),
        (53.499, Quantity.TEMPERATURE, "53"),
        (-0.5, Quantity.TEMPERATURE, "0"),
        (-0.501, Quantity.TEMPERATURE, "-1"),
        (4210.0, Quantity.FAN, "4210"),
        (12.653, Quantity.VOLTAGE, "12.65"),
        (-0.001, Quantity.CURRENT, "0.00"),
        (28.04, Quantity.POWER, "28.0"),
        (1234567.0, Quantity.ENERGY, "1.2M"),
        (123456.0, Quantity.ENERGY, "123k"),
        (None, Quantity.FAN, "--"),
        (math.nan, Quantity.FAN, "--"),
    ],
)
def test_figures(value: float | None, quantity: Quantity, shown: str) -> None:
    assert figure(value, quantity) == shown


@given(st.floats(-1e18, 1e18), st.sampled_from(list(Quantity)))
def test_a_figure_never_leaves_its_column(value: float, quantity: Quantity) -> None:
    assert 1 <= len(figure(value, quantity)) <= NUMBER


@given(st.integers(44, 260))
def test_columns_fill_their_width(width: int) -> None:
    columns = plan_columns(width)
    used = LEAD + columns.name + NUMBER + 4 + columns.minimum + columns.mean + NUMBER + columns.limit + columns.crit
    used += (columns.bar + 1 if columns.bar else 0) + 1 + columns.state
    assert used == width
    assert columns.name >= 1


def test_wider_tables_have_more_columns() -> None:
    assert (plan_columns(60).bar, plan_columns(60).mean, plan_columns(60).crit) == (0, 0, 0)
    assert plan_columns(80).bar >= 10
    assert plan_columns(80).crit == 0
    assert plan_columns(120).crit == NUMBER


@given(st.integers(52, 200), st.booleans(), st.sampled_from([FINE, COARSE]), st.text(max_size=30), st.floats(-50, 150))
def test_a_row_is_exactly_as_wide_as_its_columns(width, selected, blocks, name, value) -> None:
    columns = plan_columns(width)
    for of in (PACKAGE, FAN, WIFI):
        facts = RowFacts(name.replace("\n", ""), reading(abs(value), of), Extent(3, 1.0, 2.0, 3.0), 60.0)
        if facts.name.isprintable():
            assert row_width(sensor_row(facts, columns, selected, blocks)) == width
    for state, _words in STATES:
        assert row_width(sensor_row(RowFacts("x", state), columns, selected, blocks)) == width
    assert row_width(header_row(columns, "SENSOR", ["1-13 of 26"])) == width
    assert row_width(heading_row("coretemp", "note", width)) == width
    assert row_width(note_row("quiet", width)) == width


def test_a_row_at_80_columns() -> None:
    columns = plan_columns(80)
    extent = Extent(9, 41.0, 83.2, 97.0)
    rows = [
        header_row(columns, "SENSOR", ["1-13 of 26"]),
        sensor_row(RowFacts("Package id 0", reading(94.0, PACKAGE), extent), columns, True),
        sensor_row(RowFacts("Composite", reading(52.0, NVME), Extent(9, 36.0, 48.0, 53.0)), columns),
        sensor_row(RowFacts("fan1", reading(4210.0, FAN), Extent(9, 0.0, 3321.0, 5900.0)), columns),
    ]
    assert [row_text(row).rstrip() for row in rows] == [
        "   SENSOR                   NOW °C    MIN  MEAN   MAX LIMIT          1-13 of 26",
        " ▸   Package id 0            94        41    83    97   100 ███████████▎ !! hot",
        "     Composite               52        36    48    53    84 ███████▍     ok",
        "     fan1                  4210 rpm     0  3321  5900",
    ]


@pytest.mark.parametrize(("state", "words"), STATES)
def test_a_row_without_a_value_says_why_where_the_value_would_be(state: Reading, words: str) -> None:
    text = row_text(sensor_row(RowFacts("name", state), plan_columns(80)))
    assert text.index(words[:20]) == LEAD + plan_columns(80).name + 2
    assert words in text


def test_every_state_has_a_glyph_of_its_own_kind() -> None:
    glyphs = {reason_words(state)[0][0] for state, _words in STATES if state.state is not State.OK}
    assert glyphs == {"x", "-", "?", "~"}


def test_a_row_that_stands_for_several_says_so() -> None:
    asleep = reading(None, sensor("amdgpu", "edge"), State.ASLEEP, "asleep (suspended), not read")
    assert "(4 sensors)" in row_text(sensor_row(RowFacts("amdgpu", asleep, count=4), plan_columns(80)))


@pytest.mark.parametrize(
    ("celsius", "judged", "word"),
    [
        (50.0, Heat.CALM, "ok"),
        (84.4, Heat.CALM, "ok"),
        (85.0, Heat.WARM, "! warm"),
        (93.0, Heat.HOT, "!! hot"),
        (120.0, Heat.HOT, "!! hot"),
    ],
)
def test_the_chips_own_limit_decides_on_warm_and_hot(celsius: float, judged: Heat, word: str) -> None:
    facts = RowFacts("Package id 0", reading(celsius, PACKAGE))
    assert judge_row(facts) is judged
    assert word in row_text(sensor_row(facts, plan_columns(80)))


def test_no_limit_no_judgement() -> None:
    facts = RowFacts("edge", reading(99.0, sensor("amdgpu", "edge")))
    assert judge_row(facts) is Heat.UNKNOWN
    row = sensor_row(facts, plan_columns(80))
    assert {ink for _text, ink in row} <= {"", "strong", "dim"}
    assert "█" not in row_text(row)


def test_a_control_value_is_not_judged_by_the_limit() -> None:
    facts = RowFacts("Tctl", reading(99.0, PACKAGE), judged=False)
    assert judge_row(facts) is Heat.UNKNOWN
    assert "hot" not in row_text(sensor_row(facts, plan_columns(120)))
    assert "control" in row_text(sensor_row(facts, plan_columns(120)))


def test_only_temperatures_are_judged() -> None:
    hot = sensor("psu", "power1", Quantity.POWER, limit=30.0)
    assert judge_row(RowFacts("power1", reading(30.0, hot))) is Heat.UNKNOWN


def test_a_persons_own_threshold_is_told_apart_from_the_limit() -> None:
    columns = plan_columns(80)
    over = row_text(sensor_row(RowFacts("Core 0", reading(55.0, CORE), threshold=50.0), columns))
    assert "! >50" in over
    under = row_text(sensor_row(RowFacts("Core 0", reading(55.0, CORE), threshold=90.0), columns))
    assert "ok" in under
    assert "│" in under
    hot = row_text(sensor_row(RowFacts("Core 0", reading(99.0, CORE), threshold=90.0), columns))
    assert "!! hot" in hot
    fan = row_text(sensor_row(RowFacts("fan1", reading(4210.0, FAN), threshold=4000.0), plan_columns(120)))
    assert "! over 4000" in fan


def test_a_slow_value_says_how_old_it_is() -> None:
    slow = Reading(NVME, State.SLOW, 52_000, 52.0, "takes 1.5 s", age_s=12.0)
    assert "~ 12 s old" in row_text(sensor_row(RowFacts("Composite", slow), plan_columns(120)))
    assert "~ 12 s" in row_text(sensor_row(RowFacts("Composite", slow), plan_columns(60)))


def test_a_counter_that_only_grows_has_no_mean() -> None:
    energy = sensor("amd_energy", "Esocket0", Quantity.ENERGY)
    text = row_text(
        sensor_row(RowFacts("Esocket0", reading(123.0, energy), Extent(2, 1.0, 2.0, 3.0)), plan_columns(80))
    )
    assert text.split() == ["Esocket0", "123", "J"]


def test_the_head_shows_the_longest_words_that_fit() -> None:
    words = ["a very long text that cannot stand there", "9/26"]
    assert row_text(header_row(plan_columns(60), "SENSOR", words)).rstrip().endswith("9/26")
    assert row_text(header_row(plan_columns(200), "SENSOR", words)).rstrip().endswith(words[0])
