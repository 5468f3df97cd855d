from __future__ import annotations

import errno
import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolkit.host.treetext import (
    BadLine,
    Entry,
    Kind,
    clean_path,
    escape,
    fits,
    format_entry,
    format_tree,
    parse_line,
    parse_tree,
    unescape,
)


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        ("a/b = coretemp", Entry("a/b", Kind.FILE, b"coretemp\n")),
        ("  a/b = coretemp", Entry("a/b", Kind.FILE, b"coretemp\n")),
        ("/a//./b = x", Entry("a/b", Kind.FILE, b"x\n")),
        ("a/b =", Entry("a/b", Kind.FILE, b"")),
        ("a/b = ", Entry("a/b", Kind.FILE, b"\n")),
        ("a/b = 1 = 2 -> 3", Entry("a/b", Kind.FILE, b"1 = 2 -> 3\n")),
        ("a/b =  two spaces ", Entry("a/b", Kind.FILE, b" two spaces \n")),
        (r"a/b = one\ntwo\tx\\y\xff", Entry("a/b", Kind.FILE, b"one\ntwo\tx\\y\xff\n")),
        ("a/b = 45 °C", Entry("a/b", Kind.FILE, "45 °C\n".encode())),
        (r"a/b = \x21EIO", Entry("a/b", Kind.FILE, b"!EIO\n")),
        ("a/b = !EIO", Entry("a/b", Kind.FILE, error=errno.EIO)),
        ("a/b = !ETIMEDOUT", Entry("a/b", Kind.FILE, error=errno.ETIMEDOUT)),
        ("a/b = !ABSENT", Entry("a/b", Kind.ABSENT)),
        ("a/b = !UNREAD", Entry("a/b", Kind.UNREAD)),
        ("a/b = !SLOW 1.5 44000", Entry("a/b", Kind.FILE, b"44000\n", slow_s=1.5)),
        ("a/b = !SLOW 2", Entry("a/b", Kind.FILE, b"", slow_s=2.0)),
        ("a/b = !SLOW 3 !EIO", Entry("a/b", Kind.FILE, error=errno.EIO, slow_s=3.0)),
        ("a/b/", Entry("a/b", Kind.FOLDER)),
        ("a -> ../b", Entry("a", Kind.LINK, target="../b")),
        ("a -> /sys/b = c", Entry("a", Kind.LINK, target="/sys/b = c")),
        (r"a\x20-> b = 1", Entry("a -> b", Kind.FILE, b"1\n")),
        (r"a\x3d/b = 1", Entry("a=/b", Kind.FILE, b"1\n")),
        ("", None),
        ("   ", None),
        ("# a = b", None),
        ("   # a = b", None),
    ],
)
def test_lines(line: str, entry: Entry | None) -> None:
    assert parse_line(line) == entry


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nothing", "neither a file"),
        ("a/b=1", "neither a file"),
        ("= 1", "neither a file"),
        ("/ = 1", "no path"),
        ("/", "no path"),
        ("../etc/passwd = x", ".. in it"),
        ("a/../../b -> c", ".. in it"),
        ("a = !NONSENSE", "no errno name"),
        ("a = !errorcode", "no errno name"),
        ("a = !", "no errno name"),
        ("a = !SLOW x 1", "without a number"),
        ("a = !SLOW nan 1", "without a number"),
        ("a = !SLOW -1 1", "without a number"),
        ("a = !SLOWLY", "without a number"),
        ("a = !SLOW 1 !ABSENT", "no errno name"),
        (r"a = \q", "begins no escape"),
        ("a = end\\", "begins no escape"),
        (r"a = \x4", "begins no escape"),
        ("a -> ", "without a target"),
        (r"a\x00b = 1", "NUL"),
        (r"a -> b\x00", "without a target"),
    ],
)
def test_a_bad_line_says_what_is_wrong_with_it(line: str, reason: str) -> None:
    with pytest.raises(BadLine, match="(?i)" + reason.replace(".", r"\.")) as caught:
        parse_line(line)
    assert len(caught.value.reason) < 80
    assert "\n" not in caught.value.reason + caught.value.hint


