"""Is the machine held back now, and by what.

The counters tell thermal events, not power limits: those are inferred, and said to be likely. What no source of this
machine can show is said to be unknown, never to be absent. Policy: Documentation/admin-guide/pm/cpufreq.rst.
"""

from __future__ import annotations

from toolkit.sensors.clean import whole
from toolkit.sensors.model import Clocks, Headline, Held, HeldBack, Power, Throttling

_NOW_S = 15.0
_BUSY_PERCENT = 40.0
_FULL_PERCENT = 80.0
_DEEP_DROP = 0.5
"""Under full load no CPU runs below this share of its hardware's highest clock by itself: all its cores together stay
below what one core may reach, but not so far."""


def judge_held_back(
    headline: Headline, throttling: Throttling, clocks: Clocks, power: Power, since_event_s: float | None
) -> HeldBack:
    """Say whether the machine is held back now: counted events first, then what can be inferred, then policy."""
    held = (
        _by_counters(throttling, since_event_s)
        or _by_cooling(throttling)
        or _at_the_limit(headline, clocks)
        or _by_power(headline, clocks, power)
        or _by_policy(clocks)
        or _by_clocks(clocks)
    )
    if held is not None:
        return held
    if throttling.recent_package_events or throttling.recent_core_events:
        return HeldBack(Held.NO, "", f"Not held back now; {_events(throttling)} in the last minute.")
    return _nothing_found(headline, throttling, clocks, power)


def _nothing_found(headline: Headline, throttling: Throttling, clocks: Clocks, power: Power) -> HeldBack:
    """Say that nothing holds the machine back where that was seen, else what the machine does not show.

    Cores that keep near their highest clock under load are held by nothing. Else heat must be watched (a counter or a
    limit), and a power limit too, unless there is so little to do that it cannot bind.
    """
    heat = throttling.offered or (headline.celsius is not None and headline.limit_celsius is not None)
    limits = any(package.watts is not None and package.long_limit_w for package in power.packages)
    at_speed = _busy(clocks) and _all_fast(clocks)
    light = clocks.load_percent is not None and not _busy(clocks)
    if at_speed or (heat and (limits or light)):
        return HeldBack(Held.NO, "", "Nothing holds this machine back.")
    if light and clocks.load_percent is not None:
        figure = f"load {clocks.load_percent:.0f} %"
        return HeldBack(Held.NO, "", f"Not held back: the CPU has little to do ({figure}).", (figure,))
    unseen: tuple[str, ...] = () if heat else (f"throttle counter {throttling.reason}", "no thermal limit is known")
    unseen += () if limits else ("no package power beside its limit",)
    unseen += () if clocks.load_percent is not None else ("no load",)
    if not heat:
        return HeldBack(
            Held.UNKNOWN, "", "Cannot tell if it is held back: no throttle counter, no thermal limit.", unseen
        )
    if clocks.load_percent is None:
        return HeldBack(Held.NO, "", "Not held back by heat.", unseen)
    return HeldBack(Held.UNKNOWN, "", "Not held back by heat; whether by a power limit is not known.", unseen)


def _by_counters(throttling: Throttling, since_event_s: float | None) -> HeldBack | None:
    if since_event_s is None or since_event_s > _NOW_S:
        return None
    return HeldBack(
        Held.YES,
        "temperature",
        f"Held back: {_events(throttling)} in the last minute.",
        (f"{throttling.recent_package_events} package, {throttling.recent_core_events} core events in 60 s",),
    )


def _events(throttling: Throttling) -> str:
    count = throttling.recent_package_events
    what = "the CPU package"
    if not count:
        count, what = throttling.recent_core_events, "a core"
    return f"{what} reached its limit {count} time{'s' if count != 1 else ''}"


def _by_cooling(throttling: Throttling) -> HeldBack | None:
    if not throttling.cooling:
        return None
    names = ", ".join(throttling.cooling)
    return HeldBack(
        Held.YES,
        "temperature",
        f"Held back: the kernel is cooling the CPU ({names}).",
        (f"cooling device active: {names}",),
    )


