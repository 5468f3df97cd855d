"""The named functions that subjects give to procedures: predicates, actions, facts and pickers.

A subject registers them in a module `registered` of its own, under `subject.name`:

    @predicate("boot.is_mounted", shell="findmnt --mountpoint {0} >/dev/null")
    def is_mounted(context: Context, path: str) -> Answer: ...

`shell` is what the exported script does in its place: a line with `{0}`, `{1}` ... for the arguments, which are quoted.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from toolkit.errors import ToolkitError
from toolkit.host.base import UnknownInDryRun
from toolkit.procedures.context import Context
from toolkit.procedures.model import Call
from toolkit.text import printable


@dataclass(frozen=True, slots=True)
class Answer:
    """What a predicate says.

    Attributes:
        holds: True, False, or None where it cannot be told (no right, no tool, no answer in time).
        said: what was seen, one clause: `/boot is mounted from /dev/sda2`.
        hint: what to do where that is not what was wanted.
    """

    holds: bool | None
    said: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One value that a picker offers, and what it is."""

    value: str
    title: str


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered function.

    Attributes:
        least, most: how many arguments it takes after the context; `most` is None for any number.
        shell: the exported script's line, empty where it has none.
        preview: for an action, tells what it will do, as lines; None where its title is all there is.
    """

    name: str
    function: Callable[..., object]
    least: int
    most: int | None
    shell: str = ""
    preview: Callable[..., list[str]] | None = None


_P = ParamSpec("_P")
_F = TypeVar("_F", bound=Callable[..., object])

PREDICATES: dict[str, Registered] = {}
ACTIONS: dict[str, Registered] = {}
FACTS: dict[str, Registered] = {}
PICKERS: dict[str, Registered] = {}


def predicate(name: str, shell: str = "") -> Callable[[Callable[_P, Answer]], Callable[_P, Answer]]:
    """Register `(context, *args: str) -> Answer`. It changes nothing; it may raise for the machine's faults."""
    return _register(PREDICATES, name, shell)


def action(
    name: str, shell: str = "", preview: Callable[..., list[str]] | None = None
) -> Callable[[Callable[_P, str]], Callable[_P, str]]:
    """Register `(context, *args: str) -> str`: it changes the machine, says what it did, raises StepError."""
    return _register(ACTIONS, name, shell, preview)


def fact(name: str) -> Callable[[Callable[_P, str]], Callable[_P, str]]:
    """Register `(context, *args: str) -> str`: finds something out; raises StepError where it cannot."""
    return _register(FACTS, name)


def picker(name: str) -> Callable[[Callable[_P, list[Option]]], Callable[_P, list[Option]]]:
    """Register `(context, *args: str) -> list[Option]`: values of this machine for a variable."""
    return _register(PICKERS, name)


def _register(
    table: dict[str, Registered], name: str, shell: str = "", preview: Callable[..., list[str]] | None = None
) -> Callable[[_F], _F]:
    def enter(function: _F) -> _F:
        if name in table:
            raise ValueError(f"{name} is registered twice")
        least, most = _arity(function)
        table[name] = Registered(name, function, least, most, shell, preview)
        return function

    return enter


def _arity(function: Callable[..., object]) -> tuple[int, int | None]:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return sum(each.kind is not inspect.Parameter.VAR_POSITIONAL for each in parameters), None
    return sum(each.default is inspect.Parameter.empty for each in parameters), len(parameters)


def ask(call: Call, context: Context) -> Answer:
    """Ask a predicate whose arguments are filled in. Never raises for the machine's faults: they are `unknown`."""
    try:
        answer = PREDICATES[call.name].function(context, *call.args)
    except UnknownInDryRun as error:
        return Answer(None, error.message, error.hint)
    except ToolkitError as error:
        return Answer(None, error.message, error.hint)
    except OSError as error:
        where = f"{printable(str(error.filename))}: " if error.filename else ""
        return Answer(None, f"{where}{error.strerror or error}")
    if not isinstance(answer, Answer):
        raise TypeError(f"{call.name} answered {answer!r}")
    return answer
