"""Marks: find the next and previous marked message in the view."""

from __future__ import annotations

from collections.abc import Collection

from viewer.document.rows import RowKind, Rows


def next_mark(marks: Collection[int], number: int, rows: Rows) -> int | None:
    """Return the first shown mark after a message, wrapping around at the end, or None if no marks are shown."""
    shown = shown_marks(marks, rows)
    later = [mark for mark in shown if mark > number]
    return next(iter(later or shown), None)


def previous_mark(marks: Collection[int], number: int, rows: Rows) -> int | None:
    """Return the last shown mark before a message, wrapping around at the start, or None if no marks are shown."""
    shown = shown_marks(marks, rows)
    earlier = [mark for mark in shown if mark < number]
    return next(reversed(earlier or shown), None)


def shown_marks(marks: Collection[int], rows: Rows) -> list[int]:
    """Return the marked messages of this view, in order."""
    return [mark for mark in sorted(marks) if _is_shown(mark, rows)]


def _is_shown(number: int, rows: Rows) -> bool:
    row = rows.row_of(number)
    return row < len(rows) and rows.kind(row) is RowKind.MESSAGE and rows.value(row) == number
