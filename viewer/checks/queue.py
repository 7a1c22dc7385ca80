"""`CheckQueue`: runs the checks of indexed messages, in slices and in input order."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from viewer import native
from viewer.checks import CHECKS
from viewer.checks.calls import ToolChecks, check_calls
from viewer.checks.check import Check, Predicate, Run, Scope
from viewer.checks.context import CheckContext, Read, TranscriptFacts
from viewer.checks.json import check_json
from viewer.checks.plain_calls import PlainKind, kind_code, plain_kind
from viewer.checks.prefilter import (
    HeaderAnswers,
    compile_plain,
    has_own_text,
    mask_of_scopes,
    plain_body,
    predicates_of,
)
from viewer.checks.text import find_nul
from viewer.columns.api import Column
from viewer.index.calls import CallLedger
from viewer.index.findings import Findings
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.model.events import Closed, DeclaredTools, Event, Found, Started, Strayed, ToolCancelled
from viewer.model.messages import Coding, Ending, Message, Piece, Span, Stray, Transcript
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import Body, Decoder, joined_text, read_body, string_data, string_read, verbatim_body
from viewer.reading.document_header import profile
from viewer.reading.format import FormatTraits
from viewer.rules.structure import W_ENCODING, W_TEXT_BETWEEN, W_VERSION_UNKNOWN
from viewer.scan.joined_text import join_pieces
from viewer.syntax.utf8 import ill_formed, is_utf8, whole_characters

if TYPE_CHECKING:
    from viewer.checks.kind_columns import KindColumns
    from viewer.checks.offending import Declaring
    from viewer.checks.prefilter_numpy import NumpyPrefilter
    from viewer.reading.grammar import TextGrammar

EVENT_BYTES = 256
"""The cost of an event in bytes, not counting its message."""


STRAY_BLOCK = 1024 * 1024
"""How many bytes of stray text are checked together."""
_NEEDS_MESSAGES = (W_TEXT_BETWEEN, W_VERSION_UNKNOWN)
"""Rules that are not reported if an input has an unknown format and no messages."""


_CONSTRAINT = b"<|constrain|>"
READ_AHEAD = 64 * 1024
"""The number of bytes to read at a time. A piece of more than half this size is read separately."""
_PLAIN = re.compile(rb"[\t\n -~]*+")
MOST_TOGETHER, MOST_TOGETHER_BYTES = 256, 256 * 1024
"""The maximum number of messages that are prefiltered together, and their approximate maximum size in bytes."""


class _AheadReader:
    """Reads small pieces in blocks, because each read of the source checks whether the file has changed."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._data = b""
        self._start = 0
        self.known_to = 0
        """The end of the known messages. Nothing after it is read ahead."""

    def read(self, start: int, end: int) -> bytes:
        first, last = start - self._start, end - self._start
        if first < 0 or last > len(self._data):
            if end - start > READ_AHEAD // 2:
                return self._read(start, end)
            self._data = self._read(start, max(end, min(start + READ_AHEAD, self.known_to)))
            first, last, self._start = 0, end - start, start
        return self._data[first:last]

    def forget(self) -> None:
        """Drop the bytes that were read ahead."""
        self._data = b""


