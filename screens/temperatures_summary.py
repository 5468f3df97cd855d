"""The block at the top of the temperatures screen: the headline in large digits and what goes with it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from screens.format import DASH, Heat, Severity, celsius, fit, gigahertz, heat, number, percent, watts
from screens.widgets.canvas import Piece, Row, row_width
from screens.widgets.digits import large, large_height, large_width
from toolkit.sensors.history import Extent
from toolkit.sensors.model import Held, Power, Quantity, Rule, Snapshot
from toolkit.text import printable

DIGITS = 3
"""Characters that the large figure has room for, so that nothing moves when 99 becomes 100."""
LARGE_FROM = 9
"""From this height on the digits are twice as large, and the facts stand below them."""


def summary_rows(snapshot: Snapshot | None, extent: Extent | None, width: int, height: int) -> list[Row]:
    """Return the block as `height` rows of `width` cells; `extent` is the headline's since zero."""
    scale = 2 if height >= LARGE_FROM else 1
    figure, ink = _figure(snapshot)
    pictures = large(figure.rjust(2), scale)
    room = large_width(max(DIGITS if scale == 1 else 2, len(figure)), scale)
    beside = _beside(snapshot, extent, spread=scale == 2)
    left = 3 + room + 1
    below = large_height(scale) if scale == 2 else 0
    facts = _fact_rows(snapshot, width - (3 if below else left + 1), height - (below + 1 if below else 1))
    if not below:
        beside = [*beside[:1], *facts]
        facts = []
    rows: list[Row] = []
    for y in range(height):
        if y < len(pictures):
            row: Row = (("   ", ""), (fit(pictures[y].rjust(room), room), f"{ink}+fill"))
        elif below and 0 <= y - below - 1 < len(facts):
            row = (("   ", ""), *facts[y - below - 1])
        else:
            row = ((" " * (3 + room), ""),)
        if y < len(beside) and (not below or y < below):
            row = (*row, ("  ", ""), *beside[y])
        rows.append(_filled(row, width))
    return rows


def _figure(snapshot: Snapshot | None) -> Piece:
    """Return the text of the large digits, and its ink."""
    if snapshot is None or snapshot.headline.celsius is None:
        return "--", "dim"
    judged = heat(snapshot.headline.celsius, snapshot.headline.limit_celsius)
    return number(snapshot.headline.celsius), judged.ink if judged.glyph else "strong"


def _beside(snapshot: Snapshot | None, extent: Extent | None, spread: bool) -> list[tuple[Piece, ...]]:
    """Return what stands right of the digits: unit, state, maximum and limit; on lines of their own where `spread`."""
    headline = snapshot.headline if snapshot is not None else None
    if headline is None or headline.celsius is None:
        return [(("°C", "dim"),)]
    judged = heat(headline.celsius, headline.limit_celsius)
    unit: list[Piece] = [("°C", "strong")]
    if judged.glyph:
        unit += [(" ", ""), (f"{judged.glyph} {judged.word}", judged.ink)]
    elif headline.second_best:
        unit.append((" ≈", "warn"))
    highest = number(extent.maximum if extent else None)
    limit = number(headline.limit_celsius) if headline.limit_celsius is not None else ""
    if not spread:
        return [(*unit, ("  max ", "dim"), (highest, ""), (f" of {limit}" if limit else "", "dim"))]
    lowest = number(extent.minimum if extent else None)
    lines: list[tuple[Piece, ...]] = [tuple(unit), (), (("max   ", "dim"), (highest.rjust(3), ""))]
    lines.append((("limit ", "dim"), (limit.rjust(3), "")) if limit else (("no limit known", "dim"),))
    lines.append((("min   ", "dim"), (lowest.rjust(3), "")))
    return lines


def _filled(row: Row, width: int) -> Row:
    """Return a row cut or filled to `width` cells."""
    used = row_width(row)
    if used < width:
        return (*row, (" " * (width - used), ""))
    pieces: list[Piece] = []
    left = width
    for text, ink in row:
        part = text if len(text) <= left else fit(text, left)
        left -= row_width(((part, ink),))
        pieces.append((part, ink))
        if left <= 0:
            break
    return tuple(pieces)


