"""Readings of one input in every text format and version, with verdicts, and the messages that all readers show."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterable, Sequence
from functools import cached_property
from gc import collect
from hashlib import blake2b
from itertools import pairwise
from typing import SupportsIndex, overload

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import release_memory
from viewer.columns.api import Column
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.values import Layout
from viewer.model.messages import Header, Span
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.numeric import NDArray, np
from viewer.rules import calls, errors, notes, structure

READERS = ("openchatml-0.1", "openchatml-1.x", "openchatml-2.0", "openchatml-2.2", "harmony")
"""The text formats to compare, in the order of their columns."""
LIMIT = 64 * 1024 * 1024
"""The number of bytes to compare by default."""
_COMPARED_AT_ONCE = 1 << 14
"""The number of messages of each reading to compare at a time."""
_WORTH_FREEING = 1 << 14
"""The number of messages above which the memory of a document is freed at once."""
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


def _offsets(column: Column) -> Offsets:
    return np.asarray(column).view(np.int64)


class Messages(Sequence[Read]):
    """The messages of a reading, as columns."""

    def __init__(self, layout: Layout, before: Iterable[Messages] = ()) -> None:
        """`before` are other readings of the input. Identical columns are stored only once."""
        self.texts = np.zeros(len(layout.kinds), np.int32)
        self.layout = layout
        self.near: Messages = next((each for each in before if each.near is each and self._has_bounds_of(each)), self)
        """The first reading whose messages are all at the same positions as in this reading. Bodies may differ."""
        self._apart = self._other_bodies()
        self.like: Messages = next((each.like for each in before if self._has_places_of(each)), self)
        """The first reading whose messages and bodies are all at the same positions as in this reading."""

    def without_document(self) -> Messages:
        """Return these messages without a reference to their document. All their kinds must be alike, and `near` must
        be another reading."""
        bounds = self.near.layout.bounds
        self.layout = replace(self.layout, bounds=bounds, bodies=self._bodies_by_near, header=_no_header)
        return self

    def _has_bounds_of(self, other: Messages) -> bool:
        return len(self) == len(other) and all(
            np.array_equal(one, two)
            for first, end in self._steps()
            for one, two in zip(*(each.layout.bounds(first + 1, end) for each in (self, other)), strict=True)
        )

    def _has_places_of(self, other: Messages) -> bool:
        return self.near is other.near and all(map(np.array_equal, self._apart, other._apart))

    def _steps(self) -> list[tuple[int, int]]:
        """Return the indices at which groups of messages begin and end."""
        return [(first, min(first + _COMPARED_AT_ONCE, len(self))) for first in range(0, len(self), _COMPARED_AT_ONCE)]

    def _other_bodies(self) -> tuple[Offsets, Offsets, Offsets]:
        """Return the bodies at other positions than in `near`: the indices of their messages, the starts, and the
        ends."""
        found = [np.zeros((3, 0), np.int64)]
        for first, end in self._steps() if self.near is not self else []:
            own, others = (np.stack(each.bodies(first, end)) for each in (self, self.near))
            rows = np.flatnonzero((own != others).any(axis=0))
            if len(rows):
                found.append(np.stack((rows + first, *own[:, rows])))
        indices, starts, ends = np.concatenate(found, axis=1)
        return indices, starts, ends

    def _bodies_by_near(self, first: int, last: int) -> tuple[Column, Column]:
        """Return where bodies begin and end, as `Layout.bodies` does, from the positions in `near`."""
        columns = self.near.layout.bodies(first, last)
        indices, *others = self._apart
        rows = slice(*indices.searchsorted((first - 1, last)).tolist())
        for column, values in zip(columns, others, strict=True):
            _offsets(column)[indices[rows] - (first - 1)] = values[rows]
        return columns

    @cached_property
    def _bounds(self) -> tuple[Offsets, Offsets]:
        starts, ends = self.layout.bounds(1, len(self))
        return _offsets(starts), _offsets(ends)

    @property
    def starts(self) -> Offsets:
        """The offsets at which the messages begin."""
        return self.near._bounds[0]

    @property
    def ends(self) -> Offsets:
        """The offsets at which the messages end."""
        return self.near._bounds[1]

    @cached_property
    def kinds(self) -> NDArray[np.uint32]:
        """The kind of each message, as a number."""
        return np.asarray(self.layout.kinds)

    def bodies(self, first: int, end: int) -> tuple[Offsets, Offsets]:
        """Return where the bodies of messages begin and end. `first` and `end` are indices, counted from 0."""
        starts, ends = self.layout.bodies(first + 1, end)
        return _offsets(starts), _offsets(ends)

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
        starts, ends = layout.bounds(first + 1, end)
        columns = starts, bodies, ends, layout.kinds[first:end]
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


def _no_header(number: int) -> Header:
    """Replace `Layout.header`, which is never called for kinds whose messages are all alike."""
    raise LookupError(number)


_NONE = array("Q")
_NO_LAYOUT = Layout(
    *(array("I"), {}, frozenset(), frozenset(), frozenset(), frozenset(), bytearray()),
    bounds=lambda first, last: (_NONE, _NONE),
    bodies=lambda first, last: (_NONE, _NONE),
    header=lambda number: Header(""),
)


class _Read(Struct, frozen=True):
    """A reading with text that has not yet been compared."""

    format: str
    verdict: str
    messages: Messages
    shown: Projection | None
    """What an end user sees of it; None once its text is known."""


_AS_FIRST = -1
"""In place of the number of a text: the number of that message in `Messages.near`."""
_TO_READ = -2
"""In place of the number of a text: another reading at the same positions may show other text here."""


class _TextNumbers:
    """Numbers for roles and for shown text, shared by all readings of an input."""

    def __init__(self) -> None:
        self.roles: dict[str, int] = {}
        self._by_checksum: dict[bytes, int] = {}

    def read(self, shown: Projection, number: int) -> int:
        """Read the text of a message and return its number."""
        text = "".join(shown.blocks(number)).encode("utf-8", "replace")
        return self._by_checksum.setdefault(blake2b(text, digest_size=16).digest(), len(self._by_checksum) + 2)


def readings(
    document: Document, limit: int | None = LIMIT, *, skips_refused: bool = False, is_final: bool = False
) -> Generator[None, None, tuple[Reading, ...]]:
    """Read the document in each text format, one after the other, in small steps, and return the readings.

    With `skips_refused`, a reader other than the chosen one stops when it refuses the input, and has no messages. With
    `is_final`, nobody reads on in this document, so its own reading is used if it is complete, and memory is freed at
    once."""
    found: dict[str, _Read] = {}
    numbers = _TextNumbers()
    chosen = document.detection.format
    for name in sorted(READERS, key=lambda name: name != chosen):
        is_own = name == chosen
        other = document if is_own and is_final and _is_usable(document, limit) else None
        may_stop = skips_refused and not is_own and bool(STRICT[name].refuses)
        other = other or document.as_format(name, ignores_call_ids=True)
        found[name] = yield from _read(other, name, limit, [*found.values()], numbers, may_stop=may_stop)
        if is_final and len(found[name].messages) > _WORTH_FREEING:
            del other  # its large index, which is part of a reference cycle
            collect()
            release_memory()
    ordered = [found[name] for name in READERS]
    yield from _number_texts(ordered, numbers)
    return tuple(Reading(each.format, each.verdict, each.messages) for each in ordered)


def _is_usable(document: Document, limit: int | None) -> bool:
    """True if this document was read to its end as far as the limit reaches, and has no call IDs to ignore."""
    if not document.is_complete or (limit is not None and document.size > limit):
        return False
    examples = document.project(EVERYTHING, withholds=False).whole_input().layout().examples
    return not any(key == "call_id" for header in examples.values() for key, _ in header.extra)


def _read(
    other: Document,
    name: str,
    limit: int | None,
    before: Sequence[_Read],
    numbers: _TextNumbers,
    *,
    may_stop: bool,
) -> Generator[None, None, _Read]:
    """Read this document to its end and return the reading. With `may_stop`, stop once the format refuses the text."""
    everything, shown = (other.project(each, withholds=False) for each in (EVERYTHING, END_USER))
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
        return _Read(name, REFUSES, Messages(_NO_LAYOUT), None)
    layout = everything.whole_input().layout()
    verdict = _verdict(name, _problems(everything), is_empty=bool(other.size) and not len(layout.kinds))
    messages = Messages(layout, [each.messages for each in before])
    yield
    if messages.near is not messages and (yield from _number_as_first(messages, shown, numbers)):
        return _Read(name, verdict, messages.without_document(), None)
    return _Read(name, verdict, messages, shown)


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


def _number_as_first(messages: Messages, shown: Projection, numbers: _TextNumbers) -> Generator[None, None, bool]:
    """Number the text of a reading whose messages are at the same positions as those of an earlier one, so that its
    document is no longer needed. Return False if that is impossible."""
    first = messages.near
    if not messages.layout.alike >= messages.layout.examples.keys():
        return False
    one, own = _ShownBodies(first, numbers.roles), _ShownBodies(messages, numbers.roles)
    for start in range(0, len(messages), _COMPARED_AT_ONCE):
        end = min(start + _COMPARED_AT_ONCE, len(messages))
        part, known = own.rows(start, end), one.rows(start, end)
        at = known.places.searchsorted(part.places)
        if (len(part.places) and not (at < len(known.places)).all()) or (known.places[at] != part.places).any():
            messages.texts[:] = 0
            return False
        is_same = part.are_whole & known.are_whole[at] & (part.keys == known.keys[:, at]).all(axis=0)
        messages.texts[part.places] = _AS_FIRST
        apart = part.places[~is_same]
        first.texts[apart] = _TO_READ
        yield
        for place in apart.tolist():
            messages.texts[place] = numbers.read(shown, place + 1)
            yield
    return True


def _number_texts(found: Sequence[_Read], numbers: _TextNumbers) -> Generator[None, None, None]:
    """Number the text of shown messages.

    Messages with the same header and the same body bytes have the same text. Text is read and compared only where
    readers disagree about the header or the body bytes. Messages are compared in groups, because the columns of all
    messages together are large."""
    unknown = [(each.messages, each.shown) for each in found if each.shown is not None]
    shown = [_ShownBodies(messages, numbers.roles) for messages, _ in unknown]
    for start, end in pairwise(_steps([messages for messages, _ in unknown])):
        parts = [each.between(start, end) for each in shown]
        borders = np.unique(np.concatenate([each.starts for each in parts]))
        is_same = _have_same_text(parts, borders)
        for (messages, _), part in zip(unknown, parts, strict=True):
            is_same[borders.searchsorted(part.starts[messages.texts[part.places] == _TO_READ])] = False
        yield
        for (messages, projection), part in zip(unknown, parts, strict=True):
            messages.texts[part.places] = 1
            for place in part.places[~is_same[borders.searchsorted(part.starts)]].tolist():
                messages.texts[place] = numbers.read(projection, place + 1)
                yield
    for each in found:
        messages, first = each.messages, each.messages.near
        is_as_first = messages.texts == _AS_FIRST
        messages.texts[is_as_first] = first.texts[is_as_first]


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
        first, after = 0, len(self._messages)
        if end < _FURTHEST or start:
            first, after = self._messages.starts.searchsorted((start, end)).tolist()
        return self.rows(first, after)

    def rows(self, first: int, after: int) -> _ShownPart:
        """Return the shown messages from one index to another, without the last."""
        messages = self._messages
        rows = np.flatnonzero(self._is_shown[messages.kinds[first:after]])
        places = rows + first
        kinds = messages.kinds[places]
        has_escapes = self._is_escaped[kinds] & ~np.frombuffer(messages.layout.verbatim, np.bool_)[places]
        keys = np.zeros((3, len(kinds)), np.int64)
        keys[2] = 2 * self._role_of[kinds] + has_escapes
        for key, column in zip(keys, messages.bodies(first, after), strict=False):
            key[:] = column[rows]
        return _ShownPart(places, messages.starts[places], self._is_whole[kinds] > 0, keys)


def agreed(readings: Sequence[Reading], chosen: str) -> tuple[bytes, int]:
    """Return a byte for each message of the chosen reader (1 if all readers agree on it), and the number of messages
    that it shows but on which readers disagree.

    Readers agree on a message if the chosen reader, and every other one that does not refuse the text, shows it at the
    same place with the same role and text."""
    own = next(each.messages for each in readings if each.format == chosen)
    roles: dict[str, int] = {}
    is_shown = own.texts > 0
    is_same = is_shown.copy()
    for judge in readings:
        if judge.verdict != REFUSES and judge.format != chosen:
            is_same &= _agreeing(own, judge.messages, roles)
    return is_same.tobytes(), int(is_shown.sum() - is_same.sum())


def _agreeing(own: Messages, judge: Messages, roles: dict[str, int]) -> NDArray[np.bool_]:
    """Return a flag for each message of a reading: true if another reading shows it with the same role and text."""
    if own.near is judge.near:
        is_same: NDArray[np.bool_] = own.texts == judge.texts
        own_roles, judge_roles = _roles(own, roles), _roles(judge, roles)
        for first in range(0, len(own), _COMPARED_AT_ONCE):
            rows = slice(first, first + _COMPARED_AT_ONCE)
            is_same[rows] &= own_roles[own.kinds[rows]] == judge_roles[judge.kinds[rows]]
        return is_same
    found = np.zeros(len(own), np.bool_)
    found[_places_shown(own)[_is_among(_shown(own, roles), _shown(judge, roles))]] = True
    return found


def _places_shown(messages: Messages) -> NDArray[np.intp]:
    return np.flatnonzero(messages.texts)


def _roles(messages: Messages, roles: dict[str, int]) -> NDArray[np.int64]:
    """Return a number for the role of each kind of message."""
    examples = messages.layout.examples
    found = np.zeros(max(examples, default=0) + 1, np.int64)
    for kind, header in examples.items():
        found[kind] = roles.setdefault(header.role, len(roles))
    return found


def _shown(messages: Messages, roles: dict[str, int]) -> Offsets:
    """Return where each shown message begins, a number for its role, and the number of its text, as rows."""
    places = _places_shown(messages)
    role_of = _roles(messages, roles)[messages.kinds[places]]
    return np.stack((messages.starts[places], role_of, messages.texts[places]), axis=1)


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
