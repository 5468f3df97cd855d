"""Was the run fair, and what the summary says to a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.snapshots import DISK, FAN, MACHINE, PACKAGE, reading, sensor, snapshot
from toolkit.sensors.model import ClockGroup, Clocks, PackagePower, Power, Throttling
from toolkit.sensors.recorder import Recording, Setup
from toolkit.sensors.recording import CommandRun, Conditions
from toolkit.sensors.report import command_text, seconds_text, summary_lines, wrapped
from toolkit.sensors.verdict import Seen, is_hot, judge

GOOD = Conditions(
    driver="intel_pstate",
    governor="powersave",
    energy_preference="balance_performance",
    boost=True,
    start_celsius=45,
    limit_celsius=100.0,
    clock_limits=(("P", 4800.0, 4800.0),),
    throttle_offered=True,
)
SEEN = Seen(rows=10, has_headline=True, throttled_ms=0, was_on_mains=True)


def _but(**changes: object) -> Conditions:
    from dataclasses import replace

    return replace(GOOD, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("conditions", "seen", "sentence"),
    [
        (GOOD, SEEN, "Fair: not throttled, started at 45 °C, on mains."),
        (
            _but(throttle_offered=False),
            SEEN,
            "Fair: no throttling seen (not counted here), started at 45 °C, on mains.",
        ),
        (
            GOOD,
            Seen(rows=9, has_headline=True, events=12, throttled_ms=2500, was_on_mains=True),
            "Not fair: throttled (12 thermal events, 2.5 s).",
        ),
        (
            GOOD,
            Seen(rows=9, has_headline=True, events=1, held={"temperature": 3.0}),
            "Not fair: throttled (1 thermal event).",
        ),
        (
            GOOD,
            Seen(rows=9, has_headline=True, held={"temperature?": 3.0}),
            "Not fair: probably held back by temperature for 3.0 s.",
        ),
        (
            GOOD,
            Seen(rows=9, has_headline=True, held={"power limit?": 3.0}),
            "Fair: not throttled, started at 45 °C, probably held back by power limit for 3.0 s.",
        ),
        (_but(start_celsius=71), SEEN, "Not fair: started hot at 71 °C."),
        (_but(start_celsius=66, limit_celsius=None), SEEN, "Not fair: started hot at 66 °C."),
        (GOOD, Seen(rows=9, has_headline=True, was_on_battery=True), "Not fair: on battery."),
        (
            GOOD,
            Seen(rows=9, has_headline=True, was_on_battery=True, was_on_mains=True),
            "Not fair: changed between mains and battery.",
        ),
        (
            _but(clock_limits=(("P", 2400.0, 4800.0), ("E", 3500.0, 3600.0))),
            SEEN,
            "Not fair: policy holds the P-cores at 2400 of 4800 MHz.",
        ),
        (_but(boost=False), SEEN, "Not fair: turbo is off."),
        (_but(driver="acpi-cpufreq"), SEEN, "Not fair: governor powersave."),
        (_but(driver="amd-pstate-epp"), SEEN, "Fair: not throttled, started at 45 °C, on mains."),
        (_but(energy_preference="power"), SEEN, "Not fair: energy preference power."),
        (_but(platform_profile="low-power"), SEEN, "Not fair: platform profile low-power."),
        (GOOD, Seen(rows=9, has_headline=True, gaps=1), "Not fair: the machine slept or stalled meanwhile."),
        (GOOD, Seen(rows=9, has_headline=True, stopped_by="x reached 91 °C"), "Not fair: stopped: x reached 91 °C."),
        (GOOD, Seen(), "Cannot tell whether the run was fair: nothing was recorded."),
        (
            Conditions(),
            Seen(rows=9),
            "Cannot tell whether the run was fair: no CPU temperature and no throttle counter here.",
        ),
    ],
)
def test_the_verdict(conditions: Conditions, seen: Seen, sentence: str) -> None:
    verdict = judge(conditions, seen)
    assert verdict.sentence == sentence
    assert verdict.fair == {"F": True, "N": False, "C": None}[sentence[0]]


@pytest.mark.parametrize(
    ("start", "limit", "hot"),
    [(70, 100.0, False), (71, 100.0, True), (65, None, False), (66, None, True), (None, 1.0, False)],
)
def test_a_hot_start(start: int | None, limit: float | None, hot: bool) -> None:
    assert is_hot(start, limit) is hot


def _summary_lines(tmp_path: Path, command: CommandRun | None = None) -> list[str]:
    long = sensor("a-chip-with-a-rather-long-name", "and a label that is long, too", device="x")
    recording = None
    for second in range(4):
        group = ClockGroup("E", (0,), 1800.0, None, None, 3600.0, 3600.0)
        taken = snapshot(
            second,
            [reading(PACKAGE, 99 + second), reading(FAN, 4000), reading(DISK, 41), reading(long, 30)],
            99 + second,
            clocks=Clocks((group,), "intel_pstate", "powersave", "balance_performance", load_percent=50.0),
            power=Power((PackagePower("package-0", 20.0, None, None, "RAPL", 20.0 * second),), on_ac=True),
            throttling=Throttling(
                offered=True, package_events=second, core_events=4 * second, throttled_ms=100 * second
            ),
        )
        if recording is None:
            recording = Recording.start(taken, str(tmp_path / "run"), Setup(MACHINE, 1.0, command=command))
        else:
            recording.add(taken)
    assert recording is not None
    recording.mark("fans up")
    return summary_lines(recording.stop())


def test_the_summary_fits_80_columns_and_says_everything(tmp_path: Path) -> None:
    command = CommandRun(("stress-ng", "--cpu 8", "x" * 100), 137, 0.0, 3.0, 22.5, 0.25, 300 << 20, True, "it got hot")
    lines = _summary_lines(tmp_path, command)
    assert max(map(len, lines)) <= 80
    assert lines == [
        "Recorded 3.0 s: 4 samples, 1 a second (1 asked).",
        "Not fair: stopped: it got hot; throttled (15 thermal events, 0.3 s); started hot",
        "  at 99 °C.",
        "",
        "                                      MIN    MEAN     MAX  AT THE LIMIT",
        "CPU headline                 °C      99.0   100.0   102.0  crit 100: 2.0 s",
        "coretemp / Package id 0      °C      99.0   100.0   102.0  max 100: 2.0 s",
        "cros_ec / fan1               rpm     4000    4000    4000",
        "nvme / Composite             °C      41.0    41.0    41.0  max 84: no",
        "a-chip-with-a-rather-long-n… °C      30.0    30.0    30.0",
        "CPU package                  W       20.0    20.0    20.0",
        "E-core clock                 MHz     1800    1800    1800",
        "CPU load                     %       50.0    50.0    50.0",
        "",
        "Energy      60.0 J (0.0167 Wh), mean 20.0 W, most 20.0 W  (RAPL)",
        "Throttling  3 package events, 12 core events, 0.3 s",
        "Policy      powersave, balance_performance",
        "Events      mark: 1",
        "Command     stress-ng '--cpu 8' xxxxxxxxxxxxxxxxxxx…: exit status 137, 3.0 s,",
        "  CPU 22.50 s user + 0.25 s system, peak memory at most 300 MiB, stopped: it got",
        "  hot",
    ]


def test_a_command_stands_as_one_would_type_it() -> None:
    assert command_text(("sh", "-c", "echo $HOME; ls")) == "sh -c 'echo $HOME; ls'"
    assert command_text(("a\x1b[2J",)) == r"'a\x1b[2J'"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (5.0, "5.0 s"),
        (99.9, "99.9 s"),
        (125.0, "2 min 05 s"),
        (3725.0, "1 h 02 min"),
        (3599.7, "1 h 00 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_lines_break_between_words_and_never_before_a_unit() -> None:
    line = "word " * 15 + "123 °C end"
    assert list(wrapped([line])) == [("word " * 15).rstrip(), "  123 °C end"]
    assert list(wrapped(["x" * 200])) == ["x" * 200]
