"""Literal search over blocks: find a text in many messages at once, in the bytes of the input.

The vault lends its source, as it does to `body_blocks.py`. Results come only from messages that the audience sees; no
bytes are kept. Rows that bytes cannot decide are left to a search of their text."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewer.document.byte_pattern import BytePattern, Bytes, Positions
from viewer.document.rows import RowKind, Rows
from viewer.document.vault import HiddenError
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.messages import IRREGULAR, MessageIndex
from viewer.reading.embedded_turn import STRIPPED_SIGN
from viewer.reading.template_marks import MAY_BE_MARK

Marks: TypeAlias = NDArray[np.bool_]

BLOCK = 256 * 1024
"""Bytes searched at once: the intermediate arrays fit into a processor cache."""
LARGEST = 4 * 1024 * 1024
"""The largest body searched at once; a larger one is searched as text."""
WIDEST_GAP = 128 * 1024
"""Bytes between two messages that are read rather than skipped."""
FEWEST, MOST = 1024, 64 * 1024
"""Rows planned at once; few at first, so that a first match appears soon."""
WIDEST_PLAN = 256 * 1024
_LESS, _BAR, _BRACKET = b"<|["


@dataclass(frozen=True, slots=True)
class Stretch:
    """Search result for consecutive rows."""

    after: int
    """The row after them."""
    careful: Sequence[int] = ()
    """Rows whose text must be searched, in order."""
    rows: array[int] = field(default_factory=partial(array, "I"))
    """A row for each match, in order; none of the careful rows."""
    starts: array[int] = field(default_factory=partial(array, "Q"))
    """Where each match begins, in code points of the text of its row."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """What is searched, and for whom."""

    index: MessageIndex
    rows: Rows
    read: Callable[[int, int], bytes]
    sees: VisibilityCache
    cuts: VisibilityCache
    """True for messages with cut parts."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Rows from `first` up to, but not including, `after`."""

    first: int
    after: int
    careful: Positions
    rows: Positions
    """Rows whose bytes can be searched, with columns of the same length."""
    starts: Positions
    ends: Positions
    unmarked: Marks
    """True if the body has no mark."""
    cut: Marks
    """True if parts of the body are cut."""
    borders: Positions
    """Indexes where the next body is far away."""


class BlockSearcher:
    """Searcher for one byte pattern; each call covers as many rows as possible."""

    def __init__(self, ground: SearchScope, needle: BytePattern) -> None:
        self._ground = ground
        self._needle = needle
        self._plan: _Plan | None = None
        self._size = FEWEST

    def stretch(self, row: int, last: int) -> Stretch:
        """Search one or more rows from `row` on, up to, but not including, `last`."""
        plan = self._plan
        if plan is None or not plan.first <= row < plan.after <= last:
            plan = self._plan = _plan(self._ground, row, min(last, row + self._size))
            self._size = min(2 * self._size, MOST)
        first = int(plan.rows.searchsorted(row))
        if first == len(plan.rows):
            return Stretch(plan.after, _between(plan.careful, row, plan.after))
        end = _block_end(plan, first)
        after = int(plan.rows[end]) if end < len(plan.rows) else plan.after
        careful = _between(plan.careful, row, after)
        return _skimmed(self._ground.read, self._needle, plan, slice(first, end), after, careful)

    def forget(self) -> None:
        """Drop the plan: the rows may have changed."""
        self._plan = None


def _between(rows: Positions, first: int, after: int) -> list[int]:
    found: list[int] = rows[rows.searchsorted(first) : rows.searchsorted(after)].tolist()
    return found


