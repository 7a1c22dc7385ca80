"""JSON messages: the interchange of OpenChatML, chat-completions messages and conversations of the Harmony library."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from viewer.core.dialect import Dialect, Options
from viewer.core.json_text import JsonFault, JsonKind, JsonNode, JsonReading, read_json
from viewer.core.messages import Span
from viewer.core.record import Record
from viewer.formats.json_documents import SPACE, JsonDocuments
from viewer.formats.json_fields import WRAPPER_KEYS, Source, first_of, is_message
from viewer.formats.json_header import Problem
from viewer.formats.json_items import MessageObjects
from viewer.formats.json_lines import Layout, LayoutJudge


class JsonMessagesReader(JsonDocuments):
    """One object, an array, `{"messages": […]}`, or one object a line."""

    def __init__(self, record: Record, options: Options) -> None:
        super().__init__(record)
        self._objects = MessageObjects(record)
        self._layout: Layout | None = None
        self._judge = LayoutJudge()

    def advance(self) -> None:
        if self._layout is None:
            self._layout = self._judge.judge(self.data, ended=False)
        if self._layout is Layout.DOCUMENTS:
            super().advance()
        elif self._layout is Layout.LINES:
            self._read_lines()

    def close(self) -> None:
        if self._layout is None:
            self._layout = self._judge.judge(self.data, ended=True)
            self.advance()
        if self._layout is Layout.DOCUMENTS:
            super().close()
        elif self.data[self.at :].strip(SPACE):
            self._read_line(bytes(self.data[self.at :]), self.base + self.at, ended=True)

    def read_document(self, reading: JsonReading, data: bytes, base: int) -> None:
        """Every document is a transcript of its own."""
        if reading.node is not None:
            self._start(reading.node, Source(data, base))
            self._read_items(reading, Source(data, base), at_end=True)

    def broken_rest(self, reading: JsonReading, data: bytes) -> None:
        """An unfinished document has been read as far as it goes; of a broken one the rest is stray text."""
        fault = reading.faults[-1]
        if fault.reason == "json-truncated":
            return
        start = fault.offset
        for item in _items(reading.node):
            if not item.closed and not _is_wrapper(item):
                start = min(start, item.start)
        self.record.report("E-PARSE-HEADER", "not-a-message", fault.offset, fault.end)
        self.text_between(data[start - self.base :], start)

    def _read_lines(self) -> None:
        """Every line that is complete."""
        start = self.at
        while (end := self.data.find(b"\n", max(start, self._looked))) >= 0:
            self._read_line(bytes(self.data[start:end]), self.base + start, ended=False)
            start = end + 1
        self.at = start
        self._looked = len(self.data)

    def _read_line(self, line: bytes, base: int, *, ended: bool) -> None:
        content = line.strip(SPACE)
        if not content:
            return
        source = Source(line, base)
        start = base + len(line) - len(line.lstrip(SPACE))
        reading = read_json(line, base)
        node = reading.node
        unfinished = ended and not reading.faults[:-1] and _is_truncated(reading.fault)
        rest = line[reading.end - base :].strip(SPACE)
        if node is None or node.kind is not JsonKind.OBJECT or rest or (reading.faults and not unfinished):
            self._not_a_message((start, start + len(content)))
            return
        if first_of(node, ("messages",)) is not None or not self.record.transcript:
            self._start(node, source)
        self._read_items(reading, source, at_end=ended)

    def _start(self, node: JsonNode, source: Source) -> None:
        """A transcript begins; what its wrapper says beside the messages is its header."""
        members = node.members if _is_wrapper(node) else ()
        header = {
            member.key: _header_value(member.value, source) for member in members if member.key not in WRAPPER_KEYS
        }
        version, model = header.get("version"), header.get("model")
        self.record.start(
            node.start,
            version if isinstance(version, str) else None,
            model if isinstance(model, str) else None,
            header,
        )
        self._objects.start()

    def _read_items(self, reading: JsonReading, source: Source, *, at_end: bool) -> None:
        notes = _Notes(reading)
        truncated = at_end and bool(reading.faults) and _is_truncated(reading.faults[-1])
        unfinished = False
        for item in _items(reading.node):
            if _is_wrapper(item):
                if item is not reading.node:
                    self._start(item, source)
                continue
            if item.closed or (truncated and is_message(item)):
                self._item(item, source, notes)
                unfinished = not item.closed
            elif truncated:
                self.text_between(source.data[item.start - source.base :], item.start)
        for problem in notes.others():
            self.record.report(problem.code, problem.reason, problem.start, problem.end)
        if truncated and not unfinished:
            self.record.report("E-STREAM-TRUNCATED", "header", reading.end, reading.end)

    def _item(self, item: JsonNode, source: Source, notes: _Notes) -> None:
        if item.kind is JsonKind.OBJECT and is_message(item):
            self._objects.add(item, source, notes.inside(item))
        else:
            self._not_a_message((item.start, item.end))

    def _not_a_message(self, text: Span) -> None:
        self.record.start_if_none(text[0])
        self.record.report("E-PARSE-HEADER", "not-a-message", *text)
        self.record.stray(*text)


class _Notes:
    """What is wrong with, or lenient in, the text of a document, by the message it is in."""

    def __init__(self, reading: JsonReading) -> None:
        going_on = [fault for fault in reading.faults if reading.node is not None and reading.node.closed]
        if not going_on:
            going_on = reading.faults[:-1]
        problems = [Problem("E-PARSE-HEADER", "not-a-message", fault.offset, fault.end) for fault in going_on]
        problems += [Problem("I-JSON-LENIENT", None, *span) for span in reading.lenient]
        self._problems = sorted(problems, key=lambda problem: problem.start)
        self._starts = [problem.start for problem in self._problems]
        self._told: set[Problem] = set()

    def inside(self, node: JsonNode) -> list[Problem]:
        """Those in the bytes of a message."""
        found = self._problems[bisect_left(self._starts, node.start) : bisect_left(self._starts, node.end)]
        self._told.update(found)
        return found

    def others(self) -> list[Problem]:
        """Those outside all messages."""
        return [problem for problem in self._problems if problem not in self._told]


def _is_truncated(fault: JsonFault | None) -> bool:
    return fault is not None and fault.reason == "json-truncated"


def _is_wrapper(node: JsonNode) -> bool:
    """Whether a value holds messages rather than being one."""
    return node.kind is JsonKind.ARRAY or any(
        (value := node.get(key)) is not None and value.kind is JsonKind.ARRAY for key in WRAPPER_KEYS
    )


def _items(node: JsonNode | None) -> Iterator[JsonNode]:
    """The message objects of a document, in order; a wrapper stands before its own."""
    if node is None:
        return
    yield node
    if not _is_wrapper(node):
        return
    for item in node.items:
        yield from _items(item)
    for key in WRAPPER_KEYS:
        value = node.get(key)
        for item in value.items if value is not None else ():
            message = item.get("message") if key == "choices" else None
            yield from _items(message or item)


def _header_value(node: JsonNode, source: Source) -> object:
    """A value of a transcript's header: mappings, lists and text."""
    if node.kind is JsonKind.OBJECT:
        return {member.key: _header_value(member.value, source) for member in node.members}
    if node.kind is JsonKind.ARRAY:
        return [_header_value(item, source) for item in node.items]
    return source.text(node)


JSON = Dialect(name="json", reader=JsonMessagesReader, shares_spans=True, json_content=True, thoughts_first=True)
