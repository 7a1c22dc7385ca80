"""Diagnostics of a projection as a list with a lookup by message."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import overload

from viewer.document.values import ShownDiagnostic


class ShownDiagnostics(Sequence[ShownDiagnostic]):
    """All diagnostics of a projection, as a list."""

    def __init__(self, diagnostics: Sequence[ShownDiagnostic] = ()) -> None:
        self._diagnostics = diagnostics

    def __len__(self) -> int:
        return len(self._diagnostics)

    @overload
    def __getitem__(self, place: int) -> ShownDiagnostic: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[ShownDiagnostic]: ...

    def __getitem__(self, place: int | slice) -> ShownDiagnostic | Sequence[ShownDiagnostic]:
        return self._diagnostics[place]

    def of(self, number: int) -> list[ShownDiagnostic]:
        """The diagnostics of one message."""
        return self.between(number, number)

    def ahead(self, number: int) -> list[ShownDiagnostic]:
        """The diagnostics of a message that has not been checked yet, checked ahead of time."""
        return []

    def between(self, first: int, last: int) -> list[ShownDiagnostic]:
        """The diagnostics of these messages."""
        numbers, places = self._by_number
        found = range(bisect_left(numbers, max(1, first)), bisect_right(numbers, last))
        return [self[place] for place in sorted(places[row] for row in found)]

    def place_of(self, diagnostic: ShownDiagnostic) -> int:
        """The index of this diagnostic, or of an equal one; -1 if there is none."""
        numbers, places = self._by_number
        number = diagnostic.message or 0
        found = sorted(places[row] for row in range(bisect_left(numbers, number), bisect_right(numbers, number)))
        return next((place for place in found if self[place] == diagnostic), -1)

    def worst(self, first: int, last: int) -> str:
        """The highest severity in these messages; empty for notes or nothing."""
        for severity in ("error", "warning"):
            numbers = self.numbers(severity)
            if bisect_left(numbers, first) < bisect_right(numbers, last):
                return severity
        return ""

    def numbers(self, severity: str) -> Sequence[int]:
        """The messages with diagnostics of this severity, sorted, one entry per diagnostic."""
        return self._numbers_by_severity[severity]

    @property
    def faulty(self) -> Faulty:
        """The messages with an error."""
        return Faulty(self.numbers("error"))

    @property
    def severities(self) -> Mapping[str, int]:
        """The number of diagnostics per severity."""
        return Counter(found.severity for found in self)

    @property
    def largest(self) -> int:
        """The last message with a diagnostic."""
        numbers, _ = self._by_number
        return numbers[-1] if numbers else 0

    @property
    def codes(self) -> frozenset[str]:
        """All diagnostic codes in the list."""
        return frozenset(found.code for found in self)

    @property
    def without_notes(self) -> ShownDiagnostics:
        """Only errors and warnings."""
        return ShownDiagnostics([found for found in self if found.severity != "info"])

    @cached_property
    def _by_number(self) -> tuple[Sequence[int], Sequence[int]]:
        """The message numbers, 0 for none, sorted, and the index of each."""
        pairs = sorted((found.message or 0, place) for place, found in enumerate(self))
        return array("I", (number for number, _ in pairs)), array("I", (place for _, place in pairs))

    @cached_property
    def _numbers_by_severity(self) -> Mapping[str, array[int]]:
        numbers = {severity: array("I") for severity in ("error", "warning", "info")}
        for found in sorted(self, key=lambda found: found.message or 0):
            if found.message:
                numbers[found.severity].append(found.message)
        return numbers


class Faulty:
    """Membership test for messages with an error."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number
