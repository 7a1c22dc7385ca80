"""Header cache for plain frames: each distinct header, apart from its call ID, is parsed once."""

from __future__ import annotations

import re
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from viewer.model.messages import Channel, Header
from viewer.numeric import NDArray, np
from viewer.reading.grammar import TextGrammar
from viewer.reading.header import is_stop_expected, is_tool, read_header
from viewer.scan.blocks import ENDINGS, START_LENGTH, Frames, HeaderColumns, Positions, Words, words_view

IRREGULAR = -1
LONGEST_WORDS = 192
LONGEST_ID = 64
MOST_KINDS = 4096
MOST_ID_PLACES = 32
MOST_SAMPLED = 512
"""The maximum number of headers in which to look for further positions of call IDs after a new one was found."""

_KEY = b"call_id="
_KEY_WORD = np.uint64(int.from_bytes(_KEY, "little"))
_ID = re.compile(rb"(?<=[ \t\r\n])call_id=([!-;=-~]{1,64})(?=[ \t\r\n<]|\Z)")
PREFIX = b"functions."
FUNCTION = re.compile(rb" (to|name)=(functions\.[A-Za-z0-9_]{1,64})(?=[ <]|\Z)")
_ENDS_ID = np.ones(256, bool)
_ENDS_ID[0x21:0x7F] = False
_ENDS_ID[ord("<")] = True
_MAY_FOLLOW_ID = np.zeros(256, bool)
_MAY_FOLLOW_ID[list(b" \t\r\n<")] = True
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_PRIME = 0x9E3779B97F4A7C15
_SLOT_BITS = 12
_ROUNDS = 6


class HeaderKind(Struct, frozen=True):
    """The meaning of a header's words, without the call ID."""

    header: Header
    endings: int
    """One bit for each expected ending."""
    is_noted: bool
    """True if the words need a diagnostic."""


class ReadHeaders(Struct, frozen=True):
    """The headers of the frames of one block."""

    kinds: NDArray[np.int64]
    """The position of each header in `HeaderMemo.kinds`, or IRREGULAR."""
    id_starts: Positions
    id_ends: Positions
    """The bounds of the call ID in each header; both are 0 if it has no call ID."""


class _NewPlaceError(Exception):
    """A call ID was found at a position that had not been searched."""


