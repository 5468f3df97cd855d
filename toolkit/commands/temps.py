"""`toolkit temps`: print temperatures once or again and again, record them beside a command, compare recordings."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from toolkit import output
from toolkit.commands import temps_output
from toolkit.errors import EXIT_OK, EXIT_PROBLEM_FOUND, Problem, UsageError
from toolkit.sensors.model import Rule

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host
    from toolkit.sensors.model import Snapshot
    from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

HELP = "temperatures: print, watch, record beside a benchmark, compare"
MIN_WATCH_S = 0.05
MAX_SECONDS = 8_640_000
SETTLE_S = 0.3
ONE_LOOK = (Problem("toolkit temps --json", "load and watts need two looks", "--watch SECONDS prints them"),)
CAPTURE_SETTLE_S = 1.0
"""Captured machines move in whole seconds; their clock costs no waiting."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `toolkit temps`."""
    show = parser.add_argument_group("printing")
    show.add_argument("--headline", action="store_true", help="print the CPU's temperature alone: one whole number")
    show.add_argument(
        "--format", metavar="TEXT", help="print TEXT with fields filled in: " + temps_output.describe_fields()
    )
    show.add_argument("--watch", metavar="SECONDS", type=_seconds, help="again every SECONDS, until Ctrl+C")
    show.add_argument("--all", action="store_true", help="list unused inputs of the chips, too")
    show.add_argument("--openmetrics", metavar="FILE", help="write the values for node_exporter's textfile collector")
    how = parser.add_argument_group("measuring")
    how.add_argument(
        "--rule",
        choices=[rule.value for rule in Rule],
        help="best (default): Tdie where the chip has it; tctl: the plain maximum of Tctl and coretemp",
    )
    how.add_argument("--read-disks", action="store_true", help="read disks, too (may keep them from sleeping)")
    how.add_argument("--wake", action="store_true", help="read sleeping devices, too (wakes them)")
    record = parser.add_argument_group("recording (toolkit temps --record FILE -- COMMAND ...)")
    record.add_argument("--record", metavar="FILE", help="record to FILE.csv and FILE.json")
    record.add_argument("--rate", metavar="HZ", type=_rate, default=2.0, help="samples a second, 0.1 to 20 (2)")
    record.add_argument("--seconds", metavar="N", type=_positive, help="without a command: stop after N seconds")
    record.add_argument(
        "--settle", metavar="N", type=_positive, help="sample N seconds before and after the command, too"
    )
    record.add_argument("--stop-above", metavar="CELSIUS", type=float, help="end the command when the CPU gets hotter")
    record.add_argument("--force", action="store_true", help="overwrite a recording that is there")
    compare = parser.add_argument_group("comparing")
    compare.add_argument("--compare", metavar="FILE", nargs="+", help="put two recordings side by side")


def run(args: argparse.Namespace, host: Host) -> int:
    """Do what the options ask; the exit status is 1 where there is no headline."""
    if args.own_command and args.record is None:
        raise UsageError("a command needs --record FILE before the --")
    if args.compare is not None:
        from toolkit.commands.temps_compare import run_compare

        return run_compare(args, host)
    if args.format is not None:
        temps_output.check_format(args.format)
    options = _options(args)
    if args.record is not None:
        from toolkit.commands.temps_record import run_record

        return run_record(args, host, options)
    from toolkit.sensors.monitor import ThermalMonitor

    monitor = ThermalMonitor(host, options)
    try:
        if args.watch is not None:
            return _watch(args, host, monitor)
        return _once(args, host, monitor)
    finally:
        monitor.close()


def _options(args: argparse.Namespace) -> MonitorOptions:
    from toolkit.config import load_settings
    from toolkit.sensors.monitor import MonitorOptions

    settings = load_settings(os.environ)
    output.warn_of(settings.problems)
    chosen = Rule(args.rule) if args.rule is not None else settings.temperatures.rule
    return MonitorOptions(chosen, args.read_disks or settings.temperatures.read_disks, args.wake)


def _once(args: argparse.Namespace, host: Host, monitor: ThermalMonitor) -> int:
    bare = args.json or args.headline or args.format is not None
    one_look = bare and not _needs_two_looks(args)
    snapshot = monitor.snapshot() if one_look else settled_snapshot(monitor)
    if args.openmetrics is not None:
        _write_openmetrics(args.openmetrics, snapshot, monitor)
        if not bare:
            return _status(snapshot)
    return _print(args, host, monitor, snapshot)


