from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolkit.errors import MissingError
from toolkit.host.base import UnknownInDryRun
from toolkit.host.dryrun import DryRunHost, Planned
from toolkit.host.local import LocalHost
from toolkit.host.privilege import can_elevate, is_root, own_command, sudo_prefix
from toolkit.host.replay import ReplayHost


@pytest.fixture
def machine(tmp_path: Path) -> ReplayHost:
    (tmp_path / "meta.json").write_text('{"schema": 1, "uid": 1000, "environ": {"LANG": "C"}}')
    (tmp_path / "tree.txt").write_text(
        "etc/fstab = old\nsys/x = 1\nlink -> etc/fstab\netc/d/a = 1\nusr/bin/sudo = !UNREAD\n"
    )
    answers = ["zpool status", "zpool status tank", "zpool list", "lsblk --json", "blkid /dev/sda", "blkid /dev/sdb",
               "sudo -n -- smartctl -i /dev/sda", "custom --look", "cat /etc/fstab"]  # fmt: skip
    lines = [f'{{"argv": {str(answer.split()).replace(chr(39), chr(34))}, "stdout": "ok"}}\n' for answer in answers]
    (tmp_path / "commands.jsonl").write_text("".join(lines))
    return ReplayHost(str(tmp_path))


@pytest.mark.parametrize(
    ("command", "look"),
    [
        ("lsblk --json -o NAME", True),
        ("zpool status -v tank", True),
        ("/usr/sbin/zpool list", True),
        ("sudo -n zpool get all tank", True),
        ("sudo -n -- blkid /dev/sda", True),
        ("sudo", False),
        ("zpool import tank", False),
        ("zpool", False),
        ("zfs get all", True),
        ("zfs set x=y tank", False),
        ("smartctl -a /dev/sda", True),
        ("smartctl -H -i /dev/sda", True),
        ("smartctl -t short /dev/sda", False),
        ("smartctl -tshort /dev/sda", False),
        ("smartctl --test=short /dev/sda", False),
        ("smartctl -i -s on /dev/sda", False),
        ("smartctl --smart=on /dev/sda", False),
        ("blkid -g", False),
        ("dpkg -s zfs-dkms", True),
        ("dpkg -i x.deb", False),
        ("systemctl status x", True),
        ("systemctl stop x", False),
        ("rm -rf /", False),
        ("env lsblk", False),
    ],
)
def test_what_only_looks(command: str, look: bool, machine: ReplayHost) -> None:
    assert DryRunHost(machine).is_look(command.split()) is look


def test_looks_pass_and_changes_are_noted(machine: ReplayHost) -> None:
    host = DryRunHost(machine)
    assert (host.kind, host.label, host.environ) == ("dry-run", machine.label, {"LANG": "C"})
    assert host.run(["lsblk", "--json"]).stdout == "ok"
    assert list(host.stream(["zpool", "list"])) == ["ok"]
    for call in (host.run, host.stream, host.spawn):
        with pytest.raises(UnknownInDryRun, match="a dry run does not run: wipefs -a /dev/sdb"):
            call(["wipefs", "-a", "/dev/sdb"])
    host.write("/sys/x", "2")
    change = Planned(argv=("wipefs", "-a", "/dev/sdb"))
    assert host.planned == [change, change, change, Planned(path="/sys/x", text="2")]


def test_what_depends_on_a_change_is_unknown_and_all_else_is_known(machine: ReplayHost) -> None:
    host = DryRunHost(machine)
    for argv in (["wipefs", "-a", "/dev/sdb"], ["zpool", "export", "tank"]):
        with pytest.raises(UnknownInDryRun):
            host.run(argv)
    assert host.run(["blkid", "/dev/sda"]).stdout == "ok"
    assert host.run(["zpool", "status"]).stdout == "ok"
    for argv in (["blkid", "/dev/sdb"], ["zpool", "status", "tank"]):
        with pytest.raises(UnknownInDryRun, match="depends on a change"):
            host.run(argv)
    host.forget("zpool")
    with pytest.raises(UnknownInDryRun):
        host.run(["zpool", "status"])


