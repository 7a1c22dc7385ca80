"""Literal search over blocks: find text in many messages at once, directly in the bytes of the input.

The vault provides the bytes. Results come only from messages that the audience sees, and no bytes are kept. If the
bytes of a row are not conclusive, its text must be searched instead."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from msgspec import Struct, field

from viewer import native
from viewer.columns.numpy_backend import column_of, values_of
from viewer.document.rows import RowKind, Rows
from viewer.document.search.byte_pattern import BytePattern
from viewer.document.visibility_cache import VisibilityCache
from viewer.errors import HiddenError
from viewer.index.messages import MessageIndex
from viewer.numeric import NDArray, np
from viewer.reading.embedded_turn import STRIPPED_SIGN
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.syntax.agent_text import HAS_INPUT
from viewer.syntax.agent_text import HEAD as STEPS_HEAD

Bytes: TypeAlias = NDArray[np.uint8]
Positions: TypeAlias = NDArray[np.int64]
Marks: TypeAlias = NDArray[np.bool_]

BLOCK = 256 * 1024
"""How many bytes to search at once: few enough that the intermediate arrays fit into a processor cache."""
LARGEST = 4 * 1024 * 1024
"""The maximum size of a body that is searched as bytes. A larger one is searched as text."""
WIDEST_GAP = 128 * 1024
"""A gap of up to this many bytes between two messages is read rather than skipped."""
FEWEST, MOST = 1024, 64 * 1024
"""The minimum and the maximum number of rows to plan at once. The first plan is small, so that the first match appears
soon."""
WIDEST_PLAN = 256 * 1024
_MARK = b"<|"
_CASE = np.uint8(0x20)
"""The bit that distinguishes ASCII letters by case."""
_SAMPLE = 64 * 1024
_NONE: Positions = np.zeros(0, np.int64)


class SearchedRows(Struct, frozen=True):
    """The search result for consecutive rows."""

    after: int
    """The row after the searched rows."""
    unsure: Sequence[int] = ()
    """Rows that must be searched as text, in order."""
    rows: array[int] = field(default_factory=partial(array, "I"))
    """The row of each match, in order, excluding the unsure rows."""
    starts: array[int] = field(default_factory=partial(array, "Q"))
    """Where each match begins, in code points from the start of the row's text."""


class SearchScope(Struct, frozen=True):
    """The content to search, and its audience."""

    index: MessageIndex
    rows: Rows
    read: Callable[[int, int], bytes]
    sees: VisibilityCache
    cuts: VisibilityCache
    """Selects the kinds of messages from which parts may be cut for the audience."""


class _Plan(Struct, frozen=True):
    """How to search the rows from `first` up to, but not including, `after`."""

    first: int
    after: int
    unsure: Positions
    rows: Positions
    """Rows that can be searched as bytes. `starts`, `ends`, `verbatim`, and `cut` have one entry for each."""
    starts: Positions
    ends: Positions
    verbatim: Marks
    """True if the text certainly equals the bytes of the body. Otherwise, the bytes may contain an escaped mark."""
    cut: Marks
    """True if parts of the body may be cut for the audience."""
    borders: Positions
    """The indexes of bodies that are far away from the body before them."""


