"""Calls that an audience sees, as rows of the call columns; made into values on access."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import overload

from viewer.document.call_lists import ShownCalls, Spans
from viewer.document.values import ShownCall
from viewer.document.visibility_cache import MANY, VisibilityCache
from viewer.index.call_columns import CallColumns, CallLink


class SeenCalls(ShownCalls):
    """The calls with both ends visible to the audience."""

    def __init__(self, columns: CallColumns, sight: VisibilityCache, show: Callable[[CallLink], ShownCall]) -> None:
        super().__init__()
        self._columns = columns
        self._show = show
        self._calls_of, self._replies_of = columns.ends()
        self._links = self._seen(sight)
        """The rows in the columns."""

    def _seen(self, sight: VisibilityCache) -> array[int]:
        if len(self._calls_of) >= MANY:
            from viewer.document.many_calls import seen_links

            return seen_links(self._calls_of, self._replies_of, sight)
        pairs = enumerate(zip(self._calls_of, self._replies_of, strict=True))
        return array(
            "I", (link for link, ends in pairs if any(ends) and all(not end or sight.sees(end) for end in ends))
        )

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, row: int) -> ShownCall: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[ShownCall]: ...

    def __getitem__(self, row: int | slice) -> ShownCall | Sequence[ShownCall]:
        if isinstance(row, slice):
            return [self._show(self._columns.link(link)) for link in self._links[row]]
        return self._show(self._columns.link(self._links[row]))

    def of(self, number: int) -> list[ShownCall]:
        return [self[row] for row in self._rows_of(number)]

    def row_of(self, number: int) -> int:
        return next(iter(self._rows_of(number)), -1)

    @cached_property
    def states(self) -> Mapping[str, int]:
        codes = self._columns.states()
        if len(self) >= MANY:
            from viewer.document.many_calls import counted

            counts = counted(codes, self._links)
        else:
            counts = Counter(codes[link] for link in self._links)
        return Counter({CallColumns.state_of(code).value: count for code, count in counts.items()})

    @property
    def largest(self) -> int:
        numbers = self._ends[0]
        return numbers[-1] if numbers else 0

    @cached_property
    def spans(self) -> Spans:
        if len(self) < MANY:
            return super().spans
        from viewer.document.many_calls import spans

        return spans(self._calls_of, self._replies_of, self._links, self._columns.inferred())

    def _rows_of(self, number: int) -> Sequence[int]:
        numbers, rows = self._ends
        first = last = bisect_left(numbers, number)
        while last < len(numbers) and numbers[last] == number:
            last += 1
        return sorted(set(rows[first:last]))

    @cached_property
    def _ends(self) -> tuple[array[int], array[int]]:
        """The messages at the ends of calls, sorted, and the rows of those calls."""
        if len(self) >= MANY:
            from viewer.document.many_calls import ends

            return ends(self._calls_of, self._replies_of, self._links)
        columns = self._calls_of, self._replies_of
        pairs = sorted((ends[link], row) for ends in columns for row, link in enumerate(self._links) if ends[link])
        return array("I", (number for number, _ in pairs)), array("I", (row for _, row in pairs))


def sees_both_ends(link: CallLink, sight: VisibilityCache) -> bool:
    """True if a call, and its reply if there is one, are shown."""
    ends = [number for number in (link.call, link.reply) if number is not None]
    return bool(ends) and all(map(sight.sees, ends))


def shown_call(link: CallLink) -> ShownCall:
    """The value of a call for an audience that sees it."""
    return ShownCall(
        link.transcript,
        link.call_id,
        link.tool,
        link.call,
        link.reply,
        link.state.value,
        link.inferred,
        link.latency_ms,
        link.deadline_ms,
        link.observed_ms,
    )
