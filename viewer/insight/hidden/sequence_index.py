"""Sorted index of word sequences: the hash of each sequence in hidden text, with its position."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.insight.hidden.word_keys import Hashes, Positions
from viewer.numeric import np

BITS = 28
MOST_WORDS = (1 << BITS) - 1
"""The highest position that a sequence can have."""
MOST_PLACES = 8
"""The maximum number of positions of one sequence to take from each block."""
_MOST_FOUND = 2 * MOST_PLACES
"""The maximum number of positions of one sequence to take from all blocks together. Using all of them would make
repeated text too expensive."""
_PLACES = np.uint64(MOST_WORDS)
"""The bits of an entry that contain the position of a sequence. The other bits contain its hash; the required density
of a passage rules out chance matches."""
_GROWTH = 4
"""A block is joined with the previous block unless the previous one is at least this many times as long."""
_RUN_GROWTH = 16
"""A sorted run is merged with the previous run unless the previous one is at least this many times as long. This limits
how often each hash is merged."""

Borders = Sequence[int]
"""The first position of each block at the time of a search, and the position after the last block."""


class SequenceIndex:
    """The hashes and positions of sequences, in order of addition.

    The sequences that were added between two searches are a block. Only some positions of a frequent sequence are used
    from each block. Many searches are done together, so blocks store only numbers; the hashes are in longer sorted
    runs."""

    def __init__(self) -> None:
        self._runs: list[Hashes] = []
        """Sorted hashes with their positions in the lowest bits. The positions in each run are after those in earlier
        runs."""
        self._run_ends: list[int] = []
        """For each run, the position after its last one."""
        self._unsorted: list[Hashes] = []
        self._end = 0
        self._blocks: list[tuple[int, int]] = []
        """The first position, and the number of sequences, of each block."""
        self._new: tuple[int, int] | None = None
        """The first position, and the number, of the sequences added since the last search; None if there are none."""

    def begin(self) -> None:
        """Exclude everything that was added so far from later searches."""
        self._blocks, self._new = [], None

    def add(self, hashes: Hashes, places: Positions, first: int) -> None:
        """Add sequences at these positions, which must not be before `first` or before a position that was added
        earlier."""
        self._unsorted.append(hashes & ~_PLACES | places.view(np.uint64))
        self._end = int(places[-1]) + 1 if len(places) else self._end
        begun, count = self._new or (first, 0)
        self._new = begun, count + len(hashes)

    def borders(self, end: int) -> Borders:
        """Return the borders of the blocks for a search in everything added so far. `end` is the position after the
        last block."""
        if self._new is not None:
            first, count = self._new
            while self._blocks and self._blocks[-1][1] < _GROWTH * count:
                first, more = self._blocks.pop()
                count += more
            self._blocks.append((first, count))
            self._new = None
        return [*(first for first, _ in self._blocks), end]

    def runs(self) -> list[Hashes]:
        """Sort what was added, and return all sorted runs."""
        if self._unsorted:
            run = np.sort(np.concatenate(self._unsorted))
            self._unsorted.clear()
            while self._runs and len(self._runs[-1]) < _RUN_GROWTH * len(run):
                run = np.sort(np.concatenate((self._runs.pop(), run)), kind="stable")  # merges sorted runs
                self._run_ends.pop()
            self._runs.append(run)
            self._run_ends.append(self._end)
        return self._runs

    def find(self, hashes: Hashes, searches: Positions, borders: Sequence[Borders]) -> tuple[Positions, Positions]:
        """Return the row in `hashes` and the position of each sequence found, in order of the rows and then of the
        positions. `searches` has the number of each row's search, and `borders` the block borders of each search."""
        runs = self.runs()
        hashes = hashes & ~_PLACES
        order = hashes.argsort()  # binary searches for ascending values are faster
        hashes, table = hashes[order], _table(borders)[searches[order]]
        lowest, highest = hashes | table[:, 0], hashes | table[:, -1]
        lows = np.stack([run.searchsorted(lowest) for run in runs])
        counts = np.stack([run.searchsorted(highest) for run in runs]) - lows
        starts, used = np.zeros((2, len(hashes), table.shape[1] - 1), np.int64)
        used[:, 0] = counts.sum(axis=0)
        many = (used[:, 0] > MOST_PLACES).nonzero()[0]
        if len(many):
            starts[many], used[many] = self._ranks(hashes[many], table[many], lows[:, many], counts[:, many])
        for each in (starts, used):
            each[order] = each.copy()
        lows[:, order], counts[:, order] = lows.copy(), counts.copy()
        rows = np.repeat(np.arange(len(hashes)), used.sum(axis=1))
        return rows, self._places(rows, _ranges(starts.ravel(), used.ravel()), lows, counts)

    def _ranks(
        self, hashes: Hashes, borders: Hashes, lows: Positions, counts: Positions
    ) -> tuple[Positions, Positions]:
        """Return which entries of frequent sequences to use, numbered in order of their positions: the first entries of
        each block or, if these are too many, the last of them. For each run, `lows` has the index of a sequence's first
        entry, and `counts` has the number of its entries.

        The results have a row for each sequence, with the first entry to use from each block, and how many to use."""
        ranks = np.zeros(borders.shape, np.int64)
        ranks[:, -1] = counts.sum(axis=0)
        inner, inner_ranks = borders[:, 1:-1], ranks[:, 1:-1]
        begin = 0
        for run, end, low, count in zip(self._runs, self._run_ends, lows, counts, strict=True):
            row, column = ((inner > begin) & (inner < end)).nonzero()
            inner_ranks[row, column] += run.searchsorted(hashes[row] | inner[row, column]) - low[row]
            inner_ranks += (inner >= end) * count[:, None]
            begin = end
        used = np.minimum(np.diff(ranks, axis=1), MOST_PLACES)
        later = used[:, ::-1].cumsum(axis=1)[:, ::-1] - used
        dropped = np.maximum(0, used - np.maximum(0, _MOST_FOUND - later))
        return ranks[:, :-1] + dropped, used - dropped

    def _places(self, rows: Positions, ranks: Positions, lows: Positions, counts: Positions) -> Positions:
        """Return the positions of sequences, given the row of each and its number among the entries of that row."""
        entries: Hashes = np.empty(len(rows), np.uint64)
        for run, low, count in zip(self._runs, lows, counts, strict=True):
            most = count[rows]
            is_here = (ranks >= 0) & (ranks < most)
            entries[is_here] = run[(low[rows] + ranks)[is_here]]
            ranks = ranks - most
        found: Positions = (entries & _PLACES).view(np.int64)
        return found


def _ranges(starts: Positions, lengths: Positions) -> Positions:
    """Return the numbers in these ranges."""
    found: Positions = np.arange(lengths.sum()) + np.repeat(starts - lengths.cumsum() + lengths, lengths)
    return found


def _table(borders: Sequence[Borders]) -> Hashes:
    """Return the borders as rows of equal length. Additional blocks are empty."""
    most = max(map(len, borders))
    return np.array([[*each, *[each[-1]] * (most - len(each))] for each in borders], np.uint64)
