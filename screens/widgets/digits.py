"""Large digits, three rows high (or twice that), from half blocks that also a Linux console's font has. Pure."""

from __future__ import annotations

_PIXELS: dict[str, tuple[str, ...]] = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", "  #", "  #"),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    "-": ("   ", "   ", "###", "   ", "   "),
    " ": ("   ", "   ", "   ", "   ", "   "),
}
_PIXEL_ROWS = 5
_HALVES = {(False, False): " ", (True, False): "▀", (False, True): "▄", (True, True): "█"}


def large_height(scale: int = 1) -> int:
    """Return how many rows large text takes: 3, or 5 at twice the size."""
    return (_PIXEL_ROWS * scale + 1) // 2


def large_width(length: int, scale: int = 1) -> int:
    """Return how many cells a text of `length` characters takes."""
    return max(0, length * 4 - 1) * scale


def large(text: str, scale: int = 1) -> tuple[str, ...]:
    """Return digits, minus signs and blanks as rows of block characters, all of one width.

    Args:
        text: what to draw; a character that has no picture is drawn as a blank.
        scale: cells a pixel is wide; 2 doubles both width and height.
    """
    pixels = []
    for y in range(_PIXEL_ROWS):
        row = " ".join(_PIXELS.get(char, _PIXELS[" "])[y] for char in text)
        pixels.extend(["".join(dot * scale for dot in row)] * scale)
    if len(pixels) % 2:
        pixels.append(" " * len(pixels[0]))
    return tuple(
        "".join(_HALVES[above == "#", below == "#"] for above, below in zip(upper, lower, strict=True))
        for upper, lower in zip(pixels[::2], pixels[1::2], strict=True)
    )
