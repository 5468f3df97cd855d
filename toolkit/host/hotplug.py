"""Hot-plug of this machine: the kernel's events, and a comparison of listings as a safety net."""

from __future__ import annotations

import os
import select
import time
from typing import Any

COMPARE_INTERVAL_S = 5.0
"""Where events come, listings are compared this seldom: an event can get lost (a full socket, a container)."""


class LocalWatch:
    """Tells whether devices of a class came or went since the last call.

    pyudev is loaded at the first call of `changed`, so that a command that looks once does not pay for it; what
    happens before that is seen by comparing listings.

    Args:
        folder: the class folder on this machine, for example /sys/class/hwmon.
        events: listen for events; without it (a mounted root) each call compares listings.
    """

    def __init__(self, folder: str, subsystem: str, events: bool = True) -> None:
        self._folder = folder
        self._subsystem = subsystem
        self._wanted = events
        self._monitor: Any = None
        self._poller: select.poll | None = None
        self._last = self._listing()
        self._compare_at = 0.0

    def _listing(self) -> list[str]:
        try:
            return sorted(os.listdir(self._folder))
        except OSError:
            return []

    def _listen(self) -> None:
        self._wanted = False
        try:
            import pyudev

            # Without udevd nobody sends on the "udev" group; the kernel's own group is always there.
            source = "udev" if os.path.exists("/run/udev/control") else "kernel"
            monitor = pyudev.Monitor.from_netlink(pyudev.Context(), source=source)
            monitor.filter_by(self._subsystem)
            monitor.start()
            poller = select.poll()
            poller.register(monitor.fileno(), select.POLLIN)
        except Exception:  # noqa: BLE001 - pyudev raises many kinds of its own; listings do without it
            return
        self._monitor, self._poller = monitor, poller

    def _events(self) -> bool:
        """True where an event of the subsystem came; all that wait are taken."""
        if self._poller is None or not self._poller.poll(0):
            return False
        came = False
        try:
            while self._monitor.poll(0) is not None:
                came = True
        except Exception:  # noqa: BLE001 - ENOBUFS: events were lost, so something happened
            return True
        return came

    def changed(self) -> bool:
        """True where something was added, removed or changed since the last call. Never raises, never waits."""
        if self._wanted:
            self._listen()
        came = self._events()
        now = time.monotonic()
        if came or self._poller is None or now >= self._compare_at:
            self._compare_at = now + COMPARE_INTERVAL_S
            listing = self._listing()
            came = came or listing != self._last
            self._last = listing
        return came

    def close(self) -> None:
        """Stop listening; a second call does nothing."""
        self._wanted = False
        self._monitor = self._poller = None
