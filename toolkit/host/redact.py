"""Takes out of a capture what tells one person's machine from all others.

In two passes: first everything is looked through (`find`), then everything is rewritten (`text`, `data`). The same
secret becomes the same placeholder wherever it stands, so a disk's link in /dev/disk/by-id still fits its serial
number elsewhere. toolkit.host.identifiers says what is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from toolkit.host.identifiers import (
    GENERIC_NAMES,
    KINDS,
    MEANINGLESS,
    OPAQUE_FILES,
    PATTERNS,
    SECRET_FILES,
    SECRET_KEYS,
    Kind,
    Pattern,
)

_NAMES = ("host", "user")
_WEAK_SERIAL = re.compile(r"[a-z_-]+\d{0,4}|[A-Za-z _-]+")
_NUMBER = re.compile(r"\s*-?\d+\s*")
_WHOLE_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_NUMBER_OBJECT = re.compile(r'("(?:wwn|eui64|nguid)"\s*:\s*\{)([^{}]*)(\})')
_MARK = re.compile(r"0x|(?:naa|eui|wwn|nqn)\.(?:0x)?")
_MARKED = re.compile(rf"({_MARK.pattern})([0-9A-Fa-f]{{8,}})")
"""A world wide name with what says of which kind it is; that stays, so that the name fits where it stands alone."""
_TOKEN = re.compile(r"[A-Za-z0-9]+")


class Redactor:
    """Finds and replaces secrets.

    Args:
        keep: kinds that are left as they are, for example `serial`.
    """

    def __init__(self, keep: Collection[str] = ()) -> None:
        self._keep = frozenset(keep)
        self._kinds = dict(KINDS)
        self._patterns = [pattern for pattern in PATTERNS if pattern.kind not in self._keep]
        self._files = [entry for entry in SECRET_FILES if entry[0] not in self._keep]
        for kind, keys in SECRET_KEYS.items():
            for key in keys.split():
                self.add_key(kind, key)
        self._placeholders: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._everywhere: dict[str, str] = {}
        self._lower: dict[str, str] = {}
        self._regex: re.Pattern[str] | None = None
        self._words: set[str] = set()
        self._owners: dict[str, tuple[str, int]] = {}
        self._used: dict[str, set[int]] = {}

    def add_kind(self, kind: Kind) -> None:
        """Let one more kind of secret be known."""
        self._kinds[kind.name] = kind

    def add_pattern(self, pattern: Pattern) -> None:
        """Look for one more pattern, in all text."""
        if pattern.kind not in self._keep:
            self._patterns.append(pattern)

    def add_file(self, kind: str, path: re.Pattern[str]) -> None:
        """Take the whole content of the files whose path matches as a secret."""
        if kind not in self._keep:
            self._files.append((kind, path))

    def add_key(self, kind: str, key: str) -> None:
        """Take the value of a key in JSON text as a secret."""
        regex = re.compile(rf'(?i)"{re.escape(key)}"\s*:\s*"?(?P<secret>[^"\\\s,{{}}\[\]][^"\\\n,{{}}\[\]]*)')
        self.add_pattern(Pattern(kind, regex, lambda text: text not in ("null", "true", "false")))

    def protect(self, paths: Iterable[str]) -> None:
        """Take the words in the kernel's file names as words: a user called `max` does not rename temp1_max."""
        for path in paths:
            if path.startswith(("/sys/", "/proc/")):
                self._words.update(word.lower() for word in _TOKEN.findall(path))
                self._words.update(word.lower() for word in re.split(r"[/\d]", path))

    def learn(self, kind: str, secret: str) -> str | None:
        """Note a secret and return what stands for it; None where it is none (a filler, a placeholder, kept)."""
        secret = _core(secret)
        if kind == "uuid" and not _WHOLE_UUID.fullmatch(secret) and len(secret) < 30:
            kind = "volume"
        if kind in self._keep or not secret or self._kinds[kind].made.fullmatch(_unmarked(secret)):
            return None
        if kind in _NAMES:
            if secret.lower() in GENERIC_NAMES or len(secret) < 2:
                return None
        elif MEANINGLESS.fullmatch(secret):
            return None
        marked = _MARKED.fullmatch(secret) if kind == "serial" else None
        if marked is not None:
            stand_in = self.learn(kind, marked[2])
            return None if stand_in is None else marked[1] + stand_in
        known = self._placeholders.get(secret.lower())
        if known is not None:
            return known
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        made = self._kinds[kind].placeholder(number)
        for form, stand_in in _forms(kind, secret, made):
            self._owners[stand_in] = (kind, number)
            if self._placeholders.setdefault(form.lower(), stand_in) == stand_in and self._reaches(kind, form):
                self._everywhere[form] = self._lower[form.lower()] = stand_in
        self._regex = None
        return self._placeholders[secret.lower()]

    def _reaches(self, kind: str, secret: str) -> bool:
        """True where a secret is replaced wherever it stands, and not only where it was recognised."""
        if kind in _NAMES:
            return len(secret) >= 3 and secret.lower() not in self._words
        if len(secret) < 6 or (secret.isdigit() and len(secret) < 8):
            return False
        return not (kind == "serial" and _WEAK_SERIAL.fullmatch(secret))

    def find(self, text: str, path: str = "") -> None:
        """Look for secrets in a text, and note them.

        Args:
            path: the file that the text is from; empty for other text.
        """
        kind = self._whole(path, text)
        if kind is not None:
            self.learn(kind, text)
        found: list[tuple[int, str, str]] = []
        for pattern in self._fitting(text, path):
            group = _group(pattern)
            matches = (match for match in pattern.regex.finditer(text) if pattern.accept(match[group]))
            found += [(match.start(group), pattern.kind, match[group]) for match in matches]
        for _, kind, secret in sorted(found):
            self.learn(kind, secret)

    def _whole(self, path: str, text: str) -> str | None:
        """Return the kind of the secret that a file's whole content is, or None."""
        if not path or "\n" in text.strip() or len(text) > 256:
            return None
        return next((kind for kind, regex in self._files if regex.search(path)), None)

    def _fitting(self, text: str, path: str) -> list[Pattern]:
        if path.startswith(("/sys/", "/proc/")) and _NUMBER.fullmatch(text):
            return [pattern for pattern in self._patterns if pattern.in_numbers]
        return self._patterns

    def is_opaque(self, path: str) -> bool:
        """True for a binary table whose content is better left out."""
        return "serial" not in self._keep and OPAQUE_FILES.search(path) is not None

    def text(self, text: str, path: str = "") -> str:
        """Return a text with every secret replaced."""
        kind = self._whole(path, text)
        if kind is not None:
            stand_in = self._stand_in(kind, text)
            if stand_in is not None:
                return text.replace(_core(text), stand_in)
        for pattern in self._fitting(text, path):
            text = pattern.regex.sub(lambda match, pattern=pattern: self._in_place(pattern, match), text)  # type: ignore[misc]
        if "serial" not in self._keep:
            text = _NUMBER_OBJECT.sub(lambda match: match[1] + re.sub(r"\d+", "0", match[2]) + match[3], text)
        return self._replace(text)

    def _in_place(self, pattern: Pattern, match: re.Match[str]) -> str:
        group = _group(pattern)
        secret = match[group]
        stand_in = self._stand_in(pattern.kind, secret) if pattern.accept(secret) else None
        if stand_in is None:
            return match[0]
        start, end = match.start(group) - match.start(), match.end(group) - match.start()
        kept = secret[len(secret.rstrip()) :]
        return match[0][:start] + stand_in + kept + match[0][end:]

    def _stand_in(self, kind: str, secret: str) -> str | None:
        stand_in = self.learn(kind, secret)
        if stand_in is not None:
            self._count(stand_in)
        return stand_in

    def _count(self, stand_in: str) -> None:
        owner = self._owners.get(_unmarked(stand_in))
        if owner is not None:
            self._used.setdefault(owner[0], set()).add(owner[1])

    def _replace(self, text: str) -> str:
        if not self._everywhere:
            return text
        if self._regex is None:
            self._regex = self._build()
        return self._regex.sub(self._replaced, text)

    def _replaced(self, match: re.Match[str]) -> str:
        stand_in = self._lower.get(match[0].lower()) or self._folded(match[0])
        self._count(stand_in)
        return stand_in

    def _folded(self, text: str) -> str:
        """Look up a match whose small letters are not those of the secret (the Kelvin sign, a dotless i)."""
        for secret, stand_in in self._everywhere.items():
            if re.fullmatch(re.escape(secret), text, re.IGNORECASE):
                return stand_in
        return "REMOVED"

    def _build(self) -> re.Pattern[str]:
        parts = []
        for secret in sorted(self._everywhere, key=len, reverse=True):
            escaped = re.escape(secret)
            if secret.isdigit():
                escaped = rf"(?<!\d){escaped}(?!\d)"
            elif len(secret) < 8 or self._is_name(secret):
                escaped = rf"(?<![A-Za-z0-9]){escaped}(?![A-Za-z0-9])"
            parts.append(escaped)
        return re.compile("|".join(parts), re.IGNORECASE)

    def _is_name(self, secret: str) -> bool:
        return self._owners[self._everywhere[secret]][0] in _NAMES

    def data(self, data: bytes, path: str = "") -> bytes:
        """Return the bytes of a file with every secret replaced, also where they are UTF-16 inside a binary file."""
        clean = self.text(data.decode("utf-8", "surrogateescape"), path).encode("utf-8", "surrogateescape")
        if b"\0" in clean:
            for secret, stand_in in self._everywhere.items():
                for form in (secret, secret.lower(), secret.upper()):
                    clean = clean.replace(form.encode("utf-16-le"), stand_in.encode("utf-16-le"))
        return clean

    def counts(self) -> dict[str, int]:
        """Return how many different secrets were replaced, by the kind's title (`MAC addresses`)."""
        return {self._kinds[kind].title: len(used) for kind, used in self._used.items() if used}


