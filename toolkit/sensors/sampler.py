"""Reads the value files again and again: every file stays open, and no chip can hold up the others.

A chip is read in the caller's thread while it is quick. One that takes over 20 ms goes to a worker of its own with a
longer interval; one that does not come back at all is left to its thread and said to be slow. Reads that would wake a
device, or keep it awake, are not made.

Sources: Documentation/hwmon/coretemp.rst (values are kept for a second, so the cores are not read faster),
Documentation/ABI/testing/sysfs-devices-power (runtime_status, control, autosuspend_delay_ms).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolkit.host.base import Host
from toolkit.sensors.clean import CPU_CHIPS
from toolkit.sensors.hwmon import Channel
from toolkit.sensors.lanes import Lane, Worker
from toolkit.sensors.model import Quantity
from toolkit.sensors.plan import STUCK_S, UNDERSCORE, Asleep, Fault, Guard, Plan, Stuck, not_a_number

SLOW_S = 0.020
"""A chip that takes longer than this, twice running, gets a worker of its own."""
VERY_SLOW_S = 0.250
"""... and at once where it took longer than this."""


class Sampler:
    """Keeps the value files of `channels` open and reads those that are due.

    Args:
        read_disks: also read drivetemp, which may keep a disk from spinning down.
        wake: read sleeping devices too.
    """

    def __init__(self, host: Host, channels: Sequence[Channel], read_disks: bool = False, wake: bool = False) -> None:
        self.channels = tuple(channels)
        self.values: list[int | Exception | None] = [None] * len(self.channels)
        self.ages: dict[int, float] = {}
        self.slow: dict[int, float] = {}
        self.host = host
        self.monotonic = host.monotonic
        self.wake = wake
        self._read_disks = read_disks
        plans = self._make_plans()
        # The CPU's own sensors are registers: they answer at once, and a thread would cost more than the read.
        self._registers = [plan for plan in plans if _is_register(plan)]
        self.plans = [plan for plan in plans if not _is_register(plan)]
        self._apart: list[Worker] = []
        self._closed = False
        self._lane: Lane | None = None

    def tick(self, everything: bool = False) -> list[int | Exception | None]:
        """Read what is due (or all) in this thread and return the values, one a channel: a raw number, the
        exception that the read raised, or None where it was not read yet.
        """
        self.read_plans(everything, self.values, self._registers, None)
        return self.read_plans(everything, self.values, self.plans, None)

    def guarded_tick(self, everything: bool = False, limit_s: float = STUCK_S) -> list[int | Exception | None]:
        """Like `tick`, but comes back when a chip does not answer within `limit_s`: it is read apart from then on."""
        self.read_plans(everything, self.values, self._registers, None)
        now = self.monotonic()
        while not self._closed and (everything or any(plan.due <= now for plan in self.plans)):
            if self._lane is None:
                self._lane = Lane(self)
            if self._lane.run(everything, limit_s):
                break
            stuck, self._lane = self._lane.abandon(), None
            if stuck is None:
                break
            self._move_apart(stuck, limit_s, started=True)
        for worker in self._apart:
            worker.collect(self.values, self.monotonic())
        return self.values

    def close(self) -> None:
        """Close every file and end the workers (one that hangs in the kernel ends when the kernel lets it)."""
        self._closed = True
        if self._lane is not None:
            self._lane.stop()
        for worker in self._apart:
            worker.stop()
        for plan in (*self._registers, *self.plans):
            for reader in plan.readers:
                reader.close()

    def read_plans(
        self, everything: bool, values: list[int | Exception | None], plans: list[Plan], lane: Lane | None
    ) -> list[int | Exception | None]:
        """Read those of `plans` that are due into `values`; stop early where `lane` was given up."""
        clock = self.monotonic
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
            if not plan.rows:
                self._open(plan)
            for index, read in plan.rows:
                try:
                    data = read()
                    values[index] = int(data) if UNDERSCORE not in data else not_a_number(data)
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
        reason = None if self.wake else plan.guard.asleep()
        if reason is None:
            return True
        for reader in plan.readers:
            reader.close()
        plan.readers, plan.rows = [], []
        for index, _ in plan.channels:
            values[index] = Asleep(reason)
        plan.due = now + 0.95
        return False

    def _open(self, plan: Plan) -> None:
        for index, channel in plan.channels:
            fault = self._open_fault(plan, channel)
            try:
                reader = self.host.open_value(channel.sensor.path)
            except OSError:
                plan.rows.append((index, _Retry(self.host, plan, channel.sensor.path)))
                continue
            plan.readers.append(reader)
            plan.rows.append((index, reader.read if fault is None else _with_fault(reader.read, fault)))

    def _open_fault(self, plan: Plan, channel: Channel) -> Callable[[], bytes] | None:
        if channel.fault is None:
            return None
        try:
            reader = self.host.open_value(channel.fault)
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
        self._registers = [other for other in self._registers if other is not plan]
        self.plans = [other for other in self.plans if other is not plan]
        for index, _ in plan.channels:
            if seconds >= STUCK_S:
                self.slow[index] = seconds
            if started:
                self.values[index] = Stuck(f"has not answered for {seconds:.1f} s")
        plan.interval_s = max(plan.interval_s, 2.0, 10.0 * seconds)
        self._apart.append(Worker(self, plan, seconds, waiting=started))

    def _make_plans(self) -> list[Plan]:
        groups: dict[tuple[str, float], list[tuple[int, Channel]]] = {}
        for index, channel in enumerate(self.channels):
            chip = channel.sensor.chip
            if chip.name == "drivetemp" and not self._read_disks and not self.wake:
                self.values[index] = Asleep("disk not read: that may keep it from sleeping (read_disks turns it on)")
                continue
            groups.setdefault((chip.path, _interval(channel)), []).append((index, channel))
        plans = []
        guards: dict[str, Guard | None] = {}
        for (path, interval_s), channels in groups.items():
            if path not in guards:
                guard = Guard(self.host, f"{path}/device")
                guards[path] = guard if guard.needed else None
            guard_or_none = guards[path]
            backoff_s = guard_or_none.backoff_s if guard_or_none is not None and not self.wake else 0.0
            plans.append(Plan(channels, max(interval_s, backoff_s), guard_or_none))
        return plans


def _is_register(plan: Plan) -> bool:
    return plan.channels[0][1].sensor.chip.name in CPU_CHIPS


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
