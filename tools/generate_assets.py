"""Write the manual page and the shell completions under assets/ from the program's own argument parser.

    python tools/generate_assets.py            write them
    python tools/generate_assets.py --check    say which are stale, exit status 1 where one is

They are committed, so that neither a build nor a user needs the two generators (shtab, argparse-manpage).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

EXIT_STATUS = r"""0 fine; 1 a problem was found on the machine, or there is no figure; 2 the command line, the
configuration or a file given is wrong; 3 a tool or a right is missing; 130 interrupted.
A command run by
.B toolkit temps \-\-record
passes its own exit status on."""

FILES = r""".TP
.I ~/.config/toolkit/config.toml
Settings. A key that is unknown or wrong is named, and its default is used.
.TP
.I ~/.local/state/toolkit
Recordings, screenshots and copied texts.
.PP
The XDG variables move them;
.B toolkit paths
prints where they are."""

ENVIRONMENT = r""".TP
.B NO_COLOR
No colour where it is set and not empty.
.TP
.B XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME
Other places for the folders above."""

FILE_WORDS = ("FILE", "CAPTURE")
FOLDER_WORDS = ("DIR", "FOLDER")


def release_date() -> str:
    """The date of the newest release in CHANGELOG.md, so that the page does not change from day to day."""
    match = re.search(r"^## \S+ - (\d{4}-\d{2}-\d{2})", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    if match is None:
        raise SystemExit("CHANGELOG.md has no line like `## 0.1.0 - 2026-01-31`")
    return match.group(1)


def walk(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser and all parsers of its sub-commands."""
    found = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in dict.fromkeys(action.choices.values()):
                found += walk(child)
    return found


def for_a_page(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Take out what a page says once and help texts say again: shared options, usage lines, the epilog."""
    shared = {group.title for group in parser._action_groups if group.title not in ("positional arguments", "options")}
    for each in walk(parser):
        each.usage = each.prog + " [OPTION ...]"
        if each is parser:
            each.usage += " [COMMAND ...]"
            continue
        each.description = None
        each._action_groups = [group for group in each._action_groups if group.title not in shared]
        positionals = [action for action in each._actions if not action.option_strings]
        each.usage += "".join(f" {action.metavar or action.dest}" for action in positionals)
    parser.epilog = None
    return parser


def manual_page() -> str:
    """The manual page in troff."""
    from argparse_manpage.manpage import Manpage

    from toolkit import __version__
    from toolkit.cli import build_parser

    page = Manpage(for_a_page(build_parser()), format="single-commands-section")
    page.description = "temperatures of a Linux laptop: live, recorded, or as one number"
    page.date = release_date()
    page.source = f"toolkit {__version__}"
    page.manual = "User Commands"
    page.add_section("exit status", ">", EXIT_STATUS)
    page.add_section("files", ">", FILES)
    page.add_section("environment", ">", ENVIRONMENT)
    return str(page)


def completion(shell: str) -> str:
    """The completion script of one shell."""
    import shtab

    from toolkit.cli import build_parser

    parser = build_parser()
    for each in walk(parser):
        for action in each._actions:
            metavar = action.metavar if isinstance(action.metavar, str) else ""
            if metavar in FILE_WORDS:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
            elif metavar in FOLDER_WORDS:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(parser, shell=shell)


def generate() -> dict[str, str]:
    """All generated files: path below assets/ -> text."""
    columns = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "100"  # argparse wraps its texts by it
    try:
        texts = {
            "man/toolkit.1": manual_page(),
            "completions/toolkit.bash": completion("bash"),
            "completions/_toolkit": completion("zsh"),
            "completions/toolkit.fish": completion("fish"),
        }
    finally:
        del os.environ["COLUMNS"]
        if columns is not None:
            os.environ["COLUMNS"] = columns
    return {name: "\n".join(map(str.rstrip, text.rstrip().splitlines())) + "\n" for name, text in texts.items()}


def main() -> int:
    """Write or check."""
    check = "--check" in sys.argv[1:]
    sys.path.insert(0, str(ROOT))
    stale = []
    for name, text in generate().items():
        path = ROOT / "assets" / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in stale:
        print(f"{'stale' if check else 'wrote'}: assets/{name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
