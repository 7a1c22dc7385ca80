"""Rows of the lens: runs of bytes within which no reading changes, and the ranks of disagreements."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any, SupportsIndex, overload
from zlib import compress, decompress

from msgspec import Struct

from viewer.insight.lens.readings import READS, REFUSES, Messages, Offsets, Read, Reading
from viewer.model.messages import Span
from viewer.numeric import NDArray, np

_MESSAGES_AT_ONCE = 4096
"""The number of messages of one reading to compare in one block."""


class Rank(IntEnum):
    """The ways in which readings of the same bytes disagree. A smaller number is more serious."""

    VISIBILITY = 1
    """Readers disagree about whether the message is shown, or under which role."""
    BOUNDARY = 2
    """Readers disagree about where the message begins or ends."""
    CALL = 3
    """Readers disagree about which tool is called."""
    TEXT = 4
    """Readers disagree about the text."""
    LABEL = 5
    """Readers disagree about the role or channel."""

    @property
    def word(self) -> str:
        """The name for machine-readable output."""
        return self.name.lower()


class Cell(Struct, frozen=True):
    """One reader's reading of a run of bytes."""

    message: Read
    part: str
    """`head`, `body`, or `stop`."""


class Row(Struct, frozen=True):
    """A run of bytes, with one cell per reader. A cell is None if the reader has no message there."""

    span: Span
    cells: tuple[Cell | None, ...]
    rank: Rank | None
    """How the readers that do not refuse the text disagree; None if they agree."""


class Faces(Struct, frozen=True):
    """Neighboring rows as columns. A face is everything in a row but its span and the numbers of its messages; many
    rows share few faces."""

    places: Sequence[int]
    """The indices of the rows in their block."""
    spans: Sequence[Span]
    ranks: Sequence[Rank | None]
    faces: Sequence[tuple[int, ...]]
    """A number for each reader's cell. Rows of a table with the same face have equal cells, apart from the numbers of
    their messages."""
    numbers: Sequence[tuple[int, ...]]
    """The number of each reader's message, or 0."""


_RANKS = (None, *Rank)
_PARTS = ("head", "body", "stop")
_BODY = 1

_Tables = tuple[dict[object, int], dict[object, int], dict[object, int]]
"""Numbers for roles, recipients, and labels, shared by all readings."""


