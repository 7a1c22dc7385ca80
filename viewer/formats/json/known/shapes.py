"""Fast path for messages of a known shape: the bytes of an earlier message, with other strings in some places.

The slow path reads the first message of a shape. Its result is a template for all messages whose bytes differ
only in text, arguments, and IDs, because these do not affect how a message is read. Anything that might, such as an
empty string, a template mark, or an ID with an escape, goes to the slow path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import Enum
from itertools import accumulate, count
from types import NoneType

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.hiding import CONTENTS, DECIDING, HOLDERS, IN_HOLDERS, is_flagged
from viewer.formats.json.content_parts import ContentPart, is_split_at_marks, may_be_split, split_content
from viewer.formats.json.fields import CALL_ID_KEYS, TIME_KEYS, is_known_key, piece_of
from viewer.formats.json.known.rows import LONGEST_ROW
from viewer.formats.json.known.values import ID, NAME, NUMBER, PLAIN_LIST, TEXT, WORDS, nested_pattern, nested_program
from viewer.formats.json.split_parts import first_safe, split_parts, with_fields_of_one
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Coding, Ending, Header, Piece, Span
from viewer.model.time_order import TimePlace
from viewer.model.visibility import is_header_safe
from viewer.native import Native
from viewer.reading.bodies import joined_text, read_body
from viewer.reading.grammar import ROLES
from viewer.reading.header import full_tool_name
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.scan.records import Match, Records, Saying, ShapePrograms, Step, literal, match_records, step
from viewer.syntax.agent_text import FARTHEST_INPUT, HEAD, HEAD_LEADS, INPUT, has_input
from viewer.syntax.json_lines import JsonNumber, LazyNode, read_regular
from viewer.syntax.json_text import JsonKind, JsonNode, string_body
from viewer.syntax.times import parse_time
from viewer.syntax.utf8 import is_utf8

MOST_SHAPES = 24
"""The maximum number of shapes of one input. Beyond that, the oldest one is dropped."""
MOST_TRIALS = 96
"""The maximum number of messages that are tried as shapes. Beyond that, the input gets no further shapes."""
LONGEST_SHAPE = 4096
LONGEST_KNOWN = 1024 * 1024
"""The maximum length in bytes. A longer message takes the slow path."""
MOST_HOLES = 24
MOST_HEADERS = 256
"""The maximum number of headers of one shape. A shape has several if its messages contain different names."""
MOST_PARTS = 8
"""The maximum number of content parts of a message that has a shape."""
_THOUGHT_KEYS = ("reasoning_content", "reasoning", "thinking")
"""Members that contain a thought. A shape has text in only one of them, because text that occurs in several becomes one
message."""
_KEYS = frozenset(
    {
        *("role", "content", "tool_calls", "tool_call_id", "call_id", "refusal", "function_call", "audio"),
        "annotations",
        *_THOUGHT_KEYS,
    }
)
"""The members that a message with a shape may have, besides those that do not affect reading."""
_FIXED_KEYS = frozenset({"type", "phase", "channel", "recipient", "intent", "content_type", "constrained"}) | CONTENTS
"""Further members whose values decide how a message is read. They are part of the pattern."""
_EXCLUDED_KEYS = frozenset({"usage", "response", "response_obj", "custom_id", "message", "text"})
"""Members whose effect goes beyond the header of a message, or depends on more than its shape."""
_GUARDED_KEYS = DECIDING - _FIXED_KEYS - {"thought", *_THOUGHT_KEYS}
"""Members that may hide the message. Their values may differ as long as they have the same effect."""
MOST_VERDICTS, LONGEST_JUDGED = 256, 256
"""The maximum number of values whose effect is remembered for a hole, and their maximum length in bytes."""
_TEXT_TYPES = ("text", "input_text", "output_text")
_EMPTY_KEYS = ("refusal", "function_call", "audio", "annotations")
"""Members that must be empty, because the patterns of shapes cover no text in them."""
_CALL_KEYS = frozenset({"id", "type", "function", "index"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})
_REPLY_ROLES = ("tool", "function")
"""Roles of replies, which get their name from the call if they do not name the tool themselves."""
_TURN = lazy_regex(lambda: rb"(?>[ ]|\\[nrtbf])*+(?:analysis|commentary|assistant|%s)" % HEAD.pattern)
"""A pattern that matches the start of any text that may be a turn without its control tokens, or that may have steps of
an agent, and of some other text."""
_LONGEST_ESCAPE = 6
"""The maximum length in bytes of an escape in a JSON string."""
TURN_LEADS = b" \\ac" + HEAD_LEADS
"""The bytes with which text that matches `_TURN` may begin."""


_NUMBERS = count()
_QUOTE = literal(b'"')


class _Use(Enum):
    """The meaning of the value in a hole."""

    TEXT = "text"
    ID = "id"
    NAME = "name"
    """The name of the tool of a call, or of the speaker."""
    OTHER = "other"
    """The value of any other member, which becomes an extra attribute or the time."""
    UNSAID = "unsaid"
    """The value of a member that is not in the header."""


class _Hole(Struct, frozen=True):
    """A position in a shape where the value may differ."""

    node: LazyNode
    use: _Use
    key: str = ""
    """The name of the member, if its value is not text, an ID, or a name."""
    call: int = -1
    """The index of the call that the value belongs to."""

    @property
    def pattern(self) -> bytes:
        """The pattern of the values that may fill this hole. The groups for names, and for strings that do not affect
        reading, exclude the quotes. For text, the next group matches an escape that may spell a mark, if any."""
        match self.use:
            case _Use.TEXT:
                return b"(" + TEXT + b")"
            case _Use.ID:
                return b"(" + ID + b")"
            case _Use.NAME:
                return b'"(' + NAME + b')"'
        if self.node.kind is JsonKind.STRING:
            return b'"(' + WORDS + b')"'
        return b"(" + (_nested(self.node) or NUMBER) + b")"

    @property
    def program(self) -> bytes:
        """The program that equals the pattern."""
        match self.use:
            case _Use.TEXT:
                return step(Step.TEXT)
            case _Use.ID:
                return step(Step.OPENS, Step.ID, Step.CLOSES)
            case _Use.NAME:
                return _QUOTE + step(Step.OPENS, Step.NAME, Step.CLOSES) + _QUOTE
        if self.node.kind is JsonKind.STRING:
            return _QUOTE + step(Step.OPENS, Step.WORDS, Step.CLOSES) + _QUOTE
        nested = _nested(self.node)
        if nested is None:
            return step(Step.OPENS, Step.NUMBER, Step.CLOSES)
        inner = step(Step.LIST) if nested is PLAIN_LIST else nested_program(_source_of(self.node))
        return step(Step.OPENS) + inner + step(Step.CLOSES)


class Guard:
    """Decides whether the value of a member has the same effect on a message as the value in the example."""

    def __init__(self, number: int, hole: _Hole, role: str) -> None:
        self.number = number
        """The number of the hole."""
        quote = b'"' if hole.node.kind is JsonKind.STRING else b""
        self._before, self._after = b"{" + json.dumps(hole.key).encode() + b":" + quote, quote + b"}"
        self._role = role
        self._verdicts: dict[bytes, bool | None] = {}
        example = _source_of(hole.node)
        self._expected = self._verdict(example[1:-1] if quote else example)

    def passes(self, value: bytes) -> bool:
        """True if the value and the example agree on whether the message is hidden, and the value does not contradict
        the role of the message."""
        verdict = self._verdict(value)
        return verdict is not None and verdict is self._expected

    def _verdict(self, value: bytes) -> bool | None:
        """Return whether a value hides the message, or None if it needs the slow path."""
        if value in self._verdicts:
            return self._verdicts[value]
        node = read_regular(self._before + value + self._after, 0)
        verdict = is_flagged(node) if node is not None and _agrees(node, self._role) else None
        if len(value) <= LONGEST_JUDGED:
            if len(self._verdicts) >= MOST_VERDICTS:
                self._verdicts.clear()
            self._verdicts[value] = verdict
        return verdict


def _agrees(node: JsonNode, role: str) -> bool:
    """True unless the `author` of a message names a role other than that of the message."""
    author = node.get("author")
    given = author.get("role") if author is not None else None
    return given is None or given.kind is not JsonKind.STRING or given.text == role


class Said(Struct, frozen=True):
    """One message of a shape."""

    header: Header
    """The header, without a call ID."""
    ending: Ending
    body: int
    """The number of the hole with the body, or with its first part."""
    more: tuple[int, ...]
    """The numbers of the holes with the rest of the body."""
    id: int
    """The number of the hole with the call ID; 0 if there is none."""
    name: int
    """The number of the hole with the name; 0 if there is none."""
    tool: int
    """The number of the hole with the name of the tool that is called; 0 if there is none."""
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
    """The indices in the header of the attributes that `values` fills. Their values there are empty."""


class Shape:
    """A pattern for the bytes of an object, and the messages that matching bytes become."""

    def __init__(
        self,
        pattern: bytes,
        program: bytes,
        messages: list[Said],
        guards: list[Guard],
        reports_at: int,
        time: int,
        time_quotes: int,
    ) -> None:
        self._match = re.compile(pattern, re.DOTALL).match
        self.match = self._guarded_match if guards else self._match
        self.program = program
        """The program that equals the pattern."""
        self.messages = messages
        self.guards = guards
        self.split = [said for said in messages if said.is_split]
        self.bodies = sorted({said.body for said in messages if not said.more})
        """The numbers of the holes that are the whole body of a message. The group after each of them matches an
        escape."""
        self.texts = sorted(number for said in messages for number in (said.body, *said.more))
        """The numbers of all holes with text."""
        self.reports_at = reports_at
        """The number of the hole with the content."""
        self.time = time
        """The number of the hole with the time; 0 if there is none."""
        self.time_quotes = time_quotes
        """The number of bytes on either side that belong to the time: 1 for the quotes of a string, otherwise 0."""
        self.next = self
        """The shape of the message that last followed a message of this shape."""
        self.is_plain = not time and not any(said.more or said.reports or said.values for said in messages)
        """True if the messages differ only in their bodies, IDs, and names."""
        self.headers: dict[tuple[int, str], Header] = {}
        """The headers completed with names, by the number of the message and the names."""

    def _guarded_match(self, data: bytes | bytearray, at: int) -> re.Match[bytes] | None:
        found = self._match(data, at)
        return found if found is not None and self.is_like(found) else None

    def is_like(self, found: Match) -> bool:
        """True if the values in a match have the same effect as those in the example."""
        return all(guard.passes(found[guard.number]) for guard in self.guards)


Reports = tuple[tuple[Rule, str | None, int, int], ...]
"""Problems, each with its bounds."""


class KnownMessage(Struct, frozen=True):
    """A message created from a template."""

    header: Header
    ending: Ending
    pieces: tuple[Piece, ...]
    tool: str | None
    """The tool that the call names."""
    problems: Reports = ()
    time_ms: int | None = None
    time_at: TimePlace | None = None


class KnownShapes:
    """Learns and matches the shapes of the messages in one input."""

    def __init__(self) -> None:
        self._shapes: list[Shape] = []
        """The shapes, newest first."""
        self._last: Shape | None = None
        """The shape of the last message."""
        self.count = 0
        """The number of shapes made so far."""
        self.refused = -1
        """The offset of the last message that is known to need the slow path; -1 if there is none."""
        self._trials = 0
        self._programs: ShapePrograms | None = None
        """The programs of the shapes, once they are needed."""

    def match_next(self, data: bytes | bytearray, at: int) -> tuple[Shape, re.Match[bytes]] | None:
        """Return the shape of the message at an index, and its match, or None if the message has no known shape. The
        caller must still check whether any values decide how the message is read."""
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
        self, data: bytes | bytearray, at: int, base: int, tools: dict[str, str]
    ) -> tuple[int, list[KnownMessage]] | None:
        """Return the end of the object at an index, and its messages, or None if it needs the slow path. `tools`
        maps the IDs of earlier calls to their tools."""
        known = self.match_next(data, at) if base + at != self.refused else None
        if known is None:
            return None
        shape, found = known
        messages = messages_of(shape, found, base, tools)
        return (found.end(), messages) if messages else None

    @property
    def may_learn(self) -> bool:
        """True if another message may become a shape."""
        return self._trials < MOST_TRIALS

    def learn(
        self,
        node: LazyNode,
        messages: list[tuple[Header, Ending, list[Piece]]],
        problems: dict[int, list[Problem]],
        time_at: JsonNode | None,
    ) -> None:
        """Make a shape from a message that `may_learn` allows, and the result of the slow path for text without marks.
        `problems` are its problems by the index of their message in the list. `time_at` is the value with its time."""
        if not messages:
            return
        self._trials += 1
        holes = _holes(node)
        reports = [_Report(at, problem) for at, found in problems.items() for problem in found]
        shape = _made(node, holes, messages, reports, time_at) if holes else None
        if shape is not None:
            if self._last is not None:
                self._last.next = shape
            self._last = shape
            self.count += 1
            self._shapes.insert(0, shape)
            del self._shapes[MOST_SHAPES:]
            self._programs = None

    def match_records(
        self, accelerator: Native, data: bytes | bytearray, at: int, base: int, records: list[bytes], most: int
    ) -> MatchedRecords | None:
        """Match at most `most` records that start at an index, each with one of these programs. Return None if there is
        no such record. The caller must still check whether any values decide how the messages are read."""
        shapes, last = self._shapes, self._last
        if last is None or last not in shapes:
            return None
        if self._programs is None:
            self._programs = ShapePrograms([shape.program for shape in shapes], [_sayings(shape) for shape in shapes])
        place_of = {shape: place for place, shape in enumerate(shapes)}
        nexts = [place_of.get(shape.next, place) for place, shape in enumerate(shapes)]
        longest = LONGEST_KNOWN, LONGEST_ROW
        found = match_records(
            accelerator, data, at, base, self._programs, nexts, place_of[last], records, most, longest
        )
        if not len(found):
            return None
        matched = [shapes[place] for place in found.shapes]
        for shape in matched:
            last.next = last = shape
        self._last = last
        return MatchedRecords(found, matched)


class MatchedRecords(Struct, frozen=True):
    """Consecutive records, and the shape of each object in them."""

    columns: Records
    shapes: list[Shape]


def _sayings(shape: Shape) -> list[Saying]:
    """Return the messages of a shape for its program."""
    texts = {group: place for place, group in enumerate(shape.texts)}
    return [Saying(said.number, said.body, said.id, said.name, said.tool, texts[said.body]) for said in shape.messages]


class _Report(Struct, frozen=True):
    """A problem that the slow path found in one of the messages of an object."""

    message: int
    problem: Problem


def note_tools(messages: list[KnownMessage], tools: dict[str, str]) -> None:
    """Add the tools that these messages call, by the ID of the call."""
    for message in messages:
        if message.tool is not None and message.header.call_id is not None:
            tools[message.header.call_id] = message.tool


def messages_of(
    shape: Shape, found: Match, base: int, tools: dict[str, str], split: list[ContentPart] | None = None
) -> list[KnownMessage] | None:
    """Return the messages of a matched object, or None if its shape does not determine them. `tools` maps
    the IDs of earlier calls to their tools; calls that template marks delimit in the text are added. `split` contains
    the parts of the text, if they are known."""
    source = found[0]
    if not source.isascii() and not is_utf8(source):
        return None
    time_ms = stated_ms(shape, found)
    if shape.time and time_ms is None:
        return None
    time_at = TimePlace(*(base + at for at in time_span(shape, found))) if shape.time else None
    messages: list[KnownMessage] = []
    for said in shape.messages:
        pieces = parts_of(said, found, base)
        call_id = found[said.id][1:-1].decode() if said.id else None
        if said.is_named_by_call and call_id not in tools:
            return None
        names = names_of(said, found, tools.get(call_id or "", ""))
        header = _named(shape, said, names)
        if call_id is not None:
            header = header.with_call_id(call_id)
        if said.values:
            header = header.with_values(said.places, values_of(said, found))
        problems = _problems(said, *found.span(shape.reports_at), base) if said.reports else ()
        if said.is_split:
            parts = _split(said, found, pieces, base) if split is None else split
            if parts:
                messages += _divided(parts, header, problems, tools, time_ms, time_at)
                continue
        tool = header.recipient if said.is_call else None
        messages.append(KnownMessage(header, said.ending, pieces, tool, problems, time_ms, time_at))
    return messages


def _divided(
    split: list[ContentPart],
    spoken: Header,
    reports: Reports,
    tools: dict[str, str],
    time_ms: int | None,
    time_at: TimePlace | None,
) -> Iterator[KnownMessage]:
    """Yield the messages that a text is split into, given the header and the problems of the whole text."""
    parts = split_parts(split, spoken, tools)
    messages = [part for part, _ in parts]
    settled = with_fields_of_one(messages, spoken, None, first_safe(messages))
    for part, (_, own) in zip(settled, parts, strict=True):
        problems = (*reports, *((one.rule, one.reason, one.start, one.end) for one in own))
        yield KnownMessage(part.header, part.ending, tuple(part.pieces), None, problems, time_ms, time_at)
        reports = ()


def _piece(start: int, end: int, base: int, raw: bytes) -> Piece:
    """Return the piece of a string between two indexes of the data."""
    if b"\\" in raw:
        return Piece(base + start, base + end, Coding.JSON_STRING)
    return Piece(base + start + 1, base + end - 1, Coding.PLAIN)


def _split(said: Said, found: Match, pieces: tuple[Piece, ...], base: int) -> list[ContentPart]:
    """Return the parts of a text that is split at template marks, or none for any other text."""
    if not said.more:
        return split_text(found[said.body], pieces[0], said.header.role)
    data = found.string
    if not are_divided(data, base, pieces):
        return []
    return split_content([*pieces], lambda start, end: bytes(data[start - base : end - base]), said.header.role)


def split_text(raw: bytes, piece: Piece, role: str) -> list[ContentPart]:
    """Return the parts of the text of a string, given its piece, or none if it is not split at template marks."""
    if not may_be_divided(raw):
        return []
    own = raw[1:-1] if piece.coding is Coding.PLAIN else raw
    return split_content([piece], lambda start, end: own[start - piece.start : end - piece.start], role)


def parts_of(said: Said, found: Match, base: int) -> tuple[Piece, ...]:
    """Return the pieces of a body, one for each part."""
    return tuple(_piece(*found.span(number), base, found[number]) for number in (said.body, *said.more))


def are_divided(data: bytes | bytearray, base: int, pieces: tuple[Piece, ...]) -> bool:
    """True if text in several parts may be split at template marks, possibly across parts."""

    def read(start: int, end: int) -> bytes:
        return bytes(memoryview(data)[start - base : end - base])

    text = joined_text(pieces, read)
    return may_be_split(read_body(pieces, read).data if text is None else text)


def names_of(said: Said, found: Match, tool: str) -> str:
    """Return the names that the header in the shape lacks: the message's own name, and the tool that it calls, on
    separate lines. `tool` is the tool of the call that the message answers."""
    if said.is_named_by_call:
        return tool
    name = found[said.name].decode() if said.name else ""
    return f"{name}\n{full_tool_name(found[said.tool].decode())}" if said.tool else name


def with_names(said: Said, names: str) -> Header:
    """Return the header of a message with its names."""
    name, _, tool = names.partition("\n")
    header = said.header
    if said.is_named_by_call or said.name:
        header = replace(header, name=name)
    return replace(header, recipient=tool) if said.tool else header


def values_of(said: Said, found: Match) -> str:
    """Return the values of the extra attributes that the header in the shape lacks, on separate lines."""
    return b"\n".join([found[number] for number in said.values]).decode()


def stated_ms(shape: Shape, found: Match) -> int | None:
    """Return the time of an object, or None if the object has no time or the time cannot be parsed."""
    return parse_time(found[shape.time].decode()) if shape.time else None


def time_span(shape: Shape, found: Match) -> Span:
    """Return the span of an object's time, including the quotes if it is a string."""
    start, end = found.span(shape.time)
    return start - shape.time_quotes, end + shape.time_quotes


