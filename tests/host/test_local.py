from __future__ import annotations

import errno
import os
import resource
import stat
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolkit.errors import UsageError
from toolkit.host.base import Host, ReadOnlyHost
from toolkit.host.local import LocalHost


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine whose root is mounted somewhere, with links that try to lead out of it."""
    root = tmp_path / "mnt"
    (root / "sys/devices/h0").mkdir(parents=True)
    (root / "sys/devices/h0/temp1_input").write_text("51000\n")
    (root / "sys/class").mkdir()
    (root / "sys/class/h0").symlink_to("../devices/h0")
    (root / "etc").mkdir()
    (root / "etc/hostname").write_text("inside\n")
    (root / "abs").symlink_to("/etc")
    (root / "up").symlink_to("../../../../../../etc/hostname")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("/nowhere")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("outside\n")
    (tmp_path / "secret").write_text("outside\n")
    (root / "leak").symlink_to("../secret")
    return root


def test_it_is_a_host() -> None:
    host: Host = LocalHost()
    assert host.euid() == os.geteuid()
    assert abs(host.time() - time.time()) < 5
    assert host.environ is os.environ
    assert LocalHost(environ={"A": "b"}).environ == {"A": "b"}
    before = host.monotonic()
    host.sleep(0.01)
    host.sleep(-1)
    assert host.monotonic() >= before + 0.01


def test_files_of_this_machine(tmp_path: Path) -> None:
    host = LocalHost()
    path = tmp_path / "x"
    path.write_bytes(b"caf\xc3\xa9 \xff\n")
    assert host.read_bytes(str(path)) == b"caf\xc3\xa9 \xff\n"
    assert host.read_text(str(path)) == "café \ufffd\n"
    assert host.read_bytes(str(path), 3) == b"caf"
    assert host.listdir(str(tmp_path)) == ["x"]
    assert host.glob(f"{tmp_path}/*") == [str(path)]
    assert host.exists(str(path))
    assert not host.is_dir(str(path))
    assert not host.exists("/x\0y")
    assert not host.is_dir("/x\0y")
    assert host.realpath("/x\0y") == "/x\0y"
    with pytest.raises(FileNotFoundError):
        host.read_text(str(tmp_path / "absent"))
    with pytest.raises(IsADirectoryError):
        host.read_text(str(tmp_path))


def test_a_file_is_read_to_its_end_and_no_more_than_the_limit(tmp_path: Path) -> None:
    host = LocalHost()
    data = os.urandom(300_000)
    (tmp_path / "big").write_bytes(data)
    assert host.read_bytes(str(tmp_path / "big")) == data
    assert host.read_bytes(str(tmp_path / "big"), 200_000) == data[:200_000]
    assert len(host.read_bytes("/dev/zero")) == 1 << 20


def test_a_pipe_in_the_way_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = threading.Event()

    def read() -> None:
        LocalHost().read_bytes(str(tmp_path / "pipe"))
        done.set()

    threading.Thread(target=read, daemon=True).start()
    assert done.wait(5)


def test_a_value_is_read_anew_each_time_with_one_call(tmp_path: Path) -> None:
    path = tmp_path / "temp1_input"
    path.write_text("51000\n")
    value = LocalHost().open_value(str(path))
    read = value.read
    assert read() == b"51000\n"
    path.write_text("52000\n")
    assert read() == b"52000\n"
    assert read.func is os.pread  # type: ignore[attr-defined]
    path.write_text("x" * 100)
    assert len(read()) == 64
    value.close()
    value.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        value.read()


def test_a_value_that_is_dropped_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_text("1")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        LocalHost().open_value(str(path))
    assert len(os.listdir("/proc/self/fd")) <= before + 1


@pytest.fixture
def few_files() -> Iterator[int]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (now + 10, hard))
    yield now + 10
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_values_than_the_soft_limit_can_be_open(tmp_path: Path, few_files: int) -> None:
    path = tmp_path / "v"
    path.write_text("1")
    host = LocalHost()
    values = [host.open_value(str(path)) for _ in range(50)]
    assert all(value.read() == b"1" for value in values)
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > few_files
    for value in values:
        value.close()


def test_a_mounted_root_is_the_whole_world(machine: Path) -> None:
    host = LocalHost(str(machine))
    assert host.read_text("/sys/class/h0/temp1_input") == "51000\n"
    assert host.open_value("/sys/class/h0/temp1_input").read() == b"51000\n"
    assert host.glob("/sys/class/*/temp*_input") == ["/sys/class/h0/temp1_input"]
    assert host.realpath("/sys/class/h0/temp1_input") == "/sys/devices/h0/temp1_input"
    assert host.readlink("/sys/class/h0") == "../devices/h0"
    assert host.listdir("/abs") == ["hostname"]
    assert host.is_dir("/abs")
    assert host.read_text("/abs/hostname") == "inside\n"
    assert host.read_text("/up") == "inside\n"
    assert host.read_text("/../../etc/hostname") == "inside\n"
    assert host.realpath("/dangling/x") == "/nowhere/x"
    assert host.realpath("/loop") == "/loop"
    assert not host.exists("/leak")
    assert not host.exists("/loop")
    assert not host.exists("/dangling")
    assert str(machine) not in host.realpath("/abs/hostname")
    for path in ("/leak", "/dangling", "/absent"):
        with pytest.raises(FileNotFoundError):
            host.read_text(path)
    with pytest.raises(OSError, match="symbolic links"):
        host.read_text("/loop")


def test_writing_in_a_mounted_root_stays_in_it(machine: Path, tmp_path: Path) -> None:
    host = LocalHost(str(machine))
    host.write("/abs/new", "text\n")
    host.write("/up", "changed\n")
    assert (machine / "etc/new").read_text() == "text\n"
    assert (machine / "etc/hostname").read_text() == "changed\n"
    assert (tmp_path / "etc/hostname").read_text() == "outside\n"
    assert os.listdir(tmp_path / "etc") == ["hostname"]


def test_a_mounted_root_runs_nothing_and_says_how_to(machine: Path) -> None:
    host = LocalHost(str(machine))
    for call in (host.run, host.stream, host.spawn):
        with pytest.raises(ReadOnlyHost, match="mounted at") as caught:
            call(["ls"])
        assert f"chroot {machine}" in caught.value.hint


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is no folder"):
        LocalHost(str(tmp_path / "file"))


def test_programs_are_found_in_path_then_in_sbin_and_never_in_a_relative_folder(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tool"
    program.write_text("#!/bin/sh\n")
    monkeypatch.chdir(tmp_path)
    host = LocalHost(environ={"PATH": f":.:relative:{tmp_path}"})
    assert host.which("tool") is None, "not executable"
    program.chmod(0o755)
    assert host.which("tool") == str(program)
    assert LocalHost(environ={"PATH": ".:"}).which("tool") is None
    assert LocalHost(environ={}).which("sh") in ("/usr/bin/sh", "/bin/sh")
    assert host.which(str(program)) == str(program)
    assert host.which("") is None
    assert host.which("x\0y") is None
    assert host.which(str(tmp_path)) is None
    (machine / "usr/sbin").mkdir(parents=True)
    (machine / "usr/sbin/zpool").write_text("")
    (machine / "usr/sbin/zpool").chmod(0o755)
    rooted = LocalHost(str(machine), environ={"PATH": str(tmp_path)})
    assert rooted.which("zpool") == "/usr/sbin/zpool"
    assert rooted.which("tool") is None


def test_a_file_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    host = LocalHost()
    path = tmp_path / "config"
    host.write(str(path), "one\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    path.chmod(0o600)
    inode = path.stat().st_ino
    host.write(str(path), "zwei ü\n")
    assert path.read_text(encoding="utf-8") == "zwei ü\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_ino != inode
    assert os.listdir(tmp_path) == ["config"]


def test_a_write_goes_through_a_link_and_leaves_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    LocalHost().write(str(tmp_path / "link"), "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config"
    path.write_text("old")

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        LocalHost().write(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["config"]


def test_a_write_into_an_absent_folder_fails(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LocalHost().write(str(tmp_path / "absent/x"), "1")


def test_an_attribute_is_never_created() -> None:
    for path in ("/sys/class/absent_attribute", "/proc/absent_attribute", "/dev/absent_attribute"):
        with pytest.raises(OSError):  # noqa: PT011 - ENOENT, or EACCES for a plain user
            LocalHost().write(path, "1")
        assert not os.path.exists(path)


def test_an_attribute_is_written_in_one_call() -> None:
    LocalHost().write("/dev/null", "1\n" * 1000)


def test_a_watch_sees_what_comes_and_goes(tmp_path: Path) -> None:
    folder = tmp_path / "sys/class/hwmon"
    folder.mkdir(parents=True)
    host = LocalHost(str(tmp_path))
    watch = host.watch("hwmon")
    assert not watch.changed()
    (folder / "hwmon0").mkdir()
    assert watch.changed()
    assert not watch.changed()
    (folder / "hwmon0").rmdir()
    assert watch.changed()
    watch.close()
    watch.close()
    assert not host.watch("never").changed()


def test_a_watch_of_this_machine_loads_pyudev_only_when_it_is_asked(tmp_path: Path) -> None:
    import subprocess

    code = (
        "import sys; from toolkit.host.local import LocalHost; w = LocalHost().watch('hwmon');"
        "assert 'pyudev' not in sys.modules; w.changed(); print(w.changed(), 'pyudev' in sys.modules); w.close()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])})  # fmt: skip
    assert done.stdout.split() == ["False", "True"]


def test_a_read_that_outlives_its_value_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "status").write_text("unsupported\n")
    (tmp_path / "temp").write_text("45125\n")
    host = LocalHost()
    before = len(os.listdir("/proc/self/fd"))
    read = host.open_value(str(tmp_path / "status")).read
    other = host.open_value(str(tmp_path / "temp"))
    assert (read(), other.read()) == (b"unsupported\n", b"45125\n")
    del read
    other.close()
    other.close()
    assert len(os.listdir("/proc/self/fd")) == before