def _at_the_limit(headline: Headline, clocks: Clocks) -> HeldBack | None:
    limit = headline.limit_celsius
    if headline.celsius is None:
        return None
    if limit is not None and headline.celsius >= limit - 1:
        return HeldBack(
            Held.LIKELY,
            "temperature",
            f"Probably held back: {headline.celsius} °C, and the limit is {whole(limit)}.",
            (f"{headline.celsius} of {whole(limit)} °C",),
        )
    slow = _slowed(clocks)
    if limit is None and headline.celsius >= 95 and slow is not None and _busy(clocks):
        return HeldBack(
            Held.LIKELY,
            "temperature",
            f"Probably held back by heat: {headline.celsius} °C, {slow}.",
            (f"{headline.celsius} °C", slow, "this CPU counts no thermal events"),
        )
    return None


def _by_power(headline: Headline, clocks: Clocks, power: Power) -> HeldBack | None:
    """Under load, below the thermal limit, clocks down, and power flat at the long-term limit: likely."""
    if not _busy(clocks):
        return None
    slow = _slowed(clocks)
    for package in power.packages:
        limit = package.long_limit_w
        if package.watts is None or not limit or package.watts < 0.95 * limit or slow is None:
            continue
        if package.watts > 1.15 * limit:
            continue  # the short-term limit still lends
        ceiling = headline.limit_celsius
        if headline.celsius is not None and ceiling is not None and headline.celsius > ceiling - 5:
            continue  # heat is the nearer cause
        figure = f"{package.watts:.1f} W of {limit:.0f} W"
        return HeldBack(
            Held.LIKELY,
            "power limit",
            f"Probably held back by the power limit: {figure} (PL1), {slow}.",
            (figure, slow),
        )
    return None


def _by_policy(clocks: Clocks) -> HeldBack | None:
    if clocks.boost is False:
        return HeldBack(Held.YES, "policy", "Held back by policy: turbo is switched off.", ("boost off",))
    for group in clocks.groups:
        if group.policy_mhz and group.ceiling_mhz and group.policy_mhz < 0.97 * group.ceiling_mhz:
            figure = f"{group.policy_mhz / 1000:.1f} of {group.ceiling_mhz / 1000:.1f} GHz allowed"
            return HeldBack(Held.YES, "policy", f"Held back by policy: {_cores(group.kind)}{figure}.", (figure,))
    if keeps_lowest_clock(clocks.governor, clocks.driver):
        return HeldBack(
            Held.YES,
            "policy",
            "Held back by policy: the governor powersave keeps the lowest clock.",
            ("governor powersave",),
        )
    if clocks.platform_profile == "low-power":
        return HeldBack(
            Held.YES,
            "policy",
            "Held back by policy: the platform profile is low-power.",
            ("platform_profile low-power",),
        )
    return None


def _by_clocks(clocks: Clocks) -> HeldBack | None:
    """Under full load at less than half of the clock, and policy is not the cause: likely, by heat or by power."""
    if clocks.load_percent is None or clocks.load_percent < _FULL_PERCENT:
        return None
    slow = _slowed(clocks, _DEEP_DROP)
    if slow is None:
        return None
    load = f"load {clocks.load_percent:.0f} %"
    return HeldBack(
        Held.LIKELY,
        "heat or power",
        f"Probably held back by heat or power: {slow} at {load}.",
        (slow, load),
    )


def keeps_lowest_clock(governor: str | None, driver: str | None) -> bool:
    """True where the governor keeps the cores at their lowest clock.

    `powersave` does, but not that of intel_pstate and amd-pstate-epp, which choose the clock by themselves.
    """
    return governor == "powersave" and not (driver or "").endswith(("pstate", "pstate-epp"))


def _busy(clocks: Clocks) -> bool:
    return clocks.load_percent is not None and clocks.load_percent >= _BUSY_PERCENT


def _all_fast(clocks: Clocks) -> bool:
    known = clocks.groups and all(group.mean_mhz is not None and group.ceiling_mhz for group in clocks.groups)
    return bool(known) and _slowed(clocks) is None


def _slowed(clocks: Clocks, share: float = 0.9) -> str | None:
    """Return a clause on the first core type that runs below this share of its ceiling, or None."""
    for group in clocks.groups:
        if group.mean_mhz is not None and group.ceiling_mhz is not None and group.mean_mhz < share * group.ceiling_mhz:
            return f"{_cores(group.kind)}at {group.mean_mhz / 1000:.1f} of {group.ceiling_mhz / 1000:.1f} GHz"
    return None


def _cores(kind: str) -> str:
    return "cores " if kind == "CPU" else f"{kind} cores "
