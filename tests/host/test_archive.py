from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from toolkit.errors import CaptureError
from toolkit.host import archive as archive_module
from toolkit.host.replay import ReplayHost, capture_label

META = b'{"schema": 1}'


def pack(path: Path, *members: tuple[str, bytes | tarfile.TarInfo], mode: str = "w:gz") -> str:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members:
            if isinstance(content, tarfile.TarInfo):
                archive.addfile(content)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(path)


def special(name: str, kind: bytes, target: str = "") -> tuple[str, tarfile.TarInfo]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return name, info


@pytest.mark.parametrize("top", ["", "./", "capture/", "a/b/"])
@pytest.mark.parametrize("mode", ["w:gz", "w", "w:xz"])
def test_an_archive_is_read_wherever_in_it_the_capture_lies(tmp_path: Path, top: str, mode: str) -> None:
    path = pack(
        tmp_path / "laptop.tar.gz",
        (f"{top}tree.txt", b"sys/a = 1\n"),
        (f"{top}meta.json", META),
        (f"{top}root/proc/cpuinfo", b"one\ntwo\n"),
        special(f"{top}root/sys/link", tarfile.SYMTYPE, "../proc/cpuinfo"),
        special(f"{top}root/sys/folder", tarfile.DIRTYPE),
        special(f"{top}root/proc/again", tarfile.LNKTYPE, f"{top}root/proc/cpuinfo"),
        (f"{top}unreadable.tsv", b"sys/a\tEIO\n"),
        mode=mode,
    )
    host = ReplayHost(path)
    assert host.problems == ()
    assert host.read_text("/sys/link") == "one\ntwo\n"
    assert host.read_text("/proc/again") == "one\ntwo\n"
    assert host.listdir("/sys") == ["a", "folder", "link"]
    assert host.label == "laptop"
    with pytest.raises(OSError, match="Input/output"):
        host.read_text("/sys/a")


def test_a_meta_json_of_the_machine_is_not_the_capture_s(tmp_path: Path) -> None:
    path = pack(tmp_path / "c.tar.gz", ("c/root/meta.json", b"machine"), ("c/meta.json", META))
    assert ReplayHost(path).read_text("/meta.json") == "machine"


@pytest.mark.parametrize("name", ["../../etc/cron.d/x", "/etc/passwd", "root/../../x"])
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    path = pack(tmp_path / "evil.tar.gz", ("meta.json", META), (name, b"x"))
    with pytest.raises(CaptureError, match="leads outside"):
        ReplayHost(path)


def test_a_hard_link_that_leads_outside_is_refused(tmp_path: Path) -> None:
    path = pack(tmp_path / "evil.tar.gz", ("meta.json", META), special("root/x", tarfile.LNKTYPE, "../../etc/passwd"))
    with pytest.raises(CaptureError, match="leads outside"):
        ReplayHost(path)


def test_devices_and_pipes_are_left_out_and_told(tmp_path: Path) -> None:
    path = pack(tmp_path / "c.tar.gz", ("meta.json", META), special("root/dev/x", tarfile.FIFOTYPE))
    host = ReplayHost(path)
    assert [problem.reason for problem in host.problems] == ["neither a file, a folder nor a link"]
    assert not host.exists("/dev/x")


def test_a_file_where_a_folder_is_is_told(tmp_path: Path) -> None:
    path = pack(tmp_path / "c.tar.gz", ("meta.json", META), ("root/a/b", b"1"), ("root/a/b/c", b"2"))
    host = ReplayHost(path)
    assert len(host.problems) == 1
    assert host.read_text("/a/b") == "1"


def test_a_truncated_archive_at_any_length_is_said_to_be_damaged(tmp_path: Path) -> None:
    import random

    noise = random.Random(1).randbytes(3000)
    whole = Path(pack(tmp_path / "whole.tar.gz", ("meta.json", META), ("root/noise", noise))).read_bytes()
    for length in [10, 11, 60, 500, 1500, len(whole) - 40]:
        cut = tmp_path / "cut.tar.gz"
        cut.write_bytes(whole[:length])
        with pytest.raises(CaptureError) as caught:
            ReplayHost(str(cut))
        assert caught.value.message == f"{cut} is damaged or cut short", length
        assert caught.value.hint == "copy it again"


@pytest.mark.parametrize(
    "content", [b"", b"hello, I am a text", b"\x1f\x8b", b"\x1f\x8b\x08\x00garbage", b"PK\x03\x04zip"]
)
def test_what_is_no_archive_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        ReplayHost(str(path))
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_flipped_bit_never_gives_anything_but_a_capture_error(tmp_path: Path) -> None:
    whole = bytearray(
        Path(pack(tmp_path / "w.tar.gz", ("meta.json", META), ("tree.txt", b"a = 1\n" * 50))).read_bytes()
    )
    path = tmp_path / "flipped.tar.gz"
    lines: list[str] = []
    for position in range(0, len(whole), 3):
        broken = bytearray(whole)
        broken[position] ^= 0x10
        path.write_bytes(broken)
        try:
            ReplayHost(str(path))
        except CaptureError as error:
            lines.append(error.message)
    assert lines
    assert not any("\n" in line for line in lines)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "bomb.tar.gz", ("meta.json", META), ("root/a", b"\0" * 100_000))
    monkeypatch.setattr(archive_module, "SIZE_LIMIT", 50_000)
    with pytest.raises(CaptureError, match="more than a capture ever has"):
        ReplayHost(path)
    monkeypatch.setattr(archive_module, "SIZE_LIMIT", 500_000)
    monkeypatch.setattr(archive_module, "COUNT_LIMIT", 1)
    with pytest.raises(CaptureError, match="more than a capture ever has"):
        ReplayHost(path)


def test_an_archive_without_meta_json_is_no_capture(tmp_path: Path) -> None:
    path = pack(tmp_path / "x.tar.gz", ("tree.txt", b"a = 1\n"))
    with pytest.raises(CaptureError, match="it has no meta.json"):
        ReplayHost(path)


@pytest.mark.parametrize(
    ("path", "label"), [("/a/laptop.tar.gz", "laptop"), ("b/c/", "c"), ("x.tgz", "x"), ("x.tar", "x"), ("/", "/")]
)
def test_the_label_is_the_name(path: str, label: str) -> None:
    assert capture_label(path) == label
