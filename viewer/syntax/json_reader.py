"""Tolerant JSON parser: reads one value without recursion and records the positions of all values and faults."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from viewer.cache import lazy_regex
from viewer.model.messages import Span
from viewer.syntax.json_string import decode_body, strict_body
from viewer.syntax.json_tree import NO_ITEMS, NO_MEMBERS, JsonFault, JsonKind, JsonMember, JsonNode, JsonReading

MAX_DEPTH = 200

SPACE = re.compile(rb"[ \t\n\r]*")
_PLAIN = re.compile(rb'"[^"\\\x00-\x1f]*"')
_UNCLOSED = lazy_regex(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = lazy_regex(rb"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?[0-9]*)?")
_WORD = re.compile(rb"[^\x00-\x20,:\[\]{}\"]+")
_WORDS = {b"true": JsonKind.TRUE, b"false": JsonKind.FALSE, b"null": JsonKind.NULL}
_MEMBER = lazy_regex(
    rb'"([^"\\\x00-\x1f]*+)"[ \t\n\r]*+:[ \t\n\r]*+'
    rb'(?:(?:"([^"\\\x00-\x1f]*+)"|(' + _NUMBER.pattern + rb")|(true|false|null))[ \t\n\r]*+"
    rb'(?:(,)[ \t\n\r]*+(?=")|(?=})))?'
)
"""A member with a plain key. The match includes the value and the comma after it if the value is plain as well and is
followed by another key or by the end of the object. Otherwise, it ends before the value."""
_CONTROL = re.compile(rb"[\x00-\x1f]+")
_ESCAPE = lazy_regex(
    rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\u[0-9a-fA-F]{0,3}|\\(?:[^\x80-\xff]|[\x80-\xff]+)?)', re.DOTALL
)
_ESCAPE_BEGUN = lazy_regex(rb"\\(?:u[0-9a-fA-F]{0,3})?")
_CURLY = (b"\xe2\x80\x9c", b"\xe2\x80\x9d")
_CURLY_OPENED_END = lazy_regex(rb'"|\xe2\x80[\x9c\x9d](?=[ \t\n\r]*(?:[,:\]}]|\Z))')
_CURLY_MARKS = lazy_regex(rb"\xe2\x80([\x9c\x9d])")
_STRUCTURE = re.compile(rb"[ \t\n\r]*(?:[,:\]}]|\Z)")
_QUOTE, _COMMA, _COLON = b'",:'
_OBJECT, _OBJECT_END, _ARRAY, _ARRAY_END = b"{}[]"
_OPENERS = frozenset(b"{[")
_LAST_SPACE = 0x20
_NUMBER_STARTS = frozenset(b"-0123456789")

Step: TypeAlias = Callable[[int], "Step | None"]
"""A function that takes the byte at the current position and returns the next step, or None to stop."""


class Scanner:
    """Scans one value. Strict mode stops at the first fault; tolerant mode continues as long as the meaning is
    clear."""

    def __init__(self, data: bytes, base: int, start: int, *, strict: bool) -> None:
        self._data = data
        self._base = base
        self._at = start
        self._strict = strict
        self._root: JsonNode | None = None
        self._containers: list[JsonNode] = []
        self._keys: list[JsonNode] = []
        """The keys whose values have not been read yet, at most one for each open object."""
        self._comma = start
        self._faults: list[JsonFault] = []
        self._lenient: list[Span] = []

    def resume(self, open_kinds: list[JsonKind], state: str) -> JsonReading:
        """Resume inside these containers, which an earlier pass entered. `state` is what that pass expected next:
        `value`, `next_key`, `item`, or `after`."""
        self._containers = [JsonNode(kind, 0, 0, items=[], members=[], closed=False) for kind in open_kinds]
        self._root = self._containers[0]
        if state == "value" and open_kinds[-1] is JsonKind.OBJECT:
            self._keys = [self._node(JsonKind.STRING, self._at, self._at)]
        steps = {"value": self._value, "next_key": self._next_key, "item": self._item, "after": self._after}
        return self._read(steps[state])

    def read(self) -> JsonReading:
        """Read the value, or as much of it as possible."""
        return self._read(self._value)

    def _read(self, first_step: Step) -> JsonReading:
        step: Step | None = first_step
        data = self._data
        size = len(data)
        while step is not None:
            if self._at < size and (byte := data[self._at]) > _LAST_SPACE:
                step = step(byte)
                continue
            self._at = SPACE.match(data, self._at).end()  # type: ignore[union-attr]
            if self._at < size:
                step = step(data[self._at])
                continue
            self._fault("json-truncated" if self._root else "empty", len(data), len(data))
            step = None
        for container in self._containers:
            container.end = self._base + self._at
        first = self._faults[0] if self._faults else None
        return JsonReading(self._root, self._base + self._at, first, self._lenient, self._faults)

    def _value(self, byte: int) -> Step | None:
        if byte == _QUOTE:
            node = self._string()
            return self._placed(node) if node else None
        if byte in _OPENERS:
            return self._open(byte)
        if byte in _NUMBER_STARTS:
            return self._number()
        return self._word()

    def _open(self, byte: int) -> Step | None:
        if len(self._containers) >= MAX_DEPTH:
            self._fault("json-too-deep", self._at, self._at + 1)
            return None
        kind = JsonKind.OBJECT if byte == _OBJECT else JsonKind.ARRAY
        start = self._base + self._at
        items: list[JsonNode] = NO_ITEMS if kind is JsonKind.OBJECT else []
        members: list[JsonMember] = [] if kind is JsonKind.OBJECT else NO_MEMBERS
        node = JsonNode(kind, start, start + 1, "", False, items, members, False)
        self._place(node)
        self._containers.append(node)
        self._at += 1
        return self._first_key if kind is JsonKind.OBJECT else self._first_item

    def _close(self) -> Step | None:
        node = self._containers.pop()
        self._at += 1
        node.end = self._base + self._at
        node.closed = True
        if node.members and len({member.key for member in node.members}) < len(node.members):
            node.repeats = True
        if not self._containers:
            return None
        if node.repeats:
            self._containers[-1].repeats = True
        return self._after

    def _first_item(self, byte: int) -> Step | None:
        return self._close() if byte == _ARRAY_END else self._value(byte)

    def _item(self, byte: int) -> Step | None:
        return self._close_after_comma() if byte == _ARRAY_END else self._value(byte)

    def _first_key(self, byte: int) -> Step | None:
        return self._close() if byte == _OBJECT_END else self._key(byte)

    def _next_key(self, byte: int) -> Step | None:
        return self._close_after_comma() if byte == _OBJECT_END else self._key(byte)

    def _close_after_comma(self) -> Step | None:
        if self._strict:
            return self._malformed(self._at, self._at + 1)
        self._lenient.append((self._base + self._comma, self._base + self._comma + 1))
        return self._close()

    def _key(self, byte: int) -> Step | None:
        found = _MEMBER.match(self._data, self._at)
        if found:
            return self._plain_members(found)
        if byte == _QUOTE:
            node = self._string()
        elif self._data.startswith(_CURLY, self._at):
            node = self._curly_string()
        else:
            return self._malformed(*self._token())
        if node is None or not node.closed:
            return None
        self._keys.append(node)
        return self._colon

    def _plain_members(self, found: re.Match[bytes] | None) -> Step | None:
        """Read this member and those after it, as long as their keys and values are plain."""
        base, members = self._base, self._containers[-1].members
        while found:
            key, text, number, word, comma = found.groups()
            start = base + found.start()
            key_end = start + len(key) + 2
            if text is not None:
                end = base + found.end(2) + 1
                words = text.decode("utf-8", "replace")
                begin = end - len(text) - 2
                value = JsonNode(JsonKind.STRING, begin, end, words, True, NO_ITEMS, NO_MEMBERS, True, end - 1)
            elif number is not None:
                end = base + found.end(3)
                begin = end - len(number)
                value = JsonNode(JsonKind.NUMBER, begin, end, number.decode("ascii"), False, NO_ITEMS, NO_MEMBERS)
            elif word is not None:
                end = base + found.end(4)
                value = JsonNode(_WORDS[word], end - len(word), end, "", False, NO_ITEMS, NO_MEMBERS)
            else:
                self._at = found.end()
                self._keys.append(JsonNode(JsonKind.STRING, start, key_end, key.decode("utf-8", "replace")))
                return self._value
            members.append(JsonMember(key.decode("utf-8", "replace"), start, key_end, value))
            self._at = found.end()
            if comma is None:
                return self._after
            self._comma = found.start(5)
            found = _MEMBER.match(self._data, self._at)
        return self._next_key

    def _colon(self, byte: int) -> Step | None:
        if byte != _COLON:
            self._keys.pop()
            return self._malformed(*self._token())
        self._at += 1
        return self._value

    def _after(self, byte: int) -> Step | None:
        container = self._containers[-1]
        is_object = container.kind is JsonKind.OBJECT
        if byte == _COMMA:
            self._comma = self._at
            self._at += 1
            return self._next_key if is_object else self._item
        if byte == (_OBJECT_END if is_object else _ARRAY_END):
            return self._close()
        return self._malformed(*self._token())

    def _number(self) -> Step | None:
        found = _NUMBER.match(self._data, self._at)
        start, end = self._token()
        if found and found.end() == end:
            node = self._node(JsonKind.NUMBER, start, end)
            node.text = self._data[start:end].decode("ascii")
            self._at = end
            return self._placed(node)
        if end == len(self._data) and _NUMBER_BEGUN.fullmatch(self._data, start):
            self._at = end
            self._fault("json-truncated", end, end)
            return None
        return self._odd_word(start, end)

    def _word(self) -> Step | None:
        if self._data.startswith(_CURLY, self._at):
            node = self._curly_string()
            return self._placed(node) if node else None
        start, end = self._token()
        word = self._data[start:end] if end - start <= 5 else b""
        if word in _WORDS:
            self._at = end
            return self._placed(self._node(_WORDS[word], start, end))
        if word and end == len(self._data) and any(known.startswith(word) for known in _WORDS):
            self._at = end
            self._fault("json-truncated", end, end)
            return None
        return self._odd_word(start, end)

    def _odd_word(self, start: int, end: int) -> Step | None:
        """Report a bare word in place of a value (`NaN`, `light`). Inside a container, tolerant reading treats it as
        null and continues."""
        stop = self._malformed(start, end)
        if self._strict or not self._containers or not _WORD.match(self._data, start):
            return stop
        self._at = end
        return self._placed(self._node(JsonKind.NULL, start, end))

    def _string(self) -> JsonNode | None:
        """Return the string that begins here, or None if reading must stop."""
        start = self._at
        plain = _PLAIN.match(self._data, start)
        end = plain.end() if plain else _UNCLOSED.match(self._data, start + 1).end() + 1  # type: ignore[union-attr]
        closed = end <= len(self._data) and self._data[end - 1] == _QUOTE if not plain else True
        if not self._strict and not (closed and _STRUCTURE.match(self._data, end)):
            curly = self._curly_end(start + 1, end)
            if curly is not None:
                return self._bent_string(start, curly, curly + 3, closed=True)
        if plain:
            self._at = end
            node = self._node(JsonKind.STRING, start, end)
            node.text = self._data[start + 1 : end - 1].decode("utf-8", "replace")
            node.plain = True
            node.body_end = node.end - 1
            return node
        if not closed:
            return self._bent_string(start, len(self._data), len(self._data), closed=False)
        checked = self._checked_string(start, start + 1, end - 1, end)
        if checked:
            checked.plain = b"\\" not in self._data[start:end]
        return checked

    def _curly_end(self, start: int, end: int) -> int | None:
        """Return the start of the first closing curly quote that has no matching opening quote and is where a JSON
        string could end, or None if there is none."""
        depth = 0
        for mark in _CURLY_MARKS.finditer(self._data, start, min(end, len(self._data))):
            depth += 1 if mark.group(1) == b"\x9c" else -1
            if depth < 0:
                if _STRUCTURE.match(self._data, mark.end()):
                    return mark.start()
                depth = 0
        return None

    def _curly_string(self) -> JsonNode | None:
        """Report an opening curly quote, and return the string that it begins. Return None in strict mode."""
        start = self._at
        self._malformed(start, start + 3)
        if self._strict:
            return None
        close = _CURLY_OPENED_END.search(self._data, start + 3)
        if close is None:
            return self._bent_string(start, len(self._data), len(self._data), closed=False)
        return self._bent_string(start, close.start(), close.end(), closed=True)

    def _bent_string(self, start: int, body_end: int, end: int, *, closed: bool) -> JsonNode | None:
        """Return a string with a curly or missing quote, and report that quote. Return None if reading must stop."""
        quote = 1 if self._data[start] == _QUOTE else 3
        node = self._checked_string(start, start + quote, body_end, end)
        if node is None:
            return None
        node.closed = closed
        if not closed:
            self._fault("json-truncated", end, end)
        elif self._data[end - 1] != _QUOTE:
            self._malformed(body_end, end)
        return node

    def _checked_string(self, start: int, body_start: int, body_end: int, end: int) -> JsonNode | None:
        """Return a string that may have faults inside, and record these. Return None at the first one in strict
        mode."""
        raw = self._data[body_start:body_end]
        text = raw.decode("utf-8", "replace")
        flaws = [(body_start + found.start(), body_start + found.end()) for found in _CONTROL.finditer(raw)]
        decoded = strict_body(text) if "\\" in text else text
        wrong = self._wrong_escapes(raw, body_start, at_end=body_end == len(self._data)) if decoded is None else []
        if self._strict and (flaws or wrong):
            first = min(flaws[:1] + wrong[:1])
            self._malformed(first[0], first[0] + 1 if first in flaws else first[1])
            return None
        for span in wrong:
            self._malformed(*span)
        self._lenient += [(self._base + flaw[0], self._base + flaw[1]) for flaw in flaws]
        self._at = end
        node = self._node(JsonKind.STRING, start, end)
        node.text = decode_body(text) if decoded is None else decoded
        node.body_end = self._base + body_end
        return node

    def _wrong_escapes(self, raw: bytes, base: int, *, at_end: bool) -> list[Span]:
        """Return the escapes that JSON does not define, except those cut off by the end of the input."""
        return [
            (base + found.start(), base + found.end())
            for found in _ESCAPE.finditer(raw)
            if found.group(1) is not None
            and not (at_end and found.end() == len(raw) and _ESCAPE_BEGUN.fullmatch(found.group(1)))
        ]

    def _placed(self, node: JsonNode) -> Step | None:
        """Put a value into its container. Return the next step, or None if reading ends here."""
        self._place(node)
        return self._after if self._containers and node.closed else None

    def _place(self, node: JsonNode) -> None:
        if not self._containers:
            self._root = node
            return
        container = self._containers[-1]
        if container.kind is JsonKind.ARRAY:
            container.items.append(node)
            return
        key = self._keys.pop()
        container.members.append(JsonMember(key.text, key.start, key.end, node))

    def _node(self, kind: JsonKind, start: int, end: int) -> JsonNode:
        return JsonNode(kind, self._base + start, self._base + end, "", False, NO_ITEMS, NO_MEMBERS)

    def _token(self) -> Span:
        """Return the span of the word or byte at the current position."""
        found = _WORD.match(self._data, self._at)
        return self._at, found.end() if found else self._at + 1

    def _malformed(self, start: int, end: int) -> Step | None:
        """Report malformed bytes. Return None, the step that stops reading."""
        self._fault("json-malformed", start, end)
        return None

    def _fault(self, reason: str, start: int, end: int) -> None:
        self._faults.append(JsonFault(reason, self._base + start, self._base + end))