class _Text:
    """The text of a message, decoded on first use."""

    __slots__ = ("_body", "_data", "_ids", "_pieces", "_read", "source")

    def __init__(self, pieces: tuple[Piece, ...], read: Read, ids: Decoder | None, joined: bytes | None = None) -> None:
        """`joined` is the text, if it is known."""
        self._pieces = pieces
        self._read = read
        self._ids = ids
        self._body: Body | None = None
        self._data = joined
        if len(pieces) == 1 and pieces[0].coding is Coding.JSON_STRING:
            self.source = read(pieces[0].start, pieces[0].end)
        elif len(pieces) == 1 and pieces[0].coding is Coding.PLAIN:
            self.source = self._data = read(pieces[0].start, pieces[0].end)
        else:
            self.source = self.data
        """The text, or the JSON string that contains it."""

    @property
    def data(self) -> bytes:
        """The decoded text."""
        if self._data is None:
            if self._is_string:
                self._data = string_data(self.source)
            elif len(self._pieces) > 1:
                self._data = joined_text(self._pieces, self._read)
            if self._data is None:
                self._data = self.body.data
        return self._data

    @property
    def body(self) -> Body:
        """The decoded body, with the origin of its bytes."""
        if self._body is None:
            self._body = self._decoded()
        return self._body

    @property
    def _is_string(self) -> bool:
        return len(self._pieces) == 1 and self._pieces[0].coding is Coding.JSON_STRING

    def _decoded(self) -> Body:
        if self._data is not None and self._is_string:
            return string_read(self._data, self.source, self._pieces[0].start)
        return read_body(self._pieces, self._read, self._ids)


class _BlockReader:
    """Reads the bytes of several messages in one piece if the messages are close to each other."""

    def __init__(self, messages: list[Message], read: Read) -> None:
        start = min(message.span[0] for message in messages)
        end = max(message.span[1] for message in messages)
        is_block = end - start <= 2 * MOST_TOGETHER_BYTES
        self._read = read
        self._data = read(start, end) if is_block else b""
        self._start = start
        self._accelerator = native.load()
        self._is_ascii = self._data.isascii()
        self._is_well_formed = is_block and b"\0" not in self._data and (self._is_ascii or is_utf8(self._data))

    def is_well_formed(self, start: int, end: int) -> bool:
        """True if the bytes between two offsets are known to be UTF-8 without NUL."""
        if not self._is_well_formed or self._is_ascii:
            return self._is_well_formed
        edges = self._data[start - self._start : end - self._start + 1]
        return not edges or (edges[0] & 0xC0 != 0x80 and edges[-1] & 0xC0 != 0x80)

    def are_well_formed(self, pieces: tuple[Piece, ...]) -> bool:
        """True if the bytes of each piece are known to be UTF-8 without NUL."""
        first, last = self._start, self._start + len(self._data)
        if not self._is_well_formed or not all(first <= piece.start <= piece.end <= last for piece in pieces):
            return False
        return self._is_ascii or all(self.is_well_formed(piece.start, piece.end) for piece in pieces)

    def join(self, pieces: tuple[Piece, ...]) -> bytes | None:
        """Return the text of pieces if they are in the block and known to be UTF-8 without NUL, or None."""
        return join_pieces(self._accelerator, pieces, self._data, self._start) if self._is_well_formed else None

    def read(self, start: int, end: int) -> bytes:
        first, last = start - self._start, end - self._start
        return self._data[first:last] if first >= 0 and last <= len(self._data) else self._read(start, end)


class _Bits(Struct, frozen=True):
    """Masks and functions that depend only on the table of checks, so all documents share them."""

    predicates: tuple[Predicate, ...]
    of_message: int
    of_calls: int
    of_encoding: int
    of_plain_calls: int
    runs: dict[int, tuple[Run, ...]]


@lru_cache(4)  # independent of inputs, so `clear_caches` need not clear it
def _bits_of(checks: tuple[Check, ...]) -> _Bits:
    numbered = [(1 << number, check) for number, check in enumerate(checks)]
    return _Bits(
        predicates_of(checks),
        mask_of_scopes(checks, Scope.MESSAGE),
        mask_of_scopes(checks, Scope.CALLS),
        sum(bit for bit, check in numbered if W_ENCODING in check.rules),
        sum(bit for bit, check in numbered if check.run in (check_calls, check_json)),
        {},
    )


class Messages(Struct):
    """Consecutive messages that await their checks, by number: the messages of batches, and those that the parser read
    between batches."""

    first: int
    last: int
    grammar: TextGrammar | None
    """The grammar of the headers; None for frames of a chat template, whose headers need no check."""
    noted: Column
    """The numbers of messages with a problem in the header or stop token."""


