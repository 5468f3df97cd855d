"""`toolkit doctor`: each check on a machine written by hand, the words, the JSON and the exit status."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from toolkit.commands import doctor
from toolkit.doctor import machine, packages, program
from toolkit.doctor.model import Finding, Verdict, care, exit_status, note, ok
from toolkit.host.base import Host
from toolkit.host.local import LocalHost
from toolkit.host.replay import ReplayHost

INTEL = "vendor_id\t: GenuineIntel\\ncpu family\t: 6\\nflags\t\t: fpu dtherm\\n"
AMD = "vendor_id\t: AuthenticAMD\\ncpu family\t: 25\\nflags\t\t: fpu\\n"


def captured(tmp_path: Path, *tree: str) -> Host:
    """A machine of the given lines of tree.txt."""
    (tmp_path / "meta.json").write_text('{"schema": 1, "taken_at": 1790000000}')
    (tmp_path / "tree.txt").write_text("\n".join(tree) + "\n", encoding="utf-8")
    return ReplayHost(str(tmp_path))


def rooted(tmp_path: Path, files: Mapping[str, str]) -> Host:
    """A mounted machine with these files."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return LocalHost(str(tmp_path))


def one(host: Host, subject: str) -> Finding:
    found = [finding for finding in machine.check_machine(host) if finding.subject == subject]
    assert len(found) == 1, found
    return found[0]


# --- the machine ---------------------------------------------------------------------------------


def test_counts_devices_and_names_each_chip_once(tmp_path: Path) -> None:
    host = captured(
        tmp_path,
        "sys/class/hwmon/hwmon0/name = nvme",
        "sys/class/hwmon/hwmon1/name = nvme",
        "sys/class/hwmon/hwmon2/temp1_input = 1",
        "sys/class/hwmon/hwmon10/name = coretemp",
    )
    assert one(host, "sensors") == ok("sensors", "4 hwmon devices: nvme, hwmon2, coretemp")
    assert one(host, "CPU sensor") == ok("CPU sensor", "coretemp")


def test_escape_codes_in_a_chip_name_do_not_reach_the_terminal(tmp_path: Path) -> None:
    assert "\x1b" not in one(captured(tmp_path, r"sys/class/hwmon/hwmon0/name = \x1b[2Jbad"), "sensors").text


def test_thermal_zones_alone_need_care(tmp_path: Path) -> None:
    host = captured(tmp_path, "sys/class/thermal/thermal_zone0/type = x86_pkg_temp", "sys/class/hwmon/")
    found = one(host, "sensors")
    assert (found.verdict, found.text) == (Verdict.CARE, "no hwmon device; 1 thermal zones stand in")


def test_no_sensor_at_all_points_to_the_demo(tmp_path: Path) -> None:
    found = one(captured(tmp_path, "sys/class/hwmon/"), "sensors")
    assert found.verdict is Verdict.CARE
    assert "--demo" in found.hint


@pytest.mark.parametrize(
    ("cpuinfo", "driver"), [(INTEL, "coretemp"), (AMD, "k10temp"), (AMD.replace("25", "15"), "k8temp")]
)
def test_a_cpu_driver_that_is_not_loaded_comes_with_its_command(tmp_path: Path, cpuinfo: str, driver: str) -> None:
    host = captured(tmp_path, "sys/class/hwmon/hwmon0/name = nvme", f"proc/cpuinfo = {cpuinfo}")
    found = one(host, "CPU sensor")
    assert (found.verdict, found.text) == (Verdict.CARE, f"{driver} is not loaded")
    assert found.hint.startswith(f"sudo modprobe {driver};")


