"""Which rows the outline has: a turn, and under it one row a message; as arrays, folded by turn, growing at the end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple

from viewer.sources.projection import Projection
from viewer.sources.rows import RowKind, Rows
from viewer.tui.outline_folds import Folds


class OutlineKind(Enum):
    """What a row of the outline is."""

    TURN = "turn"
    MESSAGE = "message"
    HIDDEN = "hidden"


class OutlineRow(NamedTuple):
    """One row that is not folded away."""

    kind: OutlineKind
    group: int
    """Which turn it is, or stands in; counted from 0."""
    number: int = 0
    """The number of the message, or of the last one of a hidden run."""
    hidden: int = 0
    """How many messages are hidden here."""


class OutlineTable(ABC):
    """Entries in the order of the input, in turns."""

    def __init__(self) -> None:
        self.folds = Folds()
        self._firsts = array("I")
        """The first entry of each turn."""
        self._turns = array("I")
        self._transcripts = array("I")

    @property
    @abstractmethod
    def entries(self) -> int:
        """How many entries there are."""

    @abstractmethod
    def number(self, entry: int) -> int:
        """The message of an entry, or the last one of a hidden run."""

    @abstractmethod
    def hidden(self, entry: int) -> int:
        """How many hidden messages an entry stands for; 0 for a message."""

    @abstractmethod
    def entry_of(self, number: int) -> int:
        """The entry of a message, or of the run that hides it."""

    @abstractmethod
    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        """Take the rows from the first one that may have changed."""

    def __len__(self) -> int:
        return self.row_of_turn(self.groups)

    @property
    def groups(self) -> int:
        """How many turns there are."""
        return len(self._firsts)

    def turn(self, group: int) -> int:
        """The number that a turn has in its transcript."""
        return self._turns[group]

    def begins_transcript(self, group: int) -> int | None:
        """The number of the transcript that begins with this turn, where it is not the first."""
        begins = group > 0 and self._transcripts[group] != self._transcripts[group - 1]
        return self._transcripts[group] if begins else None

    def numbers(self, group: int) -> list[int]:
        """The messages at both ends of a turn, as far as they stand in it one by one."""
        first, end = self._firsts[group], self._end(group)
        span = range(first, end) if end - first <= 2 * _AT_AN_END else (*range(first, first + _AT_AN_END),
                                                                      *range(end - _AT_AN_END, end))  # fmt: skip
        return [self.number(entry) for entry in span if not self.hidden(entry)]

    def span(self, group: int) -> tuple[int, int]:
        """The first and the last number of a turn; of a hidden run the last number counts."""
        return self.number(self._firsts[group]), self.number(self._end(group) - 1)

    def size(self, group: int) -> int:
        """How many entries a turn has."""
        return self._end(group) - self._firsts[group]

    def at(self, row: int) -> OutlineRow:
        """What stands in a row."""
        group = bisect_right(range(self.groups), row, key=self.row_of_turn) - 1
        offset = row - self.row_of_turn(group)
        if offset == 0:
            return OutlineRow(OutlineKind.TURN, group)
        entry = self._firsts[group] + offset - 1
        hidden = self.hidden(entry)
        kind = OutlineKind.HIDDEN if hidden else OutlineKind.MESSAGE
        return OutlineRow(kind, group, self.number(entry), hidden)

    def row_of(self, number: int) -> int:
        """The row of a message, of the run that hides it, or of its folded turn; -1 where there is none."""
        if not self.entries:
            return -1
        entry = max(0, min(self.entry_of(number), self.entries - 1))
        group = bisect_right(self._firsts, entry) - 1
        return self.row_of_turn(group) + (0 if group in self.folds else entry - self._firsts[group] + 1)

    def row_of_turn(self, group: int) -> int:
        """The row of a turn; of the turn after the last, the number of all rows."""
        entries = self._firsts[group] if group < self.groups else self.entries
        return entries + group - self.folds.before(group)

    def toggle(self, group: int) -> None:
        """Fold a turn, or unfold it."""
        self.folds.fold(self.folds.toggled(group), self.size)

    def fold_all(self, folded: bool) -> None:
        """All turns at once."""
        self.folds.fold(range(self.groups) if folded else (), self.size)

    def _begin(self, entry: int, turn: int, transcript: int) -> None:
        """An entry; a turn begins with it where it is of another one than the entry before."""
        if not self._turns or turn != self._turns[-1] or transcript != self._transcripts[-1]:
            self._firsts.append(entry)
            self._turns.append(turn)
            self._transcripts.append(transcript)

    def _end(self, group: int) -> int:
        return self._firsts[group + 1] if group + 1 < self.groups else self.entries


_AT_AN_END = 6
"""How many messages at either end of a turn are asked for."""


class WholeTable(OutlineTable):
    """A developer's outline: every message, whichever channels are switched off."""

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    @property
    def entries(self) -> int:
        return self._count

    def number(self, entry: int) -> int:
        return entry + 1

    def hidden(self, entry: int) -> int:
        return 0

    def entry_of(self, number: int) -> int:
        return number - 1

    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        for number, turn, transcript in projection.turn_starts(self._count + 1):
            self._begin(number - 1, turn, transcript)
        self._count = projection.message_count
        self.folds.measure(self.size, self.groups - 1)


class ShownTable(OutlineTable):
    """The end user's outline: the messages that are shown, and runs of hidden ones."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers = array("I")
        self._hidden = array("I")

    @property
    def entries(self) -> int:
        return len(self._numbers)

    def number(self, entry: int) -> int:
        return self._numbers[entry]

    def hidden(self, entry: int) -> int:
        return self._hidden[entry]

    def entry_of(self, number: int) -> int:
        return bisect_left(self._numbers, number)

    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        self._keep(rows.last_number(changed - 1) if changed else 0)
        for row in range(changed, len(rows)):
            kind, transcript = rows.kind(row), rows.transcript(row)
            if kind is RowKind.MESSAGE:
                self._add(rows.value(row), 0, rows.turn(row), transcript)
            elif kind is RowKind.HIDDEN:
                same = bool(self._transcripts) and self._transcripts[-1] == transcript
                self._add(rows.last_number(row), rows.value(row), self._turns[-1] if same else 1, transcript)
        self.folds.measure(self.size, self.groups - 1)

    def _keep(self, last: int) -> None:
        """Forget what stands after this message."""
        length = bisect_right(self._numbers, last)
        groups = bisect_left(self._firsts, length)
        kept: Iterable[tuple[array[int], int]] = (
            (self._numbers, length),
            (self._hidden, length),
            (self._firsts, groups),
            (self._turns, groups),
            (self._transcripts, groups),
        )
        for column, size in kept:
            del column[size:]

    def _add(self, number: int, hidden: int, turn: int, transcript: int) -> None:
        self._begin(len(self._numbers), turn, transcript)
        self._numbers.append(number)
        self._hidden.append(hidden)
