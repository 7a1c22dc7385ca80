"""Write records of known shapes as columns, if each of their messages is independent of earlier records."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from itertools import count, pairwise

from msgspec import Struct

from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.engine.known.shapes import Matched, Said, Shape, holes_in, mixed
from viewer.formats.engine.writing.headers import SPOKEN, DraftHeaders
from viewer.formats.engine.writing.messages import DraftMessages, ending_of, outcome_report
from viewer.formats.engine.writing.text_hooks import TextHooks
from viewer.formats.json.known.shapes import TURN_LEADS, begins_turn, is_divided, may_be_divided
from viewer.formats.tables.model import RecordFormat
from viewer.model.events import ClosedBatch, Found
from viewer.model.messages import Coding, Ending, Header, Kind, Piece
from viewer.reading.recorder import Recorder
from viewer.scan.text_signs import places_with_signs
from viewer.syntax.json_text import JsonNode
from viewer.syntax.times import parse_decoded_time

_MOST_PLANS = 1024
_FACTS = frozenset({"call_id", "name", "text", "key", "part"})
"""The facts of a draft that may differ between the records of a shape."""
_WITH_TOOL = (Kind.CALL, Kind.REPLY)
_STRINGS = (Coding.PLAIN, Coding.JSON_STRING)
_BREAKS = (Coding.BREAK, Coding.LINE)
_NUMBERS = count(-1, -1)
"""Numbers for messages of shapes. Other readers use positive ones."""

Begin = Callable[[JsonNode, RecordReading], None]
"""A function that begins a transcript if a record needs one."""


class _Line(Struct):
    """A message of a shape, as it is written."""

    said: Said
    number: int
    ending: Ending
    draft: Draft
    """A draft with the facts of the message that determine its header."""
    bodies: tuple[int, ...]
    """The holes with the texts of its body."""
    is_one: bool
    """True if the body is one string."""
    is_marked: bool
    """True if the body is split at its marks."""
    classified: object
    """The text to classify, with holes; None if it need not be."""
    id: object
    name: object
    header: Header | None = None
    """The header, if it is the same for all messages."""


class _Plan(Struct, frozen=True):
    """How the records of a shape are written."""

    lines: tuple[_Line, ...]
    facts: tuple[int, ...]
    """The holes whose text is needed."""
    begins: bool
    """True if a record may begin a transcript."""


class ColumnWriter:
    """Writes records as columns. Each of its conditions excludes what only the writer of drafts can do."""

    def __init__(
        self, record: Recorder, format: RecordFormat, headers: DraftHeaders, messages: DraftMessages, hooks: TextHooks
    ) -> None:
        self._record = record
        self._format = format
        self._headers = headers
        self._messages = messages
        self._hooks = hooks
        self._plans: dict[Shape, _Plan | None] = {}

    def can_write(self, shape: Shape) -> bool:
        """True if the records of a shape may be written as columns."""
        if shape not in self._plans:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[shape] = self._plan(shape)
        return self._plans[shape] is not None

    def add(self, run: list[Matched], first: int, data: bytes | bytearray, base: int, begin: Begin) -> int:
        """Write the records from a place in a list on. Return the place of the first one that needs the slow path."""
        signs = _with_signs(data, run, first, self._plans)
        batch = self._record.batch()
        for place in range(first, len(run)):
            matched = run[place]
            plan = self._plans[matched.shape]
            assert plan is not None
            texts = matched.shape.texts(data, matched.spans, matched.texts, plan.facts)
            if not self._may_add(plan, matched, data, texts, signs):
                return place
            if plan.begins or not self._record.transcript:
                reading = RecordReading(starts=matched.shape.starts, fields=matched.shape.given_fields(texts))
                begin(matched.node(base, texts), reading)
            self._append(batch, plan, matched, data, base, texts, signs)
            self._record.count_batch(batch)
        return len(run)

    def _may_add(
        self, plan: _Plan, matched: Matched, data: bytes | bytearray, texts: list[str | None], signs: set[int]
    ) -> bool:
        """True unless a value of a record decides how it is read."""
        spans = matched.spans
        for line in plan.lines:
            for hole in line.bodies if line.is_marked else ():
                start, end = spans[hole - 1]
                may_be = start in signs or (data[start + 1] in TURN_LEADS and begins_turn(data, start))
                if may_be and _is_divided(bytes(data[start:end]), line):
                    return False
            if line.classified is not None and not self._hooks.is_said(_text(line.classified, texts) or ""):
                return False
            if line.said.time and not parse_decoded_time(texts[line.said.time]):
                return False
        return matched.shape.has_objects(data, spans)

    def _append(
        self,
        batch: ClosedBatch,
        plan: _Plan,
        matched: Matched,
        data: bytes | bytearray,
        base: int,
        texts: list[str | None],
        signs: set[int],
    ) -> None:
        """Add the messages of a record to a batch."""
        spans, numbers = matched.spans, batch.numbers
        ends = [base + matched.start, *[base + end for _, end in spans]]
        for line in plan.lines:
            said, row = line.said, len(batch.codes)
            header, tool = line.header, ""
            if header is None:
                draft = line.draft
                draft.call_id, draft.name = _text(line.id, texts), _text(line.name, texts)
                header = self._headers.of(draft)
                tool = f"{header.recipient or header.name or ''} {header.thread or ''}"
                if draft.call_id is not None:
                    batch.id_rows.append(row)
                    batch.ids.append(draft.call_id)
            code = numbers.get((line.number, tool))
            if code is None:
                code = numbers[line.number, tool] = len(batch.headers)
                batch.headers.append((header.with_call_id(None), line.ending))
            (one, start), (other, end) = said.span
            start, end = ends[one] + start, ends[other] + end
            batch.codes.append(code)
            batch.starts.append(start)
            batch.ends.append(end)
            if line.is_one:
                first, last = spans[line.bodies[0] - 1]
                is_escaped = data.find(b"\\", first, last) >= 0
                batch.body_starts.append(base + first + 1 - is_escaped)
                batch.body_ends.append(base + last - 1 + is_escaped)
                batch.escaped.append(is_escaped)
                batch.signed.append(first in signs)
            else:
                batch.pieces[row] = tuple(said.pieces_in(data, base, spans, ends))
                batch.body_starts.append(start)
                batch.body_ends.append(end)
                batch.escaped.append(False)
                batch.signed.append(False)
            if said.time:
                first, last = spans[said.time - 1]
                batch.time_rows.append(row)
                batch.times.append(parse_decoded_time(texts[said.time]) or 0)
                batch.time_starts.append(base + first)
                batch.time_ends.append(base + last)
            if said.problems or said.outcome_span is not None:
                self._report(batch, said, row, ends)
            self._messages.note(header, batch.first + row, (start, end))

    @staticmethod
    def _report(batch: ClosedBatch, said: Said, row: int, ends: list[int]) -> None:
        """Report the problems of a message."""
        number = batch.first + row
        for one in said.problems_in(ends):
            batch.found.append((row, Found(one.rule, one.reason, one.start, one.end, number)))
        found = outcome_report(said.draft)
        if found is not None and said.outcome_span is not None:
            (first, start), (last, end) = said.outcome_span
            batch.found.append((row, Found(*found, ends[first] + start, ends[last] + end, number)))

    # Shapes whose records can be written as columns.

    def _plan(self, shape: Shape) -> _Plan | None:
        """Return how to write the records of a shape, or None if they need the writer of drafts."""
        format = self._format
        keeps = format.keeps_fields and shape.starts
        is_plain = not shape.exchanges and not (keeps and shape.fields is None) and bool(shape.said)
        if not is_plain or (format.usage and shape.usage != []):
            return None
        lines = [self._line(said) for said in shape.said]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines) or not _are_in_order(known):
            return None
        facts = set(shape.facts)
        for line in known:
            facts.update(hole for mix in (line.classified, line.id, line.name) for hole in holes_in(mix))  # type: ignore[arg-type]
            facts.add(line.said.time)
        return _Plan(tuple(known), tuple(sorted(facts - {0})), shape.starts or bool(format.session))

    def _line(self, said: Said) -> _Line | None:
        """Return how to write a message of a shape, or None if it needs the writer of drafts."""
        draft, kind = said.draft, said.draft.kind
        facts = dict(said.facts)
        if not _is_independent(draft) or not facts.keys() <= _FACTS:
            return None
        if kind is Kind.REPLAYED or (kind is Kind.SAID and draft.role not in SPOKEN):
            return None
        bodies = tuple(piece.hole for piece in said.pieces if piece.hole and piece.coding is Coding.PLAIN)
        is_one = len(bodies) == len(said.pieces) == 1
        is_text = bodies and all(piece.hole for piece in said.pieces)
        is_spoken = kind is Kind.SAID
        if is_spoken and not (is_text and _is_broken_apart(said)):
            return None
        own = copy(draft)
        is_classified = is_spoken and draft.rule.classify and self._hooks.classifies
        line = _Line(
            said,
            next(_NUMBERS),
            ending_of(draft),
            own,
            bodies,
            is_one,
            is_spoken,
            facts.get("text") if is_classified else None,
            facts.get("call_id", draft.call_id),
            facts.get("name", draft.name),
        )
        if is_classified and line.classified is None:
            return None
        if kind not in _WITH_TOOL and kind is not Kind.SUBAGENT and draft.thread is None:
            line.header = self._headers.of(own)
        return line


def _are_in_order(lines: list[_Line]) -> bool:
    """True if messages and their bodies are in the order of their bytes, as the checks of columns require."""
    starts = [line.said.span[0] for line in lines]
    bodies = [line.bodies[0] for line in lines if line.bodies]
    return starts == sorted(starts) and bodies == sorted(bodies)


def _is_independent(draft: Draft) -> bool:
    """True if no earlier or later record changes what a message is."""
    rule = draft.rule
    is_plain = rule.copy is None and rule.orphan is None and rule.later is None and rule.prefill is None
    is_plain = is_plain and not rule.once and not rule.split and not rule.typed_id
    return is_plain and rule.merge is None and not draft.has_unknown_channel


def _is_broken_apart(said: Said) -> bool:
    """True if no mark can lie across two pieces, because a line break is between them."""
    codings = [piece.coding for piece in said.pieces]
    return all(one in _BREAKS or other in _BREAKS for one, other in pairwise(codings))


def _is_divided(raw: bytes, line: _Line) -> bool:
    """True if a text may be split at its marks."""
    if not line.is_one:
        return may_be_divided(raw)
    is_plain = b"\\" not in raw
    piece = Piece(1, len(raw) - 1, Coding.PLAIN) if is_plain else Piece(0, len(raw), Coding.JSON_STRING)
    return is_divided(raw, piece, line.draft.role)


def _text(mix: object, texts: list[str | None]) -> str | None:
    if isinstance(mix, int):
        return texts[mix]
    return None if mix is None else mixed(mix, texts)  # type: ignore[arg-type]


def _with_signs(data: bytes | bytearray, run: list[Matched], first: int, plans: dict[Shape, _Plan | None]) -> set[int]:
    """Return the starts of the bodies that may have marks, or which must be examined for other reasons."""
    start = run[first].start
    found: set[tuple[int, int]] = set()
    for matched in run[first:]:
        plan = plans[matched.shape]
        assert plan is not None
        spans = matched.spans
        found.update(spans[hole - 1] for line in plan.lines for hole in line.bodies)
    if not found:
        return set()
    ordered = sorted(found)
    block = bytes(memoryview(data)[start : run[-1].end])
    places = places_with_signs(block, [one - start for one, _ in ordered], [end - start for _, end in ordered])
    return {ordered[place][0] for place in places}
