"""Which rows the outline has: a turn, and under it one row a message; as arrays, folded by turn, growing at the end."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from enum import Enum
from typing import NamedTuple

from viewer.sources.projection import Projection
from viewer.sources.rows import RowKind, Rows


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


class OutlineTable:
    """The end user's outline has the shown messages and runs of hidden ones; a developer's has every message."""

    def __init__(self) -> None:
        self.folded: set[int] = set()
        """The turns that are folded."""
        self._numbers = array("I")
        self._hidden = array("I")
        """How many hidden messages the entry stands for; 0 for a message."""
        self._firsts = array("I")
        """The first entry of each turn."""
        self._turns = array("I")
        self._places = array("I", [0])
        """The row of each turn, and after them the number of all rows."""

    def __len__(self) -> int:
        return self._places[-1]

    @property
    def groups(self) -> int:
        """How many turns there are."""
        return len(self._firsts)

    def turn(self, group: int) -> int:
        """The number that a turn has in its transcript."""
        return self._turns[group]

    def numbers(self, group: int) -> list[int]:
        """The messages of a turn, as far as they stand in it one by one."""
        span = range(self._firsts[group], self._end(group))
        return [self._numbers[entry] for entry in span if not self._hidden[entry]]

    def span(self, group: int) -> tuple[int, int]:
        """The first and the last number of a turn; of a hidden run the last number counts."""
        return self._numbers[self._firsts[group]], self._numbers[self._end(group) - 1]

    def size(self, group: int) -> int:
        """How many entries a turn has."""
        return self._end(group) - self._firsts[group]

    def at(self, row: int) -> OutlineRow:
        """What stands in a row."""
        group = bisect_right(self._places, row, 0, self.groups) - 1
        offset = row - self._places[group]
        if offset == 0:
            return OutlineRow(OutlineKind.TURN, group)
        entry = self._firsts[group] + offset - 1
        hidden = self._hidden[entry]
        kind = OutlineKind.HIDDEN if hidden else OutlineKind.MESSAGE
        return OutlineRow(kind, group, self._numbers[entry], hidden)

    def row_of(self, number: int) -> int:
        """The row of a message, of the run that hides it, or of its folded turn; -1 where there is none."""
        if not self._numbers:
            return -1
        entry = min(bisect_left(self._numbers, number), len(self._numbers) - 1)
        group = bisect_right(self._firsts, entry) - 1
        inside = 0 if group in self.folded else entry - self._firsts[group] + 1
        return self._places[group] + inside

    def row_of_turn(self, group: int) -> int:
        """The row of a turn."""
        return self._places[group]

    def toggle(self, group: int) -> None:
        """Fold a turn, or unfold it."""
        self.folded ^= {group}
        self._place(group)

    def fold_all(self, folded: bool) -> None:
        """All turns at once."""
        self.folded = set(range(self.groups)) if folded else set()
        self._place(0)

    def extend(self, projection: Projection, rows: Rows, changed: int = 0) -> None:
        """Take the rows from the first one that may have changed."""
        self._keep(rows.last_number(changed - 1) if changed else 0)
        kept = self.groups
        one_by_one = not projection.audience.is_safe
        for row in range(changed, len(rows)):
            kind = rows.kind(row)
            if kind is RowKind.MESSAGE:
                self._add(rows.value(row), 0, rows.turn(row))
            elif kind is RowKind.HIDDEN and one_by_one:
                self._add_each(projection, rows, row)
            elif kind is RowKind.HIDDEN:
                self._add(rows.last_number(row), rows.value(row), self._current)
        self._place(max(0, kept - 1))

    @property
    def _current(self) -> int:
        """The turn that the next message without one belongs to."""
        return self._turns[-1] if self._turns else 1

    def _keep(self, last: int) -> None:
        """Forget what stands after this message."""
        length = bisect_right(self._numbers, last)
        groups = bisect_left(self._firsts, length)
        for column, size in ((self._numbers, length), (self._hidden, length), (self._firsts, groups)):
            del column[size:]
        del self._turns[groups:]

    def _add(self, number: int, hidden: int, turn: int) -> None:
        if not self._turns or turn != self._turns[-1]:
            self._firsts.append(len(self._numbers))
            self._turns.append(turn)
        self._numbers.append(number)
        self._hidden.append(hidden)

    def _add_each(self, projection: Projection, rows: Rows, row: int) -> None:
        """The messages that the toggles hide; a run that ends in the turn it began in need not be looked at."""
        last = rows.last_number(row)
        first = last - rows.value(row) + 1
        whole = bool(self._turns) and projection.headline(last).turn == self._current
        for number in range(first, last + 1):
            self._add(number, 0, self._current if whole else projection.headline(number).turn)

    def _end(self, group: int) -> int:
        return self._firsts[group + 1] if group + 1 < self.groups else len(self._numbers)

    def _place(self, first: int) -> None:
        """Count rows anew, from a turn on."""
        del self._places[first + 1 :]
        for group in range(first, self.groups):
            rows = 1 if group in self.folded else 1 + self.size(group)
            self._places.append(self._places[group] + rows)
