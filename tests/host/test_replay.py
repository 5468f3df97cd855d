from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import toolkit
from toolkit.errors import CaptureError, NotCaptured
from toolkit.host.base import CommandNotCaptured, NotInstalled, ReadOnlyHost
from toolkit.host.replay import ReplayHost

TREE = """
sys/class/hwmon/hwmon3 -> ../../devices/platform/coretemp.0/hwmon/hwmon3
sys/class/hwmon/hwmon3/name = coretemp
sys/class/hwmon/hwmon3/temp1_input = 54000
sys/class/hwmon/hwmon9/temp1_input = !EIO
sys/class/hwmon/hwmon9/temp2_input = !ABSENT
sys/class/hwmon/hwmon9/temp3_input = !SLOW 1.5 44000
sys/class/hwmon/hwmon9/temp4_input = !EACCES
sys/class/hwmon/hwmon10/name = nvme
sys/class/thermal/
etc/machine-id = !UNREAD
"""

Make = Callable[..., ReplayHost]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a capture and open it."""

    def write(
        tree: str = TREE, changes: Sequence[dict[str, Any]] = (), clock: str = "virtual", **files: Any
    ) -> ReplayHost:
        meta = {"schema": 1, "taken_at": 1000.0, "kernel": "6.8.0"} | files.pop("meta", {})
        (tmp_path / "meta.json").write_text(json.dumps(meta))
        (tmp_path / "tree.txt").write_text(tree)
        (tmp_path / "changes.jsonl").write_text("".join(f"{json.dumps(change)}\n" for change in changes))
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return ReplayHost(str(tmp_path), clock=clock)

    return write


def number_of(call: Callable[[], object]) -> int:
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is returned
        call()
    return caught.value.errno or 0


def test_files_links_and_folders(make: Make) -> None:
    host = make()
    assert host.problems == ()
    assert host.listdir("/sys/class/hwmon") == ["hwmon3", "hwmon9", "hwmon10"]
    assert host.read_text("/sys/class/hwmon/hwmon3/name") == "coretemp\n"
    assert host.read_bytes("/sys/class/hwmon/hwmon3/temp1_input", 2) == b"54"
    assert host.glob("/sys/class/hwmon/hwmon*/name") == [
        "/sys/class/hwmon/hwmon3/name",
        "/sys/class/hwmon/hwmon10/name",
    ]
    assert host.realpath("/sys/class/hwmon/hwmon3/name") == "/sys/devices/platform/coretemp.0/hwmon/hwmon3/name"
    assert host.readlink("/sys/class/hwmon/hwmon3") == "../../devices/platform/coretemp.0/hwmon/hwmon3"
    assert host.is_dir("/sys/class/hwmon/hwmon3")
    assert host.is_dir("/sys/class/thermal")
    assert not host.is_dir("/sys/class/hwmon/hwmon3/name")
    assert host.exists("/sys/class/hwmon/hwmon3/name")
    assert not host.exists("/sys/class/powercap")
    assert host.listdir("/sys/class/thermal") == []


def test_failures(make: Make) -> None:
    host = make()
    base = "/sys/class/hwmon/hwmon9"
    assert number_of(lambda: host.read_text(f"{base}/temp1_input")) == errno.EIO
    assert number_of(host.open_value(f"{base}/temp1_input").read) == errno.EIO
    assert number_of(lambda: host.open_value(f"{base}/temp4_input")) == errno.EACCES
    assert number_of(lambda: host.read_text(f"{base}/temp2_input")) == errno.ENOENT
    assert number_of(lambda: host.read_text("/sys/class/hwmon")) == errno.EISDIR
    assert number_of(lambda: host.listdir(f"{base}/temp3_input")) == errno.ENOTDIR
    for call in (
        lambda: host.read_text("/sys/class/net/eth0/address"),
        lambda: host.listdir("/sys/class/net"),
        lambda: host.open_value("/etc/machine-id"),
        lambda: host.read_text("/etc/machine-id"),
        lambda: host.readlink("/sys/class/net"),
    ):
        with pytest.raises(NotCaptured):
            call()
    assert host.exists("/etc/machine-id")


def test_a_value_that_is_kept_open_follows_the_changes(make: Make) -> None:
    path = "sys/class/hwmon/hwmon3/temp1_input"
    host = make(
        changes=[
            {"after_s": 2, "path": path, "errno": "EIO"},
            {"after_s": 1, "path": path, "text": "60000"},
            {"after_s": 3, "path": path, "text": "61000", "slow_s": 0.5},
            {"after_s": 4, "path": "sys/devices/platform/coretemp.0/hwmon/hwmon3", "absent": True},
            {"after_s": 5, "path": "sys/class/hwmon/hwmon3/temp1_input", "text": "62000"},
        ]
    )
    value = host.open_value(f"/{path}")
    assert value.read() == b"54000\n"
    host.sleep(1)
    assert value.read() == b"60000\n"
    host.sleep(1)
    assert number_of(value.read) == errno.EIO
    host.sleep(1)
    assert value.read() == b"61000\n"
    assert host.monotonic() == 3.5
    host.sleep(0.5)
    assert number_of(value.read) == errno.ENODEV
    assert number_of(lambda: host.read_text(f"/{path}")) == errno.ENOENT
    host.sleep(1)
    assert number_of(value.read) == errno.ENODEV, "a file that came anew is not the one that was opened"
    assert host.read_text(f"/{path}") == "62000\n"
    value.close()
    value.close()
    assert number_of(value.read) == errno.EBADF


def test_hot_plug_is_seen_by_a_watch(make: Make) -> None:
    host = make(
        changes=[
            {"after_s": 1, "path": "sys/class/hwmon/hwmon10", "absent": True},
            {"after_s": 2, "path": "sys/devices/virtual/x/name", "text": "x"},
            {"after_s": 2, "path": "sys/class/hwmon/hwmon11", "link": "../../devices/virtual/x"},
        ]
    )
    watch = host.watch("hwmon")
    other = host.watch("never")
    assert not watch.changed()
    host.sleep(1)
    assert watch.changed()
    assert not watch.changed()
    host.sleep(1)
    assert watch.changed()
    assert host.read_text("/sys/class/hwmon/hwmon11/name") == "x\n"
    assert not other.changed()
    watch.close()


def test_changes_come_again_after_loop_s(make: Make) -> None:
    path = "sys/class/hwmon/hwmon3/temp1_input"
    changes = [{"after_s": second, "path": path, "text": str(second)} for second in (0, 1, 2)]
    host = make(changes=changes, meta={"loop_s": 4})
    value = host.open_value(f"/{path}")
    seen = []
    for _ in range(9):
        seen.append(int(value.read()))
        host.sleep(1)
    assert seen == [0, 1, 2, 2, 0, 1, 2, 2, 0]
    host.sleep(4 * 10_000_000 + 1 - host.monotonic() % 4)
    assert int(value.read()) == 1
    host.sleep(1)
    assert int(value.read()) == 2


def test_changes_beyond_the_loop_are_told(make: Make) -> None:
    host = make(changes=[{"after_s": 5, "path": "sys/x", "text": "1"}], meta={"loop_s": 4})
    assert "never happen" in host.problems[0].reason
    host.sleep(100)
    assert not host.exists("/sys/x")


def test_slow_reads_move_the_virtual_clock_and_nothing_waits(make: Make) -> None:
    host = make()
    before = time.monotonic()
    assert host.read_text("/sys/class/hwmon/hwmon9/temp3_input") == "44000\n"
    host.sleep(1000)
    assert time.monotonic() - before < 1
    assert host.monotonic() == 1001.5
    assert host.time() == 2001.5


def test_the_real_clock_runs_and_waits(make: Make) -> None:
    host = make(tree="sys/a = !SLOW 0.05 1\n", clock="real", changes=[{"after_s": 0.5, "path": "sys/a", "text": "2"}])
    before = time.monotonic()
    assert host.read_text("/sys/a") == "1\n"
    host.sleep(0.5)
    assert time.monotonic() - before >= 0.55
    assert host.read_text("/sys/a") == "2\n"
    assert 0.55 <= host.monotonic() < 30
    assert 1000.55 <= host.time() < 1030


def test_what_was_opened_and_read_is_counted(make: Make) -> None:
    host = make()
    path = "/sys/class/hwmon/hwmon3/temp1_input"
    value = host.open_value(path)
    value.read()
    value.read()
    host.read_text(path)
    assert host.opened == {path: 2}
    assert host.reads == {path: 2}
    assert host.opened["/never"] == 0


def test_commands(make: Make) -> None:
    answers = [
        {"argv": ["lsblk", "--json"], "stdout": "one", "seconds": 0.5},
        {"argv": ["lsblk", "--json"], "stdout": "two\n", "stderr": "err", "returncode": 3},
        {"argv": ["/opt/tool"], "timed_out": True},
    ]
    host = make(
        meta={"commands_not_found": ["zpool"]}, commands_jsonl="".join(f"{json.dumps(answer)}\n" for answer in answers)
    )
    assert host.run(["lsblk", "--json"]).stdout == "one"
    assert host.monotonic() == 0.5
    again = host.run(("lsblk", "--json"))
    assert (again.stdout, again.stderr, again.returncode, again.argv) == ("two\n", "err", 3, ("lsblk", "--json"))
    assert host.run(["lsblk", "--json"]).stdout == "two\n"
    assert list(host.stream(["lsblk", "--json"])) == ["two", "err"]
    assert host.run(["/opt/tool"]).timed_out
    with pytest.raises(NotInstalled, match="zpool is not installed"):
        host.run(["zpool", "status"])
    with pytest.raises(CommandNotCaptured, match="zfs list"):
        host.run(["zfs", "list"])
    with pytest.raises(CommandNotCaptured):
        host.stream(["lsblk"])
    assert host.which("lsblk") == "/usr/bin/lsblk"
    assert host.which("tool") == "/opt/tool"
    assert host.which("zpool") is None
    assert host.which("/usr/sbin/zpool") is None
    assert host.which("other") is None


def test_a_program_among_the_files_is_found(make: Make) -> None:
    host = make(tree="usr/sbin/smartctl = !UNREAD\n")
    assert host.which("smartctl") == "/usr/sbin/smartctl"
    assert host.which("/usr/sbin/smartctl") == "/usr/sbin/smartctl"


def test_a_captured_machine_cannot_be_changed(make: Make) -> None:
    host = make()
    with pytest.raises(ReadOnlyHost, match="temp1_input was not written"):
        host.write("/sys/class/hwmon/hwmon3/temp1_input", "1")
    with pytest.raises(ReadOnlyHost, match="make -j8"):
        host.spawn(["make", "-j8"])


def test_who_when_and_where(make: Make) -> None:
    host = make(
        meta={"uid": 0, "environ": {"LANG": "C"}, "taken_at": "2026-01-31T12:00:00Z", "os_release": {"ID": "debian"}}
    )
    assert host.euid() == 0
    assert host.environ == {"LANG": "C"}
    assert host.time() == 1769860800.0
    assert host.read_text("/proc/sys/kernel/osrelease") == "6.8.0\n"
    assert host.read_text("/etc/os-release") == 'ID="debian"\n'
    assert (host.kind, host.label) == ("replay", "test_who_when_and_where0")
    assert make().euid() == 1000


def test_the_capture_s_own_files_win_over_meta_json(make: Make) -> None:
    host = make(
        tree="proc/sys/kernel/osrelease = !EACCES\netc/os-release = ID=arch\n", meta={"os_release": {"ID": "x"}}
    )
    assert number_of(lambda: host.read_text("/proc/sys/kernel/osrelease")) == errno.EACCES
    assert host.read_text("/etc/os-release") == "ID=arch\n"


def test_root_and_tsv_files(make: Make, tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "proc").mkdir(parents=True)
    (root / "proc/cpuinfo").write_bytes(b"processor: 0\n\xff")
    (root / "sys/empty").mkdir(parents=True)
    (root / "sys/link").symlink_to("../proc/cpuinfo")
    (root / "sys/absolute").symlink_to("/proc/cpuinfo")
    host = make(
        unreadable_tsv="# path, errno\nsys/class/hwmon/hwmon3/temp1_input\tENODATA\nsys/locked\tEACCES\n",
        slow_tsv="proc/cpuinfo\t2.5\n",
    )
    assert host.problems == ()
    assert host.read_bytes("/sys/absolute") == b"processor: 0\n\xff"
    assert host.monotonic() == 2.5
    assert host.read_text("/sys/link") == "processor: 0\n\ufffd"
    assert host.listdir("/sys/empty") == []
    assert number_of(lambda: host.read_text("/sys/class/hwmon/hwmon3/temp1_input")) == errno.ENODATA
    assert number_of(lambda: host.listdir("/sys/locked")) == errno.EACCES


def test_a_file_below_root_wins_and_what_does_not_fit_is_told(make: Make, tmp_path: Path) -> None:
    (tmp_path / "root/sys").mkdir(parents=True)
    (tmp_path / "root/sys/both").write_text("from root\n")
    (tmp_path / "root/sys/folder").write_text("a file here, a folder there\n")
    os.mkfifo(tmp_path / "root/sys/pipe")
    host = make(tree="sys/both = !EIO\nsys/folder/x = 1\n")
    assert host.read_text("/sys/both") == "from root\n"
    assert host.read_text("/sys/folder/x") == "1\n"
    assert not host.exists("/sys/pipe")
    reasons = sorted(problem.reason for problem in host.problems)
    assert reasons == ["/sys/folder: Is a directory", "/sys/pipe: neither a file, a folder nor a link"]


def test_a_file_below_root_that_cannot_be_read_fails_when_it_is_read(make: Make, tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/x").write_text("1")
    host = make()
    (tmp_path / "root/x").unlink()
    assert number_of(lambda: host.read_text("/x")) == errno.ENOENT


def test_links_never_lead_out_of_the_capture(make: Make, tmp_path: Path) -> None:
    (tmp_path / "root/sys").mkdir(parents=True)
    (tmp_path / "root/sys/out").symlink_to("../../../../../../../etc/passwd")
    (tmp_path / "root/sys/folder").symlink_to("/etc")
    host = make(tree="sys/up -> ../../../../../etc/passwd\n")
    for path in ("/sys/out", "/sys/folder/passwd", "/sys/up", "/../../etc/passwd"):
        with pytest.raises(NotCaptured):
            host.read_text(path)


def test_bad_lines_are_told_and_the_rest_goes_on(make: Make) -> None:
    host = make(
        tree="good = 1\nbad\ngood/below = 2\nloop -> loop\nloop/x = 1\n",
        unreadable_tsv="good\tENONSENSE\nno tab\n../x\tEIO\ngood/below\tEIO\n",
        slow_tsv="absent\t1\ngood\tslow\ngood\tinf\n",
        commands_jsonl='{"argv": ["ok"]}\n{"argv": "no"}\n{broken\n[1]\n{"argv": ["x"], "returncode": "1"}\n'
        '{"argv": ["x"], "seconds": true}\n{"argv": []}\n\n{"argv": ["x"], "returncode": ' + "1" * 5000 + "}\n",
        changes_jsonl='{"after_s": 1, "path": "good", "text": "2"}\n{"path": "good", "text": "2"}\n'
        '{"after_s": -1, "path": "good", "text": "2"}\n{"after_s": 1, "path": "..", "text": "2"}\n'
        '{"after_s": 1, "path": "good"}\n{"after_s": 1, "path": "good", "text": "1", "absent": true}\n'
        '{"after_s": 1, "path": "good", "errno": "EWHAT"}\n{"after_s": 1, "path": "good", "text": 5}\n'
        '{"after_s": 1, "path": "good", "absent": false}\n{"after_s": 1, "path": "g", "link": ""}\n'
        '{"after_s": 1e999, "path": "good", "text": "2"}\n',
    )
    places = sorted(problem.source.rpartition("/")[2] for problem in host.problems)
    assert places == sorted(
        ["tree.txt:2", "tree.txt:3", "tree.txt:5"]
        + [f"unreadable.tsv:{line}" for line in (1, 2, 3, 4)]
        + [f"slow.tsv:{line}" for line in (1, 2, 3)]
        + [f"commands.jsonl:{line}" for line in (2, 3, 4, 5, 6, 7, 9)]
        + [f"changes.jsonl:{line}" for line in range(2, 12)]
    )
    for problem in host.problems:
        assert problem.hint
        assert "\n" not in problem.reason
    assert host.read_text("/good") == "1\n"
    host.sleep(1)
    assert host.read_text("/good") == "2\n"
    assert host.run(["ok"]).returncode == 0


def test_a_change_that_cannot_be_made_is_told_once(make: Make) -> None:
    host = make(tree="sys/a/b = 1\n", changes=[{"after_s": 0.5, "path": "sys/a", "text": "1"}], meta={"loop_s": 1})
    host.sleep(5)
    assert host.read_text("/sys/a/b") == "1\n"
    assert [problem.source for problem in host.problems] == ["changes.jsonl"]


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("", "meta.json:1: Expecting value"),
        ('{"schema": 1,\n "x": }', "meta.json:2: Expecting value"),
        ("[]", "not a JSON object"),
        ("{}", 'has no "schema" number'),
        ('{"schema": true}', 'has no "schema" number'),
        ('{"schema": "1"}', 'has no "schema" number'),
        ('{"schema": 2}', "has schema 2; this version reads schema 1"),
        ('{"schema": 0}', "has schema 0"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema": ' + "1" * 5000 + "}", "too many digits"),
    ],
)
def test_a_capture_without_a_good_meta_json_is_refused(tmp_path: Path, meta: str, said: str) -> None:
    (tmp_path / "meta.json").write_text(meta)
    with pytest.raises(CaptureError) as caught:
        ReplayHost(str(tmp_path))
    assert said in caught.value.message
    assert str(tmp_path) in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_status == 2


def test_meta_json_that_is_not_utf_8_or_not_readable_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_bytes(b'{"schema": 1,\n"kernel": "\xff"}')
    with pytest.raises(CaptureError, match=r"meta\.json:2: not UTF-8"):
        ReplayHost(str(tmp_path))
    (tmp_path / "meta.json").unlink()
    (tmp_path / "meta.json").mkdir()
    with pytest.raises(CaptureError, match="cannot be read: Is a directory"):
        ReplayHost(str(tmp_path))


def test_a_key_of_meta_json_that_is_wrong_is_left_out(make: Make) -> None:
    wrong = {"uid": "root", "taken_at": "yesterday", "kernel": 6, "os_release": [], "environ": {"A": 1}, "loop_s": 0,
             "commands_not_found": "zpool", "other": [1]}  # fmt: skip
    host = make(meta=wrong)
    assert len(host.problems) == 7
    assert (host.euid(), host.time(), host.environ) == (1000, 0.0, {})
    assert host.meta.raw["other"] == [1]


@pytest.mark.parametrize(
    ("name", "said"),
    [("absent", "there is no such capture"), ("file.txt", "is no capture"), ("empty", "has no meta.json")],
)
def test_what_is_no_capture_is_said_to_be_none(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file.txt").write_text("hello")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CaptureError, match=said):
        ReplayHost(str(tmp_path / name))


def test_names_with_escape_codes_move_no_cursor(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31m\nb"
    with pytest.raises(CaptureError) as caught:
        ReplayHost(str(folder))
    assert caught.value.message.isprintable()
    folder.mkdir()
    with pytest.raises(CaptureError) as caught:
        ReplayHost(str(folder))
    assert caught.value.message.isprintable()
    (folder / "meta.json").write_text('{"schema": 1, "uid": "x"}')
    (folder / "tree.txt").write_text("a\\x1b[31m/b = 1\na\\x1b[31m = 2\n")
    (folder / "root").mkdir()
    (folder / "root/a\x1b[31m").write_text("x")
    host = ReplayHost(str(folder))
    assert len(host.problems) == 3
    assert all(f"{problem.source}{problem.reason}{problem.hint}".isprintable() for problem in host.problems)


def test_meta_json_itself_stands_for_its_folder(make: Make, tmp_path: Path) -> None:
    make()
    assert ReplayHost(str(tmp_path / "meta.json")).exists("/sys/class/hwmon")


JUNK = st.one_of(
    st.binary(max_size=80),
    st.text(alphabet='sysa/= ->!EIO\n\t{}[]"0', max_size=80).map(str.encode),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["schema", "argv", "path", "after_s", "text", "errno", "absent", "loop_s", "link"]),
                inner,
            )
        ),
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(
        st.sampled_from(["tree.txt", "unreadable.tsv", "slow.tsv", "commands.jsonl", "changes.jsonl"]), JUNK
    ),
    meta=st.just(b'{"schema": 1}') | JUNK,
)
def test_junk_in_any_file_gives_a_host_or_a_capture_error(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], meta: bytes
) -> None:
    folder = tmp_path_factory.mktemp("junk")
    for name, data in [*files.items(), ("meta.json", meta)]:
        (folder / name).write_bytes(data)
    host, said = None, ""
    try:
        host = ReplayHost(str(folder))
    except CaptureError as error:
        said = error.message
    assert "\n" not in said
    if host is None:
        return
    for _ in range(3):
        for path in ["/", "/sys", "/s", "/a", *(host.glob("/*"))]:
            for call in (host.read_text, host.listdir, host.readlink, host.open_value):
                with contextlib.suppress(OSError):
                    call(path)
            assert host.exists(path) in (True, False)
            assert host.realpath(path).startswith("/")
        host.sleep(1)
    for problem in host.problems:
        assert "\n" not in problem.source.removeprefix(str(folder)) + problem.reason + problem.hint


def test_the_demo_loads_quickly_and_without_heavy_modules(capture_path: Callable[[str], str]) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from toolkit.host.replay import ReplayHost; ReplayHost(sys.argv[1]).listdir('/sys');"
        "heavy = {'tarfile', 'gzip', 'subprocess', 'psutil', 'pyudev', 'asyncio', 'logging', 'tempfile'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, capture_path("framework13")],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(Path(toolkit.__file__).parents[1])},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
