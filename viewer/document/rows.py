"""Rows of a projection: messages, calls, stray text, folded branches and agents, and runs of hidden messages."""

from __future__ import annotations

import copy
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from enum import Enum
from itertools import pairwise
from typing import Protocol

from msgspec import Struct, field

from viewer.checks.analysis import Analysis
from viewer.columns.api import Column, Columns, Folded
from viewer.document.calls import CallLines
from viewer.document.visibility_cache import AT_ONCE, VisibilityCache
from viewer.index.messages import MessageIndex
from viewer.index.turns import TurnCounter
from viewer.model.visibility import Audience, Pane, Reveal, is_listed_call, is_listed_reply, pane_of


class RowKind(Enum):
    """The kinds of rows in a view: single messages, calls, stray text, and runs of messages."""

    MESSAGE = 0
    HIDDEN = 1
    STRAY = 2
    BRANCH = 3
    """A superseded branch, folded."""
    AGENT = 4
    """Adjacent messages of another agent, folded."""
    CALL = 5
    """A call at the brief level, with the replies directly below it."""


FOLDED_KINDS = frozenset({RowKind.BRANCH, RowKind.AGENT})
PLACE_KINDS = FOLDED_KINDS | {RowKind.MESSAGE, RowKind.CALL}
"""The kinds of rows at which the cursor stops when it moves from message to message."""
_RUNS = frozenset({RowKind.HIDDEN.value, RowKind.BRANCH.value, RowKind.AGENT.value})
"""Kinds of rows that represent several messages. Their value is the number of messages."""


class Folding(Struct, frozen=True):
    """Settings for the folding of superseded branches and of messages of other agents."""

    unfolded: frozenset[int] = frozenset()
    """Messages whose branches are shown unfolded."""


_KINDS = tuple(RowKind)


