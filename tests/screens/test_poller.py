"""The poller: one probe at a time, beats that are skipped and never queued, pause, failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from queue import Empty, Queue
from typing import Any

import pytest
from textual.message import Message

from screens.messages import ProbeFailed, SnapshotTaken
from screens.poller import Poller, problem_of
from toolkit.errors import MissingError, Problem


class Inbox:
    """Receives the messages in the place of the application."""

    def __init__(self) -> None:
        self.queue: Queue[Message] = Queue()

    def post_message(self, message: Message) -> bool:
        self.queue.put(message)
        return True

    def get(self, timeout_s: float = 5.0) -> Any:
        return self.queue.get(timeout=timeout_s)

    def nothing(self, for_s: float = 0.15) -> bool:
        try:
            self.queue.get(timeout=for_s)
        except Empty:
            return True
        return False

    def drain(self) -> None:
        while not self.queue.empty():
            self.queue.get()


Make = Callable[..., Poller[Any]]


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def make(inbox: Inbox) -> Iterator[Make]:
    made: list[Poller[Any]] = []

    def factory(probe: Callable[[], Any], interval_s: float = 60.0) -> Poller[Any]:
        poller: Poller[Any] = Poller(inbox, probe, interval_s, "test")
        made.append(poller)
        return poller

    yield factory
    for poller in made:
        assert poller.stop(wait_s=5.0)


def test_first_beat_comes_at_once_from_its_own_thread(inbox: Inbox, make: Make) -> None:
    poller = make(threading.get_ident)
    poller.start()
    poller.start()
    message = inbox.get()
    assert isinstance(message, SnapshotTaken)
    assert message.name == "test"
    assert message.model != threading.get_ident()
    assert inbox.nothing()


def test_beats_go_on(inbox: Inbox, make: Make) -> None:
    make(lambda: 1, 0.1).start()
    for _ in range(3):
        assert inbox.get().model == 1


def test_slow_probe_skips_beats_and_is_never_run_twice_at_once(inbox: Inbox, make: Make) -> None:
    running = 0
    most = 0
    calls: list[float] = []

    def probe() -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        calls.append(time.monotonic())
        time.sleep(0.25)
        running -= 1
        return len(calls)

    poller = make(probe, 0.1)
    poller.start()
    poller.refresh_now()
    for _ in range(3):
        inbox.get()
    poller.stop(wait_s=5.0)
    assert most == 1
    assert all(later - earlier >= 0.25 for earlier, later in pairwise(calls))


def test_failure_is_told_and_the_next_beat_comes(inbox: Inbox, make: Make) -> None:
    answers = iter([OSError(5, "Input/output error", "/sys/x"), "fine"])

    def probe() -> Any:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    make(probe, 0.1).start()
    failed = inbox.get()
    assert isinstance(failed, ProbeFailed)
    assert failed.problem == Problem("test", "Input/output error: /sys/x")
    assert inbox.get().model == "fine"


def test_pause_stops_the_beats_and_refresh_makes_one(inbox: Inbox, make: Make) -> None:
    poller = make(lambda: 1, 0.1)
    poller.pause()
    poller.start()
    assert poller.paused
    assert inbox.nothing(0.3)
    poller.refresh_now()
    inbox.get()
    assert inbox.nothing(0.3)
    poller.resume()
    assert not poller.paused
    inbox.get()


def test_interval_can_change_under_way(inbox: Inbox, make: Make) -> None:
    poller = make(lambda: 1, 60.0)
    poller.start()
    inbox.get()
    assert inbox.nothing()
    poller.set_interval(0.1)
    inbox.get()
    inbox.get()
    poller.set_interval(60.0)
    assert poller.interval_s == 60.0
    inbox.drain()
    assert inbox.nothing(0.3)


def test_interval_has_a_floor(make: Make) -> None:
    assert make(lambda: 1, 0.0).interval_s == 0.1


def test_stop_does_not_wait_for_ever_and_nothing_is_posted_after(inbox: Inbox, make: Make) -> None:
    free = threading.Event()
    poller = make(lambda: free.wait(5.0))
    poller.start()
    started = time.monotonic()
    assert not poller.stop(wait_s=0.1)
    assert time.monotonic() - started < 1.0
    free.set()
    assert poller.stop(wait_s=5.0)
    assert inbox.queue.empty()


def test_receiver_whose_loop_is_closed_ends_the_thread() -> None:
    class Gone:
        def post_message(self, message: Message) -> bool:
            raise RuntimeError("Event loop is closed")

    poller: Poller[int] = Poller(Gone(), lambda: 1, 0.1, "test")
    poller.start()
    assert poller._thread is not None
    poller._thread.join(5.0)
    assert not poller._thread.is_alive()


def test_problem_of_each_kind_of_error() -> None:
    assert problem_of(MissingError("no sensors", "toolkit doctor"), "x") == Problem("x", "no sensors", "toolkit doctor")
    assert problem_of(PermissionError(13, "Permission denied", "/a"), "x").reason == "Permission denied: /a"
    odd = problem_of(ValueError("odd"), "x")
    assert odd.reason == "ValueError: odd"
    assert "--debug" in odd.hint
