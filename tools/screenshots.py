"""Draw the pictures of the README, docs/*.svg, from the demo.

    python tools/screenshots.py

The demo's clock is a virtual one, so ten minutes of history take a moment and every run draws the same.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE = (100, 30)
HISTORY_S = 600


async def draw(screen: str) -> str:
    """One screen as SVG, after ten minutes of the demo."""
    from screens.app import ToolkitApp
    from toolkit.config import Settings
    from toolkit.host.select import open_host
    from toolkit.sensors.monitor import MonitorOptions, ThermalMonitor

    host = open_host(demo=True)
    monitor = ThermalMonitor(host, MonitorOptions())
    settings = Settings()
    # The poller must not add looks of its own while the picture is drawn, so its next beat is far away.
    settings = replace(settings, temperatures=replace(settings.temperatures, interval_s=60.0))
    app = ToolkitApp(
        host,
        settings,
        screen=screen,
        theme="toolkit-dark",
        open_monitor=lambda _host, _settings: monitor,
        environ={"TERM": "xterm-256color"},
    )
    for _ in range(HISTORY_S):
        app.history.add(monitor.snapshot())
        host.sleep(1.0)
    async with app.run_test(size=SIZE) as pilot:
        for _ in range(100):
            await pilot.pause(0.05)
            if app.latest is not None:
                break
        await pilot.pause(0.2)
        return app.export_screenshot(title=f"toolkit --demo --screen {screen}")


def main() -> int:
    """Draw them all."""
    sys.path.insert(0, str(ROOT))
    from screens.picture import repaired

    for screen in ("overview", "temperatures"):
        path = ROOT / "docs" / f"{screen}.svg"
        path.parent.mkdir(exist_ok=True)
        path.write_text(repaired(asyncio.run(draw(screen))), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
