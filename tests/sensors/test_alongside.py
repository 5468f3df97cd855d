"""A command beside a recording: exit status, signals, the stop rule, the terminal, and what `kill -9` leaves."""

from __future__ import annotations

import json
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.snapshots import PACKAGE, FakeClock, FakeMonitor, reading, simple, snapshot
from toolkit.errors import ToolkitError
from toolkit.sensors.alongside import Alongside, Interrupts, StopRule
from toolkit.sensors.loading import load_recording

ROOT = Path(__file__).parents[2]
CORETEMP = "sys/devices/platform/coretemp.0/hwmon/hwmon3"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A machine with one package sensor: 38 degrees, 71 from half a second on, 72 later."""
    folder = tmp_path / "capture"
    folder.mkdir()
    meta = {"schema": 1, "taken_at": 1796070000.0, "kernel": "6.8.0", "os_release": {}, "uid": 0}
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "tree.txt").write_text(
        f"sys/class/hwmon/hwmon3 -> ../../devices/platform/coretemp.0/hwmon/hwmon3\n"
        f"{CORETEMP}/name = coretemp\n{CORETEMP}/temp1_label = Package id 0\n{CORETEMP}/temp1_input = 38000\n"
    )
    changes = [
        {"after_s": after, "path": f"{CORETEMP}/temp1_input", "text": text}
        for after, text in ((0.5, "71000"), (0.9, "72000"))
    ]
    (folder / "changes.jsonl").write_text("".join(json.dumps(change) + "\n" for change in changes))
    return folder


class Run:
    """`toolkit temps --record` in a process of its own."""

    def __init__(self, capture: Path, file: Path) -> None:
        self.file = file
        self.words = [sys.executable, "-m", "toolkit", "temps", "--from", str(capture), "--record", str(file)]
        self.words += ["--rate", "20"]
        self.environ = dict(os.environ, HOME=str(file.parent), PYTHONPATH=str(ROOT))

    def __call__(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.words, *words], input=stdin, capture_output=True, text=True, timeout=60, env=self.environ, cwd=ROOT
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.words, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environ,
            cwd=ROOT,
        )

    def rows(self) -> int:
        path = self.file.with_suffix(".csv")
        return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture
def record(capture: Path, tmp_path: Path) -> Run:
    return Run(capture, tmp_path / "run")


def _until(what: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# Exit status


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("true",), 0),
        (("sh", "-c", "exit 7"), 7),
        (("sh", "-c", "kill -9 $$"), 137),
        (("sh", "-c", "kill -TERM $$"), 143),
        (("no-such-command-here",), 127),
        (("/etc/passwd",), 126),
    ],
)
def test_the_exit_status_is_that_of_the_command(record: Run, words: tuple[str, ...], status: int) -> None:
    done = record("--", *words)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    if status in (126, 127):
        assert done.stderr.count("\n") == 1
        assert not record.file.with_suffix(".csv").exists()
    else:
        assert load_recording(str(record.file)).facts.command.exit_status == status  # type: ignore[union-attr]


def test_an_interpreter_that_is_missing_leaves_no_file(record: Run, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = record("--", str(script))
    assert done.returncode == 126
    assert done.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.glob("run*")} == set()


def test_the_command_has_stdin_stdout_and_stderr_to_itself(record: Run) -> None:
    done = record("--", "sh", "-c", "cat; echo err >&2", stdin="through\n")
    assert done.stdout == "through\n"
    assert done.stderr.startswith("err\n\nRecorded ")


def test_the_cpu_time_of_the_command_is_told(record: Run) -> None:
    # A child inherits the peak of the process that started it, so the command must outgrow this test run.
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 + (80 << 20)
    record("--", sys.executable, "-c", f"x = bytearray({size})\nfor i in range(3000000): pass")
    command = load_recording(str(record.file)).facts.command
    assert command is not None
    assert command.user_s is not None
    assert command.user_s > 0.02
    assert command.peak_bytes is not None
    assert command.peak_bytes > size
    assert command.peak_at_most is False


# Signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_reaches_the_whole_group_and_the_files_are_written(record: Run, tmp_path: Path, number: int) -> None:
    name = signal.Signals(number).name[3:]
    script = f"trap 'echo got {name}; exit 9' {name}; sh -c 'echo $$ >{tmp_path}/pid; exec sleep 60' & wait"
    process = record.start("--", "sh", "-c", script)
    _until(lambda: record.rows() > 3 and (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    process.send_signal(number)
    process.wait(timeout=20)
    if number == signal.SIGINT:  # a shell without job control lets its background jobs ignore SIGINT
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 9
    assert out == f"got {name}\n"
    assert "exit status 9" in err
    _until(lambda: not _lives(int((tmp_path / "pid").read_text())))
    loaded = load_recording(str(record.file))
    assert loaded.notes == ()
    assert loaded.summary.samples > 2


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_without_a_command_a_signal_ends_the_recording(record: Run, number: int, status: int) -> None:
    process = record.start()
    _until(lambda: record.rows() > 3)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == status
    assert "Recorded" in err
    assert load_recording(str(record.file)).notes == ()


def test_seconds_end_it(record: Run) -> None:
    done = record("--seconds", "0.5", "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)["data"]
    assert data["duration_s"] == pytest.approx(0.5, abs=0.2)
    assert data["headline"]["min"] == 38.0


def test_kill_9_loses_at_most_the_row_in_flight(record: Run, tmp_path: Path) -> None:
    process = record.start("--", "sh", "-c", f"echo $$ >{tmp_path}/pid; exec sleep 60")
    _until(lambda: record.rows() > 10)
    rows = record.rows()
    process.kill()
    process.wait(timeout=20)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    process.communicate(timeout=20)
    loaded = load_recording(str(record.file))
    assert loaded.summary.samples >= rows - 1
    assert "it was not ended properly; what had been written is used" in loaded.notes
    assert loaded.facts.command is not None
    assert loaded.facts.command.argv[0] == "sh"


def test_a_fault_while_sampling_loses_neither_the_command_nor_the_rows(record: Run, tmp_path: Path) -> None:
    broken = (
        "import sys\nfrom toolkit.sensors.monitor import ThermalMonitor\n"
        "real, left = ThermalMonitor.snapshot, [5]\n"
        "def snapshot(self, *args, **words):\n"
        "    left[0] -= 1\n"
        "    if left[0] < 0: raise RuntimeError('boom')\n"
        "    return real(self, *args, **words)\n"
        "ThermalMonitor.snapshot = snapshot\n"
        "from toolkit.cli import main\nsys.exit(main())\n"
    )
    record.words[1:3] = ["-c", broken]
    done = record("--", "sh", "-c", f"sleep 0.5; touch {tmp_path}/ended; exit 4")
    assert done.returncode == 4
    assert (tmp_path / "ended").exists()
    assert "sampling ended early by a fault in the program: RuntimeError: boom" in done.stderr
    loaded = load_recording(str(record.file))
    assert loaded.notes == ()
    assert loaded.summary.samples == 5


# The terminal


def _in_a_terminal(record: Run, words: list[str], keys: Callable[[str], Iterator[bytes]]) -> tuple[int, str]:
    """Run it on a terminal of its own; type what `keys` yields for the output so far."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(sys.executable, [*record.words, *words], record.environ)
    output, deadline = "", time.monotonic() + 30
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.02)[0]:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            output += data.decode("utf-8", "replace")
        for key in keys(output):
            os.write(terminal, key)
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), output


