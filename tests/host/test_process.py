from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from toolkit.errors import UsageError
from toolkit.host import process
from toolkit.host.base import NotInstalled
from toolkit.host.local import LocalHost
from toolkit.host.process import LineStream


def alive(pid: int) -> bool:
    """True where a process runs; a zombie that waits for its reaper does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


@pytest.fixture(autouse=True)
def short_graces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "TERM_GRACE_S", 0.3)


def test_an_answer() -> None:
    result = LocalHost().run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (result.stdout, result.stderr, result.returncode, result.timed_out) == ("out\n", "err\n", 3, False)
    assert result.argv == ("sh", "-c", "echo out; echo err >&2; exit 3")
    assert 0 < result.seconds < 5


def test_arguments_are_never_split_nor_seen_by_a_shell(tmp_path: Path) -> None:
    words = ["a b", "$HOME", "; touch x", "*", "", "-n", "ü"]
    result = LocalHost().run([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words])
    assert result.stdout == f"{words}\n"


def test_the_environment_is_english_utf_8_and_knows_sbin() -> None:
    host = LocalHost(environ={"PATH": "/usr/bin:/bin", "LANGUAGE": "de", "LC_ALL": "de_DE.UTF-8", "KEPT": "1"})
    lines = host.run(["env"]).stdout.splitlines()
    assert "LC_ALL=C.UTF-8" in lines
    assert "KEPT=1" in lines
    assert not any(line.startswith("LANGUAGE=") for line in lines)
    path = next(line for line in lines if line.startswith("PATH="))
    assert path.startswith("PATH=/usr/bin:/bin:")
    assert "/usr/sbin" in path


def test_stdin_is_closed_or_given() -> None:
    assert LocalHost().run(["cat"]).stdout == ""
    data = os.urandom(100_000).hex().encode()
    assert LocalHost().run(["cat"], stdin=data).stdout == data.decode()
    assert LocalHost().run(["cat"], stdin=b"").stdout == ""
    assert LocalHost().run(["true"], stdin=data).returncode == 0, "a command that does not read its input"


def test_bad_bytes_are_replaced() -> None:
    assert LocalHost().run(["printf", r"a\377b"]).stdout == "a\ufffdb"


def test_a_command_is_the_leader_of_its_own_session() -> None:
    script = "import os; print(os.getsid(0) == os.getpid() == os.getpgrp())"
    assert LocalHost().run([sys.executable, "-c", script]).stdout == "True\n"


def test_what_is_not_installed_is_said_to_be() -> None:
    with pytest.raises(NotInstalled, match="absent-tool is not installed"):
        LocalHost().run(["absent-tool"])
    with pytest.raises(NotInstalled):
        LocalHost().stream(["/absent/tool"])
    for argv in ([], ["echo", "a\0b"]):
        with pytest.raises(UsageError):
            LocalHost().run(argv)


def test_a_program_that_cannot_start_answers_as_a_shell_does(tmp_path: Path) -> None:
    for name, text, said in [
        ("lost", "#!/absent/interpreter\n", "interpreter"),
        ("text", "hello", "Exec format error"),
    ]:
        program = tmp_path / name
        program.write_text(text)
        program.chmod(0o755)
        result = LocalHost().run([str(program)])
        assert result.returncode == 126
        assert said in result.stderr
        stream = LocalHost().stream([str(program)])
        assert said in next(stream)
        assert list(stream) == []


def test_at_its_limit_a_command_is_ended(tmp_path: Path) -> None:
    result = LocalHost().run(["sh", "-c", "echo before; sleep 60"], timeout_s=0.2)
    assert result.timed_out
    assert result.returncode == -signal.SIGTERM
    assert result.stdout == "before\n"
    assert result.seconds < 5


def test_a_grandchild_that_ignores_term_is_killed_too(tmp_path: Path) -> None:
    script = "trap '' TERM; (trap '' TERM; exec sleep 60) & echo $!; wait; sleep 60"
    result = LocalHost().run(["sh", "-c", script], timeout_s=0.3)
    assert result.timed_out
    assert result.returncode == -signal.SIGKILL
    assert wait_until_gone(int(result.stdout))


def test_a_grandchild_that_ignores_term_is_killed_although_the_command_itself_obeyed(tmp_path: Path) -> None:
    script = "(trap '' TERM; exec sleep 60 >/dev/null 2>&1) & echo $!; sleep 60"
    result = LocalHost().run(["sh", "-c", script], timeout_s=0.3)
    assert result.returncode == -signal.SIGTERM
    assert wait_until_gone(int(result.stdout))


def test_a_stopped_command_is_ended() -> None:
    result = LocalHost().run(["sh", "-c", "kill -STOP $$"], timeout_s=0.2)
    assert result.timed_out
    assert result.seconds < 5


def test_a_grandchild_that_keeps_the_pipe_open_does_not_hang_the_answer(tmp_path: Path) -> None:
    result = LocalHost().run(["sh", "-c", "sleep 60 & echo $!"], timeout_s=30)
    pid = int(result.stdout)
    try:
        assert (result.returncode, result.timed_out) == (0, False)
        assert result.seconds < 5
        assert alive(pid), "it was left alone: it may be a service that was started"
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_grandchild_that_never_stops_writing_does_not_hang_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PIPE_LIMIT_S", 0.3)
    result = LocalHost().run(["sh", "-c", "(while :; do echo x; sleep 0.01; done) & echo $!"], timeout_s=30)
    pid = next(int(word) for word in result.stdout.split() if word.isdigit())  # an x may come first
    os.killpg(os.getpgid(pid), signal.SIGKILL)
    assert (result.returncode, result.timed_out) == (0, False)
    assert result.seconds < 10


def test_a_grandchild_in_another_session_does_not_hang_the_limit() -> None:
    result = LocalHost().run(["sh", "-c", "setsid sleep 61 & echo $!; sleep 60"], timeout_s=0.3)
    assert result.timed_out
    assert result.seconds < 8
    os.kill(int(result.stdout), signal.SIGKILL)


def test_a_child_that_the_kernel_does_not_let_go_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # A process in state D cannot be made at will; one that no signal reaches looks the same to us.
    pids: list[int] = []
    monkeypatch.setattr(process, "KILL_GRACE_S", 0.2)
    monkeypatch.setattr(process.Group, "kill", lambda group, number: pids.append(group.process.pid))
    start = time.monotonic()
    result = LocalHost().run(["sleep", "60"], timeout_s=0.2)
    assert time.monotonic() - start < 5
    assert (result.timed_out, result.returncode) == (True, -signal.SIGKILL)
    os.kill(pids[0], signal.SIGKILL)
    assert [lost.pid for lost in process._LOST] == [pids[0]]
    assert wait_until_gone(pids[0])
    LocalHost().run(["true"])
    assert process._LOST == [], "it is reaped when the next command starts"
    assert not os.path.exists(f"/proc/{pids[0]}")


def test_output_is_bounded_and_the_command_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    original = process.Pump.__init__
    monkeypatch.setattr(process.Pump, "__init__", lambda self, group, stdin: original(self, group, stdin, 1000))
    result = LocalHost().run(["sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x; exit 5"])
    assert result.stdout == "x" * 1000
    assert result.returncode == 5
    assert "cut here" in result.stderr


def test_without_pidfd_it_works_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_pidfd", lambda pid: -1)
    assert LocalHost().run(["echo", "x"]).stdout == "x\n"
    assert LocalHost().run(["sh", "-c", "exec >&- 2>&-; sleep 0.2"]).returncode == 0
    assert LocalHost().run(["sleep", "60"], timeout_s=0.2).timed_out


def test_no_descriptor_is_left_open() -> None:
    host = LocalHost()
    host.run(["true"])
    before = sorted(os.listdir("/proc/self/fd"))
    for _ in range(3):
        host.run(["echo"])
        host.run(["sleep", "9"], timeout_s=0.05)
        list(host.stream(["echo"]))
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_ctrl_c_while_it_waits_ends_the_group(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    def interrupt(pump: process.Pump, deadline: float) -> bool:
        while not pid_file.exists() or not pid_file.read_text().strip():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_drain", interrupt)
    with pytest.raises(KeyboardInterrupt):
        LocalHost().run(["sh", "-c", f"trap '' TERM INT; echo $$ > {pid_file}; sleep 60"])
    assert wait_until_gone(int(pid_file.read_text()))


def stream(script: str, timeout_s: float | None = None) -> LineStream:
    lines = LocalHost().stream(["sh", "-c", script], timeout_s)
    assert isinstance(lines, LineStream)
    return lines


def test_lines_come_as_they_are_written(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    lines = stream(f"echo one; until [ -e {sign} ]; do sleep 0.02; done; echo two >&2; printf three; exit 4", 30)
    assert next(lines) == "one", "it comes while the command waits for us"
    sign.touch()
    assert list(lines) == ["two", "three"]
    assert (lines.returncode, lines.timed_out) == (4, False)
    assert list(lines) == []


def test_carriage_returns_end_lines_of_progress() -> None:
    assert list(stream(r"printf '10%%\r20%%\r'; sleep 0.1; printf '\n30%%\r\nend\r'")) == ["10%", "20%", "30%", "end"]
    assert list(stream(r"printf 'a\n\nb'")) == ["a", "", "b"]


def test_a_line_without_end_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINE_LIMIT", 1000)
    pieces = list(stream("head -c 5000 /dev/zero | tr '\\0' x"))
    assert "".join(pieces) == "x" * 5000
    assert max(map(len, pieces)) <= 1000


def test_a_stream_ends_at_its_limit() -> None:
    lines = stream("while :; do echo x; sleep 0.05; done", timeout_s=0.3)
    assert set(lines) == {"x"}
    assert lines.timed_out
    assert lines.returncode == -signal.SIGTERM


def test_a_stream_whose_grandchild_keeps_the_pipe_open_ends() -> None:
    lines = stream("sleep 60 & echo $!")
    pid = int(next(lines))
    start = time.monotonic()
    assert list(lines) == []
    assert time.monotonic() - start < 5
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("dropped", [False, True])
def test_a_stream_that_is_closed_or_dropped_ends_its_command(dropped: bool) -> None:
    lines = stream("trap '' TERM; echo $$; sleep 60; sleep 60")
    pid = int(next(lines))
    if dropped:
        del lines
    else:
        lines.close()
        assert list(lines) == []
        assert lines.returncode is not None
    assert wait_until_gone(pid)
