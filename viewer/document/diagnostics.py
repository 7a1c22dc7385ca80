"""Diagnostics disclosed to an audience, sorted, as rows of the findings; made into values on access.

Diagnostics of settled messages never change: they are added once, and later ones are appended. Diagnostics of open
messages are rebuilt each time."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias, overload

from viewer.document.diagnostic_lists import ShownDiagnostics
from viewer.document.new_diagnostics import Show, by_message
from viewer.document.values import ShownDiagnostic
from viewer.index.findings import Findings
from viewer.model.diagnostic import Diagnostic

_SEVERITIES = ("error", "warning", "info")

Key: TypeAlias = tuple[int, int, int] | tuple[int, str, str, int]


class Taken(NamedTuple):
    """A diagnostic as disclosed to its audience."""

    key: Key
    """The sort key."""
    row: int
    """The row in the findings."""
    number: int
    """The number of the message in the input, independent of the audience; 0 for none."""


_Lengths: TypeAlias = tuple[int, dict[str, int], dict[str, int], frozenset[str], Key | None]


Look: TypeAlias = Callable[[int], list[Diagnostic]]
"""A function that checks a message ahead of time."""


class _Columns:
    """Sorted diagnostics and the end of the final part."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.numbers = array("I")
        self.numbers_of = {severity: array("I") for severity in _SEVERITIES}
        """By severity, without diagnostics that have no message."""
        self.without_number = dict.fromkeys(_SEVERITIES, 0)
        self.codes: frozenset[str] = frozenset()
        self.last: Key | None = None

    def lengths(self) -> _Lengths:
        """A state for `cut` to restore."""
        sizes = {severity: len(numbers) for severity, numbers in self.numbers_of.items()}
        return len(self.rows), sizes, dict(self.without_number), self.codes, self.last

    def cut(self, lengths: _Lengths) -> None:
        """Restore an earlier state."""
        length, sizes, without, self.codes, self.last = lengths
        del self.rows[length:], self.numbers[length:]
        for severity, size in sizes.items():
            del self.numbers_of[severity][size:]
        self.without_number = dict(without)

    def add(self, taken: Iterable[Taken], findings: Findings) -> None:
        """Append diagnostics in order."""
        codes = set(self.codes)
        for one in taken:
            codes.add(findings.code(one.row))
            self.rows.append(one.row)
            self.numbers.append(one.number)
            severity = findings.severity(one.row)
            if one.number:
                self.numbers_of[severity].append(one.number)
            else:
                self.without_number[severity] += 1
            self.last = one.key
        self.codes = frozenset(codes)


class SeenDiagnostics(ShownDiagnostics):
    """The growing list of diagnostics disclosed to the audience of a projection. The end user gets no notes.

    Lookups use message numbers of the input; values have the numbers that the audience knows."""

    def __init__(self, findings: Findings, show: Show, look: Look, *, by_place: bool) -> None:
        super().__init__()
        self._look = look
        self._findings = findings
        self._show = show
        self._by_place = by_place
        self._columns = _Columns()
        self._firm: _Lengths | None = self._columns.lengths()
        """The state of the final part of the columns; None if that is not at the beginning."""
        self._read = 0
        self._waiting: list[int] = []
        """Rows of open messages."""
        self._orders: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
        """Sorted numbers and the indexes of their diagnostics, built on demand."""

    def ahead(self, number: int) -> list[ShownDiagnostic]:
        found = filter(None, map(self._show, self._look(number)))
        return [one for one in found if self._by_place or one.severity != "info"]

    def extend(self, settled: int) -> SeenDiagnostics:
        """Add new findings; messages up to this one are settled."""
        findings, rows = self._findings, [*self._waiting, *range(self._read, len(self._findings))]
        if self._firm is None:
            self._columns, rows = _Columns(), list(range(len(findings)))
        else:
            self._columns.cut(self._firm)
        self._read = len(findings)
        self._waiting = [row for row in rows if findings.number(row) > settled]
        waiting = set(self._waiting)
        self._put(row for row in rows if row not in waiting)
        self._firm = self._columns.lengths()
        if not self._put(self._waiting):
            self._firm = None
        self._orders.clear()
        return self

    def _put(self, rows: Iterable[int]) -> bool:
        """Add rows. If they do not come last, sort everything again and return False."""
        taken = sorted(filter(None, map(self._take, rows)))
        columns = self._columns
        comes_last = not taken or columns.last is None or columns.last <= taken[0].key
        if not comes_last:
            taken = sorted(chain(filter(None, map(self._take, columns.rows)), taken))
            self._columns = columns = _Columns()
        columns.add(taken, self._findings)
        return comes_last

    def _take(self, row: int) -> Taken | None:
        if self._by_place:
            if self._findings.is_spare(row):
                return None
            return Taken(self._findings.place(row), row, self._findings.number(row))
        if self._findings.severity(row) == "info":
            return None
        shown = self._show(self._findings[row])
        return Taken(by_message(shown), row, self._findings.number(row)) if shown is not None else None

    def __len__(self) -> int:
        return len(self._columns.rows)

    @overload
    def __getitem__(self, place: int) -> ShownDiagnostic: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[ShownDiagnostic]: ...

    def __getitem__(self, place: int | slice) -> ShownDiagnostic | Sequence[ShownDiagnostic]:
        rows = self._columns.rows
        return list(map(self._shown, rows[place])) if isinstance(place, slice) else self._shown(rows[place])

    def _shown(self, row: int) -> ShownDiagnostic:
        shown = self._show(self._findings[row])
        assert shown is not None
        return shown

    def place_of(self, diagnostic: ShownDiagnostic) -> int:
        if self._by_place:
            return super().place_of(diagnostic)
        place = bisect_left(range(len(self)), by_message(diagnostic), key=lambda place: by_message(self[place]))
        while place < len(self) and by_message(self[place]) == by_message(diagnostic):
            if self[place] == diagnostic:
                return place
            place += 1
        return -1

    @property
    def largest(self) -> int:
        return super().largest if self._by_place or not len(self) else self[len(self) - 1].message or 0

    def numbers(self, severity: str) -> Sequence[int]:
        numbers = self._columns.numbers_of[severity]
        return self._in_order(severity, numbers)[0] if self._by_place else numbers

    @property
    def severities(self) -> Mapping[str, int]:
        columns = self._columns
        return {name: len(columns.numbers_of[name]) + columns.without_number[name] for name in _SEVERITIES}

    @property
    def codes(self) -> frozenset[str]:
        return self._columns.codes

    @property
    def without_notes(self) -> ShownDiagnostics:
        return super().without_notes if self._by_place else self

    @property
    def _by_number(self) -> tuple[Sequence[int], Sequence[int]]:
        numbers = self._columns.numbers
        return self._in_order("", numbers) if self._by_place else (numbers, range(len(numbers)))

    def _in_order(self, name: str, numbers: array[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Sort numbers that are ordered by position, and the index of each."""
        if name not in self._orders:
            places = sorted(range(len(numbers)), key=numbers.__getitem__)
            self._orders[name] = array("I", map(numbers.__getitem__, places)), array("I", places)
        return self._orders[name]
