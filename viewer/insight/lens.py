"""Lens: read one text as every text format and version, and find where the readings disagree."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from enum import IntEnum
from hashlib import blake2b
from itertools import groupby, pairwise

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.values import Placed
from viewer.model.messages import Header, Span
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.rules import calls, errors, notes, structure

READERS = ("openchatml-0.1", "openchatml-1.x", "openchatml-2.0", "openchatml-2.2", "harmony")
"""The text formats to compare, in the order of their columns."""
LIMIT = 64 * 1024 * 1024
"""The number of bytes to compare by default."""
_FIRST_STEP = 64 * 1024
"""The number of bytes after which a reader may already have refused the text."""

READS, LAX, REFUSES = "reads", "reads-lax", "refuses"
"""Verdicts: a strict reader also reads the text; it refuses something that is tolerated here; or the text is not of
this format."""


class Strict(Struct, frozen=True):
    """The problems that make a conforming reader of a version refuse a text: codes, each with or without a reason."""

    refuses: frozenset[str] = frozenset()
    """Problems that show that the text is of another version."""
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
        """The name for machine output."""
        return self.name.lower()


class Read(Struct, frozen=True):
    """A message as one reader reads it."""

    number: int
    start: int
    body: Span
    end: int
    header: Header
    is_shown: bool
    text: bytes
    """A checksum of the shown text; empty for a hidden message."""

    @property
    def shown_as(self) -> str:
        """The role under which an end user sees the message; empty if it is hidden."""
        return self.header.role if self.is_shown else ""


class Reading(Struct, frozen=True):
    """A text as one reader reads it."""

    format: str
    verdict: str
    messages: Sequence[Read]


class Cell(Struct, frozen=True):
    """One reader's reading of a run of bytes."""

    message: Read
    part: str
    """`head`, `body` or `stop`."""


class Row(Struct, frozen=True):
    """A run of bytes and each reader's reading of it; None for text outside any message."""

    span: Span
    cells: tuple[Cell | None, ...]
    rank: Rank | None
    """How the readers that do not refuse the text disagree; None if they agree."""


def readings(
    document: Document, limit: int | None = LIMIT, *, skips_refused: bool = False
) -> Generator[None, None, tuple[Reading, ...]]:
    """Read the document in each text format, one after another, in small steps. Return the readings.

    With `skips_refused`, a reader other than the chosen one stops when it refuses the text, and has no messages."""
    found = []
    for name in READERS:
        other = document.as_format(name, ignores_call_ids=True)
        everything, shown = (other.project(each, withholds=False) for each in (EVERYTHING, END_USER))
        may_stop = skips_refused and name != document.detection.format and bool(STRICT[name].refuses)
        is_refused = False
        while not (is_refused or other.is_read) and (limit is None or other.size < limit):
            size = other.step_size if other.size or not may_stop else _FIRST_STEP
            other.read_some(size if limit is None else min(size, limit - other.size))
            is_refused = may_stop and bool(_problems(everything) & STRICT[name].refuses)
            yield
        if is_refused:
            found.append(Reading(name, REFUSES, ()))
            continue
        while not _is_settled(name, everything) and other.check_some(other.step_size):
            yield
        found.append((yield from _reading(name, everything, shown, other.size)))
    return tuple(found)


def _is_settled(format: str, everything: Projection) -> bool:
    """True if no other problem can change the verdict. The messages themselves do not depend on checks."""
    problems, strict = _problems(everything), STRICT[format]
    return bool(problems & (strict.refuses or strict.lax))


def _reading(format: str, everything: Projection, shown: Projection, size: int) -> Generator[None, None, Reading]:
    whole, found = everything.whole_input(), []
    for each in whole.layout():
        text = _checksum(shown, each)
        found.append(Read(each.number, each.span[0], each.body, each.span[1], each.header, each.is_shown, text))
        yield
    return Reading(format, _verdict(format, _problems(everything), is_empty=bool(size) and not found), found)


def _problems(projection: Projection) -> set[str]:
    """Return the codes of the problems so far, each with and without its reason."""
    found = projection.whole_input().problem_codes()
    return {each for code, reason in found for each in (code, f"{code}/{reason}")}


def _checksum(shown: Projection, placed: Placed) -> bytes:
    if not placed.is_shown:
        return b""
    return blake2b("".join(shown.blocks(placed.number)).encode("utf-8", "replace"), digest_size=16).digest()


def _verdict(format: str, problems: set[str], *, is_empty: bool) -> str:
    strict = STRICT[format]
    if is_empty or problems & strict.refuses:
        return REFUSES
    return LAX if problems & strict.lax else READS


