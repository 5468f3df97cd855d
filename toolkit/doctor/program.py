"""Checks of the program itself: Python and its modules, the terminal, the settings and the folders of this process."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from toolkit import config
from toolkit.doctor.model import Finding, care, note, ok
from toolkit.doctor.packages import MODULES, Module, install_hint
from toolkit.text import printable

SMALLEST_SIZE = (60, 18)
"""Columns and lines below which a screen shows only one sentence."""

DESIGNED_SIZE = (80, 24)
"""Columns and lines from which on a screen shows all that it has."""


def check_program(environ: Mapping[str, str], family: str | None) -> Iterator[Finding]:
    """All checks of this module.

    Args:
        environ: the environment of this process.
        family: how this distribution installs packages, None where that is not known.
    """
    yield ok("Python", ".".join(map(str, sys.version_info[:3])))
    for module in MODULES:
        yield check_module(module, family)
    yield from check_terminal(environ)
    yield from check_folders(environ)


def check_module(module: Module, family: str | None) -> Finding:
    """The module is installed, in a version that will do. It is not imported for that."""
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    hint = install_hint(module, family, sys.executable, in_venv=sys.prefix != sys.base_prefix)
    if find_spec(module.name) is None:
        return Finding(module.when_missing, module.name, f"not installed; needed for {module.purpose}", hint)
    try:
        found = version(module.name)
    except PackageNotFoundError:
        return ok(module.name, "version unknown")
    if module.name == "textual" and not (8, 2) <= version_key(found) < (9,):
        return care(module.name, f"{found}, but the screens need 8.2 or a later 8", hint)
    return ok(module.name, found)


def version_key(text: str) -> tuple[int, ...]:
    """The leading numbers of a version: `8.2.8rc1` -> (8, 2)."""
    numbers = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return tuple(numbers)


def check_terminal(environ: Mapping[str, str]) -> Iterator[Finding]:
    """TERM, colours, the character set and the size, where stdout is a terminal."""
    if not sys.stdout.isatty():
        yield note("terminal", "the output is not a terminal; the screens need one")
        return
    yield check_term(environ)
    charset = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or "C"
    if charset.upper().replace("-", "").partition(".")[2].startswith("UTF8"):
        yield ok("characters", printable(charset))
    else:
        yield care(
            "characters", f"{printable(charset)}, not UTF-8: bars and degree signs may break", "export LC_ALL=C.UTF-8"
        )
    yield check_size(*terminal_size())


def check_term(environ: Mapping[str, str]) -> Finding:
    """TERM names a terminal that can be drawn on, and how many colours it has."""
    term = environ.get("TERM", "")
    if term in ("", "dumb"):
        return care(
            "terminal", f"TERM is {term or 'not set'}: the screens cannot be drawn", "export TERM=xterm-256color"
        )
    if term == "linux":
        return note("terminal", "the Linux console: 16 colours, few glyphs", "choose the theme `ansi` (ctrl+p)")
    if environ.get("NO_COLOR"):
        colours = "no colours, since NO_COLOR is set"
    elif environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        colours = "16 million colours"
    else:
        colours = "256 colours" if "256" in term else "as many colours as TERM implies"
    return ok("terminal", f"{printable(term)}, {colours}")


def check_size(columns: int, lines: int) -> Finding:
    """The terminal is large enough. Both are 0 where it does not say."""
    size = f"{columns}x{lines}"
    if columns == 0 or lines == 0:
        return note("size", "the terminal does not tell its size")
    if columns < SMALLEST_SIZE[0] or lines < SMALLEST_SIZE[1]:
        return care("size", f"{size}: too small for the screens, which need 60x18")
    if columns < DESIGNED_SIZE[0] or lines < DESIGNED_SIZE[1]:
        return note("size", f"{size}: from 80x24 on everything is shown")
    return ok("size", size)


def terminal_size() -> tuple[int, int]:
    """Columns and lines of the terminal on stdout; 0, 0 where it does not say."""
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):
        return 0, 0


def check_folders(environ: Mapping[str, str]) -> Iterator[Finding]:
    """The settings can be read, and the folders can be written or made."""
    problems = config.load_settings(environ).problems
    for problem in problems:
        yield care("settings", f"{printable(problem.source)}: {printable(problem.reason)}", problem.hint)
    if not problems:
        yield ok("settings", "nothing wrong with them")
    places = config.folders(environ)
    for name, kept in (("config", "settings"), ("state", "recordings and screenshots"), ("cache", "saved work")):
        path: str = getattr(places, name)
        if may_write(path):
            yield ok(f"{name} folder", printable(path))
        else:
            yield care(f"{name} folder", f"{printable(path)} cannot be written: {kept} cannot be kept")


def may_write(path: str) -> bool:
    """True where a file could be made in the folder, which itself may still have to be made."""
    while not os.path.lexists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK | os.X_OK)
