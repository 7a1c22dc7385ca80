"""Rows of a projection: shown messages, stray text, and runs of hidden messages; they grow with the document."""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from viewer.checks.analysis import Analysis
from viewer.document.message_set import MessageSet
from viewer.document.panes import Pane, lane_of
from viewer.document.turn_starts import Border, TurnStarts, turn_starts
from viewer.document.visibility_cache import AT_ONCE, MANY, VisibilityCache
from viewer.index.messages import MessageIndex
from viewer.index.turns import TurnCounter
from viewer.model.visibility import Audience


class RowKind(Enum):
    """Kind of a row."""

    MESSAGE = 0
    HIDDEN = 1
    STRAY = 2


_KINDS = tuple(RowKind)


@dataclass(slots=True)
class _Mark:
    """The end of the settled rows: rows after it are rebuilt when more was read."""

    length: int = 0
    last_value: int = 0
    taken: int = 0
    shown: int = 0
    strays: int = 0
    turns: TurnCounter = field(default_factory=TurnCounter)


class Rows:
    """The rows that one audience sees, in input order; about 20 bytes each, no bodies."""

    def __init__(
        self, analysis: Analysis, audience: Audience, lane: Pane | None = None, only: MessageSet | None = None
    ) -> None:
        self._analysis = analysis
        self._audience = audience
        self._sight = VisibilityCache(analysis.index, audience.sees)
        self._wants = VisibilityCache(analysis.index, lambda message: lane_of(message) is lane) if lane else None
        self._users = VisibilityCache(analysis.index, lambda message: message.header.role == "user")
        self._only = only
        self._kinds = array("B")
        self._values = array("I")
        self._numbers = array("I")
        """The number of the last message up to this row, shown or hidden."""
        self._labels = array("I")
        """The number of a shown message in this view, if it differs."""
        self._turns = array("I")
        """The turns in the view, if they differ from those of the index."""
        self._transcripts = array("I")
        self._transcripts_at = (-1, -1)
        """The state of the rows when `_transcripts` was computed, for a strict audience."""
        self._now = _Mark()
        self._settled = _Mark()
        self.settled = 0
        """The number of rows that are final, except the last one: a run of hidden messages may get longer."""
        self.settled_number = 0
        """All messages up to this number are settled."""

    def __len__(self) -> int:
        return len(self._kinds)

    def kind(self, row: int) -> RowKind:
        """The kind of a row."""
        return _KINDS[self._kinds[row]]

    def value(self, row: int) -> int:
        """The number of the message, the count of hidden messages, or the position of the stray text."""
        return self._values[row]

    def columns(self, first: int, last: int) -> tuple[array[int], array[int]]:
        """The kinds and values of the rows from `first` up to, but not including, `last`."""
        return self._kinds[first:last], self._values[first:last]

    def messages_in(self, rows: array[int]) -> MessageSet:
        """The shown messages of these rows."""
        if len(rows) < MANY:
            return MessageSet(self._values[row] for row in rows if self._kinds[row] == RowKind.MESSAGE.value)
        import numpy as np

        at = np.frombuffer(rows, rows.typecode)
        kinds, values = (np.array(column)[at] for column in (self._kinds, self._values))
        return MessageSet(array("I", values[kinds == RowKind.MESSAGE.value].tobytes()))

    def label(self, row: int) -> int:
        """The number of the message of a row in this view."""
        if self._audience.strict:
            return self._labels[row]
        return self._values[row] if self._kinds[row] == RowKind.MESSAGE.value else 0

    def last_number(self, row: int) -> int:
        """The number of the last message up to this row, shown or hidden."""
        return self._numbers[row]

    def transcript(self, row: int) -> int:
        """The transcript of a row."""
        if self._kinds[row] == RowKind.STRAY.value:
            return self._analysis.strays[self._values[row]].transcript
        return self._analysis.index.transcript(max(1, self._numbers[row])) if len(self._analysis.index) else 1

    @property
    def reach(self) -> int:
        """The number of the last message in the rows, shown or hidden."""
        return self._now.taken

    def rows_of_transcript(self, transcript: int) -> range:
        """The rows of a transcript."""
        every = range(len(self))
        first = bisect_left(every, transcript, key=self.transcript)
        return range(first, bisect_right(every, transcript, first, key=self.transcript))

    @property
    def shown_transcripts(self) -> Sequence[int]:
        """The transcripts that this audience knows of, in order; for a strict one only those with shown messages."""
        if not self._counts_shown:
            return range(1, len(self._analysis.transcripts) + 1)
        state = len(self), self._now.taken
        if self._transcripts_at != state:
            self._transcripts, self._transcripts_at = self._find_transcripts(), state
        return self._transcripts

    def _find_transcripts(self) -> array[int]:
        found = array("I")
        if not len(self):
            return found
        starts = [*self._analysis.index.transcripts(1, self._numbers[-1]), (self._numbers[-1] + 1, 0)]
        row = 0
        for (_, number), (after, _) in pairwise(starts):
            if row < len(self) and self._numbers[row] < after:
                found.append(number)
                row = bisect_left(self._numbers, after, row)
        return found

    @property
    def _counts_shown(self) -> bool:
        """True for an audience that must not know of transcripts without shown messages; all its rows are messages."""
        return self._audience.strict and self._audience.is_safe

    def transcript_label(self, transcript: int) -> int:
        """The number of a transcript for this audience."""
        return bisect_left(self.shown_transcripts, transcript) + 1 if self._counts_shown else transcript

    def turn(self, row: int) -> int:
        """The turn of the message of a row; for the end user, turns count only shown messages."""
        if self._audience.is_safe:
            return self._turns[row]
        is_message = self._kinds[row] == RowKind.MESSAGE.value
        return self._analysis.index.turn(self._values[row]) if is_message else 0

    def row_of_turn(self, turn: int, transcript: int = 1) -> int | None:
        """The first row with a message of this turn of a transcript."""
        if self._audience.is_safe:
            rows = self.rows_of_transcript(transcript)
            return next((row for row in rows if turn and self._turns[row] == turn), None)
        for number in self._analysis.index.numbers_of_turn(transcript, turn):
            row = self.row_of(number)
            if self.kind(row) is RowKind.MESSAGE and self._values[row] == number:
                return row
        return None

    def turn_starts(self, first: int, turn: int, transcript: int) -> TurnStarts:
        """The rows from `first` on that begin a turn, for the end user; `turn` and `transcript` are those of the row
        before."""
        index = self._analysis.index
        if first >= len(self):
            return turn_starts(array("I"), ())
        found = index.transcripts(max(1, self._numbers[first]), max(1, self._numbers[-1]))
        rows = [first, *(bisect_left(self._numbers, number) for number, _ in found[1:])]
        borders = [Border(row - first, number) for row, (_, number) in zip(rows, found, strict=True)]
        return turn_starts(self._turns[first:], borders, turn, transcript, base=first)

    def last_turn(self, transcript: int = 1) -> int:
        """The highest turn number of a transcript."""
        if self._audience.is_safe:
            rows = self.rows_of_transcript(transcript)
            return max(self._turns[rows.start : rows.stop], default=0)
        span = self._analysis.index.numbers_of_transcript(transcript)
        return max(self._analysis.index.turns(*span), default=0) if span else 0

    @property
    def is_whole(self) -> bool:
        """True if the rows cover all messages: no pane, no filter."""
        return self._wants is None and self._only is None

    def is_like(self, other: Rows) -> bool:
        """True if both cover all messages of one reading, for the same audience."""
        same = self._analysis is other._analysis and self._audience == other._audience
        return same and self.is_whole and other.is_whole

    @property
    def shown_count(self) -> int:
        """The number of shown messages."""
        return self._now.shown

    @property
    def hidden_count(self) -> int:
        """The number of hidden messages; 0 for a strict audience."""
        return 0 if self._audience.strict else self._now.taken - self._now.shown

    def row_of(self, number: int) -> int:
        """The row that shows or hides a message."""
        return min(bisect_left(self._numbers, number), max(0, len(self) - 1))

    def row_holding(self, number: int) -> int | None:
        """The row that shows a message or hides it among others; None if a pane or a filter excludes it."""
        row = self.row_of(number)
        if not len(self) or number > self._numbers[row]:
            return None
        kind = self.kind(row)
        if kind is RowKind.MESSAGE:
            return row if self._values[row] == number else None
        return row if kind is RowKind.HIDDEN and number > self._numbers[row] - self._values[row] else None

    def row_of_stray(self, stray: int) -> int:
        """The row of the stray text at this index, or the nearest row."""
        after = self._analysis.strays[stray].after
        first, end = bisect_left(self._numbers, after), bisect_right(self._numbers, after)
        row = bisect_left(range(first, end), stray, key=self._stray_at) + first
        return max(0, min(row, end - 1, len(self) - 1))

    def _stray_at(self, row: int) -> int:
        return self._values[row] if self._kinds[row] == RowKind.STRAY.value else -1

    def extend(self) -> int:
        """Add newly read rows; return the first row that may have changed."""
        self._go_back()
        changed = max(0, len(self) - 1)
        last = len(self._analysis.index)
        self.settled_number = min(self._analysis.unsettled, default=last + 1) - 1
        if self._analysis.is_partial and not self._audience.sees_thoughts:
            last = self.settled_number  # it may turn out to be a thought
        self._take(self.settled_number)
        self._remember()
        self._take(last)
        self._add_strays(last + 1)
        self.settled = self._settled.length
        while self.settled < len(self) and self.kind(self.settled) is RowKind.STRAY:
            self.settled += 1
        return changed

    def _go_back(self) -> None:
        mark = self._settled
        for column in (self._kinds, self._values, self._numbers, self._labels, self._turns):
            del column[mark.length :]  # some are empty
        if mark.length:
            self._values[-1] = mark.last_value
            self._numbers[-1] = mark.taken
        self._now = copy.copy(mark)
        self._now.turns = copy.copy(mark.turns)

    def _remember(self) -> None:
        now = self._now
        self._settled = copy.copy(now)
        self._settled.turns = copy.copy(now.turns)
        self._settled.length = len(self)
        self._settled.last_value = self._values[-1] if self._values else 0

    def _take(self, last: int) -> None:
        """Add the messages up to this number, and the stray text before the last of them."""
        now, strays = self._now, self._analysis.strays if self._audience.sees_stray else []
        while now.taken < last:
            self._add_strays(now.taken + 1)
            stop = min(last, strays[now.strays].after) if now.strays < len(strays) else last
            if stop - now.taken >= MANY:
                self._take_many(min(stop, now.taken + AT_ONCE))
            else:
                self._take_few(stop)

    def _take_few(self, last: int) -> None:
        index, now, sees, is_safe = self._analysis.index, self._now, self._sight.sees_key, self._audience.is_safe
        for number, key in index.look_keys(now.taken + 1, last):
            now.taken = number
            if self._only is not None and number not in self._only:
                continue
            if self._wants and not self._wants.sees_key(number, key):
                continue
            if sees(number, key):
                now.shown += 1
                turn = now.turns.after(index.transcript(number), index.role(number)) if is_safe else 0
                self._append(RowKind.MESSAGE, number, now.shown, turn)
            elif not self._audience.strict:
                self._hide(number, index)

    def _take_many(self, last: int) -> None:
        from viewer.document.many_rows import Request, make_rows

        now, audience = self._now, self._audience
        ends_hidden = len(self) and self._kinds[-1] == RowKind.HIDDEN.value
        request = Request(
            self._analysis.index,
            self._sight,
            self._wants,
            self._only,
            audience.strict,
            audience.is_safe,
            self._users,
            now.turns,
            now.shown,
            self._numbers[-1] if ends_hidden else 0,
        )
        made = make_rows(request, now.taken + 1, last)
        if made.joined:
            self._values[-1] += made.joined
            self._numbers[-1] = made.joined_to
        columns = (
            (self._kinds, made.kinds),
            (self._values, made.values),
            (self._numbers, made.numbers),
            (self._labels, made.labels),
            (self._turns, made.turns),
        )
        for column, more in columns:
            if more is not None:
                column.frombytes(more.data)
        now.taken = last
        now.shown += made.shown

    def _hide(self, number: int, index: MessageIndex) -> None:
        joins = len(self) and self._kinds[-1] == RowKind.HIDDEN.value and self._numbers[-1] == number - 1
        if joins and index.transcript(number - 1) == index.transcript(number):
            self._values[-1] += 1
            self._numbers[-1] = number
        else:
            self._append(RowKind.HIDDEN, 1, 0, 0)

    def _append(self, kind: RowKind, value: int, label: int, turn: int) -> None:
        self._kinds.append(kind.value)
        self._values.append(value)
        self._numbers.append(self._now.taken)
        if self._audience.strict:
            self._labels.append(label)
        if self._audience.is_safe:
            self._turns.append(turn)

    def _add_strays(self, before: int) -> None:
        """Add the stray text before the message with this number."""
        strays = self._analysis.strays if self._audience.sees_stray else []
        while self._now.strays < len(strays) and strays[self._now.strays].after < before:
            self._append(RowKind.STRAY, self._now.strays, 0, 0)
            self._now.strays += 1
