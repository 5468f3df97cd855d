"""What the terminal receives: the alternate screen is left, its settings are restored, NO_COLOR has no colour."""

from __future__ import annotations

import base64
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.captures import find_capture
from tests.terminal.support import Terminal, child_environ, toolkit_argv

pytestmark = pytest.mark.terminal

MACHINE = str(find_capture("framework13-intel"))
ENTER_ALTERNATE, LEAVE_ALTERNATE = b"\x1b[?1049h", b"\x1b[?1049l"
Open = Callable[..., Terminal]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def factory(
        *args: str, environ: dict[str, str] | None = None, argv: list[str] | None = None, **popen: Any
    ) -> Terminal:
        command = argv if argv is not None else toolkit_argv("--from", MACHINE, *args)
        terminal = Terminal(command, child_environ(tmp_path, **(environ or {})), **popen)
        opened.append(terminal)
        return terminal

    yield factory
    for terminal in opened:
        terminal.close()


def assert_restored(terminal: Terminal) -> None:
    assert terminal.raw.count(ENTER_ALTERNATE) == terminal.raw.count(LEAVE_ALTERNATE) == 1
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l"), "the cursor is hidden"
    assert terminal.raw.rfind(b"\x1b[?1000l") > terminal.raw.rfind(b"\x1b[?1000h"), "the mouse is still taken"
    assert terminal.modes == terminal.before


def test_terminal_is_restored_at_the_end(start: Open) -> None:
    terminal = start()
    terminal.wait_for("max ")
    terminal.send("q")
    assert terminal.wait_for_end() == 0
    assert_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminal_is_restored_when_told_to_end(start: Open, number: signal.Signals) -> None:
    terminal = start()
    terminal.wait_for("max ")
    terminal.process.send_signal(number)
    assert terminal.wait_for_end() == 128 + number
    assert_restored(terminal)


CRASH = """
import sys
from screens.overview import OverviewScreen
def broken(self, snapshot):
    raise ZeroDivisionError("a bug of ours")
OverviewScreen.on_snapshot = broken
from toolkit.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("debug", [False, True])
def test_crash_restores_the_terminal_and_is_one_line(start: Open, tmp_path: Path, debug: bool) -> None:
    argv = [toolkit_argv()[0], "-c", CRASH, "--from", MACHINE, *(["--debug"] if debug else [])]
    terminal = start(argv=argv)
    assert terminal.wait_for_end() == 1
    assert_restored(terminal)
    said = terminal.raw.partition(LEAVE_ALTERNATE)[2].decode(errors="replace")
    assert "ZeroDivisionError" in said
    if debug:
        assert "on_snapshot" in said or "broken" in said
    else:
        assert "toolkit: stopped by a fault of its own" in said
        assert "Traceback" not in said
        kept = (tmp_path / ".local/state/toolkit/crash.txt").read_text()
        assert "Traceback" in kept
        assert "in broken" in kept


@pytest.mark.parametrize("option", ["--screen", "--theme"])
def test_wrong_name_is_one_line_and_status_2(start: Open, option: str) -> None:
    terminal = start(option, "nowhere")
    assert terminal.wait_for_end() == 2
    assert "'nowhere'" in terminal.text
    assert "Traceback" not in terminal.text
    assert ENTER_ALTERNATE not in terminal.raw


def test_no_mouse_leaves_the_mouse_alone(start: Open) -> None:
    terminal = start("--no-mouse")
    terminal.wait_for("max ")
    terminal.send("Q")
    assert terminal.wait_for_end() == 0
    assert b"\x1b[?1000h" not in terminal.raw


@pytest.mark.parametrize(("args", "environ"), [(["--no-color"], {}), ([], {"NO_COLOR": "1"})])
def test_no_color_sends_greys_only(start: Open, args: list[str], environ: dict[str, str]) -> None:
    terminal = start(*args, environ={**environ, "COLORTERM": "truecolor"})
    terminal.wait_for("max ")
    terminal.send("2")
    terminal.wait_for("SENSOR")
    terminal.send("Q")
    terminal.wait_for_end()
    colours = set(re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)", terminal.raw))
    assert colours
    for red, green, blue in colours:
        assert max(int(red), int(green), int(blue)) - min(int(red), int(green), int(blue)) <= 3, (red, green, blue)
    assert not re.search(rb"\x1b\[(?:\d+;)*(?:3|4|9|10)[1-6](?:;\d+)*m", terminal.raw)


def test_linux_console_gets_its_sixteen_colours_and_halves(start: Open) -> None:
    terminal = start(environ={"TERM": "linux"})
    text = terminal.wait_for("max ")
    terminal.send("Q")
    terminal.wait_for_end()
    assert b"38;2;" not in terminal.raw
    assert b"38;5;" not in terminal.raw
    assert " > CPU" in text
    assert not set("▁▂▃▅▆▇▸") & set(text)


def test_copy_is_osc_52_with_the_text(start: Open) -> None:
    terminal = start()
    terminal.wait_for("max ")
    terminal.send("y")
    terminal.wait_for("Copied the row")
    terminal.send("Q")
    terminal.wait_for_end()
    found = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", terminal.raw)
    assert found is not None
    assert base64.b64decode(found[1]).decode().startswith("CPU: ")


def test_screen_is_drawn_on_the_terminal_even_where_stderr_is_a_file(start: Open, tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        terminal = start(stderr=log)
        terminal.wait_for("toolkit  Overview")
        terminal.send("q")
        assert terminal.wait_for_end() == 0
    assert (tmp_path / "log").read_bytes() == b""
    assert_restored(terminal)


def test_probe_that_hangs_does_not_keep_the_program(start: Open) -> None:
    slow = [toolkit_argv()[0], "-c", HANG, "--from", MACHINE]
    terminal = start(argv=slow)
    terminal.wait_for("Looking at the sensors")
    terminal.send("2")
    terminal.wait_for("toolkit  Temperatures")
    terminal.send("Q")
    assert terminal.wait_for_end() == 0


HANG = """
import sys, time
from toolkit.sensors.monitor import ThermalMonitor
ThermalMonitor.snapshot = lambda self: time.sleep(3600)
from toolkit.cli import main
sys.exit(main(sys.argv[1:]))
"""
