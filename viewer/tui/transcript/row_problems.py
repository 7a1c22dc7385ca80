"""Problems by row, looked up when a row is drawn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain

from viewer.document.diagnostics import DiagnosticView
from viewer.document.rows import RowKind, Rows
from viewer.document.values import ShownDiagnostic
from viewer.values import frozen

_MOST_LOOKED_AT = 64


@frozen
class RowProblems:
    """The problems of a view by its rows. A side pane and a filter have rows for some messages only."""

    rows: Rows
    problems: DiagnosticView

    def of(self, row: int) -> list[ShownDiagnostic]:
        """The problems of one row: of its message, or of the messages that it hides."""
        kind, value = self.rows.kind(row), self.rows.value(row)
        if kind is RowKind.MESSAGE:
            return self.problems.of(value) or self.problems.ahead(value)
        if kind is RowKind.STRAY:
            return []
        last = self.rows.last_number(row)
        return self.problems.between(last - value + 1, last)

    def worst(self, first: int, last: int) -> str:
        """The worst severity in a range of rows."""
        if not len(self.rows) or first > last:
            return ""
        begin, end = self._first(first), self.rows.last_number(min(last, len(self.rows) - 1))
        if self.rows.is_whole:
            return self.problems.worst(begin, end)
        return next((severity for severity in ("error", "warning") if self._is_shown(severity, begin, end)), "")

    def _is_shown(self, severity: str, begin: int, end: int) -> bool:
        numbers = self.problems.numbers(severity)
        found = numbers[bisect_left(numbers, begin) : bisect_right(numbers, end)][:_MOST_LOOKED_AT]
        return any(self.rows.row_holding(number) is not None for number in found)

    def next(self, severity: str, here: int, step: int) -> int | None:
        """The next row with a problem of this severity in a direction; the search wraps around."""
        numbers = self.problems.numbers(severity)
        if step > 0:
            split = bisect_right(numbers, self.rows.last_number(here)) if here >= 0 else 0
            around = chain(range(split, len(numbers)), range(split))
        else:
            split = bisect_left(numbers, self._first(here)) if here >= 0 else 0
            around = chain(range(split - 1, -1, -1), range(len(numbers) - 1, split - 1, -1))
        rows = (self.rows.row_holding(numbers[place]) for place in around)
        return next((row for row in rows if row is not None), None)

    def _first(self, row: int) -> int:
        """The first message that may belong to a row."""
        return self.rows.last_number(row - 1) + 1 if row else 0
