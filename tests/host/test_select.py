from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from toolkit.errors import CaptureError, UsageError
from toolkit.host.local import LocalHost
from toolkit.host.replay import ReplayHost
from toolkit.host.select import open_host


def test_without_options_it_is_this_machine() -> None:
    host = open_host()
    assert isinstance(host, LocalHost)
    assert (host.kind, host.label, host.root) == ("local", "", "/")


def test_root_is_a_mounted_machine(tmp_path: Path) -> None:
    host = open_host(root=str(tmp_path))
    assert (host.kind, host.label) == ("local", str(tmp_path))


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        open_host(root=str(tmp_path / "absent"))


def test_the_demo_has_a_cpu_and_says_that_it_is_the_demo() -> None:
    host = open_host(demo=True)
    assert (host.kind, host.label) == ("replay", "demo")
    assert any(host.read_text(path).strip() == "coretemp" for path in host.glob("/sys/class/hwmon/hwmon*/name"))


def test_a_capture_is_opened_on_the_clock_that_is_asked_for(capture_path: Callable[[str], str]) -> None:
    host = open_host(capture=capture_path("thinkpad-t490"))
    assert isinstance(host, ReplayHost)
    assert host.label == "thinkpad-t490"
    assert host.monotonic() == 0.0
    assert open_host(capture=capture_path("thinkpad-t490"), clock="real").monotonic() > 0.0


def test_an_absent_capture_is_refused() -> None:
    with pytest.raises(CaptureError):
        open_host(capture="/absent/capture")
    with pytest.raises(CaptureError):
        open_host(capture="")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"capture": "x", "demo": True}, "--from and --demo"),
        ({"capture": "x", "root": "/mnt"}, "--from and --root"),
        ({"root": "/mnt", "demo": True}, "--root and --demo"),
    ],
)
def test_options_that_exclude_each_other_are_refused(options: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        open_host(**options)  # type: ignore[arg-type]
