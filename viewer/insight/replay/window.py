"""Windows of a replay: the end of long text, read from the beginning of an earlier turn instead of the first byte."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
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
from viewer.model.visibility import EVERYTHING
from viewer.reading.parser import Parser

SCREENS = 2
"""The minimum number of screens that the text of a window fills."""
MOST_SCREENS = 16
"""The minimum number of screens after a smaller window differed from the whole document."""
_BYTES_PER_CELL = 3
"""The number of bytes of text per cell that is rarely exceeded."""
LEAST = HEAD
"""The minimum offset for a window. Earlier offsets are always reached from the first byte, because the format is not
certain yet."""
MOST_TURNS_BACK = 8
"""The maximum number of turns by which a window may begin earlier, so that no call before it has a reply inside it."""
MOST_MESSAGES_BACK = 64
"""The maximum number of messages by which a window of records, which need not begin with a turn, may begin earlier, so
that no call before it has a reply inside it."""
MOST_FAILURES = 3
"""The number of windows that may differ from the whole document before only larger windows are tried, and eventually
none."""
MOST_HEAD = 1024 * 1024
"""The maximum length of the part that is read from the start of a file of records."""
_LATER = ("E-TOOL-", "E-STREAM-TRUNCATED", "E-PERM-VISIBILITY")
"""The codes that bytes after the moment may add to an earlier message."""
_INSTRUCTIONS = ("system", "developer")


class Window(Struct, frozen=True, gc=False):
    """Where a window begins."""

    first: int = 1
    """The first message of the window."""
    turn: int = 1
    """The turn of the first message."""
    start: int = 0
    """The offset from which the window is read."""
    head: int = 0
    """The length of the beginning that is read first: the document header, and the messages that declare tools."""
    head_messages: int = 0
    lines: int = 0
    """The number of lines before the window that are not read, for an audience that may know it."""
    label: int = 1
    """The number of the first message in the audience's numbering, not counting the messages of the head."""
    begins_turn: bool = True
    base: int = 0
    """The offset at which the transcript of the window begins."""
    transcript: int = 1
    """The number of the window's transcript in the audience's numbering."""
    columns: int = 0
    """The number of unread columns before the window in its first line, for an audience that may know it."""
    line: int = 0
    """The number of the window's first line among the lines that are read."""


WHOLE = Window()


class _Part(Struct, frozen=True, gc=False):
    """The facts about one transcript of the input that its windows need."""

    number: int
    first: int
    """The first message of the transcript."""
    last: int
    base: int
    """The offset at which the transcript begins."""
    head: int
    """The last message to read first, which is the last one that declares tools; `first - 1` if none is read first."""
    has_plain_head: bool


