"""Reads the value files again and again: every file stays open, and no chip can hold up the others.

A chip is read in the caller's thread while it is quick. One that takes over 20 ms goes to a worker of its own with a
longer interval; one that does not come back at all is left to its thread and said to be slow. Reads that would wake a
device, or keep it awake, are not made.

Sources: Documentation/hwmon/coretemp.rst (values are kept for a second, so the cores are not read faster),
Documentation/ABI/testing/sysfs-devices-power (runtime_status, control, autosuspend_delay_ms).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from toolkit.host.base import Host, ValueReader
from toolkit.sensors.clean import CPU_CHIPS
from toolkit.sensors.hwmon import Channel
from toolkit.sensors.model import Quantity
from toolkit.text import printable

SLOW_S = 0.020
"""A chip that takes longer than this, twice running, gets a worker of its own."""
VERY_SLOW_S = 0.250
"""... and at once where it took longer than this."""
_AWAKE_STATUS = (b"active", b"unsupported", b"error")
_AWAKE_STATE = (b"D0", b"unknown", b"error")
STUCK_S = 1.0
"""How long a look at all chips waits for one that does not answer."""


class Asleep(Exception):
    """The device was not read, since that would wake it; the text is the reason."""


class Stuck(Exception):
    """The chip has not answered yet; the text says for how long."""


class Plan:
    """The files of one chip that are read together, and when they are due."""

    __slots__ = ("channels", "delay_s", "due", "guard", "interval_s", "lagging", "last_s", "readers", "rows", "seen_at")

    def __init__(self, channels: Sequence[tuple[int, Channel]], interval_s: float, guard: Guard | None) -> None:
        self.channels = tuple(channels)
        self.interval_s = interval_s
        self.guard = guard
        self.due = 0.0
        self.seen_at: float | None = None
        self.last_s = 0.0
        self.lagging = 0
        self.delay_s = 0.0
        self.readers: list[ValueReader] = []
        self.rows: list[tuple[int, Callable[[], bytes]]] = []


class Guard:
    """Tells whether a device may be read without waking it, from attributes that do not wake it themselves."""

    def __init__(self, host: Host, device: str) -> None:
        folders = (device, f"{device}/device")
        self._checks: list[tuple[Callable[[], bytes], tuple[bytes, ...]]] = []
        for folder in folders:
            for name, awake in (("power/runtime_status", _AWAKE_STATUS), ("power_state", _AWAKE_STATE)):
                try:
                    reader = host.open_value(f"{folder}/{name}")
                except OSError:
                    continue
                self._checks.append((reader.read, awake))
        self.backoff_s = _backoff(host, f"{device}/power")

    @property
    def needed(self) -> bool:
        """True where the device can sleep at all."""
        return bool(self._checks)

    def asleep(self) -> str | None:
        """Return why the device must not be read now, or None."""
        for read, awake in self._checks:
            try:
                status = read().strip()
            except OSError:
                continue
            if status and status not in awake:
                return f"asleep ({printable(status.decode(errors='replace'), 20)}), not read"
        return None


class Sampler:
    """Keeps the value files of `channels` open and reads those that are due.

    Args:
        read_disks: also read drivetemp, which may keep a disk from spinning down.
        wake: read sleeping devices too.
    """

    def __init__(
        self, host: Host, channels: Sequence[Channel], read_disks: bool = False, wake: bool = False
    ) -> None:
        self.channels = tuple(channels)
        self.values: list[int | Exception | None] = [None] * len(self.channels)
        self.ages: dict[int, float] = {}
        self.slow: dict[int, float] = {}
        self._host = host
        self._monotonic = host.monotonic
        self._wake = wake
        self._read_disks = read_disks
        self._fast = self._make_plans()
        self._apart: list[_Worker] = []
        self._closed = False
        self._lane: _Lane | None = None

    def tick(self, everything: bool = False) -> list[int | Exception | None]:
        """Read what is due (or all) in this thread and return the values, one a channel: a raw number, the
        exception that the read raised, or None where it was not read yet."""
        return self._tick(everything, self.values, self._fast, None)

    def guarded_tick(self, everything: bool = False, limit_s: float = STUCK_S) -> list[int | Exception | None]:
        """Like `tick`, but comes back when a chip does not answer within `limit_s`: it is read apart from then on."""
        while not self._closed:
            if self._lane is None:
                self._lane = _Lane(self)
            if self._lane.run(everything, limit_s):
                break
            stuck, self._lane = self._lane.abandon(), None
            if stuck is None:
                break
            self._move_apart(stuck, limit_s, started=True)
            everything = False
        for worker in self._apart:
            worker.collect(self.values, self._monotonic())
        return self.values

    def close(self) -> None:
        """Close every file and end the workers (one that hangs in the kernel ends when the kernel lets it)."""
        self._closed = True
        if self._lane is not None:
            self._lane.stop()
        for worker in self._apart:
            worker.stop()
        for plan in self._fast:
            for reader in plan.readers:
                reader.close()

    def _tick(
        self, everything: bool, values: list[int | Exception | None], plans: list[Plan], lane: _Lane | None
    ) -> list[int | Exception | None]:
        clock = self._monotonic
        started = clock()
        for plan in plans:
            if plan.due > started and not everything:
                continue
            if lane is not None:
                if not lane.alive:
                    return values
                lane.at = plan
            if plan.guard is not None and not self._may_read(plan, values, started):
                continue
            if not plan.readers:
                self._open(plan, values)
            for index, read in plan.rows:
                try:
                    values[index] = int(read())
                except (OSError, ValueError) as error:
                    values[index] = error
            if lane is not None and not lane.alive:
                return values
            ended = clock()
            plan.due = started + plan.interval_s
            plan.seen_at = ended
            if ended - started > SLOW_S:
                self._lagged(plan, ended - started)
            elif plan.lagging:
                plan.lagging = 0
            started = ended
        return values

    def _may_read(self, plan: Plan, values: list[int | Exception | None], now: float) -> bool:
        assert plan.guard is not None
        reason = None if self._wake else plan.guard.asleep()
        if reason is None:
            return True
        for reader in plan.readers:
            reader.close()
        plan.readers, plan.rows = [], []
        for index, _ in plan.channels:
            values[index] = Asleep(reason)
        plan.due = now + 0.95
        return False

    def _open(self, plan: Plan, values: list[int | Exception | None]) -> None:
        for index, channel in plan.channels:
            fault = self._open_fault(plan, channel)
            try:
                reader = self._host.open_value(channel.sensor.path)
            except OSError:
                plan.rows.append((index, _Retry(self._host, plan, channel.sensor.path)))
                continue
            plan.readers.append(reader)
            plan.rows.append((index, reader.read if fault is None else _with_fault(reader.read, fault)))

    def _open_fault(self, plan: Plan, channel: Channel) -> Callable[[], bytes] | None:
        if channel.fault is None:
            return None
        try:
            reader = self._host.open_value(channel.fault)
        except OSError:
            return None
        plan.readers.append(reader)
        return reader.read

    def _lagged(self, plan: Plan, seconds: float) -> None:
        plan.lagging += 1
        plan.last_s = seconds
        if plan.lagging > 1 or seconds > VERY_SLOW_S:
            self._move_apart(plan, seconds, started=False)

    def _move_apart(self, plan: Plan, seconds: float, started: bool) -> None:
        self._fast = [other for other in self._fast if other is not plan]
        for index, _ in plan.channels:
            if seconds >= STUCK_S:
                self.slow[index] = seconds
            if started:
                self.values[index] = Stuck(f"has not answered for {seconds:.1f} s")
        plan.interval_s = max(plan.interval_s, 2.0, 10.0 * seconds)
        self._apart.append(_Worker(self, plan, seconds, waiting=started))

    def _make_plans(self) -> list[Plan]:
        groups: dict[tuple[str, float], list[tuple[int, Channel]]] = {}
        for index, channel in enumerate(self.channels):
            chip = channel.sensor.chip
            if chip.name == "drivetemp" and not self._read_disks and not self._wake:
                self.values[index] = Asleep("disk not read: that may keep it from sleeping (read_disks turns it on)")
                continue
            groups.setdefault((chip.path, _interval(channel)), []).append((index, channel))
        plans = []
        guards: dict[str, Guard | None] = {}
        for (path, interval_s), channels in groups.items():
            if path not in guards:
                guard = Guard(self._host, f"{path}/device")
                guards[path] = guard if guard.needed else None
            guard_or_none = guards[path]
            backoff_s = guard_or_none.backoff_s if guard_or_none is not None and not self._wake else 0.0
            plans.append(Plan(channels, max(interval_s, backoff_s), guard_or_none))
        return plans


class _Lane:
    """One thread that ticks on request, so that its caller can give up on a chip that hangs."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._values = sampler.values
        self._plans = sampler._fast
        self._wanted = threading.Event()
        self._done = threading.Event()
        self._everything = False
        self.alive = True
        self.at: Plan | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._work, name="toolkit-sensors", daemon=True).start()

    def run(self, everything: bool, limit_s: float) -> bool:
        """Tick once; False where it did not end in time."""
        self._everything = everything
        self._plans = self._sampler._fast
        self._done.clear()
        self._wanted.set()
        if not self._done.wait(limit_s):
            return False
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return True

    def abandon(self) -> Plan | None:
        """Give the thread up to the chip that it waits for, and return that chip's plan."""
        self.alive = False
        # What the thread still writes when it comes back must not be taken for new values.
        self._sampler.values = list(self._values)
        return self.at

    def stop(self) -> None:
        self.alive = False
        self._wanted.set()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if not self.alive:
                return
            try:
                self._sampler._tick(self._everything, self._values, list(self._plans), self)
            except BaseException as error:  # handed to the caller's thread, which raises it
                self._error = error
            if not self.alive:
                return
            self._done.set()