def _plan(ground: SearchScope, first: int, after: int) -> _Plan:
    """Separate the rows whose bytes can be searched from the others."""
    kinds, values = (np.frombuffer(column, column.typecode) for column in ground.rows.columns(first, after))
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
    if not ground.sees.seen(low, high)[chosen].all():
        raise HiddenError
    starts, ends = (column[chosen] for column in ground.index.places.bodies(low - 1, high))
    flags = np.frombuffer(ground.index.kinds(low, high)[1], np.uint8)[chosen]
    sizes = ends - starts
    plain = (flags & IRREGULAR == 0) & (numbers <= ground.rows.settled_number) & (sizes >= 0) & (sizes <= LARGEST)
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
        ground.index.places.came_in_run(low - 1, high)[chosen][plain],
        ground.cuts.seen(low, high)[chosen][plain],
        np.flatnonzero(starts[1:] - ends[:-1] > WIDEST_GAP) + 1,
    )


def _block_end(plan: _Plan, first: int) -> int:
    """The end of the block that begins with body `first`, as an index of the plan."""
    end = int(plan.ends.searchsorted(plan.starts[first] + BLOCK, "right"))
    border = int(plan.borders.searchsorted(first, "right"))
    if border < len(plan.borders):
        end = min(end, int(plan.borders[border]))
    return max(end, first + 1)


def _skimmed(
    read: Callable[[int, int], bytes], needle: BytePattern, plan: _Plan, chosen: slice, after: int, careful: list[int]
) -> Stretch:
    """Search the bytes of these rows."""
    starts, ends, rows = plan.starts[chosen], plan.ends[chosen], plan.rows[chosen]
    base, stop = int(starts[0]), int(ends[-1])
    text = read(base, stop)
    if len(text) < stop - base:  # the file has become shorter
        return Stretch(after, sorted([*careful, *rows.tolist()]))
    data = np.frombuffer(text, np.uint8)
    found, doubts = needle.find(data), needle.doubts(text)
    sure = bool(plan.unmarked[chosen].all())
    if not len(found) and not len(doubts) and sure:
        return Stretch(after, careful)
    starts, ends = starts - base, ends - base
    doubted = _holding(doubts, starts, ends)
    if not sure:
        less = np.flatnonzero(data[:-1] == _LESS)
        doubted |= _holding(less[data[less + 1] == _BAR], starts, ends) & ~plan.unmarked[chosen]
    if len(found) and plan.cut[chosen].any():
        signs = [found.start() for pattern in (MAY_BE_MARK, STRIPPED_SIGN) for found in pattern.finditer(text)]
        doubted |= _holding(np.sort(np.array(signs, np.int64)), starts, ends) & plan.cut[chosen]
    place = starts.searchsorted(found, "right") - 1
    inside = found + needle.size <= ends[place]
    found, place = found[inside], place[inside]
    if not needle.is_exact:
        doubted[place] = True
    if needle.overlaps:
        apart = _apart(found, place, needle.size)
        found, place = found[apart], place[apart]
    characters = _characters(text, data, starts[place], found)
    if characters is None:
        doubted[place], characters = True, found
    kept = ~doubted[place]
    if doubted.any():
        careful = sorted([*careful, *rows[doubted].tolist()])
    return Stretch(after, careful, _array("I", rows[place[kept]]), _array("Q", characters[kept]))


def _array(code: str, numbers: Positions) -> array[int]:
    return array(code, numbers.astype(code).tobytes())


def _holding(found: Positions, starts: Positions, ends: Positions) -> Marks:
    """Which bodies contain one of these positions."""
    if not len(found):
        return np.zeros(len(starts), bool)
    holding: Marks = found.searchsorted(starts) < found.searchsorted(ends)
    return holding


def _apart(found: Positions, place: Positions, size: int) -> Positions:
    """The matches that remain when none may begin inside another one in the same body."""
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
    """The number of code points between these positions; None for ill-formed UTF-8."""
    if text.isascii():
        return found - starts
    try:
        text.decode()
    except UnicodeDecodeError:
        return None
    inner = np.flatnonzero(data & 0xC0 == 0x80)
    characters: Positions = found - starts - (inner.searchsorted(found) - inner.searchsorted(starts))
    return characters
