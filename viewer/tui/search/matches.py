"""Search matches in row order, about 20 bytes each. Beyond a limit they are only counted."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from typing import overload

from msgspec import Struct

from viewer.document.rows import Rows
from viewer.tui.search.matchers import Found


class Match(Struct, frozen=True, gc=False):
    """One match. Offsets count code points in the projection's text."""

    number: int
    """The message number in the input; for text outside any message, the previous message's number."""
    start: int
    end: int
    row: int


class _Column:
    """Matches of consecutively searched rows."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.starts = array("Q")
        self.ends = array("Q")
        self.counted_rows = array("I")
        """The rows with matches that are only counted, without repeats."""
        self.counts = array("Q")
        """The cumulative number of matches up to each row in `counted_rows`."""

    @property
    def counted(self) -> int:
        """The number of matches that are only counted."""
        return self.counts[-1] if self.counts else 0

    def __len__(self) -> int:
        return len(self.rows)

    def before(self, row: int, start: int = 0) -> int:
        """Return the number of kept matches that begin before this position."""
        low, high = bisect_left(self.rows, row), bisect_right(self.rows, row)
        return bisect_left(self.starts, start, low, high)

    def add(self, row: int, start: int, end: int) -> None:
        self.rows.append(row)
        self.starts.append(start)
        self.ends.append(end)

    def add_all(self, rows: array[int], starts: array[int], length: int) -> None:
        self.rows.extend(rows)
        self.starts.extend(starts)
        self.ends.extend(array("Q", [start + length for start in starts]))

    def count(self, counts: dict[int, int]) -> None:
        """Count matches without keeping them, by row, in order."""
        if self.counted_rows and self.counted_rows[-1] in counts:
            self.counts[-1] += counts.pop(self.counted_rows[-1])
        self.counted_rows.extend(counts)
        self.counts.extend(islice(accumulate(counts.values(), initial=self.counted), 1, None))

    def has_counted(self, row: int) -> bool:
        at = bisect_left(self.counted_rows, row)
        return at < len(self.counted_rows) and self.counted_rows[at] == row

    def drop_from(self, row: int) -> None:
        kept = self.before(row)
        for column in (self.rows, self.starts, self.ends):
            del column[kept:]
        kept = bisect_left(self.counted_rows, row)
        del self.counted_rows[kept:], self.counts[kept:]


class Matches(Sequence[Match]):
    """All matches in row order, even though the rows from the cursor on are searched first."""

    def __init__(self, rows: Rows, most: int, find_again: Callable[[int], Found]) -> None:
        self._rows = rows
        self._most = most
        self._find_again = find_again
        """A function that finds a row's matches again if they are not kept."""
        self._head = _Column()
        self._tail = _Column()

    def __len__(self) -> int:
        return len(self._head) + len(self._tail)

    @property
    def total(self) -> int:
        """The number of matches, including those that are only counted."""
        return len(self) + self._head.counted + self._tail.counted

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> list[Match]: ...
    def __getitem__(self, index: int | slice) -> Match | list[Match]:
        """Return one match, or several."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        column = self._head if at < len(self._head) else self._tail
        at -= 0 if column is self._head else len(self._head)
        row = column.rows[at]
        return Match(self._rows.last_number(row), column.starts[at], column.ends[at], row)

    def before(self, row: int, start: int = 0) -> int:
        """Return the number of kept matches that begin before this position."""
        return self._head.before(row, start) + self._tail.before(row, start)

    def in_row(self, row: int) -> list[Match]:
        """Return the matches to highlight in one row."""
        if self._head.has_counted(row) or self._tail.has_counted(row):
            number = self._rows.last_number(row)
            return [Match(number, start, end, row) for start, end in self._find_again(row)]
        return self[self.before(row) : self.before(row + 1)]

    def rows(self) -> array[int]:
        """Return the rows with matches, in order and without repeats."""
        return self._rows.columns.distinct(self._all_rows())

    def spread(self, most: int) -> list[int]:
        """Return about `most` rows with matches, spread evenly."""
        step = sum(map(len, self._all_rows())) // most + 1
        return [row for rows in self._all_rows() for row in rows[::step]]

    def _all_rows(self) -> list[array[int]]:
        return [rows for column in (self._head, self._tail) for rows in (column.rows, column.counted_rows)]

    def add(self, row: int, base: int, found: list[tuple[int, int]], *, in_head: bool) -> None:
        """Add matches in one row, with offsets relative to `base`. They must come after all known matches in the same
        part of the rows: before the start row (`in_head`), or from it on."""
        column = self._head if in_head else self._tail
        kept = max(0, self._most - len(self))
        for start, end in found[:kept]:
            column.add(row, base + start, base + end)
        if kept < len(found):
            column.count({row: len(found) - kept})

    def add_all(self, rows: array[int], starts: array[int], length: int, *, in_head: bool) -> None:
        """Add many matches of the same length in many rows, in order."""
        column = self._head if in_head else self._tail
        kept = max(0, self._most - len(self))
        column.add_all(rows[:kept], starts[:kept], length)
        if kept < len(rows):
            column.count(Counter(rows[kept:]))

    def drop_from(self, row: int) -> None:
        """Drop the matches of this row and all rows after it."""
        self._head.drop_from(row)
        self._tail.drop_from(row)
