"""Rows of the outline: foldable turns, with one row per message, call, or hidden run."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterator
from enum import Enum

from msgspec import Struct

from viewer.columns.api import Column
from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows, TurnStarts
from viewer.tui.panes.outline_folds import Folds

LOOKED_UP_AT_ONCE = 1 << 17
"""How many turns one step looks up."""


class OutlineKind(Enum):
    """The kind of a row."""

    TURN = "turn"
    MESSAGE = "message"
    HIDDEN = "hidden"
    AGENT = "agent"
    """The folded messages of a sub-agent."""
    CALL = "call"
    """A call at the brief level."""


class OutlineRow(Struct, frozen=True, gc=False):
    """One visible row."""

    kind: OutlineKind
    group: int
    """The index of the row's turn, from 0."""
    number: int = 0
    """The message number: for a hidden run or a call, its last message; for a turn, its first one."""


_KINDS = {RowKind.HIDDEN: OutlineKind.HIDDEN, RowKind.CALL: OutlineKind.CALL, RowKind.AGENT: OutlineKind.AGENT}


class OutlineTable:
    """Entries in input order, grouped into turns.

    The entries are a view's rows, except the user message that begins a turn, replies (which are shown with their
    calls) and, in the debug view, rows of hidden messages."""

    def __init__(self) -> None:
        self.folds = Folds()
        self._rows: Rows | None = None
        self._reach = 0, 0
        """The numbers of rows and messages at the last update."""
        self.is_partial = False
        """True while the table is being computed."""
        self._steps: Iterator[None] = iter(())
        self._firsts = array("I")
        """The first row of each turn, as a row of the view."""
        self._turns = array("I")
        self._transcripts = array("I")
        self._titles = array("I")
        """The user message that begins each turn; 0 if another message does."""
        self._skipped = array("I")
        """The rows of the view that are not entries, in order."""

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self._before(len(self._rows)) if self._rows is not None else 0

    def is_of(self, rows: Rows) -> bool:
        """True if this is the table of these rows as they are now."""
        return self._rows is rows and self._reach == (len(rows), rows.reach)

    def extend(self, projection: Projection, rows: Rows, calls: CallView, changed: int = 0) -> None:
        """Update the table to these rows. Rows from `changed` on are new or different."""
        self.begin(projection, rows, calls, changed)
        while self.is_partial:
            self.go_on()

    def begin(self, projection: Projection, rows: Rows, calls: CallView, changed: int = 0) -> None:
        """Begin to update the table step by step: call `go_on` until the table is not partial. Until then, a new table
        has no rows."""
        self._rows, self._reach = rows, (len(rows), rows.reach)
        self._steps = self._extend(projection, rows, calls, changed)
        self.is_partial = True

    def go_on(self) -> None:
        """Do the next step, which takes milliseconds for millions of messages."""
        try:
            next(self._steps)
        except StopIteration:
            self.is_partial, self._steps = False, iter(())

    def _extend(self, projection: Projection, rows: Rows, calls: CallView, changed: int) -> Iterator[None]:
        groups = bisect_left(self._firsts, changed)
        if groups and not self._titles[groups - 1] and changed <= self._firsts[groups - 1] + 2:
            groups -= 1  # the user message that begins this turn may have only just arrived
            changed = self._firsts[groups]
        for column in (self._firsts, self._turns, self._transcripts, self._titles):
            del column[groups:]
        del self._skipped[bisect_left(self._skipped, changed) :]
        yield
        skipped = [self._hidden_rows(projection, rows, changed)]
        yield
        skipped.append(self._reply_rows(rows, calls, changed))
        if groups and self._titles[-1] and (kept := rows.row_of(self._titles[-1])) >= changed:
            skipped.append(array("I", [kept]))
        yield
        starts = yield from self._starts(projection, rows, changed)
        yield
        if groups and starts.places and self._firsts[-1] == starts.places[0]:
            for column in (self._firsts, self._turns, self._transcripts, self._titles):
                column.pop()
        titles, titled = self._title_rows(projection, rows, starts.places)
        yield
        self._firsts.extend(starts.places)
        self._turns.extend(starts.turns)
        self._transcripts.extend(starts.transcripts)
        self._titles.extend(rows.columns.put(rows.values_at(titles), titled, len(starts.places)))
        self._skipped.extend(rows.columns.distinct([*skipped, titles]))
        self.folds.measure(self.size, self.groups - 1)

    def _starts(self, projection: Projection, rows: Rows, changed: int) -> Generator[None, None, TurnStarts]:
        """Return the first row, the turn, and the transcript of each turn from a row on."""
        before = (self._turns[-1], self._transcripts[-1]) if self.groups else (0, 0)
        if projection.audience.is_safe:
            return rows.turn_starts(changed, *before)
        columns = rows.columns
        starts = projection.turn_starts(rows.last_number(changed - 1) if 0 < changed <= len(rows) else 0)
        yield
        numbers, firsts = columns.add(starts.places, 1), array("I")
        for place in range(0, len(numbers), LOOKED_UP_AT_ONCE):
            firsts.extend(rows.rows_of(numbers[place : place + LOOKED_UP_AT_ONCE]))
            yield
        del firsts[bisect_left(firsts, len(rows)) :]
        if not firsts:
            return TurnStarts(firsts, firsts, firsts)
        others = columns.borders(columns.add(firsts, 1), array("I", [0]), 0).rows
        lasts = columns.add(others[1:], -1)  # of the turns that begin in the same hidden row, only the last one counts
        lasts.append(len(firsts) - 1)
        yield
        return TurnStarts(*(columns.take(each, lasts) for each in (firsts, starts.turns, starts.transcripts)))

    def _hidden_rows(self, projection: Projection, rows: Rows, changed: int) -> Column:
        if projection.audience.is_safe:
            return array("I")
        kinds, _ = rows.kinds_and_values(changed, len(rows))
        return rows.columns.add(rows.columns.where(kinds, {RowKind.HIDDEN.value}, 0, len(kinds)), changed)

    def _reply_rows(self, rows: Rows, calls: CallView, changed: int) -> Column:
        """Return the rows of replies that are part of their call's row."""
        if not len(rows) or not len(calls):
            return array("I")
        replies = calls.spans.lasts
        first = rows.last_number(changed - 1) + 1 if 0 < changed <= len(rows) else 1
        replies = replies[bisect_left(replies, first) :]
        found = rows.rows_of(replies)
        del found[bisect_left(found, len(rows)) :]
        columns = rows.columns
        shown = rows.are_messages(found)
        their = columns.take(found, shown)
        apart = columns.subtract(rows.values_at(their), columns.take(replies, shown))
        return columns.take(their, columns.where(apart, {0}, 0, len(apart)))

    def _title_rows(self, projection: Projection, rows: Rows, firsts: Column) -> tuple[Column, Column]:
        """Return the rows of the user messages that begin turns, and the indexes of these turns. A turn may have one
        hidden row before its user message."""
        columns = rows.columns
        shown = rows.are_messages(firsts)
        rest = columns.put(array("I", [1]) * len(shown), shown, len(firsts))
        others = columns.where(rest, {0}, 0, len(rest))
        candidates = columns.add(firsts, columns.put(array("I", [1]) * len(others), others, len(firsts)))
        if candidates and candidates[-1] == len(rows):
            candidates.pop()
        places = rows.are_messages(candidates)
        candidates = columns.take(candidates, places)
        chosen = columns.select(projection.users().mask_at(rows.values_at(candidates)), 0)
        return columns.take(candidates, chosen), columns.take(places, chosen)

    def _before(self, row: int) -> int:
        """Return the number of entries before a row of the view."""
        return row - bisect_left(self._skipped, row)

    def _row_of_entry(self, entry: int) -> int:
        assert self._rows is not None
        return bisect_left(range(len(self._rows)), entry + 1, key=lambda row: self._before(row + 1))

    def __len__(self) -> int:
        return self.row_of_turn(self.groups)

    @property
    def groups(self) -> int:
        """The number of turns."""
        return len(self._firsts)

    def turn(self, group: int) -> int:
        """Return the number of a turn in its transcript."""
        return self._turns[group]

    def title(self, group: int) -> int:
        """Return the user message that begins a turn, or 0 if another message does."""
        return self._titles[group]

    def begins_transcript(self, group: int) -> int | None:
        """Return the number of the transcript that begins with this turn. Return None if none begins here, or if there
        is only one transcript."""
        if self._transcripts[group] == self._transcripts[-1] and not group:
            return None
        begins = not group or self._transcripts[group] != self._transcripts[group - 1]
        return self._transcripts[group] if begins else None

    def span(self, group: int) -> tuple[int, int]:
        """Return the first and last message number of a turn. A hidden run belongs to the turn of its last message."""
        assert self._rows is not None
        return self._rows.last_number(self._firsts[group]), self._rows.last_number(self._end(group) - 1)

    def size(self, group: int) -> int:
        """Return the number of entries of a turn."""
        return self._before(self._end(group)) - self._before(self._firsts[group])

    def at(self, row: int) -> OutlineRow:
        """Return the content of a row."""
        assert self._rows is not None
        group = bisect_right(range(self.groups), row, key=self.row_of_turn) - 1
        offset = row - self.row_of_turn(group)
        if offset == 0:
            return OutlineRow(OutlineKind.TURN, group, self.title(group) or self.span(group)[0])
        shown = self._row_of_entry(self._before(self._firsts[group]) + offset - 1)
        kind = _KINDS.get(self._rows.kind(shown), OutlineKind.MESSAGE)
        return OutlineRow(kind, group, self._rows.last_number(shown))

    def row_of(self, number: int) -> int:
        """Return the row of a message, of its call, of the run that hides it, or of its folded turn. Return -1 if there
        is none."""
        if self._rows is None or not len(self._rows) or not self.groups:
            return -1
        shown = self._rows.row_of(number)
        group = max(0, bisect_right(self._firsts, shown) - 1)
        entry = self._before(shown + 1) - self._before(self._firsts[group])
        return self.row_of_turn(group) + (0 if group in self.folds else min(entry, self.size(group)))

    def row_of_turn(self, group: int) -> int:
        """Return the row of a turn; for the turn after the last one, the number of rows."""
        if self._rows is None or not self.groups:
            return 0
        first = self._firsts[group] if group < self.groups else len(self._rows)
        return self._before(first) - self._before(self._firsts[0]) + group - self.folds.before(group)

    def toggle(self, group: int) -> None:
        """Fold or unfold a turn."""
        self.folds.fold(self.folds.toggled(group), self.size)

    def use_folds(self, folds: Folds) -> None:
        """Use the folds of an earlier table of the same rows."""
        self.folds = folds
        if not self.is_partial:
            self.folds.measure(self.size, self.groups - 1)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold all turns."""
        self.folds.fold(range(self.groups) if folded else (), self.size)

    def _end(self, group: int) -> int:
        assert self._rows is not None
        return self._firsts[group + 1] if group + 1 < self.groups else len(self._rows)