def _problems(said: Said, start: int, end: int, base: int) -> Reports:
    return tuple((rule, reason, base + start, base + end) for rule, reason in said.reports)


def _named(shape: Shape, said: Said, names: str) -> Header:
    if not names:
        return said.header
    known = shape.headers.get((said.number, names))
    if known is None:
        if len(shape.headers) >= MOST_HEADERS:
            shape.headers.clear()
        known = shape.headers[said.number, names] = with_names(said, names)
    return known


def begins_turn(data: bytes | bytearray, start: int) -> bool:
    """True if the JSON string at an index may be a turn without its control tokens, or may have steps of an agent."""
    found = _TURN.match(data, start + 1)
    if found is None or found.lastgroup is None:
        return found is not None
    return data.find(INPUT, start, start + _LONGEST_ESCAPE * FARTHEST_INPUT) >= 0


def may_be_divided(raw: bytes) -> bool:
    """True if the text of a string may be split at template marks."""
    if b"\\u" in raw or b"\\/" in raw:
        return may_be_split(string_body(raw).encode("utf-8", "replace"))
    # the other escapes are for characters that marks never contain
    return MAY_BE_MARK.search(raw) is not None or _TURN.match(raw, 1) is not None or has_input(raw)


def is_divided(raw: bytes, piece: Piece, role: str) -> bool:
    """True if the text is split at template marks."""
    if not may_be_divided(raw):
        return False
    own = raw[1:-1] if piece.coding is Coding.PLAIN else raw
    return is_split_at_marks([piece], lambda start, end: own[start - piece.start : end - piece.start], role)