def _fact_rows(snapshot: Snapshot | None, width: int, height: int) -> list[Row]:
    """Return the facts in at most `height` rows, the most wanted first; short ones share a row where rows are few."""
    if snapshot is None:
        return [(("looking at the sensors", "dim"),)]
    facts = facts_of(snapshot)
    if len(facts) > height:
        facts = _joined(facts, width, height)
    source, ink = facts[0]
    if cell_len(source) > width:
        facts[0] = source.partition(" (+")[0], ink
    return [((fit(text, width).rstrip(), ink),) for text, ink in facts[:height]]


def _joined(facts: Sequence[Piece], width: int, height: int) -> list[Piece]:
    """Put neighbours of one ink on one row, from the end, until they fit into `height` rows or nothing more joins."""
    kept = list(facts)
    at = 1
    while len(kept) > height and at < len(kept) - 1:
        (text, ink), (after, other) = kept[at], kept[at + 1]
        if ink == other and len(text) + 3 + len(after) <= width:
            kept[at : at + 2] = [(f"{text} · {after}", ink)]
        else:
            at += 1
    return kept


def facts_of(snapshot: Snapshot) -> list[Piece]:
    """Return the facts around the headline, one a piece: source, plain figure, power, clocks, load, events, supply."""
    headline = snapshot.headline
    facts: list[Piece] = []
    if headline.celsius is None:
        facts.append(("no CPU temperature", "warn"))
    else:
        facts.append((_source(snapshot), "warn" if headline.second_best else ""))
    plain = headline.plain_celsius
    if headline.rule is Rule.TCTL:
        facts.append(("plain figure, offsets left in", "dim"))
    elif plain is not None and plain != headline.celsius:
        facts.append((f"Tctl {plain} (control value)", "dim"))
    power = _power(snapshot.power)
    if power:
        facts.append((power, ""))
    if snapshot.clocks.groups:
        facts.append((_clocks(snapshot), ""))
    facts += _load(snapshot)
    throttling = snapshot.throttling
    if throttling.offered:
        events = throttling.package_events or throttling.core_events
        facts.append((f"{events} thermal event{'s' if events != 1 else ''} since start", "warn" if events else ""))
    elif throttling.reason:
        facts.append((f"throttling: {printable(throttling.reason)}", "dim"))
    facts += [(text, "") for text in _supply(snapshot.power)]
    return facts


def _source(snapshot: Snapshot) -> str:
    """Return what the headline comes from, the first where several agree."""
    headline = snapshot.headline
    sources = [printable(source) for source in headline.sources]
    text = sources[0] if sources else DASH
    if headline.second_best:
        return f"{text}, {printable(headline.reason)}" if headline.reason else f"{text} (second best)"
    return f"{text} (+{len(sources) - 1})" if len(sources) > 1 else text


def _power(power: Power) -> str:
    """Return `28.0 W of 28 W (PL1)`, or why there is none; empty where the machine has nothing to say."""
    known = power.package_watts
    if known is not None:
        limits = [package.long_limit_w for package in power.packages if package.long_limit_w is not None]
        if limits and len(limits) == len(power.packages):
            word = "PL1" if all(package.source == "RAPL" for package in power.packages) else "cap"
            return f"{watts(known)} of {number(sum(limits))} W ({word})"
        return f"{watts(known)} CPU package"
    if power.problem is not None:
        reason = printable(power.problem.reason)
        return reason if "power" in reason else f"power: {reason}"
    return f"power: {DASH}" if power.packages else ""


def _clocks(snapshot: Snapshot) -> str:
    """Return `P 2.4 GHz  E 1.8 GHz`, or `cores 2.4 GHz` where all are alike."""
    groups = snapshot.clocks.groups
    names = ["cores" if group.kind == "CPU" else printable(group.kind) for group in groups]
    return "  ".join(f"{name} {gigahertz(group.mean_mhz)}" for name, group in zip(names, groups, strict=True))


