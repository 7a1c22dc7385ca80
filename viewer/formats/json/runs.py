"""Fast path for consecutive messages of known shapes: they become columns, and their bytes are checked all at once."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.json.shapes import (
    LONGEST_SHAPE,
    MOST_HOLES,
    TURN_LEADS,
    KnownShapes,
    Said,
    Shape,
    begins_turn,
    is_divided,
    stated_ms,
    time_span,
    values_of,
)
from viewer.model.events import ClosedBatch, Found
from viewer.model.messages import Coding, Piece
from viewer.reading.recorder import Recorder
from viewer.scan.text_signs import places_with_signs
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode
from viewer.syntax.json_tree import JsonText
from viewer.syntax.utf8 import is_utf8

MOST_TOGETHER, FEWEST_TOGETHER = 256, 4
"""The maximum and the minimum number of messages that are matched before their bytes are checked."""
LONGEST_ROW = 8 * 1024 * 1024
"""The maximum length in bytes. A longer transcript on one line takes the slow path."""
ROWS_TOGETHER = 8
"""The factor by which a group of transcripts is smaller than a group of messages."""
Matched = tuple[Shape, "re.Match[bytes]"]
_NUMBER = rb"(-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,15}+)?+)(?![0-9.eE])"
_STRING = rb'"([ !#-\[\]-~]*+)"'
_FIXED = ("version", "model", "error")
"""Members whose values may matter beyond the header of the transcript."""


class Facts(Struct, frozen=True):
    """What an object that is a transcript states about the transcript."""

    version: str | None = None
    model: str | None = None
    header: dict[str, object] = field(default_factory=dict)


class Row(Struct, frozen=True):
    """The pattern of a transcript that is one object: the bytes around its messages, and its header."""

    head: re.Pattern[bytes]
    between: bytes
    tail: re.Pattern[bytes]
    """The pattern of the bytes after the messages, including the end of the line."""
    facts: Facts
    """The facts, which are the same for every such transcript, except for the values of some members."""
    names: tuple[tuple[str, bool], ...]
    """The members whose values differ, in the order of the patterns, each with True for a number."""

    def facts_of(self, values: tuple[bytes, ...]) -> Facts:
        """Return the facts of the transcript with these values."""
        if not self.names:
            return self.facts
        given = zip(self.names, values, strict=True)
        texts = {name: JsonText(value.decode()) if is_number else value.decode() for (name, is_number), value in given}
        return Facts(self.facts.version, self.facts.model, self.facts.header | texts)


Begin = Callable[[int, dict[str, str], Facts], None]
"""A function that begins a transcript at an offset, with the tools of its calls."""


class MatchedRow(Struct, frozen=True):
    """A transcript whose bytes match a row and known shapes."""

    start: int
    end: int
    messages: list[Matched]
    values: tuple[bytes, ...]


def make_row(data: bytes, facts: Facts, node: JsonNode, items: list[JsonNode], base: int) -> Row | None:
    """Return the row of an object with these messages, or None if it would be too long. `base` is the offset of the
    data."""
    first, last = items[0].start, items[-1].end
    parts: tuple[list[bytes], list[bytes]] = [], []
    names: list[tuple[str, bool]] = []
    size = 0

    def add_up_to(end: int) -> int:
        """Add the bytes up to an offset, and return their number."""
        parts[at >= last].append(re.escape(data[at - base : end - base]))
        return end - at

    at = node.start
    for member in node.members:
        value = member.value
        hole = _hole_of(member, data[value.start - base : value.end - base]) if member.key in facts.header else b""
        if not hole:
            continue
        if at < last <= value.start:
            size += add_up_to(first)
            at = last
        size += add_up_to(value.start)
        parts[at >= last].append(hole)
        names.append((member.key, value.kind is JsonKind.NUMBER))
        at = value.end
    if at < last:
        size += add_up_to(first)
        at = last
    size += add_up_to(node.end)
    parts[1].append(b"\n")
    if size > LONGEST_SHAPE or len(names) > MOST_HOLES:
        return None
    between = data[items[0].end - base : items[1].start - base] if len(items) > 1 else b", "
    return Row(re.compile(b"".join(parts[0])), between, re.compile(b"".join(parts[1])), facts, tuple(names))


def _hole_of(member: JsonMember, source: bytes) -> bytes:
    """Return the pattern for the values that a member may have, or nothing if its value is part of the pattern."""
    if member.key in _FIXED:
        return b""
    pattern = _NUMBER if member.value.kind is JsonKind.NUMBER else _STRING
    return pattern if re.fullmatch(pattern, source) else b""


class MessageRuns:
    """Reads runs of messages. A message that its shape does not decide ends the run."""

    def __init__(self, record: Recorder, shapes: KnownShapes) -> None:
        self._record = record
        self._shapes = shapes
        self._most = MOST_TOGETHER

    def add(self, data: bytes | bytearray, at: int, base: int, lead: bytes, tail: bytes, tools: dict[str, str]) -> int:
        """Add the messages from an index on, each between `lead` and `tail`. Return the index after the last one."""
        if not self._record.transcript:
            return at
        while True:
            most = self._most
            run = self._match(data, at, lead, tail)
            count = self._take(data, run, base, tools) if run else 0
            if count:
                at = run[count - 1][1].end() + len(tail)
            if not self._goes_on(count, len(run), most):
                return at

    def add_rows(self, data: bytes | bytearray, at: int, base: int, row: Row, begin: Begin) -> int:
        """Add the transcripts from an index on that are like this row. Return the index after the last one."""
        while True:
            most = self._most
            rows = self._match_rows(data, at, row)
            count = self._take_rows(data, rows, base, row, begin) if rows else 0
            if count:
                at = rows[count - 1].end
            if not self._goes_on(count, len(rows), -(-most // ROWS_TOGETHER)):
                return at

    def _goes_on(self, count: int, found: int, most: int) -> bool:
        """True if more may follow the found items, of which `count` were taken. After an item that was not taken, fewer
        are matched together."""
        if count < found:
            self._most = max(FEWEST_TOGETHER, self._most // 4)
        elif found == most:
            self._most = min(2 * self._most, MOST_TOGETHER)
            return True
        return False

    def _match(self, data: bytes | bytearray, at: int, lead: bytes, tail: bytes) -> list[Matched]:
        """Return the messages from an index on whose bytes match known shapes."""
        run: list[Matched] = []
        match_next, before, after = self._shapes.match_next, len(lead), len(tail)
        for _ in range(self._most):
            if before and not data.startswith(lead, at):
                break
            known = match_next(data, at + before)
            if known is None:
                break
            at = known[1].end()
            if after:
                if not data.startswith(tail, at):
                    break
                at += after
            run.append(known)
        return run

    def _match_rows(self, data: bytes | bytearray, at: int, row: Row) -> list[MatchedRow]:
        """Return the transcripts from an index on whose bytes match known shapes."""
        rows: list[MatchedRow] = []
        match_next, match_head, between, match_tail = (
            self._shapes.match_next,
            row.head.match,
            row.between,
            row.tail.match,
        )
        for _ in range(-(-self._most // ROWS_TOGETHER)):
            head = match_head(data, at)
            if head is None:
                break
            first, one = at, list[Matched]()
            at = head.end()
            while True:
                known = match_next(data, at)
                if known is None:
                    return rows
                one.append(known)
                end = known[1].end()
                if end - first > LONGEST_ROW:
                    return rows
                if data.startswith(between, end):
                    at = end + len(between)
                    continue
                tail = match_tail(data, end)
                if tail is None:
                    return rows
                at = tail.end()
                break
            rows.append(MatchedRow(first, at, one, head.groups() + tail.groups()))
        return rows

    def _take(self, data: bytes | bytearray, run: list[Matched], base: int, tools: dict[str, str]) -> int:
        """Add messages, and return how many could be added."""
        signs = _with_signs(data, run)
        if signs is None:
            return 0
        batch = self._record.batch()
        count = _append(batch, run, base, tools, signs)
        self._record.count_batch(batch)
        return count

    def _take_rows(self, data: bytes | bytearray, rows: list[MatchedRow], base: int, row: Row, begin: Begin) -> int:
        """Add transcripts, and return how many could be added."""
        signs = _with_signs(data, [known for one in rows for known in one.messages])
        if signs is None:
            return 0
        batch = self._record.batch()
        count = 0
        for one in rows:
            tools: dict[str, str] = {}
            size = len(batch)
            if _append(batch, one.messages, base, tools, signs) < len(one.messages):
                _cut(batch, size)
                return count
            begin(base + one.start, tools, row.facts_of(one.values))
            self._record.count_batch(batch)
            count += 1
        return count


def _append(batch: ClosedBatch, run: list[Matched], base: int, tools: dict[str, str], signs: set[int]) -> int:
    """Add the messages of these objects to a batch. Return how many objects precede the first one whose shape does not
    decide what it is. `signs` holds the indexes of the bodies that may have marks."""
    data, numbers, codes, escaped = run[0][1].string, batch.numbers, batch.codes, batch.escaped
    starts, ends, body_starts, body_ends = batch.starts, batch.ends, batch.body_starts, batch.body_ends
    signed = batch.signed
    for count, (shape, found) in enumerate(run):
        for said in shape.split:
            start, end = found.span(said.body)
            may_be = start in signs or (data[start + 1] in TURN_LEADS and begins_turn(data, start))
            if may_be and _is_divided(data, start, end, said):
                return count
        own_start, own_end = found.span()
        time_ms = stated_ms(shape, found)
        if shape.time and time_ms is None:
            return count
        for said in shape.messages:
            tool = ""
            if said.id:
                call_id = found[said.id][1:-1].decode()
                if said.is_named_by_call:
                    if call_id not in tools:
                        return count
                    tool = tools[call_id]
                elif said.is_call and said.header.recipient is not None:
                    tools[call_id] = said.header.recipient
                batch.id_rows.append(len(codes))
                batch.ids.append(call_id)
            code = numbers.get((said.number, tool))
            if code is None:
                code = numbers[said.number, tool] = len(batch.headers)
                header = replace(said.header, name=tool) if said.is_named_by_call else said.header
                batch.headers.append((header, said.ending))
                if said.places:
                    batch.places[code] = said.places
            if said.values:
                batch.value_rows.append(len(codes))
                batch.values.append(values_of(said, found))
            if time_ms is not None:
                start, end = time_span(shape, found)
                batch.time_rows.append(len(codes))
                batch.times.append(time_ms)
                batch.time_starts.append(base + start)
                batch.time_ends.append(base + end)
            start, end = found.span(said.body)
            is_escaped = data.find(b"\\", start, end) >= 0
            codes.append(code)
            starts.append(base + own_start)
            ends.append(base + own_end)
            body_starts.append(base + start + 1 - is_escaped)
            body_ends.append(base + end - 1 + is_escaped)
            escaped.append(is_escaped)
            signed.append(start in signs)
            if said.reports:
                first, last = found.span(shape.reports_at)
                number = batch.first + len(batch) - 1
                for rule, reason in said.reports:
                    batch.found.append((len(batch) - 1, Found(rule, reason, base + first, base + last, number)))
    return len(run)


def _cut(batch: ClosedBatch, size: int) -> None:
    """Remove the messages after the first `size`."""
    ids, values, times = (bisect_left(rows, size) for rows in (batch.id_rows, batch.value_rows, batch.time_rows))
    for column in (batch.time_rows, batch.times, batch.time_starts, batch.time_ends):
        del column[times:]
    del batch.value_rows[values:], batch.values[values:]
    for column in (batch.codes, batch.starts, batch.ends, batch.body_starts, batch.body_ends):
        del column[size:]
    del batch.escaped[size:], batch.signed[size:]
    del batch.id_rows[ids:], batch.ids[ids:]
    while batch.found and batch.found[-1][0] >= size:
        batch.found.pop()


def _is_divided(data: bytes | bytearray, start: int, end: int, said: Said) -> bool:
    raw = bytes(memoryview(data)[start:end])
    is_plain = b"\\" not in raw
    piece = Piece(start + 1, end - 1, Coding.PLAIN) if is_plain else Piece(start, end, Coding.JSON_STRING)
    return is_divided(raw, piece, said.header.role)


def _with_signs(data: bytes | bytearray, run: list[Matched]) -> set[int] | None:
    """Return the starts of the bodies whose text may have marks, or which must be examined for other reasons. Return
    None if the bytes are not UTF-8."""
    first, last = run[0][1].start(), run[-1][1].end()
    block = bytes(memoryview(data)[first:last])
    if not block.isascii() and not is_utf8(block):
        return None
    spans = sorted({found.span(said.body) for shape, found in run for said in shape.messages})
    starts, ends = [start - first for start, _ in spans], [end - first for _, end in spans]
    return {spans[place][0] for place in places_with_signs(block, starts, ends)}
