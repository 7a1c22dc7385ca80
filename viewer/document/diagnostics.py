"""Diagnostics disclosed to an audience: sorted rows of the findings. Each value is created when it is accessed.

Diagnostics of settled messages never change, so they are added once. Diagnostics of open messages are rebuilt on every
update."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import TypeAlias, overload

from msgspec import Struct

from viewer.columns.api import Column
from viewer.document.values import ShownDiagnostic
from viewer.index.findings import Findings
from viewer.model.diagnostic import Diagnostic
from viewer.rules import RULES

_SEVERITIES = ("error", "warning", "info")
_KINDS = [(code, reason) for code, rule in RULES.items() for reason in (None, *rule.reasons)]
_KIND_OF = {kind: number for number, kind in enumerate(_KINDS)}

Show: TypeAlias = Callable[[Diagnostic], ShownDiagnostic | None]
"""A function that returns a diagnostic as disclosed to the audience, or None if it is not disclosed."""
CheckAhead: TypeAlias = Callable[[int], list[Diagnostic]]
"""A function that checks a message ahead of time and returns its diagnostics."""
Key: TypeAlias = tuple[int, int, int] | tuple[int, str, str, int]


class _Entry(Struct, frozen=True, order=True):
    """An entry of the sorted diagnostics."""

    key: Key
    row: int
    """The row in the findings."""
    number: int
    """The number of the message in the input, whatever number the audience sees; 0 for none."""


_Lengths: TypeAlias = tuple[int, dict[str, int], dict[str, int], frozenset[str], Key | None]


class _SortedEntries:
    """Sorted diagnostics as columns that can be cut back to an earlier state."""

    def __init__(self) -> None:
        self.rows = array("I")
        self.numbers = array("I")
        self.numbers_of = {severity: array("I") for severity in _SEVERITIES}
        """Message numbers by severity, for diagnostics that belong to a message."""
        self.without_number = dict.fromkeys(_SEVERITIES, 0)
        self.codes: frozenset[str] = frozenset()
        self.last: Key | None = None

    def lengths(self) -> _Lengths:
        """Return the current state, for `cut`."""
        sizes = {severity: len(numbers) for severity, numbers in self.numbers_of.items()}
        return len(self.rows), sizes, dict(self.without_number), self.codes, self.last

    def cut(self, lengths: _Lengths) -> None:
        """Restore a state that `lengths` returned earlier."""
        length, sizes, without, self.codes, self.last = lengths
        del self.rows[length:], self.numbers[length:]
        for severity, size in sizes.items():
            del self.numbers_of[severity][size:]
        self.without_number = dict(without)

    def add(self, entries: Iterable[_Entry], findings: Findings) -> None:
        """Append diagnostics in order."""
        codes = set(self.codes)
        for entry in entries:
            codes.add(findings.code(entry.row))
            self.rows.append(entry.row)
            self.numbers.append(entry.number)
            severity = findings.severity(entry.row)
            if entry.number:
                self.numbers_of[severity].append(entry.number)
            else:
                self.without_number[severity] += 1
            self.last = entry.key
        self.codes = frozenset(codes)


class DiagnosticView(Sequence[ShownDiagnostic]):
    """The growing list of diagnostics disclosed to the audience of a projection. The end user gets no diagnostics of
    severity `info`.

    Lookups use message numbers of the input; the returned values have the numbers that the audience sees."""

    def __init__(self, findings: Findings, show: Show, check_ahead: CheckAhead, *, by_place: bool) -> None:
        self._check_ahead = check_ahead
        self._findings = findings
        self._show = show
        self._by_place = by_place
        self._entries = _SortedEntries()
        self._final: _Lengths | None = self._entries.lengths()
        """The lengths of the columns before the entries of open messages; None if those entries do not all sort
        last."""
        self._read = 0
        self._waiting: list[int] = []
        """The findings of open messages, as rows."""
        self._orders: dict[str, tuple[Column, Column]] = {}
        """For each severity, and for all (the empty string), the sorted message numbers and the indexes of their
        diagnostics. Built on demand."""

    def extend(self, settled: int) -> DiagnosticView:
        """Add new findings, and return the view. All messages up to number `settled` are settled."""
        findings, rows = self._findings, [*self._waiting, *range(self._read, len(self._findings))]
        if self._final is None:
            self._entries, rows = _SortedEntries(), list(range(len(findings)))
        else:
            self._entries.cut(self._final)
        self._read = len(findings)
        self._waiting = [row for row in rows if findings.number(row) > settled]
        waiting = set(self._waiting)
        self._add(row for row in rows if row not in waiting)
        self._final = self._entries.lengths()
        if not self._add(self._waiting):
            self._final = None
        self._orders.clear()
        return self

    def _add(self, rows: Iterable[int]) -> bool:
        """Add rows. If they do not all sort after the existing ones, sort everything again and return False."""
        entries = sorted(filter(None, map(self._entry, rows)))
        known = self._entries
        comes_last = not entries or known.last is None or known.last <= entries[0].key
        if not comes_last:
            entries = sorted(chain(filter(None, map(self._entry, known.rows)), entries))
            self._entries = known = _SortedEntries()
        known.add(entries, self._findings)
        return comes_last

    def _entry(self, row: int) -> _Entry | None:
        if self._by_place:
            if self._findings.is_spare(row):
                return None
            return _Entry(self._findings.place(row), row, self._findings.number(row))
        if self._findings.severity(row) == "info":
            return None
        shown = self._show(self._findings[row])
        return _Entry(by_message(shown), row, self._findings.number(row)) if shown is not None else None

    def __len__(self) -> int:
        return len(self._entries.rows)

    @overload
    def __getitem__(self, place: int) -> ShownDiagnostic: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[ShownDiagnostic]: ...

    def __getitem__(self, place: int | slice) -> ShownDiagnostic | Sequence[ShownDiagnostic]:
        rows = self._entries.rows
        return list(map(self._shown, rows[place])) if isinstance(place, slice) else self._shown(rows[place])

    def _shown(self, row: int) -> ShownDiagnostic:
        shown = self._show(self._findings[row])
        assert shown is not None
        return shown

    def of(self, number: int) -> list[ShownDiagnostic]:
        """Return the diagnostics of one message."""
        return self.between(number, number)

    def ahead(self, number: int) -> list[ShownDiagnostic]:
        """Check a message ahead of time and return its diagnostics."""
        found = filter(None, map(self._show, self._check_ahead(number)))
        return [one for one in found if self._by_place or one.severity != "info"]

    def between(self, first: int, last: int) -> list[ShownDiagnostic]:
        """Return the diagnostics of these messages."""
        numbers, places = self._by_number
        found = range(bisect_left(numbers, max(1, first)), bisect_right(numbers, last))
        return [self[place] for place in sorted(places[row] for row in found)]

    def place_of(self, diagnostic: ShownDiagnostic) -> int:
        """Return the index of this diagnostic or an equal one, or -1 if there is none."""
        if self._by_place:
            numbers, places = self._by_number
            number = diagnostic.message or 0
            found = sorted(places[row] for row in range(bisect_left(numbers, number), bisect_right(numbers, number)))
            return next((place for place in found if self[place] == diagnostic), -1)
        place = bisect_left(range(len(self)), by_message(diagnostic), key=lambda place: by_message(self[place]))
        while place < len(self) and by_message(self[place]) == by_message(diagnostic):
            if self[place] == diagnostic:
                return place
            place += 1
        return -1

    def worst(self, first: int, last: int) -> str:
        """Return the highest severity in these messages, or an empty string if there are no errors or warnings."""
        for severity in ("error", "warning"):
            numbers = self.numbers(severity)
            if bisect_left(numbers, first) < bisect_right(numbers, last):
                return severity
        return ""

    def numbers(self, severity: str) -> Column:
        """Return the sorted numbers of the messages with diagnostics of this severity, one entry per diagnostic."""
        numbers = self._entries.numbers_of[severity]
        return self._in_order(severity, numbers)[0] if self._by_place else numbers

    @property
    def faulty(self) -> Faulty:
        """The messages with an error."""
        return Faulty(self.numbers("error"))

    @property
    def severities(self) -> Mapping[str, int]:
        """The number of diagnostics per severity."""
        known = self._entries
        return {name: len(known.numbers_of[name]) + known.without_number[name] for name in _SEVERITIES}

    @property
    def largest(self) -> int:
        """The largest message number of all diagnostics so far; 0 if none belongs to a message."""
        if not self._by_place:
            return self[len(self) - 1].message or 0 if len(self) else 0
        numbers, _ = self._by_number
        return numbers[-1] if numbers else 0

    @property
    def codes(self) -> frozenset[str]:
        """The codes of all diagnostics in the list."""
        return self._entries.codes

    @property
    def _by_number(self) -> tuple[Column, Sequence[int]]:
        """The message number of each diagnostic (0 for none), sorted, and the index of that diagnostic."""
        numbers = self._entries.numbers
        return self._in_order("", numbers) if self._by_place else (numbers, range(len(numbers)))

    def _in_order(self, name: str, numbers: Column) -> tuple[Column, Column]:
        """Sort message numbers, which are in the order of the diagnostics' positions. Return them with the original
        index of each. The result is cached by name."""
        if name not in self._orders:
            places = sorted(range(len(numbers)), key=numbers.__getitem__)
            self._orders[name] = array("I", map(numbers.__getitem__, places)), array("I", places)
        return self._orders[name]


class Faulty:
    """Membership test for messages with an error."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number


