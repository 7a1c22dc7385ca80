"""Combine logged requests into conversations: if a request extends an earlier one, only its new messages are
recorded."""

from __future__ import annotations

from collections import Counter, OrderedDict
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from viewer.formats.server.answers import Reading
from viewer.formats.server.lines import Literal
from viewer.model.diagnostic import Rule
from viewer.model.messages import Channel, Ending, Header, Kind, Message, Piece, Span
from viewer.model.visibility import is_user_safe, message_kind
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.rules.notes import I_OPEN_PROMPT, I_TEMPLATE_UNKNOWN

MOST_KNOWN = 4096
"""The maximum number of conversations that are remembered, so that a request can resume one of them after other
requests."""
_SPACE = b" \t\r\n"
_CUT_OFF = (I_OPEN_PROMPT, E_STREAM_TRUNCATED)


class Outcome(Struct, frozen=True):
    """How the output of a request ended."""

    is_complete: bool
    is_cut: bool
    prompt_time: int | None = None
    output_time: int | None = None
    is_prompt_cut: bool = False
    is_alternative: bool = False
    """True for another choice of the same request."""


class Conversation:
    """Writes requests, and remembers the current conversation as hashes of its text."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._said: list[bytes] = []
        self._rest: Counter[str] = Counter()
        """The hidden messages since the last shown message, counted by kind."""
        self._prompt = b""
        self._answer: Span = (0, 0)
        """The first and last message of the last answer."""
        self._has_answer = False
        self._known: OrderedDict[bytes, Counter[str]] = OrderedDict()
        """The hidden messages at the end of each conversation, by a hash of the shown messages."""
        self._strays: list[Span] = []
        self._goes_on = False
        """True if the last line contained no record."""
        self._noted = False

    # Text outside records.

    def add_stray(self, line: bytes, at: int) -> None:
        """Add a line without a record. Adjacent lines form one span of stray text."""
        bare = line.strip(_SPACE)
        if not bare:
            return
        start = at + len(line) - len(line.lstrip(_SPACE))
        if self._goes_on and self._strays:
            self._strays[-1] = self._strays[-1][0], start + len(bare)
        else:
            self._strays.append((start, start + len(bare)))
        self._goes_on = True

    def end_stray(self) -> None:
        """End the current stray text, because the next line is not part of it."""
        self._goes_on = False

    def add_unreadable(self, span: Span, literal: Literal) -> int:
        """Write an unreadable record as a hidden message, and return the number of the message."""
        self._begin_if_none(span)
        pieces = [Piece(*each.span(0, len(each.data)), each.coding) for each in literal.segments]
        where = (pieces[0].start, pieces[-1].end) if pieces else span
        header = Header("", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)
        return self._record.add(header, Ending.END, where, pieces)

    def report_run(self, rule: Rule, reason: str, span: Span) -> None:
        """Report how the run ended."""
        self._record.start_if_none(span[0])
        self._record.report(rule, reason, *span, self._record.last_number or None)

    def close(self) -> None:
        """Write the remaining stray text at the end of the input."""
        self._flush()

    def _begin_if_none(self, span: Span) -> None:
        self._record.start_if_none(span[0])
        self._flush()

    def _flush(self) -> None:
        for span in sorted(self._strays):
            self._record.leave_out(*span)
        self._strays.clear()
        self._goes_on = False

    # Requests.

    def write(self, reading: Reading, span: Span, outcome: Outcome) -> None:
        """Write a request, with its output if the reading has one."""
        keys = [self._key(reading, message) for message in reading.messages]
        boundary = self._boundary(reading)
        digest = _hash(reading.text.data[: reading.prompt_length])
        first = self._new_from(reading, keys, boundary)
        if digest == self._prompt and self._record.transcript:
            self._replace_answer(boundary < len(reading.messages), outcome)
            first = boundary
        replayed = 0
        if first is None:
            replayed = self._resumed(reading, keys, boundary)
            self._record.start(span[0])
            first = 0
        self._flush()
        number = self._record.last_number
        self._emit(reading, first, boundary, outcome, replayed)
        self._said = [key for key in keys if key is not None]
        last = max((index for index, key in enumerate(keys) if key is not None), default=-1)
        self._rest = Counter(message_kind(message) for message in reading.messages[last + 1 :])
        self._prompt = digest
        self._answer = (number + 1 + max(0, boundary - first), self._record.last_number)
        self._has_answer = boundary < len(reading.messages)
        if self._has_answer and self._said:
            self._remember()
        if not reading.is_known and not self._noted:
            self._noted = True
            self._record.report(I_TEMPLATE_UNKNOWN, None, *span, number + 1)

    def _replace_answer(self, has_answer: bool, outcome: Outcome) -> None:
        """Handle a repeated prompt. The new answer supersedes the last one, unless both are choices of one request."""
        is_retry = has_answer and self._has_answer and not outcome.is_alternative
        if is_retry and self._answer[0] <= self._answer[1]:
            self._record.supersede(*self._answer)

    def write_output(self, reading: Reading, span: Span, outcome: Outcome) -> None:
        """Write an output whose prompt is unknown."""
        self._begin_if_none(span)
        self._emit(reading, 0, 0, outcome)

    def _boundary(self, reading: Reading) -> int:
        """Return the index of the first message in the output, or the number of messages if there is no output."""
        for index, message in enumerate(reading.messages):
            end = message.pieces[-1].end if message.pieces else message.span[1]
            if end > reading.prompt_length:
                return index
        return len(reading.messages)

    def _new_from(self, reading: Reading, keys: list[bytes | None], boundary: int) -> int | None:
        """Return the index of the first new message if the request extends the last one; otherwise, return None."""
        count = len(self._said)
        said = [index for index in range(boundary) if keys[index] is not None]
        if not count or not self._has_answer or [keys[index] for index in said[:count]] != self._said:
            return None
        return _after(reading, said[count - 1] + 1, boundary, self._rest.copy())

    def _resumed(self, reading: Reading, keys: list[bytes | None], boundary: int) -> int:
        """Return how many messages at the start of the request repeat an earlier conversation, if the request resumes
        one. In the new transcript, they are only context."""
        digest, found = b"", 0
        for index in range(boundary):
            key = keys[index]
            if key is not None:
                digest = _hash(digest + key)
                rest = self._known.get(digest)
                if rest is not None:
                    found = _after(reading, index + 1, boundary, rest.copy())
        return found

    def _remember(self) -> None:
        digest = b""
        for key in self._said:
            digest = _hash(digest + key)
        self._known[digest] = self._rest
        self._known.move_to_end(digest)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)

    def _key(self, reading: Reading, message: Message) -> bytes | None:
        """Return a key that identifies the role and text of a message, or None for a hidden message."""
        if not is_user_safe(message):
            return None
        text = b"".join(reading.text.data[piece.start : piece.end] for piece in message.pieces)
        return _hash(message.header.role.encode() + b"\0" + text.strip(_SPACE))

    def _emit(self, reading: Reading, first: int, boundary: int, outcome: Outcome, replayed: int = 0) -> None:
        numbers: dict[int, int] = {}
        count = len(reading.messages)
        for index in range(first, count):
            message = reading.messages[index]
            if index < replayed and is_user_safe(message):
                message = replace(message, header=replace(message.header, kind=Kind.REPLAYED))
            is_last = index == count - 1
            ending = message.ending
            if ending is Ending.OPEN and (outcome.is_complete or index < boundary < count):
                ending = Ending.END
            elif is_last and index >= boundary and not outcome.is_complete:
                ending = Ending.OPEN
            numbers[message.number] = self._add(reading, message, ending, outcome, is_new=index >= boundary)
        for span in reading.strays:
            if numbers and span[0] >= reading.messages[first].span[0]:
                self._record.leave_out(*reading.text.span(*span))
        is_settled = boundary < count and (outcome.is_complete or outcome.is_cut)
        for found in reading.found:
            if found.rule in _CUT_OFF and (is_settled or outcome.is_prompt_cut):
                continue
            if found.message is not None and found.message not in numbers:
                continue
            if found.message is None and (first >= count or found.start < reading.messages[first].span[0]):
                continue
            number = numbers[found.message] if found.message is not None else None
            self._record.report(found.rule, found.reason, *reading.text.span(found.start, found.end), number)

    def _add(self, reading: Reading, message: Message, ending: Ending, outcome: Outcome, *, is_new: bool) -> int:
        pieces = [each for piece in message.pieces for each in reading.pieces(piece)]
        span = reading.text.span(*message.span)
        stop = reading.text.span(*message.stop) if message.stop else None
        time_ms = outcome.output_time if is_new else outcome.prompt_time
        span = (span[0], max([span[1], *(piece.end for piece in pieces)]))
        return self._record.add(
            message.header,
            ending,
            span,
            pieces,
            stop=stop,
            broke_out=message.broke_out,
            time_ms=time_ms,
        )


def _after(reading: Reading, index: int, boundary: int, rest: Counter[str]) -> int:
    """Return the index after the hidden messages that the earlier request had at the same position."""
    while index < boundary and rest[kind := message_kind(reading.messages[index])] > 0:
        rest[kind] -= 1
        index += 1
    return index


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=8).digest()
