"""Arrivals: the parts of messages in the order in which they arrived, as columns. For computations only; no view may
use them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

from viewer.document.document import Document
from viewer.document.visibility_cache import VisibilityCache
from viewer.formats import FORMATS
from viewer.index.messages import MessageIndex
from viewer.model.messages import VERBATIM, Coding, Message
from viewer.model.visibility import Audience, Reveal, is_preamble
from viewer.sources.replay.recorded_times import RecordedTimes

NO_TIME = -1
_SEEN, _WHOLE, _PIECE = 1, 2, 4
_OF_LINES = frozenset({"server-log", "harmony-tokens"})
"""Formats that are read line by line although their bodies are not JSON content."""
_TEXTS = frozenset(VERBATIM) | {
    *(Coding.ESCAPED, Coding.JSON_STRING, Coding.JSON_TEXT, Coding.NESTED_TEXT, Coding.SPLIT_STRING),
    *(Coding.PYTHON_STRING, Coding.NESTED_PYTHON, Coding.HTML_TEXT, Coding.TOKEN_IDS),
}
"""The codings of text. A piece with any other coding counts as empty, because its span covers the data and fields of an
attachment."""


class Arrivals:
    """The parts of all messages of a complete document in the order in which they arrived."""

    def __init__(
        self,
        document: Document,
        audience: Audience,
        recorded: RecordedTimes | None = None,
        work: Callable[[], None] = lambda: None,
    ) -> None:
        """`work` is called regularly and may raise an exception to stop."""
        self.ends = array("Q")
        """The offset after the last byte of each part."""
        self.sizes = array("Q")
        """The number of bytes of text in each part, as encoded in the input."""
        self.numbers = array("I")
        """The number of the message to which each part belongs."""
        self.times = array("q")
        """The time at which each part arrived, in milliseconds since 1970; -1 if unknown."""
        self._flags = bytearray()
        self._document = document
        self.recorded = recorded
        """The recorded times; None if the times come from the records."""
        self._work = work
        index = document.index
        format = FORMATS[document.detection.format]
        self._shows_parts = not format.json_content and format.name not in _OF_LINES
        """True if text is shown as its bytes arrive, not only when its line is complete."""
        self._cut = frozenset() if audience.reveals(Reveal.ALL) else document.tally.cut
        seen = VisibilityCache(index, audience.sees)
        self._project = document.project(audience, withholds=False)
        bounds, bodies = index.bounds(1, len(index)), index.bodies(1, len(index))
        for number in range(1, len(index) + 1):
            if not number % 4096:
                work()
            kind = index.header_key(number)
            flags = _SEEN * seen.sees_kind(kind)
            if flags and (number in self._cut or is_preamble(index.example(kind))):
                self._add_whole(index[number], flags | _WHOLE)
                continue
            row = number - 1
            is_apart = self._is_apart(bounds, row)
            if is_apart and not flags:
                self._add(bounds[1][row], 0, number, None, flags)
            elif index.regular_kinds[kind] and (is_apart or recorded):
                end = bounds[1][row] if is_apart else bodies[1][row]
                self._add_run(number, bodies[0][row], bodies[1][row], end, flags)
            else:
                self._add_pieces(index[number], flags | _PIECE)
        self._sort()
        if recorded is None:
            self._read_times()

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def index(self) -> MessageIndex:
        """The messages to which the parts belong."""
        return self._document.index

    def is_seen(self, row: int) -> bool:
        """True if the audience sees the message to which a part belongs."""
        return bool(self._flags[row] & _SEEN)

    def is_whole(self, row: int) -> bool:
        """True if a part appears only when its message is complete: the message has hidden parts, or is a preamble."""
        return bool(self._flags[row] & _WHOLE)

    def _add(self, end: int, size: int, number: int, time_ms: int | None, flags: int) -> None:
        self.ends.append(end)
        self.sizes.append(size)
        self.numbers.append(number)
        self.times.append(NO_TIME if time_ms is None else time_ms)
        self._flags.append(flags)

    @staticmethod
    def _is_apart(bounds: tuple[Sequence[int], Sequence[int]], row: int) -> bool:
        """True if a message shares its whole record with each neighbor, or none of it. If the message is hidden, it is
        then placed at the end of its record, because the positions of its pieces depend on its text."""
        starts, ends = bounds
        start, end = starts[row], ends[row]
        if row and ends[row - 1] > start and not (starts[row - 1] == start and ends[row - 1] == end):
            return False
        after = row + 1
        return after == len(starts) or starts[after] >= end or (starts[after] == start and ends[after] == end)

    def _add_whole(self, message: Message, flags: int) -> None:
        """Add a message as a single part, because its hidden parts must not be counted."""
        shown = self._project.message(message.number)
        size = len(shown.body.encode("utf-8", "replace")) if shown else 0
        self._add(message.span[1], size, message.number, self._time(message.span[1], message.time_ms), flags)

    def _add_run(self, number: int, start: int, end: int, message_end: int, flags: int) -> None:
        """Add a body that is one run of bytes. If its arrival was recorded, add the parts in which it arrived."""
        time_ms = self._document.index.time_ms(number)
        start = self._add_splits(number, start, end, flags)
        self._add(message_end, end - start, number, self._time(end, time_ms), flags)

    def _add_splits(self, number: int, start: int, end: int, flags: int) -> int:
        """Add the parts in which the first bytes of the text arrived. Return where the last part begins."""
        if self.recorded and self._shows_parts:
            for at in self.recorded.between(start, end):
                self._add(at, at - start, number, self.recorded.at(at), flags)
                start = at
        return start

    def _add_pieces(self, message: Message, flags: int) -> None:
        """Add a body that arrived in pieces, such as the deltas of a stream."""
        pieces = [piece for piece in message.pieces if piece.end > piece.start]
        for piece in pieces:
            is_text = piece.coding in _TEXTS
            start = self._add_splits(message.number, piece.start, piece.end, flags) if is_text else piece.end
            self._add(piece.end, piece.end - start, message.number, self._time(piece.end, message.time_ms), flags)
        if not pieces:
            end = message.span[1]
            self._add(end, 0, message.number, self._time(end, message.time_ms), flags)

    def _time(self, end: int, stated: int | None) -> int | None:
        """Return the time at which the bytes before an offset had arrived or, if no times were recorded, the stated
        time; None if it is unknown. A record is read when its line is complete."""
        if not self.recorded:
            return stated
        stored, size = self._document.stored, self._document.size
        after = self.recorded.offset_from(end)
        if self._shows_parts or after is None or stored.count_lines(end, after):
            return self.recorded.at(end)
        return self.recorded.at(stored.line_after(after, size))

    def _sort(self) -> None:
        """Sort the parts into input order, because the parts of messages that arrived at the same time are
        interleaved."""
        if all(one <= other for one, other in pairwise(self.ends)):
            return
        order = sorted(range(len(self)), key=self.ends.__getitem__)
        for name in ("ends", "sizes", "numbers", "times"):
            column: array[int] = getattr(self, name)
            column[:] = array(column.typecode, [column[row] for row in order])
        self._flags[:] = bytes(self._flags[row] for row in order)

    def _read_times(self) -> None:
        """Replace the time of a message with the times of its pieces, if their records contain any."""
        rows = [row for row, flags in enumerate(self._flags) if flags & _PIECE]
        if not rows:
            return
        before = -1
        offsets = [max(0, self.ends[row] - 1) for row in rows]
        for row, time_ms in zip(rows, self._document.stored.line_times(offsets), strict=True):
            if time_ms is not None:
                self.times[row] = time_ms
            elif self.numbers[row] == before:
                self.times[row] = NO_TIME  # the message has the time of its first record
            before = self.numbers[row]
            if not row % 4096:
                self._work()
