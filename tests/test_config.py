"""Settings: read, complained about, written back with the comments kept."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.config import Settings, TemperatureSettings, _merged, folders, load_settings, parse_settings, save_settings
from toolkit.errors import ToolkitError
from toolkit.sensors.model import Rule


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def write(home: dict[str, str], text: str) -> Path:
    path = Path(folders(home).config_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_folders_follow_xdg_and_ignore_a_relative_value() -> None:
    found = folders({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"})
    assert (found.config, found.state, found.cache) == ("/c/toolkit", "/h/.local/state/toolkit", "/h/.cache/toolkit")


def test_no_file_is_no_problem(home: dict[str, str]) -> None:
    assert load_settings(home) == Settings()
    assert load_settings(home).problems == ()


def test_everything_comes_back(home: dict[str, str]) -> None:
    wanted = Settings(
        theme="nord",
        temperatures=TemperatureSettings(
            interval_s=0.5,
            rule=Rule.TCTL,
            read_disks=True,
            hidden=frozenset({'a "quoted" id', "b"}),
            pinned=("c", "d"),
            names={"c": "The [CPU]"},
            thresholds={"c": 90.0},
            history_minutes=60,
        ),
    )
    save_settings(home, wanted)
    assert load_settings(home) == wanted
    assert load_settings(home).problems == ()


def test_comments_and_unknown_keys_stay(home: dict[str, str]) -> None:
    path = write(
        home, '# mine\ntheme = "dark" # because\nfuture = 3\n\n[temperatures]\n# the disks are old\nread_disks = true\n'
    )
    save_settings(home, Settings(theme="nord", temperatures=TemperatureSettings(read_disks=True, pinned=("x",))))
    text = path.read_text()
    for kept in ("# mine", "# because", "future = 3", "# the disks are old", '"nord"', "pinned"):
        assert kept in text


def test_a_choice_taken_back_leaves_the_file(home: dict[str, str]) -> None:
    save_settings(home, Settings(temperatures=TemperatureSettings(names={"a": "b"})))
    save_settings(home, Settings())
    assert load_settings(home) == Settings()


def test_each_wrong_key_is_named_and_the_rest_holds(home: dict[str, str]) -> None:
    path = write(
        home, 'theme = 3\nthem = "x"\n[temperatures]\ninterval_s = 900\nrule = "max"\nread_disks = true\npined = []\n'
    )
    settings = load_settings(home)
    reasons = [problem.reason for problem in settings.problems]
    assert all(problem.source == str(path) for problem in settings.problems)
    assert [reason.split(":")[0] for reason in reasons] == [
        "theme", "temperatures.interval_s", "temperatures.rule", "them", "temperatures.pined",
    ]  # fmt: skip
    assert "do you mean theme?" in reasons[3]
    assert settings.temperatures.read_disks


@pytest.mark.parametrize("text", ["theme = ", "\x00", "temperatures = 3"])
def test_a_broken_file_is_one_problem(home: dict[str, str], text: str) -> None:
    write(home, text)
    assert len(load_settings(home).problems) == 1


def test_a_broken_file_is_never_overwritten(home: dict[str, str]) -> None:
    path = write(home, "theme = ")
    with pytest.raises(ToolkitError, match="not valid TOML"):
        save_settings(home, Settings(theme="nord"))
    assert path.read_text() == "theme = "


def test_a_link_to_a_dotfile_stays_a_link(home: dict[str, str], tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    path = Path(folders(home).config_file)
    path.parent.mkdir(parents=True)
    path.symlink_to(real)
    save_settings(home, Settings(theme="nord"))
    assert path.is_symlink()
    assert "nord" in real.read_text()


def test_a_home_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ToolkitError, match="cannot be kept"):
        save_settings({"HOME": str(blocked)}, Settings(theme="nord"))
    assert os.listdir(tmp_path) == ["file"]


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["theme", "temperatures", "x"]),
        json_like | st.dictionaries(st.sampled_from([*TemperatureSettings.__dataclass_fields__, "y"]), json_like),
    )
)
def test_no_table_makes_the_parser_raise(table: dict[str, object]) -> None:
    settings = parse_settings(table, "config.toml")
    assert 0.05 <= settings.temperatures.interval_s <= 60
    assert settings.temperatures.history_minutes in (1, 10, 60)


def _choices(**chosen: object) -> Settings:
    return Settings(temperatures=TemperatureSettings(**chosen))  # type: ignore[arg-type]


def test_two_that_run_at_once_lose_nothing_of_each_other(home: dict[str, str]) -> None:
    start = load_settings(home)
    first = _choices(hidden=frozenset({"a"}), pinned=("b",))
    save_settings(home, first, start)
    second = _choices(names={"c": "Third"}, thresholds={"c": 90.0})
    seen = save_settings(home, second, start)
    assert seen.temperatures == _choices(
        hidden=frozenset({"a"}), pinned=("b",), names={"c": "Third"}, thresholds={"c": 90.0}
    ).temperatures  # fmt: skip
    third = _choices(hidden=frozenset({"a"}), pinned=("b",), thresholds={"d": 1.0})
    save_settings(home, third, first)
    assert dict(load_settings(home).temperatures.thresholds) == {"c": 90.0, "d": 1.0}
    assert load_settings(home).temperatures.names == {"c": "Third"}


_IDS = st.sampled_from("abcd")
_ANY = st.builds(
    _choices,
    hidden=st.frozensets(_IDS),
    pinned=st.lists(_IDS, unique=True).map(tuple),
    names=st.dictionaries(_IDS, st.sampled_from(["x", "y"])),
    thresholds=st.dictionaries(_IDS, st.sampled_from([1.0, 2.0])),
    interval_s=st.sampled_from([0.5, 1.0, 2.0]),
)


@given(_ANY, _ANY, _ANY)
def test_what_was_changed_here_holds_and_what_was_not_is_as_there(
    before: Settings, after: Settings, now: Settings
) -> None:
    merged, old, new, there = (s.temperatures for s in (_merged(before, after, now), before, after, now))
    for table in ("names", "thresholds"):
        for key in "abcd":
            was, is_now = getattr(old, table).get(key), getattr(new, table).get(key)
            expected = is_now if was != is_now else getattr(there, table).get(key)
            assert getattr(merged, table).get(key) == expected
    for key in "abcd":
        for collection in ("hidden", "pinned"):
            was, is_now = key in getattr(old, collection), key in getattr(new, collection)
            expected = is_now if was != is_now else key in getattr(there, collection)
            assert (key in getattr(merged, collection)) is expected
    assert len(set(merged.pinned)) == len(merged.pinned)
    assert _merged(before, after, before).temperatures == replace(
        after.temperatures, pinned=_merged(before, after, before).temperatures.pinned
    )
