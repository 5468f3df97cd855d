"""The lines of the overview, and what to do next, as pure functions from models to rows.

Each subject gives its lines through `LINES`; a line that a machine has nothing for returns None and is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from screens.format import (
    DASH,
    celsius,
    gigahertz,
    heat,
    number,
    percent,
    state_words,
    watts,
)
from screens.widgets.bar import FINE, Blocks
from screens.widgets.canvas import Piece
from screens.widgets.graph import Scale, area, column_inks
from toolkit.sensors.clean import CPU_CHIPS
from toolkit.sensors.history import HEADLINE, History
from toolkit.sensors.model import Battery, ClockGroup, Held, Quantity, Snapshot, State
from toolkit.text import printable

SPARK_SECONDS = 120.0
SCALE_LOW_C = 30.0
SCALE_HIGH_C = 100.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What the lines are made from; later subjects add their models here.

    Attributes:
        snapshot: None until the first look.
        history: of the temperatures.
        width: cells that a line may take after its label.
        replayed: a captured machine is looked at.
        blocks: the characters to draw with.
    """

    snapshot: Snapshot | None
    history: History = field(default_factory=History)
    width: int = 68
    replayed: bool = False
    blocks: Blocks = FINE


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the overview: its label, what it says, and the subject that it opens."""

    label: str
    pieces: tuple[Piece, ...]
    subject: str


LineMaker = Callable[[Facts], Line | None]


def spark_scale(snapshot: Snapshot) -> Scale:
    """Return the scale of the small graph: from 30 degrees to the limit, so that its height means something."""
    limit = snapshot.headline.limit_celsius
    return Scale(SCALE_LOW_C, max(limit if limit is not None else SCALE_HIGH_C, SCALE_LOW_C + 20))


def spark_pieces(values: list[float | None], scale: Scale, limit: float | None, blocks: Blocks) -> list[Piece]:
    """Draw a graph one row high: dots where nothing is known, each column inked by its distance to the limit."""
    drawn = area(values, scale, 1, blocks)[0]
    pieces: list[Piece] = []
    for value, char, own in zip(values, drawn, column_inks(values, limit), strict=True):
        text, ink = ("·", "faint") if value is None else (char, own)
        if pieces and pieces[-1][1] == ink:
            pieces[-1] = (pieces[-1][0] + text, ink)
        else:
            pieces.append((text, ink))
    return pieces


_HELD: dict[Held, Piece] = {
    Held.NO: ("not held back", "ok"),
    Held.YES: ("!! held back", "bad"),
    Held.LIKELY: ("! held back?", "warn"),
    Held.UNKNOWN: ("", "dim"),
}


def cpu_line(facts: Facts) -> Line | None:
    """The headline, its last two minutes, its maximum against the limit, and whether the CPU is held back."""
    snapshot = facts.snapshot
    if snapshot is None:
        return Line("CPU", ((f"{'·' * max(0, facts.width - 44)}  {DASH:>6}", "faint"),), "temperatures")
    headline = snapshot.headline
    if headline.celsius is None:
        return Line("CPU", ((DASH, "dim"), (f"   {printable(headline.reason)}", "dim")), "temperatures")
    limit = headline.limit_celsius
    extent = facts.history.extent(HEADLINE)
    spark = min(60, facts.width - 44)
    pieces: list[Piece] = []
    if spark >= 8:
        values = facts.history.columns(HEADLINE, SPARK_SECONDS, spark)
        pieces += spark_pieces(values, spark_scale(snapshot), limit, facts.blocks)
        pieces.append(("  ", ""))
    judged = heat(headline.celsius, limit)
    pieces.append((celsius(headline.celsius, 6), judged.ink if judged.glyph else "strong"))
    most = f"   max {number(extent.maximum if extent else None, 3)}"
    pieces.append((f"{most} of {number(limit, 3)}" if limit is not None else most, "dim"))
    word, ink = _HELD[snapshot.held_back.held]
    if word:
        pieces += [("   ", ""), (word, ink)]
    return Line("CPU", tuple(pieces), "temperatures")


def _battery(battery: Battery) -> str:
    """Return `battery 83 %, discharging 9.2 W`."""
    text = f"battery {percent(battery.percent)}"
    status = printable(battery.status or "").lower()
    if status and status != "unknown":
        text += f", {status}"
        if battery.watts is not None and abs(battery.watts) >= 0.05:
            text += f" {watts(abs(battery.watts), 6)}"
    return text


def power_line(facts: Facts) -> Line | None:
    """Mains, batteries, the power of the CPU packages; absent where the machine tells none of it and nothing helps."""
    if facts.snapshot is None:
        return None
    power = facts.snapshot.power
    parts: list[Piece] = []
    if power.on_ac and not any((battery.status or "").lower() == "discharging" for battery in power.batteries):
        parts.append(("on mains", ""))
    parts += [(_battery(battery), "") for battery in power.batteries]
    known = power.package_watts
    if known is not None:
        limits = [p.long_limit_w for p in power.packages if p.long_limit_w is not None]
        cap = f" of {number(sum(limits))} W" if limits and len(limits) == len(power.packages) else ""
        parts.append((f"CPU package {watts(known, 6)}{cap}", ""))
    elif power.problem is not None and (parts or power.problem.hint):
        reason = printable(power.problem.reason)
        parts.append((reason if "package power" in reason else f"CPU package {DASH} ({reason})", "dim"))
    return Line("Power", _joined(parts), "temperatures") if parts else None


def _clock(group: ClockGroup) -> str:
    """Return `P-cores 1.9 GHz`."""
    kind = "all cores" if group.kind == "CPU" else f"{printable(group.kind)}-cores"
    return f"{kind} {gigahertz(group.mean_mhz)}"


def clocks_line(facts: Facts) -> Line | None:
    """The mean clock of each type of core, and the policy."""
    if facts.snapshot is None:
        return None
    clocks = facts.snapshot.clocks
    parts: list[Piece] = []
    if clocks.groups:
        parts.append(("  ".join(_clock(group) for group in clocks.groups), ""))
    if clocks.governor:
        parts.append((f"governor {printable(clocks.governor)}", "dim"))
    if clocks.boost is False:
        parts.append(("boost off", "warn"))
    if clocks.platform_profile:
        parts.append((f"profile {printable(clocks.platform_profile)}", "dim"))
    if not parts and clocks.problem is not None:
        parts.append((f"{DASH} ({printable(clocks.problem.reason)})", "dim"))
    return Line("Clocks", _joined(parts), "temperatures") if parts else None


def load_line(facts: Facts) -> Line | None:
    """How busy the CPUs are."""
    if facts.snapshot is None:
        return None
    clocks = facts.snapshot.clocks
    if clocks.load_percent is None and clocks.load_average is None:
        return None
    parts: list[Piece] = [(f"{percent(clocks.load_percent, 4)} busy", "")]
    if clocks.load_average is not None:
        one, five, fifteen = clocks.load_average
        parts.append((f"load {one:.2f} {five:.2f} {fifteen:.2f} (1, 5, 15 min)", "dim"))
    return Line("Load", _joined(parts), "temperatures")


def fans_line(facts: Facts) -> Line | None:
    """Every fan that tells its speed."""
    if facts.snapshot is None:
        return None
    fans = [r for r in facts.snapshot.readings if r.sensor.quantity is Quantity.FAN and r.state is State.OK]
    if not fans:
        return None
    names = Counter(reading.sensor.name for reading in fans)
    parts: list[Piece] = []
    for reading in fans[:4]:
        still = reading.value == 0
        speed = "still" if still else f"{number(reading.value, 4)} rpm"
        name = printable(reading.sensor.name)
        if names[reading.sensor.name] > 1:  # two chips have a fan of that name
            name = f"{printable(reading.sensor.chip.name)} {name}"
        parts.append((f"{name} {speed}" if len(fans) > 1 else speed, "dim" if still else ""))
    return Line("Fans", _joined(parts), "temperatures")


def others_line(facts: Facts) -> Line | None:
    """The hottest sensor of each chip that is not the CPU's, and those that sleep."""
    if facts.snapshot is None:
        return None
    cpu_chips = {
        reading.sensor.chip.path
        for reading in facts.snapshot.readings
        if reading.sensor.id in facts.snapshot.headline.sensor_ids
    }
    hottest: dict[str, Piece] = {}
    best: dict[str, float] = {}
    for reading in facts.snapshot.readings:
        chip = reading.sensor.chip
        if reading.sensor.quantity is not Quantity.TEMPERATURE or chip.path in cpu_chips or chip.name in CPU_CHIPS:
            continue
        if reading.value is not None and reading.value > best.get(chip.path, -300.0):
            judged = heat(reading.value, reading.sensor.bar_limit)
            word = f"{judged.glyph} " if judged.glyph else ""
            best[chip.path] = reading.value
            hottest[chip.path] = (
                f"{printable(chip.name)} {word}{celsius(reading.value)}",
                judged.ink if judged.glyph else "",
            )
        elif reading.state is State.ASLEEP and chip.path not in hottest:
            hottest[chip.path] = (f"{printable(chip.name)} {state_words(reading)[0].partition(':')[0]}", "dim")
    if not hottest:
        return None
    pieces = list(hottest.values())
    order = sorted(hottest, key=lambda path: -best.get(path, -300.0))
    pieces = [hottest[path] for path in order]
    return Line("Others", _joined(pieces), "temperatures")


def _joined(parts: list[Piece]) -> tuple[Piece, ...]:
    """Put ` · ` between the parts of a line."""
    joined: list[Piece] = []
    for part in parts:
        if joined:
            joined.append((" · ", "faint"))
        joined.append(part)
    return tuple(joined)


LINES: list[LineMaker] = [cpu_line, power_line, clocks_line, load_line, fans_line, others_line]
"""Every line of the overview, in its order."""


def overview_lines(facts: Facts) -> list[Line]:
    """Return the lines that this machine has something for."""
    return [line for maker in LINES if (line := maker(facts)) is not None]