@pytest.mark.terminal
def test_ctrl_c_goes_to_the_command_and_the_recorder_finishes(record: Run) -> None:
    typed: list[int] = []

    def keys(output: str) -> Iterator[bytes]:
        # Once when it is ready, and a second time when it has said that the first one was not enough.
        if (len(typed) == 0 and "ready" in output) or (len(typed) == 1 and "first" in output):
            typed.append(1)
            yield b"\x03"

    script = (
        "import signal,time\n"
        "def once(*_):\n    signal.signal(signal.SIGINT, lambda *_: exit(5)); print('first', flush=True)\n"
        "signal.signal(signal.SIGINT, once)\nprint('ready', flush=True)\n"
        "while True: time.sleep(1)\n"
    )
    status, output = _in_a_terminal(record, ["--", sys.executable, "-c", script], keys)
    assert status == 5
    assert output.count("^C") == 2
    assert "exit status 5" in output
    assert load_recording(str(record.file)).notes == ()


@pytest.mark.terminal
def test_the_command_may_read_from_the_terminal(record: Run) -> None:
    typed: list[int] = []

    def keys(output: str) -> Iterator[bytes]:
        if not typed and "name?" in output:
            typed.append(1)
            yield b"Ada\n"

    status, output = _in_a_terminal(record, ["--", "sh", "-c", 'echo "name?"; read x; echo "hello $x"'], keys)
    assert status == 0
    assert "hello Ada" in output


