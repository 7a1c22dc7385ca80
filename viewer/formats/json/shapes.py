"""Fast path for messages of a known shape: the bytes of an earlier message, with other strings in some places.

The slow path reads the first message of a shape. Its result is a template for all messages whose bytes differ
only in text, arguments and ids, because these do not decide how a message is read. Anything that might decide, such as
an empty string, a template mark, or an id with an escape, goes to the slow path."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from types import NoneType

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.json.content_parts import may_be_split, split_content
from viewer.formats.json.fields import piece_of
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Coding, Ending, Header, Piece
from viewer.model.visibility import is_header_safe
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode, string_body
from viewer.syntax.utf8 import is_utf8

MOST_SHAPES = 24
"""The maximum number of shapes of one input. Beyond that, the oldest one is dropped."""
MOST_TRIALS = 96
"""The maximum number of messages that are tried as shapes. An input that needs more gets no shapes."""
LONGEST_SHAPE = 4096
LONGEST_KNOWN = 1024 * 1024
"""The maximum length in bytes. A longer message takes the slow path."""
MOST_HOLES = 24
MOST_HEADERS = 256
"""The maximum number of headers of one shape. There are several because a reply gets its name from its call."""
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Members with a thought. A shape has text in only one, because a text that several have becomes one message."""
_KEYS = frozenset(
    {
        *("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "function_call", "audio", "annotations"),
        *_THOUGHT_KEYS,
    }
)
"""The only members that a message with a shape may have."""
_TEXT_TYPES = ("text", "input_text", "output_text")
_EMPTY_KEYS = ("refusal", "function_call", "audio", "annotations")
"""Members that must be empty, because the patterns of shapes cover no text in them."""
_CALL_KEYS = frozenset({"id", "type", "function", "index"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})
_REPLY_ROLES = ("tool", "function")
"""Roles of replies, which get their name from the call if they do not name the tool themselves."""
_STRING = (
    rb'"(?!")[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}'
    rb'|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))[^"\\\x00-\x1f]*+)*+"'
)
"""A valid nonempty string in which every surrogate belongs to a pair."""
_ID = rb'"[^"\\\x00-\x1f\x7f-\xff]++"'
"""An ASCII id without escapes."""
_TURN = lazy_regex(rb"(?:[ ]|\\[nrtbf])*+(?:analysis|commentary|assistant)")
"""A pattern that matches, among others, every start of a text that may be a turn without its control tokens."""
TURN_LEADS = b" \\ac"
"""The first bytes of such a text."""


_NUMBERS = count()


class _Hole(Struct, frozen=True):
    """A place in a shape where the string may differ."""

    node: LazyNode
    is_id: bool


class Said(Struct, frozen=True):
    """One message of a shape."""

    header: Header
    """The header, without a call id."""
    ending: Ending
    body: int
    """The number of the hole with the body."""
    id: int
    """The number of the hole with the call id; 0 if there is none."""
    is_named_by_call: bool
    is_call: bool
    is_split: bool
    """True if the body is split at its marks."""
    number: int
    """A number that identifies the message shape among all message shapes."""
    reports: tuple[tuple[Rule, str | None], ...]
    """The problems that are located at the content."""


class Shape:
    """A pattern for the bytes of an object, and the messages that matching bytes become."""

    def __init__(self, pattern: bytes, messages: list[Said], reports_at: int) -> None:
        self.match = re.compile(pattern, re.DOTALL).match
        self.messages = messages
        self.split = [said for said in messages if said.is_split]
        self.reports_at = reports_at
        """The number of the hole with the content."""
        self.next = self
        """The shape that followed this one the last time."""
        self.headers: dict[str, Header] = {}
        """The headers of replies, by the tool of the call."""


class KnownMessage(Struct, frozen=True):
    """A message created from a template."""

    header: Header
    ending: Ending
    piece: Piece
    tool: str | None
    """The tool that the call names."""
    problems: tuple[tuple[Rule, str | None, int, int], ...] = ()


class KnownShapes:
    """The shapes of one input."""

    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        """The shapes, newest first."""
        self._last: Shape | None = None
        """The shape of the last message."""
        self._trials = 0

    def match_next(self, data: bytes | bytearray, at: int) -> tuple[Shape, re.Match[bytes]] | None:
        """Return the shape of the message at an index, and its match. Whether the values may be deciding is not checked
        yet."""
        last = self._last
        if last is None:
            return None
        shape, found = last.next, last.next.match(data, at)
        if found is None:
            for shape in self._shapes:
                found = shape.match(data, at)
                if found is not None:
                    break
            else:
                return None
        if found.end() - at > LONGEST_KNOWN:
            return None
        last.next = self._last = shape
        return shape, found

    def read(
        self, data: bytes | bytearray, at: int, base: int, tools: Mapping[str, str]
    ) -> tuple[int, list[KnownMessage]] | None:
        """Return the end of the object at an index, and its messages, or None if it needs the slow path. `tools` holds
        the tools of the calls so far, by id."""
        known = self.match_next(data, at)
        if known is None:
            return None
        shape, found = known
        messages = _messages(shape, found, base, tools)
        return (found.end(), messages) if messages else None

    def learn(self, node: JsonNode, messages: list[tuple[Header, Ending, list[Piece]]], reports: list[Report]) -> None:
        """Make a shape from a regular message and the result of the slow path. `reports` are its problems, each with
        the index of its message in the list."""
        if type(node) is not LazyNode or self._trials >= MOST_TRIALS or not messages:
            return
        self._trials += 1
        holes = _holes(node)
        shape = _made(node, holes, messages, reports) if holes else None
        if shape is not None:
            if self._last is not None:
                self._last.next = shape
            self._last = shape
            self._shapes.insert(0, shape)
            del self._shapes[MOST_SHAPES:]


class Report(Struct, frozen=True):
    """A problem that the slow path found in one of the messages of an object."""

    message: int
    problem: Problem


def _messages(shape: Shape, found: re.Match[bytes], base: int, tools: Mapping[str, str]) -> list[KnownMessage] | None:
    if not found[0].isascii() and not is_utf8(found[0]):
        return None
    messages: list[KnownMessage] = []
    for said in shape.messages:
        start, end = found.span(said.body)
        raw = found[said.body]
        plain = b"\\" not in raw
        piece = (
            Piece(base + start + 1, base + end - 1, Coding.PLAIN)
            if plain
            else Piece(base + start, base + end, Coding.JSON_STRING)
        )
        if said.is_split and is_divided(raw, piece, said.header.role):
            return None
        header = said.header
        if said.id:
            call_id = found[said.id][1:-1].decode()
            tool = None
            if said.is_named_by_call:
                tool = tools.get(call_id)
                if tool is None:
                    return None
                header = _named(shape, header, tool)
            header = header.with_call_id(call_id)
        problems = _problems(said, *found.span(shape.reports_at), base) if said.reports else ()
        messages.append(KnownMessage(header, said.ending, piece, header.recipient if said.is_call else None, problems))
    return messages


def _problems(said: Said, start: int, end: int, base: int) -> tuple[tuple[Rule, str | None, int, int], ...]:
    return tuple((rule, reason, base + start, base + end) for rule, reason in said.reports)


def _named(shape: Shape, header: Header, tool: str) -> Header:
    known = shape.headers.get(tool)
    if known is None:
        if len(shape.headers) >= MOST_HEADERS:
            shape.headers.clear()
        known = shape.headers[tool] = replace(header, name=tool)
    return known


def begins_turn(data: bytes | bytearray, start: int) -> bool:
    """True if the JSON string at an index may be a turn without its control tokens."""
    return _TURN.match(data, start + 1) is not None


def is_divided(raw: bytes, piece: Piece, role: str) -> bool:
    """True if a text is split at template marks."""
    if b"\\u" in raw or b"\\/" in raw:
        may_be = may_be_split(string_body(raw).encode("utf-8", "replace"))
    else:  # the other escapes are for characters that marks never contain
        may_be = MAY_BE_MARK.search(raw) is not None or _TURN.match(raw, 1) is not None
    if not may_be:
        return False
    own = raw[1:-1] if piece.coding is Coding.PLAIN else raw
    return bool(split_content([piece], lambda start, end: own[start - piece.start : end - piece.start], role))


def _holes(node: LazyNode) -> list[_Hole]:
    """Return the places in a message where strings may differ, or none if other members may affect how it is read."""
    value = node.value
    if not _KEYS.issuperset(value) or type(value.get("role")) is not str or any(map(value.get, _EMPTY_KEYS)):
        return []
    thoughts = [key for key in _THOUGHT_KEYS if value.get(key)]
    is_known = type(value.get("content")) in (str, NoneType) or _is_one_text(value["content"])
    if not is_known or len(thoughts) > 1 or any(type(value.get(key)) not in (str, NoneType) for key in _THOUGHT_KEYS):
        return []
    found: list[_Hole] = []
    text = _text_of(node) if type(value.get("content")) is list else None
    if text is not None:
        found.append(_Hole(text, is_id=False))
    for key, is_id in (("content", False), ("tool_call_id", True), *((key, False) for key in thoughts)):
        if type(value.get(key)) is str and value[key]:
            found += _hole(node, key, is_id=is_id)
    calls = node.get("tool_calls")
    if calls is not None and calls.kind is not JsonKind.NULL:
        if calls.kind is not JsonKind.ARRAY:
            return []
        for call in calls.items:
            assert isinstance(call, LazyNode)
            if not _is_plain_call(call.value):
                return []
            function = call.get("function")
            assert isinstance(function, LazyNode)
            found += [*_hole(call, "id", is_id=True), *_hole(function, "arguments", is_id=False)]
    return sorted(found, key=lambda hole: hole.node.start)


def _is_one_text(content: object) -> bool:
    """True for a list with a single part, which holds only a text."""
    if type(content) is not list or len(content) != 1 or type(content[0]) is not dict or len(content[0]) != 2:
        return False
    return content[0].get("type") in _TEXT_TYPES and _is_text(content[0].get("text"))


def _text_of(node: LazyNode) -> LazyNode | None:
    """Return the value with the text of a message: the content, or the text of its only part."""
    content = node.get("content")
    if content is not None and content.kind is JsonKind.ARRAY:
        content = content.items[0].get("text")
    return content if isinstance(content, LazyNode) else None


def _hole(holder: LazyNode, key: str, *, is_id: bool) -> list[_Hole]:
    node = holder.get(key)
    return [_Hole(node, is_id)] if isinstance(node, LazyNode) else []


def _is_plain_call(call: object) -> bool:
    if type(call) is not dict or not _CALL_KEYS.issuperset(call) or not _is_text(call.get("id")):
        return False
    function = call.get("function")
    if type(function) is not dict or not _FUNCTION_KEYS.issuperset(function):
        return False
    return _is_text(function.get("arguments")) and _is_text(function.get("name"))


def _is_text(value: object) -> bool:
    return type(value) is str and bool(value)


def _made(
    node: LazyNode, holes: list[_Hole], messages: list[tuple[Header, Ending, list[Piece]]], reports: list[Report]
) -> Shape | None:
    pattern = _pattern(node, holes)
    bodies = {piece_of(hole.node): number for number, hole in enumerate(holes, 1) if not hole.is_id}
    ids: dict[str, int] = {}
    for number, hole in enumerate(holes, 1):
        if hole.is_id:
            if hole.node.text in ids:
                return None
            ids[hole.node.text] = number
    content = _text_of(node)
    place = bodies.get(piece_of(content), 0) if content is not None else 0
    if content is not None and place:
        raw = node.line.data[content.start - node.line.base : content.end - node.line.base]
        if is_divided(raw, piece_of(content), messages[0][0].role):
            return None
    said: list[Said] = []
    for at, (header, ending, pieces) in enumerate(messages):
        body = bodies.get(pieces[0], 0) if len(pieces) == 1 else 0
        number = ids.get(header.call_id, 0) if header.call_id is not None else 0
        if not body or (header.call_id is not None and not number):
            return None
        own = [report.problem for report in reports if report.message == at]
        if any(content is None or not place or (each.start, each.end) != (content.start, content.end) for each in own):
            return None
        is_named = node.value["role"] in _REPLY_ROLES and node.value.get("name") is None and header.name is not None
        is_call = ending is Ending.CALL and body != place
        if is_named and (not number or len(messages) > 1):
            return None
        bare = replace(header, call_id=None, name=None) if is_named else header.with_call_id(None)
        given = tuple((each.rule, each.reason) for each in own)
        is_split = body == place and is_header_safe(header)
        said.append(Said(bare, ending, body, number, is_named, is_call, is_split, next(_NUMBERS), given))
    is_whole = pattern is not None and len({each.body for each in said}) == len(bodies)
    return Shape(pattern, said, place) if pattern is not None and is_whole else None


def _pattern(node: LazyNode, holes: list[_Hole]) -> bytes | None:
    """Return a pattern for the bytes of a message with a subpattern for each hole."""
    data, base = node.line.data, node.line.base
    if len(holes) > MOST_HOLES:
        return None
    parts: list[bytes] = []
    at, size = node.start, 0
    for hole in holes:
        parts += [re.escape(data[at - base : hole.node.start - base]), b"(", _ID if hole.is_id else _STRING, b")"]
        size += hole.node.start - at
        at = hole.node.end
    parts.append(re.escape(data[at - base : node.end - base]))
    return b"".join(parts) if size + node.end - at <= LONGEST_SHAPE else None
