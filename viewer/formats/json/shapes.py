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
from viewer.formats.hiding import DECIDING
from viewer.formats.json.content_parts import may_be_split, split_content
from viewer.formats.json.fields import TIME_KEYS, is_known_key, piece_of
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Coding, Ending, Header, Piece, Span
from viewer.model.time_order import TimePlace
from viewer.model.visibility import is_header_safe
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.syntax.json_lines import JsonNumber, LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode, string_body
from viewer.syntax.times import parse_time
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
"""Members with a thought. A shape has text in only one, because text that several have becomes one message."""
_KEYS = frozenset(
    {
        *("role", "content", "name", "tool_calls", "tool_call_id", "refusal", "function_call", "audio", "annotations"),
        *_THOUGHT_KEYS,
    }
)
"""The members that a message with a shape may have, besides those that decide nothing."""
_FIXED_KEYS = frozenset({"type", "phase"})
"""Further members whose values decide how a message is read. They are part of the pattern."""
_EXCLUDED_KEYS = frozenset({"usage", "response", "response_obj", "custom_id", "message"}) | DECIDING
"""Members whose effect goes beyond the header of a message, or depends on more than its shape."""
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
_WORDS = rb"[ !#-;=?-\[\]-{}~]++"
"""The value of a member that decides nothing: ASCII text without escapes and without the characters of marks."""
_NUMBER = rb"-?(?:0|[1-9][0-9]{0,14}+)(?:\.[0-9]{1,15}+)?+(?![0-9.eE])"
_TURN = lazy_regex(rb"(?:[ ]|\\[nrtbf])*+(?:analysis|commentary|assistant)")
"""A pattern that matches, among others, every start of text that may be a turn without its control tokens."""
TURN_LEADS = b" \\ac"
"""The first bytes of such text."""


_NUMBERS = count()


class _Hole(Struct, frozen=True):
    """A place in a shape where the string may differ."""

    node: LazyNode
    is_id: bool
    key: str = ""
    """The name of a member of the message whose value decides nothing; empty for any other place."""

    @property
    def pattern(self) -> bytes:
        """The pattern of the values that may be here. The subpattern of a value that decides nothing excludes the
        quotes."""
        if not self.key:
            return b"(" + (_ID if self.is_id else _STRING) + b")"
        return b'"(' + _WORDS + b')"' if self.node.kind is JsonKind.STRING else b"(" + _NUMBER + b")"


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
    values: tuple[int, ...]
    """The numbers of the holes with values of extra attributes."""
    places: tuple[int, ...]
    """The places of these attributes in the header, where their values are empty."""


class Shape:
    """A pattern for the bytes of an object, and the messages that matching bytes become."""

    def __init__(self, pattern: bytes, messages: list[Said], reports_at: int, time: int, time_quotes: int) -> None:
        self.match = re.compile(pattern, re.DOTALL).match
        self.messages = messages
        self.split = [said for said in messages if said.is_split]
        self.reports_at = reports_at
        """The number of the hole with the content."""
        self.time = time
        """The number of the hole with the time; 0 if there is none."""
        self.time_quotes = time_quotes
        """The number of bytes on either side that belong to the time."""
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
    time_ms: int | None = None
    time_at: TimePlace | None = None


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

    def learn(
        self,
        node: JsonNode,
        messages: list[tuple[Header, Ending, list[Piece]]],
        reports: list[Report],
        time_at: JsonNode | None,
    ) -> None:
        """Make a shape from a regular message and the result of the slow path. `reports` are its problems, each with
        the index of its message in the list. `time_at` is where its time is stated."""
        if type(node) is not LazyNode or self._trials >= MOST_TRIALS or not messages:
            return
        self._trials += 1
        holes = _holes(node)
        shape = _made(node, holes, messages, reports, time_at) if holes else None
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
    time_ms = stated_ms(shape, found)
    if shape.time and time_ms is None:
        return None
    time_at = TimePlace(*(base + at for at in time_span(shape, found))) if shape.time else None
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
        if said.values:
            header = header.with_values(said.places, values_of(said, found))
        problems = _problems(said, *found.span(shape.reports_at), base) if said.reports else ()
        tool = header.recipient if said.is_call else None
        messages.append(KnownMessage(header, said.ending, piece, tool, problems, time_ms, time_at))
    return messages


def values_of(said: Said, found: re.Match[bytes]) -> str:
    """Return the values of the extra attributes that the header of a message lacks, on separate lines."""
    return b"\n".join([found[number] for number in said.values]).decode()


def stated_ms(shape: Shape, found: re.Match[bytes]) -> int | None:
    """Return the time of an object, or None if it has none or cannot be parsed."""
    return parse_time(found[shape.time].decode()) if shape.time else None


