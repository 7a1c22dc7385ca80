"""Map bytes of a decoded JSON string to offsets in its source."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right

from viewer.cache import lazy_regex
from viewer.syntax.json_string import opening_length, string_body

_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = lazy_regex(_HIGH + _LOW + rb"|\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)


class StringMap:
    """Verbatim segments and escapes, by decoded offset."""

    def __init__(self, raw: bytes) -> None:
        self._meant = array("Q")
        self._source = array("Q")
        self._escape_ends = array("Q")
        """Where an escape ends in the source; 0 for a verbatim segment."""
        self._end = len(raw)
        at, meant = opening_length(raw), 0
        for escape in _ESCAPE.finditer(raw, at):
            if escape.start() > at:
                meant = self._add(meant, at, 0, _size(raw[at : escape.start()]))
            meant = self._add(meant, escape.start(), escape.end(), _meant_size(escape[0]))
            at = escape.end()
        self._add(meant, at, 0, 0)

    def _add(self, meant: int, source: int, escape_end: int, size: int) -> int:
        self._meant.append(meant)
        self._source.append(source)
        self._escape_ends.append(escape_end)
        return meant + size

    def source_of(self, meant: int, last: bool) -> int:
        """The source offset of a decoded byte; with `last`, the offset after it."""
        index = bisect_right(self._meant, meant) - 1
        source, escape_end = self._source[index], self._escape_ends[index]
        if escape_end:
            return escape_end if last else source
        return min(source + (meant - self._meant[index]) + last, self._end)


class NestedMap:
    """The same for a JSON string inside a JSON string. `raw` has the quote of the outer string and no inner one."""

    def __init__(self, raw: bytes) -> None:
        self._outer = StringMap(raw)
        self._inner = StringMap(b'"' + string_body(raw).encode("utf-8", "replace"))

    def source_of(self, meant: int, last: bool) -> int:
        """The source offset of a decoded byte; with `last`, the offset after it."""
        at = self._inner.source_of(meant, last) - 1
        return self._outer.source_of(max(0, at - last), last)


def _size(stretch: bytes) -> int:
    return len(stretch) if stretch.isascii() else len(stretch.decode("utf-8", "replace").encode())


def _meant_size(escape: bytes) -> int:
    return len(string_body(b'"' + escape + b'"').encode("utf-8", "replace"))
