"""The page without an application: layout for any size, hot-plug, a thousand sensors, what a tick redraws."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from screens.temperatures_layout import Layout, plan_layout, scroll_to, split_panes
from screens.temperatures_list import Order
from screens.temperatures_page import GONE_KEPT_S
from screens.temperatures_text import page_text
from screens.widgets.bar import COARSE
from tests.screens.support import (
    BARE,
    CORE,
    FAN,
    GPU,
    HOT,
    MACHINE,
    NVME,
    PACKAGE,
    WIFI,
    check_golden,
    reading,
    sensor,
    snapshot,
)
from tests.screens.temperatures.kit import STATES, at, check_size, many, page_of, show, text, with_readings
from toolkit.errors import Problem
from toolkit.sensors.model import Headline, Quantity, Reading, Rule, State

SIZES = [(80, 20), (60, 14), (120, 36), (160, 46), (200, 46)]


# Layout


@given(st.integers(1, 320), st.integers(1, 120), st.sampled_from([None, True, False]), st.none() | st.integers(0, 99))
def test_every_part_has_its_place_at_any_size(
    width: int, height: int, details: bool | None, wanted: int | None
) -> None:
    layout = plan_layout(width, height, details, wanted)
    assert layout.block + 2 + layout.table + layout.below <= max(height, layout.block + 3)
    assert layout.pane * layout.panes + 2 * (layout.panes - 1) <= width
    assert layout.table >= 1
    assert layout.graph == 0 or layout.summary + layout.graph + 2 == width


def test_what_each_size_shows() -> None:
    usual, small, wide, wider, widest = (plan_layout(*size, None) for size in SIZES)
    assert (small.graph, small.beside, small.block) == (0, 0, 3)
    assert (usual.block, usual.table, usual.panes) == (5, 13, 1)
    assert usual.graph > 30
    assert (wide.beside, wide.panes) == (36, 1)
    assert (wider.panes, wider.beside) == (2, 0)
    assert (widest.panes, widest.beside) == (2, 42)
    assert plan_layout(80, 20, True).below > 0
    assert plan_layout(120, 36, False).beside == 0


def test_the_graph_is_higher_where_the_table_needs_little() -> None:
    few, many_ = plan_layout(200, 46, None, 20), plan_layout(200, 46, None, 200)
    assert few.block > many_.block == plan_layout(200, 46, None).block
    assert few.capacity >= 20
    assert few.block + few.table == many_.block + many_.table
    assert plan_layout(80, 20, None, 2) == plan_layout(80, 20, None, 200)


@given(st.integers(-5, 2000), st.integers(0, 999), st.integers(1, 1000), st.integers(1, 100))
def test_scrolling_keeps_the_cursor_in_sight(offset: int, cursor: int, count: int, capacity: int) -> None:
    cursor = min(cursor, count - 1)
    first = scroll_to(offset, cursor, count, capacity)
    assert 0 <= first <= max(0, count - capacity)
    assert first <= cursor < first + capacity


@given(st.lists(st.booleans(), max_size=80), st.integers(1, 60))
def test_two_panes_hold_all_rows(starts: list[bool], tall: int) -> None:
    layout = replace(plan_layout(200, 46, None), table=tall)
    if len(starts) <= 2 * tall:
        split = split_panes(starts, layout)
        assert split <= tall
        assert len(starts) - split <= tall
    assert isinstance(layout, Layout)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("one", [snapshot(), HOT, BARE], ids=["calm", "hot", "bare"])
def test_the_body_is_filled_exactly(size: tuple[int, int], one) -> None:
    page = page_of(one, size=size)
    check_size(page)
    page.toggle_details()
    check_size(page)


@settings(max_examples=40, deadline=None)
@given(st.integers(44, 230), st.integers(8, 70), st.integers(0, 60), st.sampled_from(list(Order)))
def test_any_size_and_any_number_of_sensors(width: int, height: int, count: int, order: Order) -> None:
    page = page_of(with_readings(many(count)), size=(width, height))
    page.choose(replace(page.view, order=order, pinned=("s1", "s2")))
    page.move(count)
    check_size(page)


def test_before_the_first_look_there_are_dashes() -> None:
    page = page_of()
    check_size(page)
    assert "looking at the sensors" in text(page.rows())
    assert "The sensors come with the first look." in text(page.rows())


# What stands there


@pytest.mark.parametrize(("width", "height", "name"), [(80, 20, "80x20"), (120, 36, "120x36"), (60, 14, "60x14")])
def test_how_the_page_looks(width: int, height: int, name: str) -> None:
    page = page_of(size=(width, height))
    page.choose(replace(page.view, pinned=(NVME.id,), thresholds={CORE.id: 90.0}))
    page.graph.mark(420.0)
    for second in range(1, 601, 2):
        celsius = 45 + min(50, second // 10) - (20 if second > 500 else 0)
        show(page, snapshot(celsius, float(second)))
    check_golden(f"temperatures-page-{name}", text(page.rows()) + "\n")


@pytest.mark.parametrize(("state", "words"), STATES)
def test_every_state_has_its_row(state: Reading, words: str) -> None:
    others = (reading(54.0, PACKAGE), reading(50.0, CORE))
    assert words[:26] in text(page_of(with_readings((*others, state))).rows())


def test_the_empty_table_says_why_and_what_to_do() -> None:
    assert "There is no sensor here (/sys/class/hwmon holds no chip)." in text(page_of(BARE).rows())
    odd = replace(BARE, problems=(Problem("/sys/class/hwmon", "not captured"),))
    assert "/sys/class/hwmon: not captured" in text(page_of(odd).rows())
    page = page_of(snapshot())
    page.choose(replace(page.view, text="zzz"))
    assert "Escape takes the filter away." in text(page.rows())
    page.choose(replace(page.view, text="", hidden=frozenset(r.sensor.id for r in snapshot().readings)))
    assert "H shows them." in text(page.rows())


def test_the_plain_figure_stands_beside_the_headline_where_it_differs() -> None:
    tctl = Headline(42, 62, ("k10temp · Tdie",), Rule.BEST, sensor_ids=(PACKAGE.id,))
    shown = text(page_of(snapshot(headline=tctl)).rows())
    assert "k10temp · Tdie" in shown
    assert "Tctl 62 (control value)" in shown
    assert "Tctl" not in text(page_of(snapshot()).rows())


def test_a_second_best_source_is_marked_with_its_reason() -> None:
    poor = Headline(42, None, ("thinkpad · CPU",), Rule.BEST, "from the embedded controller", True, (PACKAGE.id,))
    shown = text(page_of(snapshot(headline=poor), size=(120, 36)).rows())
    assert "≈" in shown
    assert "thinkpad · CPU, from the embedded" in shown


def test_coarse_blocks_only_on_a_console() -> None:
    page = page_of(HOT, size=(120, 36))
    page.choose(replace(page.view, pinned=(NVME.id,)))
    page.use_blocks(COARSE)
    assert not set("▏▎▍▋▊▉▁▂▃▅▆▇▸╌") & set(text(page.rows()))
    assert ">   Package id 0" in text(page.rows()) or "> " in text(page.rows())


def test_the_page_as_text_has_the_rows_that_are_not_seen() -> None:
    page = page_of(with_readings(many(100)))
    copied = page_text(page, "All is well.", MACHINE)
    assert copied.startswith("Framework Laptop 13 · 6.8.0-31-generic")
    assert "All is well." in copied
    assert "CPU 54 °C, min 54, max 54, limit 100" in copied
    assert all(f"Sensor {number} " in copied for number in range(100))


# Hot-plug


def test_the_cursor_stays_with_its_sensor_when_others_come_and_go() -> None:
    page = page_of(snapshot())
    page.select_id(NVME.id)
    new = reading(33.0, sensor("aaa", "new"))
    show(page, snapshot(at=2.0, readings=(new, *snapshot().readings), changed_sensors=True))
    assert page.selected is not None
    assert page.selected.ids == (NVME.id,)
    show(page, snapshot(at=3.0, readings=snapshot().readings[2:], changed_sensors=True))
    assert page.selected.ids == (NVME.id,)


def test_a_sensor_that_went_is_shown_as_gone_and_selected_still_and_leaves_after_a_while() -> None:
    page = page_of(snapshot())
    page.select_id(NVME.id)
    left = tuple(r for r in snapshot().readings if r.sensor.id != NVME.id)
    gone = (*left, reading(None, NVME, State.GONE, "gone since 12:00:01"))
    assert "x gone since 12:00:01" in text(show(page, snapshot(at=2.0, readings=gone)))
    assert page.cursor_id == NVME.id
    page.rows()
    assert "gone since" in text(show(page, snapshot(at=2.0 + GONE_KEPT_S - 1, readings=gone)))
    assert "gone since" not in text(show(page, snapshot(at=2.0 + GONE_KEPT_S + 1, readings=gone)))
    assert page.cursor_id != NVME.id
    assert "Composite" in text(show(page, snapshot(at=700.0)))


def test_the_history_of_a_sensor_goes_on_when_it_comes_back_under_another_number() -> None:
    page = page_of(snapshot(50))
    show(page, snapshot(60, 2.0, readings=(reading(None, PACKAGE, State.GONE, "gone"), *snapshot().readings[1:])))
    back = replace(PACKAGE, path="/sys/class/hwmon/hwmon8/temp1_input")
    show(page, snapshot(70, 3.0, readings=(reading(70.0, back), *snapshot().readings[1:])))
    page.select_id(PACKAGE.id)
    facts = page.selected_facts
    assert facts is not None
    assert facts.extent is not None
    assert (facts.extent.minimum, facts.extent.maximum) == (50.0, 70.0)


def test_moving_stops_at_the_ends_and_skips_headings() -> None:
    page = page_of(snapshot())
    page.move(-5)
    assert page.cursor_id == PACKAGE.id
    page.move(1)
    assert page.cursor_id == CORE.id
    page.move(99)
    assert page.cursor_id == WIFI.id


def test_a_click_selects_the_row_under_it_in_either_pane() -> None:
    page = page_of(with_readings(many(100)), size=(200, 46))
    lines = text(page.rows()).split("\n")
    for name in ("Sensor 3 ", "Sensor 37 "):
        y = next(number for number, line in enumerate(lines) if name in line)
        assert page.select_at(lines[y].index(name), y)
        assert page.selected is not None
        assert page.selected.text == name.strip()
    assert not page.select_at(5, 0)
    assert not page.select_at(5, page.layout.table_top)


def test_the_wheel_takes_the_cursor_along_only_where_it_must() -> None:
    page = page_of(with_readings(many(100)))
    page.scroll(3)
    assert page.cursor_id == "s2"
    page.scroll(-99)
    assert page.cursor_id == "s2"
    page.scroll(9999)
    assert "Sensor 99" in text(page.rows())
    assert page.selected is not None


def test_rows_by_heat_change_places_now_and_then_only() -> None:
    def two(first: float, second: float, seconds: float):
        return with_readings((reading(first, PACKAGE), reading(second, NVME)), seconds)

    page = page_of(two(50, 40, 1.0))
    page.choose(replace(page.view, order=Order.HEAT))
    show(page, two(40, 50, 2.0))
    assert [entry.ids[0] for entry in page.listing.entries] == [PACKAGE.id, NVME.id]
    show(page, two(40, 50, 7.0))
    assert [entry.ids[0] for entry in page.listing.entries] == [NVME.id, PACKAGE.id]


# What a tick costs


def changed_lines(before, after) -> list[int]:
    return [number for number, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


def test_a_tick_changes_only_the_lines_of_what_changed() -> None:
    readings = many(60)
    page = page_of(with_readings(readings))
    first = page.rows()
    moved = (*readings[:3], replace(readings[3], raw=77000, value=77.0), *readings[4:])
    after = show(page, with_readings(moved, 2.0))
    (line,) = changed_lines(first, after)
    assert "Sensor 3 " in text([after[line]])
    out_of_sight = (*moved[:50], replace(readings[50], raw=77000, value=77.0), *moved[51:])
    # The mean of what is in sight may creep; nothing else may change.
    assert set(changed_lines(after, show(page, with_readings(out_of_sight, 3.0)))) <= {line}


def test_rows_that_did_not_change_are_the_very_same_objects() -> None:
    page = page_of(snapshot(), size=(80, 20))
    first = page.rows()
    second = show(page, at(snapshot(), 2.0))
    top = page.layout.table_top
    assert all(old is new for old, new in zip(first[top + 1 :], second[top + 1 :], strict=True) if text([old]).strip())


def test_a_thousand_sensors_cost_a_tick_no_more_than_those_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = many(1000)
    page = page_of(with_readings(readings))
    asked: list[str] = []
    extent = page.history.extent
    monkeypatch.setattr(page.history, "extent", lambda key: asked.append(key) or extent(key))
    warmer = tuple(replace(one, raw=one.raw + 1000, value=one.value + 1) for one in readings)
    rows = show(page, with_readings(warmer, 2.0))
    assert len(asked) <= page.layout.capacity + 2
    assert "1-13 of 1100" in text(rows)


def test_a_thousand_sensors_scroll_from_end_to_end() -> None:
    page = page_of(with_readings(many(1000)), size=(200, 46))
    for by in (99999, -1, -200, -99999, 555):
        page.move(by)
        assert page.selected is not None
        assert f"▸   {page.selected.text}" in text(page.rows())


def test_a_pinned_fan_has_a_graph_with_its_own_range() -> None:
    page = page_of(size=(120, 36))
    page.choose(replace(page.view, pinned=(FAN.id, GPU.id)))
    for second in range(1, 100):
        show(page, snapshot(54, float(second)))
    shown = text(page.rows())
    assert "fan1 4210 rpm ┤" in shown
    assert "edge -- ┤" in shown
    assert FAN.quantity is Quantity.FAN
