"""Which rows there are, and in which order; choices are kept by sensor id."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from screens.temperatures_list import Entry, Order, View, build_listing, control_values
from tests.screens.support import CORE, FAN, GPU, NVME, PACKAGE, WIFI, reading, sensor
from tests.screens.temperatures.kit import many
from toolkit.sensors.model import Chip, Quantity, Reading, Sensor, State

LAPTOP = (
    reading(94.0, PACKAGE),
    reading(90.0, CORE),
    reading(52.0, NVME),
    reading(4210.0, FAN),
    reading(None, GPU, State.ASLEEP, "asleep (suspended), not read"),
    reading(None, WIFI, State.UNREADABLE, "ENODATA: the radio is off"),
)


def texts(readings: tuple[Reading, ...], view: View) -> list[str]:
    return [entry.text for entry in build_listing(readings, view).entries]


def entry_of(readings: tuple[Reading, ...], view: View, sensor_id: str) -> Entry:
    return next(entry for entry in build_listing(readings, view).entries if sensor_id in entry.ids)


def test_rows_stand_below_their_chip_and_a_chip_of_one_sensor_is_one_row() -> None:
    assert texts(LAPTOP, View()) == [
        "coretemp",
        "Package id 0",
        "Core 0",
        "nvme · Composite",
        "cros_ec · fan1",
        "amdgpu · edge",
        "iwlwifi_1",
    ]


def test_a_sleeping_chip_is_one_row_for_all_its_sensors() -> None:
    gpu = [sensor("amdgpu", label, index=number) for number, label in enumerate(("edge", "junction", "mem"), 1)]
    asleep = tuple(reading(None, of, State.ASLEEP, "asleep (suspended), not read") for of in gpu)
    (entry,) = build_listing(asleep, View()).entries
    assert entry.text == "amdgpu"
    assert entry.ids == tuple(of.id for of in gpu)
    awake = (reading(40.0, gpu[0]), *asleep[1:])
    assert texts(awake, View()) == ["amdgpu", "edge", "junction", "mem"]


def test_a_filter_looks_at_name_chip_quantity_and_state() -> None:
    assert texts(LAPTOP, View(text="CORE 0")) == ["coretemp", "Core 0"]
    assert texts(LAPTOP, View(text="nvme")) == ["nvme · Composite"]
    assert texts(LAPTOP, View(text="fan")) == ["cros_ec · fan1"]
    assert texts(LAPTOP, View(text="asleep")) == ["amdgpu · edge"]
    assert texts(LAPTOP, View(text="attic", names={CORE.id: "Attic"})) == ["coretemp", "Attic"]
    listing = build_listing(LAPTOP, View(text="nothing like it"))
    assert (listing.entries, listing.filtered_out) == ((), len(LAPTOP))


def test_hidden_sensors_are_counted_and_come_back_when_asked_for() -> None:
    view = View(hidden=frozenset({CORE.id, FAN.id}))
    listing = build_listing(LAPTOP, view)
    assert listing.left_out == 2
    assert CORE.id not in {sensor_id for entry in listing.entries for sensor_id in entry.ids}
    all_of_them = build_listing(LAPTOP, replace(view, show_hidden=True))
    assert all_of_them.left_out == 0
    assert entry_of(LAPTOP, replace(view, show_hidden=True), CORE.id).hidden


def test_unused_channels_are_left_out_but_never_the_cpus_own() -> None:
    idle = reading(0.0, sensor("thinkpad", None, index=4), State.IMPLAUSIBLE, "reads 0")
    cpu = reading(0.0, sensor("k10temp", None), State.IMPLAUSIBLE, "k10temp reports 0")
    assert build_listing((idle, cpu), View()).left_out == 1
    assert texts((idle, cpu), View()) == ["k10temp"]
    assert texts((idle, cpu), View(show_hidden=True)) == ["thinkpad", "k10temp"]


def test_pinned_sensors_come_first_in_the_order_in_which_they_were_pinned() -> None:
    view = View(pinned=(NVME.id, CORE.id))
    assert texts(LAPTOP, view)[:5] == ["Pinned", "Composite · nvme", "Core 0 · coretemp", "coretemp", "Package id 0"]
    assert entry_of(LAPTOP, view, NVME.id).pinned


def test_orders() -> None:
    assert texts(LAPTOP, View(order=Order.HEAT))[:3] == [
        "Package id 0 · coretemp",
        "Core 0 · coretemp",
        "Composite · nvme",
    ]
    assert texts(LAPTOP, View(order=Order.LIMIT))[:3] == [
        "Package id 0 · coretemp",
        "Core 0 · coretemp",
        "Composite · nvme",
    ]
    names = texts(LAPTOP, View(order=Order.NAME))
    assert names == sorted(names, key=str.casefold)
    assert Order.CHIP.next is Order.HEAT
    assert Order.NAME.next is Order.CHIP


def test_names_sort_naturally() -> None:
    cores = tuple(reading(40.0, sensor("coretemp", f"Core {number}", index=number)) for number in (10, 9, 28))
    assert texts(cores, View(order=Order.NAME)) == ["Core 9 · coretemp", "Core 10 · coretemp", "Core 28 · coretemp"]


def test_a_sensor_is_called_as_the_person_wants() -> None:
    assert "CPU" in texts(LAPTOP, View(names={PACKAGE.id: "CPU"}))
    assert "nvme · Disk" in texts(LAPTOP, View(names={NVME.id: "Disk"}))


def test_labels_that_repeat_have_their_number() -> None:
    dell = Chip("dell_smm", "platform/dell_smm", "hwmon4", "/sys/h4", "dell_smm")
    ambient = tuple(
        reading(30.0, Sensor(f"dell/{n}", dell, Quantity.TEMPERATURE, n, "Ambient", f"/sys/h4/temp{n}")) for n in (2, 3)
    )
    assert texts(ambient, View()) == ["dell_smm", "Ambient #2", "Ambient #3"]


def test_a_choice_whose_sensor_is_not_here_is_told_and_given_to_nobody_else() -> None:
    view = View(pinned=("nvme@old/temp/Composite",), thresholds={"gone@x/temp/1": 70.0}, names={NVME.id: "Disk"})
    listing = build_listing(LAPTOP, view)
    note = listing.entries[-1]
    assert note.ids == ()
    assert note.text == "Saved, but not here now: nvme@old/temp/Composite (pinned), and 1 more"
    assert not any(entry.pinned or entry.threshold is not None for entry in listing.entries)


def test_tctl_beside_tdie_is_a_control_value() -> None:
    tctl = sensor("k10temp", "Tctl", limit=95.0)
    tdie = sensor("k10temp", "Tdie", limit=95.0, index=2)
    both = (reading(88.0, tctl), reading(61.0, tdie))
    assert control_values(both) == {tctl.id}
    assert not entry_of(both, View(), tctl.id).judged
    assert entry_of(both, View(), tdie.id).judged
    assert control_values(both[:1]) == set()


def test_text_from_the_machine_cannot_reach_the_terminal() -> None:
    evil = Chip("lm75", "", "hwmon1", "/sys/h1", "lm75\x1b[2J")
    two = tuple(
        reading(30.0, Sensor(f"e{n}", evil, Quantity.TEMPERATURE, n, f"\x1b[31m[red]{n}", "/x")) for n in (1, 2)
    )
    joined = "".join(texts(two, View()) + texts(two, View(order=Order.HEAT)))
    assert "\x1b" not in joined
    assert "[red]" in joined


IDS = [f"s{number}" for number in range(25)]


@given(
    st.sampled_from(list(Order)),
    st.sampled_from(["", "1", "chip1", "zzz"]),
    st.booleans(),
    st.frozensets(st.sampled_from(IDS)),
    st.lists(st.sampled_from(IDS), unique=True, max_size=5),
)
def test_every_sensor_has_one_row_or_is_counted(order, text, show_hidden, hidden, pinned) -> None:
    readings = many(25)
    listing = build_listing(readings, View(order, text, show_hidden, hidden, tuple(pinned)))
    shown = [sensor_id for entry in listing.entries for sensor_id in entry.ids]
    assert len(shown) == len(set(shown))
    assert len(shown) + listing.left_out + listing.filtered_out == len(readings)
    if not show_hidden:
        assert not hidden & set(shown)
    for entry in listing.entries:
        if entry.ids:
            assert readings[entry.index].sensor.id == entry.ids[0]