def _load(snapshot: Snapshot) -> list[Piece]:
    clocks = snapshot.clocks
    facts: list[Piece] = []
    if clocks.load_percent is not None:
        facts.append((f"load {percent(clocks.load_percent)}", ""))
    if clocks.governor:
        facts.append((f"governor {printable(clocks.governor)}", "dim"))
    if clocks.energy_preference:
        facts.append((f"prefers {printable(clocks.energy_preference)}", "dim"))
    if clocks.platform_profile:
        facts.append((f"profile {printable(clocks.platform_profile)}", "dim"))
    if clocks.boost is False:
        facts.append(("boost is off", "warn"))
    return facts


def _supply(power: Power) -> list[str]:
    facts = []
    for battery in power.batteries:
        text = f"{printable(battery.name)} {percent(battery.percent)}"
        if battery.watts is not None and abs(battery.watts) >= 0.05:
            text += f", {'+' if battery.watts > 0 else '-'}{watts(abs(battery.watts))}"
        facts.append(text)
    if power.on_ac:
        facts.append("on mains")
    return facts


def verdict_of(snapshot: Snapshot, over: Sequence[str] = ()) -> tuple[str, Severity]:
    """Return the sentence of the screen and how bad it is: what holds the machine back first, then what is hot.

    Args:
        over: sentences on the person's own thresholds that are crossed now.
    """
    headline, held = snapshot.headline, snapshot.held_back
    if held.held is Held.YES and held.by != "policy":
        return held.sentence, Severity.BAD
    if held.held is Held.LIKELY:
        return held.sentence, Severity.WARN
    if headline.celsius is None:
        reason = printable(headline.reason).rstrip(".") or "no sensor is known to be the CPU's"
        return f"No CPU temperature: {reason}.", Severity.WARN
    figure, limit = celsius(headline.celsius), headline.limit_celsius
    judged = heat(headline.celsius, limit)
    if judged is Heat.HOT:
        return f"The CPU is hot: {figure}, its limit is {celsius(limit)}.", Severity.BAD
    other = _nearest(snapshot)
    if other or over:
        return other or over[0], Severity.WARN
    if held.held is Held.YES:
        return held.sentence, Severity.NOTE
    if judged is Heat.WARM:
        return f"The CPU is warm: {figure}, its limit is {celsius(limit)}. {held.sentence}".rstrip(), Severity.WARN
    if held.held is Held.UNKNOWN:
        return f"{figure}. {held.sentence}".rstrip(), Severity.NOTE
    sentence = held.sentence or "Nothing holds this machine back."
    if sentence.startswith("Nothing"):
        return f"{figure}, n{sentence[1:]}", Severity.OK
    return f"{figure}. {sentence}", Severity.OK


def _nearest(snapshot: Snapshot) -> str:
    """Return a sentence on the part nearest to its limit where it is hot; empty where none is.

    The headline's own figure decides for the CPU, so a Tctl with an offset raises no alarm.
    """
    worst: tuple[float, str] | None = None
    sources = set(snapshot.headline.sensor_ids)
    leaders = {reading.sensor.chip.path for reading in snapshot.readings if reading.sensor.id in sources}
    for reading in snapshot.readings:
        sensor = reading.sensor
        if sensor.quantity is not Quantity.TEMPERATURE or reading.value is None or sensor.bar_limit is None:
            continue
        if sensor.chip.path in leaders and sensor.id not in sources:
            continue
        if heat(reading.value, sensor.bar_limit) is Heat.HOT:
            left = sensor.bar_limit - reading.value
            if worst is None or left < worst[0]:
                where = f"{printable(sensor.name)} of {printable(sensor.chip.title)}"
                worst = (left, f"{where} is {celsius(reading.value)}; its limit is {celsius(sensor.bar_limit)}.")
    return worst[1] if worst else ""
