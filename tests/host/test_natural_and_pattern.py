from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.host.natural import natural_key, natural_sorted
from toolkit.host.pattern import expand

TREE = {
    "/": ["sys", ".hidden"],
    "/sys": ["class"],
    "/sys/class": ["hwmon", "net"],
    "/sys/class/hwmon": ["hwmon10", "hwmon2", "hwmon1"],
    "/sys/class/hwmon/hwmon1": ["temp1_input", "temp10_input", "temp2_input", "name", ".x"],
    "/sys/class/hwmon/hwmon2": ["name"],
    "/sys/class/hwmon/hwmon10": ["name", "temp[1]"],
}


def listdir(path: str) -> list[str]:
    if path not in TREE:
        raise FileNotFoundError(path)
    return TREE[path]


def exists(path: str) -> bool:
    base, _, name = path.rpartition("/")
    return path in TREE or name in TREE.get(base or "/", [])


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["hwmon10", "hwmon2", "hwmon1"], ["hwmon1", "hwmon2", "hwmon10"]),
        (["temp1_max", "temp1_input", "temp01_input"], ["temp01_input", "temp1_input", "temp1_max"]),
        (["b", "a9", "a10", "a"], ["a", "a9", "a10", "b"]),
        (["9" * 5000, "8" * 5001, "1"], ["1", "9" * 5000, "8" * 5001]),
    ],
)
def test_numbers_in_names_compare_as_numbers(names: list[str], ordered: list[str]) -> None:
    assert natural_sorted(names) == ordered


@given(st.lists(st.text(max_size=12)))
def test_natural_order_is_one_fixed_order_of_any_names(names: list[str]) -> None:
    assert natural_sorted(names) == natural_sorted(reversed(names))
    assert sorted(names) == sorted(natural_sorted(names))
    assert len({natural_key(name) for name in names}) == len(set(names))


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/sys/class/hwmon/hwmon*/name", ["hwmon1/name", "hwmon2/name", "hwmon10/name"]),
        ("/sys/class/hwmon/hwmon?", ["hwmon1", "hwmon2"]),
        ("/sys/class/hwmon/hwmon1/temp*_input", [f"hwmon1/temp{n}_input" for n in (1, 2, 10)]),
        ("/sys/class/hwmon/hwmon[12]", ["hwmon1", "hwmon2"]),
        ("/sys/class/hwmon/hwmon1/.*", ["hwmon1/.x"]),
        ("/sys/class/hwmon/hwmon1/name", ["hwmon1/name"]),
        ("/sys/class/hwmon/hwmon1/absent", []),
        ("/sys/class/hwmon/*/absent", []),
        ("/absent/*", []),
        ("/sys/class/hwmon/hwmon1/name/*", []),
        ("/sys/class/hwmon/hwmon10/temp[[]1]", ["hwmon10/temp[1]"]),
    ],
)
def test_shell_patterns(pattern: str, found: list[str]) -> None:
    assert expand(pattern, listdir, exists) == [f"/sys/class/hwmon/{name}" for name in found]


def test_a_star_does_not_match_a_hidden_name_nor_a_slash() -> None:
    assert expand("/*", listdir, exists) == ["/sys"]
    assert expand("/*hwmon*", listdir, exists) == []
    assert expand("/", listdir, exists) == []


@given(st.lists(st.text(alphabet="ab1*?[]!-", min_size=1, max_size=4), max_size=8), st.text("ab1*?[]!-", min_size=1))
def test_matches_are_those_of_fnmatch(names: list[str], pattern: str) -> None:
    found = expand(f"/{pattern}", lambda _: names, lambda path: path[1:] in names)
    magic = any(mark in pattern for mark in "*?[")
    wanted = (
        [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if magic
        else [n for n in names if n == pattern][:1]
    )
    assert sorted(found) == sorted(f"/{name}" for name in wanted)
