"""Readings of one input in every text format and version, with verdicts, and the messages that all readers show."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import SupportsIndex, overload

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.values import Layout
from viewer.model.messages import Header, Span
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.rules import calls, errors, notes, structure

READERS = ("openchatml-0.1", "openchatml-1.x", "openchatml-2.0", "openchatml-2.2", "harmony")
"""The text formats to compare, in the order of their columns."""
LIMIT = 64 * 1024 * 1024
"""The number of bytes to compare by default."""
_COMPARED_AT_ONCE = 1 << 14
"""The number of messages of each reading to compare at a time."""
_FURTHEST = 1 << 62
"""An offset beyond any input."""
_FIRST_STEP = 64 * 1024
"""The number of bytes to read first if a reader may stop early because it refuses the text."""
_FIRST_CHECK = 4 * 1024
"""The number of bytes to check first. The first problem is often decisive, and input in another version has many."""

READS, LAX, REFUSES = "reads", "reads-lax", "refuses"
"""Verdicts, in this order: a strict reader also reads the text; a strict reader refuses something that is tolerated
here; the text is not in this format."""


Offsets = NDArray[np.int64]


class Strict(Struct, frozen=True):
    """The problems that make a conforming reader of a version refuse an input: codes, each with or without a reason."""

    refuses: frozenset[str] = frozenset()
    """Problems that show that the text belongs to another version."""
    lax: frozenset[str] = frozenset()
    """Problems that are tolerated here but stop a strict reader."""


_HEADER = errors.E_PARSE_HEADER.code
_FRAMES = frozenset({_HEADER, structure.W_TEXT_BETWEEN.code, structure.W_START_IMPLICIT.code})
STRICT = {
    "openchatml-0.1": Strict(lax=_FRAMES),
    "openchatml-1.x": Strict(refuses=frozenset({f"{_HEADER}/marker-unknown"}), lax=_FRAMES),
    "openchatml-2.0": Strict(lax=_FRAMES),
    "openchatml-2.2": Strict(lax=_FRAMES | {calls.W_CALL_ID_MISSING.code}),
    "harmony": Strict(lax=_FRAMES | {structure.W_END_MISSING.code, notes.I_HARMONY_STRICT.code}),
}
"""The strict readers by format (OpenChatML 2.2, section 13; for Harmony, the reference library)."""


class Read(Struct, frozen=True):
    """A message as one reader reads it."""

    number: int
    start: int
    body: Span
    end: int
    header: Header
    is_shown: bool
    text: int
    """A number for the shown text, or 0 for a hidden message. If messages of two readings begin at the same byte, equal
    numbers mean equal text."""

    @property
    def shown_as(self) -> str:
        """The role under which an end user sees the message; empty if it is hidden."""
        return self.header.role if self.is_shown else ""


class Messages(Sequence[Read]):
    """The messages of a reading, as columns."""

    def __init__(self, layout: Layout, before: Iterable[Messages] = ()) -> None:
        """`before` are other readings of the input. Identical columns are stored only once."""
        self.texts = np.zeros(len(layout.kinds), np.int32)
        self.layout = layout
        same = next((each for each in before if self._has_places_of(each)), None)
        if same is not None:
            self.layout = replace(layout, starts=same.layout.starts, ends=same.layout.ends)
            del self.starts, self.ends
        self.like: Messages = self if same is None else same.like
        """The first reading whose messages and bodies are all at the same positions as in this reading."""

    def _has_places_of(self, other: Messages) -> bool:
        if not np.array_equal(self.starts, other.starts) or not np.array_equal(self.ends, other.ends):
            return False
        return all(
            np.array_equal(one, two)
            for first in range(0, len(self), _COMPARED_AT_ONCE)
            for one, two in zip(
                *(each.bodies(first, min(first + _COMPARED_AT_ONCE, len(self))) for each in (self, other)), strict=True
            )
        )

    @cached_property
    def starts(self) -> Offsets:
        """The offsets at which the messages begin."""
        return np.asarray(self.layout.starts).view(np.int64)

    @cached_property
    def ends(self) -> Offsets:
        """The offsets at which the messages end."""
        return np.asarray(self.layout.ends).view(np.int64)

    @cached_property
    def kinds(self) -> NDArray[np.uint32]:
        """The kind of each message, as a number."""
        return np.asarray(self.layout.kinds)

    def bodies(self, first: int, end: int) -> tuple[Offsets, Offsets]:
        """Return where the bodies of messages begin and end. `first` and `end` are indices, counted from 0."""
        starts, ends = self.layout.bodies(first + 1, end)
        return np.asarray(starts).view(np.int64), np.asarray(ends).view(np.int64)

    def __len__(self) -> int:
        return len(self.layout.kinds)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Read: ...

    @overload
    def __getitem__(self, place: slice) -> list[Read]: ...

    def __getitem__(self, place: SupportsIndex | slice) -> Read | list[Read]:
        if not isinstance(place, slice):
            at = range(len(self))[place]
            return self._between(at, at + 1)[0]
        first, end, step = place.indices(len(self))
        return self._between(first, end) if step == 1 else [self[each] for each in range(first, end, step)]

    def _between(self, first: int, end: int) -> list[Read]:
        layout, found = self.layout, []
        bodies = zip(*layout.bodies(first + 1, end), strict=True)
        columns = layout.starts[first:end], bodies, layout.ends[first:end], layout.kinds[first:end]
        texts = self.texts[first:end].tolist()
        for number, (start, body, after, kind, text) in enumerate(zip(*columns, texts, strict=True), first + 1):
            header = layout.examples[kind] if kind in layout.alike else layout.header(number)
            found.append(Read(number, start, body, after, header, text > 0, text))
        return found


class Reading(Struct, frozen=True):
    """An input as one reader reads it."""

    format: str
    verdict: str
    messages: Messages


_NONE = array("Q")
_NO_LAYOUT = Layout(
    *(_NONE, _NONE, array("I"), {}, frozenset(), frozenset(), frozenset(), frozenset(), bytearray()),
    bodies=lambda first, last: (_NONE, _NONE),
    header=lambda number: Header(""),
)


class _Read(Struct, frozen=True):
    """A reading with text that has not yet been compared."""

    format: str
    verdict: str
    messages: Messages
    shown: Projection


def readings(
    document: Document, limit: int | None = LIMIT, *, skips_refused: bool = False
) -> Generator[None, None, tuple[Reading, ...]]:
    """Read the document in each text format, one after the other, in small steps, and return the readings.

    With `skips_refused`, a reader other than the chosen one stops when it refuses the input, and has no messages."""
    found: list[_Read] = []
    for name in READERS:
        other = document.as_format(name, ignores_call_ids=True)
        everything, shown = (other.project(each, withholds=False) for each in (EVERYTHING, END_USER))
        may_stop = skips_refused and name != document.detection.format and bool(STRICT[name].refuses)
        is_refused = False
        while not (is_refused or other.is_read) and (limit is None or other.size < limit):
            size = other.step_size if other.size or not may_stop else _FIRST_STEP
            other.read_some(size if limit is None else min(size, limit - other.size))
            if may_stop and other.size == size:
                other.check_some(_FIRST_CHECK)
            is_refused = may_stop and bool(_problems(everything) & STRICT[name].refuses)
            yield
        checked = _FIRST_CHECK
        while not _is_settled(name, everything) and other.check_some(min(checked, other.step_size)):
            checked *= 2
            yield
        if may_stop and _problems(everything) & STRICT[name].refuses:
            found.append(_Read(name, REFUSES, Messages(_NO_LAYOUT), shown))
            continue
        layout = everything.whole_input().layout()
        verdict = _verdict(name, _problems(everything), is_empty=bool(other.size) and not len(layout.kinds))
        found.append(_Read(name, verdict, Messages(layout, [each.messages for each in found]), shown))
        yield
    yield from _number_texts(found)
    return tuple(Reading(each.format, each.verdict, each.messages) for each in found)


def _is_settled(format: str, everything: Projection) -> bool:
    """True if no other problem can change the verdict. The messages themselves do not depend on checks."""
    problems, strict = _problems(everything), STRICT[format]
    return bool(problems & (strict.refuses or strict.lax))


def _problems(projection: Projection) -> set[str]:
    """Return the codes of the problems so far, each with and without its reason."""
    found = projection.whole_input().problem_codes()
    return {each for code, reason in found for each in (code, f"{code}/{reason}")}


def _verdict(format: str, problems: set[str], *, is_empty: bool) -> str:
    strict = STRICT[format]
    if is_empty or problems & strict.refuses:
        return REFUSES
    return LAX if problems & strict.lax else READS


def _number_texts(found: Sequence[_Read]) -> Generator[None, None, None]:
    """Number the text of shown messages.

    Messages with the same header and the same body bytes have the same text. Text is read and compared only where
    readers disagree about the header or the body bytes. Messages are compared in groups, because the columns of all
    messages together are large."""
    roles: dict[str, int] = {}
    numbers: dict[bytes, int] = {}
    shown = [_ShownBodies(each.messages, roles) for each in found]
    for start, end in pairwise(_steps([each.messages for each in found])):
        parts = [each.between(start, end) for each in shown]
        borders = np.unique(np.concatenate([each.starts for each in parts]))
        is_same = _have_same_text(parts, borders)
        yield
        for each, part in zip(found, parts, strict=True):
            each.messages.texts[part.places] = 1
            for place in part.places[~is_same[borders.searchsorted(part.starts)]].tolist():
                checksum = _checksum(each.shown, place + 1)
                each.messages.texts[place] = numbers.setdefault(checksum, len(numbers) + 2)
                yield


def _steps(messages: Sequence[Messages]) -> list[int]:
    """Return the offsets that divide the messages into groups, or into a single group if any reading is not in
    order."""
    starts = [each.starts for each in messages]
    if not all((each[1:] >= each[:-1]).all() for each in starts):
        return [0, _FURTHEST]
    return [0, *max(starts, key=len)[_COMPARED_AT_ONCE::_COMPARED_AT_ONCE].tolist(), _FURTHEST]


def _have_same_text(parts: Sequence[_ShownPart], borders: Offsets) -> NDArray[np.bool_]:
    """Return a flag for each of these offsets: true if all readings that show a message there show the same text."""
    first, is_same = np.zeros((3, len(borders)), np.int64), np.ones(len(borders), np.bool_)
    is_known = np.zeros(len(borders), np.bool_)
    for part in parts:
        at = borders.searchsorted(part.starts)
        is_same[at[~part.are_whole]] = False
        is_same &= np.bincount(at, minlength=len(borders)) < 2
        is_same[at[is_known[at] & (first[:, at] != part.keys).any(axis=0)]] = False
        first[:, at[~is_known[at]]] = part.keys[:, ~is_known[at]]
        is_known[at] = True
    return is_same


class _ShownPart(Struct, frozen=True):
    """A group of the messages that a reading shows."""

    places: NDArray[np.intp]
    starts: Offsets
    are_whole: NDArray[np.bool_]
    """True for text that is read from one run of bytes."""
    keys: NDArray[np.int64]
    """The values that determine the text of each message, as columns."""


class _ShownBodies:
    """The shown messages of a reading: where they begin, and what determines their text."""

    def __init__(self, messages: Messages, roles: dict[str, int]) -> None:
        """`roles` maps each role to a number. New roles are added to it."""
        layout = messages.layout
        self._messages = messages
        of_kind = np.zeros((4, max(layout.examples, default=0) + 1), np.int64)
        for kind in layout.shown:
            role = layout.examples[kind].role
            of_kind[:, kind] = True, kind in layout.whole, roles.setdefault(role, len(roles)), kind in layout.escaped
        self._is_shown, self._is_whole, self._role_of, self._is_escaped = of_kind

    def between(self, start: int, end: int) -> _ShownPart:
        """Return the shown messages that begin between two offsets. If the messages are not in order, the offsets must
        include all of them."""
        messages = self._messages
        first, after = 0, len(messages)
        if end < _FURTHEST or start:
            first, after = messages.starts.searchsorted((start, end)).tolist()
        rows = np.flatnonzero(self._is_shown[messages.kinds[first:after]])
        places = rows + first
        kinds = messages.kinds[places]
        has_escapes = self._is_escaped[kinds] & ~np.frombuffer(messages.layout.verbatim, np.bool_)[places]
        keys = np.zeros((3, len(kinds)), np.int64)
        keys[2] = 2 * self._role_of[kinds] + has_escapes
        for key, column in zip(keys, messages.bodies(first, after), strict=False):
            key[:] = column[rows]
        return _ShownPart(places, messages.starts[places], self._is_whole[kinds] > 0, keys)


def _checksum(shown: Projection, number: int) -> bytes:
    return blake2b("".join(shown.blocks(number)).encode("utf-8", "replace"), digest_size=16).digest()


def agreed(readings: Sequence[Reading], chosen: str) -> tuple[bytes, int]:
    """Return a byte for each message of the chosen reader (1 if all readers agree on it), and the number of messages
    that it shows but on which readers disagree.

    Readers agree on a message if the chosen reader, and every other one that does not refuse the text, shows it at the
    same place with the same role and text."""
    own = next(each for each in readings if each.format == chosen)
    judges = [each for each in readings if each.verdict != REFUSES and each.format != chosen]
    roles: dict[str, int] = {}
    shown = _shown(own.messages, roles)
    is_same = np.ones(len(shown), np.bool_)
    for judge in judges:
        is_same &= _is_among(shown, _shown(judge.messages, roles))
    found = np.zeros(len(own.messages), np.bool_)
    found[_places_shown(own.messages)[is_same]] = True
    return found.tobytes(), int(len(shown) - is_same.sum())


def _places_shown(messages: Messages) -> NDArray[np.intp]:
    return np.flatnonzero(messages.texts)


def _shown(messages: Messages, roles: dict[str, int]) -> Offsets:
    """Return where each shown message begins, a number for its role, and the number of its text, as rows."""
    places, examples = _places_shown(messages), messages.layout.examples
    kinds = messages.kinds[places]
    role_of = np.zeros(max(examples, default=0) + 1, np.int64)
    for kind in np.unique(kinds).tolist():
        role_of[kind] = roles.setdefault(examples[kind].role, len(roles))
    return np.stack((messages.starts[places], role_of[kinds], messages.texts[places]), axis=1)


def _is_among(rows: Offsets, others: Offsets) -> NDArray[np.bool_]:
    """Return a flag for each row: true if it is one of `others`."""
    starts = others[:, 0]
    if (np.diff(starts) <= 0).any():  # overlapping messages
        known = {*map(tuple, others.tolist())}
        return np.array([tuple(row) in known for row in rows.tolist()], np.bool_)
    at = starts.searchsorted(rows[:, 0])
    is_same = at < len(starts)
    is_same[is_same] = (others[at[is_same]] == rows[is_same]).all(axis=1)
    return is_same