class Windows:
    """The windows of a complete document. Each begins at the start of a transcript, or within one.

    If every message is a separate frame, reading may begin at the end of any closed message: the result is the same as
    that of reading everything, except for numbers and turns. A record may refer to earlier records, so a window of
    records begins after the last byte of all earlier messages, and `ReadWindow` compares what it reads with the whole
    document."""

    def __init__(self, final: Document, view: Projection) -> None:
        self._final = final
        self._view = view
        self.has_frames = Parser(FORMATS[final.detection.format]).has_frames
        self._failures = 0
        self._screens = SCREENS
        self._has_windows = len(final.index) > 0
        self._newest_part = _Part(0, 0, 0, 0, 0, has_plain_head=False)
        self._asked = (0, 0)
        """The number of a transcript, and the result of `_first_asked` for that transcript."""

    def note_right(self) -> None:
        """Reset the number of failures, because a window matched the whole document."""
        self._failures = 0

    def after_wrong(self, at: int, size: tuple[int, int], window: Window) -> Window:
        """Return a larger window, because `window` differed from the whole document. After several failures, all later
        windows are larger, or none are used."""
        self._failures += 1
        screens = self._screens
        if self._failures >= MOST_FAILURES:
            self._failures = 0
            self._has_windows = screens < MOST_SCREENS
            self._screens = MOST_SCREENS
        larger = self.before(at, size, MOST_SCREENS) if screens < MOST_SCREENS else WHOLE
        return larger if larger.start < window.start else WHOLE

    @cached_property
    def _starts(self) -> array[int]:
        index = self._final.index
        return array("Q", index.bounds(1, len(index))[0])

    @cached_property
    def _reach(self) -> array[int]:
        """For each message, the maximum end offset of that message and all messages before it."""
        index = self._final.index
        return array("Q", accumulate(index.bounds(1, len(index))[1], max))

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """Each answered call with its reply, in order of the calls."""
        return sorted(self._final.tally.answered())

    @cached_property
    def _answered(self) -> tuple[array[int], array[int]]:
        """The answered calls in order and, for each of them, the last reply to any call up to that call."""
        links = self.links
        return array("I", [call for call, _ in links]), array("I", accumulate((reply for _, reply in links), max))

    def before(self, at: int, size: tuple[int, int], screens: int = 0) -> Window:
        """Return the shortest window that ends at an offset and fills screens of this width and height, or `WHOLE` if
        there is none."""
        newest = bisect_left(self._starts, at) if self._has_windows and at >= LEAST else 0
        row = (
            self._row_above(newest, size[0], size[1] * (screens or self._screens)) if newest and len(self._rows) else 0
        )
        first = self._rows.last_number(row) if row > 0 else 1
        if first <= 1:
            return WHOLE
        part = self._part(first)
        found = self._window_of_turns(part, first) if self.has_frames else self._window_near(part, first)
        return found or self._window_of_transcript(part)

    def _row_above(self, newest: int, width: int, lines: int) -> int:
        """Return a row far enough above a message that the rows in between have this many lines. Each row counts as two
        lines, and a message also counts the lines of its text."""
        rows, index, cut = self._rows, self._final.index, self._final.tally.cut
        row = rows.row_of(newest)
        while row > 0 and lines > 0:
            row -= 1
            lines -= 2
            if rows.kind(row) is RowKind.MESSAGE and rows.value(row) not in cut:
                text = sum(piece.end - piece.start for piece in index[rows.value(row)].pieces)
                lines -= text // (_BYTES_PER_CELL * width)
        return row

    def _part(self, message: int) -> _Part:
        """Return the facts about the transcript that contains a message."""
        final, index = self._final, self._final.index
        number = index.transcript(message)
        if self._newest_part.number != number:
            first, last = index.numbers_of_transcript(number) or (message, message)
            base = final.tally.transcript_start(number) if number > 1 else 0
            head = final.tally.last_declaring(first, last) or first - 1
            is_plain = head < last and all(index.role(each) in _INSTRUCTIONS for each in range(first, head + 1))
            self._newest_part = _Part(number, first, last, base, head if is_plain else first - 1, is_plain)
        return self._newest_part

    def _window_of_transcript(self, part: _Part) -> Window:
        """Return the window that begins with a transcript, or `WHOLE` if none may begin there."""
        first, base, rows = part.first, part.base, self._rows
        row = self._next_message(first)
        if part.number == 1 or row is None or not self._is_open_to(first):
            return WHOLE
        shows_columns = self.has_frames and not self._view.audience.is_safe
        if shows_columns and not self._final.stored.begins_line(self._starts[first - 1]):
            return WHOLE  # the columns of diagnostics on this line would be wrong
        label = rows.label(row) if self._view.audience.strict else first
        lines = self._skipped_lines(first, self._final.stored.count_lines(base, self._starts[first - 1]))
        number = rows.transcript_label(part.number)
        return Window(first, 1, base, lines=lines, label=label, base=base, transcript=number)

    def _window_of_turns(self, part: _Part, first: int) -> Window | None:
        for _ in range(MOST_TURNS_BACK):
            if first <= part.first:
                break
            first = self._final.index.turn_span(first)[0]
            found = self._window_from(part, first) if first > part.first else None
            if found is not None:
                return found
            first -= 1
        return None

    def _window_near(self, part: _Part, first: int) -> Window | None:
        """Return a window of records that begins near a message, with a turn if possible. Return None if there is no
        such window."""
        near = range(first, max(part.first, first - MOST_MESSAGES_BACK), -1)
        turns: list[int] = []
        others: list[int] = []
        for each in near:
            row = self._row_from(each)
            if row is not None:
                (turns if self._begins_turn(row) else others).append(each)
        return next(filter(None, (self._window_from(part, each) for each in (*turns, *others))), None)

    def _window_from(self, part: _Part, first: int) -> Window | None:
        """Return the window that begins with a message, or None if none may begin there."""
        row = self._row_from(first)
        if row is None or not self._may_begin(part, first):
            return None
        if not self.has_frames:
            return self._window_of_records(part, first, row)
        if not (part.has_plain_head and self._begins_turn(row)):
            return None
        head, base, stored = part.head, part.base, self._final.stored
        length = self._starts[head] - base
        read = stored.count_lines(base, base + length)
        lines, columns = self._skipped_lines(first, read), self._skipped_columns(first, base, length)
        if columns is None:
            return None
        in_head = head + 1 - part.first
        label = self._rows.label(row) if self._view.audience.strict else first - in_head
        return Window(
            *(first, self._rows.turn(row), self._starts[first - 1], length, in_head, lines, label),
            base=base,
            transcript=self._rows.transcript_label(part.number),
            columns=columns,
            line=read + 1,
        )

    def _skipped_lines(self, first: int, read: int) -> int:
        """Return the number of unread lines before a message, for an audience that may know it. `read` is the number of
        lines that were read."""
        return 0 if self._view.audience.is_safe else self._line(first) - 1 - read

    def _skipped_columns(self, first: int, base: int, read: int) -> int | None:
        """Return the number of unread columns before a message in its line, for an audience that may know it. `read` is
        the number of bytes from `base` on that were read. None if the columns cannot be counted quickly."""
        if self._view.audience.is_safe:
            return 0
        stored = self._final.stored
        before, near = stored.columns_before(self._starts[first - 1]), stored.columns_before(base + read, base)
        return None if before is None or near is None else before - near

    def _window_of_records(self, part: _Part, first: int, row: int) -> Window | None:
        stored, rows = self._final.stored, self._rows
        start = stored.line_after(self._reach[first - 2] - 1, self._starts[first - 1] + 1)
        if start > self._starts[first - 1]:
            return None
        begins_turn = self._begins_turn(row)
        base, before = part.base, part.first - 1
        asked = 0 if begins_turn else self._first_asked(part)
        if asked > before + MOST_MESSAGES_BACK:
            return None
        head, turn = max(part.head, asked), rows.turn(row)
        end = stored.line_after(self._reach[head - 1] - 1, start) if asked > part.head else 0
        end = end or max(base, stored.line_start(self._starts[head]))
        if not head < first or not end < start or end - base > MOST_HEAD:
            return None
        label = first - (head - before)
        if self._view.audience.strict:
            near = range(rows.row_of(part.first), len(rows))[: head - before]
            label = rows.label(row) - sum(before < rows.last_number(each) <= head for each in near)
        read = stored.count_lines(base, end) + stored.count_lines(start, self._starts[first - 1])
        return Window(
            *(first, turn, start, end - base, head - before, self._skipped_lines(first, read), label, begins_turn),
            base=base,
            transcript=rows.transcript_label(part.number),
        )

    def _first_asked(self, part: _Part) -> int:
        """Return the first message of a transcript that begins a turn for this audience; 0 if none does. A window that
        begins within a turn needs this message, so that the next turn is counted as a new one."""
        if self._asked[0] != part.number:
            self._asked = part.number, self._find_asked(part)
        return self._asked[1]

    def _find_asked(self, part: _Part) -> int:
        rows, index = self._rows, self._final.index
        is_safe = self._view.audience.is_safe
        for row in range(rows.row_of(part.first), len(rows)):
            number = rows.last_number(row)
            if number > part.last:
                break
            is_user = rows.kind(row) is RowKind.MESSAGE and number >= part.first and index.role(number) == "user"
            if is_user and (is_safe or not is_aside(index[number].header)):
                return number
        return 0

    def _row_from(self, first: int) -> int | None:
        """Return the row of this message or, for records, of the next message that the audience sees. Return None if
        there is none."""
        rows = self._rows
        if self.has_frames:
            row = rows.row_holding(first)
            return row if row is not None and rows.kind(row) is RowKind.MESSAGE else None
        return self._next_message(first)

    def _next_message(self, first: int) -> int | None:
        """Return the row of the first message from this one on that the audience sees, or None if there is none."""
        rows = self._rows
        later = range(rows.row_of(first), len(rows))
        return next(
            (each for each in later if rows.kind(each) is RowKind.MESSAGE and rows.last_number(each) >= first), None
        )

    def _begins_turn(self, row: int) -> bool:
        """True if the message of a row begins a turn for this audience."""
        rows = self._rows
        places = range(row - 1, -1, -1)
        before = next((each for each in places if rows.kind(each) is RowKind.MESSAGE), None)
        if before is None or rows.transcript(before) != rows.transcript(row):
            return True
        return rows.turn(row) != rows.turn(before)

    @cached_property
    def _rows(self) -> Rows:
        return self._view.rows()

    def _line(self, number: int) -> int:
        """Return the line of a message, for an audience that may know it, or 0 if it has none."""
        shown = self._final.project(EVERYTHING, withholds=False).message(number)
        return (shown.line if shown else None) or 0

    def _may_begin(self, part: _Part, first: int) -> bool:
        """True if a window within a transcript may begin with this message."""
        index = self._final.index
        if first <= part.head + 1 or (self.has_frames and index[part.head + 1].broke_out):
            return False
        return self._is_open_to(first)

    def _is_open_to(self, first: int) -> bool:
        """True if reading may begin with this message: no message before it is open, and no call before it is answered
        later."""
        index = self._final.index
        if index[first].broke_out or index[first].header.malformed:
            return False
        if self.has_frames and index[first - 1].ending is Ending.OPEN:
            return False
        calls, replies = self._answered
        before = bisect_left(calls, first)
        return not before or replies[before - 1] < first


