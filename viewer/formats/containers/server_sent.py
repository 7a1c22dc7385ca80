"""Read the lines of server-sent events: the bytes of a line, and the joined value of `data:` lines."""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

from viewer.formats.containers.documents import BracketCount
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading, read_json

_SPACE = b" \t\r\n"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_BARE_FIELDS = (b"data", b"event", b"id", b"retry")


class DataLine(Struct, frozen=True, gc=False):
    """The value of one `data:` line, and its offset in the input."""

    value: bytes
    start: int


def is_field(line: bytes) -> bool:
    """True if a line is blank, a comment, or a field of a server-sent event. A lone CR can end such a line."""
    text = line.strip(_SPACE)
    return not text or text.startswith(_FIELDS) or text in _BARE_FIELDS


def data_line(line: bytes, offset: int) -> DataLine | None:
    """Return the value of a `data:` line, without the first space after the colon, or None for any other line."""
    text = line.lstrip(_SPACE)
    if not text.startswith(b"data:") and text.rstrip(_SPACE) != b"data":
        return None
    value = text[5:].removeprefix(b" ") if text.startswith(b"data:") else b""
    return DataLine(value, offset + len(line) - len(value))


def is_complete(line: DataLine) -> bool:
    """True if the value is not truncated JSON, so no further line can belong to it."""
    if not line.value.lstrip(_SPACE).startswith((b"{", b"[", b'"')):
        return True
    reading = read_json(line.value)
    return reading.fault is None or not reading.fault.is_truncation


def read_joined(lines: list[DataLine]) -> JsonReading | None:
    """Return the value of several `data:` lines joined by line feeds, with offsets in the input, or None if the lines
    are not exactly one JSON value."""
    text = b"\n".join(line.value for line in lines)
    reading = read_json(text)
    node = reading.node
    if node is None or reading.fault or text[reading.end :].strip(_SPACE):
        return None
    places = _Places(lines)
    places.move(node)
    reading.lenient = [(places.start(start), places.end(end)) for start, end in reading.lenient]
    reading.end = places.end(reading.end)
    return reading


class OpenValue:
    """A JSON object that spans several lines, none of which is a field. It is complete when its brackets are closed."""

    def __init__(self, line: bytes, start: int) -> None:
        self.data = bytearray(line)
        self.start = start
        self._indent = _indent_of(line)
        self._count = BracketCount()
        self._count.end(self.data, 0)

    def add(self, line: bytes, offset: int) -> bool:
        """Add a line. Return True if it is the last line of the value."""
        gap = offset - self.start - len(self.data)
        self.data += b"\n" * gap + line
        return self._count.end(self.data, 0) is not None

    def ends_before(self, line: bytes) -> bool:
        """True if the line begins something new: a field, or an object that is not inside this one."""
        text = line.lstrip(_SPACE)
        return text.startswith(_FIELDS) or (text.startswith(b"{") and _indent_of(line) <= self._indent)

    def lines(self) -> list[DataLine]:
        """Return the individual lines of the value."""
        lines, at = [], self.start
        for line in bytes(self.data).split(b"\n"):
            lines.append(DataLine(line, at))
            at += len(line) + 1
        return lines


def _indent_of(line: bytes) -> int:
    return len(line) - len(line.lstrip(_SPACE))


class _Places:
    """Maps offsets in the joined text to offsets in the input."""

    def __init__(self, lines: list[DataLine]) -> None:
        self._joined: list[int] = []
        self._sources = [line.start for line in lines]
        at = 0
        for line in lines:
            self._joined.append(at)
            at += len(line.value) + 1

    def start(self, at: int) -> int:
        """Return the input offset of a byte of the joined text."""
        index = self._line(at)
        return self._sources[index] + at - self._joined[index]

    def end(self, at: int) -> int:
        """Return the input offset where the previous byte of the joined text ends."""
        return self.start(at - 1) + 1 if at else self._sources[0]

    def _line(self, at: int) -> int:
        return bisect_right(self._joined, at) - 1

    def move(self, root: JsonNode) -> None:
        """Convert the offsets of a value and of everything in it to input offsets."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.kind is JsonKind.STRING and self._line(node.start) != self._line(node.end - 1):
                node.split, node.plain = True, False
            if node.kind is JsonKind.STRING:
                node.body_end = self.end(node.body_end)
            node.start, node.end = self.start(node.start), self.end(node.end)
            waiting += node.items
            for member in node.members:
                member.key_start, member.key_end = self.start(member.key_start), self.end(member.key_end)
                waiting.append(member.value)
