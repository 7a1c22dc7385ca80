"""Reader of record lines: JSON on one or several lines, server-sent events, and the text between them."""

from __future__ import annotations

from typing import Protocol

from viewer.formats.containers.server_sent import DataLine, OpenValue, data_line, is_complete, is_field, read_joined
from viewer.formats.json.fields import Source
from viewer.model.messages import Span
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER
from viewer.syntax.json_lines import read_regular, whole_tree
from viewer.syntax.json_text import JsonKind, JsonNode, read_json

LONGEST_LINE = 8 * 1024 * 1024
"""The maximum length in bytes. A longer line of an event stream is not read."""
LONGEST_RECORD = 64 * 1024 * 1024
"""The maximum length in bytes. A longer record is not read."""

DECODED = 64 * 1024
"""The minimum length in bytes of an object that is decoded in one step, which then needs less time and memory."""
_SPACE = b" \t\r\n"
_BRACKETS = (b"[", b"]", b"],", b",")
"""Lines that may come between the events of an array."""
_HEAD = 80
"""The number of bytes at the start of a line that show whether it is a field of a server-sent event."""


class Values(Protocol):
    """Receives the values of the lines."""

    def knows(self, node: JsonNode, name: str | None) -> bool:
        """True if this value, or the `event:` line before it, has a known type."""
        ...

    def changes(self, node: JsonNode) -> bool:
        """True if reading this record replaces some of its values in place."""
        ...

    def apply(self, node: JsonNode, name: str | None, lenient: list[Span], source: Source | None = None) -> bool:
        """Read a value. Return False if it is not a record after all. `source` contains the bytes of the value if they
        are contiguous."""
        ...

    def end_response(self) -> None:
        """Handle the `[DONE]` mark, which ends a response."""
        ...

    def grow(self) -> None:
        """Report the messages that have grown. Called once per chunk of input."""
        ...

    def close(self, at: int) -> None:
        """Handle the end of the input."""
        ...


class WholeLines(Protocol):
    """Reads the lines of a format with one object per line."""

    def read_line(self, line: bytes, offset: int, *, is_last: bool) -> None:
        """Read a line. The last line may be incomplete."""
        ...


