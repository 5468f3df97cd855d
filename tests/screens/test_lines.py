"""Top line, verdict, footer, the notice for small windows, the canvas: laid out for every width."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.format import Severity
from screens.small import small_rows
from screens.widgets.canvas import Row, changed_span, fit_row, row_text, row_width
from screens.widgets.footer import FooterKey, footer_row, key_name
from screens.widgets.topline import TopState, headline_piece, machine_text, top_row
from screens.widgets.verdict import verdict_rows, wrap
from tests.screens.support import MACHINE, snapshot
from toolkit.sensors.model import Headline, Machine

HEADLINE = snapshot(54).headline
STATE = TopState("Temperatures", MACHINE, "", HEADLINE)


def top(state: TopState, width: int = 80) -> str:
    return row_text(top_row(state, width))


def test_top_line_names_screen_machine_and_headline() -> None:
    line = top(STATE)
    assert line.startswith(" toolkit  Temperatures ")
    assert "Framework Laptop 13 · 6.8.0-31-generic" in line
    assert line.endswith(" 54 °C ")
    assert len(line) == 80


def test_top_line_before_the_first_look_shows_dashes() -> None:
    assert top(TopState("Overview")).endswith(" -- ")


def test_recording_pause_and_label_stand_before_the_headline() -> None:
    line = top(replace(STATE, recording_s=134.0, label="demo", paused=True), 100)
    assert "demo" in line
    assert line.index("demo") < line.index("paused") < line.index("●REC 02:14") < line.index("54 °C")


def test_recording_and_headline_both_fit_in_80() -> None:
    line = top(replace(STATE, recording_s=134.0))
    assert "●REC 02:14" in line
    assert line.endswith("54 °C ")
    assert "Framework Laptop 13" in line


def test_machine_stands_still_while_a_recording_starts() -> None:
    quiet, busy = top(STATE, 120), top(replace(STATE, recording_s=3.0), 120)
    assert quiet.index("Framework") == busy.index("Framework")


@given(
    st.integers(1, 210),
    st.booleans(),
    st.sampled_from([None, 3.0, 4000.0]),
    st.sampled_from(["", "demo", "a-very-long-name-of-a-capture.tar.gz"]),
    st.sampled_from([None, HEADLINE, replace(HEADLINE, celsius=100)]),
)
def test_top_line_fills_every_width_exactly(
    width: int, paused: bool, recording_s: float | None, label: str, headline: Headline | None
) -> None:
    row = top_row(TopState("Temperatures", MACHINE, label, headline, recording_s, paused), width)
    assert row_width(row) == width


@pytest.mark.parametrize("width", [10, 20, 40, 60])
def test_headline_is_the_last_to_go(width: int) -> None:
    assert "54 °C" in top(replace(STATE, recording_s=3.0, label="demo", paused=True), width)


def test_headline_says_hot_and_second_best_without_colour() -> None:
    assert headline_piece(replace(HEADLINE, celsius=97)) == ("!! 97 °C".rjust(9), "bad")
    assert headline_piece(replace(HEADLINE, celsius=86))[0].strip() == "! 86 °C"
    assert headline_piece(replace(HEADLINE, second_best=True))[0].strip() == "≈ 54 °C"
    assert headline_piece(replace(HEADLINE, celsius=100))[0] == "!! 100 °C"


def test_kernel_goes_before_the_model() -> None:
    assert machine_text(MACHINE, 40) == "Framework Laptop 13 · 6.8.0-31-generic"
    assert machine_text(MACHINE, 30) == "Framework Laptop 13"
    assert machine_text(MACHINE, 10) == "Framework…"
    assert machine_text(MACHINE, 4) == ""
    assert machine_text(Machine(None, "6.1", None, None), 20) == "6.1"
    assert machine_text(Machine(None, None, None, None), 20) == ""


def test_names_of_a_machine_cannot_carry_escape_codes() -> None:
    assert "\x1b" not in top(replace(STATE, machine=Machine("\x1b[31mX", "6", None, None), label="\x1b]0;x\x07"), 120)


def test_verdict_marks_what_is_bad_without_colour() -> None:
    rows = verdict_rows("The CPU is hot.", Severity.BAD, 80)
    assert [row_text(row) for row in rows] == [" !! The CPU is hot.", ""]
    assert row_text(verdict_rows("All well.", Severity.OK, 80)[0]) == " All well."


def test_long_verdict_runs_on_and_ends_in_an_ellipsis() -> None:
    rows = verdict_rows("word " * 60, Severity.WARN, 60)
    assert len(rows) == 2
    assert row_text(rows[1]).endswith("…")
    assert all(row_width(row) <= 60 for row in rows)


@given(st.text(max_size=200), st.integers(1, 60), st.integers(1, 4))
def test_wrap_keeps_to_its_room(text: str, width: int, rows: int) -> None:
    clean = "".join(char for char in text if char.isprintable())
    lines = wrap(clean, width, rows)
    assert len(lines) <= rows
    assert all(row_width(((line, ""),)) <= width for line in lines)


KEYS = [FooterKey("r", "record"), FooterKey("m", "marks"), FooterKey("h", "hide"), FooterKey("t", "limit")]


def test_footer_shows_six_keys_and_help() -> None:
    many = [FooterKey(str(n), f"word{n}") for n in range(9)]
    text = row_text(footer_row(many, 200))
    assert "5 word5  ? help" in text
    assert "word6" not in text


def test_footer_drops_from_the_right_and_keeps_help() -> None:
    keys = [FooterKey(letter, f"do {letter * 8}") for letter in "abcdef"]
    wide, narrow = row_text(footer_row(keys, 120)), row_text(footer_row(keys, 60))
    assert "ffffffff" in wide
    assert "ffffffff" not in narrow
    assert narrow.startswith(" a do aaaaaaaa")
    assert narrow.endswith("? help")


@given(st.integers(0, 130), st.lists(st.tuples(st.text("abc", min_size=1, max_size=5), st.text("xyz ", max_size=20))))
def test_footer_is_never_cut(width: int, keys: list[tuple[str, str]]) -> None:
    row = footer_row([FooterKey(key, word) for key, word in keys], width)
    assert row_width(row) <= width
    if width >= 8:
        assert row_text(row).endswith("? help")


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("question_mark", "?"),
        ("slash", "/"),
        ("upper_q", "Q"),
        ("Q", "Q"),
        ("f1", "F1"),
        ("f", "f"),
        ("ctrl+p", "ctrl+p"),
        ("enter", "enter"),
        ("escape", "esc"),
    ],
)
def test_key_names(key: str, name: str) -> None:
    assert key_name(key) == name


@given(st.integers(1, 80), st.integers(1, 30))
def test_small_notice_fits_any_size(width: int, height: int) -> None:
    rows = small_rows(HEADLINE, "demo", width, height)
    assert len(rows) <= height
    assert all(row_width(row) <= width for row in rows)
    if width >= 12:
        assert any("54 °C" in row_text(row) for row in rows)


def test_small_notice_says_what_is_needed() -> None:
    text = "\n".join(row_text(row) for row in small_rows(HEADLINE, "", 59, 17))
    assert "59x17" in text
    assert "60x18" in text
    assert "Q" in text


ROWS = st.lists(st.tuples(st.text("ab°温 ", max_size=4), st.sampled_from(["", "bad"])), max_size=6).map(tuple)


def cells(row: Row) -> list[tuple[str, str]]:
    """One entry a cell; a wide character takes two."""
    return [(char + str(half), ink) for text, ink in row for char in text for half in range(row_width(((char, ""),)))]


@given(ROWS, ROWS)
def test_changed_span_covers_every_cell_that_differs(old: Row, new: Row) -> None:
    span = changed_span(old, new)
    start, count = span if span is not None else (0, 0)
    before, after = cells(old), cells(new)
    for x in range(max(len(before), len(after))):
        if (before[x] if x < len(before) else None) != (after[x] if x < len(after) else None):
            assert start <= x < start + count


def test_changed_number_repaints_itself_only() -> None:
    old: Row = (("CPU ", "dim"), ("54", "strong"), (" °C", ""))
    new: Row = (("CPU ", "dim"), ("55", "strong"), (" °C", ""))
    assert changed_span(old, new) == (4, 2)


@given(ROWS, st.integers(1, 12))
def test_fit_row_keeps_to_its_width(row: Row, width: int) -> None:
    assert row_width(fit_row(row, width)) <= width


def test_fit_row_shows_that_something_is_missing() -> None:
    assert row_text(fit_row((("abc", ""), ("def", "")), 5)) == "abcd…"
    assert row_text(fit_row((("abc", ""), ("def", "")), 3)) == "ab…"
    assert row_text(fit_row((("abc", ""), ("def", "")), 6)) == "abcdef"
