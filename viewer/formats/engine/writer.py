"""Write drafts to the recorder: headers, copies, merged records, threads, and links by call id."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import field, replace

from viewer.formats.engine.copies import CopyPairs
from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.json.content_parts import part_header, split_content
from viewer.formats.json.fields import Source
from viewer.formats.json.header import Problem, full_tool_name
from viewer.formats.tables.model import Mode, RecordFormat, RecordRule
from viewer.model.messages import Channel, Ending, Header, Kind, Outcome, Piece
from viewer.reading.bodies import Body, read_body
from viewer.reading.recorder import Recorder
from viewer.rules.calls import W_TOOL_FAILED
from viewer.rules.errors import E_STREAM_TRUNCATED, E_TOOL_CANCELLED, E_TOOL_TIMEOUT
from viewer.rules.notes import I_RECORD_UNKNOWN
from viewer.rules.structure import W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.values import mutable

MOST_REPLIES = 4096
"""Replies whose parts may still be repeated."""
MOST_OPEN = 4096
"""Messages that a later record may still replace."""
_SPOKEN = ("user", "assistant")
_BEFORE = (Kind.INSTRUCTION, Kind.INJECTED, Kind.REPLAYED)
"""Kinds of messages that may precede the first message."""
_OUTCOME_RULES = {
    Outcome.FAILED: (W_TOOL_FAILED, None),
    Outcome.REFUSED: (W_TOOL_FAILED, None),
    Outcome.TIMEOUT: (E_TOOL_TIMEOUT, "reported"),
    Outcome.CANCELLED: (E_TOOL_CANCELLED, "reported"),
}


@mutable
class _Open:
    """A message that may still grow."""

    number: int
    draft: Draft
    """The newest record of the message."""
    pieces: list[Piece]
    text: str
    end: int
    must_end: bool = False
    """True if the message is incomplete without its last record."""


@mutable
class _Reply:
    """The parts of one reply that were read."""

    seen: set[tuple[str, str | int]] = field(default_factory=set)
    said: _Open | None = None


class DraftWriter:
    """Owner of everything that relates one record to the next."""

    def __init__(self, record: Recorder, format: RecordFormat, *, preambles: bool) -> None:
        self._record = record
        self._format = format
        self._preambles = preambles
        self._source: Source | None = None
        self._at = 0
        """The number of the record."""
        self._tools: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._replies: OrderedDict[str, _Reply] = OrderedDict()
        self._growing: OrderedDict[tuple[str, ...], _Open] = OrderedDict()
        self._copies = CopyPairs(format.alone, self._open_hidden, self._settle, self._emit)
        self._unknown: set[str] = set()
        self.has_prompt = False
        """True if the last record held text that the user typed."""
        self._rest: Kind | None = None
        self._is_begun = False
        """True if the transcript has a message other than those that may precede the first."""

    def start(self) -> None:
        """Begin a transcript: ids and copies do not link across transcripts."""
        self.close()
        self._tools.clear()
        self._threads.clear()
        self._rest = None
        self._is_begun = False

    def add(self, reading: RecordReading, node: JsonNode, source: Source | None) -> None:
        """Write what one record gave."""
        self._at += 1
        self._source = source
        self.has_prompt = False
        self._copies.forget_before(self._at)
        for problem in reading.faults:
            self._record.start_if_none(node.start)
            self._record.report(problem.rule, problem.reason, problem.start, problem.end)
        if reading.unknown is not None:
            self._note_unknown(reading.unknown)
        self._rest = reading.rest or self._rest
        keys = {draft.key for draft in reading.drafts if draft.rule.merge}
        if reading.drafts:
            self._end_others(keys, reading.drafts)
        for rule, key in reading.begun:
            self._end_same(rule, key)
        for draft in reading.drafts:
            self._write(draft)
        for rule, key in reading.done:
            self._end_same(rule, key)

    def close(self) -> None:
        """The end of the input or of the transcript: nothing grows anymore."""
        self._copies.close()
        for key in [*self._replies]:
            self._end_reply(key)
        for growing in [*self._growing]:
            self._end_growing(growing)

    def _note_unknown(self, node: JsonNode) -> None:
        """Report each type of unknown records without text once."""
        given = node.get("type")
        word = given.text if given is not None and given.kind is JsonKind.STRING else ""
        if word in self._unknown:
            return
        self._unknown.add(word)
        self._record.start_if_none(node.start)
        self._record.report(I_RECORD_UNKNOWN, None, node.start, node.end)

    def _write(self, draft: Draft) -> None:
        if self._rest is not None and draft.kind is Kind.SAID:
            draft.kind = self._rest
        if draft.rule.orphan is not None and draft.kind is Kind.REPLY and draft.call_id not in self._tools:
            draft.kind, draft.role = draft.rule.orphan, ""
            if not draft.text and sum(piece.end - piece.start for piece in draft.pieces) <= len("{}"):
                return
            if draft.kind is Kind.UNKNOWN:
                draft.problems.append(Problem(W_RECORD_UNKNOWN, None, *draft.span))
        if draft.rule.later is not None and self._is_begun and draft.kind is Kind.SAID:
            draft.kind = draft.rule.later
        self._is_begun = self._is_begun or draft.kind not in _BEFORE
        classify = self._format.hooks.classify
        if draft.rule.classify and classify is not None and draft.kind is Kind.SAID:
            draft.kind = classify(draft.text)
        if draft.rule.copy is not None and draft.kind in (Kind.SAID, Kind.THOUGHT, Kind.INJECTED):
            self._copies.add(draft, self._at)
            return
        merge = draft.rule.merge
        if merge is None or (merge.key and draft.key is None):
            self._emit(draft)
        elif merge.mode is Mode.PARTS:
            self._add_part(draft)
        elif merge.mode is Mode.APPEND and draft.part and draft.kind in (Kind.CALL, Kind.REPLY):
            self._end_same(draft.rule, draft.key)
            self._emit(draft)
        else:
            self._grow(draft)

    # One message.

    def _emit(self, draft: Draft) -> int:
        """Write a draft as one message or more; return the number of the last one."""
        for part in self._runs(draft):
            header = self._header(part)
            if not self._emit_marked(part, header):
                number = self._record.add(
                    header, self._ending(part, header), part.span, part.pieces, time_ms=part.time_ms
                )
                self._report(part.problems, number)
                self._report_outcome(part, number)
                self.has_prompt = self.has_prompt or _is_prompt(header)
        return self._record.last_number

    def _emit_marked(self, draft: Draft, header: Header) -> bool:
        """Write text with marks of a template as the messages that it holds; False for any other text."""
        if draft.kind is not Kind.SAID or header.role not in _SPOKEN or self._source is None or draft.is_open:
            return False
        split = split_content(draft.pieces, self._read, header.role)
        for part in split:
            own, ending = part_header(part, header)
            if own.role == "tool" and own.name is None:
                own = replace(own, name=self._tools.get(own.call_id or ""))
            ending = ending or (Ending.CALL if own.recipient not in (None, "user") else Ending.END)
            number = self._record.add(own, ending, draft.span, part.pieces, time_ms=draft.time_ms)
            self.has_prompt = self.has_prompt or _is_prompt(own)
            self._report([Problem(each.rule, each.reason, each.start, each.end) for each in part.reports], number)
        return bool(split)

    def _read(self, start: int, end: int) -> bytes:
        assert self._source is not None
        return self._source.data[start - self._source.base : end - self._source.base]

    def _runs(self, draft: Draft) -> Iterable[Draft]:
        """The draft, or the runs of its text by kind."""
        hooks = self._format.hooks
        split = hooks.split_answer if draft.role == "assistant" and hooks.split_answer else hooks.split
        if not draft.rule.split or split is None or draft.kind is not Kind.SAID or self._source is None:
            return [draft]
        body = read_body(tuple(draft.pieces), self._read)
        runs = split(body.text)
        if len(runs) == 1 and runs[0][0] is Kind.SAID and _is_all(body.text, runs[0][1], runs[0][2]):
            return [draft]
        return [self._run(draft, body, *run) for run in runs]

    def _run(self, draft: Draft, body: Body, kind: Kind, start: int, end: int) -> Draft:
        text = body.text
        first = len(text[:start].encode("utf-8", "replace"))
        last = first + len(text[start:end].encode("utf-8", "replace"))
        run = Draft(kind, draft.role, body.pieces(first, last), draft.span, draft.rule, draft.channel)
        run.text, run.time_ms, run.thread = text[start:end], draft.time_ms, draft.thread
        return run

    def _header(self, draft: Draft) -> Header:
        kind, role = draft.kind, draft.role
        if kind is Kind.CALL:
            return self._call_header(draft)
        if kind is Kind.REPLY:
            name = draft.name or self._tools.get(draft.call_id or "")
            name = full_tool_name(name) if name else None
            return self._made(draft, Header("tool", name, None, Channel.FINAL, call_id=draft.call_id))
        if kind is Kind.THOUGHT:
            return self._made(draft, Header("assistant", channel=Channel.ANALYSIS, channel_given="analysis"))
        if kind is Kind.INSTRUCTION:
            role = "developer" if role == "developer" else "system"
            return self._made(draft, Header(role, channel=Channel.FINAL))
        if kind is Kind.SAID and role in _SPOKEN:
            return self._made(draft, self._said_header(draft))
        if kind is Kind.SAID:
            draft.kind = Kind.UNKNOWN
        return self._made(draft, Header(role, channel=Channel.COMMENTARY, channel_given="commentary"))

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
        header = Header(
            "assistant",
            recipient=tool or "functions.unknown",
            channel=Channel.COMMENTARY,
            channel_given="commentary",
            call_id=draft.call_id,
            content_type=None if draft.is_text else "json",
            constrained=not draft.is_text,
        )
        return self._made(draft, header)

    def _thread(self, draft: Draft) -> int:
        if draft.kind is Kind.SUBAGENT or draft.thread is not None:
            return self._threads.setdefault(draft.thread or "", len(self._threads) + 1)
        return 0

    def _ending(self, draft: Draft, header: Header) -> Ending:
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

    # Copies.

    def _open_hidden(self, draft: Draft) -> int:
        header = Header(draft.role, channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)
        return self._record.open(header, draft.span[0], draft.pieces, time_ms=draft.time_ms)

    def _settle(self, number: int, draft: Draft) -> None:
        header = self._header(draft)
        self._record.close(number, self._ending(draft, header), draft.span[1], draft.pieces, header=header)

    # The parts of one reply.

    def _add_part(self, draft: Draft) -> None:
        key = draft.key or ""
        reply = self._replies.setdefault(key, _Reply())
        while len(self._replies) > MOST_REPLIES:
            self._end_reply(next(iter(self._replies)))
        identity = (draft.kind.value, draft.call_id or hash(draft.text))
        if identity in reply.seen:
            return
        reply.seen.add(identity)
        if draft.kind is not Kind.SAID:
            self._emit(draft)
            return
        if reply.said is not None and draft.text.startswith(reply.said.text):
            reply.said = self._replaced(reply.said, draft)
            return
        self._end_said(reply)
        if draft.rule.split or self._is_marked(draft):
            self._emit(draft)
            return
        reply.said = self._opened(draft)

    def _is_marked(self, draft: Draft) -> bool:
        return self._source is not None and bool(split_content(draft.pieces, self._read, draft.role))

    def _end_reply(self, key: str) -> None:
        reply = self._replies.pop(key)
        self._end_said(reply)

    def _end_said(self, reply: _Reply) -> None:
        if reply.said is not None:
            self._close(reply.said)
            reply.said = None

    # Records that grow.

    def _grow(self, draft: Draft) -> None:
        merge = draft.rule.merge
        assert merge is not None
        key = self._growing_key(draft)
        known = self._growing.get(key)
        if known is None:
            known = self._growing[key] = self._opened(draft)
            known.must_end = merge.done is not None
        elif merge.mode is Mode.APPEND:
            first = len(known.pieces)
            known.pieces = [*known.pieces, *draft.pieces]
            known.end = draft.span[1]
            self._record.grow(known.number, draft.pieces, first)
        elif draft.pieces or draft.kind in (Kind.CALL, Kind.REPLY):
            self._growing[key] = self._replaced(known, draft)
        while len(self._growing) > MOST_OPEN:
            self._end_growing(next(iter(self._growing)))

    def _growing_key(self, draft: Draft) -> tuple[str, ...]:
        return str(id(draft.rule)), draft.key or "", draft.kind.value, draft.part

    def _end_others(self, keys: set[str | None], drafts: list[Draft]) -> None:
        """End the replies of other keys, and texts without a key that another record interrupts."""
        for key in [key for key, reply in self._replies.items() if key not in keys and reply.said is not None]:
            self._end_said(self._replies[key])
        now = {self._growing_key(draft) for draft in drafts if draft.rule.merge}
        for one in [one for one in self._growing if not one[1] and one not in now]:
            self._growing[one].must_end = False
            self._end_growing(one)

    def _end_same(self, rule: RecordRule, key: str | None) -> None:
        """End the messages of a rule with the same key."""
        for one in [one for one in self._growing if one[:2] == (str(id(rule)), key or "")]:
            self._growing[one].must_end = False
            self._end_growing(one)

    def _end_growing(self, key: tuple[str, ...]) -> None:
        self._close(self._growing.pop(key))

    def _opened(self, draft: Draft) -> _Open:
        number = self._record.open(self._header(draft), draft.span[0], draft.pieces, time_ms=draft.time_ms)
        self._report(draft.problems, number)
        return _Open(number, draft, draft.pieces, draft.text, draft.span[1])

    def _replaced(self, known: _Open, draft: Draft) -> _Open:
        draft.name = draft.name or known.draft.name
        draft.pieces = draft.pieces or known.pieces
        self._record.grow(known.number, draft.pieces, 0)
        return _Open(known.number, draft, draft.pieces, draft.text, draft.span[1], known.must_end)

    def _close(self, known: _Open) -> None:
        header = self._header(known.draft)
        ending = Ending.OPEN if known.must_end else self._ending(known.draft, header)
        if known.must_end:
            self._record.report(E_STREAM_TRUNCATED, "event-stream", known.end, known.end, known.number)
        self._record.close(known.number, ending, known.end, known.pieces, header=header)
        self._report_outcome(known.draft, known.number)


def _is_all(text: str, start: int, end: int) -> bool:
    """True if there is only white space outside this part of a text."""
    return not text[:start].strip() and not text[end:].strip()


def _is_prompt(header: Header) -> bool:
    return header.role == "user" and header.kind is Kind.SAID and not header.thread
