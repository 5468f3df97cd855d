"""The packages hold what they must, and the README says only what the program understands."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from toolkit import __version__
from toolkit.cli import build_parser

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
README = (ROOT / "README.md").read_text()


# --- pyproject.toml ------------------------------------------------------------------------------


def test_the_two_lists_of_development_tools_are_one() -> None:
    assert PROJECT["dependency-groups"]["dev"] == PROJECT["project"]["optional-dependencies"]["dev"]


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    for requirement in PROJECT["project"]["dependencies"]:
        assert re.fullmatch(r"[a-z-]+>=[\d.]+,<\d+", requirement), requirement


def test_the_newest_entry_of_the_changelog_is_this_version() -> None:
    match = re.search(r"^## (\S+) - \d{4}-\d{2}-\d{2}$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert match is not None
    assert match.group(1) == __version__


# --- what is built -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources, without what a checkout gathers."""
    if not (ROOT / "toolkit").is_dir():
        pytest.skip("the sources are not beside the tests: these run against an installed wheel")
    copy = tmp_path_factory.mktemp("checkout") / "toolkit"
    unwanted = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "dist", "build")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=unwanted)
    return copy


def build(checkout: Path, what: str, target: Path) -> Path:
    """Call hatchling as pip does, without a network. Returns the file that it made."""
    script = f"import sys; from hatchling.build import build_{what}; print(build_{what}(sys.argv[1]))"
    command = [sys.executable, "-c", script, str(target)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return target / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(build(checkout, "wheel", tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="module")
def sdist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    with tarfile.open(build(checkout, "sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_the_wheel_holds_every_module_style_and_asset(checkout: Path, wheel: zipfile.ZipFile) -> None:
    held = set(wheel.namelist())
    wanted = {
        str(path.relative_to(checkout))
        for folder in ("toolkit", "screens")
        for path in (checkout / folder).rglob("*")
        if path.suffix in (".py", ".tcss")
    }
    for path in (checkout / "assets").rglob("*"):
        assert not path.is_symlink(), f"{path}: a wheel cannot hold a symbolic link"
        if path.is_file():
            wanted.add(f"toolkit/_assets/{path.relative_to(checkout / 'assets')}")
    assert any(name.endswith(".tcss") for name in wanted)
    assert any(name.startswith("toolkit/_assets/demo/") for name in wanted)
    assert wanted - held == set()


def test_the_wheel_holds_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    stem = f"laptop_toolkit-{__version__}"
    assert tops == {"toolkit", "screens", f"{stem}.dist-info", f"{stem}.data"}
    assert not [name for name in wheel.namelist() if name.endswith(".pyc") or "/tests/" in name]


def test_the_wheel_installs_the_command_the_manual_page_and_the_completions(wheel: zipfile.ZipFile) -> None:
    stem = f"laptop_toolkit-{__version__}"
    assert "toolkit = toolkit.cli:main" in wheel.read(f"{stem}.dist-info/entry_points.txt").decode()
    shared = {name.partition(".data/data/")[2] for name in wheel.namelist() if ".data/data/" in name}
    assert shared == {
        "share/man/man1/toolkit.1",
        "share/bash-completion/completions/toolkit",
        "share/zsh/site-functions/_toolkit",
        "share/fish/vendor_completions.d/toolkit.fish",
    }


def test_the_sdist_can_test_and_build_itself(checkout: Path, sdist: set[str]) -> None:
    assert {"pyproject.toml", "README.md", "CHANGELOG.md", ".ci/run", "tools/generate_assets.py"} <= sdist
    sources = {
        str(path.relative_to(checkout))
        for folder in ("toolkit", "screens", "tests", "assets", "benchmarks")
        for path in (checkout / folder).rglob("*")
        if path.is_file() and not path.is_symlink()
    }
    assert sources - sdist == set()


# --- the README ----------------------------------------------------------------------------------


def shell_lines() -> list[str]:
    """The lines of the README's shell blocks, continued lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    return [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]


def toolkit_calls() -> list[list[str]]:
    """The arguments of every call of `toolkit` in the README's shell blocks."""
    calls = []
    for line in shell_lines():
        words = shlex.split(line, comments=True)
        for number, word in enumerate(words):
            if word != "toolkit" or (number and words[number - 1] not in ("sudo", "|", "&&")):
                continue
            rest = words[number + 1 :]
            ends = [position for position, each in enumerate(rest) if each in ("|", "&&", "||", ">", "<", "--")]
            calls.append(rest[: ends[0]] if ends else rest)
    return calls


def test_every_command_of_the_readme_is_one_the_program_understands() -> None:
    calls = toolkit_calls()
    assert len(calls) > 12
    refused = []
    for call in calls:
        try:
            build_parser().parse_args(call)
        except SystemExit as stop:
            if stop.code:
                refused.append(shlex.join(call))
    assert refused == []


def test_the_readme_names_every_command() -> None:
    named = {word for call in toolkit_calls() for word in call}
    for action in build_parser()._subparsers._group_actions:  # type: ignore[union-attr]
        assert set(action.choices or ()) - named == set()


def test_the_readme_marks_its_two_commands() -> None:
    for name in ("run command", "test command"):
        block = re.search(rf"<!-- {name} -->\n```sh\n(.+)\n```\n<!-- end -->", README)
        assert block is not None, name
        assert block.group(1).startswith("python3 -m venv .venv && ")


def test_every_picture_of_the_readme_is_there() -> None:
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", README)
    assert len(pictures) >= 2
    for picture in pictures:
        assert (ROOT / picture).is_file(), picture
