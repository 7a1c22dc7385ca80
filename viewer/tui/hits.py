"""What a search has found: hits in the order of the rows, about 20 bytes each."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple, overload

from viewer.sources.rows import Rows


class Hit(NamedTuple):
    """One match; offsets count code points of the text that the projection gives."""

    number: int
    """The message in the input; of text outside any message, the message before it."""
    start: int
    end: int
    row: int


class _Column:
    """Hits of rows that were looked at one after the other."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.starts = array("Q")
        self.ends = array("Q")

    def __len__(self) -> int:
        return len(self.rows)

    def before(self, row: int, start: int = 0) -> int:
        """How many hits begin before this place."""
        low, high = bisect_left(self.rows, row), bisect_right(self.rows, row)
        return bisect_left(self.starts, start, low, high)

    def add(self, row: int, start: int, end: int) -> None:
        self.rows.append(row)
        self.starts.append(start)
        self.ends.append(end)

    def drop_from(self, row: int) -> None:
        kept = self.before(row)
        for column in (self.rows, self.starts, self.ends):
            del column[kept:]


class Hits(Sequence[Hit]):
    """All hits, in order, although the rows from the person's place on are searched first."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._head = _Column()
        self._tail = _Column()

    def __len__(self) -> int:
        return len(self._head) + len(self._tail)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> list[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | list[Hit]:
        """One hit, or several."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        column = self._head if at < len(self._head) else self._tail
        at -= 0 if column is self._head else len(self._head)
        row = column.rows[at]
        return Hit(self._rows.last_number(row), column.starts[at], column.ends[at], row)

    def before(self, row: int, start: int = 0) -> int:
        """How many hits begin before this place."""
        return self._head.before(row, start) + self._tail.before(row, start)

    def in_row(self, row: int) -> list[Hit]:
        """The hits to be marked in one row."""
        return self[self.before(row) : self.before(row + 1)]

    def rows(self) -> list[int]:
        """The rows that have hits, each once."""
        return list(dict.fromkeys([*self._head.rows, *self._tail.rows]))

    def add(self, row: int, start: int, end: int, *, in_head: bool) -> None:
        """A new hit, after all that were found in its part."""
        (self._head if in_head else self._tail).add(row, start, end)

    def drop_from(self, row: int) -> None:
        """Forget the hits of this row and all after it."""
        self._head.drop_from(row)
        self._tail.drop_from(row)
