"""Search order: from the cursor's row to the end, then from the top to that row."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from viewer.document.rows import Rows

AT_ONCE = 256
"""The maximum number of rows to queue at once if nothing is known about them."""


class Segment(Protocol):
    """Search result for consecutive rows; see `viewer/document/search/block_search.py`."""

    @property
    def after(self) -> int:
        """The row after the searched rows."""

    @property
    def unsure(self) -> Sequence[int]:
        """Rows whose text must be searched, in order."""

    @property
    def rows(self) -> array[int]:
        """The row of each known match, in order."""

    @property
    def starts(self) -> array[int]:
        """The offset of each known match."""


class SegmentSearcher(Protocol):
    """Searches many rows at once."""

    def search(self, row: int, last: int) -> Segment:
        """Search one or more rows, from `row` up to but not including `last`."""

    def forget(self) -> None:
        """Drop the computed search plan, because the rows may have changed."""


class Known(Struct, frozen=True):
    """Matches that are known without searching the text."""

    rows: array[int]
    starts: array[int]


class SearchOrder:
    """The queue of a search, in the order of rows: rows whose text must be searched, and known matches."""

    def __init__(self, rows: Rows, start: int, searcher: SegmentSearcher | None) -> None:
        self.start = max(0, min(start, len(rows)))
        self._rows = rows
        self._searcher = searcher
        self._tail = self.start
        """The next row to process at or after the start row."""
        self._head = 0
        """The next row to process before the start row."""
        self._queue: deque[int | Known] = deque()

    @property
    def done(self) -> int:
        """The number of rows that have been processed."""
        return self._head + self._tail - self.start

    @property
    def is_done(self) -> bool:
        """True if all rows have been processed and the queue is empty."""
        return not self._queue and self._head >= self.start and self._tail >= len(self._rows)

    def next(self) -> int | Known | None:
        """Return the next entry, a row or matches. Return None if the rows just processed have neither, or if no rows
        are left."""
        if not self._queue:
            self._advance()
        return self._queue[0] if self._queue else None

    def pop(self) -> None:
        """Remove the next entry."""
        self._queue.popleft()

    def resume(self, changed_row: int) -> None:
        """Search again from this row on: these rows are new or may have changed."""
        if self._searcher:
            self._searcher.forget()
        kept = (_before(entry, changed_row) for entry in self._queue)
        self._queue = deque(entry for entry in kept if entry is not None)
        self.start = min(self.start, changed_row)
        self._tail = max(self.start, min(self._tail, changed_row))
        self._head = min(self._head, self.start)

    def _advance(self) -> None:
        if self._tail < len(self._rows):
            self._tail = self._pass(self._tail, len(self._rows))
        elif self._head < self.start:
            self._head = self._pass(self._head, self.start)

    def _pass(self, row: int, last: int) -> int:
        """Queue some of the rows from this one on and return the row after them."""
        if self._searcher is None:
            after = min(last, row + AT_ONCE)
            self._queue.extend(range(row, after))
            return after
        segment = self._searcher.search(row, last)
        at = 0
        for unsure in segment.unsure:
            at = self._add_known(segment, at, bisect_left(segment.rows, unsure, at))
            self._queue.append(unsure)
        self._add_known(segment, at, len(segment.rows))
        return segment.after

    def _add_known(self, segment: Segment, at: int, end: int) -> int:
        if at < end:
            self._queue.append(Known(segment.rows[at:end], segment.starts[at:end]))
        return end


def _before(entry: int | Known, row: int) -> int | Known | None:
    """Return the part of an entry before this row, or None if there is none."""
    if isinstance(entry, int):
        return entry if entry < row else None
    end = bisect_left(entry.rows, row)
    return Known(entry.rows[:end], entry.starts[:end]) if end else None
