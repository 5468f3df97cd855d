"""Writes the `changes.jsonl` of the demo, assets/demo/framework13: three minutes in the life of a laptop.

    python tests/captures/make_demo.py

The rest of that capture (tree.txt, meta.json) is written by hand; the values at second 0 are read from it and the round
ends on them, so that the demo can repeat for ever. A test sees to it that the shipped file is what comes out here.

The machine is a CPU on a heat pipe: two heat capacities, a fan that follows the second with some delay, a power limit
of 64 W for short and of 28 W (PL1) over 28 seconds, and a heat limit of 100 degrees that takes power away. Chance is a
small generator of our own, so that every Python writes the same file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "assets" / "demo" / "framework13"
ROUND_S = 180
BENCHMARK = range(15, 95)
BROWSING = range(148, 153)
RADIO_OFF = range(118, 140)

CPU = "sys/devices/system/cpu"
CORETEMP = "sys/devices/platform/coretemp.0/hwmon/hwmon3"
EC = "sys/devices/platform/cros_ec_lpcs.0/cros-ec-dev.1.auto/cros-ec-hwmon.11.auto/hwmon/hwmon5"
ZONE = "sys/devices/virtual/thermal/thermal_zone{}"
NVME = "sys/devices/pci0000:00/0000:00:06.0/0000:01:00.0/nvme/nvme0/hwmon2"
SUPPLY = "sys/devices/LNXSYSTM:00/LNXSYBUS:00/PNP0A08:00/device:19/PNP0C09:00/PNP0C0A:00/power_supply/BAT1"
RAPL = "sys/devices/virtual/powercap/intel-rapl/intel-rapl:0"
ENERGY = f"{RAPL}/energy_uj"
RADIO = ZONE.format(5) + "/hwmon4/temp1_input"

LIMIT_C, PL1_W, PL2_W, PL1_S = 100.0, 28.0, 64.0, 28.0
ROOM_C, JUNCTION_K_PER_W = 23.5, 1.08
SINK_J_PER_K, SINK_K_PER_W, SINK_FAN_K_PER_W = 16.0, 4.05, 1.22
JUNCTION_SHARE = 0.45
IDLE_W, BROWSING_W, REST_OF_MACHINE_W = 5.9, 13.0, 3.2
FAN_TOP_RPM = 5600


class Chance:
    """A linear congruential generator: numbers from -1 to 1, the same everywhere."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def __call__(self) -> float:
        self._state = (self._state * 1103515245 + 12345) % (1 << 31)
        return self._state / (1 << 30) - 1.0


@dataclass
class Laptop:
    """What moves inside; one step is one second."""

    chance: Chance
    sink_c: float = 47.5
    junction_c: float = 54.0
    fan_rpm: float = 0.0
    lent_w: float = IDLE_W
    watts: float = IDLE_W
    throttled: bool = False

    def step(self, second: int) -> None:
        busy = second in BENCHMARK
        # The threads of the benchmark begin one after the other.
        load_w = min(PL2_W, 24.0 + 14.0 * (second - BENCHMARK.start))
        wanted = load_w if busy else BROWSING_W if second in BROWSING else IDLE_W + 0.5 * self.chance()
        self.lent_w += (self.watts - self.lent_w) / PL1_S
        allowed = PL1_W if self.lent_w >= PL1_W - 0.4 else PL2_W
        room_k = self.junction_c + (LIMIT_C - 0.9 - self.junction_c) / JUNCTION_SHARE - self.sink_c
        cool_enough = room_k / JUNCTION_K_PER_W
        self.throttled = busy and cool_enough < min(wanted, allowed)
        self.watts = min(wanted, allowed, cool_enough)
        if busy and not self.throttled:
            self.watts += 0.15 * self.chance()
        air = self.fan_rpm / FAN_TOP_RPM
        resistance = SINK_K_PER_W + (SINK_FAN_K_PER_W - SINK_K_PER_W) * min(1.0, air) ** 0.5
        self.sink_c += (self.watts - (self.sink_c - ROOM_C) / resistance) / SINK_J_PER_K
        settled = self.sink_c + JUNCTION_K_PER_W * self.watts
        self.junction_c += (settled - self.junction_c) * JUNCTION_SHARE
        target = 0.0 if self.sink_c < 48.4 else FAN_TOP_RPM * min(1.0, 0.3 + (self.sink_c - 48.4) / 16.0)
        self.fan_rpm += (target - self.fan_rpm) * 0.22
        if target == 0.0 and self.fan_rpm < 900:
            self.fan_rpm = 0.0


