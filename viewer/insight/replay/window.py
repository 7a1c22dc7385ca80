"""Windows of a replay: the end of a long text, read from the beginning of an earlier turn instead of the first byte."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.formats import FORMATS
from viewer.formats.detect import HEAD
from viewer.model.messages import Ending
from viewer.reading.parser import Parser

ROWS = 512
"""The rows that a window has at least, more than two screens."""
LEAST = 2 * HEAD
"""An offset before this one is reached from the first byte: the format is not certain before."""
MOST_TURNS_BACK = 8
"""A window begins at most this many turns earlier so that no call in it is answered from outside."""
_INSTRUCTIONS = ("system", "developer")


class Window(Struct, frozen=True, gc=False):
    """Where a window begins."""

    first: int = 1
    """Its first message."""
    turn: int = 1
    """The turn of that message."""
    start: int = 0
    """The offset from which it is read."""
    head: int = 0
    """The length of the beginning that is read first: the document header, and the messages that declare tools."""
    head_messages: int = 0
    lines: int = 0
    """The lines between the header and the window, for an audience that may know them."""


WHOLE = Window()


class Windows:
    """The windows of a complete document whose messages are frames of their own bytes, in a single transcript.

    Reading from the end of a closed message gives the same messages as reading everything, except for their numbers
    and turns."""

    def __init__(self, final: Document, view: Projection) -> None:
        self._final = final
        self._view = view
        self._head = final.tally.last_declaring
        """The number of messages up to the last one that declares tools. They are read first."""
        is_plain = (
            Parser(FORMATS[final.detection.format]).has_frames
            and final.tally.transcripts == 1
            and self._head < len(final.index)
        )
        roles = map(final.index.role, range(1, self._head + 1))
        self._has_windows = is_plain and all(role in _INSTRUCTIONS for role in roles) and not view.audience.strict
        """False also for a strict audience, which counts only what it sees."""

    @cached_property
    def _starts(self) -> array[int]:
        index = self._final.index
        return array("Q", index.bounds(1, len(index))[0])

    @cached_property
    def _answered(self) -> tuple[array[int], array[int]]:
        """The calls in order, and the last reply to any call so far."""
        links = sorted((link.call, link.reply) for link in self._final.tally.links if link.call and link.reply)
        return array("I", [call for call, _ in links]), array("I", accumulate((reply for _, reply in links), max))

    def before(self, at: int) -> Window:
        """Return the shortest window that ends at an offset and holds the rows of a screen."""
        newest = bisect_left(self._starts, at) if self._has_windows and at >= LEAST else 0
        row = self._rows.row_of(newest) - ROWS if newest and len(self._rows) else 0
        first = self._rows.last_number(row) if row > 0 else 1
        for _ in range(MOST_TURNS_BACK):
            if first <= 1:
                break
            first = self._final.index.turn_span(first)[0]
            turn = self._turn_that_begins(first)
            if turn and first > 1 and self._may_begin(first):
                head = self._head
                lines = self._line(first) - self._line(head + 1)
                return Window(first, turn, self._starts[first - 1], self._starts[head], head, lines)
            first -= 1
        return WHOLE

    def _turn_that_begins(self, number: int) -> int:
        """Return the turn that begins with a message, as the audience counts; 0 if none does."""
        rows = self._rows
        row = rows.row_holding(number)
        if row is None or rows.kind(row) is not RowKind.MESSAGE:
            return 0
        places = range(row - 1, -1, -1)
        before = next((rows.turn(each) for each in places if rows.kind(each) is RowKind.MESSAGE), 0)
        return rows.turn(row) if rows.turn(row) != before else 0

    @cached_property
    def _rows(self) -> Rows:
        return self._view.rows()

    def _line(self, number: int) -> int:
        """Return the line of a message, for an audience that may know it."""
        shown = self._view.message(number)
        return (shown.line if shown else None) or 0

    def _may_begin(self, first: int) -> bool:
        """True if nothing before this message goes on after it."""
        index = self._final.index
        if first <= self._head + 1 or index[self._head + 1].broke_out:
            return False
        if index[first].broke_out or index[first].header.malformed or index[first - 1].ending is Ending.OPEN:
            return False
        if not self._view.audience.is_safe and not self._final.stored.begins_line(self._starts[first - 1]):
            return False  # the columns of diagnostics on this line would be wrong
        calls, replies = self._answered
        before = bisect_left(calls, first)
        return not before or replies[before - 1] < first
