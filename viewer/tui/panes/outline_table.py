"""Rows of the outline: turns, and one row per message below them. Columns that grow at the end; turns fold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from enum import Enum

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows, TurnStarts
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
    """The position of its turn, from 0."""
    number: int = 0
    """The number of the message, or of the last message of a hidden run."""
    hidden: int = 0
    """The number of messages hidden here."""


class OutlineTable(ABC):
    """Entries in input order, grouped into turns."""

    def __init__(self) -> None:
        self.folds = Folds()
        self._firsts = array("I")
        """The first entry of each turn."""
        self._turns = array("I")
        self._transcripts = array("I")
        self._count = 0

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self._count

    @abstractmethod
    def number(self, entry: int) -> int:
        """The message of an entry, or the last message of a hidden run."""

    @abstractmethod
    def hidden(self, entry: int) -> int:
        """The number of messages that an entry hides; 0 for a message."""

    @abstractmethod
    def entry_of(self, number: int) -> int:
        """The entry of a message, or of the run that hides it."""

    @abstractmethod
    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        """Add rows, beginning with the first one that may have changed."""

    def __len__(self) -> int:
        return self.row_of_turn(self.groups)

    @property
    def groups(self) -> int:
        """The number of turns."""
        return len(self._firsts)

    def turn(self, group: int) -> int:
        """The number of a turn in its transcript."""
        return self._turns[group]

    def begins_transcript(self, group: int) -> int | None:
        """The number of the transcript that begins with this turn, if there are several."""
        if self._transcripts[group] == self._transcripts[-1] and not group:
            return None
        begins = not group or self._transcripts[group] != self._transcripts[group - 1]
        return self._transcripts[group] if begins else None

    def numbers(self, group: int) -> list[int]:
        """The messages at both ends of a turn that have their own entries."""
        first, end = self._firsts[group], self._end(group)
        span = range(first, end) if end - first <= 2 * _AT_AN_END else (*range(first, first + _AT_AN_END),
                                                                      *range(end - _AT_AN_END, end))  # fmt: skip
        return [self.number(entry) for entry in span if not self.hidden(entry)]

    def span(self, group: int) -> tuple[int, int]:
        """The first and the last message number of a turn; a hidden run counts with its last one."""
        return self.number(self._firsts[group]), self.number(self._end(group) - 1)

    def size(self, group: int) -> int:
        """The number of entries of a turn."""
        return self._end(group) - self._firsts[group]

    def at(self, row: int) -> OutlineRow:
        """The content of a row."""
        group = bisect_right(range(self.groups), row, key=self.row_of_turn) - 1
        offset = row - self.row_of_turn(group)
        if offset == 0:
            return OutlineRow(OutlineKind.TURN, group)
        entry = self._firsts[group] + offset - 1
        hidden = self.hidden(entry)
        kind = OutlineKind.HIDDEN if hidden else OutlineKind.MESSAGE
        return OutlineRow(kind, group, self.number(entry), hidden)

    def row_of(self, number: int) -> int:
        """The row of a message, of the run that hides it, or of its folded turn; -1 if there is none."""
        if not self.entries:
            return -1
        entry = max(0, min(self.entry_of(number), self.entries - 1))
        group = bisect_right(self._firsts, entry) - 1
        return self.row_of_turn(group) + (0 if group in self.folds else entry - self._firsts[group] + 1)

    def row_of_turn(self, group: int) -> int:
        """The row of a turn; for the turn after the last one, the number of rows."""
        entries = self._firsts[group] if group < self.groups else self.entries
        return entries + group - self.folds.before(group)

    def toggle(self, group: int) -> None:
        """Fold a turn, or unfold it."""
        self.folds.fold(self.folds.toggled(group), self.size)

    def fold_all(self, folded: bool) -> None:
        """Fold all turns, or unfold them."""
        self.folds.fold(range(self.groups) if folded else (), self.size)

    def _extend(self, starts: TurnStarts, count: int) -> None:
        """Add turns up to `count` entries."""
        self._firsts.extend(starts.places)
        self._turns.extend(starts.turns)
        self._transcripts.extend(starts.transcripts)
        self._count = count
        self.folds.measure(self.size, self.groups - 1)

    def _end(self, group: int) -> int:
        return self._firsts[group + 1] if group + 1 < self.groups else self.entries


_AT_AN_END = 6
"""Entries read at each end of a turn."""


class WholeTable(OutlineTable):
    """The outline of the debug view: every message, also of channels that are off."""

    def number(self, entry: int) -> int:
        return entry + 1

    def hidden(self, entry: int) -> int:
        return 0

    def entry_of(self, number: int) -> int:
        return number - 1

    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        starts = projection.turn_starts(self.entries)
        self._extend(starts, projection.message_count)


class ShownTable(OutlineTable):
    """The outline of the safe view: shown messages, and runs of hidden ones; each row is an entry."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: Rows | None = None

    def number(self, entry: int) -> int:
        assert self._rows is not None
        return self._rows.last_number(entry)

    def hidden(self, entry: int) -> int:
        assert self._rows is not None
        return self._rows.value(entry) if self._rows.kind(entry) is RowKind.HIDDEN else 0

    def entry_of(self, number: int) -> int:
        assert self._rows is not None
        return self._rows.row_of(number)

    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        self._rows = rows
        self._keep(changed)
        before = (self._turns[-1], self._transcripts[-1]) if self.groups else (0, 0)
        self._extend(rows.turn_starts(changed, *before), len(rows))

    def _keep(self, entries: int) -> None:
        """Forget the turns that begin after this number of entries."""
        groups = bisect_left(self._firsts, entries)
        for column in (self._firsts, self._turns, self._transcripts):
            del column[groups:]
