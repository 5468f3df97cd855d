"""Files in the state folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from toolkit.export import ExportError, safe_name, tilde, write_export


def test_writes_into_the_state_folder_for_its_owner_only(tmp_path: Path) -> None:
    path = write_export({"HOME": str(tmp_path)}, "copied.txt", "54 °C\n")
    assert path == str(tmp_path / ".local/state/toolkit/copied.txt")
    assert Path(path).read_text(encoding="utf-8") == "54 °C\n"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert os.listdir(tmp_path / ".local/state/toolkit") == ["copied.txt"]


def test_xdg_state_home_and_a_folder(tmp_path: Path) -> None:
    path = write_export({"HOME": "/none", "XDG_STATE_HOME": str(tmp_path)}, "a.svg", "x", folder="screenshots")
    assert path == str(tmp_path / "toolkit/screenshots/a.svg")


def test_replaces_unless_told_to_keep(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    first = write_export(environ, "a.txt", "1")
    assert write_export(environ, "a.txt", "2") == first
    second = write_export(environ, "a.txt", "3", keep=True)
    third = write_export(environ, "a.txt", "4", keep=True)
    assert [os.path.basename(path) for path in (first, second, third)] == ["a.txt", "a-2.txt", "a-3.txt"]
    assert [Path(path).read_text() for path in (first, second, third)] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("a/b", "a-b"),
        ("\x1b[31mred.txt", "31mred.txt"),
        ("", "export"),
        ("..", "export"),
        (".hidden", "hidden"),
        ("x" * 300, "x" * 120),
        ("µ.txt", "txt"),
    ],
)
def test_name_is_made_safe(name: str, expected: str) -> None:
    assert safe_name(name) == expected


def test_folder_that_cannot_be_made_is_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("a file where a folder should be")
    with pytest.raises(ExportError, match="Cannot write .*copied.txt"):
        write_export({"HOME": str(tmp_path)}, "copied.txt", "x")


def test_nothing_is_left_behind_where_writing_fails(tmp_path: Path) -> None:
    folder = tmp_path / ".local/state/toolkit"
    (folder / "copied.txt").mkdir(parents=True)
    with pytest.raises(ExportError):
        write_export({"HOME": str(tmp_path)}, "copied.txt", "x")
    assert os.listdir(folder) == ["copied.txt"]


def test_link_in_the_place_of_the_partial_file_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / ".local/state/toolkit"
    folder.mkdir(parents=True)
    victim = tmp_path / "victim"
    victim.write_text("safe")
    (folder / f"copied.txt.{os.getpid()}.part").symlink_to(victim)
    with pytest.raises(ExportError):
        write_export({"HOME": str(tmp_path)}, "copied.txt", "x")
    assert victim.read_text() == "safe"


def test_tilde() -> None:
    assert tilde({"HOME": "/home/x"}, "/home/x/a") == "~/a"
    assert tilde({"HOME": "/home/x/"}, "/home/x/a") == "~/a"
    assert tilde({"HOME": "/home/x"}, "/home/xy/a") == "/home/xy/a"
    assert tilde({}, "/a") == "/a"
