"""What is wrong with a procedure's sense, found before it can run: each fault is `step: key: what`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.errors import ToolkitError
from toolkit.procedures.model import Call, Command, Procedure, Risk, Step, Undo
from toolkit.procedures.placeholders import names_in
from toolkit.procedures.registry import ACTIONS, FACTS, PICKERS, PREDICATES, Registered

BUILT_IN = frozenset({"run_folder"})
"""Names that the engine fills in."""

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


def lint(procedure: Procedure) -> list[str]:
    """Return every fault of a procedure; an empty list where there is none."""
    return [*_faults(procedure)]


def _faults(procedure: Procedure) -> Iterator[str]:
    if not _ID.fullmatch(procedure.id):
        yield f"id: {procedure.id!r} is not of the form rebuild-boot"
    variables = [each.name for each in procedure.variables]
    facts = [each.name for each in procedure.facts]
    names = variables + facts
    for name in names:
        if not _NAME.fullmatch(name):
            yield f"{name}: is not of the form boot_device"
        if names.count(name) > 1 or name in BUILT_IN:
            yield f"{name}: the name is taken"
    known = frozenset(names) | BUILT_IN
    yield from _variable_faults(procedure, frozenset(facts))
    for requirement in procedure.requirements:
        yield from _call_faults("require", requirement.call, PREDICATES, known)
    for fact in procedure.facts:
        yield from _call_faults(f"fact.{fact.name}", fact.call, FACTS, known)
    ids = [step.id for step in procedure.steps]
    for step in procedure.steps:
        if ids.count(step.id) > 1 or not _ID.fullmatch(step.id):
            yield f"{step.id}: id: is there twice, or not of the form copy-boot"
        for fault in _step_faults(step, ids, known, procedure.secrets):
            yield f"{step.id}: {fault}"
    for name in sorted(set(names) - _used(procedure)):
        yield f"{name}: nobody uses it"


def _variable_faults(procedure: Procedure, facts: frozenset[str]) -> Iterator[str]:
    for variable in procedure.variables:
        where = f"variable.{variable.name}"
        if (variable.type.value == "choice") != bool(variable.choices):
            yield f"{where}: choices: a choice has choices, and nothing else has"
        if variable.choices and variable.default and variable.default not in variable.choices:
            yield f"{where}: default: is none of its choices"
        if variable.default:
            yield from (f"{where}: default: {text}" for text in _name_faults(variable.default, facts))
        if variable.name in procedure.secrets and variable.default is not None:
            yield f"{where}: default: a secret has none"
        if variable.picker:
            yield from _call_faults(where, variable.picker, PICKERS, facts)
        try:
            re.compile(variable.pattern)
        except re.error as error:
            yield f"{where}: pattern: {error}"


def _step_faults(step: Step, ids: list[str], known: frozenset[str], secrets: frozenset[str]) -> Iterator[str]:
    ways = [bool(step.commands), step.write is not None, step.action is not None, step.manual is not None]
    if sum(ways) > 1:
        yield "run: one of run, write, action and manual, not more"
    if not any(ways) and (step.risk.changes or not step.verify):
        yield "run: it does nothing"
    yield from _promise_faults(step)
    for key, calls in (("when", step.when), ("check", step.check), ("verify", step.verify), ("still", step.still)):
        for call in calls:
            yield from _call_faults(key, call, PREDICATES, known - secrets)
    yield from _command_faults("run", step.commands, known, secrets)
    if step.write is not None:
        yield from (f"write: {text}" for text in _name_faults(step.write.path + step.write.text, known - secrets))
    if step.action is not None:
        yield from _call_faults("action", step.action, ACTIONS, known - secrets)
    if step.manual is not None:
        yield from (f"manual: {text}" for text in _name_faults(step.manual.text, known - secrets))
        for seen in step.manual.seen:
            if seen.goto and seen.goto not in ids:
                yield f"manual: goto: there is no step {seen.goto}"
        if not step.manual.seen:
            yield "manual: seen: what may be seen then?"
    if step.undo is not None:
        yield from _undo_faults(step.undo, step, known, secrets)


def _promise_faults(step: Step) -> Iterator[str]:
    if step.risk.changes:
        if not step.verify and step.manual is None:
            yield "verify: a change has to be proven"
        if step.undo is None:
            yield "undo: a change has an undo, or a sentence why there is none"
    elif step.undo is not None or step.temporary:
        yield "undo: a look has none"
    if (step.risk is Risk.DESTROY) != bool(step.target):
        yield "target: a destroying step names its target, and no other does"
    if step.temporary and (step.undo is None or not step.undo.possible):
        yield "temporary: needs an undo"


def _undo_faults(undo: Undo, step: Step, known: frozenset[str], secrets: frozenset[str]) -> Iterator[str]:
    ways = [bool(undo.commands), undo.action is not None, undo.restore, bool(undo.none)]
    if sum(ways) != 1:
        yield "undo: one of run, action, restore and none"
    if undo.restore and step.write is None:
        yield "undo: restore: the step writes no file"
    if undo.possible and not undo.verify and not undo.restore:
        yield "undo: verify: how do we know that it was taken back?"
    yield from _command_faults("undo", undo.commands, known, secrets)
    if undo.action is not None:
        yield from _call_faults("undo", undo.action, ACTIONS, known - secrets)
    for call in undo.verify:
        yield from _call_faults("undo: verify", call, PREDICATES, known - secrets)


def _command_faults(
    key: str, commands: tuple[Command, ...], known: frozenset[str], secrets: frozenset[str]
) -> Iterator[str]:
    for command in commands:
        if "{" in command.argv[0]:
            yield f"{key}: the program itself cannot be a variable"
        for word in command.argv:
            yield from (f"{key}: {text}" for text in _name_faults(word, known - secrets))
        if command.stdin is not None:
            yield from (f"{key}: stdin: {text}" for text in _name_faults(command.stdin, known))


def _call_faults(key: str, call: Call, table: dict[str, Registered], known: frozenset[str]) -> Iterator[str]:
    registered = table.get(call.name)
    if registered is None:
        yield f"{key}: nothing is registered as {call.name}"
        return
    count = len(call.args)
    if count < registered.least or (registered.most is not None and count > registered.most):
        wanted = registered.least if registered.least == registered.most else f"{registered.least} or more"
        yield f"{key}: {call.name} takes {wanted} arguments, not {count}"
    for word in call.args:
        yield from (f"{key}: {text}" for text in _name_faults(word, known))


def _name_faults(text: str, known: frozenset[str]) -> Iterator[str]:
    try:
        for name in sorted(names_in(text) - known):
            yield f"{{{name}}} is not known here"
    except ToolkitError as error:
        yield error.message


def _used(procedure: Procedure) -> set[str]:
    used: set[str] = set()
    for text in _texts(procedure):
        try:
            used |= names_in(text)
        except ToolkitError:
            continue
    return used


def _texts(procedure: Procedure) -> Iterator[str]:
    calls: list[Call] = [each.call for each in procedure.requirements]
    calls += [each.call for each in procedure.facts]
    calls += [each.picker for each in procedure.variables if each.picker]
    yield from (each.default for each in procedure.variables if each.default)
    for step in procedure.steps:
        yield step.target
        calls += [*step.when, *step.check, *step.verify, *step.still]
        commands = list(step.commands)
        if step.undo is not None:
            calls += step.undo.verify
            commands += step.undo.commands
        calls += [each for each in (step.action, step.undo.action if step.undo else None) if each]
        for command in commands:
            yield from command.argv
            yield command.stdin or ""
        if step.write is not None:
            yield step.write.path
            yield step.write.text
        if step.manual is not None:
            yield step.manual.text
    for call in calls:
        yield from call.args
