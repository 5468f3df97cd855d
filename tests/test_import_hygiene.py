"""What is loaded on the way to an answer. The static contracts cannot see a deferred import; a running program can.

Lists of modules are compared and never times, so that a busy machine cannot fail this.
"""

from __future__ import annotations

import ast
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import screens
import toolkit

INTERFACE = {"textual", "rich", "screens"}
THIRD_PARTY = {"textual", "rich", "psutil", "pyudev", "serial", "usb", "tomli_w", "platformdirs"}
NEVER_FOR_A_VERSION = THIRD_PARTY | {
    "asyncio",
    "ctypes",
    "email",
    "importlib.metadata",
    "importlib.resources",
    "json",
    "logging",
    "pathlib",
    "ssl",
    "subprocess",
    "tarfile",
    "tempfile",
    "tomllib",
    "urllib",
}
NEVER_FOR_TEMPERATURES = THIRD_PARTY | {
    "asyncio",
    "concurrent.futures",
    "csv",
    "ctypes",
    "email",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "logging",
    "multiprocessing",
    "pathlib",
    "pickle",
    "socket",
    "ssl",
    "statistics",
    "subprocess",
    "tarfile",
    "tempfile",
    "unittest",
    "urllib",
    "zipfile",
}

RUN_AND_LIST = """
import sys
before = set(sys.modules)
from toolkit.cli import main
status = 0
try:
    status = main({argv!r})
except SystemExit as stop:
    status = stop.code or 0
loaded = sorted(set(sys.modules) - before)
sys.stdout.flush()
print("\\n" + __import__("json").dumps([status, loaded]))
"""


def modules_after(argv: list[str], tmp_path: Path) -> list[str]:
    """The modules that `toolkit ARGV` loads on top of a bare Python. The command must succeed."""
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-S", "-c", RUN_AND_LIST.format(argv=argv)]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    status, loaded = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return loaded


def of(loaded: list[str], unwanted: set[str]) -> list[str]:
    """Which of the unwanted modules were loaded (themselves or something below them)."""
    return sorted(name for name in loaded if any(name == each or name.startswith(f"{each}.") for each in unwanted))


def core_modules() -> list[str]:
    return sorted(
        info.name
        for info in pkgutil.walk_packages(toolkit.__path__, "toolkit.")
        if not info.name.endswith("__main__") and "._assets" not in info.name
    )


def test_version_loads_next_to_nothing(tmp_path: Path) -> None:
    assert of(modules_after(["--version"], tmp_path), NEVER_FOR_A_VERSION) == []


def test_help_loads_no_interface(tmp_path: Path) -> None:
    assert of(modules_after(["--help"], tmp_path), THIRD_PARTY | {"asyncio", "subprocess", "tarfile"}) == []


@pytest.mark.parametrize(
    "argv", [["temps", "--json", "--demo"], ["temps", "--headline", "--demo"], ["temps", "--demo"]]
)
def test_temperatures_load_no_heavy_module(argv: list[str], tmp_path: Path) -> None:
    assert of(modules_after(argv, tmp_path), NEVER_FOR_TEMPERATURES) == []


def test_no_core_module_loads_the_interface(tmp_path: Path) -> None:
    names = core_modules()
    assert "toolkit.cli" in names
    assert "toolkit.sensors.hwmon" in names
    script = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\nprint(*sys.modules)"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", script, *names], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert set(names) <= set(loaded)
    assert of(loaded, INTERFACE) == []


OPENING = {"fdopen", "listdir", "open", "popen", "read_bytes", "read_text", "system", "write_bytes", "write_text"}


def calls_that_open_a_file(tree: ast.AST) -> list[int]:
    """Lines with `open(...)`, `os.open(...)`, `Path(...).read_text()` and their kind."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        bare = isinstance(function, ast.Name) and function.id == "open"
        if bare or (isinstance(function, ast.Attribute) and function.attr in OPENING):
            lines.append(node.lineno)
    return lines


def test_screens_open_no_file_and_run_no_command() -> None:
    sources = sorted(Path(screens.__path__[0]).rglob("*.py"))
    assert len(sources) > 5
    found = {
        str(source): lines for source in sources if (lines := calls_that_open_a_file(ast.parse(source.read_text())))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line",
    ["open('x')", "os.open('x', 0)", "Path('x').read_text()", "p.open()", "os.system('x')", "path.write_bytes(b'')"],
)
def test_the_look_for_opened_files_finds_them(line: str) -> None:
    assert calls_that_open_a_file(ast.parse(line)) == [1]


def test_only_the_host_layer_runs_commands() -> None:
    """`subprocess`, `os.system`, `os.exec*` and `os.fork` stand below toolkit/host, nowhere else in the core."""
    root = Path(toolkit.__path__[0])
    found = []
    for source in sorted(root.rglob("*.py")):
        if source.is_relative_to(root / "host"):
            continue
        for node in ast.walk(ast.parse(source.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                modules = [f"os.{node.attr}"]
            bad = ("subprocess", "os.system", "os.popen", "os.fork", "os.exec", "os.spawn", "os.posix_spawn", "pty")
            found += [f"{source}:{node.lineno} {name}" for name in modules if name.startswith(bad)]
    assert found == []
