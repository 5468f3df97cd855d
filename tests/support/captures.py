"""Where the captured machines of the tests are."""

from __future__ import annotations

from pathlib import Path

from toolkit.assets import path_of

TESTS = Path(__file__).resolve().parent.parent
CAPTURES = TESTS / "captures"
CASES = TESTS / "cases" / "temps"
DEMO = Path(path_of("demo/framework13"))


def machines() -> list[Path]:
    """Return the captured machines of tests/captures and the demo."""
    return [*sorted(path.parent for path in CAPTURES.glob("*/meta.json")), DEMO]


def find_capture(name: str) -> Path:
    """Return the folder of a capture by its name, or of a case by the first part of its name (`T01`, `T22/a`).

    Raises LookupError where none, or more than one, has that name.
    """
    for folder in (CAPTURES / name, DEMO.parent / name, CASES / name):
        if (folder / "meta.json").is_file():
            return folder
    stem, _, rest = name.partition("/")
    found = [folder / rest for folder in CASES.glob(f"{stem}-*") if (folder / rest / "meta.json").is_file()]
    if len(found) != 1:
        raise LookupError(f"{len(found)} captures are called {name!r}")
    return found[0]
