"""`Head`: the first bytes of a file, read in one step, for callers that need no more."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from viewer.sources.files import why_read_once
from viewer.sources.stamp import stamp_of


class Head:
    """The first bytes of a regular file as a source."""

    converted = False
    only = ""
    note = ""
    fault = ""

    def __init__(self, name: str, data: bytes, is_whole: bool) -> None:
        self.name = name
        self.size = len(data)
        self.is_whole = is_whole
        """True if these are all the bytes of the file."""
        self._data = data

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]

    read_again = read

    def drop(self) -> None:
        """Drop the bytes, because they are no longer needed."""
        self._data = b""


def head_of(path: str, size: int) -> Head | None:
    """Read up to `size` bytes. Return None if the file cannot be read in place: a pipe, a folder, a container, or a
    compressed, UTF-16, or missing file."""
    return _head(path, size, why_read_once)


def record_head(path: str, size: int) -> Head | None:
    """Like `head_of`, but only for a file that begins with `{`, as files of JSON records do."""
    head = _head(path, size, lambda path: "")
    return head if head and head.read(0, 1) == b"{" else None


def _head(path: str, size: int, refuses: Callable[[str], str]) -> Head | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode) or refuses(path):
            return None
        before = stamp_of(descriptor)
        data = os.pread(descriptor, size + 1, 0)
        if stamp_of(descriptor) != before:
            return None
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return None if data.startswith((b"\xff\xfe", b"\xfe\xff")) else Head(path, data[:size], len(data) <= size)
