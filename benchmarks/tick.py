"""One look at every sensor: the sampler against psutil.sensors_temperatures() on the same tree.

    sudo python benchmarks/tick.py [ROUNDS]

Runs in a mount namespace with a fake /sys, since psutil knows no other place. Both read all 12 temperatures each time;
the sampler is also asked for all that is due at once, as the recorder does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import support


def microseconds(call: Callable[[], object], inner: int) -> float:
    """Mean time of one call over `inner` calls."""
    started = time.perf_counter()
    for _ in range(inner):
        call()
    return (time.perf_counter() - started) / inner * 1e6


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    sys_folder = support.enter_fake_sys()
    support.build_laptop(sys_folder)
    sys.path.insert(0, str(support.PROJECT))

    import psutil

    from toolkit.host.local import LocalHost
    from toolkit.sensors.hwmon import find
    from toolkit.sensors.sampler import Sampler

    seen_by_psutil = sum(len(entries) for entries in psutil.sensors_temperatures().values())
    channels = [channel for channel in find(LocalHost()).channels if channel.sensor.quantity.value == "temp"]
    if seen_by_psutil != len(channels):
        raise SystemExit(f"psutil sees {seen_by_psutil} temperatures, the sampler {len(channels)}: not the same work")
    sampler = Sampler(LocalHost(), channels)
    values = sampler.tick(everything=True)
    if not all(isinstance(value, int) for value in values):
        raise SystemExit(f"the sampler did not read all: {values}")
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        ours.append(microseconds(lambda: sampler.tick(everything=True), 200))
        theirs.append(microseconds(psutil.sensors_temperatures, 10))
    sampler.close()
    (our_best, our_median), (their_best, their_median) = support.best_and_median(ours), support.best_and_median(theirs)
    print(f"{len(channels)} temperatures, {rounds} rounds      best     median")
    print(f"psutil.sensors_temperatures  {their_best:>8.1f}us {their_median:>8.1f}us")
    print(f"Sampler.tick, everything     {our_best:>8.1f}us {our_median:>8.1f}us")
    ratio = their_median / our_median
    print(
        f"ratio {their_best / our_best:.0f} (best), {ratio:.0f} (median)   {support.verdict(ratio, 50, at_most=False)}"
    )


if __name__ == "__main__":
    main()
