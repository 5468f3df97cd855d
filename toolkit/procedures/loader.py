"""Reading a procedure from TOML; every fault is one line with file, step and key.

What is wrong with its sense (a change without a proof, a variable that nobody uses) is found by
`toolkit.procedures.lint`, which `parse` calls as well: a procedure that loads can be run.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from typing import Any

from toolkit import assets
from toolkit.errors import UsageError
from toolkit.procedures.lint import lint
from toolkit.procedures.model import (
    Call,
    Command,
    Fact,
    Manual,
    Procedure,
    Requirement,
    Risk,
    Seen,
    Step,
    Undo,
    Variable,
    VariableType,
    Write,
)
from toolkit.procedures.table import Table

FOLDER = "procedures"


def shipped() -> tuple[str, ...]:
    """Return the ids of the procedures that ship with the program, in order."""
    names = os.listdir(assets.path_of(FOLDER))
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load(procedure_id: str) -> Procedure:
    """Return a shipped procedure. Raises UsageError where there is none of that id."""
    known = shipped()
    if procedure_id not in known:
        import difflib

        near = difflib.get_close_matches(procedure_id, known, 1)
        hint = f"do you mean {near[0]}?" if near else "toolkit run --list names them"
        raise UsageError(f"there is no procedure {procedure_id!r}", hint)
    name = f"{procedure_id}.toml"
    return parse(assets.read_text(f"{FOLDER}/{name}"), name)


def parse(text: str, name: str) -> Procedure:
    """Return the procedure that a TOML text describes. Raises UsageError, which begins with `name`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: {error}") from None
    top = Table(document, name)
    procedure = Procedure(
        id=top.text("id"),
        title=top.text("title"),
        summary=top.text("summary"),
        source=top.text("source"),
        tools=top.texts_by_name("tools"),
        requirements=tuple(_requirement(each) for each in top.tables("require")),
        variables=tuple(_variable(key, each) for key, each in top.tables_by_name("variable")),
        facts=tuple(_fact(key, each) for key, each in top.tables_by_name("fact")),
        steps=tuple(_step(each, number) for number, each in enumerate(top.tables("step"), 1)),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
    )
    top.done()
    if not procedure.steps:
        raise UsageError(f"{name}: step: a procedure without a step")
    faults = lint(procedure)
    if faults:
        raise UsageError(f"{name}: {faults[0]}")
    return procedure


def _call(words: tuple[str, ...]) -> Call:
    return Call(words[0], words[1:])


def _calls(table: Table, key: str) -> tuple[Call, ...]:
    return tuple(map(_call, table.word_lists(key)))


def _requirement(table: Table) -> Requirement:
    requirement = Requirement(_call(table.words("that")), table.text("hint", ""))
    table.done()
    return requirement


def _fact(name: str, table: Table) -> Fact:
    fact = Fact(name, _call(table.words("call")), table.text("title"))
    table.done()
    return fact


def _variable(name: str, table: Table) -> Variable:
    picker = table.words("picker") if table.has("picker") else ()
    variable = Variable(
        name=name,
        type=table.choice("type", VariableType),
        prompt=table.text("prompt"),
        default=table.text("default", "") if table.has("default") else None,
        choices=table.texts_by_name("choices"),
        pattern=table.text("pattern", ""),
        picker=_call(picker) if picker else None,
        optional=table.flag("optional"),
    )
    table.done()
    return variable


def _step(table: Table, number: int) -> Step:
    table = table.called(table.text("id", f"step {number}"))
    step = Step(
        id=table.text("id"),
        title=table.text("title"),
        why=table.text("why"),
        risk=table.choice("risk", Risk),
        root=table.flag("root"),
        when=_calls(table, "when"),
        check=_calls(table, "check"),
        commands=_commands(table, "run"),
        write=_write(table),
        action=_call(table.words("action")) if table.has("action") else None,
        manual=_manual(table),
        verify=_calls(table, "verify"),
        wait_s=table.number("wait_s", 0.0),
        still=_calls(table, "still"),
        undo=_undo(table),
        temporary=table.flag("temporary"),
        target=table.text("target", ""),
        timeout_s=table.number("timeout_s", 120.0),
        terminal=table.flag("terminal"),
        hint=table.text("hint", ""),
    )
    table.done()
    return step


def _commands(table: Table, key: str) -> tuple[Command, ...]:
    commands = []
    for each in table.commands(key):
        if isinstance(each, Table):
            commands.append(
                Command(
                    each.words("argv"),
                    each.text("stdin", "") if each.has("stdin") else None,
                    each.statuses("ok"),
                )
            )
            each.done()
        else:
            commands.append(Command(each))
    return tuple(commands)


def _write(table: Table) -> Write | None:
    inner = table.table("write")
    if inner is None:
        return None
    write = Write(inner.text("path"), inner.text("text"))
    inner.done()
    return write


def _manual(table: Table) -> Manual | None:
    inner = table.table("manual")
    if inner is None:
        return None
    seen = []
    for each in inner.tables("seen"):
        seen.append(Seen(each.text("text"), each.text("goto", ""), each.flag("stop")))
        each.done()
    manual = Manual(inner.text("text"), tuple(seen))
    inner.done()
    return manual


def _undo(table: Table) -> Undo | None:
    inner = table.table("undo")
    if inner is None:
        return None
    undo = Undo(
        commands=_commands(inner, "run"),
        action=_call(inner.words("action")) if inner.has("action") else None,
        restore=inner.flag("restore"),
        none=inner.text("none", ""),
        verify=_calls(inner, "verify"),
    )
    inner.done()
    return undo


def described(procedure: Procedure) -> Mapping[str, Any]:
    """Return a procedure as `toolkit run --show ID --json` prints it."""
    return {
        "id": procedure.id,
        "title": procedure.title,
        "summary": procedure.summary,
        "source": procedure.source,
        "risk": procedure.risk.value,
        "root": procedure.root,
        "tools": dict(procedure.tools),
        "variables": [
            {
                "name": each.name,
                "type": each.type.value,
                "prompt": each.prompt,
                "default": each.default,
                "choices": dict(each.choices),
                "optional": each.optional,
            }
            for each in procedure.variables
        ],
        "steps": [
            {
                "id": each.id,
                "title": each.title,
                "why": each.why,
                "risk": each.risk.value,
                "root": each.root,
                "undo": None if each.undo is None else each.undo.none or "yes",
            }
            for each in procedure.steps
        ],
    }
