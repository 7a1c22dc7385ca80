"""Split an input into consecutive JSON documents, regardless of chunk boundaries."""

from __future__ import annotations

import re

from viewer.cache import lazy_regex
from viewer.reading.recorder import Recorder
from viewer.syntax.json_text import JsonReading, read_json

SPACE = b" \t\r\n"
_OPENER = lazy_regex(rb"[\[{]")
_TEXT = rb'[^"\[\]{}]++|"[^"\\]*+(?>\\.[^"\\]*+)*+"'
_OUTSIDE = lazy_regex(rb"(?>" + _TEXT + rb")*+", re.DOTALL)
"""A pattern for text without brackets, except for brackets in complete strings."""
_WITHIN = lazy_regex(rb"(?>" + _TEXT + rb"|[\[{](?>" + _TEXT + rb")*+[\]}])*+", re.DOTALL)
"""Like `_OUTSIDE`, but the text may contain pairs of brackets with no other brackets in them."""
_QUOTE, _BACKSLASH, _OPENING = 0x22, 0x5C, b"[{"
_INSIDE = lazy_regex(rb'[^"\\]*+(?>\\.[^"\\]*+)*+', re.DOTALL)


class BracketCount:
    """Finds the end of a document by its brackets and quotes, reading each byte only once."""

    def __init__(self, depth: int = 0) -> None:
        self._at = 0
        self._depth = depth
        self._in_string = False

    def end(self, data: bytes | bytearray, start: int) -> int | None:
        """Return the end of the document that begins at `start`, or None if more bytes are needed."""
        at, size = start + self._at, len(data)
        while at < size:
            pattern = _INSIDE if self._in_string else _WITHIN if self._depth else _OUTSIDE
            at = pattern.match(data, at).end()  # type: ignore[union-attr]
            if at == size or data[at] == _BACKSLASH:  # the escaped character has not arrived
                break
            byte = data[at]
            at += 1
            if byte == _QUOTE:
                self._in_string = not self._in_string
            else:
                self._depth += 1 if byte in _OPENING else -1
                if self._depth == 0:
                    self._at = at - start
                    return at
        self._at = at - start
        return None


class JsonDocuments:
    """Reads one document after another. A broken document, and everything after it, is read only when the input
    ends."""

    def __init__(self, record: Recorder) -> None:
        self.record = record
        self.data = bytearray()
        self.base = 0
        """The offset of the first byte in the buffer."""
        self.at = 0
        """The number of buffered bytes that have been read."""
        self._looked = 0
        self._count: BracketCount | None = None
        self._spoiled = False

    def feed(self, data: bytes) -> None:
        self.data += data
        self.advance()
        del self.data[: self.at]
        self.base += self.at
        self._looked = max(0, self._looked - self.at)
        self.at = 0

    def close(self) -> None:
        """Handle the end of the input: read the remaining documents, up to the first unfinished or broken one."""
        data = bytes(self.data)
        at = self.at
        while found := _OPENER.search(data, at):
            self.text_between(data[at : found.start()], self.base + at)
            reading = read_json(data, self.base, found.start())
            self.read_document(reading, data, self.base)
            if reading.node is None or not reading.node.closed:
                self.broken_rest(reading, data)
                return
            at = reading.end - self.base
        self.text_between(data[at:], self.base + at)

    def advance(self) -> None:
        """Read all complete documents."""
        while not self._spoiled:
            if self._count is None and (not self._begin() or self.begin_parts()):
                return
            end = self.find_end()
            if end is None:
                return
            if self.read_in_place(self.at, end):
                self.skip_to(end)
                continue
            data = bytes(memoryview(self.data)[self.at : end])
            reading = self.read_value(data, self.base + self.at)
            if reading.node is None or not reading.node.closed or reading.end != self.base + end:
                self._spoiled = True
                return
            self.read_document(reading, data, self.base + self.at)
            self.at = self._looked = end
            self._count = None

    def find_end(self) -> int | None:
        """Return the end of the document that has begun, or None if more bytes are needed."""
        return self._count.end(self.data, self.at) if self._count else None

    @property
    def waits(self) -> bool:
        """True if a document has begun but its end has not been found."""
        return self._count is not None and not self._spoiled

    def begin_parts(self) -> bool:
        """Begin to read the document in parts, before its end is known. Return False if it must be read as a whole."""
        return False

    def skip_to(self, end: int) -> None:
        """Continue after a document that was read elsewhere and ends at this index."""
        self.at = self._looked = end
        self._count = None

    def read_in_place(self, at: int, end: int) -> bool:
        """Read a complete document directly from the buffer. Return False if it must be copied and parsed as a
        whole."""
        return False

    def read_value(self, data: bytes, base: int) -> JsonReading:
        """Return the value of a complete document."""
        return read_json(data, base)

    def read_document(self, reading: JsonReading, data: bytes, base: int) -> None:
        """Read one document, possibly unfinished or broken. `base` is the offset of the first byte of `data`."""
        raise NotImplementedError

    def broken_rest(self, reading: JsonReading, data: bytes) -> None:
        """Handle the text of a broken or unfinished document after the position where parsing stopped."""
        raise NotImplementedError

    def text_between(self, text: bytes, start: int) -> None:
        """Record text outside the documents."""
        add_stray(self.record, text, start)

    def _begin(self) -> bool:
        """Find the start of the next document, and record the text before it. Return False if no document has begun
        yet."""
        found = _OPENER.search(self.data, max(self._looked, self.at))
        if found is None:
            self._looked = len(self.data)
            return False
        self.text_between(bytes(self.data[self.at : found.start()]), self.base + self.at)
        self.at = self._looked = found.start()
        self._count = BracketCount()
        return True


def add_stray(record: Recorder, text: bytes, start: int) -> None:
    """Record stray text, unless it is only whitespace."""
    content = text.strip(SPACE)
    if content:
        begin = start + len(text) - len(text.lstrip(SPACE))
        record.stray(begin, begin + len(content))
