"""The program in tmux: it starts, hears keys, copies, leaves the terminal as it was, and nothing stays behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.captures import find_capture
from tests.terminal.support import Tmux, toolkit_argv, wait_until

pytestmark = [
    pytest.mark.terminal,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed (apt install tmux)"),
]

MACHINE = str(find_capture("framework13-intel"))


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    server = Tmux(tmp_path)
    yield server
    server.kill()


def test_starts_hears_keys_and_leaves_nothing(tmux: Tmux) -> None:
    tmux.start("sh", "-c", 'echo before; "$@"; echo "status $?"; sleep 60', "sh", *toolkit_argv("--from", MACHINE))
    screen = tmux.wait_for("max ")
    assert screen.startswith(" toolkit  Overview")
    assert "framework13-intel" in screen
    assert tmux.ask("alternate_on") == "1"
    assert tmux.ask("mouse_any_flag") == "1"
    tmux.keys("2")
    tmux.wait_for("toolkit  Temperatures")
    tmux.keys("?")
    tmux.wait_for("Help › Temperatures")
    tmux.keys("q", "q", "q")
    screen = tmux.wait_for("status 0")
    assert tmux.ask("alternate_on") == "0"
    assert tmux.ask("mouse_any_flag") == "0"
    assert tmux.ask("cursor_flag") == "1"
    assert screen.startswith("before\n")
    assert "toolkit  Overview" not in screen


@pytest.mark.parametrize("key", ["Q", "C-c", "C-q"])
def test_every_way_out_ends_the_process(tmux: Tmux, key: str) -> None:
    tmux.start(*toolkit_argv("--from", MACHINE))
    tmux.wait_for("max ")
    tmux.keys(key)
    assert tmux.wait_for_end() == 0
    tmux.kill()
    wait_until(lambda: tmux.run("list-sessions").returncode != 0, "no server is left")


def test_copies_by_osc_52(tmux: Tmux, tmp_path: Path) -> None:
    tmux.start(*toolkit_argv("--from", MACHINE))
    tmux.wait_for("max ")
    tmux.keys("Y")
    wait_until(lambda: "toolkit  Overview" in tmux.run("show-buffer").stdout, "the page is in tmux's buffer")
    kept = (tmp_path / ".local/state/toolkit/copied.txt").read_text(encoding="utf-8")
    assert kept.startswith(" toolkit  Overview")


def test_follows_the_size_of_the_window(tmux: Tmux) -> None:
    tmux.start(*toolkit_argv("--from", MACHINE, "--screen", "temperatures"))
    tmux.wait_for("toolkit  Temperatures")
    tmux.run("resize-window", "-x", "50", "-y", "12")
    tmux.wait_for("50x12")
    tmux.run("resize-window", "-x", "120", "-y", "40")
    tmux.wait_for("SENSOR")
    wait_until(lambda: max(map(len, tmux.screen.split("\n"))) > 100, "the page takes the new width")
    tmux.keys("Q")
    assert tmux.wait_for_end() == 0