class MessageSet:
    """A set of messages, such as those that pass a filter, stored as sorted numbers of four bytes each."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = numbers if isinstance(numbers, array) else array("I", numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageSet) and self._numbers == other._numbers

    __hash__ = None  # type: ignore[assignment]

    def between(self, first: int, last: int) -> Column:
        """Return the messages of the set from `first` to `last`."""
        start = bisect_left(self._numbers, first)
        return self._numbers[start : bisect_right(self._numbers, last, start)]


class Border(Struct, frozen=True, gc=False):
    """The start of a transcript in a list of messages."""

    place: int
    transcript: int


class TurnStarts(Struct, frozen=True):
    """The starts of turns as columns, one entry per turn."""

    places: Column
    turns: Column
    transcripts: Column


def turn_starts(
    columns: Columns, turns: Column, borders: Sequence[Border], turn: int = 0, transcript: int = 0, *, base: int = 0
) -> TurnStarts:
    """Return the indices at which the turn changes, counted from `base`. A turn of 0 continues the turn of the previous
    message or, at the start of a transcript, is the first turn."""
    borders = [border for border in borders if border.place < len(turns)]
    if not borders:
        return TurnStarts(array("I"), array("I"), array("I"))
    starts = array("I", [border.place for border in borders])
    if borders[0].transcript == transcript and turn:
        del starts[0]
    found = columns.borders(turns, starts, turn)
    firsts = array("I", [border.place for border in borders])
    numbers = array("I", [border.transcript for border in borders])
    its = columns.take(numbers, columns.add(columns.lookup(firsts, columns.add(found.rows, 1)), -1))
    return TurnStarts(columns.add(found.rows, base), found.values, its)


class ThreadLookup:
    """Finds the threads of messages, once per kind: all messages of a kind belong to the same thread."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
        self._others = VisibilityCache(index, lambda message: message.header.thread != 0)
        self._main = VisibilityCache(index, lambda message: message.header.thread == 0)
        self._threads: dict[int, int] = {}

    def of(self, number: int) -> int:
        """Return the thread number of a message, or 0 for the main agent."""
        kind = self._index.header_key(number)
        if kind not in self._threads:
            self._threads[kind] = self._index.example(kind).header.thread
        return self._threads[kind]

    def runs(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return the runs of adjacent messages of another agent in this range; none in a transcript without a main
        agent."""
        if 1 not in self._others.mask(first, last):
            return []
        found: list[tuple[int, int]] = []
        spans = self._index.transcripts(first, last)
        for (start, _), after in zip(spans, [*(number for number, _ in spans[1:]), last + 1], strict=True):
            before = 0
            whole = self._index.numbers_of_transcript(self._index.transcript(start))
            if whole is None or self._main.first(*whole) is None:
                continue
            for number in range(start, after):
                thread = self.of(number)
                if thread and thread == before:
                    found[-1] = found[-1][0], number
                elif thread:
                    found.append((number, number))
                before = thread
        return found

    def messages(self, number: int) -> MessageSet:
        """Return the messages in the same thread and transcript as this message."""
        thread = self.of(number)
        first, last = self._index.numbers_of_transcript(self._index.transcript(number)) or (1, 0)
        return MessageSet(each for each in range(first, last + 1) if self.of(each) == thread)


class _Run(Struct, frozen=True, gc=False):
    """Adjacent messages that are folded into one row, or a call with its replies."""

    kind: RowKind
    first: int
    last: int


class Folds:
    """Finds the messages that are folded into one row: superseded branches, and messages of other agents."""

    def __init__(self, index: MessageIndex, audience: Audience, folding: Folding | None) -> None:
        """`folding` is None if nothing is folded."""
        self.folding = folding
        self._index = index
        self._audience = audience
        self._seen = VisibilityCache(index, audience.sees)
        self._threads = ThreadLookup(index)
        self._branches: list[tuple[int, int]] = []
        """The superseded branches as of the last update."""

    def update(self) -> bool:
        """Update the superseded branches. Return True if they changed, which makes earlier rows invalid."""
        if self._branches == self._index.branches:
            return False
        self._branches = [*self._index.branches]
        return True

    def runs(self, first: int, last: int) -> list[_Run]:
        """Return the folded runs among these messages. A branch without visible messages is hidden instead."""
        if self.folding is None:
            return []
        runs = [
            _Run(RowKind.BRANCH, max(first, branch[0]), min(last, branch[1]))
            for branch in self._branches
            if branch[0] <= last and first <= branch[1]
            and not any(branch[0] <= number <= branch[1] for number in self.folding.unfolded)
            and self._seen.first(*branch) is not None
        ]  # fmt: skip
        if self._audience.reveals(Reveal.SUBAGENT):
            branches = [*runs]
            runs += [
                _Run(RowKind.AGENT, *found)
                for found in self._threads.runs(first, last)
                if not any(run.first <= found[1] and found[0] <= run.last for run in branches)
            ]
        return runs

    def are_parts_of_one(self, kind: RowKind, one: int, other: int) -> bool:
        """True if the runs of this kind that contain these two messages belong together and form a single run."""
        if kind is RowKind.BRANCH:
            return self._index.branch_of(one) == self._index.branch_of(other)
        return kind is not RowKind.AGENT or self._threads.of(one) == self._threads.of(other)


class ListedCalls:
    """Finds the calls that have a row at the brief level, and the replies that belong to those rows."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
        self._calls = VisibilityCache(index, is_listed_call)
        self._replies = VisibilityCache(index, is_listed_reply)

    def count_replies(self, first: int, last: int) -> int:
        """Return the number of replies among these messages."""
        return self._replies.count(first, last)

    def after_replies(self, first: int, last: int) -> int:
        """Return the first of these messages that is not a reply, or the number after them if all are."""
        end = self._replies.mask(first, last).find(0)
        return last + 1 if end < 0 else first + end

    def runs(self, first: int, last: int, others: Sequence[_Run], starts: Set[int]) -> list[_Run]:
        """Return the calls in this range that have a row, each with the replies directly below it. A row never crosses
        the start of a transcript or a fold."""
        calls, replies = self._calls.mask(first, last), self._replies.mask(first, last)
        for run in others:
            hidden = bytes(run.last + 1 - run.first)
            calls[run.first - first : run.last + 1 - first] = replies[run.first - first : run.last + 1 - first] = hidden
        for start in starts:
            replies[start - first] = 0
        runs = []
        for call in self._index.columns.select(calls, first):
            end = replies.find(0, call + 1 - first)
            runs.append(_Run(RowKind.CALL, call, (end if end >= 0 else len(replies)) + first - 1))
        return runs


class _Mark(Struct):
    """The state at the end of the settled rows. Later rows are rebuilt when more is read."""

    length: int = 0
    last_value: int = 0
    last_number: int = 0
    taken: int = 0
    shown: int = 0
    strays: int = 0
    turns: TurnCounter = field(default_factory=TurnCounter)


class RowOrder(Protocol):
    """The rows that a scrolling pane shows: those of one input, or those of several inputs, merged."""

    def __len__(self) -> int: ...

    def kind(self, row: int) -> RowKind:
        """Return the kind of a row."""
        ...

    def value(self, row: int) -> int:
        """Return the number of the message or call, the count of hidden or folded messages, or the index of the
        stray text."""
        ...

    def last_number(self, row: int) -> int:
        """Return the number of the last message up to this row, shown or hidden."""
        ...

    def row_of(self, number: int) -> int:
        """Return the row that shows or hides a message. If there is none, return the next row, or else the last one."""
        ...

    def row_holding(self, number: int) -> int | None:
        """Return the row that shows a message or hides it in a run, or None if there is none."""
        ...

    def row_of_stray(self, stray: int) -> int:
        """Return the row of the stray text at this index, or the nearest row."""
        ...

    def transcript(self, row: int) -> int:
        """Return the transcript of a row."""
        ...

    @property
    def shown_transcripts(self) -> Sequence[int]:
        """The transcripts that the audience may know of, in order."""
        ...


class Rows:
    """The rows that one audience sees, in input order: about 20 bytes each, without bodies."""

    def __init__(
        self,
        analysis: Analysis,
        audience: Audience,
        pane: Pane | None = None,
        only: MessageSet | None = None,
        folding: Folding | None = None,
    ) -> None:
        """`folding` has no effect with a pane or a filter, or for a strict audience, whose rows are all messages."""
        self._analysis = analysis
        is_all = pane is None and only is None
        self._folds = Folds(analysis.index, audience, folding if is_all and not audience.strict else None)
        self._listed = ListedCalls(analysis.index) if is_all and audience.sees_call_lines else None
        """The calls that have their own row, for an audience that sees one line per call."""
        self._audience = audience
        self._seen = VisibilityCache(analysis.index, audience.sees)
        self._in_pane = VisibilityCache(analysis.index, lambda message: pane_of(message) is pane) if pane else None
        self._users = VisibilityCache(analysis.index, lambda message: message.header.role == "user")
        self.call_lines = CallLines(analysis.calls, analysis.index)
        """Looks up the content of call rows."""
        self._only = only
        self._kinds = array("B")
        self._values = array("I")
        self._numbers = array("I")
        """The number of the last message up to this row, shown or hidden."""
        self._labels = array("I")
        """The numbers of shown messages in this view, if they differ from those in the input."""
        self._turns = array("I")
        """The turns in this view, if they differ from those in the index."""
        self._transcripts = array("I")
        self._transcripts_at = (-1, -1)
        """The state of the rows for which `_transcripts` was last computed; used only for a strict audience."""
        self._now = _Mark()
        self._settled = _Mark()
        self.settled = 0
        """The number of final rows. The last of them may still be a run of hidden messages that grows."""
        self.settled_number = 0
        """All messages up to this number are settled."""

    def __len__(self) -> int:
        return len(self._kinds)

    def kind(self, row: int) -> RowKind:
        """Return the kind of a row."""
        return _KINDS[self._kinds[row]]

    def value(self, row: int) -> int:
        """Return the number of the message or call, the count of hidden or folded messages, or the index of the
        stray text."""
        return self._values[row]

    def header_key(self, row: int) -> int:
        """Return a key of the message in a row. Messages with equal keys differ only in their position, time, call ID,
        and body."""
        return self._analysis.index.header_key(self._values[row])

    def time_ms(self, row: int) -> int | None:
        """Return the time of the message in a row in milliseconds, or None if the input has none."""
        return self._analysis.index.time_ms(self._values[row])

    @property
    def columns(self) -> Columns:
        """The column operations of the document's backend."""
        return self._analysis.index.columns

    def kinds_and_values(self, first: int, last: int) -> tuple[Column, Column]:
        """Return the kinds and values of the rows from `first` up to, but not including, `last`."""
        return self._kinds[first:last], self._values[first:last]

    def values_at(self, rows: Column) -> Column:
        """Return the values of these rows."""
        return self.columns.take(self._values, rows)

    def are_messages(self, rows: Column) -> Column:
        """Return the indices within `rows` of the rows that show a message."""
        return self.columns.where(self.columns.take(self._kinds, rows), {RowKind.MESSAGE.value}, 0, len(rows))

    def messages_in(self, rows: Column) -> MessageSet:
        """Return the shown messages in these rows."""
        return MessageSet(self.values_at(self.columns.take(rows, self.are_messages(rows))))

    @property
    def of_messages(self) -> Column:
        """The rows that show a message, in order."""
        return self.columns.where(self._kinds, {RowKind.MESSAGE.value}, 0, len(self))

    def label(self, row: int) -> int:
        """Return the number, in this view, of the message in a row; 0 for any other row."""
        if self._audience.strict:
            return self._labels[row]
        return self._values[row] if self._kinds[row] == RowKind.MESSAGE.value else 0

    def last_number(self, row: int) -> int:
        """Return the number of the last message up to this row, shown or hidden."""
        return self._numbers[row]

    def transcript(self, row: int) -> int:
        """Return the transcript of a row."""
        if self._kinds[row] == RowKind.STRAY.value:
            return self._analysis.strays[self._values[row]].transcript
        return self._analysis.index.transcript(max(1, self._numbers[row])) if len(self._analysis.index) else 1

    @property
    def reach(self) -> int:
        """The number of the last message in the rows, shown or hidden."""
        return self._now.taken

    def rows_of_transcript(self, transcript: int) -> range:
        """Return the rows of a transcript."""
        every = range(len(self))
        first = bisect_left(every, transcript, key=self.transcript)
        return range(first, bisect_right(every, transcript, first, key=self.transcript))

    @property
    def shown_transcripts(self) -> Sequence[int]:
        """The transcripts that this audience may know of, in order. For a strict audience, only those with shown
        messages."""
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
        """True for an audience that must not know of transcripts without shown messages. All its rows are messages."""
        return self._audience.strict and self._audience.is_safe

    def transcript_label(self, transcript: int) -> int:
        """Return the number of a transcript for this audience."""
        return bisect_left(self.shown_transcripts, transcript) + 1 if self._counts_shown else transcript

    def turn(self, row: int) -> int:
        """Return the turn of the message in a row. For the end user, turns count only shown messages."""
        if self._audience.is_safe:
            return self._turns[row]
        is_message = self._kinds[row] == RowKind.MESSAGE.value
        return self._analysis.index.turn(self._values[row]) if is_message else 0

    def row_of_turn(self, turn: int, transcript: int = 1) -> int | None:
        """Return the first row that shows a message of this turn in a transcript, or None if there is none."""
        if self._audience.is_safe:
            rows = self.rows_of_transcript(transcript)
            return next((row for row in rows if turn and self._turns[row] == turn), None)
        for number in self._analysis.index.numbers_of_turn(transcript, turn):
            row = self.row_of(number)
            if self.kind(row) is RowKind.MESSAGE and self._values[row] == number:
                return row
        return None

    def turn_starts(self, first: int, turn: int, transcript: int) -> TurnStarts:
        """Return the rows from `first` on that begin a turn, for the end user. `turn` and `transcript` belong to the
        previous row."""
        index = self._analysis.index
        if first >= len(self):
            return turn_starts(self.columns, array("I"), ())
        found = index.transcripts(max(1, self._numbers[first]), max(1, self._numbers[-1]))
        rows = [first, *(bisect_left(self._numbers, number) for number, _ in found[1:])]
        borders = [Border(row - first, number) for row, (_, number) in zip(rows, found, strict=True)]
        return turn_starts(self.columns, self._turns[first:], borders, turn, transcript, base=first)

    def last_turn(self, transcript: int = 1) -> int:
        """Return the highest turn number of a transcript, or 0 if it has none."""
        if self._audience.is_safe:
            rows = self.rows_of_transcript(transcript)
            return max(self._turns[rows.start : rows.stop], default=0)
        span = self._analysis.index.numbers_of_transcript(transcript)
        return max(self._analysis.index.turns(*span), default=0) if span else 0

    @property
    def is_whole(self) -> bool:
        """True if the rows cover all messages, without a pane or filter."""
        return self._in_pane is None and self._only is None

    def is_only(self, messages: MessageSet) -> bool:
        """True if the rows cover exactly these messages."""
        return self._only == messages

    def is_like(self, other: Rows) -> bool:
        """True if both `Rows` cover all messages of one reading, for the same audience and with the same folding."""
        same = self._analysis is other._analysis and self._audience == other._audience
        same = same and self._folds.folding == other._folds.folding
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
        """Return the row that shows or hides a message. If there is none, return the next row, or else the last one."""
        return min(bisect_left(self._numbers, number), max(0, len(self) - 1))

    def rows_of(self, numbers: Column) -> Column:
        """Return the rows that show or hide these messages. For a message after the last row, return the number of
        rows."""
        return self.columns.lookup(self._numbers, numbers)

    def row_holding(self, number: int) -> int | None:
        """Return the row that shows a message or hides it in a run, or None if a pane or a filter excludes it."""
        row = self.row_of(number)
        if not len(self) or number > self._numbers[row]:
            return None
        kind = self.kind(row)
        if kind is RowKind.MESSAGE:
            return row if self._values[row] == number else None
        return row if kind is not RowKind.STRAY and number >= self.first_number(row) else None

    def first_number(self, row: int) -> int:
        """Return the first message of a row of hidden or folded messages, or of a call."""
        is_call = self._kinds[row] == RowKind.CALL.value
        return self._values[row] if is_call else self._numbers[row] - self._values[row] + 1

    def count_hidden(self, row: int) -> int:
        """Return the number of messages that a row of hidden messages reports. At the brief level, replies do not count
        unless the row has nothing else."""
        count = self._values[row]
        replies = self._listed.count_replies(self.first_number(row), self._numbers[row]) if self._listed else 0
        return count - replies or count

    def row_of_stray(self, stray: int) -> int:
        """Return the row of the stray text at this index, or the row nearest to it."""
        after = self._analysis.strays[stray].after
        first, end = bisect_left(self._numbers, after), bisect_right(self._numbers, after)
        row = bisect_left(range(first, end), stray, key=self._stray_at) + first
        return max(0, min(row, end - 1, len(self) - 1))

    def _stray_at(self, row: int) -> int:
        return self._values[row] if self._kinds[row] == RowKind.STRAY.value else -1

    def extend(self) -> int:
        """Add rows for everything read since the last call and return the first row that may have changed."""
        if self._folds.update():
            self._settled = _Mark()
        self._go_back()
        changed = max(0, len(self) - 1)
        last = len(self._analysis.index)
        self.settled_number = min(self._analysis.unsettled, default=last + 1) - 1
        if self._analysis.is_partial and not self._audience.sees_thoughts:
            last = self.settled_number  # an open message may turn out to be a thought
        self._take(self.settled_number)
        self._remember()
        self._take(last)
        self._add_strays(last + 1)
        self.settled = self._settled.length
        while self.settled < len(self) and self.kind(self.settled) is RowKind.STRAY:
            self.settled += 1
        return changed

    def extend_some(self) -> bool:
        """Add the next final rows. Return False if there are no more final rows; `extend` adds the remaining ones."""
        if self._folds.update():
            self._settled = _Mark()
        self._go_back()
        last = min(self._analysis.unsettled, default=len(self._analysis.index) + 1) - 1
        self._take(min(last, self._now.taken + AT_ONCE))
        self._remember()
        return self._now.taken < last

    def seen_by(self, audience: Audience) -> Rows:
        """Return rows for another audience. They will cover all messages, but are empty until `extend` is called."""
        return Rows(self._analysis, audience, folding=self._folds.folding)

    def _go_back(self) -> None:
        mark = self._settled
        for column in (self._kinds, self._values, self._numbers, self._labels, self._turns):
            del column[mark.length :]  # columns that are not used are empty
        if mark.length:
            self._values[-1] = mark.last_value
            self._numbers[-1] = mark.last_number
        self._now = copy.copy(mark)
        self._now.turns = copy.copy(mark.turns)

    def _remember(self) -> None:
        now = self._now
        self._settled = copy.copy(now)
        self._settled.turns = copy.copy(now.turns)
        self._settled.length = len(self)
        self._settled.last_value = self._values[-1] if self._values else 0
        self._settled.last_number = self._numbers[-1] if self._numbers else 0

    def _take(self, last: int) -> None:
        """Add the messages up to this number, and the stray text before the last one."""
        now = self._now
        while now.taken < last:
            self._add_strays(now.taken + 1)
            self._take_some(now.taken + 1, min(last, now.taken + AT_ONCE))

    def _take_some(self, first: int, last: int) -> None:
        """Add these messages, and the stray text between them."""
        columns, now, is_strict = self.columns, self._now, self._audience.strict
        runs = self._folds.runs(first, last)
        if self._listed:
            first = self._extend_call(self._listed, first, last, runs)
            if first > last:
                now.taken = last
                return
        numbers, seen = self._wanted(first, last)
        transcripts = self._analysis.index.transcripts(first, last)
        if self._listed:
            runs += self._listed.runs(first, last, runs, {number for number, _ in transcripts})
        first_stray, strays = now.strays, self._strays_between(first, last)
        shown = numbers if 0 not in seen else columns.take(numbers, columns.select(seen, 0))
        for run in runs:
            seen[run.first - first : run.last + 1 - first] = bytes(run.last + 1 - run.first)
        if is_strict:
            folded = Folded(array("B", bytes(len(shown))), shown, shown)
        else:
            ends = {edge for run in runs for edge in (run.first, run.last + 1)}
            edges = sorted({number for number, _ in transcripts} | {after + 1 for after in strays} | ends)
            folded = columns.fold(numbers, seen, self._places(numbers, edges))
            for run in runs:
                start = bisect_left(folded.lasts, run.first)
                for row in range(start, bisect_right(folded.lasts, run.last)):
                    folded.kinds[row] = run.kind.value
                    if run.kind is RowKind.CALL:
                        folded.values[row] = run.first
        every = shown if self._only is None else columns.select(self._seen.mask(first, last), first)
        labels = columns.sequence(now.shown + 1, now.shown + 1 + len(every)) if is_strict else array("I")
        if is_strict and len(every) > len(shown):  # a filter does not change numbers
            labels = columns.take(labels, columns.lookup(every, shown))
        turns = self._turns_of(every, transcripts, folded) if self._audience.is_safe else array("I")
        now.shown += len(every)
        now.taken = last
        if self._join(folded, transcripts[0][1]):
            del turns[:1]
        kinds, values, lasts = folded.kinds, folded.values, folded.lasts
        if strays:
            at = columns.lookup(lasts, array("I", [after + 1 for after in strays]))
            none = array("I", bytes(at.itemsize * len(at)))
            kinds = columns.insert(kinds, at, array("B", bytes((RowKind.STRAY.value,)) * len(at)))
            values = columns.insert(values, at, columns.sequence(first_stray, first_stray + len(at)))
            labels = columns.insert(labels, at, none) if is_strict else labels
            turns = columns.insert(turns, at, none) if self._audience.is_safe else turns
            lasts = columns.insert(lasts, at, array("I", strays))
        self._kinds.extend(kinds)
        self._values.extend(values)
        self._numbers.extend(lasts)
        self._labels.extend(labels)
        self._turns.extend(turns)

    def _wanted(self, first: int, last: int) -> tuple[Column, bytearray]:
        """Return the messages in this range that belong to the pane and pass the filter, and a mask of the visible
        ones."""
        columns = self.columns
        if self._only is not None:
            numbers = self._only.between(first, last)
            if self._in_pane is not None:
                numbers = columns.take(numbers, columns.select(self._in_pane.mask_at(numbers), 0))
        elif self._in_pane is not None:
            numbers = columns.select(self._in_pane.mask(first, last), first)
        else:
            return columns.sequence(first, last + 1), self._seen.mask(first, last)
        return numbers, self._seen.mask_at(numbers)

    def _places(self, numbers: Column, edges: list[int]) -> Column:
        """Return, for each edge, the index of the first number at or after it. Edges after the last number are
        dropped."""
        places = self.columns.lookup(numbers, array("I", edges))
        while places and places[-1] == len(numbers):
            places.pop()
        return places

    def _extend_call(self, listed: ListedCalls, first: int, last: int, folded: Sequence[_Run]) -> int:
        """Add the replies from `first` on to the row of the call directly above. Return the first message after those
        replies."""
        index = self._analysis.index
        is_below = len(self) and self._kinds[-1] == RowKind.CALL.value
        if not is_below or index.transcript(self._numbers[-1]) != index.transcript(first):
            return first
        starts = [number for number, _ in index.transcripts(first, last)[1:]] + [run.first for run in folded]
        after = min([listed.after_replies(first, last), *starts])
        self._numbers[-1] = after - 1
        return after

    def _turns_of(self, shown: Column, transcripts: list[tuple[int, int]], folded: Folded) -> Column:
        """Return the turns of rows, counting only shown messages, including those that are folded or filtered out."""
        columns, kinds = self.columns, folded.kinds
        if not shown:
            return array("I", bytes(array("I").itemsize * len(kinds)))
        places = columns.lookup(shown, array("I", [number for number, _ in transcripts]))
        pairs = zip(places, (transcript for _, transcript in transcripts), strict=True)
        starts = {place: transcript for place, transcript in pairs if place < len(shown)}
        turns = self._now.turns.after_all(columns, list(starts.items()), self._users.mask_at(shown))
        messages = columns.where(kinds, {RowKind.MESSAGE.value}, 0, len(kinds))
        if len(shown) == len(kinds) == len(messages):
            return turns
        if len(messages) < len(shown):
            turns = columns.take(turns, columns.lookup(shown, columns.take(folded.values, messages)))
        return columns.put(turns, messages, len(kinds))

    def _join(self, folded: Folded, transcript: int) -> bool:
        """Merge the first new row into the last row if both belong to the same run of messages. Return True if they
        do."""
        if not len(self) or not folded.kinds or self._kinds[-1] != folded.kinds[0] or self._kinds[-1] not in _RUNS:
            return False
        is_next = self._numbers[-1] == folded.lasts[0] - folded.values[0]
        if not is_next or self._analysis.index.transcript(self._numbers[-1]) != transcript:
            return False
        if not self._folds.are_parts_of_one(RowKind(self._kinds[-1]), self._numbers[-1], folded.lasts[0]):
            return False
        self._values[-1] += folded.values[0]
        self._numbers[-1] = folded.lasts[0]
        for column in (folded.kinds, folded.values, folded.lasts):
            del column[0]
        return True

    def _strays_between(self, first: int, last: int) -> list[int]:
        """Return, for each of the next runs of stray text between these messages, the number of the message before
        it."""
        now, found = self._now, []
        strays = self._analysis.strays if self._audience.sees_stray else []
        while now.strays < len(strays) and first <= strays[now.strays].after < last:
            found.append(strays[now.strays].after)
            now.strays += 1
        return found

    def _add_strays(self, before: int) -> None:
        """Add the stray text before the message with this number."""
        strays = self._analysis.strays if self._audience.sees_stray else []
        while self._now.strays < len(strays) and strays[self._now.strays].after < before:
            self._kinds.append(RowKind.STRAY.value)
            self._values.append(self._now.strays)
            self._numbers.append(self._now.taken)
            if self._audience.strict:
                self._labels.append(0)
            if self._audience.is_safe:
                self._turns.append(0)
            self._now.strays += 1
