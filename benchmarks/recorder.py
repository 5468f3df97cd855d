"""What the recorder costs at 10 Hz: share of one core, and how much slower a CPU benchmark beside it becomes.

    sudo python benchmarks/recorder.py [SECONDS [PAIRS]]

Runs in a mount namespace with a fake /sys, in which every temperature changes once a second.

The share is CPU time of all the recorder's threads while it runs beside `sleep`, its start left out. The benchmark
keeps every core busy and times itself; runs alone, beside the recorder, and alone again alternate, so that the two
runs alone tell how far equal runs differ here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import support

RATE_HZ = 10
START_S = 3.0
"""Seconds from the start of the process until measuring begins."""
WORK = """
import os, sys, time
began = time.perf_counter()
children = []
for _ in range(os.cpu_count()):
    child = os.fork()
    if not child:
        total = 0
        for i in range(int(sys.argv[1])):
            total += i * i % 7
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
print(time.perf_counter() - began)
"""
"""Keeps every core busy with the same work and prints how long that took; its argument is the amount."""


def add_surroundings(root: Path, cpus: int = 8) -> None:
    """Clocks, throttle counters, package power and mains, as a laptop has them; `root` stands for /sys."""
    cpu_folder = root / "devices" / "system" / "cpu"
    for number in range(cpus):
        folder = cpu_folder / f"cpu{number}"
        for name, value in {
            "cpufreq/scaling_cur_freq": 2400000,
            "cpufreq/scaling_max_freq": 4800000,
            "cpufreq/cpuinfo_max_freq": 4800000,
            "cpufreq/scaling_driver": "intel_pstate",
            "cpufreq/scaling_governor": "powersave",
            "thermal_throttle/core_throttle_count": 0,
            "thermal_throttle/package_throttle_count": 0,
            "thermal_throttle/package_throttle_total_time_ms": 0,
            "topology/physical_package_id": 0,
            "topology/core_id": number,
        }.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{value}\n")
    for name in ("online", "present", "possible"):
        (cpu_folder / name).write_text(f"0-{cpus - 1}\n")
    package = root / "class" / "powercap" / "intel-rapl:0"
    mains = root / "class" / "power_supply" / "AC"
    for folder, files in (
        (package, {"name": "package-0", "energy_uj": 1000000, "max_energy_range_uj": 262143328850}),
        (mains, {"type": "Mains", "online": 1}),
    ):
        folder.mkdir(parents=True)
        for name, value in files.items():
            (folder / name).write_text(f"{value}\n")


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process, to the nanosecond (/proc/PID/task/*/schedstat)."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in tasks) / 1e9


def share_of_a_core(command: list[str], env: dict[str, str], seconds: float) -> float:
    """Percent of one core that the recorder uses beside a command that sleeps."""
    process = subprocess.Popen(
        [*command, "--", "sleep", str(seconds + START_S + 2)], env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    time.sleep(START_S)
    before, started = cpu_seconds(process.pid), time.perf_counter()
    time.sleep(seconds)
    share = (cpu_seconds(process.pid) - before) / (time.perf_counter() - started) * 100
    _, err = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"the recorder ended with {process.returncode}: {err.decode()[-500:]}")
    return share


def work_seconds(command: list[str], env: dict[str, str], amount: int) -> float:
    """Seconds that the benchmark says it took, behind `command`."""
    done = subprocess.run(
        [*command, sys.executable, "-c", WORK, str(amount)],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    sys_folder = support.enter_fake_sys()
    support.build_laptop(sys_folder)
    add_surroundings(sys_folder)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        env = support.environment(home)
        record = [*support.toolkit_command(), "temps", "--record", str(home / "run"), "--force", "--rate", str(RATE_HZ)]
        with support.moving(sys_folder):
            share = share_of_a_core(record, env, seconds)
        rows = (home / "run.csv").read_text().count("\n") - 1
        print(f"recorder at {RATE_HZ} Hz beside sleep, {seconds:.0f} s, {rows} rows in all")
        print(f"share of a core   {share:.2f} %   {support.verdict(share, 0.5, ' %')}")
        amount = round(4_000_000 / work_seconds([], env, 2_000_000))
        alone, beside, again = [], [], []
        for _ in range(pairs):
            alone.append(work_seconds([], env, amount))
            beside.append(work_seconds([*record, "--"], env, amount))
            again.append(work_seconds([], env, amount))
    plain = [(one + two) / 2 for one, two in zip(alone, again, strict=True)]
    slower = statistics.median(b / p for b, p in zip(beside, plain, strict=True))
    noise = statistics.median(abs(two / one - 1) for one, two in zip(alone, again, strict=True))
    print(f"benchmark on {os.cpu_count()} cores, {pairs} pairs: {statistics.median(plain):.2f} s alone (median)")
    print(f"beside the recorder {slower:.4f} times as long (median of pairs); two runs alone differ by {noise:.2%}")


if __name__ == "__main__":
    main()