def test_a_file_that_would_have_been_written_is_unknown_by_every_name(machine: ReplayHost) -> None:
    host = DryRunHost(machine)
    assert host.read_text("/etc/fstab") == "old\n"
    host.write("/link", "new\n")
    for path in ("/etc/fstab", "/link"):
        for call in (host.read_text, host.read_bytes, host.open_value, host.readlink):
            with pytest.raises(UnknownInDryRun):
                call(path)
    with pytest.raises(UnknownInDryRun):
        host.run(["cat", "/etc/fstab"])
    assert machine.read_text("/etc/fstab") == "old\n"
    host.write("/etc/new", "x")
    assert host.exists("/etc/new")
    assert not machine.exists("/etc/new")
    assert host.read_text("/sys/x") == "1\n"


def test_what_is_forgotten_is_unknown_with_all_below_it(machine: ReplayHost) -> None:
    host = DryRunHost(machine)
    host.forget("/etc/d/")
    for call in (host.read_text, host.listdir):
        with pytest.raises(UnknownInDryRun):
            call("/etc/d")
    with pytest.raises(UnknownInDryRun):
        host.read_text("/etc/d/a")
    assert host.read_text("/etc/fstab") == "old\n"


def test_other_looks_can_be_named(machine: ReplayHost) -> None:
    assert DryRunHost(machine, looks=[["custom", "--look"]]).run(["custom", "--look"]).stdout == "ok"
    host = DryRunHost(machine)
    assert host.look(["custom", "--look"]).stdout == "ok"
    assert host.planned == []


def test_the_rest_is_passed_on(machine: ReplayHost) -> None:
    host = DryRunHost(machine)
    assert host.listdir("/etc/d") == ["a"]
    assert host.glob("/etc/*") == ["/etc/d", "/etc/fstab"]
    assert host.is_dir("/etc")
    assert host.readlink("/link") == "etc/fstab"
    assert host.realpath("/link") == "/etc/fstab"
    assert host.open_value("/sys/x").read() == b"1\n"
    assert host.which("lsblk") == "/usr/bin/lsblk"
    assert host.euid() == 1000
    host.sleep(5)
    assert (host.monotonic(), host.time()) == (5.0, 5.0)
    assert not host.watch("hwmon").changed()


def test_sudo_is_asked_only_where_it_must_and_never_waits_unless_told(machine: ReplayHost) -> None:
    assert not is_root(machine)
    assert can_elevate(machine)
    assert sudo_prefix(machine) == ("sudo", "-n", "--")
    assert sudo_prefix(machine, ask=True) == ("sudo", "--")
    assert DryRunHost(machine).is_look([*sudo_prefix(machine), "lsblk"])


def test_root_needs_no_sudo_and_nobody_without_it_gets_far(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"schema": 1, "uid": 0}')
    root = ReplayHost(str(tmp_path))
    assert is_root(root)
    assert can_elevate(root)
    assert sudo_prefix(root) == ()
    (tmp_path / "meta.json").write_text('{"schema": 1, "uid": 1000}')
    person = ReplayHost(str(tmp_path))
    assert not can_elevate(person)
    with pytest.raises(MissingError, match="sudo is not installed") as caught:
        sudo_prefix(person)
    assert caught.value.exit_status == 3
    assert "su -c" in caught.value.hint


def test_this_machine_knows_who_asks() -> None:
    assert is_root(LocalHost()) == (os.geteuid() == 0)


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/usr/bin/toolkit", "toolkit"),
        ("/home/me/.local/bin/toolkit", "/home/me/.local/bin/toolkit"),
        ("/home/my self/.venv/bin/toolkit", "'/home/my self/.venv/bin/toolkit'"),
        ("/usr/lib/python3/dist-packages/pytest/__main__.py", "toolkit"),
    ],
)
def test_the_command_for_sudo_is_one_that_sudo_finds(monkeypatch: pytest.MonkeyPatch, path: str, word: str) -> None:
    monkeypatch.setattr("sys.argv", [path])
    assert own_command() == word
