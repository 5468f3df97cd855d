"""Every captured machine opens at every size, with every order and the details open."""

from __future__ import annotations

from pathlib import Path

import pytest

from screens.temperatures_list import Order
from screens.temperatures_page import TemperaturesPage
from screens.temperatures_summary import verdict_of
from screens.temperatures_text import page_text
from tests.screens.temperatures.kit import check_size, text
from tests.support.captures import CASES, machines
from toolkit.host.replay import ReplayHost
from toolkit.sensors.history import History
from toolkit.sensors.monitor import ThermalMonitor

FOLDERS = [*machines(), *sorted(path.parent for path in CASES.rglob("meta.json"))]
SIZES = [(80, 20), (60, 14), (120, 36), (200, 46)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_machine_fills_the_page(folder: Path) -> None:
    host = ReplayHost(str(folder))
    monitor = ThermalMonitor(host)
    page = TemperaturesPage(History())
    try:
        for _look in range(4):
            snapshot = monitor.snapshot()
            page.history.add(snapshot)
            page.take(snapshot)
            for size in SIZES:
                page.resize(*size)
                check_size(page)
            host.sleep(1.0)
    finally:
        monitor.close()
    ids = [reading.sensor.id for reading in snapshot.readings]
    page.choose(type(page.view)(order=Order.LIMIT, show_hidden=True, pinned=tuple(ids[-2:])))
    page.toggle_details()
    check_size(page)
    shown = text(page.rows()) + page_text(page, verdict_of(snapshot)[0], monitor.machine)
    assert shown.replace("\n", "").isprintable()
    assert {sensor_id for entry in page.listing.entries for sensor_id in entry.ids} == set(ids)
    headline = snapshot.headline
    assert (f"CPU {headline.celsius} °C" in shown) is (headline.celsius is not None)
