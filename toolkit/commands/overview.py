"""`toolkit overview`, and what `toolkit` prints where it is not on a terminal: one line a subject."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit import output
from toolkit.commands import temps_output
from toolkit.commands.temps import settled_snapshot
from toolkit.errors import EXIT_OK, EXIT_PROBLEM_FOUND

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host
    from toolkit.sensors.model import Machine, Snapshot

HELP = "one line a subject: how this machine is"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The overview has no options of its own."""


def run(args: argparse.Namespace, host: Host) -> int:
    """Print the overview; the exit status is 1 where something needs care."""
    from toolkit.config import load_settings
    from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

    settings = load_settings(os.environ)
    output.warn_of(settings.problems)
    monitor = ThermalMonitor(host, MonitorOptions(settings.temperatures.rule, settings.temperatures.read_disks))
    try:
        snapshot = settled_snapshot(monitor)
        machine = monitor.machine
    finally:
        monitor.close()
    if args.json:
        output.write_json({"temperatures": temps_output.as_dict(snapshot, machine)}, snapshot.problems, host)
    else:
        for line in as_lines(snapshot, machine, host.label):
            output.write(line)
    return EXIT_OK if snapshot.headline.celsius is not None else EXIT_PROBLEM_FOUND


def as_lines(snapshot: Snapshot, machine: Machine, label: str) -> Iterator[str]:
    """Yield the lines of the overview."""
    names = [word for word in (machine.model, machine.cpu, machine.distribution, machine.kernel) if word]
    if names or label:
        yield " · ".join(names) + (f"  [{label}]" if label else "")
    yield from output.table(list(_rows(snapshot)))


def _rows(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    yield "Temps", temps_output.headline_sentence(snapshot)
    yield "", snapshot.held_back.sentence
    for line in temps_output.surroundings(snapshot):
        name, _, text = line.partition(": ")
        yield name, text
    for problem in snapshot.problems:
        yield "", f"{problem.source}: {problem.reason}" + (f" ({problem.hint})" if problem.hint else "")
