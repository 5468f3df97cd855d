"""The document that describes the capture format for people, held against the program."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest

from toolkit.assets import read_text
from toolkit.host.capturelines import Change, answer, change
from toolkit.host.capturemeta import SCHEMA
from toolkit.host.replay import ReplayHost
from toolkit.host.tree import THIN
from toolkit.host.treetext import Kind, parse_tree

DOCUMENT = read_text("schema/capture.md")
BLOCKS = re.findall(r"^```\n(.*?)^```$", DOCUMENT, re.DOTALL | re.MULTILINE)


def block(start: str) -> str:
    found = [text for text in BLOCKS if text.startswith(start)]
    assert len(found) == 1
    return found[0]


def test_the_smallest_capture_works(tmp_path: Path) -> None:
    name = ""
    for line in block("meta.json   {").splitlines():
        name = line[:12].strip() or name
        with (tmp_path / name).open("a") as file:
            file.write(f"{line[12:]}\n")
    host = ReplayHost(str(tmp_path))
    assert host.problems == ()
    assert host.read_text("/sys/class/hwmon/hwmon0/temp1_input") == "54000\n"


def test_the_example_of_tree_txt_shows_every_kind_of_line() -> None:
    entries, problems = parse_tree(block("# a comment").encode())
    assert problems == []
    assert {entry.kind for entry in entries} == set(Kind)
    assert {entry.error for entry in entries} == {0, errno.EIO}
    assert {entry.slow_s for entry in entries} == {0.0, 1.5}


def test_the_examples_of_json_lines_are_understood() -> None:
    assert answer(json.loads(block('{"argv"'))).seconds == 0.1
    changes = [change(json.loads(line)) for line in block('{"after_s"').splitlines()]
    assert all(isinstance(entry, Change) for entry in changes)
    assert len(changes) == 4


def test_the_schema_and_the_thin_folders_are_the_program_s() -> None:
    assert f"schema {SCHEMA}\n" in DOCUMENT
    named = re.findall(r"`(/[a-z/]*)`", DOCUMENT.partition("## Not captured")[2].partition("Write")[0])
    assert len(named) > 10
    assert set(named) <= THIN


@pytest.mark.parametrize(
    "key", ["schema", "taken_at", "uid", "kernel", "os_release", "environ", "commands_not_found", "loop_s"]
)
def test_every_key_of_meta_json_is_described(key: str) -> None:
    assert f"| `{key}` |" in DOCUMENT