def _holes(node: LazyNode) -> list[_Hole]:
    """Return the positions in a message where values may differ, or none if other members may affect how the message is
    read."""
    value = node.value
    others = _other_holes(node)
    if others is None or type(value.get("role")) is not str or any(map(value.get, _EMPTY_KEYS)):
        return []
    thoughts = [key for key in _THOUGHT_KEYS if value.get(key)]
    is_known = type(value.get("content")) in (str, NoneType) or _are_texts(value["content"])
    if not is_known or len(thoughts) > 1 or any(type(value.get(key)) not in (str, NoneType) for key in _THOUGHT_KEYS):
        return []
    found: list[_Hole] = others
    if type(value.get("content")) is list:
        found += [_Hole(text, _Use.TEXT) for text in _texts_of(node)]
    ids = [key for key in CALL_ID_KEYS if value.get(key) is not None]
    if len(ids) > 1:
        return []
    uses = (("content", _Use.TEXT), *((key, _Use.ID) for key in ids), *((key, _Use.TEXT) for key in thoughts))
    for key, use in uses:
        if type(value.get(key)) is str and value[key]:
            found += _hole(node, key, use)
    name = value.get("name")
    if name is not None and (type(name) is not str or not name):
        return []
    if name and _is_name(name) and (value["role"] in ROLES or value["role"] == "function"):
        found += _hole(node, "name", _Use.NAME)
    calls = node.get("tool_calls")
    if calls is not None and calls.kind is not JsonKind.NULL:
        if calls.kind is not JsonKind.ARRAY:
            return []
        for at, call in enumerate(calls.items):
            assert isinstance(call, LazyNode)
            if not _is_plain_call(call.value):
                return []
            function = call.get("function")
            assert isinstance(function, LazyNode)
            found += [*_hole(call, "id", _Use.ID, at), *_hole(function, "arguments", _Use.TEXT, at)]
            if _is_name(function.value["name"]):
                found += _hole(function, "name", _Use.NAME, at)
    return sorted(found, key=lambda hole: hole.node.start)


