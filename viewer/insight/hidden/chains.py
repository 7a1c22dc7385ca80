"""Chains of word sequences: sequences in the same order in a shown text and in hidden text, with small gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from viewer.insight.hidden.growth import EDITED, EQUAL, GAP, MOST_SPARE, SLIP, Sides, near_of
from viewer.insight.hidden.sequence_index import BITS, MOST_WORDS
from viewer.insight.hidden.word_keys import Positions
from viewer.insight.hidden.word_sequences import SEED, Words
from viewer.numeric import NDArray, np

_SLIPS = tuple(sorted(range(-SLIP, SLIP + 1), key=lambda slip: (abs(slip), slip)))[1:]
"""The differences to other diagonals, smallest first."""


class _Lone(Struct, frozen=True):
    """Lone chains, as columns. The sequences of a lone chain have the same distance in the text and in its source."""

    places: Positions
    """Where each chain begins in the sources."""
    first_rows: Positions
    """The rows of the sequences of each chain in the columns below."""
    end_rows: Positions
    starts: Positions
    """Where each sequence begins in its text."""
    ends: Positions

    def gaps(self, place: int) -> list[tuple[int, int, int, int]]:
        """Return the gaps of a chain, as `Chain` stores them."""
        rows = slice(self.first_rows[place], self.end_rows[place])
        starts, ends = self.starts[rows], self.ends[rows]
        shift = int(self.places[place] - starts[0])
        gaps = zip(ends[:-1].tolist(), starts[1:].tolist(), strict=True)
        return [(first, end, first + shift, end + shift) for first, end in gaps]


class Candidates(Struct, frozen=True):
    """The chains of word sequences in a shown text that may be in a passage."""

    near: Sequence[tuple[int, int, int]]
    """Sequences near others, in order: where each begins in the text and in the sources, and its length."""
    lone: Sequence[tuple[int, int, int, int, int]]
    """Chains that are not near other sequences, longest first, in groups that begin and end with the same words of the
    text: their negative size, these words, and their indices in `columns`."""
    columns: _Lone

    def __bool__(self) -> bool:
        return bool(self.near or self.lone)

    def chains(self, inside: Sequence[int]) -> Iterator[Chain]:
        """Yield the chains, longest first. `inside` has the number of the passage found so far that contains each word,
        or -1. Lone chains inside a passage are left out."""
        near = sorted(_chains(self.near), key=lambda chain: (-chain.size, chain.first))
        near.reverse()
        for size, at, after, first, end in self.lone:
            while near and (-near[-1].size, near[-1].first) < (size, at):
                yield near.pop()
            for row, place in enumerate(self.columns.places[first:end].tolist(), first):
                while near and (-near[-1].size, near[-1].first) == (size, at) and near[-1].source_first < place:
                    yield near.pop()
                if inside[at] == inside[after - 1] >= 0:
                    break
                chain = Chain(at, place, after - at)
                if size != at - after:
                    chain.size, chain.gaps = -size, self.columns.gaps(row)
                yield chain
        yield from reversed(near)


_NO_COLUMNS = _Lone(*np.zeros((5, 0), np.int64))


def few_candidates(at: Positions, places: Positions) -> Candidates:
    """Return the sequences of one text. This does not join any, which costs less than it saves if there are few."""
    near = [(first, place, SEED) for first, place in zip(at.tolist(), places.tolist(), strict=True)]
    return Candidates(near, (), _NO_COLUMNS)


def candidates(at: Positions, places: Positions, starts: Sequence[int]) -> Iterator[Candidates]:
    """Yield the sequences of each text, adjacent ones joined. `starts` are the starts of the texts, and the end of the
    last one. Texts must be more than `GAP` words apart."""
    first, end, diagonals, begins = _runs(at, places)
    texts = np.array(starts).searchsorted(first, "right") - 1
    shifts = np.array(starts)[texts]
    first, end, diagonals = first - shifts, end - shifts, diagonals + shifts
    first_rows = begins.nonzero()[0]
    end_rows = np.append(first_rows[1:], len(first))[: len(first_rows)]
    is_lone = np.zeros(len(first_rows), np.bool_)
    if len(first_rows):
        is_lone = np.minimum.reduceat(diagonals, first_rows) == np.maximum.reduceat(diagonals, first_rows)
    numbers = np.arange(len(starts))

    rows = np.repeat(~is_lone, end_rows - first_rows).nonzero()[0]
    rows = rows[np.lexsort((diagonals[rows], first[rows], texts[rows]))]
    columns = first[rows], first[rows] + diagonals[rows], end[rows] - first[rows]
    near = [*zip(*(column.tolist() for column in columns), strict=True)]
    near_cuts = texts[rows].searchsorted(numbers).tolist()

    first_rows, end_rows = first_rows[is_lone], end_rows[is_lone]
    totals = np.concatenate(([0], (end - first).cumsum()))
    sizes = totals[first_rows] - totals[end_rows]
    order = np.lexsort((diagonals[first_rows], first[first_rows], sizes, texts[first_rows]))
    first_rows, end_rows, sizes = first_rows[order], end_rows[order], sizes[order]
    lone = _Lone((first + diagonals)[first_rows], first_rows, end_rows, first, end)
    texts, firsts, ends = texts[first_rows], first[first_rows], end[end_rows - 1]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(texts) != 0) | (np.diff(sizes) != 0) | (np.diff(firsts) != 0) | (np.diff(ends) != 0)
    heads = is_new.nonzero()[0]
    group_ends = np.append(heads[1:], len(order))[: len(heads)]
    fields = sizes[heads], firsts[heads], ends[heads], heads, group_ends
    groups = [*zip(*(field.tolist() for field in fields), strict=True)]
    lone_cuts = texts[heads].searchsorted(numbers).tolist()
    for (first_near, end_near), (first_lone, end_lone) in zip(pairwise(near_cuts), pairwise(lone_cuts), strict=True):
        yield Candidates(near[first_near:end_near], groups[first_lone:end_lone], lone)


def _runs(at: Positions, places: Positions) -> tuple[Positions, Positions, Positions, NDArray[np.bool_]]:
    """Join sequences that overlap or touch on both sides, and put them into runs that no chain connects. Return where
    they begin and end, their distances to the sources, and a flag for the first one of each run."""
    by_diagonal = np.sort((places - at << BITS) + at, kind="stable")
    begins = np.ones(len(at), np.bool_)
    begins[1:] = np.diff(by_diagonal) > SEED
    firsts = begins.nonzero()[0]
    starts = by_diagonal[firsts]
    ends = np.append(by_diagonal[firsts[1:] - 1], by_diagonal[-1:]) + SEED
    diagonals = starts >> BITS
    group = np.zeros(len(starts), np.int64)
    np.cumsum(np.diff(diagonals) > SLIP, out=group[1:])
    starts, ends = starts & MOST_WORDS, ends & MOST_WORDS
    group <<= BITS
    order = np.argsort(group + starts, kind="stable")
    starts, ends, diagonals, group = starts[order], ends[order], diagonals[order], group[order]
    is_first = np.ones(len(starts), np.bool_)
    is_first[1:] = (group + starts)[1:] - np.maximum.accumulate(group + ends)[:-1] > GAP
    return starts, ends, diagonals, is_first


def _chains(sequences: Sequence[tuple[int, int, int]]) -> list[Chain]:
    """Join sequences on or near the same diagonal into chains."""
    by_diagonal: dict[int, Chain] = {}
    chains: list[Chain] = []
    find = by_diagonal.get
    for at, place, length in sequences:
        diagonal = place - at
        chain = find(diagonal)
        if chain is None or at - chain.end > GAP or place - chain.source_end > GAP + SLIP:
            for slip in _SLIPS:
                chain = find(diagonal + slip)
                if chain is not None and at - chain.end <= GAP and place - chain.source_end <= GAP + SLIP:
                    by_diagonal[diagonal] = chain
                    break
            else:
                chain = by_diagonal[diagonal] = Chain(at, place, length)
                chains.append(chain)
                continue
        chain.join(at, place, length)
    return chains


class Chain:
    """Sequences of words in the same order in the shown text and in a source."""

    __slots__ = ("end", "first", "gaps", "size", "source_end", "source_first", "words")

    def __init__(self, at: int, place: int, length: int) -> None:
        self.first, self.end = at, at + length
        self.source_first, self.source_end = place, place + length
        self.size = length
        """The number of words of the shown text that are in a sequence of this chain."""
        self.gaps: list[tuple[int, int, int, int]] = []
        """Where the words between two sequences begin and end, in the shown text and in the source."""
        self.words = 0.0
        """The number of words of the passage that are in the source and not covered."""

    def join(self, at: int, place: int, length: int) -> None:
        """Add a sequence that does not begin before the previous one."""
        end = at + length
        if at > self.end:
            self.gaps.append((self.end, at, self.source_end, place))
            self.size += length
        elif end > self.end:
            self.size += end - self.end
        if end > self.end:
            self.end, self.source_end = end, place + length

    def may_grow(self, text: Words, source: memoryview, base: int) -> bool:
        """True if a passage may extend beyond an end: the next words are equal, or a nearby content word is. The check
        is exact and cheap, because most chains cannot grow."""
        before, after = self.source_first - base, self.source_end - base
        words, first, end = text.listed, self.first, self.end
        if end < len(words):
            near = near_of(words[end])
            hidden = source[after : after + near].tolist()
            if hidden and (words[end] == hidden[0] or not text.contents(end, end + near).isdisjoint(hidden)):
                return True
        if first and before:
            near = near_of(words[first - 1])
            hidden = source[max(0, before - near) : before].tolist()
            if words[first - 1] == hidden[-1] or not text.contents(max(0, first - near), first).isdisjoint(hidden):
                return True
        return False

    def extend(self, sides: Sides) -> set[int]:
        """Add equal words between the sequences and beyond both ends. Return the positions in the shown text of all
        words that are in the source."""
        places = {*range(self.first, self.end)}
        for first, end, _, _ in self.gaps:
            places.difference_update(range(first, end))
        for first, end, source_first, source_end in self.gaps:
            for at in range(first, end):
                for place in (source_first + at - first, source_end + at - end):
                    if source_first <= place < source_end and sides.shown[at] == sides.source[place - sides.base]:
                        places.add(at)
        base, edited = sides.base, self.end - self.first - len(places)
        spare = min(MOST_SPARE, EQUAL * len(places) - EDITED * edited)
        found, first, source_first, spare = sides.grow(self.first - 1, self.source_first - 1 - base, -1, spare)
        places.update(found)
        found, self.end, source_end, _ = sides.grow(self.end, self.source_end - base, 1, min(MOST_SPARE, spare))
        places.update(found)
        self.first, self.source_first, self.source_end = first + 1, source_first + 1 + base, source_end + base
        return places