class NewDiagnostics:
    """Returns the diagnostics for one audience incrementally, as far as possible in the order of
    `Projection.diagnostics`."""

    def __init__(self, findings: Findings, show: Show, *, by_place: bool) -> None:
        self._findings = findings
        self._show = show
        self._by_place = by_place
        self._taken = 0
        self._waiting: list[int] = []
        """The findings of messages that are not yet settled, as rows."""

    def through(self, number: int) -> list[ShownDiagnostic]:
        """Return the new diagnostics of messages up to this one and, if positions are disclosed, diagnostics without a
        message. For the end user, `rest` returns those."""
        rows = [*self._waiting, *range(self._taken, len(self._findings))]
        self._taken = len(self._findings)
        self._waiting = [row for row in rows if (self._findings[row].message or 0) > number]
        return self._shown(row for row in rows if self._is_of(row, number))

    def rest(self) -> list[ShownDiagnostic]:
        """Return all diagnostics that have not been returned yet."""
        rows = [*self._waiting, *range(self._taken, len(self._findings))]
        if not self._by_place:
            of_none = (row for row in range(self._taken) if self._findings[row].message is None)
            rows = [*of_none, *rows]
        self._taken, self._waiting = len(self._findings), []
        return self._shown(rows)

    def _is_of(self, row: int, number: int) -> bool:
        message = self._findings[row].message
        return self._by_place if message is None else message <= number

    def _shown(self, rows: Iterable[int]) -> list[ShownDiagnostic]:
        found = [self._findings[row] for row in rows if not (self._by_place and self._findings.is_spare(row))]
        if self._by_place:
            found.sort(key=_place_key)
        shown = [one for one in map(self._show, found) if one is not None]
        return shown if self._by_place else sorted(shown, key=by_message)


def _place_key(found: Diagnostic) -> tuple[int, int, int]:
    return found.start, found.end, _KIND_OF[found.code, found.reason]


def by_message(found: ShownDiagnostic) -> tuple[int, str, str, int]:
    """Return the key by which diagnostics are sorted for an end user, who gets no positions."""
    return found.message or 0, found.code, found.reason or "", found.count or 0