def _other_holes(node: LazyNode) -> list[_Hole] | None:
    """Return the holes for values that do not affect reading, or None if the message has another member that may."""
    found: list[_Hole] = []
    for key, value in node.value.items():
        if key in _EXCLUDED_KEYS:
            return None
        if key in _KEYS or key == "name" or value is None:
            continue
        if key in _FIXED_KEYS:
            if type(value) not in (str, bool):
                return None
            continue
        if is_known_key(key) and key not in (*TIME_KEYS, "author"):
            return None
        if type(value) is bool:
            continue
        hole = node.get(key)
        assert isinstance(hole, LazyNode)
        if not _is_open(key, value, hole):
            return None
        found.append(_Hole(hole, _Use.UNSAID if key == "author" else _Use.OTHER, key))
    return found if sum(hole.key in TIME_KEYS for hole in found) <= 1 else None


def _is_open(key: str, value: object, node: LazyNode) -> bool:
    """True if there is a pattern for the value of a member."""
    if type(value) is str:
        return re.fullmatch(WORDS, value.encode("utf-8", "replace")) is not None
    if type(value) is JsonNumber:
        return re.fullmatch(NUMBER, value.encode()) is not None
    return key not in TIME_KEYS and _nested(node) is not None


def _guards(node: LazyNode, holes: dict[int, _Hole]) -> Iterator[Guard]:
    """Yield a guard for each hole whose value may hide the message."""
    for number, hole in holes.items():
        if hole.key in _GUARDED_KEYS and not _is_plain_holder(hole):
            yield Guard(number, hole, node.value["role"])