@pytest.mark.parametrize(
    ("cpuinfo", "words"),
    [
        (INTEL.replace("dtherm", "hypervisor"), "a virtual machine"),
        (INTEL.replace("dtherm", "vme"), "no digital sensor"),
        (r"CPU implementer\t: 0x41\n", "this CPU has no driver of its own"),
    ],
)
def test_a_cpu_without_a_sensor_is_no_fault(tmp_path: Path, cpuinfo: str, words: str) -> None:
    found = one(captured(tmp_path, f"proc/cpuinfo = {cpuinfo}"), "CPU sensor")
    assert found.verdict is Verdict.NOTE
    assert words in found.text
    assert found.hint == ""


def test_a_kernel_without_the_driver_is_told_apart(tmp_path: Path) -> None:
    files = {
        "proc/cpuinfo": "vendor_id : GenuineIntel\nflags : dtherm\n\nprocessor : 1\n",
        "proc/sys/kernel/osrelease": "6.1.0-cloud\n",
        "lib/modules/6.1.0-cloud/modules.builtin": "kernel/fs/ext4.ko\n",
    }
    found = one(rooted(tmp_path, files), "CPU sensor")
    assert found.text == "this kernel was built without coretemp"
    assert "full kernel" in found.hint
    module = tmp_path / "lib/modules/6.1.0-cloud/kernel/drivers/hwmon/coretemp.ko.xz"
    module.parent.mkdir(parents=True)
    module.write_text("")
    assert one(LocalHost(str(tmp_path)), "CPU sensor").text == "coretemp is not loaded"


def test_what_is_not_captured_is_unknown_and_the_rest_goes_on(tmp_path: Path) -> None:
    host = captured(tmp_path, "sys/class/hwmon/hwmon0/name = nvme")
    assert one(host, "CPU sensor") == Finding(Verdict.UNKNOWN, "CPU sensor", "not captured: /proc/cpuinfo")
    assert one(host, "sensors").verdict is Verdict.OK
    assert one(host, "hot-plug").verdict is Verdict.UNKNOWN


def test_sata_disks_want_drivetemp(tmp_path: Path) -> None:
    disks = ("sys/block/sda/device/vendor = ATA     ", "sys/block/sdb/device/vendor = SanDisk")
    found = one(captured(tmp_path, *disks), "SATA disks")
    assert found == note("SATA disks", "no temperature of sda without drivetemp", "sudo modprobe drivetemp")
    host = captured(tmp_path, *disks, "sys/class/hwmon/hwmon0/name = drivetemp")
    assert one(host, "SATA disks") == ok("SATA disks", "drivetemp is loaded for sda")


def test_without_sata_disks_nothing_is_said_of_them(tmp_path: Path) -> None:
    host = captured(tmp_path, "sys/block/nvme0n1/size = 1")
    assert "SATA disks" not in [finding.subject for finding in machine.check_machine(host)]


@pytest.mark.parametrize(
    ("content", "verdict", "text"),
    [
        ("123", Verdict.OK, "RAPL, 1 package"),
        ("!EACCES", Verdict.NOTE, "the RAPL counter is for root alone (CVE-2020-8694)"),
        ("!EIO", Verdict.NOTE, f"the RAPL counter cannot be read: {os.strerror(5)}"),
    ],
)
def test_rapl(tmp_path: Path, content: str, verdict: Verdict, text: str) -> None:
    zone = "sys/class/powercap/intel-rapl:0"
    host = captured(tmp_path, f"{zone}/energy_uj = {content}", f"{zone}:0/energy_uj = 5")
    found = one(host, "CPU power")
    assert (found.verdict, found.text) == (verdict, text)
    assert ("chmod a+r /sys/class/powercap/intel-rapl:0/energy_uj" in found.hint) is (content == "!EACCES")


def test_no_rapl_is_only_a_note(tmp_path: Path) -> None:
    assert one(captured(tmp_path, "sys/class/powercap/"), "CPU power") == note("CPU power", "no RAPL counter")


def test_hot_plug(tmp_path: Path) -> None:
    assert one(captured(tmp_path, "run/udev/control ="), "hot-plug") == ok("hot-plug", "udev runs")
    assert one(rooted(tmp_path / "mnt", {"etc/hostname": "x"}), "hot-plug").verdict is Verdict.NOTE


