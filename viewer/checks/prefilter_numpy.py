"""Prefilter for batches: compile triggers to a few NumPy passes over all bytes, which yield a bit mask per message."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from viewer import native
from viewer.checks.check import (
    AllOf,
    Always,
    AnyOf,
    BodyStarts,
    Check,
    Contains,
    HasByte,
    HeaderIs,
    IllFormed,
    LoneByte,
    Matches,
    Noted,
    Predicate,
    Trigger,
)
from viewer.checks.hidden_numpy import native_pictographs
from viewer.checks.prefilter import leaves_of, predicates_of
from viewer.numeric import NDArray, np
from viewer.scan.blocks import MESSAGE_LENGTH, Bytes, Positions, Words, words_view
from viewer.syntax.characters import HIDING_LEADS, hidden_spellings

Rows: TypeAlias = NDArray[np.bool_]
"""One flag per message."""

MOST_FAULTS = 8
"""After this many faults, every message with non-ASCII bytes counts as ill-formed."""
SELDOM = 32
"""If fewer than 1 in this many bytes can begin a match of a pattern, the pattern is tried only at those bytes."""
MOST_MATCHES = 64
"""If a batch has more matches than this, an exact search takes less time than checking the matching messages."""

_ILL_FORMED, _LONE_RETURN, _MAY_HIDE = 1, 2, 4
"""Bits in the result of `Native.signs`."""
_LONGEST_LITERAL = 26
_HEAD = 4
"""The maximum number of bytes at the start of a literal that are compared."""
_LOWER = 0x2020_2020
"""A bit mask that maps upper case to lower case. Other bytes may also change, but equal words stay equal."""
_Word: TypeAlias = tuple[np.uint32, np.uint32]
"""A mask that selects the relevant bytes of a word, and the value of those bytes."""
_NOWHERE = np.zeros(0, np.int64)


class Batch:
    """The messages of a batch: their bytes, and the start and end of each message and body in them.

    A stop token follows every body, so eight bytes can be read starting at any byte of a body."""

    def __init__(self, data: bytes, starts: Positions, body_starts: Positions, body_ends: Positions) -> None:
        self.data = data
        self.block = np.frombuffer(data, np.uint8)
        self.starts = starts
        self.body_starts = body_starts
        self.body_ends = body_ends
        self.accelerator = native.load()

    @cached_property
    def is_ascii(self) -> bool:
        """True if all bytes are ASCII."""
        return self.data.isascii()

    @cached_property
    def _bytes(self) -> Bytes:
        return np.empty(len(self.data), np.uint8)

    @cached_property
    def _tokens(self) -> Positions:
        """The offsets of most tokens, none of which is in a body: `<|start|>`, `<|message|>`, and the stop token."""
        return np.concatenate((self.starts, np.maximum(self.body_starts - MESSAGE_LENGTH, self.starts), self.body_ends))

    @cached_property
    def _wide(self) -> Words:
        return np.zeros(len(self.data) // 8 + 1, np.uint64)

    @cached_property
    def _flags(self) -> Rows:
        return self._wide.view(bool)

    def __len__(self) -> int:
        return len(self.starts)

    def flags(self, rows: Positions | Sequence[int] | slice = slice(0)) -> Rows:
        """Return one flag per message, set for these rows."""
        flags = np.zeros(len(self), bool)
        flags[rows] = True
        return flags

    def rows_at(self, places: Positions | list[int]) -> Rows:
        """Return one flag per message, set for the messages that contain these offsets."""
        return self.flags(self.starts.searchsorted(np.asarray(places, np.int64), "right") - 1)

    def places_of(self, low: int, high: int) -> Positions:
        """Return the offsets of all bytes between two values, inclusive. Reusing the arrays halves the time."""
        if low == high:
            if bytes((low,)) not in self.data:
                return _NOWHERE
            np.equal(self.block, np.uint8(low), out=self._flags[: len(self.data)])
            return self._flagged()
        np.subtract(self.block, np.uint8(low), out=self._bytes)
        if len(self.data) == 0 or self._bytes.min() > high - low:
            return _NOWHERE
        np.less_equal(self._bytes, np.uint8(high - low), out=self._flags[: len(self.data)])
        return self._flagged()

    def places_begun(self, first: int, second: int | None) -> Positions:
        """Return the offsets of all bytes `first` in bodies, and of some in headers. With `second`, return only the
        offsets directly before that byte: if `first` is frequent, this takes much less time than checking the byte
        after each offset."""
        if bytes((first,)) not in self.data:
            return _NOWHERE
        flags = self._flags[: len(self.data)]
        np.equal(self.block, np.uint8(first), out=flags)
        if second is not None:
            following = flags if first == second else np.equal(self.block, np.uint8(second), out=self._bytes.view(bool))
            np.logical_and(flags[:-1], following[1:], out=flags[:-1])
        self._flags[self._tokens] = False
        return self._flagged()

    def places_in(self, wanted: bytes) -> Positions:
        """Return the offsets of all bytes that are in `wanted`, in no particular order."""
        ranges = _ranges(wanted)
        if ranges[0][0] < 0x80:
            return np.concatenate([self.places_of(low, high) for low, high in ranges])
        places = self.places_of(ranges[0][0], 0xFF)
        is_wanted: Rows = _table(wanted)[self.block[places]]
        return places[is_wanted]

    def _flagged(self) -> Positions:
        """Return the offsets of set flags. If few are set, searching eight at a time takes a third of the time."""
        if not self._flags.any():
            return _NOWHERE
        eights = np.flatnonzero(self._wide != 0)
        if len(eights) > len(self._wide) // 64:
            return np.flatnonzero(self._flags)
        places: Positions = ((eights << 3)[:, None] + np.arange(8)).ravel()
        is_set: Rows = self._flags[places]
        return places[is_set]

    def in_bodies(self, places: Positions) -> tuple[Positions, Positions]:
        """Return the offsets that are inside a body, and the row of each."""
        rows = self.body_starts.searchsorted(places, "right") - 1
        inside = (rows >= 0) & (places < self.body_ends[rows])
        return places[inside], rows[inside]


class _Literals:
    """The literals of all triggers. A literal is found by its first four bytes if its first byte is not ASCII, or also
    begins a literal that ignores case. Any other literal is searched for as a whole."""

    def __init__(self, checks: Sequence[Check]) -> None:
        triggers = [leaf for leaf in leaves_of(checks) if isinstance(leaf, Contains)]
        ignoring = [trigger for trigger in triggers if trigger.ignore_case]
        firsts = {literal[:1].lower() for trigger in ignoring for literal in trigger.literals if literal[0] < 0x80}
        self._of: dict[int, tuple[dict[bytes, list[_Word]], list[bytes]]] = {}
        heads: dict[bytes, set[bytes]] = {}
        for trigger in triggers:
            by_first, by_search = _sorted_out(trigger, firsts)
            self._of[id(trigger)] = {first: [*map(_word, sorted(some))] for first, some in by_first.items()}, by_search
            for first, some in by_first.items():
                heads.setdefault(first, set()).update(some)
        self._beginnings = {first: _Beginnings(first[0], some) for first, some in heads.items()}

    def of(self, trigger: Contains) -> tuple[dict[bytes, list[_Word]], list[bytes]]:
        """Return the beginnings of a trigger's literals, as words by their first byte, and the literals that are
        searched for as a whole."""
        return self._of[id(trigger)]

    def places(self, batch: Batch, first: bytes) -> Positions:
        """Return the offsets of all literals that begin with this byte, and possibly of other words."""
        return self._beginnings[first].places(batch)


class _Beginnings:
    """Finds where literals with the same first byte may begin."""

    def __init__(self, first: int, heads: set[bytes]) -> None:
        self._firsts = _cases(first)
        self._tables = [_following(heads, place) for place in range(1, _HEAD)]
        """For each position after the first byte, a table of byte values: true if the value may occur there."""
        seconds = np.flatnonzero(self._tables[0]).tolist()
        self._second = seconds[0] if len(seconds) == 1 else None

    def places(self, batch: Batch) -> Positions:
        found = [batch.places_begun(first, self._second) for first in self._firsts]
        places = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
        places = places[: places.searchsorted(len(batch.data) - _HEAD)]  # a stop token follows every body
        for after, may_follow in enumerate(self._tables, start=1):
            if len(places):
                places = places[may_follow[batch.block[places + after]]]
        return places


def _cases(byte: int) -> tuple[int, ...]:
    return tuple({*bytes((byte,)).lower(), *bytes((byte,)).upper()})


def _following(heads: set[bytes], place: int) -> Rows:
    """Return a flag for each byte value: true if one of these literals may have it at this place."""
    if any(len(head) <= place for head in heads):
        return np.ones(256, bool)
    return _table(bytes(byte for head in heads for byte in _cases(head[place])))


def _word(head: bytes) -> _Word:
    mask = np.uint32((1 << 8 * len(head)) - 1)
    return mask, np.uint32(int.from_bytes(head, "little") | _LOWER) & mask


def _sorted_out(trigger: Contains, firsts: set[bytes]) -> tuple[dict[bytes, set[bytes]], list[bytes]]:
    by_first: dict[bytes, set[bytes]] = {}
    by_search: list[bytes] = []
    for literal in trigger.literals:
        first = literal[:1].lower()
        if first in firsts or first >= b"\x80":  # a search for a short literal takes four times as long
            by_first.setdefault(first, set()).add(literal[:_HEAD].lower())
        else:
            by_search.append(literal)
    return by_first, by_search


class NativeSigns:
    """Runs the native accelerator once per batch. Each elementary trigger that depends only on bytes has a bit."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._bits: dict[int, int] = {}
        """The bit for each elementary trigger, by its identity."""
        of_byte, literals = np.zeros(256, np.uint32), dict[tuple[bytes, bool], int]()
        bit = _MAY_HIDE
        for leaf in leaves_of(checks):
            match leaf:
                case IllFormed():
                    self._bits[id(leaf)] = _ILL_FORMED
                case LoneByte(b"\r", b"\n"):
                    self._bits[id(leaf)] = _LONE_RETURN
                case Matches(leads, _, search) if leads == HIDING_LEADS and search:
                    self._bits[id(leaf)] = _MAY_HIDE
                case HasByte(wanted) if max(wanted) < 0x80:
                    self._bits[id(leaf)] = bit = bit << 1
                    of_byte[list(wanted)] |= bit
                case Contains() if id(leaf) not in self._bits:
                    self._bits[id(leaf)] = bit = bit << 1
                    for literal in leaf.literals:
                        sought = literal, leaf.ignore_case
                        literals[sought] = literals.get(sought, 0) | bit
        assert bit < 1 << 32
        self._of_byte = of_byte.tobytes()
        self._literals = b"".join(
            native_literal(text, bits, folds=folds) for (text, folds), bits in sorted(literals.items())
        )

    def find(self, batch: Batch) -> FoundSigns | None:
        """Return what the accelerator finds in a batch, or None if its messages are not separate and in order."""
        assert batch.accelerator is not None
        messages = np.stack((batch.starts, batch.body_starts, batch.body_ends), axis=-1).astype(np.int64)
        bits, places = batch.accelerator.signs(
            batch.data,
            messages.tobytes(),
            self._of_byte,
            self._literals,
            HIDING_LEADS,
            hidden_spellings(),
            native_pictographs(),
        )
        if not bits:
            return None
        return FoundSigns(self._bits, np.frombuffer(bits, np.uint32), np.frombuffer(places, np.int64))


