"""Running commands so that nothing they do can hang the program.

A command gets its own session and process group. At its limit the whole group is asked to end (TERM), then made to
(KILL). A child that the kernel does not let go (state D) and a grandchild that keeps the output open are not waited
for. The leader is reaped last, so its number cannot be another process's while the group is signalled.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO

from toolkit.host.base import NotInstalled, Result
from toolkit.text import printable

OUTPUT_LIMIT = 64 << 20
"""Bytes of output kept of one command, stdout and stderr together; what is more is thrown away."""

LINE_LIMIT = 1 << 16
"""Bytes of one streamed line; a longer one comes in pieces."""

TERM_GRACE_S = 1.0
"""Seconds that a process group has between TERM and KILL."""

KILL_GRACE_S = 1.0
"""Seconds that are waited for a killed process; more would not help one in state D."""

PIPE_GRACE_S = 0.3
"""Seconds without output after which a command that has ended is done although a grandchild keeps the pipe open."""

PIPE_LIMIT_S = 2.0
"""Seconds after which it is done although the grandchild goes on writing."""

_CHUNK = 1 << 16
_POLL_S = 0.05
_CANCEL_POLL_S = 0.2
_CUT = "toolkit: the output was longer than 64 MiB and is cut here\n"
CANNOT_EXECUTE = 126
"""The exit status that a shell gives for a program that is there and cannot be started."""


_LOST: list[subprocess.Popen[bytes]] = []
"""Children that did not end when they were killed; looked at again whenever a command starts, so no zombie stays."""


class Group:
    """A command in its own process group, and the pipes to it.

    Raises NotInstalled where the program vanished, OSError where it cannot be started.
    """

    def __init__(
        self, argv: Sequence[str], program: str, environ: Mapping[str, str], stdin: bytes | None, joined: bool
    ) -> None:
        _LOST[:] = [process for process in _LOST if process.poll() is None]
        self.process = subprocess.Popen(
            list(argv),
            executable=program,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if joined else subprocess.PIPE,
            env=dict(environ),
            start_new_session=True,
            bufsize=0,
        )
        self._ended_fd = _pidfd(self.process.pid)

    def ended(self) -> bool:
        """True where the leader has ended. It is not reaped."""
        if self.process.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def watch_end(self, poller: select.poll) -> bool:
        """Let a poller wake up when the leader ends; False where the kernel cannot do that."""
        if self._ended_fd < 0:
            return False
        poller.register(self._ended_fd, select.POLLIN)
        return True

    @property
    def ended_fd(self) -> int:
        """The descriptor that becomes readable when the leader ends, or -1."""
        return self._ended_fd

    def kill(self, number: int) -> None:
        """Send a signal to the whole group, while the leader is not reaped."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def finish(self, wait_s: float) -> int:
        """Reap the leader and close everything; return the exit status, -9 where it does not end."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            status = self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            status = -signal.SIGKILL
            _LOST.append(self.process)
        if self._ended_fd >= 0:
            os.close(self._ended_fd)
            self._ended_fd = -1
        return status


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


class Pump:
    """Moves bytes between a group and the program, never blocking.

    Args:
        limit: bytes that are kept; what is more is read and thrown away.
    """

    def __init__(self, group: Group, stdin: bytes | None, limit: int = OUTPUT_LIMIT) -> None:
        self.group = group
        self.cut = False
        self._left = limit
        self._stdin = memoryview(stdin or b"")
        self._poller = select.poll()
        self._outputs: dict[int, list[bytes]] = {}
        self._open: set[int] = set()
        self._in = group.process.stdin
        for pipe in (group.process.stdout, group.process.stderr):
            if pipe is not None:
                self._watch(pipe, select.POLLIN)
                self._outputs[pipe.fileno()] = []
        if self._in is not None:
            self._watch(self._in, select.POLLOUT)
        self._notices_end = group.watch_end(self._poller)

    def _watch(self, pipe: IO[bytes], event: int) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._poller.register(pipe.fileno(), event)
        self._open.add(pipe.fileno())

    @property
    def reading(self) -> bool:
        """True while an output is open."""
        return any(fd in self._open for fd in self._outputs)

    def step(self, wait_s: float) -> list[bytes]:
        """Wait for something to happen, at most `wait_s`, and move what can be moved; return what came."""
        if not self._notices_end:
            wait_s = min(wait_s, _POLL_S)
        came: list[bytes] = []
        for fd, _ in self._poller.poll(max(0.0, wait_s) * 1000):
            if fd == self.group.ended_fd:
                self._poller.unregister(fd)
            elif fd in self._outputs:
                came += self._take(fd)
            else:
                self._give(fd)
        return came

    def _take(self, fd: int) -> list[bytes]:
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self._close(fd)
            return []
        if len(data) > self._left:
            self.cut = True
            data = data[: self._left]
        self._left -= len(data)
        if data:
            self._outputs[fd].append(data)
        return [data]

    def _give(self, fd: int) -> None:
        try:
            written = os.write(fd, self._stdin[:_CHUNK])
        except BlockingIOError:
            return
        except OSError:
            written = len(self._stdin)  # the command does not want it: not our fault
        self._stdin = self._stdin[written:]
        if not self._stdin and self._in is not None:
            self._close(fd)
            with contextlib.suppress(OSError):
                self._in.close()

    def _close(self, fd: int) -> None:
        self._poller.unregister(fd)
        self._open.discard(fd)

    def forget(self) -> None:
        """Drop what was kept, for a reader that took it from `step`."""
        for chunks in self._outputs.values():
            self._left += sum(map(len, chunks))
            chunks.clear()

    def output(self, pipe: IO[bytes] | None) -> bytes:
        """Return everything that came from an output."""
        return b"" if pipe is None else b"".join(self._outputs[pipe.fileno()])


def _drain(pump: Pump, deadline: float) -> bool:
    """Move bytes until the leader has ended and its output is closed; False where the deadline came first."""
    ended_at = quiet_since = 0.0
    while True:
        now = time.monotonic()
        if pump.group.ended():
            if not pump.reading:
                return True
            ended_at = ended_at or now
            quiet_since = quiet_since or now
            if now - quiet_since >= PIPE_GRACE_S or now - ended_at >= PIPE_LIMIT_S:
                return True
        if now >= deadline:
            return False
        if pump.step(min(deadline - now, PIPE_GRACE_S if ended_at else 3600.0)):
            quiet_since = 0.0


def _end(pump: Pump) -> None:
    """End a whole group that is over its limit."""
    group = pump.group
    group.kill(signal.SIGTERM)
    group.kill(signal.SIGCONT)
    _drain(pump, time.monotonic() + TERM_GRACE_S)
    group.kill(signal.SIGKILL)
    _drain(pump, time.monotonic() + KILL_GRACE_S)


def _start(
    argv: Sequence[str], program: str, environ: Mapping[str, str], stdin: bytes | None, joined: bool
) -> Group | str:
    """Start a command; return why it cannot be started where the program is there and cannot run."""
    try:
        return Group(argv, program, environ, stdin, joined)
    except FileNotFoundError:
        if not os.path.exists(program):
            raise NotInstalled(f"{printable(argv[0])} is not installed") from None
        return f"{program}: its interpreter is not installed"
    except OSError as error:
        return f"{program}: {error.strerror}"


def run_command(
    argv: Sequence[str], program: str, environ: Mapping[str, str], timeout_s: float, stdin: bytes | None
) -> Result:
    """Run a command and wait for it, see `toolkit.host.base.Host.run`.

    A command that ended while a grandchild keeps its output open is done: what came until then is the answer.
    """
    start = time.monotonic()
    group = _start(argv, program, environ, stdin, joined=False)
    if isinstance(group, str):
        return Result(tuple(argv), CANNOT_EXECUTE, "", group, time.monotonic() - start)
    pump = Pump(group, stdin)
    in_time = False
    try:
        in_time = _drain(pump, start + timeout_s)
        if not in_time:
            _end(pump)
        stdout, stderr = pump.output(group.process.stdout), pump.output(group.process.stderr)
    finally:
        if not in_time:
            group.kill(signal.SIGKILL)
        status = group.finish(KILL_GRACE_S)
    return Result(
        argv=tuple(argv),
        returncode=status,
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.decode("utf-8", "replace") + (_CUT if pump.cut else ""),
        seconds=time.monotonic() - start,
        timed_out=not in_time,
    )


class LineStream(Iterator[str]):
    """The lines of a running command, stdout and stderr joined, as they come and without their ends.

    A carriage return ends a line too: progress bars write one. Closing the stream, or dropping it, ends the command.

    Attributes:
        returncode: the exit status once the lines have ended; None before.
        timed_out: the command was ended since it took longer than its limit.
        cancelled: the command was ended since `is_cancelled` said so; it is asked a few times a second.
    """

    def __init__(
        self,
        argv: Sequence[str],
        program: str,
        environ: Mapping[str, str],
        timeout_s: float | None = None,
        stdin: bytes | None = None,
        is_cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self.returncode: int | None = None
        self.timed_out = False
        self.cancelled = False
        self._is_cancelled = is_cancelled
        self._lines: list[str] = []
        self._rest = b""
        self._pump: Pump | None = None
        group = _start(argv, program, environ, stdin, joined=True)
        if isinstance(group, str):
            self._lines, self.returncode = [group], CANNOT_EXECUTE
            return
        self._pump = Pump(group, stdin)
        self._deadline = float("inf") if timeout_s is None else time.monotonic() + timeout_s
        self._pipe_deadline = float("inf")

    def __iter__(self) -> LineStream:
        return self

    def __next__(self) -> str:
        while not self._lines:
            if self._pump is None:
                raise StopIteration
            self._step(self._pump)
        return self._lines.pop(0)

    def _step(self, pump: Pump) -> None:
        now = time.monotonic()
        self.cancelled = self._is_cancelled is not None and self._is_cancelled()
        if self.cancelled or now >= self._deadline:
            self.timed_out = not self.cancelled
            _end(pump)
            self._finish(pump)
            return
        if pump.group.ended():
            if not pump.reading or now >= self._pipe_deadline:
                self._finish(pump)
                return
            self._pipe_deadline = min(self._pipe_deadline, now + PIPE_GRACE_S)
        longest = 3600.0 if self._is_cancelled is None else _CANCEL_POLL_S
        came = pump.step(min(self._deadline - now, self._pipe_deadline - now, longest))
        pump.forget()
        self._split(b"".join(came))

    def _split(self, data: bytes) -> None:
        # "\r\n" may be torn apart between two reads: a "\r" at the end waits for what follows.
        text = self._rest + data
        held = text[-1:] == b"\r"
        pieces = (text[:-1] if held else text).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = pieces.pop() + (b"\r" if held else b"")
        while len(self._rest) > LINE_LIMIT:
            pieces.append(self._rest[:LINE_LIMIT])
            self._rest = self._rest[LINE_LIMIT:]
        self._lines += [piece.decode("utf-8", "replace") for piece in pieces]

    def _finish(self, pump: Pump) -> None:
        self._pump = None
        self.returncode = pump.group.finish(KILL_GRACE_S)
        if self._rest:
            self._lines.append(self._rest.removesuffix(b"\r").decode("utf-8", "replace"))
            self._rest = b""

    def close(self) -> None:
        """End the command where it still runs."""
        pump, self._pump = self._pump, None
        self._lines.clear()
        if pump is not None:
            _end(pump)
            self.returncode = pump.group.finish(KILL_GRACE_S)

    def __del__(self) -> None:
        if getattr(self, "_pump", None) is not None:
            self.close()