# --- distributions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "family"),
    [
        ("ID=debian", "apt"),
        ('ID=linuxmint\nID_LIKE="ubuntu debian"', "apt"),
        ("ID=fedora", "dnf"),
        ("ID=\"almalinux\"\nID_LIKE='rhel centos fedora'", "dnf"),
        ("ID=manjaro\nID_LIKE=arch", "pacman"),
        ('ID=opensuse-tumbleweed\nID_LIKE="opensuse suse"', "zypper"),
        ("ID=nixos", None),
        ("# nothing\n\nbroken line", None),
    ],
)
def test_family_of_a_distribution(tmp_path: Path, release: str, family: str | None) -> None:
    host = rooted(tmp_path, {"etc/os-release": release})
    assert packages.package_family(host) == family


def test_a_machine_without_os_release_has_no_family(tmp_path: Path) -> None:
    host = rooted(tmp_path, {"etc/hostname": "x"})
    assert packages.package_family(host) is None
    assert packages.distribution(host) is None


@pytest.mark.parametrize(
    ("family", "in_venv", "hint"),
    [
        ("apt", False, "sudo apt install python3-pyudev"),
        ("pacman", False, "sudo pacman -S python-pyudev"),
        ("apt", True, "/v/python -m pip install 'pyudev'"),
        (None, False, "/v/python -m pip install 'pyudev'"),
    ],
)
def test_how_a_module_is_brought(family: str | None, in_venv: bool, hint: str) -> None:
    module = next(module for module in packages.MODULES if module.name == "pyudev")
    assert packages.install_hint(module, family, "/v/python", in_venv=in_venv) == hint


# --- the program ---------------------------------------------------------------------------------


def test_every_module_of_this_installation_is_found() -> None:
    found = [program.check_module(module, "apt") for module in packages.MODULES]
    assert [finding.verdict for finding in found] == [Verdict.OK] * len(packages.MODULES)


def test_a_module_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    absent = packages.Module("no_such_module", "no-such", "the screens", Verdict.MISSING, {"dnf": "python3-no-such"})
    found = program.check_module(absent, "dnf")
    assert found == Finding(
        Verdict.MISSING, "no_such_module", "not installed; needed for the screens", "sudo dnf install python3-no-such"
    )


def test_a_textual_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "2.1.2")
    found = program.check_module(packages.MODULES[0], None)
    assert found.verdict is Verdict.CARE
    assert found.text == "2.1.2, but the screens need 8.2 or a later 8"


@pytest.mark.parametrize(("text", "key"), [("8.2.8", (8, 2, 8)), ("9.0rc1", (9,)), ("", ()), ("x", ())])
def test_version_key(text: str, key: tuple[int, ...]) -> None:
    assert program.version_key(text) == key


@pytest.mark.parametrize(
    ("environ", "verdict", "words"),
    [
        ({}, Verdict.CARE, "TERM is not set"),
        ({"TERM": "dumb"}, Verdict.CARE, "TERM is dumb"),
        ({"TERM": "linux"}, Verdict.NOTE, "the Linux console"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, Verdict.OK, "xterm, 16 million colours"),
        ({"TERM": "tmux-256color"}, Verdict.OK, "tmux-256color, 256 colours"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, Verdict.OK, "no colours, since NO_COLOR is set"),
    ],
)
def test_term(environ: dict[str, str], verdict: Verdict, words: str) -> None:
    found = program.check_term(environ)
    assert found.verdict is verdict
    assert words in found.text


@pytest.mark.parametrize(
    ("columns", "lines", "verdict"),
    [
        (0, 0, Verdict.NOTE),
        (59, 40, Verdict.CARE),
        (200, 17, Verdict.CARE),
        (60, 18, Verdict.NOTE),
        (80, 24, Verdict.OK),
    ],
)
def test_size(columns: int, lines: int, verdict: Verdict) -> None:
    assert program.check_size(columns, lines).verdict is verdict


