"""Filling `{variable}` inside single arguments, so that a value can never split, vanish or become an option.

`{{` and `}}` stand for braces. `{name?}` may be empty: an argument that is empty for that reason is left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from toolkit.errors import ToolkitError, UsageError
from toolkit.text import printable

_TOKEN = re.compile(r"\{\{|\}\}|\{([a-z][a-z0-9_]*)(\?)?\}|[{}]")


class BadPlaceholder(ToolkitError):
    """A template that cannot be filled: a lone brace, or a name that is not known."""


def names_in(text: str) -> frozenset[str]:
    """Return the variables that stand in a text. Raises BadPlaceholder for a lone brace."""
    found = set()
    for match in _TOKEN.finditer(text):
        if match[0] in "{}":
            raise BadPlaceholder(f"a lone {match[0]!r} in {text!r}", "write {{ and }} for braces")
        if match[1]:
            found.add(match[1])
    return frozenset(found)


def fill_text(template: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled in, as they are. Raises BadPlaceholder."""

    def replace(match: re.Match[str]) -> str:
        if match[0] in ("{{", "}}"):
            return match[0][0]
        if match[1] is None:
            raise BadPlaceholder(f"a lone {match[0]!r} in {template!r}", "write {{ and }} for braces")
        if match[1] not in values:
            raise BadPlaceholder(f"{{{match[1]}}} has no value yet")
        value = values[match[1]]
        if not value and not match[2]:
            raise BadPlaceholder(f"{{{match[1]}}} is empty")
        return value

    return _TOKEN.sub(replace, template)


def fill_argument(template: str, values: Mapping[str, str]) -> str | None:
    """Return one argument with its variables filled in; None where it is empty by a `{name?}`.

    Raises UsageError where a value would make it an option or holds a control character, BadPlaceholder where a
    variable is not known.
    """
    filled = fill_text(template, values)
    if not filled and template:
        return None
    if filled.startswith("-") and not template.startswith("-"):
        raise UsageError(
            f"{printable(filled)!r} would be read as an option", "choose a value that does not start with -"
        )
    bad = [char for char in filled if unicodedata.category(char) in ("Cc", "Cs", "Cf")]
    if bad and filled != template:
        raise UsageError(f"{printable(filled)!r} has a control character in it", "choose another value")
    return filled


def fill_arguments(templates: Iterable[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return arguments with their variables filled in, without those that are empty. Raises like `fill_argument`."""
    filled = (fill_argument(template, values) for template in templates)
    return tuple(each for each in filled if each is not None)
