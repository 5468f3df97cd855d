"""The facts around the headline, and the verdict that is read aloud."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.format import Severity
from screens.temperatures_details import detail_rows, detail_text
from screens.temperatures_list import Entry
from screens.temperatures_summary import facts_of, summary_rows, verdict_of
from screens.widgets.canvas import row_text, row_width
from screens.widgets.sensor_table import RowFacts
from tests.screens.support import BARE, CORE, HOT, NVME, PACKAGE, reading, sensor, snapshot
from tests.screens.temperatures.kit import STATES
from toolkit.errors import Problem
from toolkit.sensors.history import Extent
from toolkit.sensors.model import (
    Battery,
    Clocks,
    Headline,
    Held,
    HeldBack,
    PackagePower,
    Power,
    Rule,
    Snapshot,
    Throttling,
)


def facts(of: Snapshot) -> list[str]:
    return [text for text, _ink in facts_of(of)]


def test_facts_of_a_laptop() -> None:
    assert facts(snapshot()) == [
        "coretemp · Package id 0",
        "6.1 W of 28 W (PL1)",
        "P 1.9 GHz  E 1.2 GHz",
        "load 12 %",
        "governor powersave",
        "0 thermal events since start",
        "BAT1 83 %, -9.2 W",
    ]


def test_power_that_cannot_be_read_says_why() -> None:
    assert "on mains" in facts(HOT)
    bare = Power(problem=Problem("/sys/class/powercap", "not captured"))
    assert "power: not captured" in facts(snapshot(power=bare))
    plain = Power(problem=Problem("/sys/class/powercap", "package power needs root"))
    assert "package power needs root" in facts(snapshot(power=plain))
    assert not any("power" in fact for fact in facts(snapshot(power=Power())) if "powersave" not in fact)


def test_power_without_a_limit_and_of_two_packages() -> None:
    one = Power(packages=(PackagePower("SVI2", 41.2, None, None, "zenpower"),))
    assert "41.2 W CPU package" in facts(snapshot(power=one))
    two = Power(packages=tuple(PackagePower(f"package-{n}", 50.0, 125.0, None, "RAPL") for n in (0, 1)))
    assert "100.0 W of 250 W (PL1)" in facts(snapshot(power=two))
    charging = Power(batteries=(Battery("BAT0", None, "Charging", 20.0),))
    assert "BAT0 --, +20.0 W" in facts(snapshot(power=charging))


def test_events_and_their_absence() -> None:
    assert "12 thermal events since start" in facts(snapshot(throttling=Throttling(True, package_events=12)))
    assert "1 thermal event since start" in facts(snapshot(throttling=Throttling(True, core_events=1)))
    amd = Throttling(reason="not offered by this CPU")
    assert "throttling: not offered by this CPU" in facts(snapshot(throttling=amd))


def test_the_rule_and_several_sources_are_told() -> None:
    headline = snapshot().headline
    assert "plain figure, offsets left in" in facts(snapshot(headline=replace(headline, rule=Rule.TCTL)))
    both = replace(headline, sources=("coretemp · Package id 0", "coretemp · Core 1"))
    assert facts(snapshot(headline=both))[0] == "coretemp · Package id 0 (+1)"


@given(st.integers(20, 120), st.sampled_from([3, 5, 10, 14]), st.sampled_from([-40, 0, 7, 54, 100, 137, None]))
def test_the_block_has_the_size_that_was_asked_for(width: int, height: int, celsius: int | None) -> None:
    one = snapshot(celsius)
    rows = summary_rows(one, Extent(3, 20.0, 30.0, 97.0), width, height)
    assert len(rows) == height
    assert {row_width(row) for row in rows} == {width}


def test_few_rows_share_what_they_can() -> None:
    rows = [row_text(row) for row in summary_rows(snapshot(), None, 60, 3)]
    assert "coretemp · Package id 0" in rows[1]
    assert "6.1 W of 28 W (PL1) · P 1.9 GHz" in rows[2]


# Verdict


def test_calm_is_one_plain_sentence() -> None:
    calm = snapshot(held_back=HeldBack(Held.NO, "", "Nothing holds this machine back."))
    assert verdict_of(calm) == ("54 °C, nothing holds this machine back.", Severity.OK)


def test_what_holds_the_machine_back_comes_first() -> None:
    assert verdict_of(HOT) == (HOT.held_back.sentence, Severity.BAD)
    likely = snapshot(held_back=HeldBack(Held.LIKELY, "power limit", "Probably held back by the power limit."))
    assert verdict_of(likely) == ("Probably held back by the power limit.", Severity.WARN)
    policy = snapshot(held_back=HeldBack(Held.YES, "policy", "Held back by policy: turbo is switched off."))
    assert verdict_of(policy) == ("Held back by policy: turbo is switched off.", Severity.NOTE)


def test_no_headline_says_why() -> None:
    assert verdict_of(BARE) == (
        "No CPU temperature: no CPU sensor was found: a virtual machine has none.",
        Severity.WARN,
    )


def test_a_hot_cpu_a_warm_one_and_a_hot_disk() -> None:
    no = HeldBack(Held.NO, "", "Nothing holds this machine back.")
    assert verdict_of(snapshot(95, held_back=no)) == ("The CPU is hot: 95 °C, its limit is 100 °C.", Severity.BAD)
    warm, severity = verdict_of(snapshot(87, held_back=no))
    assert warm == "The CPU is warm: 87 °C, its limit is 100 °C. Nothing holds this machine back."
    assert severity is Severity.WARN
    disk = (reading(54.0, PACKAGE), reading(82.0, NVME))
    assert verdict_of(snapshot(readings=disk, held_back=no)) == (
        "Composite of nvme is 82 °C; its limit is 84 °C.",
        Severity.WARN,
    )


def test_a_control_value_with_an_offset_raises_no_alarm() -> None:
    tctl, tdie = sensor("k10temp", "Tctl", limit=95.0), sensor("k10temp", "Tdie", limit=95.0, index=2)
    headline = Headline(68, 95, ("k10temp · Tdie",), Rule.BEST, sensor_ids=(tdie.id,), limit_celsius=95.0)
    one = snapshot(headline=headline, readings=(reading(95.0, tctl), reading(68.0, tdie)))
    assert verdict_of(one)[1] is Severity.OK


def test_a_crossed_threshold_is_told_where_nothing_worse_is() -> None:
    assert verdict_of(snapshot(), ["Disk is at 60 °C; your threshold is 55 °C."])[1] is Severity.WARN
    assert verdict_of(HOT, ["Disk is at 60 °C; your threshold is 55 °C."])[0] == HOT.held_back.sentence


def test_unknown_is_neither_good_nor_bad() -> None:
    assert verdict_of(snapshot(held_back=HeldBack(Held.UNKNOWN)))[1] is Severity.NOTE
    assert (
        verdict_of(snapshot(clocks=Clocks(), held_back=HeldBack(Held.NO, "", "Not held back now.")))[1] is Severity.OK
    )


# Details


def test_details_of_a_sensor() -> None:
    facts_ = RowFacts("Core 0", reading(55.25, CORE), Extent(3, 40.0, 50.0, 60.0), 70.0)
    lines = detail_text(Entry("Core 0", (CORE.id,), 0), facts_).split("\n")
    assert lines == [
        "          Core 0",
        "          coretemp, temperature",
        "Now       55.25 °C",
        "State     ok, 45 below its limit",
        "Seen      40 to 60 °C, mean 50",
        "Critical  100 °C (the bar's end)",
        "Threshold 70 °C (t changes it)",
        "Raw       55250 m°C",
        "Device    platform/coretemp.0",
        f"File      {CORE.path}",
        f"Id        {CORE.id}",
    ]


@given(st.integers(20, 100), st.integers(1, 40), st.sampled_from([state for state, _words in STATES]))
def test_details_have_the_size_that_was_asked_for(width: int, height: int, state) -> None:
    rows = detail_rows(Entry("x", (state.sensor.id,), 0), RowFacts("x", state), width, height)
    assert len(rows) == height
    assert {row_width(row) for row in rows} == {width}
    assert {row_width(row) for row in detail_rows(None, None, width, height)} == {width}


@pytest.mark.parametrize("width", [24, 34, 60])
def test_a_long_id_is_wrapped_and_not_cut(width: int) -> None:
    entry, one = Entry("Core 0", (CORE.id,), 0), RowFacts("Core 0", reading(55.0, CORE))
    joined = "".join(row_text(row)[10:].rstrip() for row in detail_rows(entry, one, width, 40))
    assert CORE.id.replace(" ", "") in joined.replace(" ", "")
