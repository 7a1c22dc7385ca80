"""Read the messages of a ChatML array: headers, bodies, and recovery from missing tokens."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from msgspec import Struct, field
from msgspec.structs import replace

from viewer import native
from viewer.formats.containers.documents import BracketCount
from viewer.formats.json.fields import piece_of
from viewer.model.diagnostic import Rule
from viewer.model.events import ClosedBatch
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Message, Piece, Span
from viewer.model.visibility import is_user_safe
from viewer.native import Native
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_BODY_CONSTRAINT_VIOLATION, E_PARSE_HEADER, E_STREAM_TRUNCATED
from viewer.rules.notes import I_JSON_LENIENT, I_OPEN_PROMPT
from viewer.rules.structure import (
    W_END_MISSING,
    W_MARKER_IN_BODY,
    W_PART_UNKNOWN,
    W_START_IMPLICIT,
    W_START_REPEATED,
    W_STOP_REDUNDANT,
)
from viewer.scan.records import HAS_ESCAPE, Step, literal, match_values, step
from viewer.scan.text_signs import IS_SPELLED, places_with_signs, signs_of
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading

START, MESSAGE, END = "<|start|>", "<|message|>", "<|end_message|>"
ROLES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "system:example_user",
        "system:example_assistant",
        "assistant:example_user",
        "assistant:example_assistant",
    }
)
_SPEAKERS = frozenset({*ROLES, "Assistant"})
Handler = Callable[[JsonNode, "str | None"], None]

_SPACE = rb"[ \t\r\n]*+"
_TOKEN = _SPACE.join([rb"\{", rb'"token"', b":", rb'"<\|%s\|>"', rb"\}"])
_FRAME = re.compile(
    _SPACE.join(
        [
            rb"(?P<frame>" + _TOKEN % b"start",
            b",",
            rb'"(?P<role>' + b"|".join(re.escape(role).encode() for role in sorted(_SPEAKERS, reverse=True)) + rb')"',
            b",",
            _TOKEN % b"message",
            b",",
            rb'"(?P<body>[^"\\\x00-\x1f]*+(?>\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\x00-\x1f]*+)*+)"',
            b",",
            rb"(?P<stop>" + _TOKEN % b"end_message" + b"))",
            rb"(?P<after>[,\]])" + _SPACE,
        ]
    )
)
"""A message with one piece of text, and what follows it in the array."""
_SPACES = re.compile(_SPACE)


def _token_program(name: bytes) -> bytes:
    parts = [b"{", b'"token"', b":", b'"<|' + name + b'|>"', b"}"]
    return step(Step.SPACE).join(map(literal, parts))


_PROGRAM = step(Step.SPACE).join(
    [
        step(Step.PLACE) + _token_program(b"start"),
        literal(b","),
        literal(b'"') + step(Step.PLACE, Step.NAME, Step.PLACE) + literal(b'"'),
        literal(b","),
        _token_program(b"message"),
        literal(b","),
        step(Step.BODY),
        literal(b","),
        step(Step.PLACE) + _token_program(b"end_message") + step(Step.PLACE),
        step(Step.PLACE, Step.GOES_ON),
        b"",
    ]
)
"""The program that matches what `_FRAME` does, and messages with any other role."""
_VALUES = 9
"""The number of values that the program notes."""
_LIST_END = ord("]")
_HEADERS = {
    role.encode(): Header("assistant" if role == "Assistant" else role, channel=Channel.FINAL)
    for role in sorted(_SPEAKERS)
}
_NUMBERS = {role: number for number, role in enumerate(_HEADERS)}
_BETWEEN = b"\n"
"""The separator of bodies that are searched together: a byte that cannot occur in a JSON string."""
MOST_SIGNED_TOGETHER = 1024
"""The maximum number of messages that are searched together for signs of marks."""


class RegularFrames(Struct):
    """The messages of a regular array as columns of offsets."""

    roles: list[bytes] = field(default_factory=list)
    starts: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))
    body_starts: array[int] = field(default_factory=lambda: array("Q"))
    body_ends: array[int] = field(default_factory=lambda: array("Q"))
    """Where the bodies begin and end. If a body has escapes, its quotes are included."""
    escaped: bytearray = field(default_factory=bytearray)
    spelled: bytearray = field(default_factory=bytearray)
    """A mask of the bodies with an escape that may spell any character; empty if this is not known."""
    stops: array[int] = field(default_factory=lambda: array("Q"))

    def record(self, record: Recorder) -> None:
        """Record the messages one by one."""
        columns = self.roles, self.starts, self.ends, self.body_starts, self.body_ends, self.escaped, self.stops
        for role, start, end, first, last, is_escaped, stop in zip(*columns, strict=True):
            piece = Piece(first, last, Coding.JSON_STRING if is_escaped else Coding.PLAIN)
            record.add(_HEADERS[role], Ending.END, (start, end), [piece], stop=(stop, end))

    def add_to(self, batch: ClosedBatch, data: bytes | bytearray, base: int) -> None:
        """Add the messages to a batch. `base` is the offset of the data."""
        for role in set(self.roles):
            code = batch.numbers.setdefault((_NUMBERS[role], ""), len(batch.headers))
            if code == len(batch.headers):
                batch.headers.append((_HEADERS[role], Ending.END))
        codes = {role: batch.numbers[_NUMBERS[role], ""] for role in set(self.roles)}
        batch.codes.extend([codes[role] for role in self.roles])
        batch.starts.extend(self.starts)
        batch.ends.extend(self.ends)
        batch.body_starts.extend(self.body_starts)
        batch.body_ends.extend(self.body_ends)
        batch.escaped += self.escaped
        batch.stops.extend(self.stops)
        batch.signed += self._signed(data, base)

    def _signed(self, data: bytes | bytearray, base: int) -> bytearray:
        """Return a mask of the messages whose text may have marks."""
        signed = bytearray(len(self.roles))
        view = memoryview(data)
        accelerator = native.load()
        if accelerator is not None and self.spelled:
            texts = array("q", bytes(24 * len(signed)))
            start = self.starts[0]
            texts[0::3] = texts[1::3] = array("q", [body - start for body in self.body_starts])
            texts[2::3] = array("q", [end - start for end in self.body_ends])
            with view[start - base : self.ends[-1] - base] as block:
                found = signs_of(accelerator, block, texts, self.spelled)
            if found is not None:
                return bytearray(found)
        bounds = zip(self.body_starts, self.body_ends, strict=True)
        bodies = [view[start - base : end - base] for start, end in bounds]
        for first in range(0, len(signed), MOST_SIGNED_TOGETHER):
            some = bodies[first : first + MOST_SIGNED_TOGETHER]
            ends = [end - 1 for end in accumulate(len(body) + 1 for body in some)]
            starts = [0, *(end + 1 for end in ends[:-1])]
            for place in places_with_signs(_BETWEEN.join(some), starts, ends):
                signed[first + place] = 1
        return signed


class RegularArray:
    """Reads the messages of an array as its bytes arrive, as long as the array is regular."""

    def __init__(self, start: int) -> None:
        self.start = start
        """The offset of the array."""
        self.frames = RegularFrames()
        """The messages so far."""
        self.is_whole = False
        """True if the whole array was read."""
        self._size = 0
        """The number of bytes that were read."""
        self._rest: BracketCount | None = None
        """The search for the end of the array, starting after the first `_size` bytes."""
        self._is_irregular = False

    def end(self, data: bytes | bytearray, start: int) -> int | None:
        """Return the end of the array, which begins at an index, or None if more bytes are needed."""
        if not self._is_irregular:
            self._read(data, start)
        return start + self._size if self._rest is None else self._rest.end(data, start + self._size)

    def _read(self, data: bytes | bytearray, start: int) -> None:
        """Read as many messages as possible. If the next bytes still form no message after more have arrived, the array
        is irregular."""
        size = self._size
        at = self._read_frames(data, start) if size or data.startswith(b"[", start) else start
        if self.is_whole:
            self._rest = None
        elif self._rest is None or at > start + size:
            self._rest = BracketCount(int(at > start))
        else:
            self._is_irregular = True
        self._size = at - start

    def _read_frames(self, data: bytes | bytearray, start: int) -> int:
        """Read messages and return the index after the last one, or the end of the array."""
        at = _SPACES.match(data, start + (self._size or 1)).end()  # type: ignore[union-attr]
        base = self.start - start
        accelerator = native.load()
        if accelerator is not None:
            return self._read_natively(accelerator, data, at, base)
        match, find, found = _FRAME.match, data.find, self.frames
        roles, starts, ends, body_starts = found.roles, found.starts, found.ends, found.body_starts
        body_ends, escaped, stops = found.body_ends, found.escaped, found.stops
        while frame := match(data, at):
            at = frame.end()
            (first, last), role, (body, body_end), (stop, _), (after, end) = frame.regs[1:]
            is_escaped = find(b"\\", body, body_end) >= 0
            roles.append(bytes(data[role[0] : role[1]]))
            starts.append(base + first)
            ends.append(base + last)
            body_starts.append(base + body - is_escaped)
            body_ends.append(base + body_end + is_escaped)
            escaped.append(is_escaped)
            stops.append(base + stop)
            if data[after] == _LIST_END:
                self.is_whole = True
                return end
        return at

    def _read_natively(self, accelerator: Native, data: bytes | bytearray, at: int, base: int) -> int:
        """Do what `_read_frames` does."""
        matched, found = match_values(accelerator, data, at, base, _PROGRAM), self.frames
        columns = [matched.values[place::_VALUES] for place in range(_VALUES)]
        starts, role_starts, role_ends, body_starts, body_ends, flags, stops, ends, afters = columns
        bounds = zip(role_starts, role_ends, strict=True)
        roles = [bytes(data[first - base : last - base]) for first, last in bounds]
        count = len(roles)
        if not _NUMBERS.keys() >= set(roles):
            count = next(place for place, role in enumerate(roles) if role not in _NUMBERS)
        whole = next((place for place in range(count) if data[afters[place] - base] == _LIST_END), None)
        if whole is not None:
            count = whole + 1
            self.is_whole = True
        found.roles += roles[:count]
        for column, values in (
            (found.starts, starts),
            (found.ends, ends),
            (found.body_starts, body_starts),
            (found.body_ends, body_ends),
            (found.stops, stops),
        ):
            column.extend(array("Q", values[:count]))
        found.escaped += bytes([flag & HAS_ESCAPE for flag in flags[:count]])
        found.spelled += bytes([flag & IS_SPELLED for flag in flags[:count]])
        return matched.ends[count - 1] if count else at


class ChatMLFrames:
    """Reads one array item by item. Each state is the method for the next item."""

    def __init__(self, record: Recorder, reading: JsonReading, array: JsonNode) -> None:
        self._record = record
        self._reading = reading
        self._array = array
        self._state: Handler = self._between
        self._first = True
        self._spans: list[tuple[int, int]] = []
        """The start and number of each message."""
        self._begin(array.start)

    def read(self) -> None:
        for item in self._array.items:
            if not item.closed and item.kind is not JsonKind.STRING:
                break
            self._state(item, _token(item))
            self._first = False
        self._finish()
        self._report_text()

    def _begin(self, start: int) -> None:
        self._start = start
        self._role: JsonNode | None = None
        self._implied = False
        self._problems: list[tuple[Rule, str | None, int, int]] = []
        self._pieces: list[Piece] = []
        self._unknown: list[JsonNode] = []
        self._end = start

    def _between(self, item: JsonNode, token: str | None) -> None:
        if token == START:
            self._open(item)
        elif token == END:
            self._record.report(W_STOP_REDUNDANT, None, item.start, item.end)
        elif token == MESSAGE:
            self._begin(item.start)
            self._problems.append((W_START_IMPLICIT, None, item.start, item.start))
            self._end = item.end
            self._state = self._body
        elif token is None and item.kind is JsonKind.STRING:
            self._text_first(item)
        else:
            self._record.report(E_PARSE_HEADER, "not-a-message", item.start, item.end)
            self._record.stray(item.start, item.end)

    def _text_first(self, item: JsonNode) -> None:
        """Handle text without a header. At the start of the array, it is a completion by the assistant."""
        if not self._first:
            self._record.stray(item.start, item.end)
            return
        self._begin(item.start)
        self._implied = True
        self._problems.append((W_START_IMPLICIT, None, item.start, item.start))
        self._state = self._body
        self._body(item, None)

    def _open(self, item: JsonNode) -> None:
        self._begin(item.start)
        self._end = item.end
        self._state = self._header

    def _header(self, item: JsonNode, token: str | None) -> None:
        if token == START:
            self._start_again(item)
            return
        if token is None and item.kind is JsonKind.STRING and self._role is None:
            self._role = item
        elif token == MESSAGE:
            self._state = self._body
        elif token == END:
            self._missing(item.start)
            self._state = self._after_wrong_token
        elif token is None and item.kind is JsonKind.STRING:
            self._missing(item.start)
            self._state = self._body
            self._body(item, None)
        else:
            self._problems.append((E_PARSE_HEADER, "marker-unknown", item.start, item.end))
        self._end = item.end

    def _start_again(self, item: JsonNode) -> None:
        """Handle a second start token. If it follows a role, the first token began an otherwise empty message."""
        if self._role is not None:
            self._missing(item.start)
            self._close(Ending.IMPLIED, self._end)
            self._open(item)
            return
        self._problems.append((W_START_REPEATED, None, item.start, item.end))
        self._end = item.end

    def _after_wrong_token(self, item: JsonNode, token: str | None) -> None:
        """Handle an item after a stop token where `<|message|>` belongs: text becomes the body, anything else ends the
        message."""
        if token is None and item.kind is JsonKind.STRING:
            self._state = self._body
            self._body(item, None)
            return
        self._close(Ending.END, self._end)
        if token != END:
            self._between(item, token)

    def _body(self, item: JsonNode, token: str | None) -> None:
        if token == END:
            self._close(Ending.END, item.end, (item.start, item.end))
        elif token == START:
            self._problems.append((W_END_MISSING, None, item.start, item.start))
            self._close(Ending.IMPLIED, self._end)
            self._open(item)
        else:
            self._end = item.end
            if (token is None and item.kind is not JsonKind.STRING) or len(item.members) > 1:
                self._unknown.append(item)
                return
            if token is not None:
                self._problems.append((W_MARKER_IN_BODY, "nested", item.start, item.end))
            self._pieces.append(piece_of(item))

    def _finish(self) -> None:
        """Finish the last message at the end of the array, or where reading failed."""
        if self._state == self._between:
            return
        closed = self._array.closed
        is_prompt = self._state == self._header and self._is_prompt()
        if closed and (is_prompt or (self._state == self._body and self._is_empty())):
            self._record.report(I_OPEN_PROMPT, None, self._start, self._end)
        elif self._state == self._header:
            self._problems.append((E_STREAM_TRUNCATED, "header", self._end, self._end))
            self._close(Ending.OPEN, self._end, complete=False)
        elif self._state == self._after_wrong_token:
            self._close(Ending.END, self._end)
        else:
            found = (I_OPEN_PROMPT, None) if closed else (E_STREAM_TRUNCATED, "body")
            self._problems.append((*found, self._end, self._end))
            self._close(Ending.OPEN, self._end)

    def _is_prompt(self) -> bool:
        return self._role is None or self._role.text.strip() in ("assistant", "Assistant")

    def _is_empty(self) -> bool:
        """True if the message has a valid header but no text, and so is a prompt for a completion."""
        has_text = any(piece.end > piece.start for piece in self._pieces)
        return not has_text and not self._problems and self._role is not None and self._role.text.strip() in _SPEAKERS

    def _missing(self, at: int) -> None:
        self._problems.append((E_PARSE_HEADER, "message-missing", at, at))

    def _close(self, ending: Ending, end: int, stop: Span | None = None, *, complete: bool = True) -> None:
        header = self._read_header(complete)
        number = self._record.last_number + 1
        span = (self._start, end)
        broke_out = self._breaks_out
        self._record.add(header, ending, span, self._pieces, stop=stop, broke_out=broke_out)
        for rule, reason, start, stop_at in self._problems:
            self._record.report(rule, reason, start, stop_at, number)
        self._add_unknown(header, span)
        self._spans.append((self._start, number))
        message = Message(number, self._record.transcript, header, ending, span, (), broke_out=broke_out)
        self._breaks_out = ending is Ending.IMPLIED and not is_user_safe(message)
        self._state = self._between

    def _add_unknown(self, header: Header, span: Span) -> None:
        """Add a hidden message for each body item other than text and tokens."""
        for item in self._unknown:
            number = self._record.add(replace(header, kind=Kind.UNKNOWN), Ending.END, span, [piece_of(item)])
            self._record.report(W_PART_UNKNOWN, None, item.start, item.end, number)

    _breaks_out = False
    """True if the next message begins inside the unclosed body of a hidden one."""

    def _read_header(self, complete: bool) -> Header:
        role = "assistant" if self._implied else ""
        if self._role is not None and self._role.closed:
            role = self._role.text.strip(" \t\r\n")
        role = "assistant" if role == "Assistant" else role
        if role not in ROLES and complete:
            start, end = (self._role.start, self._role.end) if self._role else (self._start, self._start)
            self._problems.insert(0, (E_PARSE_HEADER, "role-unknown" if role else "role-missing", start, end))
        malformed = any(problem[0] is E_PARSE_HEADER for problem in self._problems)
        return Header(role, channel=Channel.FINAL, malformed=malformed, complete=complete)

    def _report_text(self) -> None:
        """Report the faults in the JSON text, each with the message that contains it."""
        for fault in self._reading.faults if self._array.closed else self._reading.faults[:-1]:
            self._report_at(E_BODY_CONSTRAINT_VIOLATION, fault.reason, fault.offset, fault.end)
        for start, end in self._reading.lenient:
            self._report_at(I_JSON_LENIENT, None, start, end)

    def _report_at(self, rule: Rule, reason: str | None, start: int, end: int) -> None:
        index = bisect_right(self._spans, (start, 1 << 62)) - 1
        self._record.report(rule, reason, start, end, self._spans[index][1] if index >= 0 else None)


def _token(item: JsonNode) -> str | None:
    """Return the token that an object contains, or None if it contains none."""
    value = item.get("token")
    return value.text if value is not None and value.kind is JsonKind.STRING else None