@pytest.mark.terminal
def test_ctrl_c_ends_a_recording_without_a_command(record: Run) -> None:
    typed: list[int] = []

    def keys(output: str) -> Iterator[bytes]:
        if not typed and "Ctrl+C ends it" in output and record.rows() > 5:
            typed.append(1)
            yield b"\x03"

    status, output = _in_a_terminal(record, [], keys)
    assert status == 0
    assert "Recorded" in output


# The stop rule (s-tui #151: a rule that never fires)


def test_the_rule_acts_once_at_the_first_snapshot_above() -> None:
    rule = StopRule(40.0)
    rule.check_start(simple(0.0, 38.0))
    assert rule.look(simple(0.0, 38.0)) == ""
    assert rule.look(simple(0.5, 40.0)) == ""
    assert rule.look(simple(1.0, 71.0)) == "coretemp · Package id 0 reached 71 °C, above the limit of 40 °C"
    assert rule.look(simple(2.0, 72.0)) == ""


def test_the_rule_refuses_to_start_where_it_cannot_work() -> None:
    with pytest.raises(ToolkitError, match="not started: coretemp · Package id 0 reached 71 °C"):
        StopRule(40.0).check_start(simple(0.0, 71.0))
    with pytest.raises(ToolkitError, match="no CPU temperature here to stop by: no CPU sensor"):
        StopRule(40.0).check_start(snapshot(0.0, [reading(PACKAGE, None)], None))


def test_the_rule_ends_the_whole_group_and_the_report_says_why(record: Run, tmp_path: Path) -> None:
    script = f"sh -c 'echo $$ >{tmp_path}/pid; exec sleep 60' & sleep 60"
    done = record("--stop-above", "40", "--", "sh", "-c", script)
    assert done.returncode == 143
    _until(lambda: not _lives(int((tmp_path / "pid").read_text())))
    why = "coretemp · Package id 0 reached 71 °C, above the limit of 40 °C"
    assert why in " ".join(done.stderr.split())
    facts = load_recording(str(record.file)).facts
    assert [event.text for event in facts.events if event.kind == "stop"] == [why]
    assert facts.command is not None
    assert facts.command.stopped_by == why


def test_the_rule_does_not_start_what_is_too_hot_already(record: Run) -> None:
    done = record("--stop-above", "30", "--", "true")
    assert done.returncode == 1
    assert done.stderr.startswith("toolkit: not started: coretemp · Package id 0 reached 38 °C")
    assert not record.file.with_suffix(".csv").exists()


