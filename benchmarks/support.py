"""What the benchmarks share: fake trees of sensors, a private /sys, programs in a terminal, figures."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

PROJECT = Path(__file__).resolve().parent.parent
_INSIDE = "TOOLKIT_BENCHMARK_INSIDE"


# --- trees --------------------------------------------------------------------------------------


def write_chip(root: Path, number: int, name: str, device: str, files: dict[str, object]) -> None:
    """Make one hwmon device as the kernel lays it out.

    Args:
        root: stands for /sys.
        number: N of hwmonN.
        device: path below /sys/devices.
        files: attribute -> content.
    """
    folder = root / "devices" / device / "hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    for attribute, value in files.items():
        (folder / attribute).write_text(f"{value}\n")
    (folder / "device").symlink_to("../..")
    link = root / "class" / "hwmon" / f"hwmon{number}"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(f"../../devices/{device}/hwmon/hwmon{number}")


def build_laptop(root: Path) -> None:
    """A laptop with 12 temperatures: coretemp with 8 cores, an NVMe drive, a radio, and a fan."""
    core = {"temp1_label": "Package id 0", "temp1_input": 54000, "temp1_max": 100000, "temp1_crit": 100000}
    for index in range(2, 10):
        core |= {f"temp{index}_label": f"Core {index - 2}", f"temp{index}_input": 48000 + 1000 * index}
        core |= {f"temp{index}_max": 100000, f"temp{index}_crit": 100000, f"temp{index}_crit_alarm": 0}
    write_chip(root, 3, "coretemp", "platform/coretemp.0", core)
    nvme = {"temp1_label": "Composite", "temp1_input": 41850, "temp1_max": 83850, "temp1_crit": 87850}
    nvme |= {"temp2_label": "Sensor 1", "temp2_input": 41850}
    write_chip(root, 1, "nvme", "pci0000:00/0000:00:0e.0/nvme/nvme0", nvme)
    write_chip(root, 4, "iwlwifi_1", "virtual/iwlwifi_1", {"temp1_input": 46000})
    write_chip(root, 5, "cros_ec", "platform/cros-ec-hwmon.0", {"fan1_input": 3210})


def build_many(root: Path, count: int) -> None:
    """`count` temperatures on chips of ten each, the first of them coretemp."""
    for chip in range((count + 9) // 10):
        name, device = ("coretemp", "platform/coretemp.0") if chip == 0 else ("nct6775", f"platform/nct6775.{chip}")
        files: dict[str, object] = {}
        for index in range(1, min(10, count - chip * 10) + 1):
            label = "Package id 0" if chip == 0 and index == 1 else f"Core {index}" if chip == 0 else f"T{chip}.{index}"
            files |= {f"temp{index}_label": label, f"temp{index}_input": 40000 + 37 * chip + 500 * index}
            files |= {f"temp{index}_crit": 100000}
        write_chip(root, chip, name, device, files)


@contextmanager
def moving(root: Path, interval_s: float = 1.0) -> Iterator[None]:
    """Change every temperature below `root` once in `interval_s`, so that a screen has something to draw."""
    values = {path: int(path.read_text()) for path in root.glob("devices/**/temp*_input")}
    stop = threading.Event()

    def move() -> None:
        beat = 0
        while not stop.wait(interval_s):
            beat += 1
            for number, (path, start) in enumerate(values.items()):
                path.write_text(f"{start + 1000 * ((beat * 7 + number * 3) % 23)}\n")

    thread = threading.Thread(target=move, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# --- a /sys of one's own ------------------------------------------------------------------------


def enter_fake_sys() -> Path:
    """Start this script again in a mount namespace with an empty /sys; return that path once inside.

    Programs that know only /sys (psutil, s-tui, btop) see the fake tree there, and the machine outside is not touched.
    Needs root, or a kernel that lets users make namespaces.
    """
    if os.environ.get(_INSIDE) != "1":
        as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
        command = ["unshare", *as_root, "--mount", sys.executable, *sys.argv]
        os.execvpe("unshare", command, {**os.environ, _INSIDE: "1"})
    cpus = {}
    for path in Path("/sys/devices/system/cpu").glob("**/*"):
        try:
            if path.is_file() and len(path.parts) < 9:
                cpus[path] = path.read_bytes()
        except OSError:
            continue
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/sys"], check=True)
    for path, content in cpus.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Path("/sys")


# --- programs -----------------------------------------------------------------------------------


def toolkit_command() -> list[str]:
    """The `toolkit` command of the Python that runs this; where it is not installed, what that command would run."""
    script = Path(sys.executable).with_name("toolkit")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-c", "import sys; from toolkit.cli import main; sys.exit(main())"]


def environment(home: Path) -> dict[str, str]:
    """A plain environment with an empty home, in which the checkout can be imported."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(PROJECT),
    }


def program(name: str, package: str) -> str:
    """The path of a program, in this Python's folder or on PATH; without it the benchmark ends in plain words."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed; {package} brings it")
    return found


@dataclass
class Terminal:
    """A program on a pseudo-terminal. All that it writes is read away and counted.

    Attributes:
        written: bytes written so far.
        last_write_s: time.perf_counter() of the last bytes.
    """

    command: Sequence[str]
    env: dict[str, str]
    columns: int = 120
    lines: int = 40
    written: int = 0
    last_write_s: float = 0.0
    text: bytearray = field(default_factory=bytearray)

    def __enter__(self) -> Self:
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir("/")
            os.execvpe(self.command[0], list(self.command), self.env)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", self.lines, self.columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)
        self._closing = False
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        try:
            os.kill(self.pid, signal.SIGTERM)
            for _ in range(50):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    break
                time.sleep(0.1)
            else:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        self._thread.join(2)
        os.close(self.master)

    def _drain(self) -> None:
        while not self._closing:
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.written += len(data)
            self.last_write_s = time.perf_counter()
            self.text += data
            del self.text[:-200_000]

    def send(self, keys: bytes) -> None:
        """Type."""
        os.write(self.master, keys)

    def alive(self) -> bool:
        """True while the program runs."""
        try:
            return os.waitpid(self.pid, os.WNOHANG)[0] == 0
        except ChildProcessError:
            return False

    def cpu_s(self) -> float:
        """Processor seconds of the program and of its present and past children."""
        return sum(_cpu_s(pid) for pid in _tree(self.pid))

    def resident_mib(self) -> float:
        """Resident memory of the program and its children."""
        page = os.sysconf("SC_PAGE_SIZE")
        return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page for pid in _tree(self.pid)) / 2**20


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu_s(pid: int) -> float:
    """The fields 14 to 17 of proc_pid_stat(5): utime, stime, cutime, cstime."""
    return sum(int(field) for field in _stat(pid)[11:15]) / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parents.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
            except (OSError, IndexError):
                continue
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += parents.get(pid, [])
    return found


# --- figures ------------------------------------------------------------------------------------


def best_and_median(samples: Sequence[float]) -> tuple[float, float]:
    """Minimum (what the work costs) and median (what it costs here, now)."""
    return min(samples), statistics.median(samples)


def verdict(measured: float, goal: float, unit: str = "", *, at_most: bool = True) -> str:
    """`ok` or `MISSED` beside the goal."""
    reached = measured <= goal if at_most else measured >= goal
    return f"goal {'<=' if at_most else '>='} {goal:g}{unit}: {'ok' if reached else 'MISSED'}"
