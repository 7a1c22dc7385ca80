"""Tail of a growing projection: yields each row once, when it is final."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import Item, ShownDiagnostic, ShownMessage


class Tail:
    """Iterates over the rows of one reading. A row is not yielded until it and all rows before it are settled."""

    def __init__(self, projection: Projection, last: int | None = None) -> None:
        """With `last`, the existing rows are skipped, except for this many at the end."""
        self.projection = projection
        self._rows = projection.rows()
        self._diagnostics = projection.new_diagnostics(self._rows)
        self._next = 0 if last is None else max(0, len(self._rows) - last)
        self._number = 0
        """The number of the last message before the next row to yield, shown or hidden."""

    @property
    def first_label(self) -> int:
        """A lower bound for the number of the first message that is yielded, in the audience's numbering."""
        rows, row = self._rows, self._next
        if not row or not self.projection.audience.strict:
            return rows.last_number(row - 1) + 1 if row else 1
        return next((rows.label(each) for each in range(row, len(rows)) if rows.label(each)), 1)

    @property
    def first_transcript(self) -> int:
        """The transcript of the first row that is yielded, in the audience's numbering."""
        rows, row = self._rows, self._next
        return rows.transcript_label(rows.transcript(row)) if row and row < len(rows) else 1

    @property
    def begins_within(self) -> bool:
        """True if rows of the same transcript come before the first row that is yielded."""
        rows, row = self._rows, self._next
        return 0 < row < len(rows) and rows.transcript(row - 1) == rows.transcript(row)

    @property
    def rows(self) -> Rows:
        """The rows of this reading."""
        return self._rows

    def settled(self, *, ended: bool = False) -> Iterator[Item]:
        """Yield the new settled rows. A run of hidden messages is held back: its growth and timing must not be
        observable. The line of a call waits for its reply, or for the next shown message."""
        self._rows.extend()
        for item in self.projection.items(self._rows, self._next) if ended else ():
            self._number = self._rows.last_number(self._next)
            self._next += 1
            yield item
        while self._next < len(self._rows) and self._is_settled(self._next):
            row = self._next
            self._next += 1
            self._number = self._rows.last_number(row)
            yield self.projection.item(self._rows, row)

    def open_message(self) -> ShownMessage | None:
        """Return the part of the next message that has arrived; None unless the message is open and shown."""
        rows, row = self._rows, self._next
        if row >= len(rows) or rows.kind(row) is not RowKind.MESSAGE or rows.value(row) != rows.settled_number + 1:
            return None
        self._number = rows.value(row) - 1
        item = self.projection.item(rows, row)
        return item if isinstance(item, ShownMessage) else None

    def found(self) -> list[ShownDiagnostic]:
        """Return the new diagnostics of the yielded rows and of everything else before the open message."""
        return self._diagnostics.through(self._number)

    def found_last(self) -> list[ShownDiagnostic]:
        """Return all remaining diagnostics, at the end of the reading."""
        return self._diagnostics.rest()

    def _is_settled(self, row: int) -> bool:
        rows = self._rows
        if rows.kind(row) is RowKind.HIDDEN:
            return row + 1 < len(rows) and rows.last_number(row) <= rows.settled_number
        if rows.kind(row) is RowKind.CALL and rows.call_lines.of(rows.value(row)).is_pending:
            kinds, _ = rows.kinds_and_values(row + 1, len(rows))
            return RowKind.MESSAGE.value in kinds
        return row < rows.settled
