"""Map bytes of a decoded JSON or Python string to offsets in its source."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from viewer.cache import lazy_regex
from viewer.syntax.json_string import opening_length, string_body
from viewer.syntax.utf8 import is_utf8

_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = lazy_regex(_HIGH + _LOW + rb"|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)


_SHORT_ESCAPE = lazy_regex(rb'\\["\\/bfnrt]')
_BACKSLASH = b"\\\\"
_SHORT = frozenset(b"\\" + bytes([each]) for each in b'"\\/bfnrt')
"""Escapes that represent one byte."""


class StringMap:
    """Maps offsets in the decoded text of a JSON string to offsets in its source."""

    def __init__(self, raw: bytes) -> None:
        self._meant = array("Q")
        self._source = array("Q")
        self._escape_ends = array("Q")
        """For each segment, where its escape ends in the source; 0 for a verbatim segment."""
        self._end = len(raw)
        self._first = at = opening_length(raw)
        self._short: list[int] | None = None
        """The decoded offsets of the escapes, if each of them represents one byte."""
        meant = 0
        if self._is_short(raw, at):
            return
        for escape in _ESCAPE.finditer(raw, at):
            if escape.start() > at:
                meant = self._add(meant, at, 0, _size(raw[at : escape.start()]))
            meant = self._add(meant, escape.start(), escape.end(), _meant_size(escape[0]))
            at = escape.end()
        self._add(meant, at, 0, 0)

    def _is_short(self, raw: bytes, at: int) -> bool:
        """Map a well-formed string in which each escape represents one byte, by far the most common case. Return False
        for any other string."""
        escapes = [found.start() for found in _SHORT_ESCAPE.finditer(raw, at)]
        backslashes = _SHORT_ESCAPE.findall(raw, at).count(_BACKSLASH) + len(escapes)
        if raw.count(b"\\", at) != backslashes or not (raw.isascii() or is_utf8(raw)):
            return False
        self._short = [start - first for first, start in enumerate(escapes, at)]
        return True

    def _add(self, meant: int, source: int, escape_end: int, size: int) -> int:
        self._meant.append(meant)
        self._source.append(source)
        self._escape_ends.append(escape_end)
        return meant + size

    @property
    def short_escapes(self) -> list[int] | None:
        """The decoded offsets of the escapes if each of them represents one byte; otherwise None."""
        return self._short

    @property
    def first(self) -> int:
        """The source offset of the first decoded byte."""
        return self._first

    def source_of(self, meant: int, last: bool) -> int:
        """Return the source offset of a decoded byte or, with `last`, the offset after it."""
        short = self._short
        if short is not None:
            before = bisect_left(short, meant)
            source = self._first + meant + before
            if before < len(short) and short[before] == meant:
                return source + 2 if last else source
            return min(source + last, self._end)
        index = bisect_right(self._meant, meant) - 1
        source, escape_end = self._source[index], self._escape_ends[index]
        if escape_end:
            return escape_end if last else source
        return min(source + (meant - self._meant[index]) + last, self._end)


class NestedMap:
    """Maps offsets in a JSON string inside a JSON string to offsets in the source. `raw` includes the quotes of the
    outer string, but no inner ones."""

    def __init__(self, raw: bytes) -> None:
        self._outer = StringMap(raw)
        self._inner = StringMap(b'"' + string_body(raw).encode("utf-8", "replace"))

    def source_of(self, meant: int, last: bool) -> int:
        """Return the source offset of a decoded byte or, with `last`, the offset after it."""
        at = self._inner.source_of(meant, last) - 1
        return self._outer.source_of(max(0, at - last), last)


def _size(stretch: bytes) -> int:
    return len(stretch) if stretch.isascii() else len(stretch.decode("utf-8", "replace").encode())


def _meant_size(escape: bytes) -> int:
    if escape in _SHORT:
        return 1
    if len(escape) > 2:
        # half of a surrogate pair becomes U+FFFD
        unit = int(escape[2:6], 16)
        return 4 if len(escape) > 6 else 1 if unit < 0x80 else 2 if unit < 0x800 else 3
    return len(string_body(b'"' + escape + b'"').encode("utf-8", "replace"))


_PYTHON_ESCAPE = lazy_regex(
    rb"(?:\\x[89a-fA-F][0-9a-fA-F])+|\\x[0-7][0-9a-fA-F]|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[0-7]{1,3}|\\[ntr\\'\"]"
)
"""A pattern for Python escapes. Any other backslash sequence stays unchanged. Adjacent bytes above 127 are decoded
together, as UTF-8."""
_PYTHON_LETTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"\\": b"\\", b"'": b"'", b'"': b'"'}


def python_runs(raw: bytes) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield the runs of the text in a Python literal: start, end, and the decoded bytes of an escape (None for other
    text)."""
    at = 0
    for escape in _PYTHON_ESCAPE.finditer(raw):
        if escape.start() > at:
            yield at, escape.start(), None
        yield *escape.span(), _python_bytes(escape[0])
        at = escape.end()
    if at < len(raw):
        yield at, len(raw), None


def _python_bytes(escape: bytes) -> bytes:
    letter = escape[1:2]
    if letter in _PYTHON_LETTERS:
        return _PYTHON_LETTERS[letter]
    if letter == b"x":
        codes = [int(code, 16) for code in escape[2:].split(b"\\x")]
        try:
            return bytes(codes).decode("utf-8").encode()
        except UnicodeDecodeError:
            return "".join(map(chr, codes)).encode()
    code = int(escape[2:], 16) if letter in b"uU" else int(escape[1:], 8)
    return chr(code if code <= 0x10FFFF else 0xFFFD).encode("utf-8", "replace")


def python_text(raw: bytes) -> bytes:
    """Return the decoded text of a Python literal, given without its quotes."""
    return b"".join(raw[start:end] if text is None else text for start, end, text in python_runs(raw))


class PythonMap:
    """Maps offsets in the decoded text of a Python literal to offsets in its source."""

    def __init__(self, raw: bytes) -> None:
        self._meant = array("Q")
        self._source = array("Q")
        self._ends = array("Q")
        self._is_escape = bytearray()
        self._end = len(raw)
        meant = 0
        for start, end, text in python_runs(raw):
            self._meant.append(meant)
            self._source.append(start)
            self._ends.append(end)
            self._is_escape.append(text is not None)
            meant += end - start if text is None else len(text)

    def source_of(self, meant: int, last: bool) -> int:
        """Return the source offset of a decoded byte or, with `last`, the offset after it."""
        index = bisect_right(self._meant, meant) - 1
        if index < 0:
            return 0
        source, end = self._source[index], self._ends[index]
        if self._is_escape[index]:
            return end if last else source
        return min(source + (meant - self._meant[index]) + last, self._end)
