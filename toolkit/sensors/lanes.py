"""The threads of a Sampler: one lane that can be given up when a chip hangs, and a worker for each slow chip."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from toolkit.sensors.plan import STUCK_S, UNDERSCORE, Asleep, Plan, not_a_number

if TYPE_CHECKING:
    from toolkit.sensors.sampler import Sampler


class Lane:
    """One thread that ticks on request, so that its caller can give up on a chip that hangs."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._values = sampler.values
        self._plans = sampler.plans
        self._wanted = threading.Event()
        self._done = threading.Event()
        self._everything = False
        self.alive = True
        self.at: Plan | None = None
        self._error: Exception | None = None
        threading.Thread(target=self._work, name="toolkit-sensors", daemon=True).start()

    def run(self, everything: bool, limit_s: float) -> bool:
        """Tick once; False where it did not end in time."""
        self._everything = everything
        self._plans = self._sampler.plans
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
        """End the thread (one that hangs ends when the kernel lets it)."""
        self.alive = False
        self._wanted.set()

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            if not self.alive:
                return
            self._look()

    def _look(self) -> None:
        try:
            self._sampler.read_plans(self._everything, self._values, list(self._plans), self)
        except Exception as error:  # noqa: BLE001 - handed to the caller's thread, which raises it
            self._error = error
        if self.alive:
            self._done.set()


class Worker:
    """Reads one slow chip in a thread of its own, at its own interval."""

    def __init__(self, sampler: Sampler, plan: Plan, seconds: float, waiting: bool) -> None:
        self._sampler = sampler
        self._plan = plan
        self._lock = threading.Lock()
        self._fresh: dict[int, int | Exception] | None = None
        self._read_at = sampler.monotonic() if not waiting else None
        self._seconds = seconds
        self._busy = False
        self._due = sampler.monotonic() + plan.interval_s
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
        """Start no further read, and close the files unless a read may still hang on one."""
        self._stopped = True
        if not self._hung:
            for reader in self._plan.readers:
                reader.close()

    def _work(self) -> None:
        clock = self._sampler.monotonic
        started = clock()
        fresh: dict[int, int | Exception | None] = {}
        plan = self._plan
        reason = plan.guard.asleep() if plan.guard is not None and not self._sampler.wake else None
        if reason is not None:
            fresh = {index: Asleep(reason) for index, _ in plan.channels}
        else:
            for index, channel in plan.channels:
                try:
                    data = self._sampler.host.read_bytes(channel.sensor.path, 64)
                    fresh[index] = int(data) if UNDERSCORE not in data else not_a_number(data)
                except (OSError, ValueError) as error:
                    fresh[index] = error
        ended = clock()
        with self._lock:
            self._fresh = {index: value for index, value in fresh.items() if value is not None}
            self._read_at = ended
            self._seconds = ended - started
            self._due = ended + max(2.0, 10.0 * self._seconds)
            self._busy = False
