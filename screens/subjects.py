"""The one list of subjects: modes, digit keys, footer words, palette entries and help all derive from it.

A subject that is not in the list does not exist for a person. To add one: write its screen, add a line here, add
`assets/help/<id>.md`, and, where it has a line on the overview, add that to `screens/overview_lines.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.binding import Binding, BindingType

from toolkit.errors import UsageError
from toolkit.text import printable

if TYPE_CHECKING:
    from screens.base import ToolkitScreen


@dataclass(frozen=True, slots=True)
class Subject:
    """One subject of the interface.

    Attributes:
        id: the mode, the name of the help page, and what `--screen` takes.
        digit: the key that opens it.
        title: what stands on the top line, and in the palette.
        word: what stands in the overview's footer after the digit.
        summary: one line for help and palette.
        factory: makes the screen; imports its module on the first visit.
    """

    id: str
    digit: str
    title: str
    word: str
    summary: str
    factory: Callable[[], ToolkitScreen]


def _overview() -> ToolkitScreen:
    from screens.overview import OverviewScreen

    return OverviewScreen()


def _temperatures() -> ToolkitScreen:
    from screens.temperatures import TemperaturesScreen

    return TemperaturesScreen()


OVERVIEW = Subject("overview", "1", "Overview", "overview", "The whole machine on one page", _overview)
TEMPERATURES = Subject(
    "temperatures", "2", "Temperatures", "temps", "Every sensor, live, with its history and limits", _temperatures
)

SUBJECTS: tuple[Subject, ...] = (OVERVIEW, TEMPERATURES)
"""In the order of their digits; the first is where `q` leads back to."""


def app_bindings(subjects: Iterable[Subject]) -> list[BindingType]:
    """Return the keys that work everywhere: the digits of the subjects, help, and the ways out."""
    digits = [
        Binding(
            subject.digit,
            f"app.show_subject('{subject.id}')",
            subject.word,
            id=f"subject.{subject.id}",
            tooltip=f"{subject.title}: {subject.summary[0].lower()}{subject.summary[1:]}",
        )
        for subject in subjects
    ]
    return [
        *digits,
        Binding("question_mark,f1", "app.help", "help", id="app.help", tooltip="What am I seeing, and which keys work"),
        Binding("Q,ctrl+q", "app.quit", "quit", id="app.quit", tooltip="Leave toolkit; a recording is saved first"),
        Binding("ctrl+z", "app.suspend_process", id="app.suspend", show=False, tooltip="To the shell; fg comes back"),
        Binding("ctrl+c", "app.quit", "quit", id="app.interrupt", show=False, tooltip="Leave, if nothing is selected"),
    ]


def known_subject(subjects: Sequence[Subject], wish: str | None) -> Subject:
    """Return a subject by its id, title, footer word or digit, the first without a wish; UsageError for another."""
    if wish is None:
        return subjects[0]
    for subject in subjects:
        if wish.lower() in (subject.id, subject.word, subject.digit, subject.title.lower()):
            return subject
    names = ", ".join(subject.id for subject in subjects)
    raise UsageError(f"there is no screen {printable(wish, 40)!r}", f"the screens are {names}")


def app_modes(subjects: Iterable[Subject]) -> dict[str, Any]:
    """Return the modes of the subjects; a screen is made when it is first opened."""
    return {subject.id: subject.factory for subject in subjects}