class Block:
    """A batch of neighboring rows, stored as columns."""

    def __init__(
        self,
        readings: Sequence[Reading],
        spans: Offsets,
        ranks: NDArray[np.int8],
        places: NDArray[np.int32],
        parts: NDArray[np.int8],
    ) -> None:
        """`places` contains the index of each reading's message in each row, or -1 for none, and `parts` the part of
        that message. Readings with messages at the same positions share both."""
        self._readings = readings
        self._shared = _shared(readings)
        self._spans, self._ranks, self._places, self._parts = spans, ranks, places, parts

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[Row]:
        return self.rows(range(len(self)))

    def row(self, place: int) -> Row:
        """Return the row at this index."""
        return next(self.rows(range(place, place + 1)))

    def rows(self, places: Sequence[int]) -> Iterator[Row]:
        """Yield the rows at these indices, which are in ascending order."""
        if not len(places):
            return
        first, end = places[0], places[-1] + 1
        columns = [
            list(_cells(each.messages, at, part))
            for each, at, part in zip(
                self._readings,
                self._places[self._shared, first:end],
                self._parts[self._shared, first:end],
                strict=True,
            )
        ]
        spans, ranks = self._spans[:, first:end].T.tolist(), self._ranks[first:end].tolist()
        for place in places:
            at = place - first
            start, after = spans[at]
            yield Row((start, after), tuple(column[at] for column in columns), _RANKS[ranks[at]])

    def faces(self, at_most: Rank | None) -> Faces:
        """Return the rows in which readers disagree at least this seriously, or all rows, as columns."""
        rows = slice(None) if at_most is None else np.array(self.apart(at_most), np.int64)
        faces, numbers = [], []
        for each, column in zip(self._readings, self._shared, strict=True):
            places, parts = self._places[column][rows], self._parts[column][rows]
            is_there = places >= 0
            at = places[is_there]
            face = np.full(len(places), -1, np.int64)
            face[is_there] = (2 * each.messages.kinds[at] + (each.messages.texts[at] > 0)) * len(_PARTS)
            face[is_there] += parts[is_there]
            faces.append(face.tolist())
            numbers.append((places + 1).tolist())
        spans, ranks = self._spans[:, rows].tolist(), map(_RANKS.__getitem__, self._ranks[rows].tolist())
        places = np.arange(len(self))[rows].tolist()
        return Faces(
            places, [*zip(*spans, strict=True)], [*ranks], [*zip(*faces, strict=True)], [*zip(*numbers, strict=True)]
        )

    def apart(self, at_most: Rank) -> list[int]:
        """Return the indices of the rows in which readers disagree at least this seriously."""
        return np.flatnonzero((self._ranks > 0) & (self._ranks <= at_most)).tolist()

    def count(self, rank: Rank) -> int:
        """Return the number of rows with this rank."""
        return int((self._ranks == rank).sum())

    def split(self, place: int) -> tuple[Block, Block]:
        """Return two blocks: the rows before this index, and all other rows."""
        return self._rows(slice(place)), self._rows(slice(place, None))

    def packed(self) -> Callable[[], Block]:
        """Return a function that returns this block from a compressed copy of its columns."""
        columns = self._spans, self._ranks, self._places, self._parts
        packed = [_packed(column) for column in columns]
        readings = self._readings
        return lambda: Block(readings, *(unpack() for unpack in packed))

    def _rows(self, kept: slice | NDArray[np.bool_]) -> Block:
        return Block(
            self._readings, self._spans[:, kept], self._ranks[kept], self._places[:, kept], self._parts[:, kept]
        )

    def covered(self) -> Block:
        """Return the rows in which at least one reader has a message."""
        is_covered: NDArray[np.bool_] = (self._places >= 0).max(axis=0, initial=False)
        return self if is_covered.all() else self._rows(is_covered)

    def merged(self, before: Block | None) -> Block:
        """Return the rows of `before`, if any, and this block. Adjacent rows with the same rank and the same messages
        become one row; unless the readers disagree about visibility, the parts must also match."""
        both = (
            self
            if before is None
            else Block(
                self._readings,
                np.concatenate((before._spans, self._spans), axis=1),
                np.concatenate((before._ranks, self._ranks)),
                np.concatenate((before._places, self._places), axis=1),
                np.concatenate((before._parts, self._parts), axis=1),
            )
        )
        ranks, places, parts = both._ranks, both._places, both._parts
        same_parts = (parts[:, 1:] == parts[:, :-1]).all(axis=0) | (ranks[1:] == Rank.VISIBILITY)
        goes_on = (ranks[1:] == ranks[:-1]) & (places[:, 1:] == places[:, :-1]).all(axis=0) & same_parts
        first = np.concatenate(([True], ~goes_on))[: len(ranks)]
        last = np.concatenate((~goes_on, [True]))[: len(ranks)]
        spans = np.stack((both._spans[0, first], both._spans[1, last]))
        return Block(self._readings, spans, ranks[first], places[:, first], parts[:, first])


def _packed(column: NDArray[Any]) -> Callable[[], NDArray[Any]]:
    """Return a function that returns this column from a compressed copy. Neighboring rows have similar values."""
    shape, dtype = column.shape, column.dtype
    data = compress(np.diff(column, prepend=column.dtype.type(0)).tobytes(), 1)
    return lambda: np.cumsum(np.frombuffer(decompress(data), dtype).reshape(shape), axis=-1, dtype=dtype)


def _cells(messages: Messages, places: NDArray[np.int32], parts: NDArray[np.int8]) -> Iterator[Cell | None]:
    """Yield the cells of a reading in neighboring rows."""
    known = places[places >= 0]
    first = int(known.min()) if len(known) else 0
    found = messages[first : int(known.max()) + 1] if len(known) else []
    last: tuple[int, int] | None = None
    cell: Cell | None = None
    for at in zip(places.tolist(), parts.tolist(), strict=True):
        if at != last:
            last = at
            cell = Cell(found[at[0] - first], _PARTS[at[1]]) if at[0] >= 0 else None
        yield cell


def blocks(readings: Sequence[Reading]) -> Iterator[Block]:
    """Yield the runs of bytes within which no reading changes, in blocks of rows."""
    tables: _Tables = ({}, {}, {})
    shared = _shared(readings)
    columns = [_Columns(readings[shared.index(each)].messages) for each in range(len({*shared}))]
    heads = [_heads(each.messages, tables) for each in readings]
    judges = [place for place, each in enumerate(readings) if each.verdict != REFUSES]
    waiting: Block | None = None
    last: Offsets = np.zeros(0, np.int64)
    for start, end in pairwise(_steps(columns)):
        borders = _distinct([last, *(each.borders(start, end) for each in columns)])
        if not len(borders):
            continue
        last = borders[-1:]
        places = [each.places(borders[:-1]) for each in columns]
        cells = [_cells_of(readings[at].messages, heads[at], places[shared[at]]) for at in judges]
        found = (
            Block(
                readings,
                np.stack((borders[:-1], borders[1:])),
                _ranks(cells, len(borders) - 1),
                np.stack([each.places for each in places]),
                np.stack([each.parts for each in places]),
            )
            .covered()
            .merged(waiting)
        )
        ready, waiting = found.split(max(0, len(found) - 1))  # the next block may continue its last row
        if len(ready):
            yield ready
    if waiting is not None and len(waiting):
        yield waiting


