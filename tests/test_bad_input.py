"""What a person gets wrong, from end to end: one clear line on stderr, the right exit status, never a traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LANG": "C.UTF-8"}
TOOLKIT = [sys.executable, "-m", "toolkit"]
GOOD = (
    "sys/class/hwmon/hwmon0/name = coretemp",
    "sys/class/hwmon/hwmon0/temp1_label = Package id 0",
    "sys/class/hwmon/hwmon0/temp1_input = 51000",
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Run:
    """Run `toolkit ARGV` in an empty folder with an empty home."""
    place = tmp_path / "place"
    place.mkdir()

    def call(*argv: str, env: Mapping[str, str] | None = None, **options: object) -> subprocess.CompletedProcess[str]:
        environ = {**ENVIRONMENT, "HOME": str(home)} if env is None else {**ENVIRONMENT, **env}
        defaults = {"cwd": place, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.run([*TOOLKIT, *argv], env=environ, text=True, timeout=60, **{**defaults, **options})  # type: ignore[call-overload, no-any-return]

    return call


def settings(home: Path, text: str) -> Path:
    path = home / ".config/toolkit/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def capture(tmp_path: Path, *tree: str, meta: str = '{"schema": 1, "taken_at": 1790000000}') -> str:
    folder = tmp_path / "capture"
    folder.mkdir()
    (folder / "meta.json").write_text(meta)
    (folder / "tree.txt").write_text("\n".join(tree) + "\n")
    return str(folder)


def one_line(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    """The command ended with this status, and said all these words in one line on stderr, and nothing else."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("toolkit: ")
    for word in words:
        assert word in lines[0]


