"""Write drafts to the recorder: headers, copies, merged records, threads, and links by call id."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.engine.conditions import holds
from viewer.formats.engine.copies import CopyPairs, texts_of
from viewer.formats.engine.deltas import DeltaRun
from viewer.formats.engine.drafts import MOST_TURNS, Draft, RecordReading, StreamStep
from viewer.formats.engine.streams import BlockStreams
from viewer.formats.engine.usage import UsageLedger
from viewer.formats.json.content_parts import ContentPart, may_be_split, part_header, split_content
from viewer.formats.json.fields import Source
from viewer.formats.tables.model import Mode, Prefill, RecordFormat, RecordRule
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Outcome, Piece, Span
from viewer.reading.bodies import Body, read_body
from viewer.reading.header import full_tool_name
from viewer.reading.recorder import Recorder
from viewer.rules.calls import W_TOOL_FAILED
from viewer.rules.errors import E_STREAM_TRUNCATED, E_TOOL_CANCELLED, E_TOOL_TIMEOUT
from viewer.rules.notes import I_RECORD_UNKNOWN, I_ROW_ORDER, I_STREAM_FINAL_ONLY
from viewer.rules.structure import W_COPY_DIFFERS, W_PLUGIN, W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_REPLIES = 4096
"""Replies whose parts may still be repeated."""
MOST_SAID = 256
"""Texts that a later record may repeat."""
MOST_ARRIVED = 1024 * 1024
"""Bytes of a text in pieces that is divided at its marks. The marks of a longer text only hide."""
_LONGEST_MARK = 64
_MOST_LOOKS = 64
"""How often the text so far is divided on trial."""
MOST_OPEN = 4096
"""Messages that a later record may still replace."""
MOST_HEADERS = 256
_REPEATING = (Mode.REPEAT, Mode.FINAL)
_SPOKEN = ("user", "assistant")
_COPIED = frozenset({Kind.SAID, Kind.THOUGHT, Kind.REPLY, Kind.INJECTED, Kind.SUBAGENT, Kind.REPLAYED})
"""The kinds of messages that other records repeat."""
_BEFORE = (Kind.INSTRUCTION, Kind.INJECTED, Kind.REPLAYED)
"""Kinds of messages that may precede the first message."""
_TURNS = (Kind.SAID, Kind.CALL, Kind.REPLY)
_OUTCOME_RULES = {
    Outcome.FAILED: (W_TOOL_FAILED, None),
    Outcome.REFUSED: (W_TOOL_FAILED, None),
    Outcome.TIMEOUT: (E_TOOL_TIMEOUT, "reported"),
    Outcome.CANCELLED: (E_TOOL_CANCELLED, "reported"),
}


class _Arrived:
    """A text that arrives in pieces, with its bytes: a mark may extend over several of them."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._starts: list[int] = []
        self._data: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._looked = 0
        self.is_marked = False
        """True if the text so far is divided, or may be."""

    def add(self, pieces: list[Piece], read: Callable[[int, int], bytes]) -> None:
        """Add pieces while their bytes are at hand."""
        self.pieces += pieces
        for piece in pieces:
            if self._size <= MOST_ARRIVED and piece.start < piece.end:
                data = read(piece.start, piece.end)
                self._starts.append(piece.start)
                self._data.append(data)
                self._size += len(data)
                self._tail = self._tail[-_LONGEST_MARK:] + data.strip(b'"')

    def look(self, role: str) -> bool:
        """True if the text so far has marks: nothing more of it is shown before it is divided."""
        if not self.is_marked and may_be_split(self._tail):
            self._looked += 1
            self.is_marked = self._looked > _MOST_LOOKS or bool(self.parts(role))
        return self.is_marked

    def parts(self, role: str) -> list[ContentPart]:
        """The parts of the whole text; none of a text without marks, or of one that is too long."""
        return split_content(self.pieces, self._read, role) if self._size <= MOST_ARRIVED else []

    def _read(self, start: int, end: int) -> bytes:
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return b""
        first = start - self._starts[index]
        return self._data[index][first : first + end - start]