class ClosedRows(Struct):
    """Consecutive complete messages that await their checks, by number."""

    first: int
    last: int
    signed: bytearray
    """A mask of the messages that may contain marks, up to the last such message."""
    started: list[tuple[int, Transcript]]
    """The transcripts that begin among these messages, each with the number of its first message."""
    found: list[tuple[int, Found]]
    """The problems that the reader found, each with the number of its message."""


class Ended(Struct, frozen=True):
    """The end of the input."""


Work = Event | Messages | ClosedRows | Ended


class CheckQueue:
    """Queues work in input order and runs it on request."""

    def __init__(
        self, index: MessageIndex, read: Read, formats: Mapping[str, FormatTraits], ids: Decoder | None = None
    ) -> None:
        self.findings = Findings(read, is_shown=self._is_shown)
        self.unknown: str | None = None
        """A description of the input if its format was not recognized; otherwise None. An unrecognized input may still
        contain messages."""
        self._held = Findings(read)
        """Diagnostics to drop if the input has no messages, because E-FORMAT-UNKNOWN is then enough."""
        self._shown: dict[int, bool] = {}
        """For each header key, whether the end user sees the messages with that key."""
        self.calls = CallLedger(self.report, index)
        self.declaring: list[Declaring] = []
        """The message bodies and function lists that declare tools."""
        self.tools = ToolChecks(self.calls, self._note_declaring)
        self.waiting: deque[Work] = deque()
        self.waiting_bytes = 0
        self.checks = CHECKS
        self.answers: HeaderAnswers
        """The results of the header predicates for the current transcript."""
        self.batch_prefilter: NumpyPrefilter | None = None
        self._kind_columns: KindColumns | None = None
        self._prefilter = compile_plain(self.checks)
        bits = _bits_of(self.checks)
        self._predicates = bits.predicates
        self._of_message = bits.of_message
        self.of_calls = bits.of_calls
        """The bits of the checks that see the messages in order."""
        self._of_encoding = bits.of_encoding
        self.every_check = self._of_message | self.of_calls
        """The bits for a message to which the prefilters do not apply."""
        self.of_plain_calls = bits.of_plain_calls
        """The bits of the checks that `ToolChecks.link_pairs` and `link_plain` replace."""
        self._plain_kinds: dict[int, PlainKind | None] = {}
        """The kind for each header key of the current transcript."""
        self._runs = bits.runs
        """The check functions for each mask so far."""
        self._has_begun = False
        self._transcribed: TranscriptFacts
        self.cut = array("I")
        """The numbers of messages that are shown but have hidden parts."""
        self.checked_to = 0
        """Message bytes before this offset have been checked."""
        self.index = index
        self._ahead = _AheadReader(read)
        self.read = self._ahead.read
        self._ids = ids
        self._formats = formats

    def add(self, work: Work) -> None:
        """Queue a piece of work."""
        last = self.waiting[-1] if self.waiting else None
        if isinstance(last, Messages) and self._continues(last, work):
            before = self.index.span(last.last)[1]
            if isinstance(work, Messages):
                last.last = work.last
                last.noted.extend(work.noted)
            else:
                last.last += 1
            self.waiting_bytes += self.index.span(last.last)[1] - before
        else:
            self.waiting.append(work)
            self.waiting_bytes += self._size(work)
        if isinstance(work, Closed):
            self._ahead.known_to = max(self._ahead.known_to, work.message.span[1])
        elif isinstance(work, ClosedRows):
            self._ahead.known_to = max(self._ahead.known_to, self.index.span(work.last)[1])

    def _continues(self, last: Messages, work: Work) -> bool:
        """True if this work can be checked together with the messages before it."""
        if isinstance(work, Messages):
            return work.first == last.last + 1 and work.grammar is last.grammar
        if not isinstance(work, Closed) or last.grammar is None:
            return False
        message = work.message
        is_next = message.number == last.last + 1 and message.span[0] >= self.index.span(last.last)[1]
        return is_next and message.stop is not None and message.time_ms is None and not message.cancelled

    def _size(self, work: Work) -> int:
        match work:
            case Messages() | ClosedRows():
                return self._bytes_between(work.first, work.last)
            case Closed(message):
                return EVENT_BYTES + message.span[1] - message.span[0]
        return EVENT_BYTES

    def run(self, size: int) -> None:
        """Run the checks of about `size` queued bytes."""
        while self.waiting and size > 0:
            work = self.waiting.popleft()
            done = self._size(work)
            match work:
                case Messages() | ClosedRows():
                    done = self._messages(work, size)
                case Closed(message):
                    done += self._closed_run(message, size)
                case Found(rule, reason, start, end, number, count):
                    self.report(rule, reason, start, end, number, count)
                case Strayed(stray):
                    self._strayed(stray)
                case Started(transcript):
                    self.start_transcript(transcript)
                case ToolCancelled(_, call_id, start, end):
                    self.calls.cancel(call_id, start, end)
                case DeclaredTools(_, number, start, end):
                    self.tools.declare(self.read(start, end).decode("utf-8", "replace"), number, (start, end))
                case Ended():
                    self._end()
            size -= done
            self.waiting_bytes -= done

    def report(self, rule: Rule, reason: str | None, start: int, end: int, message: int | None, count: int = 1) -> None:
        """Add a diagnostic, or hold it back if its rule needs messages and the input is unrecognized and has none
        yet."""
        if self._has_no_messages and rule in _NEEDS_MESSAGES:
            self._held.keep(self.findings.most_per_code)
            self._held.add(rule, reason, start, end, message, count)
            return
        self._release()
        self.findings.add(rule, reason, start, end, message, count)

    def _note_declaring(self, message: int, function_list: Span | None) -> None:
        from viewer.checks.offending import Declaring  # lazy: only declared tools need it

        self.declaring.append(Declaring(message, function_list))

    @property
    def _has_no_messages(self) -> bool:
        return self.unknown is not None and not len(self.index)

    def _release(self) -> None:
        """Report the diagnostics that were held back, unless there are still no messages."""
        if self._has_no_messages or not len(self._held):
            return
        held, self._held = self._held, Findings(self.read)
        for one in held:
            self.findings.add(one.rule, one.reason, one.start, one.end, one.message, one.count)
        for code, count in held.more.items():
            self.findings.add_more(code, count)

    def _is_shown(self, number: int) -> bool:
        if number > len(self.index):
            return False
        key = self.index.header_key(number)
        if key not in self._shown:
            self._shown[key] = is_user_safe(self.index[number])
        return self._shown[key]

    def start_transcript(self, transcript: Transcript) -> None:
        """Begin a transcript. The messages that follow belong to it."""
        if self._has_begun:
            self.tools.start_transcript()
        facts = self._facts_of(transcript)
        if self._has_begun and facts == self._transcribed:
            return
        self._has_begun = True
        self._transcribed = facts
        self.answers = HeaderAnswers(self._predicates, self.index, facts)
        self._plain_kinds.clear()
        self._kind_columns = None

    def has_facts_of(self, transcript: Transcript) -> bool:
        """True if this transcript and the current one have equal `TranscriptFacts`."""
        return self._facts_of(transcript) == self._transcribed

    def _facts_of(self, transcript: Transcript) -> TranscriptFacts:
        return TranscriptFacts(self._formats[transcript.format], profile(transcript.header))

    def _end(self) -> None:
        """End the last transcript, and drop the state of the checks, which contains text of the input."""
        self.calls.end_transcript()
        self._release()
        self.tools = ToolChecks(self.calls, self._note_declaring)
        self._ahead.forget()
        self._plain_kinds.clear()
        self._kind_columns = None
        if self._has_begun:
            del self._transcribed, self.answers
            self._has_begun = False

    def _closed_run(self, message: Message, size: int) -> int:
        """Check a message together with the queued messages that directly follow it. Return the cost of the additional
        messages."""
        waiting, done, most = self.waiting, 0, min(size, MOST_TOGETHER_BYTES)
        messages, works = [message], list[Message | Started | Found]([message])
        while waiting and done < most and len(messages) < MOST_TOGETHER:
            work = waiting[0]
            if type(work) is Closed:
                found = work.message
                done += found.span[1] - found.span[0]
                messages.append(found)
                works.append(found)
            elif type(work) is Found or (type(work) is Started and self.has_facts_of(work.transcript)):
                works.append(work)
            else:
                break
            done += EVENT_BYTES
            waiting.popleft()
        if len(works) == 1:
            self.check_closed(message)
        elif self._transcribed.format.shares_spans:
            self._closed_together(works, messages)
        else:
            self._frames_together(works, messages)
        return done

    def _frames_together(self, works: list[Message | Started | Found], messages: list[Message]) -> None:
        """Like `_closed_together`, but for messages that share no bytes."""
        base = min(message.span[0] for message in messages)
        block = self.read(base, max(message.span[1] for message in messages))
        is_plain = _PLAIN.fullmatch(block) is not None
        bodies = [_regular_body(message, block, base, is_plain=is_plain) for message in messages]
        known = [(row, body) for row, body in enumerate(bodies) if body is not None]
        answers = [self._answers_of(messages[row]) for row, _ in known]
        found = self._prefilter.masks(answers, [body.data for _, body in known])
        masks = dict(zip((row for row, _ in known), found, strict=True))
        place = skipped = 0
        for work in works:
            if isinstance(work, Found):
                skipped = self._skip_to(skipped)
                self.report(work.rule, work.reason, work.start, work.end, work.message, work.count)
                continue
            if isinstance(work, Started):
                skipped = self._skip_to(skipped)
                self.start_transcript(work.transcript)
                continue
            body = bodies[place]
            is_regular = body is not None
            mask, body = (masks[place], body) if body is not None else self._mask(work)
            place += 1
            if not mask:
                skipped = work.number
                continue
            skipped = self._skip_to(skipped)
            if place > 1:
                self.checked_to = max(self.checked_to, messages[place - 2].span[1])
            if not (is_regular and not mask & ~self.of_plain_calls and self._is_linked(work, body)):
                self.run_checks(mask, self.case_of(work, body))
        self._skip_to(skipped)
        self.checked_to = max(self.checked_to, messages[-1].span[1])

    def _skip_to(self, number: int) -> int:
        """Skip the messages up to this one, which need no checks. Do nothing if the number is 0. Always return 0."""
        if number:
            self.tools.skip_messages(self.index.turn(number))
        return 0

    def _closed_together(self, works: list[Message | Started | Found], messages: list[Message]) -> None:
        """Check messages whose transcripts have equal `TranscriptFacts`. `works` also contains the events between
        them."""
        read = _BlockReader(messages, self.read)
        joined = [read.join(message.pieces) for message in messages]
        texts = [
            _Text(message.pieces, read.read, self._ids, known) for message, known in zip(messages, joined, strict=True)
        ]
        answers = [*map(self._answers_of, messages)]
        masks = self._prefilter.masks(answers, [text.source for text in texts], lambda row: texts[row].data)
        place = 0
        for work in works:
            if isinstance(work, Started):
                self.start_transcript(work.transcript)
                continue
            if isinstance(work, Found):
                self.report(work.rule, work.reason, work.start, work.end, work.message, work.count)
                continue
            message, text, mask, is_well_formed = work, texts[place], masks[place], joined[place] is not None
            place += 1
            start, end = message.span
            first = max(start, self.checked_to)
            if len(message.pieces) > 1:
                is_well_formed = is_well_formed or read.are_well_formed(message.pieces)
            else:
                is_well_formed = end - first <= READ_AHEAD and read.is_well_formed(first, end)
            if not is_well_formed and self._may_be_ill_formed(message):
                mask |= self._of_encoding
            if not mask:
                self.tools.skip_messages(self.index.turn(message.number))
            elif mask & ~self.of_plain_calls or message.stop is not None or not self._is_linked(message, text):
                self.run_checks(mask, self.case_of(message, text.body))
            self.checked_to = max(self.checked_to, end)

    def _is_linked(self, message: Message, text: _Text | Body) -> bool:
        """Link a call or reply whose only possible problem is its ID. Return False if it needs its checks."""
        number, call_id = message.number, message.header.call_id
        kind = self.plain_kind(self.index.header_key(number))
        if kind is None or message.ending is Ending.OPEN or _CONSTRAINT in text.data:
            return False
        if message.time_ms is not None and self.calls.has_deadlines:
            return False
        turn = self.index.turn(number)

        def case() -> CheckContext:
            return self.case_of(message, text.body if isinstance(text, _Text) else text)

        return self.tools.link_plain(kind, number, turn, call_id, text.data, case)

    def check_closed(self, message: Message) -> None:
        """Check one message."""
        mask, body = self._mask(message)
        if mask:
            self.run_checks(mask, self.case_of(message, body))
        else:
            self.tools.skip_messages(self.index.turn(message.number))
        self.checked_to = max(self.checked_to, message.span[1])

    def run_checks(self, mask: int, case: CheckContext, *, is_linked: bool = False) -> None:
        """Run the checks whose bits are set, in the order of the table. `is_linked` is true if the calls before and
        after the message are already linked."""
        for run in self._functions(mask):
            for found in run(case):
                self.report(found.rule, found.reason, found.start, found.end, found.message, found.count)
        if case.is_cut:
            self.cut.append(case.message.number)
        if not (is_linked or mask & self.of_calls):
            self.tools.skip_messages(case.turn)

    def _functions(self, mask: int) -> tuple[Run, ...]:
        known = self._runs.get(mask)
        if known is None:
            set_bits = (check.run for number, check in enumerate(self.checks) if mask >> number & 1)
            known = self._runs[mask] = tuple(set_bits)
        return known

    def plain_kind(self, key: int) -> PlainKind | None:
        """Return the kind of the calls or replies with this header key, or None if they cannot be plain."""
        if key not in self._plain_kinds:
            self._plain_kinds[key] = plain_kind(self.index.example(key), self._transcribed)
        return self._plain_kinds[key]

    def tool_of(self, key: int) -> str:
        """Return the full name of the tool of plain calls with this header key, or an empty string if they are not
        plain."""
        kind = self.plain_kind(key)
        return kind.tool if kind is not None else ""

    def bare_tool_of(self, key: int) -> str:
        """Return the tool name by which calls and replies with this header key are linked if they have no ID; empty if
        they are not plain."""
        kind = self.plain_kind(key)
        return kind.bare_tool if kind is not None else ""

    @property
    def kind_columns(self) -> KindColumns:
        """The columns that the batches of the current transcript share."""
        if self._kind_columns is None:
            from viewer.checks.kind_columns import KindColumns

            self._kind_columns = KindColumns()
        return self._kind_columns

    def kind_code(self, key: int) -> int:
        """Return the `KindCode` of the messages with this header key."""
        return kind_code(self.plain_kind(key), self.index.example(key))

    def is_instruction(self, number: int) -> bool:
        """True for a closed instruction, which may declare tools."""
        message = self.index.example(self.index.header_key(number))
        is_closed = message.ending is Ending.END and not message.header.malformed
        return is_closed and message.header.role in ("system", "developer")

    def ahead(self, message: Message) -> list[Diagnostic]:
        """Return the diagnostics of a message ahead of its turn, except those that depend on other messages."""
        if not self._has_begun or message.span[0] < self.checked_to or not message.body_span:
            return []
        found = Findings(self.read)
        case = self.case_of(message, read_body(message.pieces, self.read, self._ids))
        for run in self._functions(self._of_message):
            for one in run(case):
                found.add(one.rule, one.reason, one.start, one.end, one.message, one.count)
        return found.by_position()

    def _mask(self, message: Message) -> tuple[int, Body]:
        """Return the bits of the checks that a message needs, and its body."""
        if self._transcribed.format.shares_spans:
            body = read_body(message.pieces, self.read, self._ids)
            mask = self._prefilter.mask(self._answers_of(message), body.data, 0, len(body.data))
            return mask | (self._of_encoding if self._may_be_ill_formed(message) else 0), body
        plain = plain_body(message)
        if plain is not None:
            data, base = self.read(*message.span), message.span[0]
            start, end = plain[0] - base, plain[1] - base
            if has_own_text(message, data, start, end):
                mask = self._prefilter.mask(self._answers_of(message), data, start, end)
                return mask, verbatim_body(data[start:end], plain[0])
        return self.every_check, read_body(message.pieces, self.read, self._ids)

    def _answers_of(self, message: Message) -> int:
        return self.answers.of(message.number, self.index.header_key(message.number))

    def _may_be_ill_formed(self, message: Message) -> bool:
        """True if the bytes of a message, including those outside its body, need the encoding check."""
        start, end = message.span
        if len(message.pieces) > 1 or end - max(start, self.checked_to) > READ_AHEAD:
            return True
        data = self.read(max(start, self.checked_to), end) if end > self.checked_to else b""
        return b"\0" in data or not (data.isascii() or is_utf8(data))

    def mask_of_text(self, key: int, number: int, text: bytes) -> int:
        """Return the bits of the checks that a message with this header key and this text needs."""
        return self._prefilter.mask(self.answers.of(number, key), text, 0, len(text))

    def masks_of_texts(self, keys: Sequence[int], numbers: Sequence[int], texts: Sequence[bytes]) -> list[int]:
        """Like `mask_of_text`, for several messages."""
        return self._prefilter.masks([*map(self.answers.of, numbers, keys)], texts)

    def case_of(self, message: Message, body: Body, grammar: TextGrammar | None = None) -> CheckContext:
        """Return the context in which a message is checked."""
        turn = self.index.turn(message.number)
        return CheckContext(
            message,
            turn,
            body,
            self.read,
            self._transcribed,
            self.checked_to,
            self.tools,
            grammar,
        )

    def _strayed(self, stray: Stray) -> None:
        start, end = stray.span
        while start < end:
            data = whole_characters(self.read(start, min(end, start + STRAY_BLOCK)), start + STRAY_BLOCK < end)
            for span in ill_formed(data, start):
                self.report(W_ENCODING, "invalid-utf8", *span, None)
            for first, last in find_nul(data, start):
                self.report(W_ENCODING, "nul", first, last, None, last - first)
            start += len(data)

    def _messages(self, work: Messages | ClosedRows, size: int) -> int:
        """Check the first messages of `work`, about `size` bytes, and queue the remaining ones again. Return the number
        of bytes checked."""
        if isinstance(work, ClosedRows):
            from viewer.checks.closed_rows import check_rows  # lazy: short inputs do not need it

            done = check_rows(self, work, size)
        else:
            from viewer.checks.batches import check_run

            done = check_run(self, work, size)
        if done < work.last:
            self.waiting.appendleft(replace(work, first=done + 1))
        rest = self._bytes_between(done + 1, work.last) if done < work.last else 0
        return self._bytes_between(work.first, work.last) - rest

    def _bytes_between(self, first: int, last: int) -> int:
        return self.index.span(last)[1] - self.index.span(first)[0]


def _regular_body(message: Message, block: bytes, base: int, *, is_plain: bool) -> Body | None:
    """Return the body of a message in a block that starts at `base`, if header and body determine which checks are
    needed: the bytes around the body are plain, and nothing in the body is escaped. Otherwise, return None."""
    plain = plain_body(message)
    if plain is None:
        return None
    start, end = plain[0] - base, plain[1] - base
    first, last = message.span[0] - base, message.span[1] - base
    if not (is_plain or (_PLAIN.fullmatch(block, first, start) and _PLAIN.fullmatch(block, end, last))):
        return None
    return verbatim_body(block[start:end], plain[0]) if has_own_text(message, block, start, end) else None