def _is_plain_holder(hole: _Hole) -> bool:
    """True for an object whose members cannot hide the message, whatever their values are."""
    return hole.key in HOLDERS and hole.node.kind is JsonKind.OBJECT and IN_HOLDERS.isdisjoint(hole.node.value)


def _nested(node: LazyNode) -> bytes | None:
    """Return the pattern of an object or array that does not affect reading, or None for any other value."""
    if node.kind not in (JsonKind.OBJECT, JsonKind.ARRAY):
        return None
    source = _source_of(node)
    return PLAIN_LIST if re.fullmatch(PLAIN_LIST, source) else nested_pattern(source)


def _source_of(node: LazyNode) -> bytes:
    base = node.line.base
    return node.line.data[node.start - base : node.end - base]


def _are_texts(content: object) -> bool:
    """True for a list of parts that contain only text."""
    if type(content) is not list or not 0 < len(content) <= MOST_PARTS:
        return False
    return all(
        type(part) is dict and len(part) == 2 and part.get("type") in _TEXT_TYPES and _is_text(part.get("text"))
        for part in content
    )


def _texts_of(node: LazyNode) -> list[LazyNode]:
    """Return the values with the text of a message: the content, or the text of its parts."""
    content = node.get("content")
    if content is None:
        return []
    texts = [item.get("text") for item in content.items] if content.kind is JsonKind.ARRAY else [content]
    return [text for text in texts if isinstance(text, LazyNode)]


