"""Reads attributes for which "not there" is an ordinary answer: None, or an empty text, instead of an error."""

from __future__ import annotations

import errno

from toolkit.host.base import Host
from toolkit.text import printable


def read_line(host: Host, path: str, limit: int = 80) -> str | None:
    """Return an attribute as one printable line of at most `limit` characters; None where absent or empty."""
    return printable(read_all(host, path, 4096).replace("\0", ""), limit) or None


def read_number(host: Host, path: str) -> int | None:
    """Return a decimal number; None where absent, unreadable or anything else than a number."""
    try:
        return parse_number(host.read_bytes(path, 64))
    except OSError:
        return None


def read_all(host: Host, path: str, limit: int = 65536) -> str:
    """Return a file as text; an empty text where it cannot be read."""
    try:
        return host.read_text(path, limit)
    except OSError:
        return ""


def parse_number(data: bytes) -> int | None:
    """Read the decimal number of an attribute; None for anything else (empty, `abc`, `45.0`, `0x1F`, `1_0`)."""
    try:
        value = int(data)
    except ValueError:
        return None
    return None if b"_" in data else value


def errno_name(error: OSError) -> str:
    """Return `EIO` for an error with that number, `error N` for a number without a name."""
    return errno.errorcode.get(error.errno or 0, f"error {error.errno}")
