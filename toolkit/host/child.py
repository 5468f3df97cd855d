"""A person's command that runs beside the program, on the same terminal.

The command gets its own process group and, where stdin is the terminal and the program has the foreground, that
foreground: then it can ask for a password, and Ctrl+C reaches it and not the recorder. Ctrl+Z stops both, and `fg`
brings both back, as with any job of a shell (see "Implementing a Job Control Shell" in the C library's manual).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType
from typing import Any

from toolkit.errors import MissingError
from toolkit.host.base import NotInstalled
from toolkit.text import printable

_STEP_S = 0.1
"""How often a wait looks for a command that was stopped from the keyboard."""

_Handler = Callable[[int, FrameType | None], Any] | int | None


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """Let this thread touch the terminal from the background without being stopped for it (SIGTTOU)."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Terminal:
    """The terminal that is lent to a command. `fd` is a descriptor of it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._group = os.getpgrp()
        self._modes = termios.tcgetattr(fd)
        self._before: _Handler = None
        self._handled = False

    @classmethod
    def of_stdin(cls) -> Terminal | None:
        """Return the terminal on stdin, None where it is none or another job has the foreground."""
        try:
            if os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp():
                return cls(0)
        except (OSError, termios.error):
            pass
        return None

    def lend(self, group: int) -> None:
        """Give the foreground to a process group."""
        if not self._handled and threading.current_thread() is threading.main_thread():
            # From now on we write to the terminal from the background, which `stty tostop` forbids.
            self._before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            self._handled = True
        self._set(group)

    def take_back(self, restore_modes: bool) -> None:
        """Take the foreground, and undo what a command that died left set (no echo, raw mode)."""
        self._set(self._group)
        if restore_modes:
            with _unstopped(), contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(self._fd, termios.TCSADRAIN, self._modes)
        if self._handled and threading.current_thread() is threading.main_thread():
            self._handled = False
            signal.signal(signal.SIGTTOU, self._before if self._before is not None else signal.SIG_DFL)

    def _set(self, group: int) -> None:
        with _unstopped(), contextlib.suppress(OSError):
            os.tcsetpgrp(self._fd, group)


class LocalChild:
    """A running command, see `toolkit.host.base.Child`.

    `poll` and `wait` also hand the terminal to and fro, so one of them must be called a few times a second.

    Raises NotInstalled, MissingError where the program is there and cannot be started.
    """

    def __init__(self, argv: Sequence[str], program: str, environ: Mapping[str, str]) -> None:
        self._status: int | None = None
        self._lock = threading.RLock()
        self._terminal = Terminal.of_stdin()
        try:
            self._process = subprocess.Popen(list(argv), executable=program, env=dict(environ), process_group=0)
        except FileNotFoundError:
            if os.path.exists(program):
                raise MissingError(
                    f"{printable(program)} cannot be started: its interpreter is not installed"
                ) from None
            raise NotInstalled(f"{printable(argv[0])} is not installed") from None
        except OSError as error:
            raise MissingError(f"{printable(program)} cannot be started: {error.strerror}") from error
        self.pid = self._process.pid
        self._ended_fd = -1
        try:
            self._ended_fd = _pidfd(self.pid)
            if self._terminal is not None:
                self._terminal.lend(self.pid)
                # It may have asked for the terminal before it had it, and be stopped for that.
                self._kill(signal.SIGCONT)
        except BaseException:
            # Ctrl+C before anybody holds this object: nobody else could end the command.
            self._kill(signal.SIGKILL)
            self.wait()
            raise

    def poll(self) -> int | None:
        """Return the exit status (negative: the signal that ended it), None while it runs. Never waits."""
        with self._lock:
            if self._status is not None:
                return self._status
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                pid, status = self.pid, 0  # somebody ignores SIGCHLD: nobody knows how it ended
            if pid == 0:
                return None
            if os.WIFSTOPPED(status):
                self._stopped(os.WSTOPSIG(status))
                return None
            self._status = self._process.returncode = os.waitstatus_to_exitcode(status)
            self._end()
            return self._status

    def _end(self) -> None:
        if self._terminal is not None:
            self._terminal.take_back(restore_modes=self._status is not None and self._status < 0)
        if self._ended_fd >= 0:
            os.close(self._ended_fd)
            self._ended_fd = -1

    def _stopped(self, number: int) -> None:
        """The command was stopped: with the terminal lent, stop as well, and go on together."""
        if self._terminal is None:
            return
        if number in (signal.SIGTSTP, signal.SIGSTOP):
            self._terminal.take_back(restore_modes=True)
            os.killpg(os.getpgrp(), signal.SIGTSTP)
            # Here the shell's `fg` or `bg` has continued us.
            again = Terminal.of_stdin()
            if again is None:
                time.sleep(_STEP_S)  # in the background: the command goes on there, without the terminal
            else:
                self._terminal = again
        if self._terminal is not None:
            self._terminal.lend(self.pid)
        self._kill(signal.SIGCONT)

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end, at most `timeout` seconds; return as `poll` does."""
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            self._pause(min(left, _STEP_S))
        return status

    def _pause(self, seconds: float) -> None:
        if self._ended_fd < 0:
            time.sleep(min(seconds, 0.02))
            return
        poller = select.poll()
        poller.register(self._ended_fd, select.POLLIN)
        poller.poll(seconds * 1000)

    def signal(self, number: int) -> None:
        """Send a signal to its whole process group; a stopped group is continued, so that it can act on it."""
        with self._lock:
            if self._status is None:
                self._kill(number)
                if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                    self._kill(signal.SIGCONT)

    def _kill(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