def fine(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


# --- the command line ----------------------------------------------------------------------------


def test_an_unknown_command_gets_a_suggestion(run: Run) -> None:
    one_line(run("tmeps"), 2, "tmeps", "temps")


def test_an_unknown_option(run: Run) -> None:
    one_line(run("temps", "--demo", "--no-such-option"), 2, "--no-such-option")


def test_an_unknown_format_field_is_named_with_those_there_are(run: Run) -> None:
    one_line(run("temps", "--demo", "--format", "{colour} °C"), 2, "colour", "celsius")


@pytest.mark.parametrize("text", ["{", "}", "{}", "{0}", "{celsius.real}", "{celsius!r}", "{celsius:Q}"])
def test_a_broken_format(run: Run, text: str) -> None:
    one_line(run("temps", "--demo", "--format", text), 2, "--format")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_an_interval_that_is_none(run: Run, seconds: str) -> None:
    one_line(run("temps", "--demo", "--watch", seconds), 2, "--watch")


@pytest.mark.parametrize(
    "argv", [["--demo", "--from", "x"], ["--demo", "--root", "/tmp"], ["--from", "x", "--root", "/tmp"]]
)
def test_machines_that_exclude_each_other(run: Run, argv: list[str]) -> None:
    one_line(run(*argv, "temps"), 2, argv[0], "exclude each other")


def test_a_root_that_is_no_folder(run: Run) -> None:
    one_line(run("--root", "/no/such/folder", "temps"), 2, "/no/such/folder")


def test_a_rule_that_there_is_not(run: Run) -> None:
    one_line(run("temps", "--demo", "--rule", "guess"), 2, "guess", "best")


# --- captures ------------------------------------------------------------------------------------


def test_a_capture_that_is_not_there(run: Run) -> None:
    one_line(run("--from", "no-such.tar.gz", "temps"), 2, "no-such.tar.gz")


@pytest.mark.parametrize("meta", ["{", "[]", '{"schema": 99}', '{"schema": "one"}'])
def test_a_capture_with_broken_facts(run: Run, tmp_path: Path, meta: str) -> None:
    one_line(run("--from", capture(tmp_path, meta=meta), "temps"), 2, "meta.json")


def test_a_folder_that_is_no_capture(run: Run, tmp_path: Path) -> None:
    one_line(run("--from", str(tmp_path), "temps"), 2, "meta.json")


@pytest.mark.parametrize("line", ["a line with nothing in it", "sys/x = !NOTANERRNO", "../../etc/passwd = x"])
def test_a_broken_line_of_a_capture_is_named_and_the_rest_goes_on(run: Run, tmp_path: Path, line: str) -> None:
    done = run("--from", capture(tmp_path, *GOOD, line), "temps", "--headline")
    one_line(done, 0, "tree.txt", "4")
    assert done.stdout == "51\n"


def test_an_archive_that_is_none(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "machine.tar.gz"
    path.write_bytes(b"not gzip at all")
    one_line(run("--from", str(path), "temps"), 2, "machine.tar.gz")


def test_what_a_capture_brings_cannot_break_the_line(run: Run, tmp_path: Path) -> None:
    done = run("--from", str(tmp_path / "a\x1b[31mred\nname"), "temps")
    one_line(done, 2)
    assert "\x1b" not in done.stderr


# --- what sensors say ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "state"),
    [
        ("garbage", "unreadable"),
        (r"\xff\xfe", "unreadable"),
        ("", "unreadable"),
        ("!EIO", "unreadable"),
        ("65261850", "implausible"),
    ],
)
def test_one_bad_sensor_leaves_the_others_alone(run: Run, tmp_path: Path, content: str, state: str) -> None:
    where = capture(
        tmp_path, *GOOD, "sys/class/hwmon/hwmon1/name = nvme", f"sys/class/hwmon/hwmon1/temp1_input = {content}"
    )
    done = run("--from", where, "temps", "--json")
    assert "Traceback" not in done.stderr
    data = json.loads(done.stdout)["data"]
    assert data["headline"]["celsius"] == 51
    sensors = {sensor["chip"]: sensor for sensor in data["sensors"]}
    assert sensors["coretemp"]["value"] == 51
    assert sensors["nvme"]["state"] == state
    assert sensors["nvme"]["reason"]


def test_labels_cannot_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    bad = (
        "sys/class/hwmon/hwmon1/name = nvme",
        r"sys/class/hwmon/hwmon1/temp1_label = \x1b]0;title\x07[bold]Composite",
        "sys/class/hwmon/hwmon1/temp1_input = 40000",
    )
    text = fine(run("--from", capture(tmp_path, *GOOD, *bad), "temps"))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "[bold]" in text


def test_an_empty_label_and_a_missing_name(run: Run, tmp_path: Path) -> None:
    bad = ("sys/class/hwmon/hwmon7/temp1_label =", "sys/class/hwmon/hwmon7/temp1_input = 40000")
    text = fine(run("--from", capture(tmp_path, *GOOD, *bad), "temps"))
    assert "hwmon7" in text
    assert "temp1" in text


def test_no_headline_says_why_and_writes_nothing_to_stdout(run: Run, tmp_path: Path) -> None:
    done = run("--from", capture(tmp_path, "sys/class/hwmon/hwmon0/name = nvme"), "temps", "--headline")
    one_line(done, 1)
    assert done.stdout == ""


# --- settings and folders ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1", ["colour"]),
        ("[temperatures]\nintervall_s = 1", ["temperatures.intervall_s", "interval_s"]),
        ("[temperatures]\ninterval_s = 'soon'", ["temperatures.interval_s"]),
        ("theme = 3", ["theme"]),
        ("theme = ", ["TOML"]),
    ],
)
def test_wrong_settings_are_one_line_and_the_rest_goes_on(run: Run, home: Path, text: str, words: list[str]) -> None:
    path = settings(home, text)
    done = run("temps", "--demo", "--headline")
    one_line(done, 0, str(path), *words)
    assert done.stdout.strip().isdecimal()


def test_settings_that_are_no_text(run: Run, home: Path) -> None:
    path = settings(home, "")
    path.write_bytes(b"\xff\xfe\x00")
    one_line(run("temps", "--demo", "--headline"), 0, str(path))


def test_without_a_home(run: Run) -> None:
    assert fine(run("temps", "--demo", "--headline", env={})).strip().isdecimal()


@pytest.mark.parametrize("where", ["/dev/null/nowhere", "/proc/1/nowhere", "relative"])
def test_a_home_that_cannot_be_written(run: Run, where: str) -> None:
    assert fine(run("temps", "--demo", "--headline", env={"HOME": where})).strip().isdecimal()