def _needs_two_looks(args: argparse.Namespace) -> bool:
    return not args.json and args.format is not None and temps_output.needs_two_looks(args.format)


def settled_snapshot(monitor: ThermalMonitor) -> Snapshot:
    """Look twice, a moment apart: watts and load are differences between two looks."""
    monitor.snapshot()
    monitor.host.sleep(SETTLE_S if monitor.host.kind == "local" else CAPTURE_SETTLE_S)
    return monitor.snapshot(look_around=True)


def _print(args: argparse.Namespace, host: Host, monitor: ThermalMonitor, snapshot: Snapshot) -> int:
    if args.json:
        data = temps_output.as_dict(snapshot, monitor.machine)
        problems = snapshot.problems + (ONE_LOOK if args.watch is None else ())
        output.write_json(data, problems, host, snapshot.taken_at, one_line=args.watch is not None)
    elif args.headline or args.format is not None:
        if snapshot.headline.celsius is None:
            output.warn(snapshot.headline.reason)
            return EXIT_PROBLEM_FOUND
        output.write(temps_output.fill_in(args.format or "{celsius}", snapshot))
    else:
        for line in temps_output.as_lines(snapshot, monitor.machine, host.label, show_all=args.all):
            output.write(line)
    return _status(snapshot)


def _status(snapshot: Snapshot) -> int:
    return EXIT_OK if snapshot.headline.celsius is not None else EXIT_PROBLEM_FOUND


def _watch(args: argparse.Namespace, host: Host, monitor: ThermalMonitor) -> int:
    """Print again every interval, on an even beat, until interrupted; a terminal's line is refreshed in place."""
    in_place = sys.stdout.isatty() and not args.json
    if _needs_two_looks(args):
        settled_snapshot(monitor)
    due = host.monotonic()
    said = ""
    try:
        while True:
            snapshot = monitor.snapshot()
            if args.openmetrics is not None:
                _write_openmetrics(args.openmetrics, snapshot, monitor)
            if args.json:
                _print(args, host, monitor, snapshot)
            elif args.openmetrics is None or args.headline or args.format is not None:
                said = _watch_line(args, snapshot, in_place, said)
            due = max(due + args.watch, host.monotonic())
            host.sleep(max(0.0, due - host.monotonic()))
    except KeyboardInterrupt:
        if in_place:
            output.write("")
        raise


def _watch_line(args: argparse.Namespace, snapshot: Snapshot, in_place: bool, said: str) -> str:
    if args.headline or args.format is not None:
        if snapshot.headline.celsius is None:
            if snapshot.headline.reason != said:
                output.warn(snapshot.headline.reason)
            return snapshot.headline.reason
        line = temps_output.fill_in(args.format or "{celsius}", snapshot)
    else:
        line = temps_output.summary_line(snapshot)
    if in_place:
        import shutil

        width = shutil.get_terminal_size().columns
        output.write("\r\x1b[K" + line[: width - 1], end="")
    else:
        output.write(line)
    return ""


def _write_openmetrics(path: str, snapshot: Snapshot, monitor: ThermalMonitor) -> None:
    from toolkit.sensors.openmetrics import write_openmetrics

    problem = write_openmetrics(path, snapshot, monitor.machine)
    if problem is not None:
        output.warn_of([problem])


def _seconds(text: str) -> float:
    value = _positive(text)
    if value < MIN_WATCH_S:
        raise _bad(f"must be at least {MIN_WATCH_S}")
    return value


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _bad(f"{text!r} is not a number of seconds") from None
    if not value > 0:
        raise _bad("must be more than 0")
    if value > MAX_SECONDS:
        raise _bad(f"must be at most {MAX_SECONDS:,} (100 days)")
    return value


def _rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise _bad(f"{text!r} is not a number") from None
    if not 0.1 <= value <= 20.0:
        raise _bad("must be 0.1 to 20 samples a second")
    return value


def _bad(text: str) -> Exception:
    from argparse import ArgumentTypeError

    return ArgumentTypeError(text)
