"""How long the one-shot commands take, above a bare Python.

    python benchmarks/startup.py [ROUNDS]

Bare Python and the commands alternate within one run, so that what else the machine does hits all alike.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import support


def once(command: list[str], env: dict[str, str]) -> float:
    """Milliseconds from start to end of a command, which must succeed."""
    started = time.perf_counter()
    done = subprocess.run(command, env=env, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False)
    elapsed = (time.perf_counter() - started) * 1e3
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return elapsed


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        support.build_laptop(root / "sys")
        env = support.environment(root)
        toolkit = support.toolkit_command()
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "toolkit --version": [*toolkit, "--version"],
            "toolkit temps --json": [*toolkit, "--root", str(root), "temps", "--json"],
        }
        for command in commands.values():
            once(command, env)  # compiles the byte-code
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                times[name].append(once(command, env))
    bare_best, bare_median = support.best_and_median(times["python -c pass"])
    goals = {"toolkit --version": 60.0, "toolkit temps --json": 120.0}
    print(f"{'':<22} {'best':>8} {'median':>8}   above bare Python (best, median)   {rounds} rounds")
    for name, samples in times.items():
        best, median = support.best_and_median(samples)
        line = f"{name:<22} {best:>6.1f}ms {median:>6.1f}ms"
        if name in goals:
            above = median - bare_median
            line += f"   +{best - bare_best:.1f}ms, +{above:.1f}ms   {support.verdict(above, goals[name], 'ms')}"
        print(line)


if __name__ == "__main__":
    main()
