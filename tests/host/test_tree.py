from __future__ import annotations

import errno

import pytest

from toolkit.errors import NotCaptured
from toolkit.host.tree import NOT_READ, FileNode, FolderNode, LinkNode, Tree


def make(*lines: tuple[str, str]) -> Tree:
    tree = Tree()
    for path, what in lines:
        if what.startswith("-> "):
            tree.put_link(path, what[3:])
        else:
            tree.put_file(path, what.encode())
    return tree


def content(tree: Tree, path: str) -> bytes:
    node = tree.find(path)
    assert isinstance(node, FileNode)
    return node.content()


def test_links_are_followed_relative_absolute_and_chained() -> None:
    tree = make(
        ("devices/coretemp.0/hwmon3/name", "coretemp"),
        ("class/hwmon/hwmon3", "-> ../../devices/coretemp.0/hwmon3"),
        ("first", "-> /class/hwmon/hwmon3"),
        ("up", "-> ../../../first/../hwmon3/name"),
    )
    assert content(tree, "/class/hwmon/hwmon3/name") == b"coretemp"
    assert content(tree, "/first/name") == b"coretemp"
    assert content(tree, "/up") == b"coretemp"
    assert tree.realpath("/first/name") == "/devices/coretemp.0/hwmon3/name"
    assert tree.realpath("/first/absent/x") == "/devices/coretemp.0/hwmon3/absent/x"
    assert tree.readlink("/class/hwmon/hwmon3") == "../../devices/coretemp.0/hwmon3"
    assert isinstance(tree.find("/first", follow=False), LinkNode)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/loop", errno.ELOOP),
        ("/loop/x", errno.ELOOP),
        ("/sys/file/below", errno.ENOTDIR),
        ("/sys/a/absent", errno.ENOENT),
        ("/dangling", errno.ENOENT),
    ],
)
def test_failures_are_those_of_the_kernel(path: str, number: int) -> None:
    tree = make(
        ("loop", "-> other"), ("other", "-> loop"), ("sys/file", "1"), ("sys/a/b", "1"), ("dangling", "-> sys/a/z")
    )
    with pytest.raises(OSError) as caught:  # noqa: PT011 - the number is looked at
        tree.find(path)
    assert caught.value.errno == number
    assert not isinstance(caught.value, NotCaptured)
    assert tree.realpath(path).startswith("/")


@pytest.mark.parametrize(
    "path", ["/sys/class/powercap", "/sys/class/powercap/x/y", "/etc/fstab", "/proc/sys/vm/swappiness"]
)
def test_what_is_missing_in_a_thin_folder_was_not_captured(path: str) -> None:
    tree = make(("sys/class/hwmon/hwmon0/name", "x"))
    with pytest.raises(NotCaptured) as caught:
        tree.find(path)
    assert caught.value.filename == path
    assert isinstance(caught.value, FileNotFoundError)


def test_what_is_missing_in_a_folder_that_was_looked_at_is_absent() -> None:
    tree = make(("sys/class/hwmon/hwmon0/name", "x"))
    with pytest.raises(FileNotFoundError) as caught:
        tree.find("/sys/class/hwmon/hwmon1/name")
    assert not isinstance(caught.value, NotCaptured)


def test_what_is_known_to_be_absent_is_absent_with_all_below_it() -> None:
    tree = make(("sys/class/hwmon/hwmon0/name", "x"))
    tree.remove("sys/class/powercap")
    for path in ("/sys/class/powercap", "/sys/class/powercap/intel-rapl:0/name"):
        with pytest.raises(FileNotFoundError) as caught:
            tree.find(path)
        assert not isinstance(caught.value, NotCaptured)
    tree.put_file("sys/class/powercap/intel-rapl:0/name", b"package-0")
    assert content(tree, "/sys/class/powercap/intel-rapl:0/name") == b"package-0"
    assert not tree.absent


def test_a_file_put_through_a_link_lands_at_its_target_which_is_made() -> None:
    tree = make(("class/h", "-> ../devices/h"), ("class/h/name", "x"), ("l", "-> devices/h/other"), ("l", "y"))
    assert content(tree, "/devices/h/name") == b"x"
    assert content(tree, "/devices/h/other") == b"y"


def test_a_folder_in_the_way_of_a_file_is_an_error_and_the_other_way_round() -> None:
    tree = make(("a/b", "1"))
    with pytest.raises(IsADirectoryError):
        tree.put_file("a", b"2")
    with pytest.raises(NotADirectoryError):
        tree.put_file("a/b/c", b"2")
    with pytest.raises(NotADirectoryError):
        tree.folder("a/b")
    for path in ("loop/x", "loop"):
        tree.put_link("loop", "loop")
        with pytest.raises(OSError, match="symbolic"):
            tree.put_file(path, b"2")


def test_removed_files_are_marked_and_a_link_s_target_stays() -> None:
    tree = make(("d/x/y", "1"), ("l", "-> d"))
    node = tree.find("/d/x/y")
    assert isinstance(node, FileNode)
    tree.remove("l")
    assert not node.gone
    tree.remove("/d")
    assert node.gone
    assert list(tree.nodes()) == []
    tree.remove("never/there")
    tree.remove("/")
    assert isinstance(tree.root, FolderNode)


def test_errors_of_files_folders_and_unread_files() -> None:
    tree = make(("a/b", "1"), ("sys/c/d", "1"))
    tree.put_error("a", errno.EACCES)
    for call in (lambda: tree.listdir("/a"), lambda: tree.find("/a/b")):
        with pytest.raises(PermissionError):
            call()
    tree.put_error("sys/c/new", errno.EIO)
    node = tree.find("/sys/c/new")
    assert isinstance(node, FileNode)
    assert node.error == errno.EIO
    tree.put_file("sys/c/unread", error=NOT_READ)
    with pytest.raises(NotCaptured):
        tree.listdir("/sys/c/unread")
    with pytest.raises(NotADirectoryError):
        tree.listdir("/sys/c/d")
    with pytest.raises(OSError, match="Invalid"):
        tree.readlink("/sys/c/d")
