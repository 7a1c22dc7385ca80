"""The diagnostics that an audience is told of, in its order, as rows of the findings: values when they are looked at.

Messages that are settled change no more, nor does what is wrong with them: it is taken once, and what comes later is
put behind it. What is wrong with open messages is taken anew each time."""

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
    """One diagnostic, as its audience is told of it."""

    key: Key
    """What it is sorted by."""
    row: int
    """Where it stands in the findings."""
    number: int
    """The message, by its number in the input, whatever the audience calls it; 0 for none."""


_Lengths: TypeAlias = tuple[int, dict[str, int], dict[str, int], frozenset[str], Key | None]


Look: TypeAlias = Callable[[int], list[Diagnostic]]
"""Checks a message before its turn."""


class _Columns:
    """Those that are in order, and how far they change no more."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.numbers = array("I")
        self.numbers_of = {severity: array("I") for severity in _SEVERITIES}
        """Of each severity, without those of no message."""
        self.without_number = dict.fromkeys(_SEVERITIES, 0)
        self.codes: frozenset[str] = frozenset()
        self.last: Key | None = None

    def lengths(self) -> _Lengths:
        """What `cut` goes back to."""
        sizes = {severity: len(numbers) for severity, numbers in self.numbers_of.items()}
        return len(self.rows), sizes, dict(self.without_number), self.codes, self.last

    def cut(self, lengths: _Lengths) -> None:
        """Forget what was added since."""
        length, sizes, without, self.codes, self.last = lengths
        del self.rows[length:], self.numbers[length:]
        for severity, size in sizes.items():
            del self.numbers_of[severity][size:]
        self.without_number = dict(without)

    def add(self, taken: Iterable[Taken], findings: Findings) -> None:
        """More, in order."""
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
    """All that the audience of a projection is told of; it grows. The end user is told of no notes.

    It is asked for messages by their numbers in the input; what it tells has the numbers that the audience knows."""

    def __init__(self, findings: Findings, show: Show, look: Look, *, by_place: bool) -> None:
        super().__init__()
        self._look = look
        self._findings = findings
        self._show = show
        self._by_place = by_place
        self._columns = _Columns()
        self._firm: _Lengths | None = self._columns.lengths()
        """What of the columns changes no more; None where that does not stand at their beginning."""
        self._read = 0
        self._waiting: list[int] = []
        """Rows of messages that are not settled."""
        self._orders: dict[str, tuple[Sequence[int], Sequence[int]]] = {}
        """Numbers in their order, and the places of their diagnostics; made when they are asked for."""

    def ahead(self, number: int) -> list[ShownDiagnostic]:
        found = filter(None, map(self._show, self._look(number)))
        return [one for one in found if self._by_place or one.severity != "info"]

    def extend(self, settled: int) -> SeenDiagnostics:
        """Take what was found since; messages up to this one are settled."""
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
        """Add these; where they do not come last everything is put in order again, and the answer is no."""
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
        """Numbers that stand by place, nearly in order; and the place of each."""
        if name not in self._orders:
            places = sorted(range(len(numbers)), key=numbers.__getitem__)
            self._orders[name] = array("I", map(numbers.__getitem__, places)), array("I", places)
        return self._orders[name]
