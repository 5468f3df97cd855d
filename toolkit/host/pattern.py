"""Shell patterns over any Host: `*`, `?` and `[...]` within one folder name; no `**`.

The standard library's `glob` looks at the real file system only, and a captured machine has none.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable
from functools import lru_cache

from toolkit.host.natural import natural_key

_MAGIC = re.compile(r"[*?\[]")


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(fnmatch.translate(pattern)).match


def expand(pattern: str, listdir: Callable[[str], list[str]], exists: Callable[[str], bool]) -> list[str]:
    """Return the paths that match an absolute shell pattern, in natural order of each part.

    A hidden name (`.name`) matches only a pattern that begins with a dot, as in a shell. A folder that cannot be
    listed has no matches.
    """
    found = [""]
    checked = True
    for part in pattern.split("/"):
        if part == "":
            continue
        if not _MAGIC.search(part):
            found = [f"{base}/{part}" for base in found]
            checked = False
            continue
        match = _matcher(part)
        hidden = part.startswith(".")
        deeper: list[str] = []
        for base in found:
            try:
                names = listdir(base or "/")
            except (OSError, ValueError):
                continue
            matching = [name for name in names if match(name) and (hidden or not name.startswith("."))]
            deeper += [f"{base}/{name}" for name in sorted(matching, key=natural_key)]
        found = deeper
        checked = True
    if not checked:
        found = [path for path in found if exists(path)]
    return [path for path in found if path]
