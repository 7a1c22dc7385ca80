"""Append messages of known shapes to a batch: as columns from the accelerator, or one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

from viewer.formats.json.content_parts import ContentPart
from viewer.formats.json.known.shapes import (
    TURN_LEADS,
    KnownMessage,
    MatchedRecords,
    Said,
    Shape,
    are_divided,
    begins_turn,
    messages_of,
    names_of,
    note_tools,
    parts_of,
    split_text,
    stated_ms,
    time_span,
    values_of,
    with_names,
)
from viewer.model.events import ClosedBatch, Found
from viewer.model.messages import Coding, Piece, Span
from viewer.reading.header import full_tool_name
from viewer.scan.records import HAS_ESCAPE, Match

Matched = tuple[Shape, Match]


class ColumnAppender:
    """Appends messages to a batch: those of the objects that the accelerator matched."""

    def __init__(
        self, batch: ClosedBatch, found: MatchedRecords, data: bytes | bytearray, at: int, base: int, signs: bytes
    ) -> None:
        """`at` is the index where the first record begins, and `signs` a mask of the texts that may have marks."""
        self._batch = batch
        self._columns = found.columns
        self._shapes = found.shapes
        self._data = data
        self._at = at
        self._base = base
        self._signs = signs
        self._said = {said.number: said for shape in set(found.shapes) for said in shape.messages}
        self._plain = {number for number, said in self._said.items() if not (said.id or said.name or said.tool)}
        """The numbers of the message shapes whose headers need no ID, name, or tool from the message."""
        self._are_plain = all(shape.is_plain for shape in set(found.shapes))
        self._guarded = any(shape.guards for shape in set(found.shapes))
        self._known: dict[tuple[int, str, str], tuple[int, str | None]] = {}
        """The indexes of headers, by the number of the message shape, the name, and the tool; and the recipients of
        calls with an ID."""
        self._next_named = 0
        """The index in `named` of the next message with names."""
        columns = found.columns
        split = {number for number, said in self._said.items() if said.is_split}
        first, texts = at + 1, columns.texts[0::3]
        self._doubtful = [
            row
            for row, (number, text) in enumerate(zip(columns.numbers, columns.of_text, strict=True))
            if number in split and (signs[text] or data[first + texts[text]] in TURN_LEADS)
        ]
        """The messages whose text may be split at marks, or may begin a turn."""
        self._signed = bytes(map(signs.__getitem__, columns.of_text))
        self._alike_to = self._whole_to = 0
        """The object and the message before which everything is known to be as in the examples, and not divided."""
        self._divided = -1
        """The last message whose text turned out to be divided; -1 if there is none yet."""
        self._split: list[ContentPart] = []
        """The parts of that text."""
        self._matched: list[Matched] | None = None

    def use(self, batch: ClosedBatch) -> None:
        """Add the next messages to this batch."""
        if batch is not self._batch:
            self._batch = batch
            self._known.clear()

    def append(self, first: int, end: int, tools: dict[str, str]) -> int:
        """Add the messages of the objects from `first` up to, but not including, `end`. Return the number of objects
        before the first one whose shape does not determine its messages."""
        end = self._first_unlike(first, end)
        if not self._are_plain:
            if self._matched is None:
                self._matched = [(shape, self._match(place)) for place, shape in enumerate(self._shapes)]
            run = self._matched[first:end]
            return append_one_by_one(self._batch, run, self._base, tools, self._marked) if run else 0
        at = self._append_whole(first, end, tools)
        while at < end and self._append_divided(at, tools):
            at = self._append_whole(at + 1, end, tools)
        return at - first

    def _append_whole(self, first: int, end: int, tools: dict[str, str]) -> int:
        """Add the messages of the objects in this range, up to the first one with a divided text, or with a reply to an
        unknown call. Return the object after them."""
        counts = self._columns.item_message_counts
        low = counts[first - 1] if first else 0
        divided = self._first_divided(low, counts[end - 1] if end > first else low)
        end = bisect_right(counts, divided, first, end)
        high = self._add_headers(low, counts[end - 1] if end > first else low, tools)
        self._extend(low, high)
        return bisect_right(counts, high, first, end)

    def _append_divided(self, place: int, tools: dict[str, str]) -> bool:
        """Add the messages of an object with a divided text. Return False if it has none, or if its shape does not
        determine its messages."""
        counts = self._columns.item_message_counts
        if not (counts[place - 1] if place else 0) <= self._divided < counts[place]:
            return False
        found = self._match(place)
        messages = messages_of(self._shapes[place], found, self._base, tools, self._split)
        if messages is None:
            return False
        start, end = found.span()
        _join(self._batch, (self._base + start, self._base + end), messages, tools)
        return True

    def _first_unlike(self, first: int, end: int) -> int:
        """Return the first object in which a value has a different effect than in the example of its shape."""
        if self._guarded:
            for place in range(max(first, self._alike_to), end):
                shape = self._shapes[place]
                if shape.guards and not shape.is_like(self._match(place)):
                    self._alike_to = place
                    return place
            self._alike_to = max(self._alike_to, end)
        return end

    def is_alike(self, place: int) -> bool:
        """True if each value of this object is known to have the same effect as in the example of its shape."""
        return not self._guarded or place < self._alike_to

    def _first_divided(self, low: int, high: int) -> int:
        """Return the first message, in this range, whose text is split at template marks."""
        columns, data = self._columns, self._data
        if self._divided >= low:
            return min(self._divided, high)
        first = bisect_left(self._doubtful, max(low, self._whole_to))
        for row in self._doubtful[first : bisect_left(self._doubtful, high)]:
            text = columns.of_text[row]
            start, end = (self._at + columns.texts[3 * text + side] for side in (0, 2))
            may_be = self._signs[text] or begins_turn(data, start)
            split = _split(data, self._base, start, end, self._said[columns.numbers[row]]) if may_be else []
            if split:
                self._divided, self._split = row, split
                return row
        self._whole_to = max(self._whole_to, high)
        return high

    def _add_headers(self, low: int, high: int, tools: dict[str, str]) -> int:
        """Add the headers and IDs of the messages in this range, up to the first reply to an unknown call. Return the
        message after them."""
        batch, columns = self._batch, self._columns
        named, ids, names, used_tools = columns.named, columns.ids, columns.names, columns.tools
        codes, known, plain, said_by = batch.codes, self._known, self._plain, self._said
        code_of: dict[int, int] = {}
        at = bisect_left(named, low, self._next_named)
        for row, number in enumerate(columns.numbers[low:high], low):
            code = code_of.get(number)
            if code is not None:
                codes.append(code)
                continue
            said = said_by[number]
            if number in plain:
                code_of[number] = code = self._code(said, "")
                codes.append(code)
                continue
            call_id, name, tool = ids[at], names[at], used_tools[at]
            if said.id:
                call_id = call_id[1:-1]
                if said.is_named_by_call:
                    if call_id not in tools:
                        self._next_named = at
                        return row
                    name = tools[call_id]
                batch.id_rows.append(len(codes))
                batch.ids.append(call_id)
            pair = known.get((number, name, tool))
            if pair is None:
                code = self._code(said, f"{name}\n{full_tool_name(tool)}" if said.tool else name)
                recipient = batch.headers[code][0].recipient if said.is_call and said.id else None
                pair = known[number, name, tool] = code, recipient
            code, recipient = pair
            if recipient is not None:
                tools[call_id] = recipient
            codes.append(code)
            at += 1
        self._next_named = at
        return high

    def _code(self, said: Said, names: str) -> int:
        """Return the index of a header, adding it if necessary."""
        batch = self._batch
        code = batch.numbers.get((said.number, names))
        if code is None:
            code = batch.numbers[said.number, names] = len(batch.headers)
            batch.headers.append((with_names(said, names) if names else said.header, said.ending))
        return code

    def _extend(self, low: int, high: int) -> None:
        """Add the other columns of the messages in this range."""
        batch, columns = self._batch, self._columns
        batch.starts.extend(columns.message_starts[low:high])
        batch.ends.extend(columns.message_ends[low:high])
        batch.body_starts.extend(columns.bodies[low:high])
        batch.body_ends.extend(columns.body_ends[low:high])
        batch.escaped += bytes([columns.flags[text] & HAS_ESCAPE for text in columns.of_text[low:high]])
        batch.signed += self._signed[low:high]

    @cached_property
    def _marked(self) -> set[int]:
        """Return the indexes of the texts that may have marks."""
        texts = self._columns.texts
        return {self._at + texts[3 * text] for text, is_signed in enumerate(self._signs) if is_signed}

    def _match(self, place: int) -> Match:
        return self._columns.match(place, self._data)


def append_one_by_one(batch: ClosedBatch, run: list[Matched], base: int, tools: dict[str, str], signs: set[int]) -> int:
    """Add the messages of these objects to a batch. Return the number of objects before the first one whose shape does
    not determine its messages. `signs` are the indexes of the bodies that may have marks."""
    data, numbers, codes, escaped = run[0][1].string, batch.numbers, batch.codes, batch.escaped
    starts, ends, body_starts, body_ends = batch.starts, batch.ends, batch.body_starts, batch.body_ends
    signed, find = batch.signed, data.find
    for count, (shape, found) in enumerate(run):
        regs = found.regs
        split: list[ContentPart] | None = None
        may_be_divided = False
        for said in shape.split:
            if said.more:
                may_be_divided = are_divided(data, 0, parts_of(said, found, 0))
                continue
            start, end = regs[said.body]
            if start in signs or (data[start + 1] in TURN_LEADS and begins_turn(data, start)):
                split = _split(data, base, start, end, said)
                may_be_divided = bool(split)
        if may_be_divided:
            messages = messages_of(shape, found, base, tools, split)
            if messages is None:
                return count
            start, end = regs[0]
            _join(batch, (base + start, base + end), messages, tools)
            continue
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


def _split(data: bytes | bytearray, base: int, start: int, end: int, said: Said) -> list[ContentPart]:
    """Return the parts of the string between two indexes, or none if it is not split at template marks."""
    raw = bytes(memoryview(data)[start:end])
    is_plain = b"\\" not in raw
    piece = Piece(base + start + is_plain, base + end - is_plain, Coding.PLAIN if is_plain else Coding.JSON_STRING)
    return split_text(raw, piece, said.header.role)


def _join(batch: ClosedBatch, span: Span, messages: list[KnownMessage], tools: dict[str, str]) -> None:
    """Add the messages of an object to a batch one by one."""
    for message in messages:
        is_added = batch.join(message.header, message.ending, span, message.pieces, message.time_ms, message.time_at)
        assert is_added
        number = batch.first + len(batch) - 1
        batch.found += [(len(batch) - 1, Found(*problem, number)) for problem in message.problems]
    note_tools(messages, tools)
