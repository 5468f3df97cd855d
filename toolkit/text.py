"""Text from the machine made safe and fitting for a terminal."""

from __future__ import annotations

import unicodedata


def printable(text: str, limit: int = 200) -> str:
    """Return text in which nothing can move a cursor, change a colour or break a line.

    Control and format characters (categories Cc, Cf, Cs, Co, Cn and the line separators) become `\\xNN` or `\\uNNNN`,
    white space at the ends goes, and what is longer than `limit` characters ends in an ellipsis.
    """
    text = text.strip()
    if text.isascii() and text.isprintable():
        return text if len(text) <= limit else text[: limit - 1] + "…"
    out = []
    for char in text[: limit + 1]:
        if char.isprintable() or (char != "\t" and unicodedata.category(char) == "Zs"):
            out.append(char)
        elif ord(char) < 256:
            out.append(f"\\x{ord(char):02x}")
        else:
            out.append(f"\\u{ord(char):04x}")
    safe = "".join(out)
    return safe if len(safe) <= limit and len(text) <= limit else safe[: limit - 1] + "…"


def cell_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: CJK two each, combining marks and zero-width ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, width: int, right: bool = False) -> str:
    """Return a text filled with blanks to `width` columns of a terminal."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def clipped(text: str, width: int) -> str:
    """Return a text that takes at most `width` columns, with an ellipsis where something is missing."""
    if cell_width(text) <= width:
        return text
    while cell_width(text) >= width:
        text = text[:-1]
    return f"{text}…"
