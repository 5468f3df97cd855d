"""What a user may not look at is told as that, and not as absent; what stands in is shown."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from toolkit.host.local import LocalHost
from toolkit.sensors.monitor import ThermalMonitor


class DenyingHost(LocalHost):
    """A LocalHost on a fake tree with a folder that may not be looked into (root could, so no mode will do)."""

    def __init__(self, root: Path, denied: str) -> None:
        super().__init__(str(root))
        self._prefix = denied

    def _check(self, path: str) -> None:
        if path.startswith(self._prefix):
            raise PermissionError(errno.EACCES, "Permission denied", path)

    def listdir(self, path: str) -> list[str]:
        self._check(path)
        return super().listdir(path)

    def read_bytes(self, path: str, limit: int = 1 << 20) -> bytes:
        self._check(path)
        return super().read_bytes(path, limit)


def write(root: Path, **files: str) -> None:
    for path, text in files.items():
        file = root / "sys/class" / path.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")


@pytest.mark.parametrize("denied", ["/sys/class/hwmon", "/sys/class/hwmon/hwmon0"])
def test_a_folder_that_may_not_be_read_is_not_called_absent(denied: str, tmp_path: Path) -> None:
    write(tmp_path, hwmon__hwmon0__name="coretemp", hwmon__hwmon0__temp1_input="50000")
    monitor = ThermalMonitor(DenyingHost(tmp_path, denied))
    taken = monitor.snapshot()
    monitor.close()
    assert taken.headline.celsius is None
    assert taken.headline.reason.startswith(f"permission denied for {denied}")
    said = [problem.reason for problem in taken.problems if problem.source.startswith(denied)]
    assert said
    assert all(reason.startswith("may not be read (EACCES)") for reason in said)


def test_without_any_hwmon_chip_every_zone_is_a_row(tmp_path: Path) -> None:
    write(tmp_path, thermal__thermal_zone0__type="acpitz", thermal__thermal_zone0__temp="61000")
    taken = ThermalMonitor(LocalHost(str(tmp_path))).snapshot()
    assert [(r.sensor.chip.name, r.value) for r in taken.readings] == [("acpitz", 61.0)]
    assert taken.headline.celsius is None  # nobody says that this zone is the CPU


def test_beside_a_chip_a_zone_of_no_cpu_is_no_row(tmp_path: Path) -> None:
    write(tmp_path, thermal__thermal_zone0__type="acpitz", thermal__thermal_zone0__temp="61000")
    write(tmp_path, hwmon__hwmon0__name="acpitz", hwmon__hwmon0__temp1_input="61000")
    taken = ThermalMonitor(LocalHost(str(tmp_path))).snapshot()
    assert [r.sensor.chip.hwmon for r in taken.readings] == ["hwmon0"]
