"""Values in the text format that node_exporter's textfile collector reads.

The format is Prometheus' text exposition format 0.0.4: HELP and TYPE once a metric, no time stamps (the collector
refuses files with them), base units. What has no value has no line: an absent series is a gap in a graph, where NaN
or 0 would be a value.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Sequence

from toolkit.errors import Problem, ToolkitError
from toolkit.sensors.model import Held, Machine, Quantity, Reading, Snapshot, State
from toolkit.text import printable

Labels = Sequence[tuple[str, str]]
Sample = tuple[Labels, float]

_SENSOR_METRICS = {
    Quantity.TEMPERATURE: ("toolkit_temperature_celsius", "Temperature of a sensor."),
    Quantity.FAN: ("toolkit_fan_rpm", "Speed of a fan, revolutions a minute."),
    Quantity.VOLTAGE: ("toolkit_voltage_volts", "Voltage of a sensor."),
    Quantity.CURRENT: ("toolkit_current_amperes", "Current of a sensor."),
    Quantity.POWER: ("toolkit_power_watts", "Power of a sensor."),
    Quantity.ENERGY: ("toolkit_energy_joules_total", "Energy counter of a sensor."),
    Quantity.HUMIDITY: ("toolkit_humidity_percent", "Relative humidity of a sensor."),
}

_CAUSES = ("temperature", "power limit", "policy")
"""Each has a series at all times, so that a graph falls to 0 when a cause ends."""


def render_openmetrics(snapshot: Snapshot, machine: Machine) -> str:
    """Return the file's text for a snapshot."""
    page = _Page()
    labels = _sensor_labels(snapshot.readings)
    _sensors(page, snapshot.readings, labels)
    _headline(page, snapshot)
    _cpu(page, snapshot)
    _power(page, snapshot)
    known = [
        (name, value)
        for name, value in (
            ("model", machine.model),
            ("kernel", machine.kernel),
            ("cpu", machine.cpu),
            ("distribution", machine.distribution),
        )
        if value
    ]
    page.add("toolkit_machine_info", "The machine; always 1.", [(known, 1.0)])
    page.add(
        "toolkit_scrape_timestamp_seconds", "When the values were read, seconds since 1970.", [((), snapshot.taken_at)]
    )
    return page.text


class _Page:
    """The text so far."""

    def __init__(self) -> None:
        self.text = ""

    def add(self, name: str, help_text: str, samples: Iterable[Sample]) -> None:
        """Add a metric with its samples; nothing where it has none."""
        lines = [
            f"{name}{_label_text(labels)} {_value_text(value)}\n" for labels, value in samples if value - value == 0
        ]
        if lines:
            kind = "counter" if name.endswith("_total") else "gauge"
            escaped = help_text.replace("\\", "\\\\").replace("\n", "\\n")
            self.text += f"# HELP {name} {escaped}\n# TYPE {name} {kind}\n" + "".join(lines)


def escape_label(value: str) -> str:
    """Escape a label's value: backslash, quotation mark and newline."""
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _label_text(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{escape_label(value)}"' for name, value in labels) + "}" if labels else ""


def _value_text(value: float) -> str:
    whole = int(value)
    return str(whole) if whole == value and abs(whole) < 1 << 53 else repr(float(value))


def _sensor_labels(readings: Sequence[Reading]) -> list[Labels]:
    """Return the labels of each sensor, no two the same: two equal series make the collector refuse the file."""
    taken: set[tuple[tuple[str, str], ...]] = set()
    found: list[Labels] = []
    labels: tuple[tuple[str, str], ...]
    for reading in readings:
        sensor = reading.sensor
        labels = (
            ("chip", sensor.chip.name),
            ("device", sensor.chip.device or sensor.chip.hwmon),
            ("sensor", f"{sensor.quantity.value}{sensor.index}"),
            ("label", sensor.label or ""),
        )
        if labels in taken:
            labels = (*labels, ("id", sensor.id))
        number = 2
        while labels in taken:
            labels = (*labels[:4], ("id", f"{sensor.id} ({number})"))
            number += 1
        taken.add(labels)
        found.append(labels)
    return found


def _sensors(page: _Page, readings: Sequence[Reading], labels: Sequence[Labels]) -> None:
    pairs = list(zip(readings, labels, strict=True))
    for quantity, (name, help_text) in _SENSOR_METRICS.items():
        page.add(
            name,
            help_text,
            [(said, r.value) for r, said in pairs if r.sensor.quantity is quantity and r.value is not None],
        )
    limits: list[Sample] = []
    for reading, said in pairs:
        if reading.sensor.quantity is Quantity.TEMPERATURE:
            for kind in ("max", "crit", "emergency"):
                limit = getattr(reading.sensor.limits, kind)
                if limit is not None:
                    limits.append(((*said, ("limit", kind)), limit))
    page.add("toolkit_temperature_limit_celsius", "Limit that the chip reports for a sensor.", limits)
    page.add(
        "toolkit_sensor_state",
        "State of a sensor: 1 for the state that it has, 0 for the others.",
        [
            ((*said, ("state", state.value)), float(reading.state is state))
            for reading, said in pairs
            for state in State
        ],
    )