class _Open(Struct):
    """A message that may still grow."""

    number: int
    pieces: list[Piece]
    text: str
    end: int
    must_end: bool = False
    """True if the message is incomplete without its last record."""
    draft: Draft | None = None
    """The newest record of the message, or the first one of a text that arrives in pieces."""
    arrived: _Arrived | None = None
    """All of a text that arrives in pieces. `pieces` are those that are shown so far."""


class _Reply(Struct):
    """The parts of one reply that were read."""

    seen: set[tuple[str, str | int]] = field(default_factory=set)
    said: _Open | None = None


class _RowOrder:
    """The order of a training row: answers alternate with other messages, and one is the last. `report` gets the
    number and the span of a message out of order."""

    def __init__(self, report: Callable[[int, Span], None]) -> None:
        self._report = report
        self._last: tuple[bool, int, Span] | None = None

    def add(self, header: Header, number: int, span: Span) -> None:
        """Add a message; answers that no user got do not count."""
        if header.thread or header.kind not in _TURNS:
            return
        is_answer = header.kind is Kind.SAID and header.role == "assistant"
        if is_answer and self._last is not None and self._last[0] and self._last[2] != span:
            self._report(number, span)
        self._last = is_answer, number, span

    def end(self) -> None:
        """End the row."""
        if self._last is not None and not self._last[0]:
            self._report(*self._last[1:])
        self._last = None