class _Worker:
    """Reads one slow chip in a thread of its own, at its own interval."""

    def __init__(self, sampler: Sampler, plan: Plan, seconds: float, waiting: bool) -> None:
        self._sampler = sampler
        self._plan = plan
        self._lock = threading.Lock()
        self._fresh: dict[int, int | Exception] | None = None
        self._read_at = sampler._monotonic() if not waiting else None
        self._seconds = seconds
        self._busy = False
        self._due = sampler._monotonic() + plan.interval_s
        self._stopped = False
        self._hung = waiting

    def collect(self, values: list[int | Exception | None], now: float) -> None:
        """Take over what was read since, start the next read where it is due."""
        with self._lock:
            fresh, self._fresh = self._fresh, None
            busy = self._busy
        if fresh is not None:
            for index, value in fresh.items():
                values[index] = value
        age = now - self._read_at if self._read_at is not None else 0.0
        for index, _ in self._plan.channels:
            self._sampler.ages[index] = age
            if self._seconds >= STUCK_S:
                self._sampler.slow[index] = self._seconds
            else:
                self._sampler.slow.pop(index, None)
        if not busy and now >= self._due and not self._stopped:
            self._busy = True
            threading.Thread(target=self._work, name="toolkit-slow-sensor", daemon=True).start()

    def stop(self) -> None:
        self._stopped = True
        if not self._hung:
            for reader in self._plan.readers:
                reader.close()

    def _work(self) -> None:
        clock = self._sampler._monotonic
        started = clock()
        fresh: dict[int, int | Exception | None] = {}
        plan = self._plan
        reason = plan.guard.asleep() if plan.guard is not None and not self._sampler._wake else None
        if reason is not None:
            fresh = {index: Asleep(reason) for index, _ in plan.channels}
        else:
            for index, channel in plan.channels:
                try:
                    fresh[index] = int(self._sampler._host.read_bytes(channel.sensor.path, 64))
                except (OSError, ValueError) as error:
                    fresh[index] = error
        ended = clock()
        with self._lock:
            self._fresh = {index: value for index, value in fresh.items() if value is not None}
            self._read_at = ended
            self._seconds = ended - started
            self._due = ended + max(2.0, 10.0 * self._seconds)
            self._busy = False