def _headline(page: _Page, snapshot: Snapshot) -> None:
    headline = snapshot.headline
    if headline.celsius is not None:
        rule = (("rule", headline.rule.value), ("second_best", "1" if headline.second_best else "0"))
        page.add("toolkit_cpu_headline_celsius", "The CPU's temperature, whole degrees.", [(rule, headline.celsius)])
    if headline.plain_celsius is not None:
        page.add(
            "toolkit_cpu_headline_plain_celsius",
            "The plain maximum of Tctl and coretemp, offsets left in.",
            [((), headline.plain_celsius)],
        )


def _cpu(page: _Page, snapshot: Snapshot) -> None:
    clocks, throttling, held = snapshot.clocks, snapshot.throttling, snapshot.held_back
    for name, help_text, attribute in (
        ("toolkit_cpu_clock_hertz", "Clock, mean over the cores of one type.", "mean_mhz"),
        ("toolkit_cpu_clock_policy_hertz", "Clock that the present policy allows.", "policy_mhz"),
        ("toolkit_cpu_clock_ceiling_hertz", "Clock that the hardware allows.", "ceiling_mhz"),
    ):
        page.add(
            name,
            help_text,
            [
                ((("cores", group.kind),), value * 1e6)
                for group in clocks.groups
                if (value := getattr(group, attribute)) is not None
            ],
        )
    if clocks.load_percent is not None:
        page.add("toolkit_cpu_busy_ratio", "Share of time the CPUs were busy.", [((), clocks.load_percent / 100)])
    if throttling.offered:
        page.add(
            "toolkit_cpu_throttle_events_total",
            "Thermal events that the CPU counted since this program started.",
            [
                ((("scope", "package"),), throttling.package_events),
                ((("scope", "core"),), throttling.core_events),
            ],
        )
        if throttling.throttled_ms is not None:
            page.add(
                "toolkit_cpu_throttled_seconds_total",
                "Time under thermal throttling since this program started.",
                [((), throttling.throttled_ms / 1000)],
            )
    if held.held is not Held.UNKNOWN:
        strength = {Held.YES: 1.0, Held.LIKELY: 0.5}.get(held.held, 0.0)
        causes = dict.fromkeys((*_CAUSES, *filter(None, [held.by])))
        page.add(
            "toolkit_cpu_held_back",
            "1 where the machine is held back by this now, 0.5 where that is likely.",
            [((("by", cause),), strength if cause == held.by else 0.0) for cause in causes],
        )


def _power(page: _Page, snapshot: Snapshot) -> None:
    power = snapshot.power
    packages = [((("package", p.name), ("source", p.source)), p) for p in power.packages]
    page.add(
        "toolkit_cpu_package_power_watts",
        "Power of a CPU package, mean since the look before.",
        [(labels, p.watts) for labels, p in packages if p.watts is not None],
    )
    page.add(
        "toolkit_cpu_package_energy_joules_total",
        "Energy of a CPU package since this program started.",
        [(labels, p.energy_j) for labels, p in packages if p.energy_j is not None],
    )
    if power.on_ac is not None:
        page.add("toolkit_mains_online", "1 on mains, 0 on battery.", [((), float(power.on_ac))])
    batteries = [((("battery", battery.name),), battery) for battery in power.batteries]
    page.add(
        "toolkit_battery_charge_ratio",
        "Charge of a battery, 0 to 1.",
        [(labels, battery.percent / 100) for labels, battery in batteries if battery.percent is not None],
    )
    page.add(
        "toolkit_battery_power_watts",
        "Power of a battery, negative while it discharges.",
        [(labels, battery.watts) for labels, battery in batteries if battery.watts is not None],
    )


_warned: set[str] = set()


def write_openmetrics(path: str, snapshot: Snapshot, machine: Machine) -> Problem | None:
    """Replace the file atomically, readable by everybody.

    Returns what the person should know, once for each path: a name that the collector will not read.
    Raises ToolkitError where the file cannot be written.
    """
    from toolkit.sensors.twin import write_atomically

    text = render_openmetrics(snapshot, machine)
    try:
        write_atomically(path, text.encode("utf-8", "replace"), 0o644)
    except OSError as error:
        hint = "" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "the folder must exist and be writable"
        raise ToolkitError(f"{printable(path)} cannot be written: {error.strerror or error}", hint) from None
    if path.endswith(".prom") or path in _warned:
        return None
    _warned.add(path)
    return Problem(path, "node_exporter reads only files that end in .prom", "give the file such a name")
