"""The manual page and the completions are those of the present command line, and shells can read them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from toolkit import assets
from toolkit.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ("man/toolkit.1", "completions/toolkit.bash", "completions/_toolkit", "completions/toolkit.fish")


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    spec = importlib.util.spec_from_file_location("generate_assets", ROOT / "tools/generate_assets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    texts: dict[str, str] = module.generate()
    return texts


@pytest.mark.parametrize("name", GENERATED)
def test_is_fresh(name: str, fresh: dict[str, str]) -> None:
    assert assets.read_text(name) == fresh[name], "stale: run python tools/generate_assets.py"


def test_nothing_else_is_generated(fresh: dict[str, str]) -> None:
    assert set(fresh) == set(GENERATED)


def test_every_command_stands_in_each() -> None:
    for name in GENERATED:
        text = assets.read_text(name)
        for command in COMMANDS:
            assert command in text, f"{name} does not know {command}"


def bash_completes(tmp_path: Path, line: str) -> list[str]:
    """What bash offers after the words of `line`, the last of which is being typed."""
    script = f"""
source {assets.path_of("completions/toolkit.bash")}
function=$(complete -p toolkit | sed 's/.*-F \\([^ ]*\\).*/\\1/')
COMP_WORDS=({line})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
"$function" toolkit "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_bash_completes_commands_options_and_files(tmp_path: Path) -> None:
    (tmp_path / "machine.tar.gz").write_text("")
    assert bash_completes(tmp_path, "toolkit te") == ["temps"]
    assert set(bash_completes(tmp_path, "toolkit temps --he")) == {"--help", "--headline"}
    assert bash_completes(tmp_path, "toolkit temps --rule tc") == ["tctl"]
    assert bash_completes(tmp_path, "toolkit --from mach") == ["machine.tar.gz"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_the_manual_page_is_clean_troff() -> None:
    page = assets.path_of("man/toolkit.1")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")
