"""`Spool`: keeps text that can be read only once, first in memory, then in an unlinked file with mode 0600."""

from __future__ import annotations

import os

from viewer.sources.limits import SpoolError, limits, spool_stopped

IN_MEMORY = 8 * 1024 * 1024


class Spool:
    """A growing buffer, readable by offset."""

    def __init__(self, name: str) -> None:
        """`name` is the name of the input, for error messages."""
        self.name = name
        self.size = 0
        self._most = limits().max_spool
        self._memory = bytearray()
        self._descriptor: int | None = None

    def append(self, data: bytes) -> None:
        """Add the next bytes. At the limit, or if the disk is full, add what fits, and raise SpoolError."""
        kept = data[: self._most - self.size]
        try:
            self._add(kept)
        except OSError as error:
            raise SpoolError(_disk_full(self.name, error)) from None
        if len(kept) < len(data):
            raise SpoolError(spool_stopped(self.name, self._most))

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets."""
        end = min(end, self.size)
        if self._descriptor is None:
            return bytes(self._memory[start : max(start, end)])
        return os.pread(self._descriptor, max(0, end - start), start)

    def _add(self, data: bytes) -> None:
        if self._descriptor is None:
            if self.size + len(data) <= IN_MEMORY:
                self._memory += data
                self.size += len(data)
                return
            self._move_to_disk()
            assert self._descriptor is not None
        if data[:1] == b"\0" and data == bytes(len(data)):  # a hole in the file represents NUL bytes at no cost
            os.ftruncate(self._descriptor, self.size + len(data))
            self.size += len(data)
            return
        while data:
            written = os.pwrite(self._descriptor, data, self.size)
            self.size += written
            data = data[written:]

    def _move_to_disk(self) -> None:
        """Move the text from memory to a file. If that fails, keep it in memory and raise OSError."""
        descriptor = _unlinked_file()
        data, at = memoryview(self._memory), 0
        try:
            while at < len(data):
                at += os.pwrite(descriptor, data[at:], at)
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor, self._memory = descriptor, bytearray()

    def __del__(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _unlinked_file() -> int:
    import tempfile  # few inputs need it

    with tempfile.TemporaryFile(buffering=0) as file:
        return os.dup(file.fileno())


def _disk_full(name: str, error: OSError) -> str:
    reason = (error.strerror or "input error").lower()
    return f"{name} cannot be spooled: {reason}; set TMPDIR to a folder with more room"