class LineReader:
    """Reads lines. Each run of lines that are not records becomes one span of stray text."""

    def __init__(
        self,
        record: Recorder,
        values: Values,
        *,
        longest: int = LONGEST_LINE,
        whole: WholeLines | None = None,
        decodes: bool = False,
    ) -> None:
        """If `decodes` is true, regular objects are decoded in one step, which needs less memory."""
        self._record = record
        self._decodes = decodes
        self._events = values
        self._longest = longest
        self._whole = whole
        self._line = bytearray()
        """The incomplete line so far."""
        self._start = 0
        self._after_return = False
        """True if the last line ended with CR. A line feed directly after the CR belongs to the same line end."""
        self._skipping: Span | None = None
        """The span of an overlong line so far; None if the current line is not overlong."""
        self._stray: Span | None = None
        self._name: str | None = None
        """The type from the `event:` line of the current event, or None."""
        self._data: list[DataLine] = []
        """The `data:` lines of the incomplete event."""
        self._size = 0
        """The total size in bytes of the `data:` lines of the incomplete event."""
        self._value: OpenValue | None = None
        """The current object if it spans several lines, or None."""

    def feed(self, data: bytes) -> None:
        self.read(data)
        self._events.grow()

    def read(self, data: bytes) -> None:
        """Read the next bytes, without calling `Values.grow`."""
        at = 0
        while at < len(data):
            if self._after_return:
                self._after_return = False
                if data.startswith(b"\n", at):
                    self._start += 1
                    at += 1
                    continue
            at = self._feed_line(data, at)

    def _feed_line(self, data: bytes, at: int) -> int:
        """Read to the end of the line, or of these bytes. Return where the next line begins."""
        end = data.find(b"\n", at)
        stop = len(data) if end < 0 else end
        found = data.find(b"\r", at, stop)
        while found >= 0:
            if self._ends_with_return(data[at : min(found, at + _HEAD)], found - at):
                self._append(data[at:found])
                self._end_line()
                self._start += 1
                self._after_return = True
                return found + 1
            found = data.find(b"\r", found + 1, stop)
        self._append(data[at:stop])
        if end < 0:
            return stop
        self._end_line()
        self._start += 1
        return end + 1

    def _ends_with_return(self, rest: bytes, length: int) -> bool:
        """True if a CR ends the current line. In server-sent events, even a lone CR does."""
        if self._skipping is not None or self._whole is not None:
            return False
        head = (bytes(self._line[:_HEAD]) + rest)[:_HEAD]
        return is_field(head) and (bool(head.strip(_SPACE)) or len(self._line) + length <= _HEAD)

    @property
    def is_between_lines(self) -> bool:
        """True if the next byte begins a line whose meaning does not depend on earlier lines."""
        is_open = self._line or self._data or self._after_return or self._skipping is not None
        return not is_open and self._value is None and self._name is None

    @property
    def has_stray(self) -> bool:
        """True if the last lines are stray text, which the next line may continue."""
        return self._stray is not None

    def skip(self, size: int) -> None:
        """Skip this many bytes: whole lines that were read elsewhere."""
        self._flush_stray()
        self._start += size

    def close(self) -> None:
        self._end_line(is_last=True)
        self._dispatch()
        self._give_up_value()
        self._flush_stray()
        self._events.close(self._start)

    def _append(self, data: bytes) -> None:
        if self._skipping is None and len(self._line) + len(data) > self._longest:
            data = bytes(self._line) + data
            self._line.clear()
            self._skipping = (self._start, self._start)
        if self._skipping is None:
            self._line += data
            return
        text = data.rstrip(_SPACE)
        if text:
            start, end = self._skipping
            first = start if end > start else self._start + len(data) - len(data.lstrip(_SPACE))
            self._skipping = (first, self._start + len(text))
        self._start += len(data)

    def _end_line(self, *, is_last: bool = False) -> None:
        if self._skipping is not None:
            start, end = self._skipping
            self._skipping = None
            self._dispatch()
            self._give_up_value()
            if end > start:
                self._reject(start, end)
            return
        line = bytes(self._line)
        self._line.clear()
        if self._whole is not None:
            self._whole.read_line(line, self._start, is_last=is_last)
        else:
            self._read_line(line, self._start)
        self._start += len(line)

    def _read_line(self, line: bytes, offset: int) -> None:
        if self._value and (self._value.ends_before(line) or len(self._value.data) + len(line) > self._longest):
            self._give_up_value()
        if self._value:
            if self._value.add(line, offset):
                self._read_value(self._value)
            return
        text = line.strip(_SPACE)
        if not text:
            self._dispatch()
            self._name = None
        elif text.startswith(b"data:") or text == b"data":
            self._add_data(line, offset)
        elif text.startswith(b"event:"):
            self._take_name(text[6:].strip(_SPACE).decode("utf-8", "replace"))
        elif not text.startswith((b":", b"id:", b"retry:")) and text not in (b"id", b"retry", b"event"):
            self._dispatch()
            if text.startswith(b"{") and _is_begun(text):
                self._value = OpenValue(line, offset)
            else:
                self._read_plain(line, offset)

    def _read_plain(self, line: bytes, offset: int) -> None:
        """Read a line that is not a field."""
        text = line.strip(_SPACE)
        start = offset + len(line) - len(line.lstrip(_SPACE))
        if text.startswith((b"{", b"[{")):
            self._read_objects(text, start, None)
        elif text and text not in _BRACKETS:
            self.add_stray(start, start + len(text))

    def _read_value(self, value: OpenValue) -> None:
        """Read a complete object, and whatever follows it on its last line."""
        data = bytes(value.data)
        reading = read_json(data, value.start)
        if reading.node is None or reading.fault:
            self._give_up_value()
            return
        self._value = None
        self._read_objects(data.strip(_SPACE), value.start + len(data) - len(data.lstrip(_SPACE)), None)

    def _give_up_value(self) -> None:
        """Give up on an object that never ended: read its lines one by one."""
        value, self._value = self._value, None
        for line in value.lines() if value else []:
            self._read_plain(line.value, line.start)

    def _take_name(self, name: str) -> None:
        """Store the type from an `event:` line. The line may follow the data of its event, unless that already has a
        type."""
        if self._data and self._name is not None:
            self._dispatch()
        self._name = name

    def _add_data(self, line: bytes, offset: int) -> None:
        """Add a line to the data of an event. If the previous line already contains complete data, begin a new event,
        even without a blank line."""
        found = data_line(line, offset)
        if found is None:
            return
        if len(self._data) == 1 and is_complete(self._data[0]):
            self._dispatch()
        if self._size + len(found.value) > self._longest:
            self._dispatch()
        self._data.append(found)
        self._size += len(found.value)

    def _dispatch(self) -> None:
        """Read the data of an event, which is now complete."""
        lines, self._data, self._size = self._data, [], 0
        reading = read_joined(lines) if len(lines) > 1 else None
        if reading and reading.node:
            self._take(reading.node, self._name, reading.lenient, None)
            return
        for line in lines:
            text = line.value.strip(_SPACE)
            self._read_data(text, line.start + len(line.value) - len(line.value.lstrip(_SPACE)))

    def _read_data(self, text: bytes, start: int) -> None:
        if text == b"[DONE]":
            self._flush_stray()
            self._events.end_response()
        elif text:
            self._read_objects(text, start, self._name)

    def _read_objects(self, text: bytes, start: int, name: str | None) -> None:
        """Read the values on one line, which normally contains only one."""
        regular = read_regular(text, start) if self._decodes or len(text) >= DECODED else None
        if regular is not None:
            value = whole_tree(regular) if self._events.changes(regular) else regular
            self._take(value, name, [], Source(text, start))
            return
        at = 0
        while at < len(text):
            reading = read_json(text, start, at)
            node = reading.node
            if node is None or reading.fault:
                self._stray_rest(text, start, at)
                return
            self._take(node, name, reading.lenient, Source(text, start))
            at = reading.end - start
            while at < len(text) and text[at : at + 1] in (b" ", b"\t", b"\r", b","):
                at += 1

    def _stray_rest(self, text: bytes, start: int, at: int) -> None:
        if text.startswith(b"{", at):
            self._reject(start + at, start + len(text))
        else:
            self.add_stray(start + at, start + len(text))

    def _take(self, node: JsonNode, name: str | None, lenient: list[Span], source: Source | None) -> None:
        if node.kind is JsonKind.ARRAY and any(self._events.knows(item, name) for item in node.items):
            for index, item in enumerate(node.items):
                self._take(item, name, lenient if not index else [], source)
            return
        if self._events.knows(node, name):
            self._flush_stray()
            if self._events.apply(node, name, lenient, source):
                return
        self.add_stray(node.start, node.end)

    def _reject(self, start: int, end: int) -> None:
        self._record.start_if_none(start)
        self._record.report(E_PARSE_HEADER, "not-a-message", start, end)
        self.add_stray(start, end)

    def add_stray(self, start: int, end: int) -> None:
        """Add text that is not a record to the current run of stray text."""
        self._stray = (self._stray[0] if self._stray else start, end)

    def _flush_stray(self) -> None:
        if self._stray:
            self._record.stray(*self._stray)
            self._stray = None


def _is_begun(text: bytes) -> bool:
    """True if an object begins in these bytes but does not end."""
    if text.endswith(b"}"):
        return False  # decides almost every line without parsing it
    reading = read_json(text)
    return reading.fault is not None and reading.fault.is_truncation
