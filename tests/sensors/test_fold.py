"""The fold, on readings made by hand; the cases from the field are in tests/cases/temps."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.sensors.clean import whole_degrees
from toolkit.sensors.fold import CpuFacts, fold
from toolkit.sensors.model import Chip, Quantity, Reading, Rule, Sensor, State


def reading(
    chip: str,
    label: str | None,
    raw: int | None,
    state: State = State.OK,
    index: int = 1,
    device: str = "",
    age: float = 0,
) -> Reading:
    place = Chip(chip, device, "hwmon0", f"/{chip}{device}", chip)
    sensor = Sensor(f"{chip}@{device}/temp/{label or index}", place, Quantity.TEMPERATURE, index, label, "/x")
    return Reading(sensor, state, raw, None if raw is None else raw / 1000, "EIO: x" if raw is None else "", None, age)


@given(st.lists(st.integers(-40_000, 120_000), min_size=1, max_size=40))
def test_the_headline_is_the_maximum_over_all_cores_and_packages(values: list[int]) -> None:
    readings = [reading("coretemp", f"Core {n}", raw, index=n) for n, raw in enumerate(values)]
    head = fold(readings)
    assert head.celsius == head.plain_celsius == whole_degrees(max(values))
    assert len(head.sources) == values.count(max(values))


@given(st.integers(1, 100_000), st.integers(1, 100_000))
def test_tdie_wins_over_tctl_on_its_chip_alone(tdie: int, other: int) -> None:
    first = [reading("k10temp", "Tctl", 127_000), reading("k10temp", "Tdie", tdie, index=2)]
    second = [reading("k10temp", "Tctl", other, device="b")]
    assert fold(first + second).celsius == whole_degrees(max(tdie, other))
    assert fold(first + second).plain_celsius == 127
    assert fold(first + second, Rule.TCTL).celsius == 127


def test_the_package_is_named_before_a_core_of_the_same_heat() -> None:
    head = fold([reading("coretemp", "Core 0", 50_000), reading("coretemp", "Package id 0", 50_000)])
    assert head.sources == ("coretemp · Package id 0", "coretemp · Core 0")


def test_a_tctl_that_stands_in_for_an_unreadable_tdie_is_marked() -> None:
    head = fold([reading("k10temp", "Tctl", 68_000), reading("k10temp", "Tdie", None, State.UNREADABLE)])
    assert (head.celsius, head.second_best) == (68, True)
    assert "offset" in head.reason


def test_an_old_value_of_a_slow_chip_does_not_pass_for_the_present() -> None:
    assert fold([reading("coretemp", "Core 0", 50_000, State.SLOW, age=5)]).celsius == 50
    assert fold([reading("coretemp", "Core 0", 50_000, State.SLOW, age=31)]).celsius is None


def test_no_figure_says_why() -> None:
    assert "sudo modprobe k10temp" in fold([], facts=CpuFacts(vendor="AuthenticAMD")).reason
    assert "sudo modprobe coretemp" in fold([], facts=CpuFacts(vendor="GenuineIntel")).reason
    assert "virtual machine" in fold([], facts=CpuFacts(vendor="GenuineIntel", virtual=True)).reason
    assert "capture holds no hwmon" in fold([], facts=CpuFacts(captured=False)).reason
    gone = fold([reading("coretemp", "Core 0", None, State.GONE)])
    assert (gone.celsius, gone.reason) == (None, "sensor gone: coretemp · Core 0")


def test_the_plain_rule_without_a_plain_reading_is_no_guess() -> None:
    head = fold([reading("k10temp", "Tdie", 40_000)], Rule.TCTL)
    assert head.celsius is None
    assert head.reason


def test_the_plain_rule_says_which_reading_it_leaves_out() -> None:
    zone = reading("cpu-thermal", None, 61_000)
    assert fold([zone], Rule.TCTL).reason == (
        "no Tctl and no coretemp reading: the rule tctl leaves out cpu-thermal · temp1, which the rule best takes"
    )
    broken = reading("coretemp", "Package id 0", None, State.UNREADABLE)
    assert "coretemp · Package id 0 gives no value (EIO: x)" in fold([zone, broken], Rule.TCTL).reason
