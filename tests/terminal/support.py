"""A real terminal for the tests: tmux on a private socket, and pyte on a pseudo-terminal."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyte

ROOT = Path(__file__).resolve().parent.parent.parent
DEADLINE_S = 20.0


def wait_until(true: Callable[[], bool], what: str, deadline_s: float = DEADLINE_S) -> None:
    """Wait for something to come true, and fail with what it was."""
    end = time.monotonic() + deadline_s
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline_s:.0f} s: {what}")
        time.sleep(0.05)


def child_environ(home: Path, **more: str) -> dict[str, str]:
    """Return an environment in which the program keeps everything below `home`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    paths = os.pathsep.join(part for part in (str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
    return {**kept, "LC_ALL": "C.UTF-8", "HOME": str(home), "PYTHONPATH": paths, "TERM": "xterm-256color", **more}


class Tmux:
    """One window of a tmux server of its own."""

    def __init__(self, home: Path, width: int = 80, height: int = 24) -> None:
        self.socket = str(home / "tmux.sock")
        self._size = (str(width), str(height))
        self._environ = child_environ(home)
        self._status = home / "status"

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a tmux command."""
        command = ["tmux", "-S", self.socket, "-f", "/dev/null", *args]
        return subprocess.run(command, env=self._environ, capture_output=True, text=True, timeout=30)

    def start(self, *argv: str) -> None:
        """Start a program; the window stays open when it has ended."""
        width, height = self._size
        options = ["set", "-g", "set-clipboard", "on", ";", "set", "-g", "remain-on-exit", "on", ";"]
        options += ["set", "-g", "status", "off", ";"]
        # tmux sometimes misses that its child ended and then knows no exit status: a shell writes it down instead.
        kept = ["sh", "-c", '"$@"; echo $? > "$0"', str(self._status), *argv]
        window = ["new-session", "-d", "-x", width, "-y", height, *kept]
        done = self.run("start-server", ";", *options, *window)
        assert done.returncode == 0, done.stderr

    @property
    def screen(self) -> str:
        """What is seen."""
        return self.run("capture-pane", "-p").stdout

    def wait_for(self, text: str) -> str:
        """Wait until a text is seen, and return the screen."""
        wait_until(lambda: text in self.screen, f"{text!r} in\n{self.screen}")
        return self.screen

    def keys(self, *keys: str) -> None:
        """Press keys."""
        self.run("send-keys", *keys)

    def ask(self, variable: str) -> str:
        """Return a variable of the window."""
        return self.run("display-message", "-p", f"#{{{variable}}}").stdout.strip()

    def wait_for_end(self) -> int:
        """Wait until the program has ended, and return its exit status."""
        wait_until(lambda: self._written_status() != "", f"the program ends; it shows\n{self.screen}")
        return int(self._written_status())

    def _written_status(self) -> str:
        return self._status.read_text() if self._status.exists() else ""

    def kill(self) -> None:
        """End this server, and whatever runs in it."""
        self.run("kill-server")


class Terminal:
    """A program on a pseudo-terminal, with what a terminal makes of its output."""

    def __init__(
        self, argv: list[str], environ: Mapping[str, str], width: int = 80, height: int = 24, **popen: Any
    ) -> None:
        self.raw = b""
        self._screen = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        streams = {"stdin": slave, "stdout": slave, "stderr": slave, **popen}
        self.process = subprocess.Popen(argv, env=dict(environ), start_new_session=True, **streams)

    def read(self, for_s: float = 0.05) -> None:
        """Take in what the program has written."""
        while select.select([self._master], [], [], for_s)[0]:
            try:
                chunk = os.read(self._master, 65536)
            except OSError:
                return
            if not chunk:
                return
            self.raw += chunk
            with contextlib.suppress(Exception):  # pyte stumbles over sequences that it does not know
                self._stream.feed(chunk)
            for_s = 0.0

    @property
    def text(self) -> str:
        """What is seen."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def wait_for(self, text: str) -> str:
        """Wait until a text is seen."""

        def seen() -> bool:
            self.read()
            return text in self.text

        wait_until(seen, f"{text!r}; it shows\n{self.text}")
        return self.text

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def wait_for_end(self) -> int:
        """Wait until the program has ended, and return its exit status."""

        def ended() -> bool:
            self.read(0.01)
            return self.process.poll() is not None

        wait_until(ended, f"the program ends; it shows\n{self.text}")
        self.read(0.2)
        return self.process.returncode

    @property
    def modes(self) -> list[Any]:
        """The terminal's settings as they are now."""
        return termios.tcgetattr(self._slave)

    def close(self) -> None:
        """End the program, where it still runs, and close the terminal."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(10)
        for descriptor in (self._master, self._slave):
            os.close(descriptor)


def toolkit_argv(*args: str) -> list[str]:
    """Return the command that starts the program under test."""
    return [sys.executable, "-m", "toolkit", *args]
