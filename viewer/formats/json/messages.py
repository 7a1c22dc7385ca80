"""JSON messages: the interchange of OpenChatML, chat-completions messages and conversations of the Harmony library."""

from __future__ import annotations

from bisect import bisect_left

from viewer.formats.json.documents import SPACE, JsonDocuments
from viewer.formats.json.fields import Source, header_value, is_message
from viewer.formats.json.items import MessageObjects
from viewer.formats.json.layout import Layout, LayoutJudge
from viewer.formats.json.wrappers import Found, Use, find_messages, header_members, is_wrapper
from viewer.model.diagnostic import Problem
from viewer.model.messages import Kind, Span
from viewer.reading.format import FormatTraits, ReadOptions
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER, E_STREAM_TRUNCATED
from viewer.rules.notes import I_JSON_LENIENT
from viewer.rules.structure import W_SIBLING_UNREAD
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading, read_json


class JsonMessagesReader(JsonDocuments):
    """Reader of one object, an array, `{"messages": […]}`, or one object per line."""

    def __init__(self, record: Recorder, options: ReadOptions) -> None:
        super().__init__(record)
        self._objects = MessageObjects(record)
        self._layout: Layout | None = None
        self._judge = LayoutJudge()
        self._is_empty = False
        """True if the transcript has no message yet."""

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
        """Read a document as a separate transcript."""
        if reading.node is not None:
            self._begin_document(reading.node, Source(data, base))
            self._read_items(reading, Source(data, base), at_end=True)

    def broken_rest(self, reading: JsonReading, data: bytes) -> None:
        """Report the rest of a broken document as stray text; an unfinished one was read as far as it goes."""
        fault = reading.faults[-1]
        if fault.is_truncation:
            return
        start = fault.offset
        for found in find_messages(reading.node):
            if not found.node.closed and found.use is not Use.WRAPPER:
                start = min(start, found.node.start)
        self.record.report(E_PARSE_HEADER, "not-a-message", fault.offset, fault.end)
        self.text_between(data[start - self.base :], start)

    def _read_lines(self) -> None:
        """Read every complete line."""
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
        unfinished = ended and bool(reading.faults) and not reading.faults[:-1] and reading.may_go_on
        rest = line[reading.end - base :].strip(SPACE)
        if node is None or node.kind is not JsonKind.OBJECT or rest or (reading.faults and not unfinished):
            self._not_a_message((start, start + len(content)))
            return
        if is_wrapper(node) or not self.record.transcript:
            self._start(node, source)
        self._read_items(reading, source, at_end=ended)

    def _begin_document(self, node: JsonNode, source: Source) -> None:
        """Begin a transcript with a document, unless it is an array of transcripts."""
        self._is_empty = False
        if not (node.kind is JsonKind.ARRAY and node.items and is_wrapper(node.items[0])):
            self._start(node, source)

    def _start(self, node: JsonNode, source: Source) -> None:
        """Begin a transcript; the other members of its wrapper are its header."""
        header = {member.key: header_value(member.value, source) for member in header_members(node)}
        version, model = header.get("version"), header.get("model")
        self.record.start(
            node.start,
            version if isinstance(version, str) else None,
            model if isinstance(model, str) else None,
            header,
        )
        self._objects.start()
        self._is_empty = True

    def _read_items(self, reading: JsonReading, source: Source, *, at_end: bool) -> None:
        notes = _Notes(reading)
        truncated = at_end and bool(reading.faults) and reading.faults[-1].is_truncation
        unfinished = False
        for found in find_messages(reading.node):
            item, use = found.node, found.use
            if use is Use.WRAPPER:
                self._begin_inner(item, reading.node, source)
            elif use is Use.UNREAD:
                self.record.report(W_SIBLING_UNREAD, None, item.start, item.end)
            elif item.closed or (truncated and is_message(item)):
                self._item(found, source, notes)
                unfinished = not item.closed
            elif truncated:
                self.text_between(source.data[item.start - source.base :], item.start)
        for problem in notes.others():
            self.record.report(problem.rule, problem.reason, problem.start, problem.end)
        if truncated and not unfinished:
            self.record.report(E_STREAM_TRUNCATED, "header", reading.end, reading.end)

    def _begin_inner(self, wrapper: JsonNode, root: JsonNode | None, source: Source) -> None:
        """Begin a transcript with a nested wrapper; an array at the head of a wrapper belongs to it."""
        if wrapper is not root and not (wrapper.kind is JsonKind.ARRAY and self._is_empty):
            self._start(wrapper, source)

    def _item(self, found: Found, source: Source, notes: _Notes) -> None:
        item = found.node
        self._is_empty = False
        if item.kind is JsonKind.OBJECT and is_message(item):
            kind = Kind.UNKNOWN if found.use is Use.REJECTED else Kind.SAID
            self._objects.add(item, source, notes.inside(item), kind)
        else:
            self._not_a_message((item.start, item.end))

    def _not_a_message(self, text: Span) -> None:
        self.record.start_if_none(text[0])
        self.record.report(E_PARSE_HEADER, "not-a-message", *text)
        self.record.stray(*text)


class _Notes:
    """Faults and leniencies in the text of a document, by the message that contains them."""

    def __init__(self, reading: JsonReading) -> None:
        going_on = [fault for fault in reading.faults if reading.node is not None and reading.node.closed]
        if not going_on:
            going_on = reading.faults[:-1]
        problems = [Problem(E_PARSE_HEADER, "not-a-message", fault.offset, fault.end) for fault in going_on]
        problems += [Problem(I_JSON_LENIENT, None, *span) for span in reading.lenient]
        self._problems = sorted(problems, key=lambda problem: problem.start)
        self._starts = [problem.start for problem in self._problems]
        self._reported: set[Problem] = set()

    def inside(self, node: JsonNode) -> list[Problem]:
        """The problems in the bytes of a message."""
        found = self._problems[bisect_left(self._starts, node.start) : bisect_left(self._starts, node.end)]
        self._reported.update(found)
        return found

    def others(self) -> list[Problem]:
        """The problems outside all messages."""
        return [problem for problem in self._problems if problem not in self._reported]


JSON = FormatTraits(name="json", reader=JsonMessagesReader, shares_spans=True, json_content=True, thoughts_first=True)
