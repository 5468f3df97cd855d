"""The one model that every screen and command on temperatures shows: a Snapshot, taken again and again."""

from __future__ import annotations

import errno
from dataclasses import dataclass, replace
from operator import is_

from toolkit.errors import NotCaptured, Problem
from toolkit.host.base import Host, Watch
from toolkit.host.read import errno_name, read_number
from toolkit.sensors.clean import NOISE_SECONDS, is_jump, judge
from toolkit.sensors.clocks import ClockProbe
from toolkit.sensors.fold import fold
from toolkit.sensors.heldback import judge_held_back
from toolkit.sensors.hwmon import Channel, Found, find
from toolkit.sensors.machine import probe_cpu_facts, probe_machine
from toolkit.sensors.model import (
    Clocks,
    Headline,
    HeldBack,
    Machine,
    Power,
    Reading,
    Rule,
    Sensor,
    Snapshot,
    State,
    Throttling,
)
from toolkit.sensors.plan import Asleep, Fault, Stuck
from toolkit.sensors.power import PowerProbe
from toolkit.sensors.sampler import Sampler
from toolkit.sensors.throttling import ThrottleProbe

SURROUNDINGS_S = 0.95
"""Clocks, power and counters are looked at this often at most; between two looks the same values stand."""
_ALARM_S = 4.95
RESCAN_S = 0.9
"""What was found is not looked for again before this."""
_RADIO = ("iwlwifi", "mt7", "ath", "rtw", "brcm")
_LOST = (errno.ENODEV, errno.ENOENT)


@dataclass(frozen=True, slots=True)
class MonitorOptions:
    """How to look.

    Attributes:
        rule: how the headline is folded.
        read_disks: also read drivetemp, which may keep a disk from spinning down.
        wake: read devices that sleep, too.
    """

    rule: Rule = Rule.BEST
    read_disks: bool = False
    wake: bool = False


