"""Windows of a replay: the end of a long text, read from the beginning of an earlier turn instead of the first byte."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate

from msgspec import Struct

from viewer.document.document import Document, Problem
from viewer.document.live import LiveDocument
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.formats import FORMATS
from viewer.formats.detect import HEAD
from viewer.index.turns import is_aside
from viewer.model.messages import Ending, Message
from viewer.reading.parser import Parser

ROWS = 512
"""The rows that a window has at least, more than two screens."""
LEAST = 2 * HEAD
"""An offset before this one is reached from the first byte: the format is not certain before."""
MOST_TURNS_BACK = 8
"""A window begins at most this many turns earlier so that no call in it is answered from outside."""
MOST_MESSAGES_BACK = 64
"""The same for records, which need no turn to begin with."""
MOST_FAILURES = 3
"""After this many windows that differed from the whole document, no more are tried."""
MOST_HEAD = 1024 * 1024
"""The maximum length of the beginning of a file of records."""
_LATER = ("E-TOOL-", "E-STREAM-TRUNCATED", "E-PERM-VISIBILITY")
"""The codes that bytes after the moment may add to an earlier message."""
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
    label: int = 1
    """The number of the first message, as the audience counts, without those of the beginning."""
    begins_turn: bool = True


WHOLE = Window()


class Windows:
    """The windows of a complete document in a single transcript.

    Messages that are frames of their own bytes can be read from the end of any closed message: the result is the same
    as that of reading everything, except for numbers and turns. Records may refer to earlier ones, so a window of
    records begins after the last byte of all earlier messages, and `ReadWindow` compares what it reads with the whole
    document."""

    def __init__(self, final: Document, view: Projection) -> None:
        self._final = final
        self._view = view
        self.has_frames = Parser(FORMATS[final.detection.format]).has_frames
        head = final.tally.last_declaring
        """The number of messages up to the last one that declares tools. They are read first."""
        is_plain = final.tally.transcripts == 1 and head < len(final.index)
        is_head_plain = all(role in _INSTRUCTIONS for role in map(final.index.role, range(1, head + 1)))
        self._head = head if is_head_plain else 0
        self._failures = 0
        self._has_windows = is_plain and (is_head_plain or not self.has_frames)

    def note(self, *, is_right: bool) -> None:
        """Note whether a window was like the whole document. After several others, everything is read."""
        self._failures = 0 if is_right else self._failures + 1
        self._has_windows = self._has_windows and self._failures < MOST_FAILURES

    @cached_property
    def _starts(self) -> array[int]:
        index = self._final.index
        return array("Q", index.bounds(1, len(index))[0])

    @cached_property
    def _reach(self) -> array[int]:
        """The last byte of each message and of those before it."""
        index = self._final.index
        return array("Q", accumulate(index.bounds(1, len(index))[1], max))

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
        return self._window_of_turns(first) if self.has_frames else self._window_near(first)

    def _window_of_turns(self, first: int) -> Window:
        for _ in range(MOST_TURNS_BACK):
            if first <= 1:
                break
            first = self._final.index.turn_span(first)[0]
            found = self._window_from(first) if first > 1 else None
            if found is not None:
                return found
            first -= 1
        return WHOLE

    def _window_near(self, first: int) -> Window:
        """Return a window of records, which begins a turn if possible."""
        near = range(first, max(1, first - MOST_MESSAGES_BACK), -1)
        found = [window for window in map(self._window_from, near) if window is not None]
        return next((window for window in found if window.begins_turn), found[0] if found else WHOLE)

    def _window_from(self, first: int) -> Window | None:
        """Return the window that begins with a message, if one may."""
        row = self._row_from(first)
        if row is None or not self._may_begin(first):
            return None
        if not self.has_frames:
            return self._window_of_records(first, row)
        if not self._begins_turn(row):
            return None
        head = self._head
        lines = self._line(first) - self._line(head + 1)
        label = self._rows.label(row) if self._view.audience.strict else first - head
        return Window(first, self._rows.turn(row), self._starts[first - 1], self._starts[head], head, lines, label)

    def _window_of_records(self, first: int, row: int) -> Window | None:
        stored, rows = self._final.stored, self._rows
        start = stored.line_after(self._reach[first - 2] - 1, self._starts[first - 1] + 1)
        if start > self._starts[first - 1]:
            return None
        begins_turn = self._begins_turn(row)
        asked = 0 if begins_turn else self._first_asked
        if asked > MOST_MESSAGES_BACK:
            return None
        head, turn = max(self._head, asked), rows.turn(row)
        length = stored.line_after(self._reach[head - 1] - 1, start) if asked > self._head else 0
        length = length or stored.line_start(self._starts[head])
        if not head < first or not length < start or length > MOST_HEAD:
            return None
        lines, label = 0, first - head
        if self._view.audience.strict:
            label = rows.label(row) - sum(rows.last_number(each) <= head for each in range(min(head, len(rows))))
        if not self._view.audience.is_safe:
            lines = self._line(first) - stored.count_lines(start, self._starts[first - 1])
            lines -= 1 + stored.count_lines(0, length)
        return Window(first, turn, start, length, head, lines, label, begins_turn)

    @cached_property
    def _first_asked(self) -> int:
        """The first message that begins a turn, as the audience counts; 0 if none does. A window that begins within a
        turn needs it, so that the next turn counts as another one."""
        rows, index = self._rows, self._final.index
        is_safe = self._view.audience.is_safe
        for row in range(len(rows)):
            number = rows.last_number(row)
            is_user = rows.kind(row) is RowKind.MESSAGE and index.role(number) == "user"
            if is_user and (is_safe or not is_aside(index[number].header)):
                return number
        return 0

    def _row_from(self, first: int) -> int | None:
        """Return the row of this message; for records, or of the next one that the audience sees."""
        rows = self._rows
        if self.has_frames:
            row = rows.row_holding(first)
            return row if row is not None and rows.kind(row) is RowKind.MESSAGE else None
        later = range(rows.row_of(first), len(rows))
        return next(
            (each for each in later if rows.kind(each) is RowKind.MESSAGE and rows.last_number(each) >= first), None
        )

    def _begins_turn(self, row: int) -> bool:
        """True if the message of a row begins a turn, as the audience counts."""
        rows = self._rows
        places = range(row - 1, -1, -1)
        before = next((rows.turn(each) for each in places if rows.kind(each) is RowKind.MESSAGE), 0)
        return rows.turn(row) != before

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
        if first <= self._head + 1 or (self.has_frames and index[self._head + 1].broke_out):
            return False
        if index[first].broke_out or index[first].header.malformed:
            return False
        if self.has_frames and index[first - 1].ending is Ending.OPEN:
            return False
        shows_columns = self.has_frames and not self._view.audience.is_safe
        if shows_columns and not self._final.stored.begins_line(self._starts[first - 1]):
            return False  # the columns of diagnostics on this line would be wrong
        calls, replies = self._answered
        before = bisect_left(calls, first)
        return not before or replies[before - 1] < first


class ReadWindow:
    """What was read of a window of records, and whether it is what the whole document has there."""

    def __init__(self, final: Document, window: Window) -> None:
        self._final = final
        self._before = window.first - 1 - window.head_messages
        self._skipped = window.start - window.head
        self._head, self._start = window.head_messages, window.start
        self._compared = window.head_messages
        """The messages that were already compared."""

    @cached_property
    def _problems(self) -> set[Problem]:
        return self._final.tally.problems(self._head + self._before, self._start)

    @cached_property
    def omitted(self) -> frozenset[str]:
        """The codes of diagnostics that are no longer kept here, because there are too many before."""
        kept = {each[0] for each in self._problems}
        return frozenset(code for code in self._final.tally.unlisted if code not in kept)

    @cached_property
    def _links(self) -> set[tuple[int, int]]:
        return _links_of(self._final, self._before)

    def is_right(self, read: LiveDocument) -> bool:
        """True if the messages that were read since the last comparison have the headers, bytes, diagnostics, and
        replies that they have in the whole document."""
        count, before, first = len(read.index), self._before, self._head + 1
        known = self._compared
        if count + before > len(self._final.index):
            return False
        if count >= first and read.index[first].header != self._final.index[first + before].header:
            return False  # turns cannot be counted from a message that is not settled yet
        if not all(
            self._is_same(read.index[each], self._final.index[each + before]) for each in range(known + 1, count + 1)
        ):
            return False
        found = read.tally.problems(self._head, self._start - self._skipped)
        missing = (each for each in self._problems - found if each[2] <= count - self._head - 1)
        found = {each for each in found if each[0] not in self.omitted}
        if not found <= self._problems or any(not each[0].startswith(_LATER) for each in missing if each[2]):
            return False
        links = _links_of(read, 0)
        within = {link for link in self._links if self._head < min(link) and max(link) <= count}
        if {link for link in links if min(link) > self._head} != within:
            return False
        self._compared = max(known, min([*read.open_numbers, count], default=count) - 1)
        return True

    def _is_same(self, read: Message, whole: Message) -> bool:
        """True if a message begins like the one in the whole document, or equals it if it is closed. Its end may still
        change its header."""
        skipped = self._skipped
        is_settled = read.ending is not Ending.OPEN or whole.ending is Ending.OPEN
        if is_settled and read.header != whole.header:
            return False
        if read.span[0] + skipped != whole.span[0] or len(read.pieces) > len(whole.pieces):
            return False
        last = len(read.pieces) - 1
        for place, (one, other) in enumerate(zip(read.pieces, whole.pieces, strict=False)):
            if one.start + skipped != other.start or one.coding is not other.coding:
                return False
            if one.end + skipped != other.end and (place < last or one.end + skipped > other.end):
                return False
        return read.ending is Ending.OPEN or (read.ending is whole.ending and len(read.pieces) == len(whole.pieces))


def _links_of(document: Document, before: int) -> set[tuple[int, int]]:
    links = document.tally.links
    return {(link.call - before, link.reply - before) for link in links if link.call and link.reply}