@pytest.mark.parametrize(
    ("environ", "verdict"),
    [
        ({"LANG": "de_DE.UTF-8"}, Verdict.OK),
        ({"LANG": "C.utf8"}, Verdict.OK),
        ({"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, Verdict.CARE),
        ({"LANG": "de_DE.ISO-8859-1"}, Verdict.CARE),
        ({}, Verdict.CARE),
    ],
)
def test_characters(environ: dict[str, str], verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    found = {finding.subject: finding for finding in program.check_terminal({"TERM": "xterm", **environ})}
    assert found["characters"].verdict is verdict


def test_not_a_terminal_is_only_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert [finding.verdict for finding in program.check_terminal({})] == [Verdict.NOTE]


def test_folders_that_can_be_made_are_fine(tmp_path: Path) -> None:
    assert {finding.verdict for finding in program.check_folders({"HOME": str(tmp_path)})} == {Verdict.OK}
    assert list(tmp_path.iterdir()) == []


def test_a_home_that_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    found = [finding for finding in program.check_folders({"HOME": str(file)}) if finding.verdict is Verdict.CARE]
    assert {finding.subject for finding in found} >= {"config folder", "state folder", "cache folder"}


def test_wrong_settings_are_named(tmp_path: Path) -> None:
    (tmp_path / "toolkit").mkdir()
    (tmp_path / "toolkit/config.toml").write_text("colour = 'red'\n")
    found = next(program.check_folders({"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}))
    assert found.verdict is Verdict.CARE
    assert str(tmp_path / "toolkit/config.toml") in found.text
    assert "colour" in found.text


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("findings", "status"),
    [
        ([ok("a", ""), note("b", "")], 0),
        ([ok("a", ""), care("b", "")], 1),
        ([care("a", ""), Finding(Verdict.MISSING, "b", "")], 3),
        ([Finding(Verdict.UNKNOWN, "a", "")], 0),
    ],
)
def test_exit_status(findings: list[Finding], status: int) -> None:
    assert exit_status(findings) == status


def test_words_for_a_person() -> None:
    findings = [ok("Python", "3.11.7"), care("CPU sensor", "k10temp is not loaded", "sudo modprobe k10temp")]
    assert list(doctor.report(findings)) == [
        "ok Python      3.11.7",
        "!  CPU sensor  k10temp is not loaded",
        "               › sudo modprobe k10temp",
        "",
        "1 thing needs care.",
    ]
    assert list(doctor.report(findings[:1]))[-1] == "Nothing needs care."
    assert list(doctor.report([*findings, Finding(Verdict.MISSING, "x", "y")]))[-1] == "2 things need care."


def test_json_and_status_of_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    host = captured(
        tmp_path,
        r'etc/os-release = PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nID=debian',
        "sys/class/hwmon/hwmon0/name = nvme",
        f"proc/cpuinfo = {AMD}",
    )
    assert doctor.run(argparse.Namespace(json=True), host) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["data"]["distribution"] == "Debian GNU/Linux 13 (trixie)"
    subjects = [finding["subject"] for finding in answer["data"]["findings"]]
    assert subjects == ["program", "sensors", "CPU sensor", "CPU power", "hot-plug"]
    assert answer["data"]["findings"][2]["verdict"] == "care"
    assert [problem["source"] for problem in answer["problems"]] == ["CPU sensor"]
    assert answer["problems"][0]["hint"].startswith("sudo modprobe k10temp")


def test_text_of_this_machine_says_all_and_never_fails(capsys: pytest.CaptureFixture[str]) -> None:
    status = doctor.run(argparse.Namespace(json=False), LocalHost())
    text = capsys.readouterr().out
    assert status in (0, 1)
    for subject in ("Python", "textual", "settings", "state folder", "sensors", "CPU power"):
        assert f" {subject} " in text
