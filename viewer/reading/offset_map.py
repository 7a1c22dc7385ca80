"""Offset map from input bytes to characters of a decoded body, for the positions of diagnostics."""

from __future__ import annotations

from bisect import bisect_left
from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from viewer.model.messages import Span
from viewer.reading.bodies import Body


def characters_of(body: Body, span: Span) -> Span | None:
    """Return the span of body characters that these input bytes became, or None if they are not in the body."""
    return all_characters_of(body, [span])[0]


def all_characters_of(body: Body, spans: Sequence[Span]) -> list[Span | None]:
    """Map many spans in a single pass over the body."""
    finder = _Finder(body)
    found = [(finder.meant(start), finder.meant(end)) for start, end in spans]
    count = _counts(body.data, (at for pair in found for at in pair if at is not None))
    return [
        (count[start], max(count[start], count[end])) if start is not None and end is not None else None
        for start, end in found
    ]


class _Finder:
    """Finds the runs of a body that input bytes became. If the runs are in order, it uses binary search."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._ends = [run.source + run.source_length for run in body.runs]
        starts = [run.source for run in body.runs]
        self._in_order = all(low <= high for column in (starts, self._ends) for low, high in pairwise(column))

    def meant(self, source: int) -> int | None:
        """Return the first decoded byte that comes from this input byte or a later one, or None if the byte is not in
        the body."""
        first = bisect_left(self._ends, source) if self._in_order else 0
        for run in self._body.runs[first : first + 1] if self._in_order else self._body.runs:
            if run.source <= source <= run.source + run.source_length:
                if run.raw is None:
                    return run.at + min(source - run.source, run.length)
                return _in_string(self._body, run.at, run.at + run.length, source)
        return None


def _counts(data: bytes, places: Iterable[int]) -> Mapping[int, int]:
    """Count the characters before each of these offsets. A character that an offset splits is counted."""
    decoder = getincrementaldecoder("utf-8")("replace")
    counts: dict[int, int] = {}
    whole = at = 0
    for place in sorted(set(places)):
        whole += len(decoder.decode(data[at:place]))
        at = place
        counts[place] = whole + len(decoder.getstate()[0].decode("utf-8", "replace"))
    return counts


def _in_string(body: Body, low: int, high: int, source: int) -> int:
    """Map an offset inside a JSON string by binary search, because escapes change the length."""
    while low < high:
        middle = (low + high) // 2
        if body.source_span(middle, middle)[0] < source:
            low = middle + 1
        else:
            high = middle
    return low
