"""Calls of a projection as a list with a lookup by message."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, overload

from viewer.document.values import ShownCall


class Spans(NamedTuple):
    """First and last messages of calls that have both ends; each column is sorted."""

    firsts: array[int]
    lasts: array[int]
    firm_firsts: array[int]
    """Those of calls linked by id."""
    firm_lasts: array[int]


class ShownCalls(Sequence[ShownCall]):
    """All calls of a projection, in input order."""

    def __init__(self, calls: Sequence[ShownCall] = ()) -> None:
        self._calls = calls

    def __len__(self) -> int:
        return len(self._calls)

    @overload
    def __getitem__(self, row: int) -> ShownCall: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[ShownCall]: ...

    def __getitem__(self, row: int | slice) -> ShownCall | Sequence[ShownCall]:
        return self._calls[row]

    def of(self, number: int) -> list[ShownCall]:
        """The calls that begin or end at a message."""
        return [self._calls[row] for row in self._rows.get(number, ())]

    def row_of(self, number: int) -> int:
        """The row of the first call that begins or ends at a message; -1 if there is none."""
        return next(iter(self._rows.get(number, ())), -1)

    @property
    def open(self) -> int:
        """The number of calls that await a reply."""
        return self.states["pending"]

    @cached_property
    def states(self) -> Mapping[str, int]:
        """The number of calls in each state."""
        return Counter(call.state for call in self._calls)

    @property
    def largest(self) -> int:
        """The last message with an end of a call."""
        return max(self._rows, default=0)

    @cached_property
    def spans(self) -> Spans:
        """The ranges of messages that calls span."""
        linked = [(call.call, call.reply, call.inferred) for call in self if call.call and call.reply]
        firm = [ends for ends in linked if not ends[2]]
        sorts = (sorted(pick(ends[:2]) for ends in chosen) for chosen in (linked, firm) for pick in (min, max))
        return Spans(*(array("I", numbers) for numbers in sorts))

    @cached_property
    def _rows(self) -> Mapping[int, Sequence[int]]:
        rows: dict[int, list[int]] = {}
        for row, call in enumerate(self._calls):
            for number in {call.call, call.reply}:
                if number is not None:
                    rows.setdefault(number, []).append(row)
        return rows