def time_span(shape: Shape, found: re.Match[bytes]) -> Span:
    """Return where the time of an object is stated."""
    start, end = found.span(shape.time)
    return start - shape.time_quotes, end + shape.time_quotes


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


def may_be_divided(raw: bytes) -> bool:
    """True if the text of a string may be split at template marks."""
    if b"\\u" in raw or b"\\/" in raw:
        return may_be_split(string_body(raw).encode("utf-8", "replace"))
    # the other escapes are for characters that marks never contain
    return MAY_BE_MARK.search(raw) is not None or _TURN.match(raw, 1) is not None


def is_divided(raw: bytes, piece: Piece, role: str) -> bool:
    """True if the text is split at template marks."""
    if not may_be_divided(raw):
        return False
    own = raw[1:-1] if piece.coding is Coding.PLAIN else raw
    return bool(split_content([piece], lambda start, end: own[start - piece.start : end - piece.start], role))


def _holes(node: LazyNode) -> list[_Hole]:
    """Return the places in a message where strings may differ, or none if other members may affect how it is read."""
    value = node.value
    others = _other_holes(node)
    if others is None or type(value.get("role")) is not str or any(map(value.get, _EMPTY_KEYS)):
        return []
    thoughts = [key for key in _THOUGHT_KEYS if value.get(key)]
    is_known = type(value.get("content")) in (str, NoneType) or _is_one_text(value["content"])
    if not is_known or len(thoughts) > 1 or any(type(value.get(key)) not in (str, NoneType) for key in _THOUGHT_KEYS):
        return []
    found: list[_Hole] = others
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


def _other_holes(node: LazyNode) -> list[_Hole] | None:
    """Return the places of values that decide nothing, or None if the message has other unknown members."""
    found: list[_Hole] = []
    for key, value in node.value.items():
        if key in _EXCLUDED_KEYS:
            return None
        if key in _KEYS or value is None:
            continue
        if is_known_key(key) and key not in TIME_KEYS:
            return None
        if key in _FIXED_KEYS or type(value) is bool:
            if type(value) not in (str, bool):
                return None
            continue
        pattern = _WORDS if type(value) is str else _NUMBER if type(value) is JsonNumber else None
        hole = node.get(key)
        if pattern is None or re.fullmatch(pattern, value.encode("utf-8", "replace")) is None:
            return None
        assert isinstance(hole, LazyNode)
        found.append(_Hole(hole, is_id=False, key=key))
    return found if sum(hole.key in TIME_KEYS for hole in found) <= 1 else None


def _is_one_text(content: object) -> bool:
    """True for a list with a single part, which holds only text."""
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
    node: LazyNode,
    holes: list[_Hole],
    messages: list[tuple[Header, Ending, list[Piece]]],
    reports: list[Report],
    time_at: JsonNode | None,
) -> Shape | None:
    pattern = _pattern(node, holes)
    bodies = {piece_of(hole.node): number for number, hole in enumerate(holes, 1) if not (hole.is_id or hole.key)}
    others = {hole.key: number for number, hole in enumerate(holes, 1) if hole.key}
    time = next((others.pop(key) for key in TIME_KEYS if key in others), 0)
    if (time_at.start if time_at is not None else None) != (holes[time - 1].node.start if time else None):
        return None
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
        places = tuple(at for at, (key, _) in enumerate(bare.extra) if key in others)
        values = tuple(others[bare.extra[at][0]] for at in places)
        bare = bare.with_values(places, "\n" * (len(places) - 1)) if places else bare
        said.append(
            Said(bare, ending, body, number, is_named, is_call, is_split, next(_NUMBERS), given, values, places)
        )
    is_whole = len({each.body for each in said}) == len(bodies)
    has_all_values = sorted(at for each in said for at in each.values) == sorted(others.values())
    if pattern is None or not is_whole or not has_all_values:
        return None
    return Shape(pattern, said, place, time, int(time > 0 and holes[time - 1].node.kind is JsonKind.STRING))


def _pattern(node: LazyNode, holes: list[_Hole]) -> bytes | None:
    """Return a pattern for the bytes of a message with a subpattern for each hole."""
    data, base = node.line.data, node.line.base
    if len(holes) > MOST_HOLES:
        return None
    parts: list[bytes] = []
    at, size = node.start, 0
    for hole in holes:
        parts += [re.escape(data[at - base : hole.node.start - base]), hole.pattern]
        size += hole.node.start - at
        at = hole.node.end
    parts.append(re.escape(data[at - base : node.end - base]))
    return b"".join(parts) if size + node.end - at <= LONGEST_SHAPE else None
