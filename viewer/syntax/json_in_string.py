"""Read JSON inside a JSON string, with the positions of its values in the outer source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

from viewer.syntax.json_lines import read_whole
from viewer.syntax.json_string import string_body
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading, read_json
from viewer.syntax.json_tree import JsonMember
from viewer.syntax.string_map import StringMap

_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\r|\n|\Z)")
_FIELDS = frozenset({b"", b"data", b"event", b"id", b"retry"})
_NO_DATA = frozenset({b"", b"[DONE]"})


class InnerNode(JsonNode):
    """A value inside a JSON string. Its offsets refer to the outer source, where quotes are escaped."""

    body_start: int = 0
    """Where the body of a string begins; 0 for other kinds."""


def inner_text(raw: bytes) -> bytes:
    """Return the decoded text of a JSON string as UTF-8. `raw` includes the quotes."""
    return string_body(raw).encode("utf-8", "replace")


def read_inner(node: JsonNode, raw: bytes, data: bytes) -> JsonReading:
    """Read the JSON value in a string. `raw` is the string with its quotes, and `data` is its text, or only the
    beginning of that text.

    The offsets of nodes refer to the outer source, those of faults and of the end to `data`. The caller checks the
    faults."""
    quick = read_whole(data, InnerNode)
    if quick is not None:
        end = quick.end
        _Places(StringMap(raw), node.start).move(quick)
        return JsonReading(quick, end, None, [])
    reading = read_json(data)
    if reading.node is not None:
        reading.node = _Places(StringMap(raw), node.start).moved(reading.node)
    return reading


def read_inner_events(node: JsonNode, raw: bytes) -> JsonNode | None:
    """Return an array of the JSON values in a string of server-sent events. Return None if a line is not an event
    field, or if an event has data other than a single line of JSON. Empty data and `[DONE]` are skipped. `raw` is the
    string with its quotes."""
    data = inner_text(raw)
    map = StringMap(raw)
    found = InnerNode(JsonKind.ARRAY, node.start, node.end, "")
    found.items = []
    has_data = False
    for line in _LINE.finditer(data):
        text = line[0].rstrip(b"\r\n")
        if not text:
            has_data = False
            continue
        name, colon, value = text.partition(b":")
        if name not in _FIELDS or not (colon or name):
            return None
        if name != b"data" or value.strip() in _NO_DATA:
            continue
        if has_data:
            return None
        has_data = True
        quick = read_whole(value, JsonNode)
        reading = read_json(value) if quick is None else JsonReading(quick, quick.end, None, [])
        if reading.node is None or reading.faults or value[reading.end :].strip():
            return None
        found.items.append(_Places(map, node.start, line.start() + len(name) + 1).moved(reading.node))
    return found


def read_inner_lines(node: JsonNode, raw: bytes) -> JsonNode | None:
    """Return an array of the objects in a string that contains several, each on its own line, or None for any other
    string. `raw` is the string with its quotes."""
    data = inner_text(raw)
    map = StringMap(raw)
    found = InnerNode(JsonKind.ARRAY, node.start, node.end, "")
    found.items = []
    for line in _LINE.finditer(data):
        if not line[0].strip():
            continue
        quick = read_whole(line[0], JsonNode)
        reading = read_json(line[0]) if quick is None else JsonReading(quick, quick.end, None, [])
        value = reading.node
        if value is None or value.kind is not JsonKind.OBJECT or reading.faults or line[0][reading.end :].strip():
            return None
        found.items.append(_Places(map, node.start, line.start()).moved(value))
    return found if len(found.items) > 1 else None


class _Places:
    """Maps offsets in a part of the decoded text to offsets in the outer source."""

    def __init__(self, map: StringMap, base: int, first: int = 0) -> None:
        self._map = map
        self._base = base
        self._first = first
        """Where the part begins in the decoded text."""

    def start(self, at: int) -> int:
        """Return the source offset of a decoded byte."""
        return self._base + self._map.source_of(self._first + at, False)

    def end(self, at: int) -> int:
        """Return the source offset where the previous decoded byte ends."""
        return self._base + self._map.source_of(self._first + at - 1, True) if at else self.start(0)

    def move(self, root: InnerNode) -> None:
        """Convert all offsets in a regular value to the outer source, in place. Its strings no longer count as
        plain."""
        short = self._map.short_escapes
        start_of, end_of = (self.start, self.end) if short is None else self._in_short(short)
        waiting: list[JsonNode] = [root]
        while waiting:
            node = waiting.pop()
            at = node.start
            node.start = start = start_of(at)
            node.end = end_of(node.end)
            if node.kind is JsonKind.STRING:
                assert type(node) is InnerNode
                last, node.plain = node.body_end, False
                node.body_start = node.body_end = start
                if last > at + 1:
                    node.body_start = start_of(at + 1)
                    node.body_end = end_of(last)
                continue
            waiting += node.items
            for member in node.members:
                member.key_start, member.key_end = start_of(member.key_start), end_of(member.key_end)
                waiting.append(member.value)

    def _in_short(self, short: list[int]) -> tuple[Callable[[int], int], Callable[[int], int]]:
        """Return `start` and `end` for a string in which each escape represents one byte."""
        first = self._first
        base = self._base + self._map.first + first
        escapes = frozenset(short)

        def start(at: int) -> int:
            return base + at + bisect_left(short, first + at)

        def end(at: int) -> int:
            last = first + at - 1
            return base + at + bisect_left(short, last) + (last in escapes)

        return start, end

    def moved(self, root: JsonNode) -> JsonNode:
        """Return a copy of the value with all its offsets converted to the outer source. This works without
        recursion."""
        top = self._node(root)
        waiting: list[tuple[JsonNode, JsonNode]] = [(root, top)]
        while waiting:
            old, new = waiting.pop()
            if old.items:
                new.items = [self._node(item) for item in old.items]
                waiting += zip(old.items, new.items, strict=True)
            if old.members:
                new.members = [
                    JsonMember(each.key, self.start(each.key_start), self.end(each.key_end), self._node(each.value))
                    for each in old.members
                ]
                waiting += [(one.value, two.value) for one, two in zip(old.members, new.members, strict=True)]
        return top

    def _node(self, node: JsonNode) -> InnerNode:
        source, base, first = self._map.source_of, self._base, self._first
        start = base + source(first + node.start, False)
        inner = InnerNode(node.kind, start, self.end(node.end), node.text, closed=node.closed)
        if node.kind is JsonKind.STRING:
            inner.body_start = inner.body_end = start
            if node.body_end > node.start + 1:
                inner.body_start = base + source(first + node.start + 1, False)
                inner.body_end = base + source(first + node.body_end - 1, True)
        return inner
