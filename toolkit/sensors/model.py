"""What the sensors of a machine say, as frozen values.

Units are those a person reads: degrees Celsius, rpm, volt, ampere, watt, joule; raw readings stay in
the unit of the kernel (`Documentation/hwmon/sysfs-interface.rst`: millidegree, rpm, millivolt,
milliampere, microwatt, microjoule).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from toolkit.errors import Problem


class Quantity(Enum):
    """What a sensor measures; the value is the prefix of its hwmon files."""

    TEMPERATURE = "temp"
    FAN = "fan"
    VOLTAGE = "in"
    CURRENT = "curr"
    POWER = "power"
    ENERGY = "energy"
    HUMIDITY = "humidity"

    @property
    def unit(self) -> str:
        """The unit's name as it stands in JSON."""
        return _UNITS[self][0]

    @property
    def symbol(self) -> str:
        """The unit as it stands on a screen."""
        return _UNITS[self][1]

    @property
    def scale(self) -> float:
        """How many raw steps of the kernel make one unit."""
        return _UNITS[self][2]


_UNITS: dict[Quantity, tuple[str, str, float]] = {
    Quantity.TEMPERATURE: ("celsius", "°C", 1e3),
    Quantity.FAN: ("rpm", "rpm", 1.0),
    Quantity.VOLTAGE: ("volt", "V", 1e3),
    Quantity.CURRENT: ("ampere", "A", 1e3),
    Quantity.POWER: ("watt", "W", 1e6),
    Quantity.ENERGY: ("joule", "J", 1e6),
    Quantity.HUMIDITY: ("percent", "%", 1e3),
}


