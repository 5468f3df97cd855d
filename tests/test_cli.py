"""The command line, in this process: parsing, exit statuses, where data and diagnostics go."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.captures import find_capture
from toolkit.cli import COMMANDS, build_parser, main
from toolkit.commands.temps_output import FIELDS, check_format
from toolkit.errors import UsageError

INTEL = str(find_capture("T01"))
NO_CPU = str(find_capture("T14"))


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)


def test_the_headline_is_one_bare_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--headline", "--from", INTEL]) == 0
    assert capsys.readouterr() == ("54\n", "")


def test_no_headline_prints_nothing_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--headline", "--from", NO_CPU]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("toolkit: no CPU sensor")
    assert err.count("\n") == 1


@pytest.mark.parametrize("before", [True, False])
def test_global_options_stand_before_or_after_the_command(before: bool, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--from", INTEL, "--json"]
    assert main([*words, "temps"] if before else ["temps", *words]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == 1
    assert answer["data"]["headline"] | {"celsius": 54, "rule": "best", "reason": None} == answer["data"]["headline"]


def test_json_names_every_sensor_with_its_state(capsys: pytest.CaptureFixture[str]) -> None:
    main(["temps", "--json", "--from", INTEL])
    sensors = json.loads(capsys.readouterr().out)["data"]["sensors"]
    keys = {"chip", "device", "index", "label", "quantity", "value", "unit", "state", "reason", "max", "crit"}
    assert all(keys <= set(sensor) for sensor in sensors)
    package = next(sensor for sensor in sensors if sensor["label"] == "Package id 0")
    assert (package["value"], package["unit"], package["state"], package["crit"]) == (54.0, "celsius", "ok", 105.0)


def test_json_without_a_headline_is_null_with_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--json", "--from", NO_CPU]) == 1
    headline = json.loads(capsys.readouterr().out)["data"]["headline"]
    assert headline["celsius"] is None
    assert headline["reason"]


def test_a_format_is_filled_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--format", "{{{celsius}}} {source} {class} {watts}|", "--from", INTEL]) == 0
    assert capsys.readouterr().out == "{54} coretemp · Package id 0 ok |\n"


@pytest.mark.parametrize("text", ["{celsus}", "{", "{celsius:3}", "{celsius!r}", "{}", "{0.x}"])
def test_a_bad_format_is_one_line_and_usage(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--format", text, "--from", INTEL]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("toolkit: --format:")
    assert err.count("\n") == 1


@given(st.text())
def test_no_format_raises_anything_but_usage(text: str) -> None:
    with contextlib.suppress(UsageError):
        check_format(text)


def test_every_field_has_a_value_on_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    for name in FIELDS:
        assert main(["temps", "--format", f"[{{{name}}}]", "--demo"]) == 0
    assert capsys.readouterr().out.count("\n") == len(FIELDS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["tems"], "do you mean temps?"),
        (["temps", "--", "sleep", "1"], "--record"),
        (["paths", "--", "x"], "--record"),
        (["temps", "--watch", "0.01", "--demo"], "at least"),
        (["temps", "--rate", "50", "--demo"], "0.1 to 20"),
        (["temps", "--record", "x", "--settle", "1e9", "--demo"], "at most 8,640,000"),
        (["temps", "--record", "x", "--settle", "nan", "--demo"], "must be more than 0"),
        (["--from", "/nowhere/at/all", "temps"], "/nowhere/at/all"),
        (["temps", "--rule", "max"], "tctl"),
    ],
)
def test_usage_errors_have_status_2_and_say_what_to_do(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_elsewhere_than_on_a_terminal_the_overview_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--from", INTEL]) == 0
    assert "CPU 54 °C" in capsys.readouterr().out


def test_the_demo_stands_in_only_when_asked_and_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    assert main(["temps", "--root", str(bare)]) == 1
    assert "demo" not in capsys.readouterr().err
    assert main(["temps", "--root", str(bare), "--or-demo"]) == 0
    assert "not this one" in capsys.readouterr().err
    main(["temps", "--headline", "--from", INTEL, "--or-demo"])
    assert capsys.readouterr() == ("54\n", "")


def test_the_whole_tree_of_commands_can_be_built() -> None:
    text = build_parser().format_help()
    assert all(name in text for name in COMMANDS)


def test_a_fault_of_the_program_is_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> int:
        raise RuntimeError("x")

    monkeypatch.setattr("toolkit.commands.temps.run", broken)
    assert main(["temps", "--from", INTEL]) == 1
    err = capsys.readouterr().err
    assert "--debug" in err
    assert "Traceback" not in err
    with pytest.raises(RuntimeError):
        main(["temps", "--from", INTEL, "--debug"])


def test_a_format_with_a_difference_looks_twice(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["temps", "--demo", "--format", "{watts} {load}"]) == 0
    watts, load = capsys.readouterr().out.split()
    assert float(watts) > 0
    assert 0 <= float(load) <= 100
