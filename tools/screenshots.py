"""Draw the pictures of the README, docs/*.svg, from the demo.

    python tools/screenshots.py

The demo's clock is a virtual one, so ten minutes of history take a moment and every run draws the same.
"""

from __future__ import annotations

import asyncio
import re
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


TEXT = re.compile(r'x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)" (clip-path="[^"]+")>((?:&#160;)+)')
CELL = 12.2
"""Width of a character in Textual's pictures."""


def start_at_the_word(match: re.Match[str]) -> str:
    """Move a text that begins with blanks to where its first word is; not every viewer keeps the blanks."""
    x, y, length, clip, blanks = match.groups()
    width = blanks.count(";") * CELL
    return f'x="{float(x) + width:.1f}" {y} textLength="{max(float(length) - width, CELL):.1f}" {clip}>'


def self_contained(svg: str) -> str:
    """Take out the fonts that Textual would load from the net, and the random part of its class names."""
    svg = TEXT.sub(start_at_the_word, svg)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("font-family: Fira Code, monospace", "font-family: 'DejaVu Sans Mono', monospace")
    svg = re.sub(r"terminal-\d+-", "terminal-", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> int:
    """Draw them all."""
    sys.path.insert(0, str(ROOT))
    for screen in ("overview", "temperatures"):
        path = ROOT / "docs" / f"{screen}.svg"
        path.parent.mkdir(exist_ok=True)
        path.write_text(self_contained(asyncio.run(draw(screen))), encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
