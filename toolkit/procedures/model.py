"""What a procedure is: variables, facts, requirements and steps, all frozen.

The form in TOML is described in assets/schema/procedure.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Risk(StrEnum):
    """What a step can do to the machine."""

    LOOK = "look"
    CHANGE = "change"
    DESTROY = "destroy"

    @property
    def changes(self) -> bool:
        """True where the machine is not the same afterwards."""
        return self is not Risk.LOOK


class VariableType(StrEnum):
    """What a variable holds; each has its validator, see `toolkit.procedures.variables`."""

    DISK = "disk"
    PARTITION = "partition"
    POOL = "pool"
    DATASET = "dataset"
    USB_DEVICE = "usb device"
    SERIAL_PORT = "serial port"
    HOST_NAME = "host name"
    USER_NAME = "user name"
    CHOICE = "choice"
    HEX = "hex"
    PATH = "path"
    TEXT = "text"
    SECRET = "secret"  # noqa: S105 - a word, not a password


@dataclass(frozen=True, slots=True)
class Call:
    """A registered function and its arguments, in which `{variable}` may stand."""

    name: str
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """What a person chooses.

    Attributes:
        name: how steps call it.
        prompt: the question.
        default: a text, in which facts may stand as `{fact}`; None where the person has to answer.
        choices: value -> what it means, for a choice.
        pattern: a regular expression that the whole value must match; empty for none.
        picker: the registered picker that offers values of this machine; None for none.
        optional: an empty answer is one.
    """

    name: str
    type: VariableType
    prompt: str
    default: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    pattern: str = ""
    picker: Call | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """What is found out once, before the plan is shown, and kept in the journal: `{name}` in steps.

    Attributes:
        call: a registered fact.
        title: what it is, for a person: `UUID of /boot`.
    """

    name: str
    call: Call
    title: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """What must hold before anything is done. `hint` says what to do where it does not."""

    call: Call
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a step.

    Attributes:
        argv: words with placeholders; the first is a plain word.
        stdin: text for its stdin, the one place where a secret may stand; None for none.
        ok: exit statuses that are success.
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    ok: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Write:
    """A text that a step writes to a file or a sysfs attribute; the old file is kept in the run's folder."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that a person may see in a manual step, and the id of the step to go to (empty: the next one)."""

    text: str
    goto: str = ""
    stop: bool = False


@dataclass(frozen=True, slots=True)
class Manual:
    """Something that is done elsewhere: what to do, and what may be seen then."""

    text: str
    seen: tuple[Seen, ...]


@dataclass(frozen=True, slots=True)
class Undo:
    """How a step is taken back: commands, an action, the saved file, or a sentence why it cannot be.

    Attributes:
        restore: put back the file that `write` replaced, or remove the one that it made.
        none: the reason where there is no way back.
        verify: what holds afterwards.
    """

    commands: tuple[Command, ...] = ()
    action: Call | None = None
    restore: bool = False
    none: str = ""
    verify: tuple[Call, ...] = ()

    @property
    def possible(self) -> bool:
        """True where there is a way back."""
        return not self.none


@dataclass(frozen=True, slots=True)
class Step:
    """One step; exactly one of `commands`, `write`, `action` and `manual`, or none for a look that only verifies.

    Attributes:
        why: one or two sentences for the person.
        root: it needs root.
        when: it is needed only where all of these hold.
        check: where all of these hold already, it is skipped.
        verify: how we know that it worked.
        wait_s: seconds for which `verify` is asked again until it holds.
        still: what must hold for it to count as done when a run is resumed later; `verify` where empty.
        undo: how it is taken back; None for a look.
        temporary: its undo runs on every way out of the procedure.
        target: the device that a destroying step destroys, for the typed consent.
        timeout_s: limit of one command.
        terminal: its commands get the person's terminal (they ask for a passphrase themselves).
        hint: what to do where it fails.
    """

    id: str
    title: str
    why: str
    risk: Risk
    root: bool = False
    when: tuple[Call, ...] = ()
    check: tuple[Call, ...] = ()
    commands: tuple[Command, ...] = ()
    write: Write | None = None
    action: Call | None = None
    manual: Manual | None = None
    verify: tuple[Call, ...] = ()
    wait_s: float = 0.0
    still: tuple[Call, ...] = ()
    undo: Undo | None = None
    temporary: bool = False
    target: str = ""
    timeout_s: float = 120.0
    terminal: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure as it was loaded.

    Attributes:
        source: where its facts come from, for the person: a manual page, a document.
        tools: programs that it needs -> the Debian package of each.
        digest: SHA-256 of its text, so that a run is not resumed with another version unnoticed.
        text: the TOML itself, kept with each run.
    """

    id: str
    title: str
    summary: str
    source: str
    steps: tuple[Step, ...]
    variables: tuple[Variable, ...] = ()
    facts: tuple[Fact, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    text: str = field(default="", repr=False)

    @property
    def risk(self) -> Risk:
        """The worst risk of its steps."""
        order = list(Risk)
        return max((step.risk for step in self.steps), key=order.index)

    @property
    def root(self) -> bool:
        """True where a step needs root."""
        return any(step.root for step in self.steps)

    def step(self, step_id: str) -> Step:
        """Return a step by its id. Raises KeyError."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def variable(self, name: str) -> Variable | None:
        """Return a variable by its name, None where there is none."""
        return next((each for each in self.variables if each.name == name), None)

    @property
    def secrets(self) -> frozenset[str]:
        """The names of the variables that hold secrets."""
        return frozenset(each.name for each in self.variables if each.type is VariableType.SECRET)
