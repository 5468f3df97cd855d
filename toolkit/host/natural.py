"""Natural order of names: hwmon2 stands before hwmon10."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"([0-9]+)")


def natural_key(text: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a sort key in which runs of digits compare as numbers.

    Numbers compare by length and then as text, so that a run of any length works. The text itself comes last: two
    names that differ only in leading zeros still have one fixed order.
    """
    parts = _NUMBER.split(text)
    key: list[str | tuple[int, str]] = []
    for position, part in enumerate(parts):
        if position % 2:
            digits = part.lstrip("0")
            key.append((len(digits), digits))
        else:
            key.append(part)
    return tuple(key), text


def natural_sorted(names: Iterable[str]) -> list[str]:
    """Return the names in natural order."""
    return sorted(names, key=natural_key)