class FoundSigns(Struct, frozen=True):
    """The accelerator's results for a batch."""

    bit_of: dict[int, int]
    bits: NDArray[np.uint32]
    """For each message, the bits of the triggers that are true."""
    places: Positions
    """The offsets in bodies of all characters that may be hidden, in order, except those that are part of an emoji."""

    def rows(self, trigger: Trigger) -> Rows | None:
        """Return a flag for each message, or None for a trigger that has no bit."""
        bit = self.bit_of.get(id(trigger))
        return None if bit is None else self.bits & np.uint32(bit) > 0


def native_literal(text: bytes, bits: int, *, folds: bool) -> bytes:
    """Pack a literal into the form that `Native.signs` expects."""
    beginning = (text.lower() if folds else text)[:_LONGEST_LITERAL]
    return struct.pack(f"=IBB{_LONGEST_LITERAL}s", bits, folds, len(beginning), beginning)


class NumpyPrefilter:
    """Selects the checks of all messages of a batch in a few passes."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._triggers = [check.trigger for check in checks]
        self._literals = _Literals(checks)
        self._signs = NativeSigns(checks)
        self._place_of: dict[Predicate, int] = {
            predicate: place for place, predicate in enumerate(predicates_of(checks))
        }

    def masks(self, batch: Batch, answers: NDArray[np.int64], noted: Positions) -> NDArray[np.int64]:
        """Return one mask per message. `answers` holds the results of the header predicates, `noted` the rows that the
        scanner flagged."""
        signs = self._signs.find(batch) if batch.accelerator else None
        return _Pass(batch, answers, noted, self._place_of, self._literals, signs).masks(self._triggers)


def compile_numpy(checks: Sequence[Check]) -> NumpyPrefilter:
    """Compile the prefilter for these checks. All documents share it."""
    return _compiled(tuple(checks))


@lru_cache(4)  # independent of inputs, so `clear_caches` need not clear it
def _compiled(checks: tuple[Check, ...]) -> NumpyPrefilter:
    return NumpyPrefilter(checks)


class _Pass:
    """Evaluates all triggers on one batch. A search that several triggers share runs only once."""

    def __init__(
        self,
        batch: Batch,
        answers: NDArray[np.int64],
        noted: Positions,
        place_of: dict[Predicate, int],
        literals: _Literals,
        signs: FoundSigns | None,
    ) -> None:
        self._signs = signs
        self._batch = batch
        self._answers = answers
        self._noted = noted
        self._place_of = place_of
        self._literals = literals
        self._words: dict[bytes, tuple[NDArray[np.uint32], Positions]] = {}
        """For each first byte, the lower-case words that start with it in any body, and their rows."""

    def masks(self, triggers: Sequence[Trigger]) -> NDArray[np.int64]:
        masks = np.zeros(len(self._batch), np.int64)
        for number, trigger in enumerate(triggers):
            masks |= self._rows(trigger).astype(np.int64) << number
        return masks

    def _rows(self, trigger: Trigger) -> Rows:
        batch = self._batch
        found = self._signs.rows(trigger) if self._signs else None
        if found is not None:
            return self._hiding(trigger, found) if isinstance(trigger, Matches) else found
        match trigger:
            case Always():
                return ~batch.flags()
            case HeaderIs(predicate):
                true: Rows = (self._answers >> self._place_of[predicate] & 1).astype(bool)
                return true
            case Noted():
                return batch.flags(self._noted)
            case AnyOf():
                found = batch.flags()
                for part in trigger.triggers:
                    found |= self._rows(part)
                return found
            case AllOf():
                found = ~batch.flags()
                for part in trigger.triggers:
                    if not found.any():
                        break
                    found &= self._rows(part)
                return found
            case Contains():
                return self._contains(trigger)
            case HasByte(wanted):
                return batch.rows_at(batch.places_in(wanted))
            case LoneByte(byte, unless_before):
                return batch.rows_at(_lone_places(batch, byte, unless_before))
            case Matches():
                return self._matches(trigger)
            case BodyStarts():
                return self._body_starts(trigger)
            case IllFormed():
                return batch.rows_at(_faults(batch))

    def _contains(self, trigger: Contains) -> Rows:
        found = self._batch.flags()
        words_of, by_search = self._literals.of(trigger)
        for literal in by_search:
            found[self._rows_with(literal)] = True
        for first, values in words_of.items():
            if first >= b"\x80" and self._batch.is_ascii:
                continue
            words, rows = self._words_at(first)
            if len(words):
                for mask, value in values:  # for few values, the setup of `isin` takes longer than this
                    found[rows[words & mask == value]] = True
        return found

    def _words_at(self, first: bytes) -> tuple[NDArray[np.uint32], Positions]:
        known = self._words.get(first)
        if known is None:
            batch = self._batch
            places, rows = batch.in_bodies(self._literals.places(batch, first))
            words = words_view(batch.data)[places].astype(np.uint32) | np.uint32(_LOWER)
            known = self._words[first] = words, rows
        return known

    def _rows_with(self, literal: bytes) -> list[int]:
        """Return the rows of the messages whose bodies contain a literal. This is fast only if the literal is rare."""
        batch, rows = self._batch, []
        at = batch.data.find(literal)
        while at >= 0:
            row = int(batch.body_starts.searchsorted(at, "right")) - 1
            if row >= 0 and at < batch.body_ends[row]:
                rows.append(row)
            if row + 1 == len(batch):
                break
            at = batch.data.find(literal, int(batch.body_starts[row + 1]))
        return rows

    def _matches(self, trigger: Matches) -> Rows:
        batch, match = self._batch, trigger.pattern.match
        if batch.is_ascii and min(trigger.leads) >= 0x80:
            return batch.flags()
        places = batch.places_in(trigger.leads)
        if len(places) < len(batch.data) // SELDOM:
            matched = [place for place in places.tolist() if match(batch.data, place)]
            if trigger.search is not None and len(matched) > MOST_MATCHES:
                matched = list(trigger.search(batch.data, places))
        elif trigger.search is not None:
            matched = list(trigger.search(batch.data, places))
        else:
            matched = [found.start() for found in trigger.pattern.finditer(batch.data)]
        return batch.flags(batch.in_bodies(np.array(matched, np.int64))[1])

    def _hiding(self, trigger: Matches, found: Rows) -> Rows:
        """Return the flags of the messages that contain a hidden character, or `found` if it cannot be narrowed
        down."""
        signs = self._signs
        if signs is None or trigger.search is None or not len(signs.places):
            return found
        matched = np.array(trigger.search(self._batch.data, signs.places), np.int64)
        return self._batch.flags(self._batch.in_bodies(matched)[1])

    def _body_starts(self, trigger: BodyStarts) -> Rows:
        batch, match = self._batch, trigger.pattern.match
        rows = np.flatnonzero(_table(trigger.leads)[batch.block[batch.body_starts]])
        places = batch.body_starts[rows].tolist()
        return batch.flags([row for row, place in zip(rows.tolist(), places, strict=True) if match(batch.data, place)])


def _table(wanted: bytes) -> Rows:
    table = np.zeros(256, bool)
    table[list(wanted)] = True
    return table


def _ranges(wanted: bytes) -> list[tuple[int, int]]:
    ordered = sorted(set(wanted))
    edges = [place + 1 for place, (one, two) in enumerate(pairwise(ordered)) if two - one > 1]
    return [(ordered[low], ordered[high - 1]) for low, high in pairwise([0, *edges, len(ordered)])]


def _lone_places(batch: Batch, byte: bytes, unless_before: bytes) -> Positions:
    places = batch.places_of(byte[0], byte[0])
    if not len(places):
        return places
    following = batch.block[np.minimum(places + 1, len(batch.block) - 1)]
    is_lone: Rows = (following != unless_before[0]) | (places == len(batch.block) - 1)
    return places[is_lone]


def _faults(batch: Batch) -> list[int]:
    """Return one offset of ill-formed UTF-8 per message. After too many faults, add the offsets of all non-ASCII
    bytes."""
    places: list[int] = []
    if batch.is_ascii:
        return places
    at = 0
    for _ in range(MOST_FAULTS):
        try:
            batch.data[at:].decode()
        except UnicodeDecodeError as error:
            place = at + error.start
            places.append(place)
            row = int(batch.starts.searchsorted(place, "right"))
            at = int(batch.starts[row]) if row < len(batch) else len(batch.data)
        else:
            return places
    return [*places, *np.flatnonzero(batch.block >= 0x80).tolist()]