@dataclass
class Writer:
    """Notes what changed, against what stood there before."""

    values: dict[str, str]
    lines: list[tuple[float, str]] = field(default_factory=list)

    def put(self, second: float, path: str, value: object) -> None:
        text = str(value)
        if self.values[path] == text:
            return
        self.values[path] = text
        what = {"errno": text[1:]} if text.startswith("!") else {"text": text}
        # Half past the second: whoever looks each full second is never in doubt on which side of a change that is.
        after_s = round(second + 0.5, 1)
        self.lines.append((after_s, json.dumps({"after_s": after_s, "path": path, **what}, separators=(",", ":"))))


def read_tree(folder: Path) -> dict[str, str]:
    """Return the one-line files of the capture's tree.txt."""
    lines = (folder / "tree.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" = ", 1) for line in lines if " = " in line and not line.startswith("#"))


def seconds() -> Iterator[tuple[int, Laptop]]:
    """Yield each second of one round. A first round runs unseen, so that the round that is shown ends as it begins."""
    laptop = Laptop(Chance(13))
    for second in range(ROUND_S):
        laptop.step(second)
    laptop.chance = Chance(13)
    for second in range(ROUND_S):
        laptop.step(second)
        yield second, laptop


def generate(folder: Path) -> tuple[str, int]:
    """Return the text of changes.jsonl, and the microjoules of one round."""
    start = read_tree(folder)
    out = Writer(dict(start))
    watts = [laptop.watts for _, laptop in seconds()]
    used_uj = round(sum(watts) * 1e6)
    chance, load, events = Chance(29), 0.55, 0
    shown = dict.fromkeys(range(2, 26), 0.0)
    counters = _counters(start, watts)
    for second, laptop in seconds():
        busy = second in BENCHMARK
        for moment, path, text in counters[second]:
            out.put(moment, path, text)
        if second == ROUND_S - 1:
            break
        _temperatures(out, second, laptop, busy, shown, chance)
        _clocks(out, second, laptop, busy, chance)
        if laptop.throttled and second % 3 == 2:
            events += 1 + second % 2
            _throttling(out, second, events)
        load += ((16.4 if busy else 0.5) - load) / 60.0
        if second % 2 == 0:
            out.put(second, f"{EC}/fan1_input", round(laptop.fan_rpm))
        if second % 5 == 1:
            out.put(second, "proc/loadavg", f"{load:.2f} {0.58 + load / 9:.2f} 0.61 {3 if busy else 1}/1243 5120")
            _surroundings(out, second, laptop)
        out.put(second, RADIO, "!ENODATA" if second in RADIO_OFF else 1000 * (44 + (second // 30) % 2))
    for path in sorted(start):
        if path not in ("proc/stat", ENERGY):  # these run on
            out.put(ROUND_S - 1, path, start[path])
    out.lines.sort(key=lambda line: line[0])
    return "".join(f"{line}\n" for _, line in out.lines), used_uj


def _counters(start: dict[str, str], watts: list[float]) -> list[list[tuple[float, str, str]]]:
    """Return, for each second, what the counters of energy and of CPU time show at which moment.

    They move shortly before each full second, and at the very start in tenths, for whoever looks twice within it and
    goes. The energy counter wraps where the round does.
    """
    energy, span = int(start[ENERGY]), int(start[f"{RAPL}/max_energy_range_uj"]) + 1
    stat = [int(field) for field in start["proc/stat"].split()[1:]]
    chance = Chance(31)
    busy_ticks, ticks, joules = 0.0, 0.0, 0.0
    found: list[list[tuple[float, str, str]]] = []
    for second, power in enumerate(watts):
        share = 0.985 if second in BENCHMARK else 0.24 if second in BROWSING else 0.035 + 0.015 * chance()
        steps = range(1, 11) if second < 2 else (9,)
        found.append([])
        for tenth in steps:
            part = tenth / 10
            now_uj = energy + round((joules + power * part) * 1e6)
            busy, system = round(busy_ticks + 1600 * share * part), round((busy_ticks + 1600 * share * part) / 12)
            idle = round(ticks + 1600 * part) - busy
            moved = [stat[0] + busy - system, stat[1], stat[2] + system, stat[3] + idle, *stat[4:]]
            found[-1].append((second + part - 0.5, ENERGY, str(now_uj % span)))
            found[-1].append((second + part - 0.5, "proc/stat", "cpu  " + " ".join(map(str, moved))))
        busy_ticks, ticks, joules = busy_ticks + 1600 * share, ticks + 1600, joules + power
    return found


def _temperatures(
    out: Writer, second: int, laptop: Laptop, busy: bool, shown: dict[int, float], chance: Chance
) -> None:
    """Write coretemp: the package is the hottest; the cores differ little under load, more when idle."""
    package = min(100, round(laptop.junction_c + (1.3 if busy else 0.3) * chance()))
    out.put(second, f"{CORETEMP}/temp1_input", 1000 * package)
    hottest = 6 if second % 7 < 4 else 2
    for index, below in ((2, 1), (6, 0), (10, 3), (14, 2)):
        drop = 0.0 if index == hottest else below + (0.8 if busy else 1.2) * chance()
        # A core is written when it has moved by a degree or more, so that not everything changes at once.
        if abs(package - drop - shown[index]) >= 1.0:
            shown[index] = package - max(0.0, drop)
            out.put(second, f"{CORETEMP}/temp{index}_input", 1000 * min(package, round(shown[index])))
    for first, below in ((18, 6 if busy else 3), (22, 8 if busy else 4)):
        if abs(package - below - shown[first]) >= 1.6:
            shown[first] = package - below
            out.put(second, f"{CORETEMP}/temp{first}_input", 1000 * round(shown[first]))


def _clocks(out: Writer, second: int, laptop: Laptop, busy: bool, chance: Chance) -> None:
    """Write the clocks: all of them when the benchmark begins, settles on its limits or ends, else a few each second."""
    begins = second in (BENCHMARK.start, BENCHMARK.start + 4, BENCHMARK.start + 9, 58, BENCHMARK.stop)
    # While the threads come in, those that run have the power for themselves.
    watts = max(laptop.watts, 46.0) if second < BENCHMARK.start + 4 else laptop.watts
    for cpu in range(16) if begins else ((second * 3 + k * 7) % 16 for k in range(2)):
        efficient = cpu >= 8
        if busy:
            khz = (1850 if efficient else 2450) * (watts / PL1_W) ** 0.62 * 1000 + 12000 * chance()
        else:
            khz = (1200 if efficient else 1900) * 1000 + (160000 if efficient else 420000) * chance()
        out.put(second, f"{CPU}/cpufreq/policy{cpu}/scaling_cur_freq", round(khz / 1000) * 1000)


def _throttling(out: Writer, second: int, events: int) -> None:
    """Write the counters of thermal events: those of the package, and of two performance cores."""
    out.put(second, f"{CPU}/cpu0/thermal_throttle/package_throttle_count", events)
    out.put(second, f"{CPU}/cpu0/thermal_throttle/package_throttle_total_time_ms", events * 37)
    for cpu, share in ((2, 3), (6, 7)):
        out.put(second, f"{CPU}/cpu{cpu}/thermal_throttle/core_throttle_count", events // share)


def _surroundings(out: Writer, second: int, laptop: Laptop) -> None:
    """Write what is slow: board, drive, battery."""
    rpm = round(laptop.fan_rpm)
    board = {1: laptop.junction_c - 1, 2: laptop.sink_c - 1, 3: 30 + laptop.sink_c / 3.6, 4: 31 + laptop.sink_c / 4.4}
    for index, celsius in board.items():
        out.put(second, f"{EC}/temp{index}_input", 1000 * round(celsius) + 850)
    if second % 15 == 1:
        drive = 28 + laptop.sink_c / 3.7
        out.put(second, f"{NVME}/temp1_input", 1000 * round(drive) + 850)
        out.put(second, f"{NVME}/temp2_input", 1000 * round(drive + 14) + 850)
        out.put(second, f"{NVME}/temp3_input", 1000 * round(drive) + 850)
    watts = laptop.watts + REST_OF_MACHINE_W + 2.4 * rpm / FAN_TOP_RPM
    millivolt = round(16250 - 12 * watts)
    milliampere = round(watts / millivolt * 1e6)
    out.put(second, f"{SUPPLY}/voltage_now", millivolt * 1000)
    out.put(second, f"{SUPPLY}/current_now", milliampere * 1000)
    out.put(second, f"{SUPPLY}/hwmon1/in0_input", millivolt)
    out.put(second, f"{SUPPLY}/hwmon1/curr1_input", milliampere)


def main() -> int:
    text, used_uj = generate(DEMO)
    (DEMO / "changes.jsonl").write_text(text, encoding="utf-8")
    print(f"{text.count(chr(10))} changes, {len(text)} bytes; max_energy_range_uj in tree.txt must be {used_uj - 1}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
