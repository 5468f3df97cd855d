"""What `toolkit temps` prints: figures that agree with each other, states as the screens say them, straight columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from screens.format import celsius, number
from tests.support.snapshots import MACHINE, headline, sensor, snapshot
from toolkit.commands.temps_output import FIELDS, as_dict, as_lines
from toolkit.sensors.clean import whole, whole_degrees
from toolkit.sensors.fold import fold
from toolkit.sensors.model import Reading, Sensor, Snapshot, State
from toolkit.text import cell_width, clipped, padded


def seen(which: Sensor, raw: int) -> Reading:
    return Reading(which, State.OK, raw, raw / 1000)


def lines(readings: Sequence[Reading]) -> tuple[Snapshot, list[str]]:
    taken = replace(snapshot(0, readings), headline=fold(readings))
    return taken, list(as_lines(taken, MACHINE, "", show_all=False))


@pytest.mark.parametrize("raw", [-501, -500, -499, 61_499, 61_500, 52_500, 68_499, 68_500, 68_501])
def test_the_headline_its_row_and_the_screen_round_alike(raw: int) -> None:
    taken, printed = lines([seen(sensor("k10temp", "Tctl"), raw)])
    figure = str(taken.headline.celsius)
    assert figure == str(whole_degrees(raw)) == str(whole(raw / 1000))
    assert next(line for line in printed if line.startswith("  Tctl")).split()[1] == figure
    assert number(raw / 1000) == figure
    assert celsius(raw / 1000) == f"{figure} °C"


@pytest.mark.parametrize(("raw", "word"), [(84_400, "ok"), (84_500, "! warm"), (92_500, "!! hot"), (101_000, "!! hot")])
def test_the_state_is_the_screens_word_and_json_keeps_to_the_readings(raw: int, word: str) -> None:
    which = replace(sensor(), bar_limit=100.0)
    taken, printed = lines([seen(which, raw)])
    assert next(line for line in printed if line.startswith("  Package")).endswith(f"100  {word}")
    assert as_dict(taken, MACHINE)["sensors"][0]["state"] == "ok"
    assert FIELDS["class"][1](taken) == word.rsplit(maxsplit=1)[-1]


def test_without_a_limit_there_is_no_class() -> None:
    assert FIELDS["class"][1](replace(snapshot(0, ()), headline=headline(80, None))) == ""


@pytest.mark.parametrize("label", ["温度", "Ko\u0308rper", "a\u200bb"])
def test_columns_are_straight_whatever_the_label(label: str) -> None:
    _, printed = lines([seen(sensor("acpitz", label), 40_000), seen(sensor("acpitz", "A long label"), 50_000)])
    rows = [line for line in printed if line.endswith("ok")]
    assert len(rows) == 2
    assert len({cell_width(row[: row.index(" °C")]) for row in rows}) == 1


def test_text_is_measured_in_columns() -> None:
    assert [cell_width(text) for text in ("abc", "温度", "o\u0308", "a\u200b")] == [3, 4, 1, 1]
    assert padded("温", 4) + "|" == "温  |"
    assert padded("温", 4, right=True) == "  温"
    assert clipped("温度温度", 5) == "温度…"
    assert clipped("温度", 4) == "温度"
