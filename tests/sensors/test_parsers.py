"""The small parsers: what they read, and that no text makes them raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.host.read import parse_number
from toolkit.sensors.clean import bar_limit, is_jump, judge, make_limits, whole_degrees
from toolkit.sensors.clocks import parse_cpu_list, parse_loadavg, parse_stat
from toolkit.sensors.machine import parse_cpuinfo, parse_os_release
from toolkit.sensors.model import Quantity, State
from toolkit.sensors.power import unwrap
from toolkit.text import printable


@pytest.mark.parametrize(
    ("milli", "degrees"),
    [(61499, 61), (61500, 62), (499, 0), (500, 1), (-499, 0), (-500, 0), (-501, -1), (-128000, -128), (0, 0)],
)
def test_halves_round_upwards_below_zero_too(milli: int, degrees: int) -> None:
    assert whole_degrees(milli) == degrees


@given(st.integers(-300_000, 300_000))
def test_a_whole_degree_is_never_more_than_half_a_degree_away(milli: int) -> None:
    assert -500 <= whole_degrees(milli) * 1000 - milli <= 500


@pytest.mark.parametrize(
    ("data", "number"),
    [
        *[(b"45000", 45000), (b" 45000 \n", 45000), (b"-5\n", -5), (b"", None), (b"abc", None), (b"45.0", None)],
        *[(b"0x1F", None), (b"1_000", None), (b"\xff", None), (b"4 5", None), ("٤٥".encode(), None)],
    ],
)
def test_numbers(data: bytes, number: int | None) -> None:
    assert parse_number(data) == number


@given(st.binary(max_size=64))
def test_no_bytes_make_the_number_parser_raise(data: bytes) -> None:
    value = parse_number(data)
    assert value is None or int(data) == value


@given(st.text())
def test_printable_text_cannot_move_a_cursor(text: str) -> None:
    safe = printable(text)
    assert safe.isprintable() or all(char.isprintable() or char.isspace() for char in safe)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in safe)
    assert "\n" not in safe
    assert len(safe) <= 200


def test_escape_codes_are_shown_and_brackets_stay() -> None:
    assert printable("\x1b[2J[red]hot[/red]") == "\\x1b[2J[red]hot[/red]"
    assert printable("a\u202eb") == "a\\u202eb"
    assert printable("x" * 300, 10) == "x" * 9 + "…"


def test_limits_that_are_markers_are_none() -> None:
    limits = make_limits(Quantity.TEMPERATURE, {"max": 65_261_850, "min": -273_150, "crit": 0, "max_hyst": 75_000})
    assert (limits.max, limits.min, limits.crit, limits.max_hyst) == (None, None, None, 75.0)


@given(st.dictionaries(st.sampled_from(["max", "crit", "emergency", "min", "lcrit", "max_hyst"]), st.integers()))
def test_no_limit_is_out_of_this_world(raw: dict[str, int]) -> None:
    limits = make_limits(Quantity.TEMPERATURE, raw)
    for value in (limits.max, limits.crit, limits.emergency):
        assert value is None or 0 < value < 200


def test_constants_of_drivers_are_no_bar() -> None:
    limits = make_limits(Quantity.TEMPERATURE, {"max": 70_000})
    assert bar_limit("k10temp", Quantity.TEMPERATURE, limits) is None
    assert bar_limit("nvme", Quantity.TEMPERATURE, limits) == 70.0
    assert bar_limit("nvme", Quantity.FAN, limits) is None


@given(
    st.sampled_from(["coretemp", "k10temp", "nct6779", "acpitz", "nvme", "thinkpad", "x"]),
    st.sampled_from(list(Quantity)),
    st.one_of(st.none(), st.text(max_size=5)),
    st.integers(-(1 << 70), 1 << 70),
)
def test_every_raw_value_is_either_believed_or_explained(
    chip: str, quantity: Quantity, label: str | None, raw: int
) -> None:
    state, reason = judge(chip, quantity, label, raw)
    assert (state is State.OK) == (reason == "")


@pytest.mark.parametrize(
    ("chip", "raw", "state"),
    [
        ("k10temp", 0, State.IMPLAUSIBLE),
        ("k10temp", 125, State.OK),
        ("coretemp", 0, State.OK),
        ("acpitz", 0, State.IMPLAUSIBLE),
        ("acpitz", 127_000, State.IMPLAUSIBLE),
        ("nct6779", -60_000, State.IMPLAUSIBLE),
        ("nct6779", 113_000, State.IMPLAUSIBLE),
        ("coretemp", 101_000, State.OK),
        ("nvme", 65_261_850, State.IMPLAUSIBLE),
        ("asus", 216_000, State.IMPLAUSIBLE),
    ],
)
def test_impossible_temperatures(chip: str, raw: int, state: State) -> None:
    assert judge(chip, Quantity.TEMPERATURE, "L", raw)[0] is state


def test_a_jump_is_noise_but_never_on_the_cpu() -> None:
    assert is_jump("nct6779", Quantity.TEMPERATURE, 20_000, 95_000)
    assert not is_jump("coretemp", Quantity.TEMPERATURE, 20_000, 95_000)
    assert not is_jump("nct6779", Quantity.FAN, 0, 95_000)


@given(st.text())
def test_no_text_makes_the_proc_parsers_raise(text: str) -> None:
    parse_stat(text)
    parse_loadavg(text)
    parse_cpuinfo(text)
    parse_os_release(text)
    assert all(cpu >= 0 for cpu in parse_cpu_list(text))


def test_proc_stat() -> None:
    assert parse_stat("cpu  100 5 50 800 40 3 2 0 0 0\ncpu0 1 2 3 4\n") == (160, 840)
    assert parse_stat("cpu0 1 2 3 4 5 6") is None
    assert parse_stat("cpu a b c d e") is None


@given(st.sets(st.integers(0, 400), max_size=30))
def test_a_list_of_cpus_comes_back(cpus: set[int]) -> None:
    assert set(parse_cpu_list(",".join(map(str, sorted(cpus))))) == cpus


def test_ranges_of_cpus() -> None:
    assert parse_cpu_list("0-3,8\n") == (0, 1, 2, 3, 8)
    assert parse_cpu_list("0 1 x 3-") == (0, 1)


def test_cpuinfo_and_os_release() -> None:
    cpu = parse_cpuinfo("vendor_id\t: AuthenticAMD\nmodel name\t: Ryzen\nflags\t\t: fpu hypervisor\n")
    assert (cpu.vendor, cpu.model, cpu.virtual) == ("AuthenticAMD", "Ryzen", True)
    assert parse_os_release('NAME="Debian GNU/Linux"\n# c\nID=debian\nbroken\n') == {
        "NAME": "Debian GNU/Linux",
        "ID": "debian",
    }


@given(st.integers(1, 1 << 40), st.data())
def test_energy_is_right_over_one_wrap(limit: int, data: st.DataObject) -> None:
    before = data.draw(st.integers(0, limit))
    used = data.draw(st.integers(0, limit))
    assert unwrap(before, (before + used) % (limit + 1), limit) == used
