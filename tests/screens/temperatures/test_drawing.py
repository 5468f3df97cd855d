"""Bars, digits and graphs: pure functions from numbers to block characters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.widgets.bar import COARSE, FINE, Blocks, bar, share_of
from screens.widgets.canvas import row_text, row_width
from screens.widgets.digits import large, large_height, large_width
from screens.widgets.graph import (
    Plot,
    Scale,
    Series,
    area,
    fit_scale,
    mark_columns,
    nice_scale,
    nice_step,
    plot_rows,
    row_of,
    time_axis,
)
from tests.screens.support import snapshot
from toolkit.sensors.history import HEADLINE, History

BLOCKS = st.sampled_from([FINE, COARSE])
CP437 = set("▌█▄▀│┤┴└─>-*~ ")


# Bars


def filled(drawn: str, blocks: Blocks) -> int:
    """Count the parts that a bar fills."""
    parts = len(blocks.across)
    return sum(blocks.across.index(char) + 1 if char != " " else 0 for char in drawn) if parts else 0


@given(st.floats(0, 1), st.integers(1, 80), BLOCKS)
def test_a_bar_is_as_wide_as_asked_and_within_one_part_of_the_truth(share: float, width: int, blocks: Blocks) -> None:
    drawn = bar(share, width, blocks)
    assert len(drawn) == width
    assert abs(filled(drawn, blocks) - share * width * len(blocks.across)) <= 1


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 60), BLOCKS)
def test_a_greater_share_never_gives_a_shorter_bar(one: float, other: float, width: int, blocks: Blocks) -> None:
    low, high = sorted((one, other))
    assert filled(bar(low, width, blocks), blocks) <= filled(bar(high, width, blocks), blocks)


def test_only_the_limit_itself_fills_a_bar() -> None:
    assert bar(1.0, 10) == "█" * 10
    assert bar(0.9999, 10) == "█" * 9 + "▉"
    assert bar(0.0, 10) == " " * 10
    assert bar(0.0001, 10) == "▏" + " " * 9
    assert bar(0.94, 12) == "███████████▎"


@pytest.mark.parametrize("share", [None, math.nan, math.inf])
def test_no_share_is_an_empty_bar(share: float | None) -> None:
    assert bar(share, 4) == "    "
    assert bar(0.5, 0) == ""


def test_a_share_needs_a_limit_above_zero() -> None:
    assert share_of(50.0, 100.0) == 0.5
    assert share_of(150.0, 100.0) == 1.0
    assert share_of(-5.0, 100.0) == 0.0
    for value, limit in ((None, 100.0), (50.0, None), (50.0, 0.0), (50.0, -1.0), (math.nan, 100.0)):
        assert share_of(value, limit) is None


def test_coarse_blocks_are_all_in_the_font_of_a_linux_console() -> None:
    drawn = set(COARSE.across + COARSE.up + COARSE.cursor + COARSE.mark + COARSE.limit + COARSE.pin + COARSE.ellipsis)
    assert drawn <= CP437
    assert all(char.encode("cp437") for char in drawn)


# Digits


def test_digits_have_three_rows_and_one_width() -> None:
    assert large("97") == ("█▀█ ▀▀█", "▀▀█   █", "▀▀▀   ▀")
    assert large("-4") == ("    █ █", "▀▀▀ ▀▀█", "      ▀")


def test_digits_of_twice_the_size_are_five_rows_of_whole_blocks() -> None:
    rows = large("40", 2)
    assert len(rows) == large_height(2) == 5
    assert set("".join(rows)) == {"█", " "}


@given(st.text("0123456789- x", min_size=1, max_size=6), st.sampled_from([1, 2]))
def test_every_text_has_a_picture_of_the_size_that_was_told(text: str, scale: int) -> None:
    rows = large(text, scale)
    assert len(rows) == large_height(scale)
    assert {len(row) for row in rows} == {large_width(len(text), scale)}
    assert all(char.encode("cp437") for row in rows for char in row)


def test_digits_differ_from_each_other() -> None:
    assert len({large(digit) for digit in "0123456789-"}) == 11


# Scales


@given(st.floats(-200, 1e6), st.floats(0, 1e5), st.floats(0.1, 500), st.none() | st.floats(-100, 1e6))
def test_a_scale_holds_the_values_and_is_not_narrower_than_asked(
    low: float, span: float, least: float, ceiling: float | None
) -> None:
    scale = nice_scale(low, low + span, least, ceiling)
    slack = 1e-6 * max(1.0, abs(low) + span)
    assert scale.low <= low + slack
    assert scale.high >= low + span - slack
    assert scale.high - scale.low >= least * (1 - 1e-6) - slack
    assert scale.high - scale.low <= 2.1 * max(span, least) + 2 * scale.step


def test_a_scale_ends_in_round_numbers() -> None:
    assert nice_scale(41, 97, 15) == Scale(40, 100, 20)
    assert nice_scale(50, 50, 15) == Scale(45, 60, 5)
    assert nice_scale(12.61, 12.64, 0.2) == Scale(pytest.approx(12.5), pytest.approx(12.7), 0.05)


def test_a_scale_does_not_reach_above_a_limit_that_nothing_reached() -> None:
    assert nice_scale(97, 97, 15, 100).high == 100
    assert nice_scale(97, 104, 15, 100).high == 105


@pytest.mark.parametrize(("rough", "step"), [(0.3, 0.5), (1, 1), (1.1, 2), (3, 5), (5.01, 10), (0, 1), (math.nan, 1)])
def test_steps_are_one_two_five(rough: float, step: float) -> None:
    assert nice_step(rough) == pytest.approx(step)


def test_a_scale_stands_still_until_values_leave_it_or_need_far_less() -> None:
    scale = fit_scale(None, [40.0, 90.0], 15)
    assert scale is not None
    assert fit_scale(scale, [None, 55.0, 88.0], 15) is scale
    assert fit_scale(scale, [50.0, 101.0], 15) != scale
    assert fit_scale(scale, [50.0, 52.0], 15) == nice_scale(50, 52, 15)
    assert fit_scale(scale, [None, math.nan], 15) is scale
    assert fit_scale(None, [None], 15) is None


def test_labels_have_the_digits_that_their_step_needs() -> None:
    assert Scale(40, 100, 20).label(100) == "100"
    assert Scale(12.5, 12.7, 0.05).label(12.5) == "12.5"
    assert len(Scale(0, 123456, 1000).label(123456)) < 10


# Areas


VALUES = st.lists(st.none() | st.floats(-50, 150), min_size=1, max_size=60)


@given(VALUES, st.integers(1, 12), BLOCKS)
def test_an_area_is_a_stack_of_full_cells_under_one_that_may_be_part(
    values: list[float | None], height: int, blocks: Blocks
) -> None:
    rows = area(values, Scale(-50, 150, 50), height, blocks)
    assert len(rows) == height
    assert {len(row) for row in rows} == {len(values)}
    for column, value in enumerate(values):
        cells = [row[column] for row in reversed(rows)]
        inked = [cell for cell in cells if cell != " "]
        assert (not inked) is (value is None)
        assert all(cell == "█" for cell in inked[:-1])
        assert cells[: len(inked)] == inked


@given(st.lists(st.floats(0, 100), min_size=2, max_size=40), st.integers(1, 9))
def test_a_higher_value_is_never_drawn_lower(values: list[float], height: int) -> None:
    rows = area(values, Scale(0, 100, 20), height)
    tops = [sum(FINE.up.index(row[at]) + 1 for row in rows if row[at] != " ") for at in range(len(values))]
    for one, top in zip(values, tops, strict=True):
        for other, other_top in zip(values, tops, strict=True):
            assert one <= other or top >= other_top


def test_the_ends_of_the_scale_are_the_least_and_the_greatest_block() -> None:
    assert area([0.0, 100.0, None], Scale(0, 100, 20), 2) == [" █ ", "▁█ "]
    assert area([0.0, 100.0], Scale(0, 100, 20), 1, COARSE) == ["▄█"]


@given(VALUES, st.integers(1, 10), st.none() | st.floats(0, 120), st.integers(5, 16), BLOCKS)
def test_a_graph_has_the_size_that_was_asked_for(
    values: list[float | None], height: int, limit: float | None, gutter: int, blocks: Blocks
) -> None:
    scale = fit_scale(None, values, 15)
    rows = plot_rows(Plot(values, scale, height, limit, marks=(0, 3, 99)), gutter, blocks)
    assert len(rows) == height
    assert {row_width(row) for row in rows} == {gutter + len(values)}
    assert row_width(time_axis(len(values), 10, gutter, (0, 3))) == gutter + len(values)


def test_a_graph_shows_its_range_its_limit_and_marks() -> None:
    plot = Plot([40.0, 97.0, 60.0, 60.0], Scale(40, 100, 20), 3, 99.0, marks=(2,))
    rows = [row_text(row) for row in plot_rows(plot)]
    assert rows[0] == "100 ┤╌▇│╌"
    assert rows[1] == "    │ █│▁"
    assert rows[2] == " 40 ┤▁█│█"


def test_columns_are_inked_by_their_own_distance_to_the_limit() -> None:
    rows = plot_rows(Plot([50.0, 86.0, 94.0], Scale(40, 100, 20), 1, 100.0))
    assert [ink for _text, ink in rows[0]][1:] == ["cool", "warn", "bad"]
    rows = plot_rows(Plot([50.0, 86.0, 94.0], Scale(40, 100, 20), 1, None))
    assert [ink for _text, ink in rows[0]][1:] == ["cool"]


def test_a_limit_out_of_range_has_no_line() -> None:
    assert row_of(120.0, Scale(40, 100, 20), 4) is None
    assert row_of(100.0, Scale(40, 100, 20), 4) == 0
    assert row_of(40.0, Scale(40, 100, 20), 4) == 3


def test_the_axis_of_time_says_how_far_back_it_goes() -> None:
    assert row_text(time_axis(60, 10)).startswith("    └─ 10 min ago ─")
    assert " 5 min " in row_text(time_axis(60, 10))
    assert row_text(time_axis(60, 10)).endswith(" now")
    assert " 30 s " in row_text(time_axis(60, 1))
    assert "┴" in row_text(time_axis(60, 10, marks=(20,)))


# Series


def test_a_series_says_whether_anything_changed() -> None:
    history, series = History(), Series()
    assert series.update(history, HEADLINE, 60.0, 6, 15) is True
    for second in range(10):
        history.add(snapshot(50, second + 1.0))
    assert series.update(history, HEADLINE, 60.0, 6, 15) is True
    history.add(snapshot(50, 11.0))
    assert series.update(history, HEADLINE, 60.0, 6, 15) is False
    history.add(snapshot(51, 12.0))
    assert series.update(history, HEADLINE, 60.0, 6, 15) is True
    assert series.values[-1] == 51.0


@given(st.lists(st.integers(30, 100), min_size=1, max_size=200), st.sampled_from([6, 10, 60]))
def test_a_series_kept_up_to_date_is_the_one_made_anew(temperatures: list[int], count: int) -> None:
    history, kept = History(), Series()
    for second, celsius in enumerate(temperatures):
        history.add(snapshot(celsius, second + 1.0))
        kept.update(history, HEADLINE, 60.0, count, 15)
    assert kept.values == history.columns(HEADLINE, 60.0, count)


def test_marks_move_with_the_columns() -> None:
    assert mark_columns([95.0], 100.0, 60.0, 6) == (4,)
    assert mark_columns([95.0], 140.0, 60.0, 6) == (0,)
    assert mark_columns([95.0], 200.0, 60.0, 6) == ()
    assert mark_columns([95.0], None, 60.0, 6) == ()