class BlockSearcher:
    """Searches for one byte pattern. Each call covers as many rows as possible."""

    def __init__(self, scope: SearchScope, pattern: BytePattern) -> None:
        self._scope = scope
        self._pattern = pattern
        self._finder = PatternFinder(pattern)
        self._plan: _Plan | None = None
        self._size = FEWEST

    def search(self, row: int, last: int) -> SearchedRows:
        """Search one or more rows from `row` on, up to, but not including, `last`."""
        plan = self._plan
        if plan is None or not plan.first <= row < plan.after <= last:
            plan = self._plan = _plan(self._scope, row, min(last, row + self._size))
            self._size = min(2 * self._size, MOST)
        first = int(plan.rows.searchsorted(row))
        if first == len(plan.rows):
            return SearchedRows(plan.after, _between(plan.unsure, row, plan.after))
        end = _block_end(plan, first)
        after = int(plan.rows[end]) if end < len(plan.rows) else plan.after
        unsure = _between(plan.unsure, row, after)
        return self._search(plan, slice(first, end), after, unsure)

    def _search(self, plan: _Plan, chosen: slice, after: int, unsure: list[int]) -> SearchedRows:
        """Search the bytes of these rows."""
        starts, ends, rows = plan.starts[chosen], plan.ends[chosen], plan.rows[chosen]
        base, stop = int(starts[0]), int(ends[-1])
        text = self._scope.read(base, stop)
        if len(text) < stop - base:  # the file has shrunk
            return SearchedRows(after, sorted([*unsure, *rows.tolist()]))
        data = np.frombuffer(text, np.uint8)
        found, doubts = self._finder.find(data), self._finder.doubts(text)
        certain = plan.verbatim[chosen] & ~plan.cut[chosen]  # a match may also begin before a cut part and end after it
        sure = bool(certain.all())
        if not len(found) and not len(doubts) and sure:
            return SearchedRows(after, unsure)
        starts, ends = starts - base, ends - base
        doubtful = _holding(doubts, starts, ends)
        if not sure:
            doubtful |= _holding(_marks(data), starts, ends) & ~certain
        if len(found) and plan.cut[chosen].any():
            signs = [
                found.start()
                for pattern in (MAY_BE_MARK, STRIPPED_SIGN, STEPS_HEAD, HAS_INPUT)
                for found in pattern.finditer(text)
            ]
            doubtful |= _holding(np.sort(np.array(signs, np.int64)), starts, ends) & plan.cut[chosen]
        place = starts.searchsorted(found, "right") - 1
        inside = found + self._pattern.size <= ends[place]
        found, place = found[inside], place[inside]
        if not self._pattern.is_exact:
            doubtful[place] = True
        if self._pattern.overlaps:
            apart = _apart(found, place, self._pattern.size)
            found, place = found[apart], place[apart]
        characters = _characters(text, data, starts[place], found)
        if characters is None:
            doubtful[place], characters = True, found
        kept = ~doubtful[place]
        if doubtful.any():
            unsure = sorted([*unsure, *rows[doubtful].tolist()])
        return SearchedRows(after, unsure, column_of("I", rows[place[kept]]), column_of("Q", characters[kept]))

    def forget(self) -> None:
        """Drop the plan, because the rows may have changed."""
        self._plan = None


def _between(rows: Positions, first: int, after: int) -> list[int]:
    found: list[int] = rows[rows.searchsorted(first) : rows.searchsorted(after)].tolist()
    return found


def _flags(mask: bytearray) -> Marks:
    return np.frombuffer(mask, bool)


def _plan(scope: SearchScope, first: int, after: int) -> _Plan:
    """Separate the rows that can be searched as bytes from the rest."""
    index = scope.index
    kinds, values = map(values_of, scope.rows.kinds_and_values(first, after))
    places = np.flatnonzero(kinds == RowKind.MESSAGE.value)
    if len(places) and int(values[places[-1]]) - int(values[places[0]]) > WIDEST_PLAN:
        after = first + int(places[values[places].searchsorted(values[places[0]] + WIDEST_PLAN)])
        places, kinds = places[places < after - first], kinds[: after - first]
    strays = np.flatnonzero(kinds == RowKind.STRAY.value) + first
    if not len(places):
        none = np.zeros(0, np.int64)
        return _Plan(first, after, strays, none, none, none, none.astype(bool), none.astype(bool), none)
    numbers = values[places].astype(np.int64)
    low, high = int(numbers[0]), int(numbers[-1])
    chosen = slice(None) if high - low + 1 == len(numbers) else numbers - low
    if not _flags(scope.sees.mask(low, high))[chosen].all():
        raise HiddenError
    starts, ends = (values_of(column).view(np.int64)[chosen] for column in index.bodies(low, high))
    regular = _flags(index.columns.mask(index.kinds, index.regular_kinds, low, high + 1))[chosen]
    sizes = ends - starts
    plain = regular & (numbers <= scope.rows.settled_number) & (sizes >= 0) & (sizes <= LARGEST)
    if (starts[plain][1:] < ends[plain][:-1]).any():
        plain[:] = False
    starts, ends = starts[plain], ends[plain]
    return _Plan(
        first,
        after,
        np.sort(np.concatenate((strays, places[~plain] + first))),
        places[plain] + first,
        starts,
        ends,
        _flags(index.verbatim(low, high))[chosen][plain],
        _flags(scope.cuts.mask(low, high))[chosen][plain],
        np.flatnonzero(starts[1:] - ends[:-1] > WIDEST_GAP) + 1,
    )