class RowTable(Sequence[Row]):
    """The rows of all blocks, as one sequence."""

    def __init__(self) -> None:
        self._blocks: list[Callable[[], Block]] = []
        """Functions that return the blocks. Together, the columns of all blocks would be larger than the index."""
        self._ends: list[int] = []
        self._counts = dict.fromkeys((rank.word for rank in Rank), 0)
        self._last: tuple[int, Block] | None = None
        """The block that was used last, and its index."""
        self.apart: list[int] = []
        """The indices of the rows in which readers disagree about visibility."""

    def add(self, block: Block) -> None:
        """Add the rows of a block."""
        first = len(self)
        self._blocks.append(block.packed())
        self._ends.append(first + len(block))
        self.apart += [first + place for place in block.apart(Rank.VISIBILITY)]
        for rank in Rank:
            self._counts[rank.word] += block.count(rank)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, place: SupportsIndex) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> Row | list[Row]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        at = range(len(self))[place]
        which = bisect_right(self._ends, at)
        if self._last is None or self._last[0] != which:
            self._last = which, self._blocks[which]()
        return self._last[1].row(at - (self._ends[which - 1] if which else 0))

    def up_to(self, rank: Rank | None) -> Iterator[Row]:
        """Yield the rows in which readers disagree at least this seriously, or all rows if `rank` is None."""
        for unpack in self._blocks:
            block = unpack()
            yield from block if rank is None else block.rows(block.apart(rank))

    def faces(self, at_most: Rank | None) -> Iterator[tuple[Block, Faces]]:
        """Yield each block, and its rows in which readers disagree at least this seriously, or all, as columns."""
        for unpack in self._blocks:
            block = unpack()
            yield block, block.faces(at_most)

    def counts(self) -> dict[str, int]:
        """Count the disagreements of each rank."""
        return dict(self._counts)


def row_table(readings: Sequence[Reading]) -> RowTable:
    """Return all rows: the runs of bytes within which no reading changes."""
    table = RowTable()
    for block in blocks(readings):
        table.add(block)
    return table


def first_difference(readings: Sequence[Reading], chosen: str) -> Row | None:
    """Return the first row in which the chosen reader disagrees about visibility with a strict reader that accepts the
    text, or None if there is none."""
    plausible = [each for each in readings if each.format == chosen or each.verdict == READS]
    judged = [Reading(each.format, READS, each.messages) for each in plausible]
    apart = (block.row(place) for block in blocks(judged) for place in block.apart(Rank.VISIBILITY))
    return next(apart, None) if len(judged) > 1 else None


def _steps(columns: Sequence[_Columns]) -> list[int]:
    """Return the offsets at which blocks begin and end. Messages that overlap are compared in one block."""
    longest = max(columns, key=lambda each: len(each.starts))
    ends = max((int(each.ends.max()) for each in columns if len(each.ends)), default=0)
    inner = longest.starts[_MESSAGES_AT_ONCE::_MESSAGES_AT_ONCE].tolist()
    return [0, *(inner if all(each.is_in_order for each in columns) else []), ends + 1]


def _distinct(borders: Sequence[Offsets]) -> Offsets:
    found = np.sort(np.concatenate(borders), kind="stable")
    return found[np.flatnonzero(np.diff(found, prepend=-1))]


