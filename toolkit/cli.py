"""The command line: finds the command, builds its parser alone, opens the host, runs it.

Only what a command needs is imported: `--version` imports next to nothing, no command but the screens imports Textual.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit import __version__
from toolkit.errors import EXIT_INTERRUPTED, EXIT_PROBLEM_FOUND, ToolkitError, UsageError

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host
    from toolkit.parser import Parser

COMMANDS = {
    "temps": "temperatures: print, watch, record beside a benchmark, compare",
    "overview": "one line a subject: how this machine is",
    "capture": "write what the program sees of this machine to a file, for a bug report",
    "doctor": "say what is missing, and which package or command brings it",
    "paths": "say where the program keeps its files",
}
"""Each is a module of toolkit.commands with HELP, add_arguments(parser) and run(args, host)."""

_WITH_VALUE = ("--from", "--root", "--screen", "--theme")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status; never raises but with `--debug`."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no ° gets a ?
    try:
        return _run(words)
    except ToolkitError as error:
        if debug:
            raise
        hint = f" ({error.hint})" if error.hint else ""
        _say(f"toolkit: {error.message}{hint}")
        return error.exit_status
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader went away (head, less): nothing is wrong. Nothing more may be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        _say(
            f"toolkit: a fault in the program: {type(error).__name__}: {error} (run it again with --debug to see where)"
        )
        return EXIT_PROBLEM_FOUND


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the whole command line, or of one command, which is quicker."""
    from toolkit.parser import Parser

    common = _common_options()
    parser = Parser(
        prog="toolkit",
        description="Look after your Linux laptop: live temperatures beside benchmarks. Without a command it opens the "
        "screens on a terminal and prints the overview elsewhere.",
        epilog="Exit status: 0 fine, 1 a problem was found, 2 usage, 3 a tool or right is missing, 130 interrupted.",
        parents=[common],
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"toolkit {__version__}")
    parser.add_argument("--screen", metavar="NAME", help="open this screen first: overview or temperatures")
    parser.add_argument("--theme", metavar="NAME", help="use this theme, this once")
    parser.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")
    subparsers = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", prog="toolkit")
    for name, text in COMMANDS.items():
        if only is not None and name != only:
            continue
        sub = subparsers.add_parser(name, help=text, description=_sentence(text), parents=[common], allow_abbrev=False)
        _module(name).add_arguments(sub)
    return parser


def _run(words: list[str]) -> int:
    if words in (["--version"], ["-V"]):
        from toolkit.output import write

        write(f"toolkit {__version__}")
        return 0
    own: tuple[str, ...] = ()
    if "--" in words:
        cut = words.index("--")
        words, own = words[:cut], tuple(words[cut + 1 :])
    name = _command_in(words)
    if name is not None and name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}", _nearest(name))
    parser = build_parser(name if name is not None else (None if _wants_help(words) else ""))
    try:
        args = parser.parse_args(words)
    except UsageError as error:
        if "--record" in words and not own and error.message.startswith("unrecognized arguments"):
            raise UsageError(
                error.message, "a command stands after --: toolkit temps --record FILE -- COMMAND"
            ) from None
        raise
    except SystemExit as stop:  # --help was printed
        return stop.code if isinstance(stop.code, int) else 0
    _fill_in(args)
    args.own_command = own
    if own and name != "temps":
        raise UsageError("words after -- are a command to record: toolkit temps --record FILE -- COMMAND")
    return _dispatch(args, name)


def _dispatch(args: argparse.Namespace, name: str | None) -> int:
    opens_screens = name is None and not args.json and sys.stdin.isatty() and sys.stdout.isatty()
    host = _open_host(args, clock="real" if opens_screens or _is_live(args) else "virtual")
    if opens_screens:
        return _open_screens(args, host)
    wishes = getattr(args, "screen", None), getattr(args, "theme", None)
    if any(wishes):  # a screen or a theme that does not exist is refused also where no screen is opened
        from screens.app import check_wishes

        check_wishes(*wishes)
    status: int = _module(name or "overview").run(args, host)
    return status


def _open_screens(args: argparse.Namespace, host: Host) -> int:
    from toolkit.config import load_settings

    settings = load_settings(os.environ)
    from screens.app import run  # the one place where the core knows the screens

    return run(
        host,
        settings,
        screen=args.screen,
        no_color=args.no_color,
        mouse=not args.no_mouse,
        theme=args.theme,
        debug=args.debug,
    )


def _open_host(args: argparse.Namespace, clock: str) -> Host:
    from toolkit.host.select import open_host

    host = open_host(capture=args.capture, root=args.root, demo=args.demo, clock=clock)
    for problem in getattr(host, "problems", ()) if args.capture is not None else ():
        _say(f"toolkit: {problem.source}: {problem.reason}" + (f" ({problem.hint})" if problem.hint else ""))
    if args.or_demo and not args.demo and args.capture is None and not _has_sensors(host):
        _say("This machine shows no temperature sensor, so what follows is the demo: a captured laptop, not this one.")
        args.demo = True
        host = open_host(demo=True, clock=clock)
    return host


def _has_sensors(host: Host) -> bool:
    return bool(host.glob("/sys/class/hwmon/hwmon*/temp*_input") or host.glob("/sys/class/thermal/thermal_zone*/temp"))


def _is_live(args: argparse.Namespace) -> bool:
    """True where time passes in the command, so that a captured machine must move by the real clock."""
    return getattr(args, "watch", None) is not None or getattr(args, "record", None) is not None


def _common_options() -> Parser:
    """Return the options that stand before or after the command. SUPPRESS keeps the second parser from undoing
    what the first one saw; `_fill_in` gives the defaults.
    """
    from argparse import SUPPRESS

    from toolkit.parser import Parser

    common = Parser(add_help=False, argument_default=SUPPRESS, allow_abbrev=False)
    group = common.add_argument_group("what to look at, and how")
    group.add_argument("--from", dest="capture", metavar="CAPTURE", help="look at a captured machine")
    group.add_argument("--root", metavar="DIR", help="look at a system mounted there")
    group.add_argument("--demo", action="store_true", help="look at the captured laptop that ships with the program")
    group.add_argument("--or-demo", action="store_true", help="the demo, but only where this machine has no sensor")
    group.add_argument("--json", action="store_true", help="print JSON")
    group.add_argument("--no-color", action="store_true", help="no colours (as does the variable NO_COLOR)")
    group.add_argument("--debug", action="store_true", help="show where a fault of the program came from")
    return common


def _fill_in(args: argparse.Namespace) -> None:
    defaults = {
        "capture": None,
        "root": "/",
        "demo": False,
        "or_demo": False,
        "json": False,
        "no_color": bool(os.environ.get("NO_COLOR")),
        "debug": False,
    }
    for name, value in defaults.items():
        if not hasattr(args, name):
            setattr(args, name, value)


def _command_in(words: list[str]) -> str | None:
    """Return the first word that is neither an option nor an option's value."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return None


def _wants_help(words: list[str]) -> bool:
    return "-h" in words or "--help" in words


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f"do you mean {near[0]}?" if near else f"the commands are {', '.join(COMMANDS)}"


def _module(name: str):  # type: ignore[no-untyped-def]
    from importlib import import_module

    return import_module(f"toolkit.commands.{name}")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