def test_a_bad_line_is_told_with_its_number_and_the_rest_goes_on() -> None:
    entries, problems = parse_tree(b"a = 1\n\xff\xfe = 2\r\n# c\nnonsense\r\nb = 2\r\n", "cap/tree.txt")
    assert [(entry.path, entry.content, entry.line) for entry in entries] == [("a", b"1\n", 1), ("b", b"2\n", 5)]
    assert [problem.source for problem in problems] == ["cap/tree.txt:2", "cap/tree.txt:4"]
    assert problems[0].reason == "not UTF-8"


def test_a_path_that_stands_twice_is_told() -> None:
    entries, problems = parse_tree(b"a = 1\nb/\nb/\na = 2\n")
    assert len(entries) == 4
    assert [(problem.source, problem.reason) for problem in problems] == [
        ("tree.txt:4", "a stands in line 1 too; this line counts")
    ]


@given(st.binary(max_size=300))
@example(b"a = \\")
@example(b"\xe2\x80\xa8 = 1")
def test_any_bytes_give_entries_or_problems_and_never_an_exception(data: bytes) -> None:
    entries, problems = parse_tree(data)
    for entry in entries:
        assert entry.path == clean_path(entry.path)
    for problem in problems:
        assert problem.reason
        assert problem.source.startswith("tree.txt:")


@given(st.text(alphabet=st.sampled_from(" =->!#\\nx2t/.ABSENTUREDWL0159\t"), max_size=40))
def test_any_line_of_the_format_s_own_characters_is_understood_or_refused(line: str) -> None:
    try:
        entry = parse_line(line)
    except BadLine:
        return
    assert entry is None or ".." not in entry.path.split("/")


NAMES = st.binary(min_size=1, max_size=12).filter(
    lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: os.fsdecode(b"/".join(parts)))
TARGETS = st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name).map(os.fsdecode)
CONTENTS = st.one_of(st.text(max_size=30).map(str.encode), st.binary(max_size=30))
ERRORS = st.sampled_from([0, errno.EIO, errno.EACCES, errno.ENODATA, errno.ETIMEDOUT])
SECONDS = st.sampled_from([0.0, 0.1, 1.5, 1e-7, 30.0])


@given(PATHS, CONTENTS, ERRORS, SECONDS)
@example("a", b"!EIO\n", 0, 0.0)
@example("a", b"\n", 0, 0.0)
@example("a", b"\n", 0, 1.0)
@example("#a", b"", 0, 1.0)
@example(" a -> b = c ", b"x \n", 0, 0.0)
def test_what_is_written_is_read_back(path: str, content: bytes, error: int, slow_s: float) -> None:
    entry = Entry(path, Kind.FILE, b"" if error else content, error, slow_s)
    line = format_entry(entry)
    if line is None:
        assert not fits(content)
        return
    assert line.isprintable()
    assert parse_line(line) == entry


@given(PATHS, TARGETS)
def test_links_are_read_back(path: str, target: str) -> None:
    entry = Entry(path, Kind.LINK, target=target)
    line = format_entry(entry)
    assert line is not None
    assert line.isprintable()
    assert parse_line(line) == entry


@given(
    st.lists(st.tuples(PATHS, st.sampled_from([Kind.FOLDER, Kind.ABSENT, Kind.UNREAD])), unique_by=lambda pair: pair[0])
)
def test_a_tree_is_read_back(pairs: list[tuple[str, Kind]]) -> None:
    entries = [Entry(path, kind) for path, kind in pairs]
    found, problems = parse_tree(format_tree(entries).encode())
    assert not problems
    assert [(entry.path, entry.kind) for entry in found] == pairs


@given(st.binary())
def test_escapes_are_undone(data: bytes) -> None:
    text = escape(data)
    assert text == "" or text.isprintable()
    assert unescape(text) == data


@pytest.mark.parametrize("content", [b"no newline", b"two\nlines\n", b"nul\0\n", b"\xff\n", b"x" * 2000 + b"\n"])
def test_what_is_not_one_line_of_text_does_not_fit(content: bytes) -> None:
    assert not fits(content)
    assert format_entry(Entry("a", Kind.FILE, content)) is None
