"""Repairs the SVG that Textual draws of a screen, so that every viewer shows it in its columns.

Textual gives each run of one style its place and its length. Many viewers (librsvg, and so most file managers) know no
`textLength`, fold blanks, and have another font than the one Textual names: words run together, graphs get a jag. So
each word gets a place of its own, and the characters of a graph one every few.
"""

from __future__ import annotations

import html
import re

from toolkit.text import cell_width

CELL = 12.2
"""Width of a character in Textual's pictures."""
GRAPHIC_RUN = 4
"""So many characters of a graph stand together: what a viewer's font is off by stays below a pixel."""

_TEXT = re.compile(
    r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+" clip-path="([^"]+)">([^<]*)</text>'
)
_PIECE = re.compile(rf"[─-▟]{{1,{GRAPHIC_RUN}}}|[^\s─-▟]+")
_FONTS = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)


def repaired(svg: str) -> str:
    """Return a picture that needs no font from the net and stands in its columns; the same screen gives the same text.

    The random part of Textual's class names goes, too.
    """
    svg = _FONTS.sub("", _TEXT.sub(_placed, svg))
    svg = svg.replace("font-family: Fira Code, monospace", "font-family: 'DejaVu Sans Mono', monospace")
    svg = re.sub(r"terminal-\d+-", "terminal-", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def _placed(match: re.Match[str]) -> str:
    style, x, y, clip, content = match.groups()
    text = html.unescape(content)
    out = []
    for piece in _PIECE.finditer(text):
        left = float(x) + cell_width(text[: piece.start()]) * CELL
        length = cell_width(piece[0]) * CELL
        out.append(
            f'<text class="{style}" x="{left:.1f}" y="{y}" textLength="{length:.1f}" clip-path="{clip}">'
            f"{html.escape(piece[0])}</text>"
        )
    return "".join(out)
