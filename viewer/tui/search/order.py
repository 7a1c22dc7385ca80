"""The way of a search through the rows: from the person's place to the end, then from the top to that place."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from viewer.document.rows import Rows

AT_ONCE = 256
"""Rows that are taken at once where nothing is known of them."""


class Segment(Protocol):
    """What is known of some rows that follow one another; see `viewer/document/block_search.py`."""

    @property
    def after(self) -> int:
        """The row after them."""

    @property
    def careful(self) -> Sequence[int]:
        """Rows that must be looked at, in order."""

    @property
    def rows(self) -> array[int]:
        """The row of each match that is known, in order."""

    @property
    def starts(self) -> array[int]:
        """Where each of them begins."""


class Skimmer(Protocol):
    """Tells of many rows at once."""

    def search(self, row: int, last: int) -> Segment:
        """What is known of some rows from this one on, up to and without `last`; of one at least."""

    def forget(self) -> None:
        """The rows may be others."""


@dataclass(frozen=True, slots=True)
class Known:
    """Matches that need no look at the text."""

    rows: array[int]
    starts: array[int]


class SearchOrder:
    """What comes next: rows to look at, and matches that are known already, in the order of the rows."""

    def __init__(self, rows: Rows, start: int, skimmer: Skimmer | None) -> None:
        self.start = max(0, min(start, len(rows)))
        self._rows = rows
        self._skimmer = skimmer
        self._tail = self.start
        """The next row of those from the start on."""
        self._head = 0
        """The next row of those before the start."""
        self._next: deque[int | Known] = deque()

    @property
    def done(self) -> int:
        """How many rows have been passed."""
        return self._head + self._tail - self.start

    @property
    def is_done(self) -> bool:
        """Nothing comes any more."""
        return not self._next and self._head >= self.start and self._tail >= len(self._rows)

    def coming(self) -> int | Known | None:
        """What comes next: a row to look at, or matches; None where neither is in the rows that are looked at now."""
        if not self._next:
            self._advance()
        return self._next[0] if self._next else None

    def go_on(self) -> None:
        """What came next has been taken."""
        self._next.popleft()

    def resume(self, changed_row: int) -> None:
        """The rows from this one on are new or may have changed: they come again."""
        if self._skimmer:
            self._skimmer.forget()
        kept = (_before(one, changed_row) for one in self._next)
        self._next = deque(one for one in kept if one is not None)
        self.start = min(self.start, changed_row)
        self._tail = max(self.start, min(self._tail, changed_row))
        self._head = min(self._head, self.start)

    def _advance(self) -> None:
        if self._tail < len(self._rows):
            self._tail = self._pass(self._tail, len(self._rows))
        elif self._head < self.start:
            self._head = self._pass(self._head, self.start)

    def _pass(self, row: int, last: int) -> int:
        """Take the rows from this one on, some of them; returns the row after them."""
        if self._skimmer is None:
            after = min(last, row + AT_ONCE)
            self._next.extend(range(row, after))
            return after
        stretch = self._skimmer.search(row, last)
        at = 0
        for careful in stretch.careful:
            at = self._tell(stretch, at, bisect_left(stretch.rows, careful, at))
            self._next.append(careful)
        self._tell(stretch, at, len(stretch.rows))
        return stretch.after

    def _tell(self, stretch: Segment, at: int, end: int) -> int:
        if at < end:
            self._next.append(Known(stretch.rows[at:end], stretch.starts[at:end]))
        return end


def _before(one: int | Known, row: int) -> int | Known | None:
    """What is left of it before this row."""
    if isinstance(one, int):
        return one if one < row else None
    end = bisect_left(one.rows, row)
    return Known(one.rows[:end], one.starts[:end]) if end else None
