"""All diagnostics of an input, kept as columns until they are looked at; equal ones that touch are one."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from viewer.core.diagnostics import RULES, Diagnostic

_KINDS = [(code, reason) for code, rule in RULES.items() for reason in (None, *rule.reasons)]
_KIND_OF = {kind: number for number, kind in enumerate(_KINDS)}
_SEVERITIES = [RULES[code].severity.value for code, _ in _KINDS]


class Findings:
    """A growing list of diagnostics, about 30 bytes each."""

    def __init__(self) -> None:
        self._kinds = array("H")
        self._messages = array("I")
        self._starts = array("Q")
        self._ends = array("Q")
        self._counts = array("I")
        self._newest: dict[int, int] = {}
        """The newest row of each kind, which the next one may join."""

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, row: int) -> Diagnostic:
        code, reason = _KINDS[self._kinds[row]]
        return Diagnostic(
            code, reason, self._messages[row] or None, self._starts[row], self._ends[row], self._counts[row]
        )

    def __iter__(self) -> Iterator[Diagnostic]:
        return (self[row] for row in range(len(self)))

    def add(self, code: str, reason: str | None, start: int, end: int, message: int | None) -> None:
        """One more; it joins an equal one that ends where it begins."""
        kind = _KIND_OF[code, reason]
        number = message or 0
        row = self._newest.get(kind)
        if row is not None and self._messages[row] == number and self._touches(row, start, end):
            self._ends[row] = end
            self._counts[row] += 1
            return
        self._newest[kind] = len(self)
        self._kinds.append(kind)
        self._messages.append(number)
        self._starts.append(start)
        self._ends.append(end)
        self._counts.append(1)

    def _touches(self, row: int, start: int, end: int) -> bool:
        return self._ends[row] == start and (end > start or self._starts[row] == start)

    def number(self, row: int) -> int:
        """The message that this one belongs to; 0 for none."""
        return self._messages[row]

    def severity(self, row: int) -> str:
        """How much this one matters."""
        return _SEVERITIES[self._kinds[row]]

    def place(self, row: int) -> tuple[int, int, int]:
        """What this one is sorted by where places are told."""
        return self._starts[row], self._ends[row], self._kinds[row]

    def code(self, row: int) -> str:
        """What is wrong."""
        return _KINDS[self._kinds[row]][0]

    def by_position(self) -> list[Diagnostic]:
        """Sorted by place, then by code."""
        rows = sorted(range(len(self)), key=self.place)
        return [self[row] for row in rows]
