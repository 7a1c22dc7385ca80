"""Fast path for consecutive messages of known shapes: they become columns, and their bytes are checked all at once."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.json.shapes import TURN_LEADS, KnownShapes, Said, Shape, begins_turn, is_divided
from viewer.model.events import ClosedBatch, Found
from viewer.model.messages import Coding, Piece
from viewer.reading.recorder import Recorder
from viewer.scan.text_signs import places_with_signs
from viewer.syntax.utf8 import is_utf8

MOST_TOGETHER, FEWEST_TOGETHER = 256, 4
"""The maximum and the minimum number of messages that are matched before their bytes are checked."""
LONGEST_ROW = 8 * 1024 * 1024
"""The maximum length in bytes. A longer transcript on one line takes the slow path."""
ROWS_TOGETHER = 8
"""The factor by which a group of transcripts is smaller than a group of messages."""
Matched = tuple[Shape, "re.Match[bytes]"]
Begin = Callable[[int, dict[str, str]], None]
"""A function that begins a transcript at an offset, with the tools of its calls."""


class Facts(Struct, frozen=True):
    """What an object that is a transcript states about the transcript."""

    version: str | None = None
    model: str | None = None
    header: dict[str, object] = field(default_factory=dict)


class Row(Struct, frozen=True):
    """The pattern of a transcript that is one object: the bytes around its messages, and its header."""

    head: bytes
    between: bytes
    tail: bytes
    """The bytes after the messages, including the end of the line."""
    facts: Facts
    """The facts, which are the same for every such transcript."""


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
            count = self._take_rows(data, at, rows, base, row, begin) if rows else 0
            if count:
                at = rows[count - 1][-1][1].end() + len(row.tail)
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

    def _match_rows(self, data: bytes | bytearray, at: int, row: Row) -> list[list[Matched]]:
        """Return the transcripts from an index on whose bytes match known shapes."""
        rows: list[list[Matched]] = []
        match_next, head, between, tail = self._shapes.match_next, row.head, row.between, row.tail
        for _ in range(-(-self._most // ROWS_TOGETHER)):
            if not data.startswith(head, at):
                break
            first, one = at, list[Matched]()
            at += len(head)
            while True:
                known = match_next(data, at)
                if known is None:
                    return rows
                one.append(known)
                end = known[1].end()
                if data.startswith(tail, end):
                    break
                if not data.startswith(between, end) or end - first > LONGEST_ROW:
                    return rows
                at = end + len(between)
            rows.append(one)
            at = end + len(tail)
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

    def _take_rows(
        self, data: bytes | bytearray, at: int, rows: list[list[Matched]], base: int, row: Row, begin: Begin
    ) -> int:
        """Add transcripts, and return how many could be added."""
        signs = _with_signs(data, [known for one in rows for known in one])
        if signs is None:
            return 0
        batch = self._record.batch()
        count = 0
        for one in rows:
            tools: dict[str, str] = {}
            size, ids = len(batch), len(batch.ids)
            if _append(batch, one, base, tools, signs) < len(one):
                _cut(batch, size, ids)
                return count
            begin(base + at, tools)
            self._record.count_batch(batch)
            at = one[-1][1].end() + len(row.tail)
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


def _cut(batch: ClosedBatch, size: int, ids: int) -> None:
    """Remove the messages after the first `size`, and the call ids after the first `ids`."""
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