class DraftWriter:
    """Owner of everything that relates one record to the next."""

    def __init__(self, record: Recorder, format: RecordFormat, *, preambles: bool, row_order: bool = False) -> None:
        self._record = record
        self._format = format
        self._preambles = preambles
        self._source: Source | None = None
        self._at = 0
        """The number of the record."""
        self._tools: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._headers: dict[tuple[object, ...], Header] = {}
        """The headers of messages without a call id, by the facts that make them."""
        self._replies: OrderedDict[str, _Reply] = OrderedDict()
        self._saying: dict[str, _Reply] = {}
        """The replies whose text may grow."""
        self._growing: dict[tuple[str, ...], _Open] = {}
        self._same: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {}
        """The messages that grow, by rule and key."""
        self._keyless: dict[tuple[str, ...], None] = {}
        """Those without a key."""
        self._hooks = format.hooks.renew() if format.hooks.renew else format.hooks
        self._has_reported_end = False
        """True if it was reported that a plug-in is disabled."""
        self._copies = CopyPairs(
            format.alone, self._open_hidden, self._settle, self._emit, self._report_outcome, self._report_difference
        )
        self._once: set[tuple[Kind, str, str]] = set()
        """The texts that are messages only once."""
        self._unanswered: dict[str, None] = {}
        """The ids of calls without a reply."""
        self._streams = BlockStreams(record, self._header, self._emit, self._report)
        self._prefill: _Open | None = None
        """The last message, if it may be the beginning of the next answer."""
        self._said: OrderedDict[tuple[str, str], None] = OrderedDict()
        """The last texts of the speakers, if records of the format repeat texts."""
        self._repeats = any(_repeats(rule) for rule in format.records)
        self._unknown: set[str] = set()
        self._prompts: deque[int] = deque(maxlen=MOST_TURNS)
        """The numbers of the last prompts."""
        self.has_prompt = False
        """True if the last record held text that the user typed."""
        self._usage = UsageLedger(record, format.usage)
        self._row_order = _RowOrder(self._report_order) if row_order and format.alternates else None
        self._is_begun = False
        """True if the transcript has a message other than those that may precede the first."""

    def start(self) -> None:
        """Begin a transcript: ids and copies do not link across transcripts."""
        self.close()
        self._usage.start()
        self._tools.clear()
        self._threads.clear()
        self._once.clear()
        self._unanswered.clear()
        self._prompts.clear()
        self._is_begun = False
        self._said.clear()

    def add(self, reading: RecordReading, node: JsonNode, source: Source | None, begin: Callable[[int], None]) -> None:
        """Write what one record gave. `begin` starts another transcript in it."""
        self._at += 1
        self._source = source
        self.has_prompt = False
        self._copies.forget_before(self._at)
        for problem in reading.faults:
            self._record.start_if_none(node.start)
            self._record.report(problem.rule, problem.reason, problem.start, problem.end, count=problem.count)
        if reading.unknown is not None:
            self._note_unknown(reading.unknown)
        if not reading.drafts and not reading.steps:
            self._record.skip()
        keys = {draft.key for draft in reading.drafts if draft.rule.merge}
        if reading.drafts:
            self._end_others(keys, reading.drafts)
        for rule, key in reading.begun:
            self._end_same(rule, key)
        for step in reading.steps:
            self._end_prefill()
            self._streams.take(step)
        placed: list[tuple[Span, int]] = []
        for index, draft in enumerate(reading.drafts):
            if index and index in reading.begins:
                begin(draft.span[0])
            self._write(draft, node)
            placed.append((draft.span, self._record.last_number))
        if reading.cancels:
            for call_id in self._unanswered:
                self._record.cancel_tool(call_id, node.start, node.end)
            self._unanswered.clear()
        if reading.rewind_turns:
            self._rewind(reading.rewind_turns)
        for rule, key in reading.done:
            self._end_same(rule, key, node.end)
        if self._format.usage:
            self._usage.take(node, placed)

    def grown_by(self, step: StreamStep) -> Piece | None:
        """The piece of text that a record added to a reply, if the next records may be read together."""
        is_plain = self._copies.is_idle and not self._usage.has_stated
        return self._streams.grown_by(step) if is_plain else None

    def grow(self, step: StreamStep, run: DeltaRun, source: Source) -> None:
        """Write a run of records after one that `grown_by` names; `source` has the last one."""
        self._at += run.count
        self._source = source
        self._streams.grow(step, run)

    def _rewind(self, turns: int) -> None:
        """Leave the last turns behind."""
        self._copies.settle()
        prompts = [*self._prompts][-turns:]
        if prompts:
            self._record.supersede(prompts[0], self._record.last_number)
            self._prompts = deque([*self._prompts][: -len(prompts)], maxlen=MOST_TURNS)

    def close(self) -> None:
        """The end of the input or of the transcript: nothing grows anymore."""
        self._copies.close()
        self._end_prefill()
        self._usage.settle()
        self._streams.close()
        for key in [*self._replies]:
            self._end_reply(key)
        for growing in [*self._growing]:
            self._end_growing(growing)
        if self._row_order is not None:
            self._row_order.end()

    def _report_order(self, number: int, span: Span) -> None:
        self._record.report(I_ROW_ORDER, None, *span, number)

    def _note_unknown(self, node: JsonNode) -> None:
        """Report each type of unknown records without text once."""
        given = node.get("type")
        word = given.text if given is not None and given.kind is JsonKind.STRING else ""
        if word in self._unknown:
            return
        self._unknown.add(word)
        self._record.start_if_none(node.start)
        self._record.report(I_RECORD_UNKNOWN, None, node.start, node.end)

    def _write(self, draft: Draft, node: JsonNode) -> None:
        if draft.rule.orphan is not None and draft.kind is Kind.REPLY and draft.call_id not in self._tools:
            draft.kind, draft.role = draft.rule.orphan, ""
            if not draft.text and sum(piece.end - piece.start for piece in draft.pieces) <= len("{}"):
                return
            if draft.kind is Kind.UNKNOWN:
                draft.problems.append(Problem(W_RECORD_UNKNOWN, None, *draft.span))
        if draft.rule.later is not None and self._is_begun and draft.kind is Kind.SAID:
            draft.kind = draft.rule.later
        self._is_begun = self._is_begun or draft.kind not in _BEFORE
        if draft.rule.classify and self._hooks.classify is not None and draft.kind is Kind.SAID:
            kind = self._hooks.classify(draft.text)
            draft.kind = Kind.UNKNOWN if kind is None else kind
            if kind is None:
                self._report_hook(draft)
        if draft.rule.once and self._is_repeated(draft):
            return
        if draft.rule.copy is not None and draft.kind in _COPIED:
            for part in self._runs(draft):
                self._copies.add(part, self._at)
            return
        if draft.rule.prefill is Prefill.GOES_ON and self._goes_on(draft):
            return
        self._end_prefill()
        merge = draft.rule.merge
        if merge is not None and merge.mode in _REPEATING:
            self._repeat(draft)
            return
        self._note_said(draft)
        if draft.rule.prefill is Prefill.BEGINS and draft.kind is Kind.SAID and not self._is_marked(draft):
            self._prefill = self._opened(draft)
        elif merge is None or (merge.key and draft.key is None):
            if merge is None or merge.mode is not Mode.PARTS or not self._streams.repeats(draft):
                self._emit(draft)
        elif merge.mode is Mode.PARTS:
            self._add_part(draft)
        elif merge.mode is Mode.APPEND and draft.part and draft.kind in (Kind.CALL, Kind.REPLY):
            self._end_same(draft.rule, draft.key)
            self._emit(draft)
        else:
            self._grow(draft, node)

    def _is_repeated(self, draft: Draft) -> bool:
        identity = (draft.kind, draft.role, draft.text)
        is_known = bool(draft.text) and identity in self._once
        self._once.add(identity)
        return is_known

    # Texts that a later record repeats.

    def _note_said(self, draft: Draft) -> None:
        if not self._repeats or draft.kind is not Kind.SAID:
            return
        for text in texts_of(draft):
            self._said[draft.role, text] = None
            self._said.move_to_end((draft.role, text))
        while len(self._said) > MOST_SAID:
            self._said.popitem(last=False)

    def _repeat(self, draft: Draft) -> None:
        """Write a text that nothing said before."""
        merge = draft.rule.merge
        assert merge is not None
        is_known = any((draft.role, text) in self._said for text in texts_of(draft))
        if draft.kind is Kind.SAID and (is_known or self._streams.has_said(draft)):
            return
        if draft.kind is Kind.SAID and merge.mode is Mode.FINAL:
            draft.problems.append(Problem(I_STREAM_FINAL_ONLY, None, *draft.span))
        self._emit(draft)

    # The answer that a request begins.

    def _goes_on(self, draft: Draft) -> bool:
        """Add the first text of a response to the beginning in its request; False if there is none."""
        begun, self._prefill = self._prefill, None
        if begun is None:
            return False
        is_text = draft.kind is Kind.SAID and not self._is_marked(draft)
        if is_text:
            self._record.grow(begun.number, draft.pieces, len(begun.pieces))
            begun = _Open(begun.number, [*begun.pieces, *draft.pieces], begun.text + draft.text, draft.span[1])
        self._close(begun)
        return is_text

    def _end_prefill(self) -> None:
        if self._prefill is not None:
            self._close(self._prefill)
            self._prefill = None

    # One message.

    def _emit(self, draft: Draft) -> int:
        """Write a draft as one message or more; return the number of the last one."""
        for part in self._runs(draft):
            header = self._header(part)
            if not self._emit_marked(part, header):
                number = self._record.add_complete(
                    header, self._ending(part), part.span, part.pieces, time_ms=part.time_ms
                )
                self._report(part.problems, number)
                self._report_outcome(part, number)
                self._note_message(header, number, part.span)
        return self._record.last_number

    def _emit_marked(self, draft: Draft, header: Header) -> bool:
        """Write text with marks of a template as the messages that it holds; False for any other text."""
        marked = self._marked(draft, header.role)
        for part in marked:
            own, ending = self._marked_header(part, header)
            number = self._record.add_complete(own, ending, draft.span, part.pieces, time_ms=draft.time_ms)
            self._note_message(own, number, draft.span)
            self._report(part.reports, number)
        return bool(marked)

    def _note_message(self, header: Header, number: int, span: Span) -> None:
        if self._row_order is not None:
            self._row_order.add(header, number, span)
        if header.role == "user" and header.kind is Kind.SAID and not header.thread:
            self.has_prompt = True
            self._prompts.append(number)

    def _marked(self, draft: Draft, role: str) -> list[ContentPart]:
        """The parts of a text with marks of a template; found while its bytes are at hand."""
        if draft.kind is not Kind.SAID or role not in _SPOKEN or draft.is_open:
            return []
        if draft.marked is None:
            draft.marked = self._split(draft, role)
        return draft.marked

    def _split(self, draft: Draft, role: str) -> list[ContentPart]:
        if self._source is None or (_is_one_text(draft) and not may_be_split(draft.text.encode())):
            return []
        return split_content(draft.pieces, self._read, role)

    def _marked_header(self, part: ContentPart, header: Header) -> tuple[Header, Ending]:
        own, ending = part_header(part, header)
        if own.role == "tool" and own.name is None:
            own = replace(own, name=self._tools.get(own.call_id or ""))
        return own, ending or (Ending.CALL if own.recipient not in (None, "user") else Ending.END)

    def _read(self, start: int, end: int) -> bytes:
        assert self._source is not None
        return self._source.data[start - self._source.base : end - self._source.base]

    def _runs(self, draft: Draft) -> Iterable[Draft]:
        """The draft, or the runs of its text by kind."""
        answers = self._hooks.split_answer if draft.role == "assistant" else None
        split = (answers or self._hooks.split) if draft.rule.split else None
        if split is None or draft.kind is not Kind.SAID or self._source is None:
            return [draft]
        body = None if _is_one_text(draft) else read_body(tuple(draft.pieces), self._read)
        text = draft.text if body is None else body.text
        runs = split(text)
        if runs is None:
            draft.kind = Kind.UNKNOWN
            self._report_hook(draft)
            return [draft]
        if len(runs) == 1 and runs[0][0] is Kind.SAID and _is_all(text, runs[0][1], runs[0][2]):
            return [draft]
        body = body or read_body(tuple(draft.pieces), self._read)
        return [self._run(draft, body, *run) for run in runs]

    def _report_hook(self, draft: Draft) -> None:
        """Report that a plug-in failed on this record, and once that it is disabled."""
        is_disabled = self._hooks.is_disabled()
        if not (is_disabled and self._has_reported_end):
            draft.problems.append(Problem(W_PLUGIN, "disabled" if is_disabled else "failed", *draft.span))
        self._has_reported_end = is_disabled

    def _run(self, draft: Draft, body: Body, kind: Kind, start: int, end: int) -> Draft:
        text = body.text
        first = len(text[:start].encode("utf-8", "replace"))
        last = first + len(text[start:end].encode("utf-8", "replace"))
        run = Draft(kind, draft.role, body.pieces(first, last), draft.span, draft.rule, draft.channel)
        run.text, run.time_ms, run.thread = text[start:end], draft.time_ms, draft.thread
        run.channel_word, run.has_unknown_channel = draft.channel_word, draft.has_unknown_channel
        return run

    def _header(self, draft: Draft) -> Header:
        kind = draft.kind
        if kind is Kind.CALL:
            return self._call_header(draft)
        if kind is Kind.REPLY:
            name = draft.name or self._tools.get(draft.call_id or "")
            self._unanswered.pop(draft.call_id or "", None)
            return Header(
                "tool",
                full_tool_name(name) if name else None,
                None,
                Channel.FINAL,
                call_id=draft.call_id,
                kind=kind,
                outcome=draft.outcome,
                thread=self._thread(draft),
            )
        if kind is Kind.SAID and draft.role not in _SPOKEN:
            kind = draft.kind = Kind.UNKNOWN
        key = (
            *(kind, draft.role, draft.channel, draft.channel_word, draft.has_unknown_channel, draft.intent),
            *(draft.outcome, self._thread(draft)),
        )
        header = self._headers.get(key)
        if header is None:
            if len(self._headers) >= MOST_HEADERS:
                self._headers.clear()
            header = self._headers[key] = self._made(draft, self._other_header(draft))
        return header

    def _other_header(self, draft: Draft) -> Header:
        """The header of a message that is not a call or a reply."""
        kind, role = draft.kind, draft.role
        if kind is Kind.THOUGHT:
            return Header("assistant", channel=Channel.ANALYSIS, channel_given="analysis", intent=draft.intent)
        if kind is Kind.INSTRUCTION:
            return Header("developer" if role == "developer" else "system", channel=Channel.FINAL)
        if kind is Kind.SAID:
            return self._said_header(draft)
        return Header(role, channel=Channel.COMMENTARY, channel_given="commentary")

    def _made(self, draft: Draft, header: Header) -> Header:
        return replace(header, kind=draft.kind, outcome=draft.outcome, thread=self._thread(draft))

    def _said_header(self, draft: Draft) -> Header:
        if draft.has_unknown_channel:
            return Header(draft.role, channel=None, channel_given=draft.channel_word or "")
        channel = draft.channel or Channel.FINAL
        given = channel.value if draft.channel_word is not None or channel is not Channel.FINAL else None
        is_preamble = channel is Channel.COMMENTARY and self._preambles and draft.role == "assistant"
        return Header(draft.role, channel=channel, channel_given=given, intent="preamble" if is_preamble else None)

    def _call_header(self, draft: Draft) -> Header:
        tool = full_tool_name(draft.name) if draft.name else None
        if tool and draft.call_id:
            self._tools[draft.call_id] = tool
        if draft.call_id:
            self._unanswered[draft.call_id] = None
        return Header(
            "assistant",
            recipient=tool or "functions.unknown",
            channel=Channel.COMMENTARY,
            channel_given="commentary",
            call_id=draft.call_id,
            content_type=None if draft.is_text else "json",
            constrained=not draft.is_text,
            kind=draft.kind,
            outcome=draft.outcome,
            thread=self._thread(draft),
        )

    def _thread(self, draft: Draft) -> int:
        if draft.kind is Kind.SUBAGENT or draft.thread is not None:
            return self._threads.setdefault(draft.thread or "", len(self._threads) + 1)
        return 0

    @staticmethod
    def _ending(draft: Draft) -> Ending:
        if draft.is_open:
            return Ending.OPEN
        return Ending.CALL if draft.kind is Kind.CALL else Ending.END

    def _report(self, problems: list[Problem], number: int) -> None:
        for problem in problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end, number)

    def _report_outcome(self, draft: Draft, number: int) -> None:
        if draft.kind is not Kind.REPLY or draft.outcome not in _OUTCOME_RULES or draft.outcome_span is None:
            return
        rule, reason = _OUTCOME_RULES[draft.outcome]
        self._record.report(rule, reason, *draft.outcome_span, number)

    def _report_difference(self, draft: Draft, number: int) -> None:
        """Report that two records at copy positions differ: both are messages."""
        pieces = draft.pieces or [Piece(*draft.span, Coding.PLAIN)]
        self._record.report(W_COPY_DIFFERS, None, pieces[0].start, pieces[-1].end, number)

    # Copies.

    def _open_hidden(self, draft: Draft) -> int:
        if draft.kind is Kind.REPLY:
            header = self._header(draft)
        else:
            header = Header(draft.role, channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)
        self._marked(draft, draft.role)
        return self._record.open(header, draft.span[0], draft.pieces, time_ms=draft.time_ms)

    def _settle(self, number: int, draft: Draft) -> None:
        header = self._header(draft)
        marked = self._marked(draft, header.role)
        if not marked:
            self._record.close(number, self._ending(draft), draft.span[1], draft.pieces, header=header)
            self._note_message(header, number, draft.span)
            self._report(draft.problems, number)
            self._report_outcome(draft, number)
            return
        for index, part in enumerate(marked):
            own, ending = self._marked_header(part, header)
            if index:
                number = self._record.add_complete(own, ending, draft.span, part.pieces, time_ms=draft.time_ms)
            else:
                self._record.close(number, ending, draft.span[1], part.pieces, header=own)
            self._report(part.reports, number)

    # The parts of one reply.

    def _add_part(self, draft: Draft) -> None:
        key = draft.key or ""
        reply = self._replies.setdefault(key, _Reply())
        while len(self._replies) > MOST_REPLIES:
            self._end_reply(next(iter(self._replies)))
        identity = (draft.kind.value, draft.call_id or hash(draft.text))
        if identity in reply.seen or self._streams.repeats(draft):
            return
        reply.seen.add(identity)
        if draft.kind is not Kind.SAID:
            self._emit(draft)
            return
        if reply.said is not None and draft.text.startswith(reply.said.text):
            reply.said = self._replaced(reply.said, draft)
            return
        self._end_said(key)
        if draft.rule.split or self._is_marked(draft):
            self._emit(draft)
            return
        reply.said = self._opened(draft)
        self._saying[key] = reply

    def _is_marked(self, draft: Draft) -> bool:
        return bool(self._split(draft, draft.role))

    def _end_reply(self, key: str) -> None:
        self._end_said(key)
        del self._replies[key]

    def _end_said(self, key: str) -> None:
        reply = self._saying.pop(key, None)
        if reply is not None and reply.said is not None:
            self._close(reply.said)
            reply.said = None

    # Records that grow.

    def _grow(self, draft: Draft, node: JsonNode) -> None:
        merge = draft.rule.merge
        assert merge is not None
        key = self._growing_key(draft)
        known = self._growing.get(key)
        is_done = merge.done is not None and holds(merge.done, node)
        if known is None and is_done:
            self._emit(draft)
            return
        if known is None:
            known = self._begin_growing(key, self._opened(draft))
            known.must_end = merge.done is not None
            if merge.mode is Mode.APPEND and draft.kind is Kind.SAID and self._source is not None:
                known.arrived = _Arrived()
                known.arrived.add(draft.pieces, self._read)
        elif merge.mode is Mode.APPEND:
            self._append(known, draft)
        elif draft.pieces or draft.kind in (Kind.CALL, Kind.REPLY):
            self._growing[key] = self._replaced(known, draft)
        if is_done:
            self._finish(key, node.end)
        while len(self._growing) > MOST_OPEN:
            self._end_growing(next(iter(self._growing)))

    def _append(self, known: _Open, draft: Draft) -> None:
        known.end = draft.span[1]
        if known.arrived is not None:
            known.arrived.add(draft.pieces, self._read)
        if known.arrived is not None and known.arrived.look(draft.role):
            return
        first = len(known.pieces)
        known.pieces += draft.pieces
        self._record.grow(known.number, draft.pieces, first)

    def _growing_key(self, draft: Draft) -> tuple[str, ...]:
        return str(id(draft.rule)), draft.key or "", draft.kind.value, draft.part

    def _end_others(self, keys: set[str | None], drafts: list[Draft]) -> None:
        """End the replies of other keys, and texts without a key that another record interrupts."""
        ended = [key for key in self._saying if key not in keys]
        for key in ended if len(ended) < 2 else [key for key in self._replies if key in ended]:
            self._end_said(key)
        if self._keyless:
            now = {self._growing_key(draft) for draft in drafts if draft.rule.merge}
            for one in [one for one in self._keyless if one not in now]:
                self._growing[one].must_end = False
                self._end_growing(one)

    def _end_same(self, rule: RecordRule, key: str | None, end: int = 0) -> None:
        """End the messages of a rule with the same key."""
        for one in [*self._same.get((str(id(rule)), key or ""), ())]:
            self._finish(one, end)

    def _begin_growing(self, key: tuple[str, ...], known: _Open) -> _Open:
        known.pieces = [*known.pieces]
        self._growing[key] = known
        self._same.setdefault(key[:2], {})[key] = None
        if not key[1]:
            self._keyless[key] = None
        return known

    def _stop_growing(self, key: tuple[str, ...]) -> _Open:
        same = self._same[key[:2]]
        del same[key]
        if not same:
            del self._same[key[:2]]
        self._keyless.pop(key, None)
        return self._growing.pop(key)

    def _finish(self, key: tuple[str, ...], end: int = 0) -> None:
        """End a message that is complete; `end` is the end of its last record."""
        known = self._stop_growing(key)
        known.must_end = False
        known.end = max(known.end, end)
        merge = known.draft.rule.merge if known.draft is not None else None
        if known.draft is not None and merge is not None and merge.mode is Mode.REPLACE:
            self._settle(known.number, known.draft)
        else:
            self._close(known)

    def _end_growing(self, key: tuple[str, ...]) -> None:
        self._close(self._stop_growing(key))

    def _opened(self, draft: Draft) -> _Open:
        pieces = self._unmarked(draft)
        number = self._record.open(self._header(draft), draft.span[0], pieces, time_ms=draft.time_ms)
        self._report(draft.problems, number)
        return _Open(number, pieces, draft.text, draft.span[1], draft=draft)

    def _replaced(self, known: _Open, draft: Draft) -> _Open:
        if known.draft is not None:
            draft.name = draft.name or known.draft.name
        draft.pieces = draft.pieces or known.pieces
        pieces = self._unmarked(draft)
        self._record.grow(known.number, pieces, 0)
        return _Open(known.number, pieces, draft.text, draft.span[1], known.must_end, draft)

    def _unmarked(self, draft: Draft) -> list[Piece]:
        """The pieces that may be shown now; none of a text with marks, which is divided only when complete."""
        return [] if self._marked(draft, draft.role) else draft.pieces

    def _close(self, known: _Open) -> None:
        ending = Ending.OPEN if known.must_end else Ending.END
        if known.must_end:
            self._record.report(E_STREAM_TRUNCATED, "event-stream", known.end, known.end, known.number)
        if known.draft is None:
            self._record.close(known.number, ending, known.end, known.pieces)
            return
        if known.arrived is not None:
            known.draft.pieces = known.pieces = known.arrived.pieces
            known.draft.span = known.draft.span[0], known.end
            known.draft.marked = [] if known.must_end else known.arrived.parts(known.draft.role)
        if known.draft.marked and (known.arrived is not None or not known.pieces):
            self._settle(known.number, known.draft)
            return
        header = self._header(known.draft)
        ending = Ending.OPEN if known.must_end else self._ending(known.draft)
        self._record.close(known.number, ending, known.end, known.pieces, header=header)
        self._report_outcome(known.draft, known.number)


def _is_one_text(draft: Draft) -> bool:
    """True if the text of a draft is the text of its only piece, without a character that may stand for another."""
    if len(draft.pieces) != 1 or draft.pieces[0].coding not in (Coding.PLAIN, Coding.JSON_STRING):
        return False
    return draft.texts == [draft.text] and "\ufffd" not in draft.text


def _is_all(text: str, start: int, end: int) -> bool:
    """True if there is only white space outside this part of a text."""
    return not text[:start].strip() and not text[end:].strip()


def _repeats(rule: RecordRule) -> bool:
    return (rule.merge is not None and rule.merge.mode in _REPEATING) or any(_repeats(each) for each in rule.rules)
