"""Which package brings a Python module, and how a distribution installs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolkit.doctor.model import Verdict
from toolkit.text import printable

if TYPE_CHECKING:
    from toolkit.host.base import Host

INSTALL = {
    "apt": "sudo apt install",
    "dnf": "sudo dnf install",
    "pacman": "sudo pacman -S",
    "zypper": "sudo zypper install",
}

FAMILIES = {
    "debian": "apt",
    "ubuntu": "apt",
    "fedora": "dnf",
    "rhel": "dnf",
    "centos": "dnf",
    "arch": "pacman",
    "suse": "zypper",
    "opensuse": "zypper",
    "opensuse-tumbleweed": "zypper",
    "opensuse-leap": "zypper",
}


@dataclass(frozen=True, slots=True)
class Module:
    """A Python module that the program uses.

    Attributes:
        requirement: what pip would be asked for.
        purpose: what needs it.
        when_missing: how bad its absence is.
        packages: family of distributions -> package; none where the packaged version is too old or not known.
    """

    name: str
    requirement: str
    purpose: str
    when_missing: Verdict
    packages: Mapping[str, str]


MODULES = (
    Module("textual", "textual>=8.2,<9", "the screens", Verdict.MISSING, {"pacman": "python-textual"}),
    Module(
        "pyudev",
        "pyudev",
        "noticing new devices at once",
        Verdict.CARE,
        {"apt": "python3-pyudev", "dnf": "python3-pyudev", "pacman": "python-pyudev", "zypper": "python3-pyudev"},
    ),
    Module(
        "tomlkit",
        "tomlkit>=0.12",
        "keeping settings made in the screens",
        Verdict.CARE,
        {"apt": "python3-tomlkit", "dnf": "python3-tomlkit", "pacman": "python-tomlkit", "zypper": "python3-tomlkit"},
    ),
)


def os_release(host: Host) -> dict[str, str]:
    """/etc/os-release as a dict, as os-release(5) describes it; empty where it cannot be read."""
    try:
        text = host.read_text("/etc/os-release")
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip().strip("\"'") for key, value in pairs}


def distribution(host: Host) -> str | None:
    """The distribution's own name for itself, None where it does not say."""
    return printable(os_release(host).get("PRETTY_NAME", "")) or None


def package_family(host: Host) -> str | None:
    """`apt`, `dnf`, `pacman` or `zypper` after ID and ID_LIKE; None for other distributions."""
    release = os_release(host)
    for name in [release.get("ID", ""), *release.get("ID_LIKE", "").split()]:
        if name.lower() in FAMILIES:
            return FAMILIES[name.lower()]
    return None


def install_hint(module: Module, family: str | None, python: str, *, in_venv: bool) -> str:
    """The command that brings a module.

    Args:
        family: as `package_family` tells it.
        python: path of the interpreter that needs the module.
        in_venv: that interpreter is one of a virtual environment, which sees no package of the distribution.
    """
    if in_venv or family is None or family not in module.packages:
        return f"{python} -m pip install '{module.requirement}'"
    return f"{INSTALL[family]} {module.packages[family]}"
