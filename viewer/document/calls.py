"""The calls that an audience sees: a lazy view of them, their changes while following, and one-line summaries."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import overload

from msgspec import Struct
from msgspec.structs import replace

from viewer.columns.api import Column, Columns
from viewer.document.values import BriefCall, ShownCall
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.calls import UNNAMED, CallLedger, CallLink, CallState
from viewer.index.messages import MessageIndex
from viewer.reading.header import full_tool_name


class Spans(Struct, frozen=True):
    """The first and the last messages of all calls that have a reply. Each column is sorted independently of the
    others."""

    firsts: Column
    lasts: Column
    firm_firsts: Column
    """The first messages of the calls that were linked to their replies by ID."""
    firm_lasts: Column


class CallView(Sequence[ShownCall]):
    """The calls that the audience sees, in input order. Of a call and its reply, each message that exists must be
    visible."""

    def __init__(
        self, ledger: CallLedger, columns: Columns, cache: VisibilityCache, show: Callable[[CallLink], ShownCall]
    ) -> None:
        self._ledger = ledger
        self._columns = columns
        self._show = show
        self._calls_of, self._replies_of = ledger.ends()
        self._links = self._seen(cache)
        """The ledger rows of these calls."""

    def _seen(self, cache: VisibilityCache) -> Column:
        columns = self._columns
        links = columns.select(cache.mask_at(self._calls_of), 0)
        seen = cache.mask_at(columns.take(self._replies_of, links))
        return columns.take(links, columns.select(seen, 0))

    def __len__(self) -> int:
        return len(self._links)

    @overload
    def __getitem__(self, row: int) -> ShownCall: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[ShownCall]: ...

    def __getitem__(self, row: int | slice) -> ShownCall | Sequence[ShownCall]:
        if isinstance(row, slice):
            return [self._show(self._ledger.link(link)) for link in self._links[row]]
        return self._show(self._ledger.link(self._links[row]))

    def of(self, number: int) -> list[ShownCall]:
        """Return the calls that begin or end with this message."""
        return [self[row] for row in self._rows_of(number)]

    def row_of(self, number: int) -> int:
        """Return the row of the first call that begins or ends with this message, or -1 if there is none."""
        return next(iter(self._rows_of(number)), -1)

    @property
    def open(self) -> int:
        """The number of calls that await a reply."""
        return self.states[CallState.PENDING.value]

    @cached_property
    def states(self) -> Mapping[str, int]:
        """The number of calls in each state."""
        counts = self._columns.count_by(self._ledger.states(), self._links)
        return Counter({CallLedger.state_of(code).value: count for code, count in counts.items()})

    @property
    def largest(self) -> int:
        """The number of the last message that is a call or a reply; 0 if there is none."""
        numbers = self._ends[0]
        return numbers[-1] if numbers else 0

    @cached_property
    def spans(self) -> Spans:
        """The span of each call that has a reply, from the first to the last of its messages."""
        columns = self._columns
        linked = self._of_links(self._linked)
        is_firm = columns.take(self._ledger.inferred(), self._linked)
        firm = self._of_links(columns.take(self._linked, columns.where(is_firm, {0}, 0, len(is_firm))))
        return Spans(*linked, *firm)

    @cached_property
    def _linked(self) -> Column:
        """The ledger rows of the links that have both a call and a reply."""
        columns, links = self._columns, self._links
        kept = bytearray(b"\1") * len(links)
        for ends in (self._calls_of, self._replies_of):
            for row in columns.where(columns.take(ends, links), {0}, 0, len(links)):
                kept[row] = 0
        return columns.take(links, columns.select(kept, 0))

    def _of_links(self, links: Column) -> tuple[Column, Column]:
        """Return the first messages and the last messages of these links, each column sorted."""
        columns = self._columns
        firsts, lasts = columns.smaller_and_larger(
            columns.take(self._calls_of, links), columns.take(self._replies_of, links)
        )
        return columns.take(firsts, columns.order(firsts)), columns.take(lasts, columns.order(lasts))

    def _rows_of(self, number: int) -> Sequence[int]:
        numbers, rows = self._ends
        first = last = bisect_left(numbers, number)
        while last < len(numbers) and numbers[last] == number:
            last += 1
        return sorted(set(rows[first:last]))

    @cached_property
    def _ends(self) -> tuple[Column, Column]:
        """The message numbers of all calls and replies, sorted, and the row of each in this view."""
        columns, links = self._columns, self._links
        numbers = columns.take(self._calls_of, links) + columns.take(self._replies_of, links)
        order = columns.order(numbers)
        numbers = columns.take(numbers, order)
        rows = columns.take(columns.sequence(0, len(links)) * 2, order)
        first = bisect_left(numbers, 1)  # a missing end has the number 0
        return numbers[first:], rows[first:]


def no_calls() -> CallView:
    """Return an empty view, for an audience that sees no calls."""
    index = MessageIndex()
    ledger = CallLedger(lambda *_: None, index)
    return CallView(ledger, index.columns, VisibilityCache(index, lambda _: False), shown_call)


def sees_both_ends(link: CallLink, cache: VisibilityCache) -> bool:
    """True if the messages of the call and of its reply are shown. If one of them is missing, the other one decides."""
    ends = [number for number in (link.call, link.reply) if number is not None]
    return bool(ends) and all(map(cache.sees, ends))


def shown_call(link: CallLink) -> ShownCall:
    """Convert a call to a `ShownCall`, for an audience that sees it."""
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


_STATES = list(CallState)
_NOT_REPORTED = -1


class CallWatch:
    """Tracks the calls that one audience sees while following: the calls of each message, and those whose state has
    changed since the last report. An answered call is checked again only if its reply is replaced."""

    def __init__(
        self,
        links: Sequence[CallLink],
        show: Callable[[CallLink], ShownCall | None],
        relinked: Sequence[int] = (),
    ) -> None:
        """`relinked` is the list to which the ledger adds the row of each call whose reply is replaced."""
        self._links = links
        self._show = show
        self._relinked = relinked
        self._relinked_at = 0
        self._known = 0
        """The number of links read so far."""
        self._open: dict[int, int] = {}
        """The last reported state of each call whose state may still change, by row."""

    def all(self) -> list[ShownCall]:
        """Return every call in its current state."""
        return [shown for shown in map(self._show, self._links) if shown is not None]

    def of(self, number: int) -> list[ShownCall]:
        """Return the calls that this message makes or answers, except calls whose reply was already returned."""
        self._read_new()
        rows = [row for row in self._open if number in (self._links[row].call, self._links[row].reply)]
        for row in rows:
            if self._links[row].reply == number:
                del self._open[row]
        return self._shown(rows)

    def changed(self, *, ended: bool = False) -> list[ShownCall]:
        """Return the calls whose state has changed and is no longer pending; with `ended`, pending ones as well."""
        relinked = self._read_relinked()
        self._read_new()
        changed = (row for row, reported in self._open.items() if self._key(row) != reported)
        rows = [row for row in changed if ended or not self._is_pending(row)]
        for row in rows:
            self._open[row] = self._key(row)
        self._open = {row: reported for row, reported in self._open.items() if self._links[row].reply is None}
        shown = ((row, self._show(self._links[row])) for row in rows)
        return [replace(call, relinked=row in relinked) for row, call in shown if call is not None]

    def _read_relinked(self) -> set[int]:
        """Return the rows of reported calls whose replies were replaced since the last call of this method."""
        rows = self._relinked[self._relinked_at :]
        self._relinked_at = len(self._relinked)
        relinked = {row for row in rows if row < self._known and self._open.get(row) != _NOT_REPORTED}
        self._open |= dict.fromkeys(relinked, _NOT_REPORTED)
        return relinked

    def _read_new(self) -> None:
        for row in range(self._known, len(self._links)):
            self._open[row] = _NOT_REPORTED
        self._known = len(self._links)

    def _is_pending(self, row: int) -> bool:
        return self._links[row].state is CallState.PENDING

    def _key(self, row: int) -> int:
        link = self._links[row]
        return 2 * _STATES.index(link.state) + (link.reply is not None)

    def _shown(self, rows: list[int]) -> list[ShownCall]:
        return [shown for shown in (self._show(self._links[row]) for row in rows) if shown is not None]


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,64}")
"""The pattern of tool names that may be printed. Any other name could be arbitrary text."""


class CallLines:
    """Looks up the calls of a growing ledger by message. It returns no text other than plain tool names."""

    def __init__(self, ledger: CallLedger, index: MessageIndex) -> None:
        self._ledger = ledger
        self._index = index
        self._rows: dict[int, int] = {}
        """The ledger row of each call, by message number."""
        self._read = 0

    def of(self, number: int) -> BriefCall:
        """Return the line for the call in a message. A call that has not been checked yet is pending."""
        transcript, row = self._index.transcript(number), self._row(number)
        if row is None:
            name = self._index.example(self._index.header_key(number)).header.recipient
            shown = plain_tool_name(full_tool_name(name)) if name else UNNAMED
            return BriefCall(transcript, number, shown, CallState.PENDING.value, None)
        link = self._ledger.link(row)
        name = plain_tool_name(link.tool)
        return BriefCall(transcript, number, name, link.state.value, link.latency_ms, link.observed_ms)

    def is_answered(self, number: int) -> bool:
        """True if the call in this message has its reply."""
        row = self._row(number)
        return row is not None and self._ledger.is_answered(row)

    def relinked(self, first: int) -> list[int]:
        """Return the message numbers of the calls whose reply was replaced, from the replacement at index `first`
        on."""
        return [self._ledger.call(row) for row in self._ledger.relinked[first:]]

    def _row(self, number: int) -> int | None:
        """Return the ledger row of the call in a message, or None if there is none. Rows of duplicate replies are
        ignored."""
        for row in range(self._read, len(self._ledger)):
            if self._ledger.state(row) is not CallState.DUPLICATE:
                self._rows.setdefault(self._ledger.call(row), row)
        self._read = len(self._ledger)
        return self._rows.get(number)


class LineWatch:
    """Tracks changes to the call lines that were printed while following. An answered call is checked again only if its
    reply is replaced."""

    def __init__(self, lines: CallLines) -> None:
        self._lines = lines
        self._printed: dict[int, BriefCall] = {}
        self._open: set[int] = set()
        self._relinked = 0

    def add(self, call: BriefCall) -> None:
        """Record that the line of a call was printed."""
        self._printed[call.number] = call
        self._open.add(call.number)

    def changed(self) -> list[BriefCall]:
        """Return the printed lines that have changed, in the order of the calls."""
        relinked = self._lines.relinked(self._relinked)
        self._relinked += len(relinked)
        numbers = sorted(self._open | (set(relinked) & self._printed.keys()))
        self._open = {number for number in self._open if not self._lines.is_answered(number)}
        changed = [call for call in map(self._lines.of, numbers) if call != self._printed[call.number]]
        self._printed.update((call.number, call) for call in changed)
        return changed


def plain_tool_name(name: str) -> str:
    """Return the tool name if it may be printed, otherwise `tool`."""
    return name if _PLAIN_NAME.fullmatch(name) else UNNAMED