def test_recording_to_a_folder_that_is_not_there(run: Run) -> None:
    done = run("temps", "--demo", "--record", "/no/such/folder/run.csv", "--", "true")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "/no/such/folder" in done.stderr


def test_comparing_what_is_no_recording(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"\x00\x01garbage")
    one_line(run("temps", "--compare", str(path), str(path)), 2, "a.csv")


# --- the ends of the pipe ------------------------------------------------------------------------


def test_a_reader_that_goes_away_is_no_error(home: Path, tmp_path: Path) -> None:
    """`toolkit temps --watch 0.05 --json --demo | head -1` ends by itself and says nothing."""
    command = [*TOOLKIT, "temps", "--demo", "--json", "--watch", "0.05"]
    env = {**ENVIRONMENT, "HOME": str(home)}
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["schema"] == 1
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait(timeout=20)


def test_a_stdout_that_is_closed_from_the_start(run: Run) -> None:
    done = run("temps", "--demo", stdout=None, preexec_fn=lambda: os.close(1))
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_full_disk_behind_stdout(run: Run) -> None:
    with open("/dev/full", "w") as full:
        done = run("temps", "--demo", "--json", stdout=full)
    one_line(done, 1, "No space left")


def test_ctrl_c_ends_quietly(home: Path, tmp_path: Path) -> None:
    command = [*TOOLKIT, "temps", "--demo", "--json", "--watch", "0.2"]
    env = {**ENVIRONMENT, "HOME": str(home)}
    with subprocess.Popen(command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        error = process.stderr.read()
        assert process.wait(timeout=20) == 130
        assert error == b""


def test_ctrl_c_while_it_starts(home: Path, tmp_path: Path) -> None:
    """At whatever moment: 130 (or the signal itself, before Python listens) and never a traceback of ours."""
    env = {**ENVIRONMENT, "HOME": str(home)}
    for delay_s in (0.06, 0.09, 0.12):
        command = [*TOOLKIT, "temps", "--demo", "--watch", "0.2"]
        with subprocess.Popen(
            command, env=env, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            assert process.stderr is not None
            time.sleep(delay_s)
            process.send_signal(signal.SIGINT)
            error = process.stderr.read().decode()
            process.wait(timeout=20)
            assert "toolkit/commands" not in error


def test_debug_shows_the_traceback(run: Run) -> None:
    done = run("--debug", "--from", "no-such", "temps")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("words", [("--version",), ("temps", "--demo"), ("temps", "--demo", "--json"), ("paths",)])
def test_an_output_that_takes_nothing_is_said(run: Run, words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = run(*words, stdout=full)
    assert (done.returncode, done.stderr) == (1, "toolkit: the output cannot be written: No space left on device\n")


def test_a_closed_output_is_said(home: Path) -> None:
    words = f"{sys.executable} -m toolkit temps --demo >&-"
    done = subprocess.run(
        ["sh", "-c", words], env={**ENVIRONMENT, "HOME": str(home)}, stderr=subprocess.PIPE, text=True
    )
    assert (done.returncode, done.stderr) == (1, "toolkit: there is no stdout to write to\n")


def test_a_terminal_without_the_degree_sign_gets_the_rest(run: Run) -> None:
    done = run("temps", "--demo", env={"PYTHONIOENCODING": "ascii", "HOME": "/nonexistent"})
    assert done.returncode == 0
    assert " ?C" in done.stdout


def test_a_command_without_its_dashes_is_told_where_it_stands(run: Run) -> None:
    done = run("temps", "--demo", "--record", "F", "true")
    assert done.returncode == 2
    assert "a command stands after --: toolkit temps --record FILE -- COMMAND" in done.stderr


def test_a_capture_is_no_zip(run: Run) -> None:
    done = run("capture", "machine.zip", "--demo")
    assert done.returncode == 2
    assert done.stderr.endswith("machine.zip: a capture is a .tar.gz or a folder (give a name that ends so)\n")


def test_a_wrong_threshold_is_named(run: Run, home: Path) -> None:
    settings(home, '[temperatures.thresholds]\n"k10temp/x/temp1" = "b"\n')
    assert '"k10temp/x/temp1" must be a number' in run("temps", "--demo").stderr
