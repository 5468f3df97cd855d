"""`toolkit paths`."""

from __future__ import annotations

import argparse
import errno
import json
import os
from pathlib import Path

import pytest

from toolkit.commands import paths
from toolkit.host.local import LocalHost


def test_xdg_variables_move_the_places(tmp_path: Path) -> None:
    environ = {"HOME": "/home/someone", "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": "relative/is/ignored"}
    places = paths.places(environ)
    assert places["settings"] == "/home/someone/.config/toolkit/config.toml"
    assert places["recordings"] == f"{tmp_path}/toolkit/recordings"
    assert places["screenshots"] == f"{tmp_path}/toolkit/screenshots"
    assert places["cache"] == "/home/someone/.cache/toolkit"
    assert (Path(places["assets"]) / "demo").is_dir()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / ".config/toolkit").mkdir(parents=True)
    (tmp_path / ".config/toolkit/config.toml").write_text("")
    return tmp_path


def test_says_what_is_not_there(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paths.run(argparse.Namespace(json=False), LocalHost()) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["settings"].endswith(f"{home}/.config/toolkit/config.toml")
    assert lines["recordings"].endswith("(not there)")


def test_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paths.run(argparse.Namespace(json=True), LocalHost()) == 0
    data = json.loads(capsys.readouterr().out)["data"]["paths"]
    assert data["settings"] == {"path": f"{home}/.config/toolkit/config.toml", "exists": True}
    assert data["cache"] == {"path": f"{home}/.cache/toolkit", "exists": False}
    assert data["assets"]["exists"] is True


def test_nothing_is_made_by_asking(home: Path) -> None:
    before = sorted(home.rglob("*"))
    paths.run(argparse.Namespace(json=False), LocalHost())
    assert sorted(home.rglob("*")) == before


def test_what_may_not_be_looked_at_is_not_called_absent(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def lstat(path: str) -> os.stat_result:
        if "/.config/" in path:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path)

    real = os.lstat
    monkeypatch.setattr(paths.os, "lstat", lstat)
    assert paths.run(argparse.Namespace(json=False), LocalHost()) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["settings"].endswith("(not known: permission denied)")
    paths.run(argparse.Namespace(json=True), LocalHost())
    assert json.loads(capsys.readouterr().out)["data"]["paths"]["settings"]["exists"] is None