class State(Enum):
    """How far a reading can be trusted."""

    OK = "ok"
    FAULT = "fault"
    """The chip itself says that the value means nothing (`_fault` is 1)."""
    DISABLED = "disabled"
    """Switched off (`_enable` is 0)."""
    UNREADABLE = "unreadable"
    """The read failed; the reason begins with the name of the errno."""
    IMPLAUSIBLE = "implausible"
    """The value cannot be true: an open input, a marker for "no reading", noise."""
    ASLEEP = "asleep"
    """Not read, since reading would wake the device or keep it awake."""
    SLOW = "slow"
    """The chip takes so long to answer that it is read apart; the value, where there is one, is old."""
    GONE = "gone"
    """It was there before and is not any more."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One hwmon device, or one thermal zone where it stands in for a missing chip.

    Attributes:
        name: the `name` attribute, cleaned; `hwmonN` where there is none.
        device: where the chip sits, for example `platform/coretemp.0` or `pci0000:00/0000:00:18.3`, below
            /sys/devices; the same on every boot. Empty where the chip has no device.
        hwmon: `hwmon3`; differs from boot to boot.
        path: the folder with the attributes.
        title: what a person calls it: `nvme0  WD_BLACK SN770`; the name where nothing better is known.
    """

    name: str
    device: str
    hwmon: str
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that the chip reports, in the sensor's unit; None where it reports none or a marker for "none".

    The kernel's order is max <= crit <= emergency; the two `_hyst` values are absolute, not differences.
    """

    max: float | None = None
    crit: float | None = None
    emergency: float | None = None
    min: float | None = None
    lcrit: float | None = None
    max_hyst: float | None = None
    crit_hyst: float | None = None


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Sensor:
    """One value file of a chip. What is here does not change while the chip stays.

    Attributes:
        id: `CHIP@DEVICE/QUANTITY/LABEL-OR-INDEX`, the same across boots; the key for everything that is kept
            (hidden, renamed, pinned, thresholds, columns of a recording).
        label: the `_label` attribute, cleaned of control characters; None where there is none.
        bar_limit: the limit of the part that a bar should end at, in the sensor's unit, or None. A constant
            that the driver invents (k10temp's 70) is in `limits` but is not this.
    """

    id: str
    chip: Chip
    quantity: Quantity
    index: int
    label: str | None
    path: str
    limits: Limits = NO_LIMITS
    bar_limit: float | None = None

    @property
    def name(self) -> str:
        """The label, or `temp1` where there is none."""
        return self.label if self.label is not None else f"{self.quantity.value}{self.index}"


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at one sensor.

    Attributes:
        raw: what the kernel said, in its own unit; None where nothing was read.
        value: in the unit of the quantity; None unless the state is OK (or SLOW with an old value).
        reason: why the state is not OK; one short clause.
        alarm: the chip's own `_alarm`, None where there is none. May be latched (coretemp's never clears).
        age_s: how old the value is, for chips that are read apart.
    """

    sensor: Sensor
    state: State
    raw: int | None = None
    value: float | None = None
    reason: str = ""
    alarm: bool | None = None
    age_s: float = 0.0


class Rule(Enum):
    """How the headline is folded from the CPU's sensors."""

    BEST = "best"
    """Tdie where a chip has it, else Tctl; all packages and cores of coretemp."""
    TCTL = "tctl"
    """The plain maximum of Tctl and coretemp, offsets left in."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The CPU's temperature in whole degrees.

    Attributes:
        celsius: under `rule`; None where there is no figure.
        plain_celsius: under Rule.TCTL; differs from `celsius` where the part's Tctl carries an offset.
        sources: what the maximum comes from, as `coretemp · Package id 0`; several where they are equal.
        sensor_ids: the ids of those sensors.
        rule: the rule that gave `celsius`.
        reason: why there is no figure, or why it is second-best; empty otherwise.
        second_best: from the embedded controller or an SoC zone, since no CPU sensor of its own was found.
        limit_celsius: the limit of the leading sensor's chip where it tells one.
    """

    celsius: int | None
    plain_celsius: int | None
    sources: tuple[str, ...]
    rule: Rule
    reason: str = ""
    second_best: bool = False
    sensor_ids: tuple[str, ...] = ()
    limit_celsius: float | None = None


@dataclass(frozen=True, slots=True)
class ClockGroup:
    """The clocks of the cores of one type.

    Attributes:
        kind: `P`, `E`, `LP` or `CPU` where all cores are alike.
        cpus: numbers of the logical CPUs.
        mean_mhz, min_mhz, max_mhz: over `scaling_cur_freq`; None where it cannot be read.
        ceiling_mhz: what the hardware allows (`cpuinfo_max_freq`).
        policy_mhz: what the present policy allows (`scaling_max_freq`).
    """

    kind: str
    cpus: tuple[int, ...]
    mean_mhz: float | None
    min_mhz: float | None
    max_mhz: float | None
    ceiling_mhz: float | None
    policy_mhz: float | None


@dataclass(frozen=True, slots=True)
class Clocks:
    """Clocks, the policy that rules them, and the load.

    Attributes:
        boost: turbo or boost allowed by policy; None where the driver does not say.
        load_percent: share of time that the CPUs were busy since the look before; None at the first look.
        load_average: 1, 5, 15 minutes.
    """

    groups: tuple[ClockGroup, ...] = ()
    driver: str | None = None
    governor: str | None = None
    energy_preference: str | None = None
    platform_profile: str | None = None
    boost: bool | None = None
    load_percent: float | None = None
    load_average: tuple[float, float, float] | None = None
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class PackagePower:
    """Power of one CPU package.

    Attributes:
        name: `package-0`, or the label of the hwmon sensor.
        watts: mean since the look before; None at the first look or where unreadable.
        long_limit_w, short_limit_w: PL1 and PL2 of RAPL, or the cap of the driver.
        source: `RAPL`, `zenpower`, `amdgpu PPT` ...
        energy_j: sum since the first look, wrap-around undone; None where the source gives no energy.
    """

    name: str
    watts: float | None
    long_limit_w: float | None
    short_limit_w: float | None
    source: str
    energy_j: float | None = None


@dataclass(frozen=True, slots=True)
class Battery:
    """One battery: charge in percent, the kernel's status word, and watts (negative while discharging)."""

    name: str
    percent: float | None
    status: str | None
    watts: float | None


@dataclass(frozen=True, slots=True)
class Power:
    """Power of the packages, mains and batteries. `problem` says why the package power is absent."""

    packages: tuple[PackagePower, ...] = ()
    on_ac: bool | None = None
    batteries: tuple[Battery, ...] = ()
    problem: Problem | None = None

    @property
    def package_watts(self) -> float | None:
        """The sum over packages, None where no package gives watts."""
        known = [package.watts for package in self.packages if package.watts is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Throttling:
    """Thermal events counted by the CPU (Intel's `thermal_throttle`) since the first look.

    Attributes:
        offered: the CPU has such counters.
        package_events, core_events: since the first look; each package and each core counted once.
        recent_package_events, recent_core_events: in the last 60 seconds.
        throttled_ms: time under thermal throttling since the first look where the kernel counts it.
        cooling: names of the kernel's cooling devices for the CPU that are active now (state above 0).
        reason: why nothing is offered.
    """

    offered: bool = False
    package_events: int = 0
    core_events: int = 0
    recent_package_events: int = 0
    recent_core_events: int = 0
    throttled_ms: int | None = None
    cooling: tuple[str, ...] = ()
    reason: str = ""


class Held(Enum):
    """Whether the machine is held back now."""

    NO = "no"
    YES = "yes"
    LIKELY = "likely"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """Is the machine held back now, and by what.

    Attributes:
        by: `temperature`, `power limit`, `heat or power` (one of the two, it cannot be told which), `policy`, or empty.
        sentence: to be read aloud, without the full stop left out.
        evidence: the figures behind it, one clause each.
    """

    held: Held
    by: str = ""
    sentence: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Machine:
    """What names the machine on the top line; None where the machine does not say."""

    model: str | None
    kernel: str | None
    cpu: str | None
    distribution: str | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything about temperatures at one moment.

    Attributes:
        taken_at: seconds since 1970.
        monotonic_s: the host's monotonic clock, for histories.
        readings: in the order of the screen: CPU first, then by chip; sensors of one chip in natural order of
            their labels. Sensors that went stay in the list as GONE.
        changed_sensors: the list of sensors is not the one of the snapshot before (hot-plug).
    """

    taken_at: float
    monotonic_s: float
    headline: Headline
    readings: tuple[Reading, ...]
    clocks: Clocks = Clocks()
    power: Power = Power()
    throttling: Throttling = Throttling()
    held_back: HeldBack = HeldBack(Held.UNKNOWN)
    problems: tuple[Problem, ...] = ()
    changed_sensors: bool = field(default=False, compare=False)