def _interval(channel: Channel) -> float:
    """Return the shortest time between two looks that brings anything: 0 for what changes all the time.

    coretemp keeps a core's value for a second and each fresh look wakes that core; a look at NVMe is a command to the
    drive (Documentation/hwmon/nvme.rst).
    """
    sensor = channel.sensor
    if sensor.chip.name == "coretemp":
        return 0.95 if sensor.label is not None and sensor.label.startswith("Core") else 0.0
    if sensor.chip.name == "nvme":
        return 1.95
    if sensor.chip.name == "drivetemp":
        return 300.0
    if sensor.chip.name in CPU_CHIPS and sensor.quantity is Quantity.TEMPERATURE:
        return 0.0
    return 0.95


def _with_fault(read: Callable[[], bytes], fault: Callable[[], bytes]) -> Callable[[], bytes]:
    def read_unless_faulty() -> bytes:
        if fault().strip() not in (b"0", b""):
            raise Fault
        return read()

    return read_unless_faulty


class Fault(OSError):
    """The chip's `_fault` says that the value means nothing."""


class _Retry:
    """Stands in for a file that could not be opened; tries again at each look."""

    def __init__(self, host: Host, plan: Plan, path: str) -> None:
        self._host = host
        self._plan = plan
        self._path = path
        self._read: Callable[[], bytes] | None = None

    def __call__(self) -> bytes:
        if self._read is None:
            reader = self._host.open_value(self._path)
            self._plan.readers.append(reader)
            self._read = reader.read
        return self._read()


def _backoff(host: Host, power: str) -> float:
    """Return how long to wait between looks so that the device can still fall asleep by itself, in seconds."""
    try:
        if host.read_text(f"{power}/control", 16).strip() != "auto":
            return 0.0
        delay_ms = int(host.read_text(f"{power}/autosuspend_delay_ms", 16))
    except (OSError, ValueError):
        return 0.0
    return min(60.0, delay_ms / 1000.0 * 1.5 + 1.0) if delay_ms > 0 else 0.0
