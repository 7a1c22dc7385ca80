"""What has come of a projection that grows: each row once, when nothing can change it any more."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import Item, ShownDiagnostic, ShownMessage


class Tail:
    """Goes through the rows of one reading; a row that was taken is settled, and so are all before it."""

    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self._rows = projection.rows()
        self._finds = projection.finds(self._rows)
        self._next = 0
        self._number = 0
        """The number of the last message that was taken, shown or not."""

    @property
    def rows(self) -> Rows:
        """The rows of this reading."""
        return self._rows

    def settled(self, *, ended: bool = False) -> Iterator[Item]:
        """The rows that are new. A run of hidden messages waits for what comes after it: it may get longer, and
        when it does is nobody's business."""
        self._rows.extend()
        while self._next < len(self._rows) and (ended or self._is_settled(self._next)):
            row = self._next
            self._next += 1
            self._number = self._rows.last_number(row)
            yield self.projection.item(self._rows, row)

    def open_message(self) -> ShownMessage | None:
        """The message after those, if it is open and shown, as far as it is there."""
        rows, row = self._rows, self._next
        if row >= len(rows) or rows.kind(row) is not RowKind.MESSAGE or rows.value(row) != rows.settled_number + 1:
            return None
        self._number = rows.value(row) - 1
        item = self.projection.item(rows, row)
        return item if isinstance(item, ShownMessage) else None

    def found(self) -> list[ShownDiagnostic]:
        """The diagnostics, not given before, of what was taken and of what stands before the open message."""
        return self._finds.up_to(self._number)

    def found_last(self) -> list[ShownDiagnostic]:
        """All others, when the reading has ended."""
        return self._finds.rest()

    def _is_settled(self, row: int) -> bool:
        rows = self._rows
        if rows.kind(row) is RowKind.HIDDEN:
            return row + 1 < len(rows) and rows.last_number(row) <= rows.settled_number
        return row < rows.settled