def _hole(holder: LazyNode, key: str, use: _Use, call: int = -1) -> list[_Hole]:
    node = holder.get(key)
    return [_Hole(node, use, call=call)] if isinstance(node, LazyNode) else []


def _is_plain_call(call: object) -> bool:
    if type(call) is not dict or not _CALL_KEYS.issuperset(call) or not _is_text(call.get("id")):
        return False
    function = call.get("function")
    if type(function) is not dict or not _FUNCTION_KEYS.issuperset(function):
        return False
    return _is_text(function.get("arguments")) and _is_text(function.get("name"))


def _is_name(name: str) -> bool:
    return re.fullmatch(NAME, name.encode("utf-8", "replace")) is not None


def _is_text(value: object) -> bool:
    return type(value) is str and bool(value)


def _made(
    node: LazyNode,
    holes: list[_Hole],
    messages: list[tuple[Header, Ending, list[Piece]]],
    reports: list[_Report],
    time_at: JsonNode | None,
) -> Shape | None:
    spelled, by_number = _pattern(node, holes), _numbered(holes)
    bodies = {piece_of(hole.node): number for number, hole in by_number.items() if hole.use is _Use.TEXT}
    others = {hole.key: number for number, hole in by_number.items() if hole.use is _Use.OTHER}
    time = next((others.pop(key) for key in TIME_KEYS if key in others), 0)
    if (time_at.start if time_at is not None else None) != (by_number[time].node.start if time else None):
        return None
    ids: dict[str, int] = {}
    for number, hole in by_number.items():
        if hole.use is _Use.ID:
            if hole.node.text in ids:
                return None
            ids[hole.node.text] = number
    names = {hole.call: number for number, hole in by_number.items() if hole.use is _Use.NAME}
    content = _texts_of(node)
    places = [bodies[piece_of(text)] for text in content if piece_of(text) in bodies]
    place = places[0] if len(places) == 1 else 0
    said: list[Said] = []
    for at, (header, ending, pieces) in enumerate(messages):
        numbers = [bodies.get(piece, 0) for piece in pieces]
        number = ids.get(header.call_id, 0) if header.call_id is not None else 0
        if not all(numbers) or not numbers or (header.call_id is not None and not number):
            return None
        own = [report.problem for report in reports if report.message == at]
        if any(not place or (each.start, each.end) != (content[0].start, content[0].end) for each in own):
            return None
        body, *more = numbers
        is_named = node.value["role"] in _REPLY_ROLES and node.value.get("name") is None and header.name is not None
        is_call = ending is Ending.CALL and body not in places
        if is_named and (not number or len(messages) > 1):
            return None
        name, tool = names.get(-1, 0) if header.name is not None else 0, names.get(by_number[body].call, 0)
        tool = tool if is_call else 0
        if (name and header.name != by_number[name].node.text) or (
            tool and header.recipient != full_tool_name(by_number[tool].node.text)
        ):
            return None
        bare = header.with_call_id(None)
        if is_named or name:
            bare = replace(bare, name=None)
        if tool:
            bare = replace(bare, recipient=None)
        given = tuple((each.rule, each.reason) for each in own)
        is_split = body in places and is_header_safe(header)
        empty = tuple(at for at, (key, _) in enumerate(bare.extra) if key in others)
        values = tuple(others[bare.extra[at][0]] for at in empty)
        bare = bare.with_values(empty, "\n" * (len(empty) - 1)) if empty else bare
        said.append(
            Said(
                bare,
                ending,
                body,
                tuple(more),
                number,
                name,
                tool,
                is_named,
                is_call,
                is_split,
                next(_NUMBERS),
                given,
                values,
                empty,
            )
        )
    is_whole = sorted(number for each in said for number in (each.body, *each.more)) == sorted(bodies.values())
    has_all_values = sorted(at for each in said for at in each.values) == sorted(others.values())
    has_all_names = {each.name for each in said} | {each.tool for each in said} == {0, *names.values()}
    if spelled is None or not (is_whole and has_all_values and has_all_names):
        return None
    quotes = int(time > 0 and by_number[time].node.kind is JsonKind.STRING)
    return Shape(*spelled, said, [*_guards(node, by_number)], place, time, quotes)


def _numbered(holes: list[_Hole]) -> dict[int, _Hole]:
    """Return the holes by the numbers of their groups in the pattern."""
    numbers = accumulate((1 + (hole.use is _Use.TEXT) for hole in holes), initial=1)
    return dict(zip(numbers, holes, strict=False))


def _pattern(node: LazyNode, holes: list[_Hole]) -> tuple[bytes, bytes] | None:
    """Return a pattern for the bytes of a message with a subpattern for each hole, and the equivalent program; None
    if they would be too long or have too many holes."""
    data, base = node.line.data, node.line.base
    if len(holes) > MOST_HOLES:
        return None
    parts: list[bytes] = []
    steps: list[bytes] = []
    at, size = node.start, 0
    for hole in holes:
        text = data[at - base : hole.node.start - base]
        parts += [re.escape(text), hole.pattern]
        steps += [literal(text), hole.program]
        size += hole.node.start - at
        at = hole.node.end
    rest = data[at - base : node.end - base]
    parts.append(re.escape(rest))
    steps.append(literal(rest))
    return (b"".join(parts), b"".join(steps)) if size + node.end - at <= LONGEST_SHAPE else None
