"""Events that a reader reports, in the order of the bytes that caused them."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator
from operator import itemgetter

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.model.diagnostic import Rule
from viewer.model.messages import Coding, Ending, Header, Kind, Message, Piece, Span, Stray, Transcript, Usage
from viewer.model.time_order import Placed


class Started(Struct, frozen=True):
    """A transcript began, and its header was read."""

    transcript: Transcript


class Opened(Struct, frozen=True):
    """A message header is complete. The ending is `open`, and the pieces are those known so far."""

    message: Message


class Grew(Struct, frozen=True):
    """An open message grew: these pieces replace the known ones from index `first` on."""

    number: int
    pieces: tuple[Piece, ...]
    first: int = 0


class Closed(Struct, frozen=True):
    """A message is final: nothing in it will change."""

    message: Message


class Strayed(Struct, frozen=True):
    """Text outside any message."""

    stray: Stray


class Found(Struct, frozen=True):
    """A problem or a note at this position."""

    rule: Rule
    reason: str | None
    start: int
    end: int
    message: int | None
    count: int = 1

    @property
    def code(self) -> str:
        """The code of the rule."""
        return self.rule.code


class ToolCancelled(Struct, frozen=True, gc=False):
    """A `tool.cancel` event."""

    transcript: int
    call_id: str
    start: int
    end: int


class DeclaredTools(Struct, frozen=True, gc=False):
    """A span of a body that contains only tool declarations, such as the function lists of OpenChatML 0.1."""

    transcript: int
    message: int
    start: int
    end: int


class Superseded(Struct, frozen=True, gc=False):
    """The user went back and continued differently: these messages are a superseded branch."""

    first: int
    last: int


class Metadata(Struct, frozen=True, gc=False):
    """A record that contains no message and comes before the first message."""


class Used(Struct, frozen=True):
    """A message, or the transcript if the number is 0, used this many more tokens."""

    transcript: int
    number: int
    usage: Usage
    model: str | None = None
    """The model that used the tokens, if the input names it next to the numbers."""


class AgentStarted(Struct, frozen=True, gc=False):
    """The first message of another agent follows."""

    transcript: int
    thread: int
    id: str
    number: int


CODINGS = (Coding.PLAIN, Coding.JSON_STRING, Coding.JSON_VALUE)
"""The codings that a body in a batch may have."""


def _offsets() -> array[int]:
    return array("Q")


class ClosedBatch(Struct):
    """Consecutive complete messages as columns, and the transcripts that begin among them.

    The body of most messages is in one JSON string. Either all messages have stop tokens, or none of them does."""

    first: int
    """The number of the first message."""
    transcript: int
    """The number of the current transcript before the first message; 0 if there is none yet."""
    started: list[tuple[int, Transcript]] = field(default_factory=list)
    """The transcripts that begin in the batch, each with the index of its first message in the batch."""
    headers: list[tuple[Header, Ending]] = field(default_factory=list)
    """The distinct pairs of a header, without its call ID, and an ending."""
    places: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """For some headers, by index: the indices of the extra attributes that have an empty value, because the value
    differs between messages."""
    numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    """The indices of known headers, by the reader's keys."""
    codes: array[int] = field(default_factory=lambda: array("I"))
    """The index of each message's header."""
    starts: array[int] = field(default_factory=_offsets)
    ends: array[int] = field(default_factory=_offsets)
    """The spans of the messages."""
    body_starts: array[int] = field(default_factory=_offsets)
    body_ends: array[int] = field(default_factory=_offsets)
    """The spans of the bodies. The span of a string with escapes includes its quotes; any other span does not."""
    escaped: bytearray = field(default_factory=bytearray)
    """For each body, the index of its coding in `CODINGS`."""
    stops: array[int] = field(default_factory=_offsets)
    """The offset of each message's stop token; empty if the messages have none."""
    stopless: set[int] = field(default_factory=set)
    """The indices of the headers whose messages have no stop token although the batch has stop tokens."""
    is_verbatim: bool = False
    """True if every body is text that equals its bytes, outside JSON, and all messages are in order."""
    signed: bytearray = field(default_factory=bytearray)
    """A mask of the messages whose bodies may contain marks, according to `places_with_signs`."""
    id_rows: array[int] = field(default_factory=lambda: array("I"))
    """The indices of the messages with a call ID."""
    ids: list[str] = field(default_factory=list)
    value_rows: array[int] = field(default_factory=lambda: array("I"))
    """The indices of the messages with headers that lack values."""
    values: list[str] = field(default_factory=list)
    """The missing values of each message in `value_rows`, on separate lines."""
    time_rows: array[int] = field(default_factory=lambda: array("I"))
    """The indices of the messages with a time."""
    times: array[int] = field(default_factory=_offsets)
    """The times of the messages in `time_rows`, in milliseconds."""
    time_starts: array[int] = field(default_factory=_offsets)
    time_ends: array[int] = field(default_factory=_offsets)
    """Where the times in `times` are in the input."""
    pieces: dict[int, tuple[Piece, ...]] = field(default_factory=dict)
    """The pieces of the bodies that are not in one JSON string, by the indices of their messages. Instead of the span
    of such a body, the columns contain the span of its message."""
    opened: dict[int, int] = field(default_factory=dict)
    """The indices of the messages that were open until the next record with messages, each with the number of usage
    reports before that record."""
    held: dict[int, tuple[Header, tuple[Piece, ...]]] = field(default_factory=dict)
    """The indices of the messages that were hidden until the next record confirmed them, each with the header and the
    pieces that it had until then."""
    grown: set[int] = field(default_factory=set)
    """The indices in `held` whose messages were not hidden, but open until the next record replaced their text."""
    used: list[tuple[int, Used]] = field(default_factory=list)
    """The token usage, each with the index of the message before which it was reported."""
    agents: list[tuple[int, AgentStarted]] = field(default_factory=list)
    """The other agents whose first messages are in the batch, each with the index of that message."""
    found: list[tuple[int, Found]] = field(default_factory=list)
    """The problems of messages, each with the index of its message."""

    def __len__(self) -> int:
        return len(self.codes)

    def join(
        self,
        header: Header,
        ending: Ending,
        span: Span,
        pieces: tuple[Piece, ...],
        time_ms: int | None,
        time_at: Placed | None,
    ) -> bool:
        """Add one message to the end. Return False if the columns cannot represent it."""
        has_own_coding = any(piece.coding is Coding.ESCAPED for piece in pieces)
        is_timed = time_ms is not None and time_at is not None and header.kind is not Kind.REPLAYED
        if not pieces or has_own_coding or self.stops or self.is_verbatim or not (is_timed or time_ms is None):
            return False
        row, whole = len(self), pieces[0] if len(pieces) == 1 else None
        if header.call_id is not None:
            self.id_rows.append(row)
            self.ids.append(header.call_id)
            header = header.with_call_id(None)
        if time_ms is not None and time_at is not None:
            self.time_rows.append(row)
            self.times.append(time_ms)
            self.time_starts.append(time_at.start)
            self.time_ends.append(time_at.end)
        if whole is None or whole.coding not in CODINGS:
            self.pieces[row] = pieces
            whole = Piece(*span, Coding.PLAIN)
        code = None if header.extra else self.numbers.get(("joined", header, ending))
        if code is None:
            code = len(self.headers)
            self.headers.append((header, ending))
            if not header.extra:  # attributes that compare equal may still have different types
                self.numbers["joined", header, ending] = code
        self.codes.append(code)
        self.starts.append(span[0])
        self.ends.append(span[1])
        self.body_starts.append(whole.start)
        self.body_ends.append(whole.end)
        self.escaped.append(CODINGS.index(whole.coding))
        self.signed.append(True)
        return True

    def one_by_one(self) -> Iterator[Started | AgentStarted | Opened | Grew | Closed | Found | Used]:
        """Yield the events of the batch one by one."""
        ids = dict(zip(self.id_rows, self.ids, strict=True))
        values = dict(zip(self.value_rows, self.values, strict=True))
        times = dict(zip(self.time_rows, self.times, strict=True))
        problems, agents, marks = deque(self.found), deque(self.agents), self._marks()
        number, used = self.transcript, 0
        opened: Message | None = None
        for row in range(len(self) + 1):
            while marks and marks[0][0] == row:
                event = marks.popleft()[2]
                if opened is not None and (isinstance(event, Started) or used == self.opened[row - 1]):
                    yield Closed(opened)
                    opened = None
                if isinstance(event, Started):
                    number = event.transcript.number
                else:
                    used += 1
                yield event
            if opened is not None:
                yield Closed(opened)
                opened = None
            if row == len(self):
                break
            code = self.codes[row]
            header, ending = self.headers[code]
            header = header.with_call_id(ids[row]) if row in ids else header
            header = header.with_values(self.places[code], values[row]) if row in values else header
            pieces = self.pieces.get(row)
            if pieces is None:
                pieces = (Piece(self.body_starts[row], self.body_ends[row], CODINGS[self.escaped[row]]),)
            start, end = self.starts[row], self.ends[row]
            stop = (self.stops[row], end) if self.stops and code not in self.stopless else None
            message = Message(
                self.first + row, number, header, ending, (start, end), pieces, stop, False, times.get(row)
            )
            while agents and agents[0][0] == row:
                yield agents.popleft()[1]
            if row in self.held:
                own, known = self.held[row]
                own = own.with_call_id(ids[row]) if row in self.grown and row in ids else own
                span = start, known[-1].end if known else start
                yield Opened(replace(message, header=own, ending=Ending.OPEN, span=span, pieces=known, stop=None))
                if row in self.grown:
                    yield Grew(message.number, pieces)
                while row not in self.grown and problems and problems[0][0] == row:
                    yield problems.popleft()[1]
                yield Closed(message)
            elif row in self.opened:
                opened = message
                yield Opened(replace(message, ending=Ending.OPEN, span=(start, pieces[-1].end)))
            else:
                yield Closed(message)
            while problems and problems[0][0] == row:
                yield problems.popleft()[1]
        for _, agent in agents:
            yield agent

    def _marks(self) -> deque[tuple[int, int, Started | Used]]:
        """Return the starts of transcripts and the token usage in order, each with its index and transcript."""
        started = [(place, one.number, Started(one)) for place, one in self.started]
        used = [(place, one.transcript, one) for place, one in self.used]
        return deque(sorted([*started, *used], key=itemgetter(0, 1)))


Event = (
    Started | Opened | Grew | Closed | ClosedBatch | Superseded | Strayed | Found | ToolCancelled | DeclaredTools
    | Metadata | Used | AgentStarted
)  # fmt: skip