def _shared(readings: Sequence[Reading]) -> list[int]:
    """Return a number for each reading. Equal numbers mean that all messages are at the same positions."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(id(each.messages.like), len(numbers)) for each in readings]


class _Places(Struct, frozen=True):
    """The messages at some offsets, and the part of each message there. Missing values are -1."""

    places: NDArray[np.int32]
    parts: NDArray[np.int8]
    borders: tuple[Offsets, Offsets]


class _Cells(Struct, frozen=True):
    """The content of a reading at some offsets: nothing, or part of a message. Missing values are -1 or 0."""

    places: _Places
    shown_as: NDArray[np.int32]
    recipients: NDArray[np.int32]
    texts: NDArray[np.int32]
    labels: NDArray[np.int32]


def _heads(messages: Messages, tables: _Tables) -> NDArray[np.int32]:
    """Return numbers for the role under which each kind of message is shown, for its recipient, and for its label."""
    layout = messages.layout
    heads = np.zeros((3, max(layout.examples, default=0) + 1), np.int32)
    for kind, header in layout.examples.items():
        shown_as = header.role if kind in layout.shown else ""
        values = shown_as or None, header.recipient, (header.role, header.channel_given)
        heads[:, kind] = [
            0 if value is None else numbers.setdefault(value, len(numbers) + 1)
            for numbers, value in zip(tables, values, strict=True)
        ]
    return heads


def _cells_of(messages: Messages, heads: NDArray[np.int32], places: _Places) -> _Cells:
    """Return the content of a reading at some offsets."""
    is_there = places.places >= 0
    at = places.places[is_there]
    shown_as, recipients, labels = heads[:, messages.kinds[at]]
    texts = np.where(places.parts[is_there] == _BODY, messages.texts[at], 0)

    def placed(values: NDArray[Any], missing: int) -> NDArray[Any]:
        column = np.full(len(is_there), missing, np.int32)
        column[is_there] = values
        return column

    return _Cells(places, placed(shown_as, 0), placed(recipients, 0), placed(texts, 0), placed(labels, -1))


class _Columns:
    """The positions of the messages of a reading, for lookups by ascending offsets."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self.starts, self.ends = messages.starts, messages.ends
        self.is_in_order = self._is_in_order()
        self._reach = self.ends if self.is_in_order else np.maximum.accumulate(self.ends)

    def _is_in_order(self) -> bool:
        """True if no messages overlap, and each body is inside its message."""
        for first in range(0, len(self.starts), _MESSAGES_AT_ONCE):
            end = min(len(self.starts), first + _MESSAGES_AT_ONCE)
            borders = self._flat(first, end)
            if len(borders) and ((np.diff(borders) < 0).any() or (first and self.ends[first - 1] > borders[0])):
                return False
        return True

    def _flat(self, first: int, end: int) -> Offsets:
        """Return the borders of each message: its start, the start and the end of its body, and its end."""
        bodies = self._messages.bodies(first, end)
        return np.stack((self.starts[first:end], *bodies, self.ends[first:end]), axis=1).reshape(-1)

    def borders(self, start: int, end: int) -> Offsets:
        """Return the borders of messages and bodies between two offsets, in ascending order."""
        first, after = 0, len(self.starts)
        if self.is_in_order:
            first, after = int(self.ends.searchsorted(start)), int(self.starts.searchsorted(end))
        found = np.maximum.accumulate(self._flat(first, after)) if first < after else np.zeros(0, np.int64)
        return found[found.searchsorted(start) : found.searchsorted(end)]

    def places(self, offsets: Offsets) -> _Places:
        """Return the message at each of these offsets, if there is one, and its part there."""
        places = self._reach.searchsorted(offsets, "right")
        is_there = places < len(self.starts)
        is_there[is_there] = self.starts[places[is_there]] <= offsets[is_there]
        at = places[is_there]
        low, high = (int(at.min()), int(at.max()) + 1) if len(at) else (0, 0)
        body_starts, body_ends = self._messages.bodies(low, high)
        part_of = (offsets[is_there] >= body_starts[at - low]).astype(np.int8)
        part_of += offsets[is_there] >= np.maximum(body_starts, body_ends)[at - low]

        def placed(values: NDArray[Any], dtype: type[np.signedinteger[Any]]) -> NDArray[Any]:
            column = np.full(len(offsets), -1, dtype)
            column[is_there] = values
            return column

        borders = placed(self.starts[at], np.int64), placed(self.ends[at], np.int64)
        return _Places(placed(at, np.int32), placed(part_of, np.int8), borders)


def _ranks(judges: Sequence[_Cells], count: int) -> NDArray[np.int8]:
    """Return for each row the most serious rank in which its cells differ, or 0 if they do not differ."""
    found = np.zeros(count, np.int8)
    tests: tuple[tuple[Rank, Callable[[_Cells], Sequence[NDArray[Any]]]], ...] = (
        (Rank.LABEL, lambda each: [each.labels]),
        (Rank.TEXT, lambda each: [each.texts]),
        (Rank.CALL, lambda each: [each.recipients]),
        (Rank.BOUNDARY, lambda each: [*each.places.borders, each.places.parts]),
        (Rank.VISIBILITY, lambda each: [each.shown_as]),
    )
    for rank, columns_of in tests:
        for other in judges[1:]:
            for one, column in zip(columns_of(judges[0]), columns_of(other), strict=True):
                if one is not column:
                    found[one != column] = rank
    return found
