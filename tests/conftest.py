"""Fixtures for all tests: captured machines by name."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.support.captures import find_capture
from toolkit.host.replay import ReplayHost


def pytest_configure() -> None:
    """Take signals as on a terminal, also under nohup or as a job in the background, which ignore some of them."""
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def capture_path() -> Callable[[str], str]:
    """The folder of a captured machine, by its name in tests/captures, assets/demo or tests/cases/temps."""
    return lambda name: str(find_capture(name))


@pytest.fixture
def replay() -> Callable[..., ReplayHost]:
    """A captured machine by name, on the virtual clock unless `clock="real"` is given."""

    def make(name: str, clock: str = "virtual") -> ReplayHost:
        return ReplayHost(str(find_capture(name)), clock=clock)

    return make