def rows(readings: Sequence[Reading]) -> Iterator[Row]:
    """Yield the runs of bytes that each reader reads in a single way. Neighbors with equal cells form one row."""
    judges = [place for place, each in enumerate(readings) if each.verdict != REFUSES]
    covers = [_Cover(each.messages) for each in readings]
    borders = sorted({border for each in readings for border in _borders(each.messages)})
    found = (((start, end), tuple(cover.at(start) for cover in covers)) for start, end in pairwise(borders))
    ranked = (Row(span, cells, _rank([cells[place] for place in judges])) for span, cells in found if any(cells))
    for _, run in groupby(ranked, key=_sameness):
        first, *more = run
        yield Row((first.span[0], more[-1].span[1]), first.cells, first.rank) if more else first


def _sameness(row: Row) -> object:
    """Return what neighboring rows must share to become one row: the messages, and their parts unless only some readers
    show the message."""
    if row.rank is Rank.VISIBILITY:
        return row.rank, tuple(cell and cell.message.number for cell in row.cells)
    return row.rank, tuple(cell and (cell.message.number, cell.part) for cell in row.cells)


def _borders(messages: Iterable[Read]) -> Iterator[int]:
    """Yield where messages, their bodies, and their ends begin, in ascending order."""
    last = 0
    for message in messages:
        for border in (message.start, message.body[0], message.body[1], message.end):
            last = max(last, border)
            yield last


class _Cover:
    """Finds the messages at ascending offsets."""

    def __init__(self, messages: Sequence[Read]) -> None:
        self._messages = messages
        self._place = 0

    def at(self, place: int) -> Cell | None:
        """Return the message at a byte, and the part of it."""
        messages = self._messages
        while self._place < len(messages) and messages[self._place].end <= place:
            self._place += 1
        if self._place == len(messages) or messages[self._place].start > place:
            return None
        message = messages[self._place]
        part = "head" if place < message.body[0] else "body" if place < message.body[1] else "stop"
        return Cell(message, part)


def _rank(cells: Sequence[Cell | None]) -> Rank | None:
    """Return the most serious rank in which cells differ."""
    if all(_is_same(cells[0], cell) for cell in cells[1:]):
        return None  # the usual case, found fast
    tests: tuple[tuple[Rank, Callable[[Cell | None], object]], ...] = (
        (Rank.VISIBILITY, lambda cell: cell.message.shown_as if cell else ""),
        (Rank.BOUNDARY, lambda cell: (cell.message.start, cell.message.end, cell.part) if cell else None),
        (Rank.CALL, lambda cell: cell.message.header.recipient if cell else None),
        (Rank.TEXT, lambda cell: cell.message.text if cell and cell.part == "body" else b""),
        (Rank.LABEL, lambda cell: (cell.message.header.role, cell.message.header.channel_given) if cell else None),
    )
    return next((rank for rank, test in tests if len({test(cell) for cell in cells}) > 1), None)


def _is_same(one: Cell | None, other: Cell | None) -> bool:
    if one is None or other is None:
        return one is other
    a, b = one.message, other.message
    same_place = one.part == other.part and a.start == b.start and a.end == b.end
    return same_place and a.is_shown == b.is_shown and a.text == b.text and a.header == b.header


def disagreements(found: Iterable[Row], *, at_most: Rank = Rank.LABEL) -> Iterator[Row]:
    """Yield the rows in which readers disagree at least this seriously."""
    return (row for row in found if row.rank is not None and row.rank <= at_most)


def agreed(readings: Sequence[Reading], chosen: str) -> tuple[frozenset[int], int]:
    """Return the messages that all readers agree on, and how many others the chosen reader shows.

    Readers agree on a message if the chosen reader, and every other one that does not refuse the text, shows it at the
    same place with the same role and text."""
    own = next(each for each in readings if each.format == chosen)
    judges = [each for each in readings if each.verdict != REFUSES and each.format != chosen]
    known = [{_shown(message) for message in each.messages if message.is_shown} for each in judges]
    shown = [message for message in own.messages if message.is_shown]
    same = frozenset(message.number for message in shown if all(_shown(message) in each for each in known))
    return same, len(shown) - len(same)


def _shown(message: Read) -> tuple[int, str, bytes]:
    return message.start, message.header.role, message.text


def first_difference(readings: Sequence[Reading], chosen: str) -> Row | None:
    """Return the first bytes on whose visibility the chosen reader disagrees with a strict reader that accepts the
    text."""
    plausible = [each for each in readings if each.format == chosen or each.verdict == READS]
    judged = [Reading(each.format, READS, each.messages) for each in plausible]
    return next(disagreements(rows(judged), at_most=Rank.VISIBILITY), None) if len(judged) > 1 else None


def counts(found: Iterable[Row]) -> dict[str, int]:
    """Count the disagreements of each rank."""
    numbers = array("I", bytes(4 * (len(Rank) + 1)))
    for row in found:
        if row.rank is not None:
            numbers[row.rank] += 1
    return {rank.word: numbers[rank] for rank in Rank}
