"""Decide the layout of a JSON input: one object per line, or documents that span several lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from viewer.cache import lazy_regex
from viewer.reading.format import Reader
from viewer.syntax.json_text import check_json, read_json

LONGEST_READ = 64 * 1024
"""A line with more bytes than this is first checked as JSON without building its values, which is usually enough."""

_SPACE = lazy_regex(rb"[ \t\r\n]*")
_FIELD = lazy_regex(rb"(?:event|data|id|retry):|:[ \t]?[a-z]", re.IGNORECASE)
"""The beginning of a line of server-sent events."""


class Layout(Enum):
    """The layout of a JSON input: one object per line, or documents that may span several lines."""

    LINES = "lines"
    DOCUMENTS = "documents"


class LayoutJudge:
    """Determines the layout from the first two nonblank lines, regardless of chunk boundaries. It looks at each byte
    only once."""

    def __init__(self) -> None:
        self._start = 0
        """The offset of the incomplete line, after its leading whitespace."""
        self._looked = 0
        self._first: bytes | None = None

    def judge(self, data: bytes | bytearray, *, ended: bool) -> Layout | None:
        """Return the layout, or None if more bytes are needed. `data` is the whole input so far."""
        while (line := self._next_line(data, ended)) is not None:
            if self._first is not None:
                return _by_the_second(self._first, line)
            if _is_object(line) or (self._first is None and _FIELD.match(line)):
                return Layout.LINES
            self._first = line
        is_array = self._first is None and data.startswith(b"[", self._start)
        return Layout.DOCUMENTS if ended or is_array else None

    def _next_line(self, data: bytes | bytearray, ended: bool) -> bytes | None:
        space = _SPACE.match(data, self._start)
        self._start = space.end() if space else self._start
        if self._first is None and data.startswith(b"[", self._start):
            return None
        end = data.find(b"\n", max(self._start, self._looked))
        self._looked = len(data)
        if end < 0 and not (ended and self._start < len(data)):
            return None
        end = len(data) if end < 0 else end
        line = bytes(memoryview(data)[self._start : end]).rstrip()
        self._start = self._looked = end
        return line


class AnyLayout:
    """Chooses one of two readers by the layout of the first lines, and passes the input to it."""

    def __init__(self, lines: Callable[[], Reader], documents: Callable[[], Reader]) -> None:
        self._readers = {Layout.LINES: lines, Layout.DOCUMENTS: documents}
        self._judge = LayoutJudge()
        self._head = bytearray()
        self._reader: Reader | None = None

    def feed(self, data: bytes) -> None:
        if self._reader is not None:
            self._reader.feed(data)
        elif self._head:
            self._head += data
            self._choose(self._head, ended=False)
        else:
            self._choose(data, ended=False)
            if self._reader is None:
                self._head += data

    def close(self) -> None:
        if self._reader is None:
            self._choose(self._head, ended=True)
        assert self._reader is not None
        self._reader.close()

    def _choose(self, head: bytes | bytearray, *, ended: bool) -> None:
        """Choose the reader if possible, and let it read the head, which is the whole input so far."""
        layout = self._judge.judge(head, ended=ended)
        if layout is not None:
            self._reader = self._readers[layout]()
            self._reader.feed(bytes(head))
            self._head.clear()


def _is_object(line: bytes) -> bool:
    """True if a line is exactly one JSON object."""
    if len(line) > LONGEST_READ and line.startswith(b"{") and check_json(line) is None:
        return True
    reading = read_json(line)
    return reading.end == len(line) and not reading.faults and line.startswith(b"{")


def _by_the_second(first: bytes, second: bytes) -> Layout:
    """Return the layout of an input whose first line is not an object, by whether that line is broken or continues on
    the second line."""
    if not _is_object(second):
        return Layout.DOCUMENTS
    if not first.startswith(b"{"):
        return Layout.LINES
    both = read_json(first + b"\n" + second)
    goes_on = not both.lenient and both.may_go_on
    return Layout.DOCUMENTS if goes_on else Layout.LINES
