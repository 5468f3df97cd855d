"""Whether the machine is held back, and that nothing is promised which no source of the machine shows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.snapshots import headline
from toolkit.sensors.heldback import judge_held_back, keeps_lowest_clock
from toolkit.sensors.model import ClockGroup, Clocks, Held, HeldBack, PackagePower, Power, Throttling

AMD = Throttling(reason="not offered by this CPU")
INTEL = Throttling(offered=True)


def clocks(load: float | None, mhz: float = 3000.0, ceiling: float = 5000.0) -> Clocks:
    group = ClockGroup("CPU", (0, 1), mhz, mhz, mhz, ceiling, ceiling)
    return Clocks((group,), driver="amd-pstate-epp", governor="powersave", load_percent=load)


def package(watts: float | None, limit: float | None) -> Power:
    return Power((PackagePower("package-0", watts, limit, None, "RAPL"),))


def judged(
    load: float | None,
    mhz: float = 3000.0,
    throttling: Throttling = AMD,
    limit: float | None = None,
    power: Power | None = None,
    celsius: int = 80,
) -> HeldBack:
    return judge_held_back(headline(celsius, limit), throttling, clocks(load, mhz), power or Power(), None)


def test_what_no_source_shows_is_unknown_and_named() -> None:
    held = judged(load=None)
    assert (held.held, held.by) == (Held.UNKNOWN, "")
    assert held.sentence == "Cannot tell if it is held back: no throttle counter, no thermal limit."
    assert held.evidence[0] == "throttle counter not offered by this CPU"
    assert judged(load=95).held is Held.UNKNOWN


def test_a_load_at_reduced_clocks_with_unseen_power_is_not_called_free() -> None:
    held = judged(load=95, throttling=INTEL, limit=100.0)
    assert held.held is Held.UNKNOWN
    assert held.sentence == "Not held back by heat; whether by a power limit is not known."
    assert held.evidence == ("no package power beside its limit",)
    assert judged(load=95, throttling=INTEL, limit=100.0, power=package(15.0, None)).held is Held.UNKNOWN


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (judged(load=95, throttling=INTEL, limit=100.0, power=package(15.0, 28.0)), "Nothing holds this machine back."),
        (judged(load=95, mhz=4800.0), "Nothing holds this machine back."),
        (judged(load=5, throttling=INTEL, limit=100.0), "Nothing holds this machine back."),
        (judged(load=5), "Not held back: the CPU has little to do (load 5 %)."),
        (judged(load=None, throttling=INTEL), "Not held back by heat."),
    ],
)
def test_what_a_source_shows_is_told(held: HeldBack, sentence: str) -> None:
    assert (held.held, held.sentence) == (Held.NO, sentence)


def test_full_load_at_less_than_half_of_the_clock_is_likely_held_back() -> None:
    held = judged(load=100, mhz=1400.0, celsius=94)
    assert (held.held, held.by) == (Held.LIKELY, "heat or power")
    assert held.sentence == "Probably held back by heat or power: cores at 1.4 of 5.0 GHz at load 100 %."
    assert judged(load=79, mhz=1400.0).held is Held.UNKNOWN
    assert judged(load=100, mhz=2500.0).held is Held.UNKNOWN


def test_a_governor_that_keeps_the_lowest_clock_is_a_policy() -> None:
    slow = replace(clocks(100, 800.0), driver="acpi-cpufreq")
    held = judge_held_back(headline(50), AMD, slow, Power(), None)
    assert (held.held, held.by) == (Held.YES, "policy")
    assert not keeps_lowest_clock("powersave", "intel_pstate")
    assert not keeps_lowest_clock("schedutil", "acpi-cpufreq")
