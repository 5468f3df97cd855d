from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolkit.errors import MissingError
from toolkit.host.base import NotInstalled
from toolkit.host.local import LocalHost

ROOT = str(Path(__file__).parents[2])


def test_a_child_runs_in_its_own_group_and_ends_with_its_status(tmp_path: Path) -> None:
    out = tmp_path / "out"
    script = f"import os, sys; open({str(out)!r}, 'w').write(str(os.getpgrp() == os.getpid())); sys.exit(7)"
    child = LocalHost().spawn([sys.executable, "-c", script])
    assert child.wait(20) == 7
    assert child.poll() == 7
    assert child.wait() == 7
    child.signal(signal.SIGTERM)
    assert out.read_text() == "True"


def test_the_person_s_own_language_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "out"
    host = LocalHost(environ={"PATH": "/usr/bin:/bin", "LC_ALL": "de_DE.UTF-8"})
    child = host.spawn(["sh", "-c", f"echo $LC_ALL > {out}"])
    assert child.wait(20) == 0
    assert out.read_text() == "de_DE.UTF-8\n"


def test_a_wait_that_is_too_short_says_that_it_still_runs() -> None:
    child = LocalHost().spawn(["sleep", "60"])
    start = time.monotonic()
    assert child.wait(0.15) is None
    assert 0.1 < time.monotonic() - start < 5
    assert child.poll() is None
    child.signal(signal.SIGTERM)
    assert child.wait(20) == -signal.SIGTERM


def test_a_signal_reaches_the_whole_group_also_where_it_is_stopped(tmp_path: Path) -> None:
    out = tmp_path / "pid"
    child = LocalHost().spawn(["sh", "-c", f"sleep 60 & echo $! > {out}; kill -STOP $$; wait"])
    deadline = time.monotonic() + 20
    while not (out.exists() and out.read_text()) and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert child.poll() is None
    child.signal(signal.SIGTERM)
    assert child.wait(20) == -signal.SIGTERM
    grandchild = Path(f"/proc/{out.read_text().strip()}/stat")
    while time.monotonic() < deadline:
        try:
            if grandchild.read_text().rpartition(")")[2].split()[0] == "Z":
                break
        except (FileNotFoundError, ProcessLookupError):
            break
        time.sleep(0.01)
    assert time.monotonic() < deadline


def test_what_cannot_be_started_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled):
        LocalHost().spawn(["absent-tool"])
    for name, text, said in [("lost", "#!/absent/x\n", "interpreter"), ("text", "hello", "Exec format")]:
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
        with pytest.raises(MissingError, match=said):
            LocalHost().spawn([str(tmp_path / name)])


def test_a_command_whose_start_is_interrupted_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def interrupt(pid: int) -> int:
        started.append(pid)
        raise KeyboardInterrupt

    monkeypatch.setattr("toolkit.host.child._pidfd", interrupt)
    with pytest.raises(KeyboardInterrupt):
        LocalHost().spawn(["sleep", "60"])
    assert not Path(f"/proc/{started[0]}").exists()


PARENT = """
import os, sys, time
sys.path.insert(0, {root!r})
from toolkit.host.local import LocalHost
host = LocalHost()
child = host.spawn({argv!r})
print("spawned", flush=True)
try:
    while (status := child.wait(0.05)) is None:
        pass
except KeyboardInterrupt:
    print("PARENT INTERRUPTED", flush=True)
    raise SystemExit(99)
print("status", status, "foreground", os.tcgetpgrp(0) == os.getpgrp(), flush=True)
line = input()
print("parent read", line, flush=True)
"""


class Session:
    """A program on a terminal of its own, as a shell would start it."""

    def __init__(self, code: str) -> None:
        # Not pty.fork: other tests of this process may have left threads behind.
        self.fd, other_end = os.openpty()
        take = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", take + code],
            stdin=other_end, stdout=other_end, stderr=other_end, start_new_session=True,
        )  # fmt: skip
        os.close(other_end)
        self.seen = ""

    def expect(self, *texts: str) -> None:
        """Wait until all of the texts have come, in any order, and forget everything up to the last one."""
        deadline = time.monotonic() + 20
        while missing := [text for text in texts if text not in self.seen]:
            left = deadline - time.monotonic()
            assert left > 0, f"{missing} did not come; what came: {self.seen!r}"
            if select.select([self.fd], [], [], left)[0]:
                try:
                    self.seen += os.read(self.fd, 4096).decode(errors="replace")
                except OSError:
                    raise AssertionError(f"it ended before {missing} came: {self.seen!r}") from None
        self.seen = self.seen[max(self.seen.index(text) + len(text) for text in texts) :]

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    opened: list[Session] = []
    yield opened
    for session in opened:
        session.close()


@pytest.mark.terminal
def test_the_command_reads_the_terminal_and_the_program_gets_it_back(sessions: list[Session]) -> None:
    session = Session(
        PARENT.format(root=ROOT, argv=["sh", "-c", 'echo ready; read line; echo "child read $line"; exit 3'])
    )
    sessions.append(session)
    session.expect("ready")
    session.type("hello\n")
    session.expect("child read hello")
    session.expect("status 3 foreground True")
    session.type("again\n")
    session.expect("parent read again")


@pytest.mark.terminal
def test_ctrl_c_reaches_the_command_and_not_the_program(sessions: list[Session]) -> None:
    session = Session(
        PARENT.format(
            root=ROOT, argv=["sh", "-c", "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"]
        )
    )
    sessions.append(session)
    session.expect("ready", "spawned")
    session.type("\x03")
    session.expect("caught")
    session.expect("status 5 foreground True")


@pytest.mark.terminal
def test_modes_that_a_killed_command_left_are_undone(sessions: list[Session]) -> None:
    session = Session(PARENT.format(root=ROOT, argv=["sh", "-c", "stty -echo -icanon; echo ready; kill -KILL $$"]))
    sessions.append(session)
    session.expect("status -9 foreground True")
    modes = termios.tcgetattr(session.fd)[3]
    assert modes & termios.ECHO
    assert modes & termios.ICANON


SHELL = """
import os, signal, sys, time
sys.path.insert(0, {root!r})
# A very small shell: starts a job in the foreground, says when it stops, and brings it back on a line "fg".
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-c", {parent!r}])
while True:
    pid, status = os.waitpid(job, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        print("JOB ENDED", flush=True)
        break
    print("JOB STOPPED", flush=True)
    assert input() == "fg"
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
"""


@pytest.mark.terminal
def test_ctrl_z_stops_both_and_fg_brings_both_back(sessions: list[Session]) -> None:
    argv = ["sh", "-c", 'echo ready; read line; echo "child read $line"; exit 6']
    session = Session(SHELL.format(root=ROOT, parent=PARENT.format(root=ROOT, argv=argv)))
    sessions.append(session)
    session.expect("ready", "spawned")
    session.type("\x1a")
    session.expect("JOB STOPPED")
    session.type("fg\n")
    time.sleep(0.3)
    session.type("hello\n")
    session.expect("child read hello")
    session.expect("status 6 foreground True")
    session.type("x\n")
    session.expect("JOB ENDED")


def test_without_a_terminal_nothing_is_lent() -> None:
    code = PARENT.format(root=ROOT, argv=["sh", "-c", "exit 2"]).partition('print("status"')[0] + "print(status)"
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert done.stdout == "spawned\n2\n"
