"""10, 100 and 1,000 sensors: does a look at all of them grow faster than their number, and does the screen stay quick?

python benchmarks/many_sensors.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import support

COUNTS = (10, 100, 1000)


def tick_us(root: Path, rounds: int) -> tuple[float, float]:
    """Best and median time of one look at everything, in microseconds."""
    from toolkit.host.local import LocalHost
    from toolkit.sensors.hwmon import find
    from toolkit.sensors.sampler import Sampler

    host = LocalHost(str(root))
    sampler = Sampler(host, find(host).channels)
    sampler.tick(everything=True)
    samples = []
    for _ in range(rounds):
        started = time.perf_counter()
        sampler.tick(everything=True)
        samples.append((time.perf_counter() - started) * 1e6)
    sampler.close()
    return support.best_and_median(samples)


def snapshot_ms(root: Path, rounds: int) -> tuple[float, float]:
    """Best and median time of a whole snapshot (values, states, headline, clocks), in milliseconds."""
    from toolkit.host.local import LocalHost
    from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

    monitor = ThermalMonitor(LocalHost(str(root)), MonitorOptions())
    monitor.snapshot()
    samples = []
    for _ in range(rounds):
        started = time.perf_counter()
        monitor.snapshot()
        samples.append((time.perf_counter() - started) * 1e3)
    monitor.close()
    return support.best_and_median(samples)


def key_to_paint_ms(root: Path, home: Path, presses: int = 30) -> list[float]:
    """Time from a key (down, up, ...) to the first bytes that answer it, on a running screen in a 120x40 terminal."""
    command = [*support.toolkit_command(), "--root", str(root), "--screen", "temperatures"]
    with support.Terminal(command, support.environment(home)) as terminal:
        deadline = time.perf_counter() + 20
        while b"coretemp" not in terminal.text:
            if time.perf_counter() > deadline or not terminal.alive():
                raise SystemExit(f"no first paint: {bytes(terminal.text[-800:]).decode(errors='replace')}")
            time.sleep(0.05)
        time.sleep(2)
        samples = []
        for press in range(presses):
            # Press in a pause, so that what comes is the answer and not the beat of the clock.
            while time.perf_counter() - terminal.last_write_s < 0.15:
                time.sleep(0.005)
            before = terminal.written
            started = time.perf_counter()
            terminal.send(b"\x1b[A" if press % 2 else b"\x1b[B")
            while terminal.written == before and time.perf_counter() - started < 2:
                time.sleep(0.0005)
            samples.append((time.perf_counter() - started) * 1e3)
            time.sleep(0.05)
    return samples


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    sys.path.insert(0, str(support.PROJECT))
    per_sensor = {}
    print(f"{'sensors':>8} {'tick best':>12} {'median':>12} {'per sensor':>12} {'snapshot':>12} {'key to paint':>22}")
    for count in COUNTS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "root"
            support.build_many(root / "sys", count)
            best, median = tick_us(root, rounds)
            _, snapshot = snapshot_ms(root, max(5, rounds // 5))
            with support.moving(root / "sys"):
                keys = key_to_paint_ms(root, Path(folder))
        per_sensor[count] = best / count
        middle, worst = statistics.median(keys), max(keys)
        print(
            f"{count:>8} {best:>10.1f}us {median:>10.1f}us {best / count:>10.2f}us {snapshot:>10.2f}ms "
            f"{middle:>10.1f}ms, {worst:.0f} worst"
        )
    growth = per_sensor[COUNTS[-1]] / per_sensor[COUNTS[0]]
    print(f"cost of one sensor at 1,000 against 10: {growth:.2f} times   {support.verdict(growth, 1.2)}")


if __name__ == "__main__":
    main()
