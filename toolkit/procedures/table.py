"""A TOML table that is read key by key; a wrong or unknown key is one line with file, step and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from toolkit.errors import UsageError
from toolkit.text import printable

_E = TypeVar("_E", bound=StrEnum)


class Table:
    """A table and where it stands. Every reader raises UsageError for a value of another form."""

    def __init__(self, content: Mapping[str, Any], where: str) -> None:
        self._content = content
        self._where = where
        self._read: set[str] = set()

    def called(self, name: str) -> Table:
        """Return the same table under the name that its errors give."""
        return Table(self._content, f"{self._where.rpartition(': ')[0]}: {printable(name)}")

    def fail(self, key: str, what: str) -> NoReturn:
        """Raise the one line for a key."""
        raise UsageError(f"{self._where}: {key}: {what}")

    def done(self) -> None:
        """Raise UsageError where a key was not read: it is unknown."""
        unknown = sorted(set(self._content) - self._read)
        if unknown:
            self.fail(printable(unknown[0]), "there is no such key")

    def has(self, key: str) -> bool:
        """True where the key stands there."""
        return key in self._content

    def _get(self, key: str, default: Any = None) -> Any:
        self._read.add(key)
        return self._content.get(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """Return a text; without a default it has to be there and not empty."""
        value = self._get(key, default)
        if value is None or (default is None and value == ""):
            self.fail(key, "is missing")
        if not isinstance(value, str):
            self.fail(key, "is not a text")
        return value

    def flag(self, key: str) -> bool:
        """Return true or false; false where it is not there."""
        value = self._get(key, False)
        if not isinstance(value, bool):
            self.fail(key, "is neither true nor false")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a number that is not negative."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            self.fail(key, "is no number of seconds")
        return float(value)

    def choice(self, key: str, kind: type[_E]) -> _E:
        """Return one of the words of an enumeration."""
        value = self.text(key)
        try:
            return kind(value)
        except ValueError:
            self.fail(key, f"{printable(value)!r} is none of {', '.join(each.value for each in kind)}")

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of texts with at least one."""
        return self._words(self._get(key), key)

    def _words(self, value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
            self.fail(key, "is no list of texts")
        if not value[0]:
            self.fail(key, "begins with an empty text")
        return tuple(value)

    def word_lists(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return a list of lists of texts; empty where it is not there."""
        return tuple(self._words(each, key) for each in self._list(key))

    def statuses(self, key: str) -> tuple[int, ...]:
        """Return exit statuses; 0 alone where they are not there."""
        values = self._get(key, [0])
        if not isinstance(values, list) or not values or any(type(each) is not int for each in values):
            self.fail(key, "is no list of exit statuses")
        return tuple(values)

    def commands(self, key: str) -> Iterator[tuple[str, ...] | Table]:
        """Yield each command: a list of texts, or a table with `argv`."""
        for each in self._list(key):
            yield Table(each, f"{self._where}: {key}") if isinstance(each, dict) else self._words(each, key)

    def _list(self, key: str) -> list[Any]:
        value = self._get(key, [])
        if not isinstance(value, list):
            self.fail(key, "is no list")
        return value

    def table(self, key: str) -> Table | None:
        """Return an inner table, None where it is not there."""
        value = self._get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.fail(key, "is no table")
        return Table(value, f"{self._where}: {key}")

    def tables(self, key: str) -> Iterator[Table]:
        """Yield each table of a list of tables."""
        for number, each in enumerate(self._list(key), 1):
            if not isinstance(each, dict):
                self.fail(key, "is no list of tables")
            yield Table(each, f"{self._where}: {key} {number}")

    def tables_by_name(self, key: str) -> Iterator[tuple[str, Table]]:
        """Yield name and table of each table in a table."""
        inner = self._get(key, {})
        if not isinstance(inner, dict):
            self.fail(key, "is no table")
        for name, each in inner.items():
            if not isinstance(each, dict):
                self.fail(f"{key}.{printable(name)}", "is no table")
            yield name, Table(each, f"{self._where}: {key}.{printable(name)}")

    def texts_by_name(self, key: str) -> dict[str, str]:
        """Return a table of texts; empty where it is not there."""
        inner = self._get(key, {})
        if not isinstance(inner, dict) or not all(isinstance(each, str) for each in inner.values()):
            self.fail(key, "is no table of texts")
        return dict(inner)
