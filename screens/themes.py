"""The four themes of toolkit; all of Textual's stay available beside them.

`toolkit-colour-blind` tells good from bad by blue against orange (Okabe and Ito's palette), `ansi` uses the sixteen
colours of the terminal itself, as a Linux console has no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.theme import BUILTIN_THEMES, Theme

from toolkit.errors import UsageError
from toolkit.text import printable

DARK = Theme(
    name="toolkit-dark",
    primary="#7fb4ca",
    secondary="#6a9fb5",
    accent="#e6c384",
    success="#98bb6c",
    warning="#e8a35c",
    error="#f0737a",
    foreground="#d5d8de",
    background="#15181d",
    surface="#1b1f26",
    panel="#20252d",
    dark=True,
    variables={"block-cursor-text-style": "none", "footer-key-foreground": "#e6c384"},
)

LIGHT = Theme(
    name="toolkit-light",
    primary="#1f6c8c",
    secondary="#2f7f9f",
    accent="#8a5a00",
    success="#3c7a1e",
    warning="#a85400",
    error="#b3261e",
    foreground="#23272e",
    background="#fbfaf7",
    surface="#f3f1ec",
    panel="#e9e6df",
    dark=False,
    variables={"block-cursor-text-style": "none", "footer-key-foreground": "#8a5a00"},
)

COLOUR_BLIND = Theme(
    name="toolkit-colour-blind",
    primary="#56b4e9",
    secondary="#56b4e9",
    accent="#f0e442",
    success="#56b4e9",
    warning="#e69f00",
    error="#ff8c42",
    foreground="#e2e5ea",
    background="#14171c",
    surface="#1a1e25",
    panel="#20252d",
    dark=True,
    variables={"block-cursor-text-style": "none", "footer-key-foreground": "#f0e442"},
)

ANSI = Theme(
    name="ansi",
    ansi=True,
    primary="ansi_bright_cyan",
    secondary="ansi_cyan",
    accent="ansi_yellow",
    success="ansi_green",
    warning="ansi_yellow",
    error="ansi_bright_red",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    dark=True,
    variables={
        "ansi-background": "ansi_black",
        "ansi-foreground": "ansi_white",
        "border-blurred": "ansi_black",
        "block-cursor-foreground": "ansi_black",
        "block-cursor-background": "ansi_white",
        "input-cursor-background": "ansi_black",
        "input-cursor-foreground": "ansi_bright_white",
        "input-selection-background": "ansi_bright_blue",
        "input-selection-foreground": "ansi_black",
        "screen-selection-background": "ansi_bright_blue",
        "screen-selection-foreground": "ansi_black",
        "text-muted": "ansi_default",
        "text-disabled": "ansi_bright_black",
    },
)

THEMES: tuple[Theme, ...] = (DARK, LIGHT, COLOUR_BLIND, ANSI)

AVAILABLE = frozenset({*BUILTIN_THEMES, *(theme.name for theme in THEMES)})
"""The names of all themes, Textual's own with them."""
AUTOMATIC = frozenset({"", "auto"})
"""What stands in the settings where nobody chose a theme."""


def choose_theme(environ: Mapping[str, str], saved: str, available: Iterable[str]) -> tuple[str, str]:
    """Return the theme to start with, and a notice where a wish could not be met (else an empty text).

    TEXTUAL_THEME comes first, then the saved choice, then what suits the terminal: `ansi` on a Linux console.
    """
    known = set(available)
    default = ANSI.name if environ.get("TERM") == "linux" else DARK.name
    for where, wish in (("TEXTUAL_THEME", environ.get("TEXTUAL_THEME", "")), ("the settings", saved)):
        if wish in AUTOMATIC:
            continue
        if wish in known:
            return wish, ""
        return default, f"There is no theme {wish!r} ({where}); {default} is used. Choose one with ctrl+p."
    return default, ""


def known_theme(wish: str, available: Iterable[str]) -> str:
    """Return a theme's name as it was wished; UsageError where there is none of that name."""
    if wish not in available:
        names = ", ".join(sorted(available))
        raise UsageError(f"there is no theme {printable(wish, 40)!r}", f"the themes are {names}")
    return wish