class HeaderMemo:
    """Cache of the header kinds of one grammar. A header that is not fully understood is IRREGULAR."""

    def __init__(self, grammar: TextGrammar) -> None:
        self.kinds: list[HeaderKind] = []
        self._grammar = grammar
        self._known: dict[tuple[bytes, bytes | None], int] = {}
        self._id_places: list[int] = []
        """The positions in headers at which call IDs have been found."""
        self._examples: dict[tuple[str | bytes | None, ...], int] = {}
        """The kind of a header with a function, by the words around its name."""
        self._endings_of: dict[tuple[bool, str, bool, Channel | None], int] = {}
        """The endings of headers, by everything on which they depend."""

    def read(self, data: bytes, frames: Frames) -> ReadHeaders:
        """Return the kinds of all headers in a block, and the positions of their call IDs."""
        if frames.headers is not None:
            return self._read_examples(data, frames.headers)
        while True:
            try:
                return self._read(data, frames)
            except _NewPlaceError:
                continue

    def _read(self, data: bytes, frames: Frames) -> ReadHeaders:
        words = words_view(data)
        first, last = frames.starts + START_LENGTH, frames.messages
        id_starts, id_ends = self._find_ids(data, words, first, last)
        parts = _Parts(words, first, np.where(id_starts > 0, id_starts, last), id_ends, last)
        kinds = np.full(len(frames), IRREGULAR, np.int64)
        rows = np.flatnonzero(last - first <= LONGEST_WORDS)
        for _ in range(_ROUNDS):
            if not len(rows):
                break
            examples, alike = parts.group(rows)
            found = np.full(len(frames), IRREGULAR, np.int64)
            is_example = np.zeros(len(frames), bool)
            is_example[examples[alike]] = True
            distinct = np.flatnonzero(is_example)
            places = (column[distinct].tolist() for column in (first, id_starts, id_ends, last))
            try:
                found[distinct] = [*map(partial(self._kind, data), *places)]
            except _NewPlaceError:
                self._learn_places(data, first[distinct], last[distinct])
                raise
            kinds[rows[alike]] = found[examples[alike]]
            rows = rows[~alike]
        return ReadHeaders(kinds, id_starts, id_ends)

    def _read_examples(self, data: bytes, headers: HeaderColumns) -> ReadHeaders:
        places = zip(headers.firsts, headers.example_id_starts, headers.example_id_ends, headers.lasts, strict=True)
        known = np.array([*(self._kind(data, *place) for place in places), IRREGULAR], np.int64)
        return ReadHeaders(known[headers.kinds], headers.id_starts, headers.id_ends)

    def _find_ids(self, data: bytes, words: Words, first: Positions, last: Positions) -> tuple[Positions, Positions]:
        starts, ends = np.zeros(len(first), np.int64), np.zeros(len(first), np.int64)
        block = np.frombuffer(data, np.uint8)
        for place in self._id_places:
            rows = np.flatnonzero((last - first > place) & (starts == 0))
            rows = rows[words[first[rows] + place - len(_KEY)] == _KEY_WORD]
            for width in (8, 24, LONGEST_ID + 1):
                at = first[rows] + place
                ending = _ENDS_ID[block[np.minimum(at[:, None] + np.arange(width), len(block) - 1)]]
                size = ending.argmax(axis=1)
                good = (size > 0) & _MAY_FOLLOW_ID[block[np.minimum(at + size, len(block) - 1)]]
                starts[rows[good]], ends[rows[good]] = at[good], (at + size)[good]
                rows = rows[~ending.any(axis=1)]
        return starts, ends

    def _kind(self, data: bytes, first: int, id_start: int, id_end: int, last: int) -> int:
        key = (data[first:id_start], data[id_end:last]) if id_start else (data[first:last], None)
        known = self._known.get(key)
        if known is None:
            known = IRREGULAR
            if len(self._known) < MOST_KINDS:
                known = self._learn_by_function(key, data[first:last], data[id_start:id_end])
                self._known[key] = known
        return known

    def _learn_by_function(self, key: tuple[bytes, bytes | None], words: bytes, call_id: bytes) -> int:
        """Like `_learn`, but parse only one of the headers that differ only in the name of a function."""
        parts = _parts_around_function(key)
        if parts is None:
            return self._learn(words, call_id)
        field, function, *others = parts
        example = self._examples.get((field, *others), IRREGULAR)
        if example == IRREGULAR:
            number = self._learn(words, call_id)
            if number != IRREGULAR and getattr(self.kinds[number].header, field) == function:
                self._examples[field, *others] = number
            return number
        kind = self.kinds[example]
        self.kinds.append(replace(kind, header=replace(kind.header, **{field: function})))
        return len(self.kinds) - 1

    def _learn(self, words: bytes, call_id: bytes) -> int:
        """Parse these words and return the number of their kind, which covers any call ID. Return IRREGULAR if the ID
        is unclear, or if anything else depends on it."""
        if not call_id and _ID.search(words):
            self._learn_place(words)
        reading = read_header(words, self._grammar.header)
        header = reading.header
        is_known = header.call_id == (call_id.decode("ascii") or None)
        is_ignored = header.call_id is None and "call_id" in self._grammar.header.ignored
        if not (is_known or is_ignored):
            return IRREGULAR
        if call_id and (words.count(_KEY) != 1 or _ID.search(words) is None):
            return IRREGULAR
        shared = replace(header, call_id=None) if call_id else header
        self.kinds.append(HeaderKind(shared, self._endings(header), bool(reading.problems)))
        return len(self.kinds) - 1

    def _endings(self, header: Header) -> int:
        key = header.malformed, header.role, is_tool(header.recipient), header.channel
        known = self._endings_of.get(key)
        if known is None:
            expected = (is_stop_expected(header, ending, self._grammar) for ending in ENDINGS)
            known = self._endings_of[key] = sum(1 << code for code, is_expected in enumerate(expected) if is_expected)
        return known

    def _learn_place(self, words: bytes) -> None:
        if self._has_new_place(words):
            raise _NewPlaceError

    def _learn_places(self, data: bytes, first: Positions, last: Positions) -> None:
        """Look for call IDs at further positions in some of these headers, because a block is read again after each new
        position."""
        step = -(-len(first) // MOST_SAMPLED)
        for start, end in zip(first[::step].tolist(), last[::step].tolist(), strict=True):
            self._has_new_place(data[start:end])

    def _has_new_place(self, words: bytes) -> bool:
        """True if the call ID in these words is at a new position, which will be searched from now on."""
        found = _ID.search(words)
        if found is None or found.start(1) in self._id_places or len(self._id_places) >= MOST_ID_PLACES:
            return False
        self._id_places.append(found.start(1))
        return True


def _parts_around_function(key: tuple[bytes, bytes | None]) -> tuple[str, str, bytes, bytes, bytes | None] | None:
    """Return the header field that has a function, its name, and the words before, between, and after the name and the
    call ID. Return None if anything else may depend on the name."""
    before, after = key
    found = FUNCTION.search(before)
    if found is None or (after is None and _KEY in before) or (before + (after or b"")).count(PREFIX) != 1:
        return None
    field = "recipient" if found[1] == b"to" else "name"
    return field, found[2].decode("ascii"), before[: found.start(2)], before[found.end(2) :], after


class _Parts:
    """The words before and after the call ID of each header, eight bytes at a time."""

    def __init__(self, words: Words, first: Positions, before: Positions, after: Positions, last: Positions) -> None:
        has_id = (after > 0).astype(np.int64)
        after = np.where(after > 0, after, last)
        self._columns = [*_columns(words, first, before), *_columns(words, after, last)]
        self._lengths = (before - first) << 32 | has_id << 31 | (last - after)
        self._hashes = self._lengths.astype(np.uint64)
        for number, column in enumerate(self._columns):
            self._hashes += column * np.uint64(_PRIME * (2 * number + 3) & 0xFFFF_FFFF_FFFF_FFFF)

    def group(self, rows: Positions) -> tuple[Positions, NDArray[np.bool_]]:
        """For each row, pick an example with the same hash, and compare their words, because equal hashes do not prove
        equality. Return the examples, and a flag for each row: true if the words are equal."""
        slots = (self._hashes[rows] * np.uint64(_PRIME)) >> np.uint64(64 - _SLOT_BITS)
        table = np.zeros(1 << _SLOT_BITS, np.int64)
        table[slots] = rows
        examples = table[slots]
        columns = (self._lengths, *self._columns)
        if len(rows) == len(self._lengths):  # the usual case
            pairs = ((column, column[examples]) for column in columns)
        else:
            pairs = ((column[rows], column[examples]) for column in columns)
        alike = np.ones(len(rows), bool)
        for ours, theirs in pairs:
            alike &= ours == theirs
        return examples, alike


def _columns(words: Words, starts: Positions, ends: Positions) -> list[Words]:
    """Return the bytes between two positions of each row, as columns of eight bytes, padded with zeros."""
    sizes = np.minimum(ends - starts, LONGEST_WORDS)
    columns = []
    for at in range(0, int(sizes.max(initial=0)), 8):
        rows = np.flatnonzero(sizes > at)
        column = np.zeros(len(starts), np.uint64)
        column[rows] = words[starts[rows] + at] & _MASKS[np.minimum(sizes[rows] - at, 8)]
        columns.append(column)
    return columns