class FakeChild:
    """A command that ends `after` a signal, or never."""

    pid = 2**22 + 1  # above the greatest pid: no such group

    def __init__(self, ends_by: int) -> None:
        self.ends_by = ends_by
        self.signals: list[int] = []

    def poll(self) -> int | None:
        return -self.ends_by if self.ends_by in self.signals else None

    def wait(self, timeout: float | None = None) -> int | None:
        return self.poll()

    def signal(self, number: int) -> None:
        self.signals.append(number)


def test_what_does_not_end_by_sigterm_gets_sigkill_after_the_grace() -> None:
    child = FakeChild(signal.SIGKILL)
    beside = Alongside(child, grace_s=0.05)
    beside.stop("too hot")
    beside.stop("too hot again")
    assert not beside.ended()
    assert child.signals == [signal.SIGTERM]
    with pytest.raises(ValueError, match="still runs"):
        beside.exit_status()
    _until(beside.ended)
    assert child.signals == [signal.SIGTERM, signal.SIGKILL]
    assert beside.exit_status() == 137
    assert beside.stopped_by == "too hot"
    beside.end_group()


def test_what_is_left_of_the_group_after_its_leader_ended_is_killed(tmp_path: Path) -> None:
    from toolkit.host.local import LocalHost

    script = f"sh -c 'trap \"\" TERM; echo $$ >{tmp_path}/pid; while :; do sleep 0.1; done' & wait"
    child = LocalHost().spawn(["sh", "-c", script])
    beside = Alongside(child, grace_s=0.3)
    _until(lambda: (tmp_path / "pid").exists() and bool((tmp_path / "pid").read_text()))
    stubborn = int((tmp_path / "pid").read_text())
    beside.stop("too hot")
    _until(beside.ended)
    assert beside.exit_status() == 143
    assert _lives(stubborn)
    beside.end_group()
    _until(lambda: not _lives(stubborn))


def test_a_signal_that_was_ignored_at_the_start_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            assert interrupts.last is None
            child = FakeChild(signal.SIGTERM)
            interrupts.forward_to(child)
            os.kill(os.getpid(), signal.SIGTERM)
            assert interrupts.last == signal.SIGTERM
            assert child.signals == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_signal_that_came_while_the_command_was_started_reaches_it() -> None:
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGTERM)
        child = FakeChild(signal.SIGTERM)
        interrupts.forward_to(child)
        assert child.signals == [signal.SIGTERM]


# Before and after


def test_settling_is_recorded_apart(record: Run) -> None:
    done = record("--settle", "0.4", "--", "sleep", "0.3")
    assert done.returncode == 0
    summary = load_recording(str(record.file)).summary
    assert summary.before is not None
    assert summary.before.minimum == 38.0
    assert summary.after is not None
    assert summary.duration_s == pytest.approx(0.3, abs=0.25)
    command = summary.facts.command
    assert command is not None
    assert command.started_s == pytest.approx(0.4, abs=0.2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--settle", "1"), "--settle and --stop-above need a command"),
        (("--stop-above", "90"), "--settle and --stop-above need a command"),
        (("--seconds", "1", "--", "true"), "--seconds is for recording without a command"),
    ],
)
def test_options_that_do_not_fit_are_a_usage_error(record: Run, words: tuple[str, ...], message: str) -> None:
    done = record(*words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"toolkit: {message}")
    assert not record.file.with_suffix(".csv").exists()


def test_a_file_that_is_there_is_a_usage_error_and_the_command_does_not_run(record: Run, tmp_path: Path) -> None:
    record.file.with_suffix(".json").write_text("precious")
    done = record("--", "touch", str(tmp_path / "ran"))
    assert done.returncode == 2
    assert "run.json is there already" in done.stderr
    assert not (tmp_path / "ran").exists()
    assert record("--force", "--", "true").returncode == 0


def test_a_fake_monitor_can_be_sampled() -> None:
    clock = FakeClock()
    monitor = FakeMonitor(clock, [(0.0, 38.0), (1.0, None)])
    assert monitor.snapshot().headline.celsius == 38
    clock.wait(1.0)
    assert monitor.snapshot().headline.celsius is None