class ReadWindow:
    """Compares the content of a window of records with the whole document."""

    def __init__(self, final: Document, window: Window, links: Sequence[tuple[int, int]]) -> None:
        """`links` contains each answered call of the whole document with its reply, in order of the calls."""
        self._final = final
        self._all_links = links
        self._before = window.first - 1 - window.head_messages
        self._skipped = window.start - window.head
        self._head, self._start = window.head_messages, window.start
        self._compared = window.head_messages
        """The number of messages that were already compared."""
        self._transcripts = final.index.transcript(window.first) - 1

    @cached_property
    def _problems(self) -> set[Problem]:
        return self._final.tally.problems(self._head + self._before, self._start)

    @cached_property
    def omitted(self) -> frozenset[str]:
        """The codes of diagnostics that the whole document no longer keeps in this window, because too many precede
        it."""
        kept = {each[0] for each in self._problems}
        return frozenset(code for code in self._final.tally.unlisted if code not in kept)

    def _links(self, count: int) -> set[tuple[int, int]]:
        """Return each call of the whole document with its reply, if both are in the window and not after a message. The
        numbers are those of the window."""
        links, before = self._all_links, self._before
        first, last = bisect_left(links, (before + self._head + 1,)), bisect_left(links, (before + count + 1,))
        found = {(call - before, reply - before) for call, reply in links[first:last]}
        return {link for link in found if self._head < min(link) and max(link) <= count}

    def is_right(self, read: LiveDocument) -> bool:
        """True if the messages that were read since the last comparison have the headers, bytes, diagnostics, and
        replies that they have in the whole document."""
        count, before, first = len(read.index), self._before, self._head + 1
        known, whole = self._compared, self._final.index
        if count + before > len(whole):
            return False
        if count >= first and read.index.transcript(count) + self._transcripts != whole.transcript(count + before):
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
        links = {link for link in read.tally.answered() if min(link) > self._head}
        if links != self._links(count):
            return False
        self._compared = max(known, min([*read.open_numbers, count], default=count) - 1)
        return True

    def _is_same(self, read: Message, whole: Message) -> bool:
        """True if a message begins like its counterpart in the whole document or, once closed, equals it. The end of a
        message may still change its header."""
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
