"""What the temperature screen costs while it is looked at: share of one core, at 1 Hz, 120x40, against s-tui and btop.

    sudo python benchmarks/screen_cpu.py [SECONDS]

All run at the same time on pseudo-terminals of the same size, on the same fake /sys in a mount namespace, in which
every temperature changes once a second. Needs s-tui (pip install s-tui) and btop (apt install btop).
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import support

WARM_UP_S = 8.0
SHOWN = {"toolkit": b"Package id 0", "s-tui": b"Core4,0", "btop": b"cpu"}
"""What each must have drawn before it is measured."""


def commands(home: Path) -> dict[str, list[str]]:
    """The three programs, each told to refresh once a second."""
    btop_settings = home / ".config" / "btop"
    btop_settings.mkdir(parents=True)
    (btop_settings / "btop.conf").write_text("update_ms = 1000\ncheck_temp = True\n")
    return {
        "toolkit": [*support.toolkit_command(), "--screen", "temperatures"],
        "s-tui": [support.program("s-tui", "pip install s-tui"), "--refresh-rate", "1"],
        "btop": [support.program("btop", "apt install btop"), "--utf-force"],
    }


def main() -> None:
    """Measure and print."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    sys_folder = support.enter_fake_sys()
    support.build_laptop(sys_folder)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        home = Path(folder)
        env = support.environment(home)
        stack.enter_context(support.moving(sys_folder))
        running = {name: stack.enter_context(support.Terminal(argv, env)) for name, argv in commands(home).items()}
        time.sleep(WARM_UP_S)
        for name, terminal in running.items():
            if not terminal.alive() or SHOWN[name] not in bytes(terminal.text):
                raise SystemExit(f"{name} does not run: {bytes(terminal.text[-800:]).decode(errors='replace')}")
        before = {name: (terminal.cpu_s(), terminal.written) for name, terminal in running.items()}
        started = time.perf_counter()
        time.sleep(seconds)
        elapsed = time.perf_counter() - started
        shares = {}
        print(f"{'':<10} {'core':>7} {'memory':>10} {'written':>12}   over {elapsed:.0f} s at 120x40")
        for name, terminal in running.items():
            shares[name] = (terminal.cpu_s() - before[name][0]) / elapsed * 100
            rate = (terminal.written - before[name][1]) / elapsed
            print(f"{name:<10} {shares[name]:>6.2f}% {terminal.resident_mib():>6.1f} MiB {rate:>8.0f} B/s")
        ratio = shares["toolkit"] / shares["s-tui"]
        print(f"toolkit / s-tui {ratio:.2f}   {support.verdict(ratio, 1.0)}")


if __name__ == "__main__":
    main()
