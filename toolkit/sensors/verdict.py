"""Whether a benchmark run was fair: the same work on the same machine would give the same figure again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.sensors.heldback import keeps_lowest_clock
from toolkit.sensors.recording import Conditions

HOT_MARGIN = 30.0
"""A start less than this many degrees below the chip's limit is a hot start."""
HOT_START_C = 65
"""A hot start where the chip tells no limit."""
POLICY_SHARE = 0.97
"""A policy that allows less than this share of the hardware's clock limits the run."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Was the run fair? None: nobody can tell, `sentence` says why.

    Attributes:
        sentence: one line, to be read aloud.
        reasons: what speaks against it, one clause each.
    """

    fair: bool | None
    sentence: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen during a run.

    Attributes:
        events: thermal events that the CPU counted.
        throttled_ms: None where the CPU does not count it.
        held: by what the machine was held back -> seconds.
        stopped_by: what made the stop rule act.
    """

    rows: int = 0
    has_headline: bool = False
    events: int = 0
    throttled_ms: int | None = None
    held: Mapping[str, float] = field(default_factory=dict)
    was_on_battery: bool = False
    was_on_mains: bool = False
    gaps: int = 0
    stopped_by: str = ""


def judge(conditions: Conditions, seen: Seen) -> Verdict:
    """Judge a run by how it began and what was seen."""
    if not seen.rows:
        return Verdict(None, "Cannot tell whether the run was fair: nothing was recorded.")
    against = [f"stopped: {seen.stopped_by}"] if seen.stopped_by else []
    against += _throttling(seen)
    if is_hot(conditions.start_celsius, conditions.limit_celsius):
        against.append(f"started hot at {conditions.start_celsius} °C")
    if seen.was_on_battery:
        against.append("changed between mains and battery" if seen.was_on_mains else "on battery")
    against += policy_limits(conditions)
    if seen.gaps:
        against.append("the machine slept or stalled meanwhile")
    if against:
        return Verdict(False, f"Not fair: {'; '.join(against)}.", tuple(against))
    if not seen.has_headline and not conditions.throttle_offered:
        return Verdict(None, "Cannot tell whether the run was fair: no CPU temperature and no throttle counter here.")
    return Verdict(True, f"Fair: {', '.join(_in_favour(conditions, seen))}.")


def is_hot(start_celsius: int | None, limit_celsius: float | None) -> bool:
    """True where a run that starts at this headline starts hot."""
    if start_celsius is None:
        return False
    return start_celsius > (limit_celsius - HOT_MARGIN if limit_celsius is not None else HOT_START_C)


def policy_limits(conditions: Conditions) -> list[str]:
    """Return what in the machine's settings keeps the CPU from its full clock, one clause each."""
    found = []
    for kind, policy, ceiling in conditions.clock_limits:
        if policy is not None and ceiling is not None and policy < POLICY_SHARE * ceiling:
            cores = "cores" if kind == "CPU" else f"{kind}-cores"
            found.append(f"policy holds the {cores} at {policy:.0f} of {ceiling:.0f} MHz")
    if conditions.boost is False:
        found.append("turbo is off")
    if keeps_lowest_clock(conditions.governor, conditions.driver):
        found.append("governor powersave")
    if conditions.energy_preference == "power":
        found.append("energy preference power")
    if conditions.platform_profile in ("low-power", "quiet"):
        found.append(f"platform profile {conditions.platform_profile}")
    return found


def _throttling(seen: Seen) -> list[str]:
    found = []
    if seen.events or seen.throttled_ms:
        for_time = f", {seen.throttled_ms / 1000:.1f} s" if seen.throttled_ms else ""
        found.append(f"throttled ({seen.events} thermal event{'s' if seen.events != 1 else ''}{for_time})")
    for by, seconds in seen.held.items():
        if by.rstrip("?") not in _JUDGED_ELSEWHERE and not (by == "temperature" and found):
            found.append(f"{_held_words(by)} for {seconds:.1f} s")
    return found


_NOTED = ("power limit", "heat or power")
"""A laptop at its power limit does what it always does: a note. So is what may be no more than that."""
_JUDGED_ELSEWHERE = ("policy", *_NOTED)
"""A policy is judged by the settings."""


def _held_words(by: str) -> str:
    return f"{'probably ' if by.endswith('?') else ''}held back by {by.rstrip('?')}"


def _in_favour(conditions: Conditions, seen: Seen) -> list[str]:
    counted = "not throttled" if conditions.throttle_offered else "no throttling seen (not counted here)"
    found = [counted]
    if seen.has_headline and conditions.start_celsius is not None:
        found.append(f"started at {conditions.start_celsius} °C")
    if seen.was_on_mains:
        found.append("on mains")
    for by, seconds in seen.held.items():
        if by.rstrip("?") in _NOTED and seconds > 0:
            found.append(f"{_held_words(by)} for {seconds:.1f} s")
    return found
