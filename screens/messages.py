"""The messages that travel from pollers to the application; all are past events."""

from __future__ import annotations

from typing import Any

from textual.message import Message

from toolkit.errors import Problem


class SnapshotTaken(Message, bubble=False):
    """A probe returned its model."""

    def __init__(self, name: str, model: Any) -> None:
        """Keep the name of the poller and the frozen model that its probe returned."""
        super().__init__()
        self.name = name
        self.model = model


class ProbeFailed(Message, bubble=False):
    """A probe raised; the poller goes on and tries again at its next beat."""

    def __init__(self, name: str, problem: Problem) -> None:
        """Keep the name of the poller and why its probe failed."""
        super().__init__()
        self.name = name
        self.problem = problem