def _core(text: str) -> str:
    return text.strip().strip("\0").strip()


def _unmarked(secret: str) -> str:
    return _MARK.sub("", secret, count=1) if _MARK.match(secret) else secret


def _group(pattern: Pattern) -> str | int:
    return "secret" if "secret" in pattern.regex.groupindex else 0


def _forms(kind: str, secret: str, made: str) -> list[tuple[str, str]]:
    """Return the ways in which a secret is written, each with what stands for it; the given way first."""
    if kind == "mac":
        plain, stand_in = re.sub(r"[:_-]", "", secret), made.replace(":", "")
        own = next((mark for mark in ":-_" if mark in secret), "")
        marks = [own] + [mark for mark in (":", "-", "_", "") if mark != own]
        return [(_marked(plain, mark), _marked(stand_in, mark)) for mark in marks]
    forms = [(secret, made)]
    if kind == "uuid" and "-" in secret:
        forms += [(secret.replace("-", mark), made.replace("-", mark)) for mark in ("", "\\x2d")]
    elif kind == "serial" and re.search(r"\s", secret):
        forms += [(mark.join(secret.split()), made) for mark in ("_", "", "\\x20")]
    return forms


def _marked(digits: str, mark: str) -> str:
    return mark.join(digits[at : at + 2] for at in range(0, len(digits), 2))