def _block_end(plan: _Plan, first: int) -> int:
    """Return the end of the block that begins with body `first`, as an index into the plan."""
    end = int(plan.ends.searchsorted(plan.starts[first] + BLOCK, "right"))
    border = int(plan.borders.searchsorted(first, "right"))
    if border < len(plan.borders):
        end = min(end, int(plan.borders[border]))
    return max(end, first + 1)


def _holding(found: Positions, starts: Positions, ends: Positions) -> Marks:
    """Return, for each body, whether it contains any of these positions."""
    if not len(found):
        return np.zeros(len(starts), bool)
    holding: Marks = found.searchsorted(starts) < found.searchsorted(ends)
    return holding


def _marks(data: Bytes) -> Positions:
    """Return the positions of `<|`."""
    accelerator = native.load()
    if accelerator:
        return np.frombuffer(accelerator.find(data.data, _MARK, _MARK), np.int64)
    less = np.flatnonzero(data[:-1] == _MARK[0])
    marks: Positions = less[data[less + 1] == _MARK[1]]
    return marks


def _apart(found: Positions, place: Positions, size: int) -> Positions:
    """Return the indices of the matches that do not begin inside an earlier match in the same body."""
    if not (np.diff(found) < size).any():
        return np.arange(len(found))
    kept: list[int] = []
    body = end = -1
    for index, (at, its) in enumerate(zip(found.tolist(), place.tolist(), strict=True)):
        if its != body or at >= end:
            kept.append(index)
            body, end = its, at + size
    return np.array(kept, np.int64)


def _characters(text: bytes, data: Bytes, starts: Positions, found: Positions) -> Positions | None:
    """Return the number of code points from the start of each body to its match, or None for ill-formed UTF-8."""
    if text.isascii():
        return found - starts
    try:
        text.decode()
    except UnicodeDecodeError:
        return None
    inner = np.flatnonzero(data & 0xC0 == 0x80)
    characters: Positions = found - starts - (inner.searchsorted(found) - inner.searchsorted(starts))
    return characters


class PatternFinder:
    """Finds all positions of a byte pattern in bytes."""

    def __init__(self, pattern: BytePattern) -> None:
        self._pattern = pattern
        self._native = native.load()
        self._order: list[int] = []

    def find(self, data: Bytes) -> Positions:
        """Return the positions of all matches or candidates, which may overlap."""
        count = len(data) - self._pattern.size + 1
        if count <= 0:
            return _NONE
        if self._native and self._pattern.two_spellings:
            return np.frombuffer(self._native.find(data.data, *self._pattern.two_spellings), np.int64)
        if not self._order:
            self._order = self._rarest_first(data)
        lowered = data | _CASE if any(self._pattern.letters) else data
        first, *rest = self._order
        may = self._matches_at(data, lowered, slice(first, first + count), first)
        if rest:
            may &= self._matches_at(data, lowered, slice(rest[0], rest[0] + count), rest[0])
        if not may.any():
            return _NONE
        found: Positions = np.flatnonzero(may)
        for at in rest[1:]:
            found = found[self._matches_at(data, lowered, found + at, at)]
        return found

    def doubts(self, data: bytes) -> Positions:
        """Return the positions of letters that may be part of a match that `find` misses."""
        if self._pattern.others is None or (data.isascii() and not self._pattern.others_are_ascii):
            return _NONE
        return np.fromiter((match.start() for match in self._pattern.others.finditer(data)), np.int64)

    def _matches_at(self, data: Bytes, lowered: Bytes, where: slice | Positions, at: int) -> NDArray[np.bool_]:
        """Return a mask of the positions at which the pattern's byte at this index matches."""
        wanted = self._pattern.bytes[at]
        if len(wanted) == 1:
            return np.equal(data[where], np.uint8(min(wanted)))
        if letter := self._pattern.letters[at]:
            return np.equal(lowered[where], np.uint8(letter))
        table = np.zeros(256, bool)
        table[list(wanted)] = True
        found: NDArray[np.bool_] = table[data[where]]
        return found

    def _rarest_first(self, data: Bytes) -> list[int]:
        """Return the indexes of the pattern, cheapest first: those whose bytes are rare in this data and quick to
        find."""
        counts = np.bincount(data[:_SAMPLE], minlength=256)

        def cost(at: int) -> int:
            wanted = self._pattern.bytes[at]
            slow = 0 if len(wanted) == 1 or self._pattern.letters[at] else _SAMPLE
            return slow + sum(int(counts[byte]) for byte in wanted)

        return sorted(range(self._pattern.size), key=cost)
