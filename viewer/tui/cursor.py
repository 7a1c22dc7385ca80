"""Cursor: the current row, which is a message, hidden messages, or text outside any message."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.rows import RowKind, RowOrder


class Cursor(Struct, frozen=True, gc=False):
    """The current row, identified by its content so that it can be found again when rows change."""

    number: int = 0
    """The message of the row, or one of the messages that it hides. For stray text, the previous message; 0 if
    unset."""
    kind: RowKind = RowKind.MESSAGE
    stray: int = -1
    """The offset of stray text; -1 if the row is not stray text."""
    node: int = -1
    """The value in an open card, as its offset in the text of the block; -1 for the message itself."""

    @property
    def message(self) -> int:
        """The shown message under the cursor; 0 if the cursor is on something else."""
        return self.number if self.kind is RowKind.MESSAGE else 0

    @property
    def is_set(self) -> bool:
        """True if the cursor is on a row."""
        return bool(self.number) or self.kind is not RowKind.MESSAGE

    def row(self, rows: RowOrder) -> int | None:
        """Return the row of this cursor, or else the nearest row. Return None if there are no rows or the cursor is
        unset."""
        if not len(rows) or not self.is_set:
            return None
        if self.kind is RowKind.STRAY:
            return rows.row_of_stray(self.stray)
        return rows.row_of(self.number)

    def is_at(self, rows: RowOrder, row: int) -> bool:
        """True if the cursor is on this row: it has the same kind and content."""
        if rows.kind(row) is not self.kind:
            return False
        if self.kind is RowKind.STRAY:
            return rows.value(row) == self.stray
        return rows.row_holding(self.number) == row


NOWHERE = Cursor()


def cursor_at(rows: RowOrder, row: int, number: int = 0) -> Cursor:
    """Return a cursor on this row. `number` selects one of the messages that the row hides, by default the last one."""
    kind = rows.kind(row)
    if kind is RowKind.STRAY:
        return Cursor(rows.last_number(row), kind, rows.value(row))
    return Cursor(number or rows.last_number(row), kind)
