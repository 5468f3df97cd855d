"""`toolkit temps --record FILE [-- COMMAND ...]`: record temperatures, alone or beside a command."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit import output
from toolkit.errors import EXIT_INTERRUPTED, EXIT_OK, ToolkitError, UsageError
from toolkit.host.base import NotInstalled
from toolkit.sensors.alongside import Alongside, Interrupts, Pause, StopRule
from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor
from toolkit.sensors.recorder import Recorder, Recording, Setup
from toolkit.sensors.recording import CommandRun
from toolkit.sensors.report import summary_lines
from toolkit.text import printable

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Child, Host
    from toolkit.sensors.model import Snapshot
    from toolkit.sensors.summary import Summary

EXIT_CANNOT_START = 126
EXIT_NOT_FOUND = 127


def run_record(args: argparse.Namespace, host: Host, monitor_options: MonitorOptions) -> int:
    """Record until the command ends, or until Ctrl+C or --seconds.

    Returns the exit status of the command as a shell gives it (126 and 127 where it cannot start); without a command 0,
    or 128 + n where SIGTERM or SIGHUP ended it.
    """
    argv = tuple(args.own_command)
    if argv and args.seconds is not None:
        raise UsageError("--seconds is for recording without a command", "leave it out, or use: timeout N COMMAND")
    if not argv and (args.settle is not None or args.stop_above is not None):
        raise UsageError("--settle and --stop-above need a command", "toolkit temps --record FILE -- COMMAND ...")
    if argv and (status := _cannot_be_found(argv)):
        return status
    monitor = ThermalMonitor(host, monitor_options)
    try:
        with Interrupts() as interrupts:
            session = _Session(args, argv, monitor, interrupts)
            return session.with_command() if argv else session.alone(host)
    finally:
        monitor.close()


def _cannot_be_found(argv: tuple[str, ...]) -> int:
    """Return 127 or 126 after one line, before any file is made; 0 where the program is there."""
    from toolkit.host.local import LocalHost

    if LocalHost().which(argv[0]) is not None:
        return 0
    if "/" in argv[0] and os.path.exists(argv[0]):
        output.warn(f"{printable(argv[0])} cannot be run: it is no program (nothing was recorded)")
        return EXIT_CANNOT_START
    output.warn(f"{printable(argv[0])}: command not found (nothing was recorded)")
    return EXIT_NOT_FOUND


class _Session:
    """One recording from the command line."""

    def __init__(
        self, args: argparse.Namespace, argv: tuple[str, ...], monitor: ThermalMonitor, interrupts: Interrupts
    ) -> None:
        self.args = args
        self.argv = argv
        self.monitor = monitor
        self.interrupts = interrupts

    def alone(self, host: Host) -> int:
        """Record without a command."""
        recording = self._start(self.monitor.snapshot(), "run")
        if self.args.seconds is None and sys.stderr.isatty():
            output.warn(f"recording to {printable(recording.path)}; Ctrl+C ends it")
        pause = Pause(self.interrupts)
        self._recorder(recording, pause).run(pause.ended, self.args.seconds, sample_now=False)
        summary = recording.stop()
        if self.args.json:
            from toolkit.sensors.twin import summary_json

            output.write_json(summary_json(summary), (), host)
        self._tell(recording, summary)
        import signal

        number = self.interrupts.last
        return EXIT_OK if number in (None, signal.SIGINT) else 128 + int(number or 0)

    def with_command(self) -> int:
        """Record beside the command."""
        first = self.monitor.snapshot()
        rule = None
        if self.args.stop_above is not None:
            rule = StopRule(self.args.stop_above)
            rule.check_start(first)
        settle_s = self.args.settle
        recording = self._start(first, "before" if settle_s else "run")
        if settle_s:
            pause = Pause(self.interrupts)
            self._recorder(recording, pause).run(pause.ended, settle_s, "before", sample_now=False)
            if pause.ended():
                self._tell(recording, recording.stop())
                return EXIT_INTERRUPTED
            if rule is not None:
                try:
                    rule.check_start(self.monitor.snapshot())
                except ToolkitError:
                    recording.stop()
                    raise
        return self._beside(recording, settle_s)

    def _beside(self, recording: Recording, settle_s: float | None) -> int:
        from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

        from toolkit.host.local import LocalHost

        if self.interrupts.last is not None:
            recording.discard()
            output.warn("interrupted before the command was started (nothing was recorded)")
            return 128 + self.interrupts.last
        before = getrusage(RUSAGE_CHILDREN)
        try:
            child: Child = LocalHost().spawn(self.argv)
        except ToolkitError as error:
            recording.discard()
            output.warn(f"{error.message} (nothing was recorded)")
            return EXIT_NOT_FOUND if isinstance(error, NotInstalled) else EXIT_CANNOT_START
        own_peak = getrusage(RUSAGE_SELF).ru_maxrss
        self.interrupts.forward_to(child)
        command = CommandRun(self.argv, started_s=recording.elapsed_s)
        beside = Alongside(child)
        self._until_the_end(recording, beside)
        self.interrupts.forward_to(None)
        after = getrusage(RUSAGE_CHILDREN)
        command = replace(
            command,
            exit_status=beside.exit_status(),
            ended_s=recording.elapsed_s,
            user_s=round(after.ru_utime - before.ru_utime, 6),
            system_s=round(after.ru_stime - before.ru_stime, 6),
            peak_bytes=after.ru_maxrss * 1024,
            peak_at_most=after.ru_maxrss <= own_peak,
            stopped_by=beside.stopped_by,
        )
        recording.set_command(command)
        recording.event("command", f"the command ended with exit status {command.exit_status}")
        if settle_s and self.interrupts.last is None:
            pause = Pause(self.interrupts)
            self._recorder(recording, pause).run(pause.ended, settle_s, "after")
        self._tell(recording, recording.stop())
        return beside.exit_status()

    def _until_the_end(self, recording: Recording, beside: Alongside) -> None:
        rule = StopRule(self.args.stop_above) if self.args.stop_above is not None else None

        def look(snapshot: Snapshot) -> None:
            if rule is not None and (why := rule.look(snapshot)):
                recording.event("stop", why)
                beside.stop(why)

        recording.event("command", "the command started")
        recorder = Recorder(self.monitor, recording, self.args.rate, beside, look, self._edge)
        try:
            recorder.run(beside.ended, sample_now=self.args.settle is not None)
        except Exception as error:  # noqa: BLE001 - a fault of ours neither ends the command nor loses its status
            text = f"sampling ended early by a fault in the program: {type(error).__name__}: {error}"
            recording.event("stop", text)
            output.warn(printable(text))
            while not beside.ended():
                beside.wait(1.0)
        if beside.stopped_by:
            beside.end_group()

    def _start(self, first: Snapshot, phase: str) -> Recording:
        from toolkit.config import folders, load_settings

        state = folders(os.environ).recordings
        setup = Setup(
            machine=self.monitor.machine,
            rate_hz=self.args.rate,
            thresholds=load_settings(os.environ).temperatures.thresholds,
            overwrite=self.args.force,
            fallback_folders=(state, os.environ.get("TMPDIR") or "/tmp"),  # noqa: S108 - any place is better than none
            command=CommandRun(self.argv) if self.argv else None,
            report=output.warn,
        )
        return Recording.start(first, self.args.record, setup, phase)

    def _recorder(self, recording: Recording, pause: Pause) -> Recorder:
        return Recorder(self.monitor, recording, self.args.rate, pause, edge=self._edge)

    def _edge(self) -> Snapshot:
        return self.monitor.snapshot(look_around=True)

    def _tell(self, recording: Recording, summary: Summary) -> None:
        """Write the summary to stderr, and where the files are."""
        lines = ["", *summary_lines(summary), f"Files       {printable(recording.path)}"]
        lines.append(f"            {printable(recording.json_path)}")
        lines += [f"toolkit: {problem}" for problem in recording.problems]
        try:
            sys.stderr.write("\n".join(lines) + "\n")
            sys.stderr.flush()
        except OSError:
            pass  # the terminal is gone (SIGHUP); the files are written
