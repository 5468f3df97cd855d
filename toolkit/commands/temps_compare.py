"""`toolkit temps --compare A B`: put recordings side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit import output
from toolkit.errors import EXIT_OK, UsageError
from toolkit.sensors.compare import MOST, compare, comparison_json, comparison_lines
from toolkit.sensors.loading import load_recording

if TYPE_CHECKING:
    import argparse

    from toolkit.host.base import Host


def run_compare(args: argparse.Namespace, host: Host) -> int:
    """Print the comparison. Raises UsageError for a wrong number of recordings and for what is none."""
    files = args.compare
    if not 2 <= len(files) <= MOST:
        raise UsageError(f"--compare takes 2 to {MOST} recordings", "toolkit temps --compare run1 run2")
    comparison = compare([load_recording(file) for file in files])
    if args.json:
        output.write_json(comparison_json(comparison), (), host)
    else:
        for line in comparison_lines(comparison):
            output.write(line)
    return EXIT_OK
