"""Rows of the outline: foldable turns, with one row per message, call, or hidden run."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from enum import Enum

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.tui.panes.outline_folds import Folds


class OutlineKind(Enum):
    """The kind of a row."""

    TURN = "turn"
    MESSAGE = "message"
    HIDDEN = "hidden"


class OutlineRow(Struct, frozen=True, gc=False):
    """One visible row."""

    kind: OutlineKind
    group: int
    """The index of its turn, from 0."""
    number: int = 0
    """The message number; for a hidden run, that of its last message; for a turn, that of its first one."""
    hidden: int = 0
    """The number of messages that the row hides."""


class OutlineTable:
    """Entries in input order, grouped into turns.

    Entries are the rows of a view, except the user message that begins a turn, replies (which belong to their calls)
    and, in the debug view, rows of hidden messages."""

    def __init__(self) -> None:
        self.folds = Folds()
        self._rows: Rows | None = None
        self._firsts = array("I")
        """The first row of the view in each turn."""
        self._turns = array("I")
        self._transcripts = array("I")
        self._titles = array("I")
        """The user message that begins each turn; 0 if another message does."""
        self._skipped = array("I")
        """Rows of the view that are not entries, in order."""

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self._before(len(self._rows)) if self._rows is not None else 0

    def extend(self, projection: Projection, rows: Rows, calls: CallView, changed: int = 0) -> None:
        """Update to these rows. Those from `changed` on are new or different."""
        self._rows = rows
        groups = bisect_left(self._firsts, changed)
        if groups and not self._titles[groups - 1] and changed <= self._firsts[groups - 1] + 2:
            groups -= 1  # the question of this turn may have just arrived
            changed = self._firsts[groups]
        for column in (self._firsts, self._turns, self._transcripts, self._titles):
            del column[groups:]
        del self._skipped[bisect_left(self._skipped, changed) :]
        skipped = {*self._hidden_rows(projection, rows, changed), *self._reply_rows(rows, calls, changed)}
        if groups and self._titles[-1] and (kept := rows.row_of(self._titles[-1])) >= changed:
            skipped.add(kept)
        for first, turn, transcript in self._starts(projection, rows, changed):
            if self._firsts and self._firsts[-1] == first:
                for column in (self._firsts, self._turns, self._transcripts, self._titles):
                    column.pop()
            title = self._title(projection, rows, first)
            skipped.update([title] if title is not None else [])
            self._firsts.append(first)
            self._turns.append(turn)
            self._transcripts.append(transcript)
            self._titles.append(rows.value(title) if title is not None else 0)
        self._skipped.extend(sorted(skipped))
        self.folds.measure(self.size, self.groups - 1)

    def _starts(self, projection: Projection, rows: Rows, changed: int) -> list[tuple[int, int, int]]:
        """Return the first row, the turn, and the transcript of each turn from a row on."""
        before = (self._turns[-1], self._transcripts[-1]) if self.groups else (0, 0)
        if projection.audience.is_safe:
            starts = rows.turn_starts(changed, *before)
            return list(zip(starts.places, starts.turns, starts.transcripts, strict=True))
        after = rows.last_number(changed - 1) if 0 < changed <= len(rows) else 0
        starts = projection.turn_starts(after)
        found = []
        for place, turn, transcript in zip(starts.places, starts.turns, starts.transcripts, strict=True):
            row = rows.row_of(place + 1)
            if row < len(rows) and rows.last_number(row) > place:
                found.append((row, turn, transcript))
        return found

    def _hidden_rows(self, projection: Projection, rows: Rows, changed: int) -> list[int]:
        if projection.audience.is_safe:
            return []
        kinds, _ = rows.kinds_and_values(changed, len(rows))
        return [changed + place for place in rows.columns.where(kinds, {RowKind.HIDDEN.value}, 0, len(kinds))]

    def _reply_rows(self, rows: Rows, calls: CallView, changed: int) -> list[int]:
        """Return the rows of replies that are part of the row of their call."""
        if not len(rows) or not len(calls):
            return []
        replies = calls.spans.lasts
        first = rows.last_number(changed - 1) + 1 if 0 < changed <= len(rows) else 1
        pairs = ((rows.row_of(number), number) for number in replies[bisect_left(replies, first) :])
        return [row for row, number in pairs if rows.kind(row) is RowKind.MESSAGE and rows.value(row) == number]

    def _title(self, projection: Projection, rows: Rows, first: int) -> int | None:
        """Return the row of the user message that begins a turn."""
        for row in range(first, min(first + 2, len(rows))):
            if rows.kind(row) is RowKind.MESSAGE:
                return row if projection.headline(rows.value(row)).role == "user" else None
        return None

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
        """The user message that begins a turn; 0 if another one does."""
        return self._titles[group]

    def begins_transcript(self, group: int) -> int | None:
        """Return the number of the transcript that begins with this turn, if there are several."""
        if self._transcripts[group] == self._transcripts[-1] and not group:
            return None
        begins = not group or self._transcripts[group] != self._transcripts[group - 1]
        return self._transcripts[group] if begins else None

    def span(self, group: int) -> tuple[int, int]:
        """Return the first and last message number of a turn. A hidden run counts with its last message."""
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
        is_hidden = self._rows.kind(shown) is RowKind.HIDDEN
        kind = OutlineKind.HIDDEN if is_hidden else OutlineKind.MESSAGE
        return OutlineRow(kind, group, self._rows.last_number(shown), self._rows.value(shown) if is_hidden else 0)

    def row_of(self, number: int) -> int:
        """Return the row of a message, of its call, of the run that hides it, or of its folded turn; -1 if there is
        none."""
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
        """Copy the folded turns of an earlier table of the same rows."""
        self.folds = folds
        self.folds.measure(self.size, self.groups - 1)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold all turns."""
        self.folds.fold(range(self.groups) if folded else (), self.size)

    def _end(self, group: int) -> int:
        assert self._rows is not None
        return self._firsts[group + 1] if group + 1 < self.groups else len(self._rows)
