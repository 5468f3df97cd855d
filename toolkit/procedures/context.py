"""What a registered function gets: the machine, the values, and a way to tell what it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field

from toolkit.errors import ProcedureError
from toolkit.host.base import Host, Result


class StepError(ProcedureError):
    """A step cannot be done; `message` says why, `hint` what to do."""


class CommandFailed(StepError):
    """A command of a step failed. `returncode` is negative for a signal, None where it ran out of time."""

    def __init__(self, message: str, hint: str = "", returncode: int | None = None) -> None:
        super().__init__(message, hint)
        self.returncode = returncode


class Cancelled(StepError):
    """The person cancelled the command that ran."""


def _not_running(*_: object) -> Result:
    raise StepError("only an action may change something")


def _never() -> bool:
    return False


def _nothing(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """The machine as a step sees it.

    Attributes:
        host: the machine; with root's rights where the step has them.
        values: every variable and fact, and `run_folder`, the folder of this run.
        state: what actions remember between steps and for undo; texts only, kept in the journal.
        tell: shows a line to the person and keeps it in the transcript.
        command: runs a changing command `(argv, timeout_s, stdin)`, shows its output, raises CommandFailed; only
            within an action.
        is_cancelled: True once the person cancelled; a long action looks at it and raises Cancelled.
    """

    host: Host
    values: Mapping[str, str]
    state: MutableMapping[str, str] = field(default_factory=dict)
    tell: Callable[[str], None] = _nothing
    command: Callable[..., Result] = _not_running
    is_cancelled: Callable[[], bool] = _never

    def look(self, argv: Sequence[str], timeout_s: float = 30.0, stdin: bytes | None = None) -> Result:
        """Run a command that changes nothing; in a dry run too. Raises like Host.run."""
        look = getattr(self.host, "look", None)
        if look is not None:
            answer: Result = look(argv, timeout_s, stdin)
            return answer
        return self.host.run(argv, timeout_s, stdin)
