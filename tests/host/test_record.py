from __future__ import annotations

import errno
import json
import os
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.captures import machines
from toolkit.errors import NotCaptured, UsageError
from toolkit.host.base import NotInstalled
from toolkit.host.local import LocalHost
from toolkit.host.record import RecordingHost
from toolkit.host.redact import Redactor
from toolkit.host.replay import ReplayHost
from toolkit.host.writer import identities
from toolkit.sensors.model import Snapshot
from toolkit.sensors.monitor import ThermalMonitor

META = '{"schema": 1, "taken_at": 1000.0, "uid": 1000}'


def capture(folder: Path, tree: str = "", **files: str) -> ReplayHost:
    folder.mkdir(exist_ok=True)
    (folder / "meta.json").write_text(META)
    (folder / "tree.txt").write_text(tree)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return ReplayHost(str(folder))


def number_of(call: Callable[[], object]) -> int:
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is returned
        call()
    return caught.value.errno or 0


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A small machine below a folder of this one."""
    root = tmp_path / "mnt"
    device = root / "sys/devices/platform/coretemp.0/hwmon/hwmon3"
    device.mkdir(parents=True)
    (device / "name").write_text("coretemp\n")
    (device / "temp1_input").write_text("54000\n")
    (device / "temp1_label").write_text("\n")
    (device / "unused").write_text("never read\n")
    (device / "device").symlink_to("../..")
    (root / "sys/class/hwmon").mkdir(parents=True)
    (root / "sys/class/hwmon/hwmon3").symlink_to("../../devices/platform/coretemp.0/hwmon/hwmon3")
    (root / "sys/class/thermal").mkdir()
    (root / "proc/sys/kernel").mkdir(parents=True)
    (root / "proc/sys/kernel/osrelease").write_text("6.8.0\n")
    (root / "proc/cpuinfo").write_text("processor: 0\nmodel: x\n")
    (root / "etc").mkdir()
    (root / "etc/os-release").write_text('NAME="Debian"\nID=debian\n')
    (root / "etc/binary").write_bytes(b"\0\xff\n")
    return root


@pytest.mark.parametrize("name", ["new", "new.tar.gz", "new.tgz"])
def test_what_was_read_is_read_again_from_the_capture(machine: Path, tmp_path: Path, name: str) -> None:
    host = RecordingHost(LocalHost(str(machine)))
    assert (host.kind, host.label) == ("recording", str(machine))
    base = "/sys/class/hwmon/hwmon3"
    assert host.read_text(f"{base}/name") == "coretemp\n"
    assert host.open_value(f"{base}/temp1_input").read() == b"54000\n"
    assert host.read_text(f"{base}/temp1_label") == "\n"
    assert host.read_bytes("/proc/cpuinfo", 9) == b"processor"
    assert host.read_text("/proc/cpuinfo") == "processor: 0\nmodel: x\n"
    assert host.read_bytes("/etc/binary") == b"\0\xff\n"
    names = host.listdir(base)
    assert host.glob("/sys/class/hwmon/hwmon*") == [base]
    assert host.listdir("/sys/class/thermal") == []
    assert number_of(lambda: host.read_text("/sys/class/powercap/x")) == errno.ENOENT
    assert not host.exists("/sys/class/drm")
    assert host.is_dir("/sys/devices")
    assert host.realpath(base) == "/sys/devices/platform/coretemp.0/hwmon/hwmon3"

    saved = host.save(str(tmp_path / name))
    replay = ReplayHost(str(tmp_path / name))
    assert replay.problems == ()
    assert replay.read_text(f"{base}/name") == "coretemp\n"
    assert replay.read_text(f"{base}/temp1_input") == "54000\n"
    assert replay.read_text(f"{base}/temp1_label") == "\n"
    assert replay.read_text("/proc/cpuinfo") == "processor: 0\nmodel: x\n"
    assert replay.read_bytes("/etc/binary") == b"\0\xff\n"
    assert replay.listdir(base) == names
    assert replay.readlink(f"{base}/device") == "../.."
    assert replay.listdir("/sys/class/hwmon") == ["hwmon3"]
    assert replay.listdir("/sys/class/thermal") == []
    assert replay.is_dir("/sys/devices")
    for path in ("/sys/class/powercap", "/sys/class/powercap/x", "/sys/class/drm/card0"):
        with pytest.raises(FileNotFoundError) as caught:
            replay.read_text(path)
        assert not isinstance(caught.value, NotCaptured), path
    for path in (f"{base}/unused", "/sys/class/net/x"):
        with pytest.raises(NotCaptured):
            replay.read_text(path)
    assert replay.exists(f"{base}/unused")
    assert replay.meta.kernel == "6.8.0"
    assert replay.meta.os_release == {"NAME": "Debian", "ID": "debian"}
    assert replay.euid() == os.geteuid()
    assert abs(replay.time() - host.started_at) < 1
    assert saved.files == 6
    assert saved.path == str(tmp_path / name)


def test_failures_slow_reads_and_movement_are_kept(tmp_path: Path) -> None:
    source = capture(
        tmp_path / "a",
        "sys/h/t1 = 1\nsys/h/t2 = !EIO\nsys/h/t3 = !SLOW 0.7 3\nsys/h/t4 = !EACCES\nsys/locked/x = 1\n"
        "sys/multi = a\\nb\nsys/class/hwmon/hwmon1 -> ../../h\nsys/h/alarm = 0\n",
        unreadable_tsv="sys/locked\tEACCES\n",
        changes_jsonl='{"after_s": 1, "path": "sys/h/t1", "text": "2"}\n'
        '{"after_s": 1, "path": "sys/h/t2", "text": "22"}\n'
        '{"after_s": 2, "path": "sys/h/t1", "errno": "ENODATA"}\n{"after_s": 3, "path": "sys/h/t1", "absent": true}\n'
        '{"after_s": 4, "path": "sys/h/t1", "text": "5"}\n{"after_s": 4, "path": "sys/multi", "text": "c\\nd\\n"}\n'
        '{"after_s": 2, "path": "sys/class/hwmon/hwmon1", "absent": true}\n'
        '{"after_s": 3, "path": "sys/class/hwmon/hwmon2", "link": "../../h"}\n',
    )

    def look(host: ReplayHost | RecordingHost) -> list[object]:
        seen: list[object] = []
        watch = host.watch("hwmon")
        for _ in range(6):
            for path in ("/sys/h/t1", "/sys/h/t2", "/sys/h/t4", "/sys/multi", "/sys/h/alarm"):
                try:
                    seen.append(host.read_text(path))
                except OSError as error:
                    seen.append(error.errno)
            seen.append(host.listdir("/sys/class/hwmon"))
            seen.append(watch.changed())
            host.sleep(1)
        seen.append(host.read_text("/sys/h/t3"))
        seen.append(host.monotonic())
        return seen

    recorder = RecordingHost(source)
    first = look(recorder)
    assert number_of(lambda: recorder.listdir("/sys/locked")) == errno.EACCES
    saved = recorder.save(str(tmp_path / "b"))
    replay = ReplayHost(str(tmp_path / "b"))
    assert replay.problems == ()
    assert look(replay) == first
    assert number_of(lambda: replay.listdir("/sys/locked")) == errno.EACCES
    assert saved.unreadable == (("/sys/h/t2", "EIO"), ("/sys/h/t4", "EACCES"), ("/sys/locked", "EACCES"))
    assert saved.changes == 8
    assert (tmp_path / "b/slow.tsv").read_text() == "sys/h/t3\t0.7\n"


def test_a_value_whose_device_goes_is_gone_in_the_capture_too(tmp_path: Path) -> None:
    source = capture(
        tmp_path / "a",
        "sys/class/hwmon/hwmon1/t1 = 1\nsys/class/hwmon/hwmon1/t2 = 1\n",
        changes_jsonl='{"after_s": 1, "path": "sys/class/hwmon/hwmon1", "absent": true}\n'
        '{"after_s": 2, "path": "sys/class/hwmon/hwmon1/t1", "text": "1"}\n',
    )
    recorder = RecordingHost(source)
    value = recorder.open_value("/sys/class/hwmon/hwmon1/t1")
    recorder.read_text("/sys/class/hwmon/hwmon1/t2")
    recorder.listdir("/sys/class/hwmon")
    value.read()
    recorder.sleep(1)
    assert number_of(value.read) == errno.ENODEV
    assert recorder.listdir("/sys/class/hwmon") == []
    recorder.sleep(1)
    assert recorder.listdir("/sys/class/hwmon") == ["hwmon1"]
    assert recorder.read_text("/sys/class/hwmon/hwmon1/t1") == "1\n"
    value.close()
    recorder.save(str(tmp_path / "b"))
    replay = ReplayHost(str(tmp_path / "b"))
    opened = replay.open_value("/sys/class/hwmon/hwmon1/t1")
    assert opened.read() == b"1\n"
    replay.sleep(1)
    assert number_of(opened.read) == errno.ENODEV
    assert replay.listdir("/sys/class/hwmon") == []
    replay.sleep(1)
    assert replay.read_text("/sys/class/hwmon/hwmon1/t1") == "1\n"


def test_commands_are_kept(tmp_path: Path) -> None:
    source = capture(
        tmp_path / "a",
        "usr/sbin/smartctl = !UNREAD\n",
        commands_jsonl='{"argv": ["lsblk"], "stdout": "a\\n"}\n{"argv": ["lsblk"], "stdout": "b\\n", "returncode": 2, '
        '"stderr": "e", "seconds": 0.25, "timed_out": true}\n{"argv": ["dd"], "stdout": "1\\n2\\n"}\n',
    )
    source.meta = source.meta.__class__(commands_not_found=frozenset({"zpool"}))
    recorder = RecordingHost(source)
    assert recorder.run(["lsblk"]).stdout == "a\n"
    assert recorder.run(["lsblk"]).timed_out
    assert list(recorder.stream(["dd"])) == ["1", "2"]
    assert recorder.which("smartctl") == "/usr/sbin/smartctl"
    assert recorder.which("absent") is None
    for call in (recorder.run, recorder.stream):
        with pytest.raises(NotInstalled):
            call(["zpool"])
    saved = recorder.save(str(tmp_path / "b"))
    assert saved.commands == 3
    replay = ReplayHost(str(tmp_path / "b"))
    assert [replay.run(["lsblk"]).stdout for _ in range(3)] == ["a\n", "b\n", "b\n"]
    again = replay.run(["lsblk"])
    assert (again.returncode, again.stderr, again.seconds, again.timed_out) == (2, "e", 0.25, True)
    assert list(replay.stream(["dd"])) == ["1", "2"]
    assert replay.which("smartctl") == "/usr/sbin/smartctl"
    assert replay.meta.commands_not_found == {"absent", "zpool"}


def test_what_the_source_did_not_capture_stays_not_captured(tmp_path: Path) -> None:
    recorder = RecordingHost(capture(tmp_path / "a", "sys/class/hwmon/hwmon0/name = x\n"))
    for call in (recorder.read_text, recorder.open_value, recorder.listdir, recorder.readlink):
        with pytest.raises(NotCaptured):
            call("/sys/class/powercap")
    assert not recorder.exists("/sys/class/powercap")
    assert not recorder.is_dir("/sys/class/powercap")
    recorder.save(str(tmp_path / "b"))
    with pytest.raises(NotCaptured):
        ReplayHost(str(tmp_path / "b")).read_text("/sys/class/powercap")


def comparable(snapshot: Snapshot) -> object:
    names = "headline readings clocks power throttling problems held_back monotonic_s"
    return [getattr(snapshot, name) for name in names.split()]


@pytest.mark.parametrize("path", machines(), ids=lambda path: path.name)
def test_a_capture_of_a_captured_machine_gives_equal_snapshots(path: Path, tmp_path: Path) -> None:
    def look(host: ReplayHost | RecordingHost) -> list[object]:
        monitor = ThermalMonitor(host)
        machine = monitor.machine
        looks = []
        for _ in range(3):
            looks.append(comparable(monitor.snapshot()))
            host.sleep(1)
        monitor.close()
        return [machine, *looks]

    recorder = RecordingHost(ReplayHost(str(path)))
    first = look(recorder)
    recorder.save(str(tmp_path / "again.tar.gz"))
    replay = ReplayHost(str(tmp_path / "again.tar.gz"))
    assert replay.problems == ()
    assert look(replay) == first


def everything_in(path: Path) -> bytes:
    """Return every byte of a capture and every name in it."""
    found = b""
    if path.is_dir():
        for folder, folders, files in os.walk(path):
            for name in folders + files:
                found += os.fsencode(name) + b"\n"
            for name in files:
                found += Path(folder, name).read_bytes() + b"\n"
        return found
    with tarfile.open(path) as archive:
        for member in archive:
            found += os.fsencode(member.name) + member.linkname.encode() + f"{member.pax_headers}".encode() + b"\n"
            file = archive.extractfile(member)
            found += file.read() if file else b""
    return found + path.read_bytes()


UPPER = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=8, max_size=16).filter(
    lambda t: any(c.isdigit() for c in t) and any(c.isalpha() for c in t)
)
HEX2 = st.integers(0, 255).map("{:02x}".format)
MACS = st.lists(HEX2, min_size=6, max_size=6).map(":".join).filter(lambda mac: len(set(mac.split(":"))) > 1)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz", min_size=5, max_size=10).map(lambda name: f"zq{name}")
IMEIS = st.integers(10**13, 10**14 - 1).map(lambda n: f"{n}{next(d for d in range(10) if luhn_ok(f'{n}{d}'))}")
UUIDS = st.uuids(version=4).map(str)
IPS = st.tuples(*[st.integers(1, 126)] * 4).map(lambda parts: ".".join(map(str, parts)))


def luhn_ok(digits: str) -> bool:
    from toolkit.host.identifiers import luhn

    return luhn(digits)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    serial=UPPER, other=UPPER, mac=MACS, user=NAMES, host_name=NAMES, imei=IMEIS, uuid=UUIDS, ip=IPS,
    archive=st.booleans(),
)  # fmt: skip
def test_no_planted_secret_is_in_any_byte_of_a_capture(
    tmp_path_factory: pytest.TempPathFactory, serial: str, other: str, mac: str, user: str, host_name: str, imei: str,
    uuid: str, ip: str, archive: bool,
) -> None:  # fmt: skip
    base = tmp_path_factory.mktemp("secrets")
    root = base / "m"
    files = {
        "sys/block/nvme0n1/device/serial": f"{serial}    \n",
        "sys/class/dmi/id/product_serial": f"{other}\n",
        "sys/class/net/wlan0/address": f"{mac}\n",
        "sys/class/hwmon/hwmon0/temp1_input": "41000\n",
        "etc/hostname": f"{host_name}\n",
        "etc/hosts": f"127.0.1.1 {host_name}.lan {host_name.upper()}\n{ip} printer\n",
        "etc/passwd": f"root:x:0:0:root:/root:/bin/sh\n"
        f"{user}:x:1000:1000:Zq {user.title()},,,:/home/{user}:/bin/bash\n",
        "etc/fstab": f"UUID={uuid} / ext4\nUUID={uuid.upper()} /home/{user} ext4\n# disk {serial}\n",
        "proc/cmdline": f"root=/dev/mapper/{host_name}--vg-root resume=UUID={uuid} wl={mac.upper()}\n",
        "etc/many": f"{mac.replace(':', '')} {mac.replace(':', '-')} {uuid.replace('-', '')} of {user}\n"
        f"{imei}; {ip}/24\n",
        "etc/binary": f"\0{serial}\0{other}",
        f"var/lib/{user}/{serial}.txt": "x\n",
        f"dev/disk/by-id/nvme-ACME_SSD_{serial}_1": "x\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "etc/utf16").write_bytes(b"\0\1" + serial.encode("utf-16-le"))
    (root / "sys/class/net" / f"wlx{mac.replace(':', '')}").symlink_to(f"../../devices/{serial}/net/{mac}")
    local = LocalHost(str(root), environ={"USER": user, "HOME": f"/home/{user}", "LANG": "C"})
    recorder = RecordingHost(local)
    for name in [*files, "etc/utf16"]:
        recorder.read_text(f"/{name}")
    for folder in ("/sys/class/net", "/dev/disk/by-id", "/var/lib", f"/var/lib/{user}", "/etc"):
        recorder.listdir(folder)
    recorder.exists(f"/home/{user}/.config")
    recorder.readlink(f"/sys/class/net/wlx{mac.replace(':', '')}")
    noted = recorder.notes.answers
    from toolkit.host.base import Result

    noted.append(
        Result(
            ("smartctl", "-i", f"/dev/disk/by-id/nvme-ACME_SSD_{serial}_1"),
            0,
            f"Serial Number: {serial}\n",
            f"{user}@{host_name}",
            0.1,
        )
    )
    noted.append(Result(("mmcli", "--imei"), 0, f"imei: {imei}\n", "", 0.1))
    noted.append(Result(("ip", "a"), 0, f"inet {ip}/8\nlink/ether {mac}\n", "", 0.1))
    noted.append(Result(("ls",), 0, json.dumps({"serial": other, "uuid": uuid, "mac": mac}), "", 0.1))

    path = base / ("out.tar.gz" if archive else "out")
    recorder.save(str(path))
    found = everything_in(path)
    found += found.replace(b"\0", b"")
    lower = found.lower()
    secrets = [serial, other, mac, user, host_name, imei, uuid, ip]
    secrets += [mac.replace(":", mark) for mark in ("-", "_", "")] + [uuid.replace("-", "")]
    for secret in secrets:
        assert secret.lower().encode() not in lower, secret
    replay = ReplayHost(str(path))
    assert replay.problems == ()
    assert replay.read_text("/sys/class/hwmon/hwmon0/temp1_input") == "41000\n"
    kept = replay.read_text("/sys/block/nvme0n1/device/serial").strip()
    assert replay.listdir("/dev/disk/by-id") == [f"nvme-ACME_SSD_{kept}_1"], "links still fit the serial number"


def test_who_and_what_names_a_machine(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/hostname").write_text("lap.example.org\n")
    (tmp_path / "etc/passwd").write_text(
        "root:x:0:0:r:/root:/bin/sh\nal:x:1000:1000:Al Example,,:/home/al:/bin/sh\nbad\nnobody:x:65534:1:n:/:/x\n"
    )
    found = set(identities(LocalHost(str(tmp_path), environ={"USER": "al", "SUDO_USER": "bo", "HOSTNAME": "lap"})))
    assert {
        ("host", "lap.example.org"),
        ("host", "lap"),
        ("user", "al"),
        ("user", "Al Example"),
        ("user", "bo"),
    } <= found
    assert not {name for _, name in found} & {"root", "nobody", "r", "n"}


def test_serial_numbers_can_be_kept(machine: Path, tmp_path: Path) -> None:
    (machine / "sys/serial").write_text("S4EMNX0N123456\n")
    recorder = RecordingHost(LocalHost(str(machine)), Redactor(keep=("serial",)))
    recorder.read_text("/sys/serial")
    recorder.save(str(tmp_path / "b"))
    assert ReplayHost(str(tmp_path / "b")).read_text("/sys/serial") == "S4EMNX0N123456\n"


def test_a_binary_table_is_there_without_its_content(machine: Path, tmp_path: Path) -> None:
    (machine / "sys/edid").write_bytes(b"\0\xff\xffSECRETSCREEN")
    recorder = RecordingHost(LocalHost(str(machine)))
    recorder.read_bytes("/sys/edid")
    recorder.save(str(tmp_path / "b"))
    assert b"SECRETSCREEN" not in everything_in(tmp_path / "b")
    with pytest.raises(NotCaptured):
        ReplayHost(str(tmp_path / "b")).read_bytes("/sys/edid")


def test_only_the_owner_may_read_a_capture(machine: Path, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        recorder = RecordingHost(LocalHost(str(machine)))
        recorder.read_text("/proc/cpuinfo")
        recorder.save(str(tmp_path / "b"))
        recorder.save(str(tmp_path / "b.tar.gz"))
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "b.tar.gz").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o700
    for folder, _, files in os.walk(tmp_path / "b"):
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600


@pytest.mark.parametrize("name", ["b", "b.tar.gz"])
def test_what_is_there_is_replaced_only_when_asked_and_only_whole(
    machine: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = RecordingHost(LocalHost(str(machine)))
    recorder.read_text("/proc/cpuinfo")
    path = str(tmp_path / name)
    recorder.save(path)
    before = everything_in(Path(path))
    with pytest.raises(UsageError, match="is there already") as caught:
        recorder.save(path)
    assert "--force" in caught.value.hint

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recorder.read_text("/etc/os-release")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(UsageError, match="No space left"):
            recorder.save(path, overwrite=True)
    assert everything_in(Path(path)) == before
    assert sorted(os.listdir(tmp_path)) == sorted(["mnt", name])
    recorder.save(path, overwrite=True)
    assert b"debian" in everything_in(Path(path))
    assert sorted(os.listdir(tmp_path)) == sorted(["mnt", name])


def test_a_folder_that_is_no_capture_is_never_replaced(machine: Path, tmp_path: Path) -> None:
    recorder = RecordingHost(LocalHost(str(machine)))
    (tmp_path / "home").mkdir()
    (tmp_path / "home/precious").write_text("x")
    with pytest.raises(UsageError, match="no capture, so it is not replaced"):
        recorder.save(str(tmp_path / "home"), overwrite=True)
    with pytest.raises(UsageError, match="there is no folder"):
        recorder.save(str(tmp_path / "absent/x"))
    assert (tmp_path / "home/precious").read_text() == "x"


def test_everything_else_is_passed_on(machine: Path, tmp_path: Path) -> None:
    local = LocalHost(environ={"PATH": "/usr/bin:/bin", "LANG": "C"})
    recorder = RecordingHost(local)
    recorder.write(str(tmp_path / "x"), "1")
    assert (tmp_path / "x").read_text() == "1"
    assert recorder.spawn(["true"]).wait(20) == 0
    assert recorder.environ == local.environ
    assert recorder.euid() == os.geteuid()
    assert recorder.run(["echo", "x"]).stdout == "x\n"
    recorder.watch("hwmon").close()
