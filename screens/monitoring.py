"""What the application asks of the core while it runs: snapshots, and that a recording is saved at the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from toolkit.host.base import Host
from toolkit.sensors.model import Machine, Snapshot

if TYPE_CHECKING:
    from toolkit.config import Settings


class Monitor(Protocol):
    """What takes snapshots: `toolkit.sensors.monitor.ThermalMonitor`, or a stand-in in a test."""

    @property
    def machine(self) -> Machine:
        """What names the machine."""
        ...

    def snapshot(self) -> Snapshot:
        """Look at every sensor; blocking, bounded; called in the poller's thread only."""
        ...

    def close(self) -> None:
        """Close the files."""
        ...


class Recording(Protocol):
    """A recording that is under way."""

    started_monotonic: float
    """On the host's clock."""

    def stop(self) -> Any:
        """Write what is left and close the files; called when the application ends, however it ends."""
        ...


OpenMonitor = Callable[[Host, "Settings"], Monitor]


def open_thermal_monitor(host: Host, settings: Settings) -> Monitor:
    """Open the monitor that the settings ask for."""
    from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

    temperatures = settings.temperatures
    return ThermalMonitor(host, MonitorOptions(rule=temperatures.rule, read_disks=temperatures.read_disks))
