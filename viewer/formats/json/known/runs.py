"""Fast path for consecutive messages of known shapes: they become columns, and their bytes are checked together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from msgspec import Struct

from viewer.formats.json.known.rows import Facts, Row, UsagePlace
from viewer.formats.json.known.shapes import (
    TURN_LEADS,
    KnownShapes,
    Said,
    Shape,
    are_divided,
    begins_turn,
    is_divided,
    names_of,
    parts_of,
    stated_ms,
    time_span,
    values_of,
    with_names,
)
from viewer.model.events import ClosedBatch, Found
from viewer.model.messages import Coding, Piece, Span
from viewer.reading.recorder import Recorder
from viewer.scan.text_signs import places_with_signs
from viewer.syntax.json_lines import LazyNode, decoded_object, known_object
from viewer.syntax.utf8 import is_utf8

MOST_TOGETHER, FEWEST_TOGETHER = 256, 4
"""The maximum and the minimum number of messages that are matched before their bytes are checked."""
LONGEST_ROW = 8 * 1024 * 1024
"""The maximum length in bytes. A longer transcript on one line takes the slow path."""
ROWS_TOGETHER = 8
"""A group of messages may be this many times as large as a group of transcripts."""
Matched = tuple[Shape, "re.Match[bytes]"]
Begin = Callable[[int, dict[str, str], Facts], None]
"""A function that begins a transcript at an offset, with the tools of its calls."""
Count = Callable[[LazyNode], None]
"""A function that counts the tokens that an object reports, after its messages."""


class MatchedRow(Struct, frozen=True):
    """A transcript whose bytes match a row and known shapes."""

    row: Row
    start: int
    end: int
    messages: list[Matched]
    values: list[bytes]
    around: list[Span]
    """The indexes of the bytes around the messages."""


class MessageRuns:
    """Reads runs of messages. The first message whose shape does not determine how it is read ends the run."""

    def __init__(self, record: Recorder, shapes: KnownShapes) -> None:
        self._record = record
        self._shapes = shapes
        self._most = MOST_TOGETHER

    def add(self, data: bytes | bytearray, at: int, base: int, lead: bytes, tail: bytes, tools: dict[str, str]) -> int:
        """Add the messages that start at an index, each between `lead` and `tail`. Return the index after the last
        one."""
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

    def add_rows(
        self,
        data: bytes | bytearray,
        at: int,
        base: int,
        lead: bytes,
        tail: bytes,
        rows: list[Row],
        begin: Begin,
        count: Count,
        *,
        most: int = 0,
    ) -> int:
        """Add the transcripts that start at an index, each between `lead` and `tail`, as long as they match one of
        these rows. If `most` is not 0, add at most that many. The row that matched last is moved to the front of the
        rows. Return the index after the last transcript."""
        while True:
            limit = self._most
            together = most or -(-limit // ROWS_TOGETHER)
            found = self._match_rows(data, at, lead, tail, rows, together)
            taken = self._take_rows(data, found, base, begin, count) if found else 0
            if taken:
                at = found[taken - 1].end
            if most or not self._goes_on(taken, len(found), together):
                return at

    def _goes_on(self, count: int, found: int, most: int) -> bool:
        """True if more items may follow. `count` of the `found` items were added. If one of them could not be added,
        fewer items are matched together from now on."""
        if count < found:
            self._most = max(FEWEST_TOGETHER, self._most // 4)
        elif found == most:
            self._most = min(2 * self._most, MOST_TOGETHER)
            return True
        return False

    def _match(self, data: bytes | bytearray, at: int, lead: bytes, tail: bytes) -> list[Matched]:
        """Return the messages that start at an index, as long as their bytes match known shapes."""
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

    def _match_rows(
        self, data: bytes | bytearray, at: int, lead: bytes, tail: bytes, rows: list[Row], most: int
    ) -> list[MatchedRow]:
        """Return the transcripts that start at an index, as long as their bytes match known shapes."""
        found: list[MatchedRow] = []
        while len(found) < most and data.startswith(lead, at):
            matched = (self._match_row(data, at + len(lead), row, tail) for row in rows)
            one = next((each for each in matched if each is not None), None)
            if one is None:
                break
            if one.row is not rows[0]:
                rows.remove(one.row)
                rows.insert(0, one.row)
            found.append(one)
            at = one.end
        return found

    def _match_row(self, data: bytes | bytearray, first: int, row: Row, tail: bytes) -> MatchedRow | None:
        """Return the transcript at an index if its bytes match a row and known shapes, or else None."""
        match_next = self._shapes.match_next
        messages: list[Matched] = []
        values: list[bytes] = []
        around: list[Span] = []
        at = row.segments[0].end(data, first, values)
        around.append((first, at))
        for between, segment in zip(row.betweens, row.segments[1:], strict=True):
            if at < 0:
                return None
            while True:
                known = match_next(data, at)
                if known is None:
                    return None
                messages.append(known)
                at = known[1].end()
                if at - first > LONGEST_ROW:
                    return None
                if between is None or not data.startswith(between, at):
                    break
                at += len(between)
            start, at = at, segment.end(data, at, values)
            around.append((start, at))
        if at < 0 or not data.startswith(tail, at) or not all(_is_text(data, span) for span in around):
            return None
        return MatchedRow(row, first, at + len(tail), messages, values, around)

    def _take(self, data: bytes | bytearray, run: list[Matched], base: int, tools: dict[str, str]) -> int:
        """Add messages and return how many could be added."""
        signs = _with_signs(data, run)
        if signs is None:
            return 0
        batch = self._record.batch()
        count = _append(batch, run, base, tools, signs)
        self._record.count_batch(batch)
        return count

    def _take_rows(self, data: bytes | bytearray, rows: list[MatchedRow], base: int, begin: Begin, count: Count) -> int:
        """Add transcripts and return how many could be added."""
        signs = _with_signs(data, [known for one in rows for known in one.messages])
        if signs is None:
            return 0
        batch = self._record.batch()
        for taken, one in enumerate(rows):
            tools: dict[str, str] = {}
            size = len(batch)
            if _append(batch, one.messages, base, tools, signs) < len(one.messages):
                _cut(batch, size)
                return taken
            facts = one.row.facts_of(one.values)
            begin(base + one.start, tools, facts)
            self._record.count_batch(batch)
            if one.row.usage is UsagePlace.HEADER:
                count(decoded_object(facts.header))
            elif one.row.usage is UsagePlace.INSIDE:
                count(known_object(b"null".join(bytes(data[start:end]) for start, end in one.around), 0, {}))
        return len(rows)


def _append(batch: ClosedBatch, run: list[Matched], base: int, tools: dict[str, str], signs: set[int]) -> int:
    """Add the messages of these objects to a batch. Return the number of objects before the first one whose shape does
    not determine its messages. `signs` are the indexes of the bodies that may have marks."""
    data, numbers, codes, escaped = run[0][1].string, batch.numbers, batch.codes, batch.escaped
    starts, ends, body_starts, body_ends = batch.starts, batch.ends, batch.body_starts, batch.body_ends
    signed, find = batch.signed, data.find
    for count, (shape, found) in enumerate(run):
        regs = found.regs
        for said in shape.split:
            if said.more:
                if are_divided(data, 0, parts_of(said, found, 0)):
                    return count
                continue
            start, end = regs[said.body]
            may_be = start in signs or (data[start + 1] in TURN_LEADS and begins_turn(data, start))
            if may_be and _is_divided(data, start, end, said):
                return count
        time_ms = stated_ms(shape, found) if shape.time else None
        if shape.time and time_ms is None:
            return count
        own_start, own_end = regs[0]
        for said in shape.messages:
            names = ""
            if said.id:
                start, end = regs[said.id]
                call_id = data[start + 1 : end - 1].decode()
                if said.is_named_by_call:
                    if call_id not in tools:
                        return count
                    names = tools[call_id]
                batch.id_rows.append(len(codes))
                batch.ids.append(call_id)
            if said.name or said.tool:
                names = names_of(said, found, "")
            code = numbers.get((said.number, names))
            if code is None:
                code = numbers[said.number, names] = len(batch.headers)
                batch.headers.append((with_names(said, names) if names else said.header, said.ending))
                if said.places:
                    batch.places[code] = said.places
            if said.is_call and said.id and (tool := batch.headers[code][0].recipient) is not None:
                tools[call_id] = tool
            if said.values:
                batch.value_rows.append(len(codes))
                batch.values.append(values_of(said, found))
            if time_ms is not None:
                start, end = time_span(shape, found)
                batch.time_rows.append(len(codes))
                batch.times.append(time_ms)
                batch.time_starts.append(base + start)
                batch.time_ends.append(base + end)
            start, end = regs[said.body]
            if said.more:
                batch.pieces[len(codes)] = parts_of(said, found, base)
                body_starts.append(base + own_start)
                body_ends.append(base + own_end)
                escaped.append(False)
                signed.append(False)
            elif find(b"\\", start, end) < 0:
                body_starts.append(base + start + 1)
                body_ends.append(base + end - 1)
                escaped.append(False)
                signed.append(start in signs)
            else:
                body_starts.append(base + start)
                body_ends.append(base + end)
                escaped.append(True)
                signed.append(start in signs)
            codes.append(code)
            starts.append(base + own_start)
            ends.append(base + own_end)
            if said.reports:
                first, last = regs[shape.reports_at]
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
    for place in [place for place in batch.pieces if place >= size]:
        del batch.pieces[place]
    while batch.found and batch.found[-1][0] >= size:
        batch.found.pop()


def _is_divided(data: bytes | bytearray, start: int, end: int, said: Said) -> bool:
    raw = bytes(memoryview(data)[start:end])
    is_plain = b"\\" not in raw
    piece = Piece(start + 1, end - 1, Coding.PLAIN) if is_plain else Piece(start, end, Coding.JSON_STRING)
    return is_divided(raw, piece, said.header.role)


def _is_text(data: bytes | bytearray, span: Span) -> bool:
    """True if the bytes between two indexes are UTF-8."""
    text = bytes(memoryview(data)[slice(*span)])
    return text.isascii() or is_utf8(text)


def _with_signs(data: bytes | bytearray, run: list[Matched]) -> set[int] | None:
    """Return the starts of the bodies that may have marks or must be examined for other reasons. Return None if the
    bytes are not UTF-8."""
    first, last = run[0][1].start(), run[-1][1].end()
    block = bytes(memoryview(data)[first:last])
    if not block.isascii() and not is_utf8(block):
        return None
    starts, ends, spelled = list[int](), list[int](), set[int]()
    for shape, found in run:
        regs = found.regs
        for hole in shape.bodies:
            start, end = regs[hole]
            if regs[hole + 1][0] >= 0:
                spelled.add(len(starts))
            starts.append(start - first)
            ends.append(end - first)
    return {first + starts[place] for place in places_with_signs(block, starts, ends, spelled)}