class ThermalMonitor:
    """Looks at the sensors of one host. Not for use in two threads at once; `snapshot` may block for a second or two
    (a chip that hangs), so it is called in a thread by whoever must not wait.
    """

    def __init__(self, host: Host, options: MonitorOptions = MonitorOptions()) -> None:
        self.host = host
        self.options = options
        self._machine: Machine | None = None
        self._found = find(host)
        self._sampler = self._make_sampler(self._found)
        self._facts = replace(probe_cpu_facts(host), denied=self._found.denied)
        self._readings: dict[str, Reading] = {}
        self._keys: dict[str, object] = {}
        self._noisy: dict[str, float] = {}
        self._judged: dict[str, tuple[int, float]] = {}
        self._gone: dict[str, Reading] = {}
        self._watch: Watch | None = None
        self._clock_probe = ClockProbe(host)
        self._power_probe = PowerProbe(host)
        self._throttle_probe = ThrottleProbe(host)
        self._surroundings: tuple[Clocks, Power, Throttling] | None = None
        self._surroundings_at = 0.0
        self._alarms: dict[str, bool] = {}
        self._alarms_at: float | None = None
        self._rescanned_at = host.monotonic()
        self._asleep: set[int] = set()
        self._folded: tuple[tuple[Reading, ...], Headline] | None = None
        self._held: tuple[tuple[Headline, Throttling, Clocks, Power], HeldBack] | None = None
        self._looks = 0

    @property
    def machine(self) -> Machine:
        """What names the machine; read at the first use."""
        if self._machine is None:
            self._machine = probe_machine(self.host)
        return self._machine

    def snapshot(self, look_around: bool = False) -> Snapshot:
        """Look at everything that is due and return it. Never raises for the machine's faults.

        Args:
            look_around: look at clocks, power and counters again, however short ago that was.
        """
        changed = self._looks > 0 and self._hot_plugged() and self.rescan()
        values = self._sampler.guarded_tick(everything=self._looks == 0)
        if (self._lost(values) or self._woke(values)) and self.rescan():
            changed = True
            values = self._sampler.guarded_tick()
        now = self.host.monotonic()
        self._look_at_alarms(now)
        readings = tuple(
            self._reading(index, channel, values[index], now) for index, channel in enumerate(self._sampler.channels)
        )
        readings += tuple(self._gone.values())
        headline = self._fold(readings)
        if look_around:
            self._surroundings = None
        clocks, power, throttling = self._look_around(readings, now)
        self._looks += 1
        return Snapshot(
            taken_at=self.host.time(),
            monotonic_s=now,
            headline=headline,
            readings=readings,
            clocks=clocks,
            power=power,
            throttling=throttling,
            held_back=self._judge_held_back(headline, throttling, clocks, power),
            problems=self._problems(clocks, power),
            changed_sensors=changed,
        )

    def _fold(self, readings: tuple[Reading, ...]) -> Headline:
        """Fold, or return the last headline where every reading is the one of the look before."""
        last = self._folded
        if last is None or len(last[0]) != len(readings) or not all(map(is_, last[0], readings)):
            last = self._folded = (readings, fold(readings, self.options.rule, self._facts))
        return last[1]

    def _judge_held_back(self, headline: Headline, throttling: Throttling, clocks: Clocks, power: Power) -> HeldBack:
        since_s = self._throttle_probe.seconds_since_event()
        inputs = (headline, throttling, clocks, power)
        last = self._held
        if last is None or since_s is not None or not all(map(is_, last[0], inputs)):
            last = self._held = (inputs, judge_held_back(*inputs, since_s))
        return last[1]

    def rescan(self) -> bool:
        """Find the sensors again, as after hot-plug; True where the list is another one now."""
        self._rescanned_at = self.host.monotonic()
        found = find(self.host)
        if found.channels == self._found.channels:
            return False
        kept = {channel.sensor.id for channel in found.channels}
        for channel in self._sampler.channels:
            sensor = channel.sensor
            if sensor.id not in kept:
                self._gone[sensor.id] = Reading(sensor, State.GONE, reason=f"gone since {self._clock_time()}")
        for sensor_id in kept:
            self._gone.pop(sensor_id, None)
        self._sampler.close()
        self._found, self._sampler = found, self._make_sampler(found)
        self._readings.clear()
        self._keys.clear()
        self._asleep.clear()
        self._facts = replace(probe_cpu_facts(self.host), denied=found.denied)
        self._folded = None
        return True

    def close(self) -> None:
        """Close every file."""
        self._sampler.close()
        self._throttle_probe.close()
        if self._watch is not None:
            self._watch.close()

    def _make_sampler(self, found: Found) -> Sampler:
        return Sampler(self.host, found.channels, self.options.read_disks, self.options.wake)

    def _hot_plugged(self) -> bool:
        if self.host.monotonic() - self._rescanned_at < RESCAN_S and self._watch is None:
            return False
        if self._watch is None:
            # Made late: a single look needs no listener, and loading one costs more than the look.
            # What came in between is found by looking once.
            self._watch = self.host.watch("hwmon")
            return True
        return self._watch.changed()

    def _lost(self, values: list[int | Exception | None]) -> bool:
        """True where a file vanished under us, and a look for its new place is due."""
        lost = any(isinstance(value, OSError) and value.errno in _LOST for value in values)
        return lost and (self._looks == 0 or self.host.monotonic() - self._rescanned_at >= RESCAN_S * 0.5)

    def _woke(self, values: list[int | Exception | None]) -> bool:
        """True where a chip that slept gives values now: its limits were not read while it slept."""
        asleep = {index for index, value in enumerate(values) if isinstance(value, Asleep)}
        woke = bool(self._asleep - asleep)
        self._asleep = asleep
        return woke

    def _reading(self, index: int, channel: Channel, value: int | Exception | None, now: float) -> Reading:
        sensor = channel.sensor
        slow_s = self._sampler.slow.get(index)
        key: object = (value if not isinstance(value, Exception) else (type(value), str(value)), slow_s)
        old = self._readings.get(sensor.id)
        if old is not None and self._keys[sensor.id] == key and slow_s is None:
            noisy = self._noisy.get(sensor.id)
            if noisy is None or now < noisy:
                return old
        reading = self._judge(index, channel, value, now, slow_s)
        self._keys[sensor.id] = key
        self._readings[sensor.id] = reading
        return reading

    def _judge(
        self, index: int, channel: Channel, value: int | Exception | None, now: float, slow_s: float | None
    ) -> Reading:
        sensor = channel.sensor
        alarm = self._alarms.get(sensor.id)
        if not isinstance(value, int):
            state, reason = self._no_value(channel, value)
            return Reading(sensor, state, reason=reason, alarm=alarm)
        state, reason = judge(sensor.chip.name, sensor.quantity, sensor.label, value)
        if self._jumped(sensor, value, now) and state is State.OK:
            state, reason = State.IMPLAUSIBLE, "jumps by over 60 °C: probably an open input"
        if state is not State.OK:
            return Reading(sensor, state, raw=value, reason=reason, alarm=alarm)
        age_s = self._sampler.ages.get(index, 0.0)
        if slow_s is not None:
            state, reason = State.SLOW, f"takes {slow_s:.1f} s to answer, value {age_s:.0f} s old"
        return Reading(sensor, state, value, value / sensor.quantity.scale, reason, alarm, age_s)

    def _jumped(self, sensor: Sensor, value: int, now: float) -> bool:
        before = self._judged.get(sensor.id)
        self._judged[sensor.id] = (value, now)
        lately = before is not None and now - before[1] <= 10.0
        if lately and before is not None and is_jump(sensor.chip.name, sensor.quantity, before[0], value):
            self._noisy[sensor.id] = now + NOISE_SECONDS
        until = self._noisy.get(sensor.id)
        if until is not None and now >= until:
            del self._noisy[sensor.id]
            return False
        return until is not None

    def _no_value(self, channel: Channel, value: Exception | None) -> tuple[State, str]:
        if isinstance(value, Asleep):
            return State.ASLEEP, str(value)
        if isinstance(value, Stuck):
            return State.SLOW, str(value)
        if isinstance(value, Fault):
            return State.FAULT, "the chip reports a fault (broken or missing probe)"
        if isinstance(value, NotCaptured):
            return State.UNREADABLE, "not captured"
        if isinstance(value, OSError):
            if channel.enable is not None and read_number(self.host, channel.enable) == 0:
                return State.DISABLED, "switched off (enable is 0)"
            return State.UNREADABLE, _why_unreadable(channel.sensor, value)
        if isinstance(value, ValueError):
            return State.UNREADABLE, "not a number"
        return State.UNREADABLE, "not read yet"

    def _look_at_alarms(self, now: float) -> None:
        if self._alarms_at is not None and now - self._alarms_at < _ALARM_S:
            return
        self._alarms_at = now
        for index, channel in enumerate(self._sampler.channels):
            if channel.alarm is None or not isinstance(self._sampler.values[index], int):
                continue
            if index in self._sampler.ages:
                continue  # read apart: its alarm would hold us up, too
            state = read_number(self.host, channel.alarm)
            if state is not None and self._alarms.get(channel.sensor.id) != (state != 0):
                self._alarms[channel.sensor.id] = state != 0
                self._keys.pop(channel.sensor.id, None)
                self._readings.pop(channel.sensor.id, None)

    def _look_around(self, readings: tuple[Reading, ...], now: float) -> tuple[Clocks, Power, Throttling]:
        if self._surroundings is None or now - self._surroundings_at >= SURROUNDINGS_S:
            self._surroundings_at = now
            self._surroundings = (
                self._clock_probe.look(),
                self._power_probe.look(readings),
                self._throttle_probe.look(),
            )
        return self._surroundings

    def _problems(self, clocks: Clocks, power: Power) -> tuple[Problem, ...]:
        extra = tuple(problem for problem in (clocks.problem, power.problem) if problem is not None)
        return self._found.problems + extra

    def _clock_time(self) -> str:
        from time import localtime, strftime

        return strftime("%H:%M:%S", localtime(self.host.time()))


def headline_of(host: Host, rule: Rule = Rule.BEST) -> Headline:
    """Take one look and return the headline alone."""
    monitor = ThermalMonitor(host, MonitorOptions(rule))
    try:
        return monitor.snapshot().headline
    finally:
        monitor.close()


def _why_unreadable(sensor: Sensor, error: OSError) -> str:
    name = errno_name(error)
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{name}: needs root"
    if sensor.chip.name.startswith(_RADIO):
        return f"{name}: the radio is off or just coming back"
    if error.errno == errno.ENXIO:
        return f"{name}: off, or not there"
    if error.errno == errno.ENODATA:
        return f"{name}: no value now"
    if error.errno == errno.ETIMEDOUT:
        return f"{name}: did not answer in time"
    if error.errno in _LOST:
        return f"{name}: the device is gone"
    return f"{name}: the read failed"
