"""A file that rows are appended to as they come, and that loses none of them when the disk is full.

Each row is one write(2) on a descriptor opened with O_APPEND: nothing is buffered in the program, so that even
`kill -9` loses at most the row in flight. What cannot be written is held in memory and tried again every few
seconds; what is still held at the end goes to another folder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

HOLD_BYTES = 64 << 20
"""Rows held in memory while the disk is full: about ten hours of 60 sensors at 10 Hz and 180 bytes a row."""
RETRY_S = 3.0
SYNC_S = 5.0


class RowFile:
    """Appends whole rows to a file. Never raises for a fault of the disk once it is open.

    Attributes:
        path: where the rows are.
        fault: why the last write failed (`No space left on device`); empty where it did not.
        sync_fault: why the last fdatasync(2) failed; empty where it did not.
        thinned: rows that were dropped since even the memory set aside for them was full.
        split: after `close`: the first part of the rows is at `path` and only the rest is in the other folder.
    """

    def __init__(
        self, path: str, *, overwrite: bool, monotonic: Callable[[], float], hold_bytes: int = HOLD_BYTES
    ) -> None:
        """Create the file. Raises FileExistsError where it is there and not to be overwritten, and other OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._fd = os.open(path, flags | (os.O_TRUNC if overwrite else os.O_EXCL), 0o644)
        self.path = path
        self.fault = ""
        self.sync_fault = ""
        self.thinned = 0
        self.split = False
        self._monotonic = monotonic
        self._hold_bytes = hold_bytes
        self._held: list[bytes] = []
        self._held_size = 0
        self._row_done = 0
        """Bytes of the first held row that are in the file already."""
        self._retry_at = 0.0
        self._whole_bytes = 0
        self._header = b""
        self._closing = threading.Event()
        self._syncer = threading.Thread(target=self._sync_now_and_then, name="recording-sync", daemon=True)
        self._syncer.start()

    def append(self, row: bytes) -> bool:
        """Write a row, or hold it. Returns False where it is held."""
        if not self._header:
            self._header = row
        if self._held:
            self._hold(row)
            if self._monotonic() < self._retry_at:
                return False
            return self._drain()
        try:
            written = os.write(self._fd, row)
        except OSError as error:
            self._failed(error)
            written = 0
        if written == len(row):
            self._whole_bytes += written
            return True
        self._hold(row)
        self._row_done = written
        return False if self.fault and not written else self._drain()

    def close(self, fallback_folders: Sequence[str]) -> str:
        """Write what is held, here or else in one of these folders, and close the file.

        Returns:
            The path of the file that holds the recording: `path`, or a file in a fallback folder (the whole of it,
            or only the rest, see `split`), or an empty string where no folder took it (the file at `path` then
            has the first part, whole rows only).
        """
        where = self.path
        if (self._held and not self._drain()) or self._was_removed():
            where = self._save_elsewhere(fallback_folders)
            self._cut_to_whole_rows()
        self._closing.set()
        self._syncer.join(timeout=10.0)
        try:
            if self._syncer.is_alive():
                return where
            os.fdatasync(self._fd)
        except OSError as error:
            self.sync_fault = error.strerror or str(error)
        finally:
            if not self._syncer.is_alive():
                os.close(self._fd)
        return where

    def _was_removed(self) -> bool:
        try:
            removed = os.fstat(self._fd).st_nlink == 0
        except OSError:
            return False
        if removed:
            self.fault = "the file was removed meanwhile"
        return removed

    @property
    def held_rows(self) -> int:
        """How many rows wait in memory."""
        return len(self._held)

    def _failed(self, error: OSError) -> None:
        self.fault = error.strerror or str(error)
        self._retry_at = self._monotonic() + RETRY_S

    def _hold(self, row: bytes) -> None:
        self._held.append(row)
        self._held_size += len(row)
        if self._held_size > self._hold_bytes:
            first, rest = self._held[:1], self._held[1:]
            self.thinned += len(rest) // 2
            self._held = first + rest[1::2]
            self._held_size = sum(map(len, self._held))

    def _drain(self) -> bool:
        """Write held rows, in pieces of whole rows; True where nothing is held any more."""
        while self._held:
            batch = self._held[:64]
            data = b"".join(batch)[self._row_done :]
            try:
                written = os.write(self._fd, data)
            except OSError as error:
                self._failed(error)
                return False
            if written == 0:
                self._failed(OSError(0, "the file takes no more"))
                return False
            self._take_off(written)
        self._held_size = 0
        self.fault = ""
        return True

    def _take_off(self, written: int) -> None:
        done = self._row_done + written
        rows = 0
        for row in self._held:
            if done < len(row):
                break
            done -= len(row)
            rows += 1
            self._whole_bytes += len(row)
            self._held_size -= len(row)
        del self._held[:rows]
        self._row_done = done

    def _save_elsewhere(self, folders: Sequence[str]) -> str:
        """Write the whole recording to the first folder that takes it; else at least the rows that are held."""
        for whole in (True, False):
            for folder in folders:
                path = os.path.join(folder, os.path.basename(self.path))
                try:
                    saved = self._save_as(path, whole)
                except OSError:
                    continue
                self.split = not whole and self._whole_bytes > 0
                return saved
        return ""

    def _save_as(self, path: str, whole: bool) -> str:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        path, descriptor = _open_new(path)
        try:
            if whole:
                self._copy_written(descriptor)
            elif self._whole_bytes:
                _write_all(descriptor, self._header)
            for row in self._held:
                _write_all(descriptor, row)
            os.fsync(descriptor)
        except OSError:
            os.close(descriptor)
            os.unlink(path)
            raise
        os.close(descriptor)
        return path

    def _copy_written(self, descriptor: int) -> None:
        # By way of the descriptor: it leads to the rows even where somebody removed or moved the file.
        source = os.open(f"/proc/self/fd/{self._fd}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            left = self._whole_bytes
            while left > 0:
                block = os.read(source, min(left, 1 << 20))
                if not block:
                    raise OSError(0, "the file became shorter")
                _write_all(descriptor, block)
                left -= len(block)
        finally:
            os.close(source)

    def _cut_to_whole_rows(self) -> None:
        try:
            if self._row_done:
                os.ftruncate(self._fd, self._whole_bytes)
        except OSError as error:
            self.fault = error.strerror or str(error)

    def _sync_now_and_then(self) -> None:
        """Bring the rows to the disk in a thread of its own: fdatasync can take seconds beside a disk benchmark."""
        synced = 0
        while not self._closing.wait(SYNC_S):
            if self._whole_bytes == synced:
                continue
            synced = self._whole_bytes
            try:
                os.fdatasync(self._fd)
                self.sync_fault = ""
            except OSError as error:
                self.sync_fault = error.strerror or str(error)


def _open_new(path: str) -> tuple[str, int]:
    """Create a file under this name, or under `NAME-2.csv` and so on where it is taken."""
    base, suffix = os.path.splitext(path)
    for number in range(1, 1000):
        name = path if number == 1 else f"{base}-{number}{suffix}"
        try:
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            continue
    raise FileExistsError(path)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


__all__ = ["RowFile"]
