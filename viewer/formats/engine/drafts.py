"""Read one record into message drafts, as the rules of a table specify."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.engine.conditions import (
    Unreadable,
    all_hold,
    first_rule,
    holding,
    holding_each,
    holds,
    may_hold,
)
from viewer.formats.engine.lookups import look_up
from viewer.formats.engine.paths import Path, each_at, path, string_at
from viewer.formats.engine.repeats import is_repeated, repeated_length
from viewer.formats.engine.tree import branch_order
from viewer.formats.engine.usage import Stated
from viewer.formats.hiding import (
    hides_messages,
    hides_row,
    is_addressed_elsewhere,
    is_flagged,
    is_in_hidden_phase,
    is_on_other_channel,
    is_other_author,
    values_of,
)
from viewer.formats.json.content_parts import ContentPart
from viewer.formats.json.fields import Source, header_value, is_empty, piece_of
from viewer.formats.json.parts import is_hidden_kind
from viewer.formats.json.times import unreadable_time
from viewer.formats.json.unread import first_text_member
from viewer.formats.tables.model import (
    Branches,
    Exchange,
    Fault,
    Mode,
    Narrowing,
    Outcomes,
    PartRule,
    RecordRule,
    Step,
    Words,
)
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Coding, Kind, Outcome, Piece, Span
from viewer.model.time_order import Placed
from viewer.rules.notes import I_RECORD_UNKNOWN, I_TIME_UNREADABLE
from viewer.rules.structure import W_CONTENT_MISSING, W_PART_UNKNOWN, W_RECORD_UNKNOWN, W_THREAD_BROKEN
from viewer.syntax.attachments import attachment_kind
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.syntax.times import parse_decoded_time, parse_fine_time, parse_time, parse_time_pair

TEXT_KEYS = frozenset(
    {
        *("content", "text", "message", "body", "output", "parts", "delta", "value", "response", "prompt", "input"),
    }
)
"""Names of members in which to look for text if no rule covers a record."""
_DEEPEST_TEXT = 3
_UNUSED = "unused"
"""The thread ID for answers that no user received."""
MOST_TURNS = 1024
"""The maximum number of prompts that one record can supersede."""
LONGEST_NUMBER = 18
NARROWING = frozenset({Kind.SUBAGENT, Kind.REPLAYED, Kind.INJECTED, Kind.NOTICE})
_WHOLE = frozenset({Kind.UNKNOWN, Kind.INJECTED, Kind.REPLAYED, Kind.NOTICE})
"""Kinds of parts whose body is the whole part, unless the rule names a path."""
_LIKE_OTHERS = re.compile(r'-?[0-9]|"')
"""The start of a string that could be confused with a number or a quoted string."""
_OUTCOMES = tuple((outcome, outcome.value) for outcome in Outcome)


class Draft(Struct):
    """A message as a rule reads it, before copies are dropped, records merged, and threads assigned."""

    kind: Kind
    role: str
    pieces: list[Piece]
    span: Span
    rule: RecordRule
    channel: Channel | None = None
    channel_word: str | None = None
    """The word that determined the channel."""
    has_unknown_channel: bool = False
    call_id: str | None = None
    name: str | None = None
    outcome: Outcome | None = None
    outcome_span: Span | None = None
    is_text: bool = False
    intent: str | None = None
    time_ms: int | None = None
    time_at: Placed | None = None
    """The value in the record that contains the time."""
    thread: str | None = None
    """The ID of the thread of another agent."""
    key: str | None = None
    """The key by which the message is merged with those of other records."""
    part: str = ""
    """The name of the part, unique among parts with the same key."""
    text: str = ""
    """The text, for comparison with the messages of other records."""
    texts: list[str] = field(default_factory=list)
    """The text of each part, if there are several."""
    is_open: bool = False
    marked: list[ContentPart] | None = None
    """The parts between template marks; None if not searched yet."""
    problems: list[Problem] = field(default_factory=list)


class StreamStep(Struct, frozen=True):
    """One record's contribution to a model reply that arrives in blocks, such as opening a block or adding text to
    it."""

    step: Step
    scope: str
    block: str
    key: str | None
    """The key that the reply and its copies share."""
    drafts: list[Draft]
    span: Span
    is_whole: bool = False
    """True for a block that is complete when it begins."""
    by_chunks: bool = False
    """True for a chunk of a reply that has no explicit end."""
    follows: bool = False
    """True for a chunk without a scope, which belongs to the same reply as the previous chunk."""


class KnownItems(Protocol):
    """Reads list items that have the same shape as earlier items."""

    def read(self, rule: RecordRule, item: JsonNode) -> list[Draft] | None:
        """Return the drafts of an item that does not depend on its surroundings, or None if the rules must read the
        item."""
        ...


class RecordReading(Struct):
    """The result of reading one record."""

    drafts: list[Draft] = field(default_factory=list)
    steps: list[StreamStep] = field(default_factory=list)
    faults: list[Problem] = field(default_factory=list)
    begun: dict[int, list[tuple[RecordRule, str | None]]] = field(default_factory=dict)
    """The rule and the key of each message that begins here, by the index of the draft before which it begins."""
    done: list[tuple[RecordRule, str | None]] = field(default_factory=list)
    """The rule and the key of each message that ends here."""
    starts: bool = False
    session: str | None = None
    """The ID of the transcript that the record starts."""
    narrows: list[Narrowing] = field(default_factory=list)
    cancels: bool = False
    exchanges: set[Exchange] = field(default_factory=set)
    begins: list[int] = field(default_factory=list)
    """The indexes of the drafts at which nested records start transcripts."""
    is_aside: bool = False
    """True if the record does not belong to the tree of the session."""
    rewind_turns: int = 0
    """How many of the most recent prompts the record supersedes."""
    rewind_to: str | None = None
    """The ID of the record after which this one supersedes everything, or None."""
    left: list[tuple[int, int]] = field(default_factory=list)
    """The drafts of each superseded branch: the index of the first one, and the index after the last one."""
    unknown: JsonNode | None = None
    """The record, if no rule covers it and it contains no text."""
    fields: dict[str, object] | None = None
    """The members of the record that are not part of a message, if they are known and none of them contains
    messages."""
    stated: list[Stated] | None = None
    """The token usage that the record reports; None if it must still be read."""
    known: KnownItems | None = None

    def only_step(self) -> StreamStep | None:
        """Return the record's only step of a reply in blocks, or None if the record does anything else."""
        if len(self.steps) != 1 or self.drafts or self.faults or self.begun or self.done or self.starts:
            return None
        if self.narrows or self.cancels or self.exchanges or self.is_aside or self.rewind_turns or self.rewind_to:
            return None
        return self.steps[0] if self.unknown is None else None


def read_record(rules: tuple[RecordRule, ...], node: JsonNode, known: KnownItems | None = None) -> RecordReading:
    """Return the reading of a record. `known` reads list items that have the same shape as earlier items."""
    reading = RecordReading(known=known)
    _read(rules, node, None, reading)
    _report_each_time_once(reading)
    _report_unknown_once(reading)
    return reading


def fields_of(node: JsonNode, source: Source, reading: RecordReading) -> dict[str, object]:
    """Return the members of a record that are not part of a message."""
    starts = [piece.start for draft in reading.drafts for piece in draft.pieces]
    if type(node) is LazyNode:
        node.place_members()
    return {
        member.key: header_value(member.value, source)
        for member in node.members
        if not any(member.value.start <= start < member.value.end for start in starts)
    }


def _report_each_time_once(reading: RecordReading) -> None:
    """If several rules read the same unreadable time, keep only the first problem."""
    reported: set[int] = set()
    for problems in (reading.faults, *(draft.problems for draft in reading.drafts)):
        for problem in [each for each in problems if each.rule is I_TIME_UNREADABLE]:
            if problem.start in reported:
                problems.remove(problem)
            reported.add(problem.start)


def _report_unknown_once(reading: RecordReading) -> None:
    """Merge the problems about unknown nested records into one that counts them."""
    notes = [each for each in reading.faults if each.rule is I_RECORD_UNKNOWN]
    if len(notes) > 1:
        others = [each for each in reading.faults if each.rule is not I_RECORD_UNKNOWN]
        reading.faults = [*others, replace(notes[0], count=len(notes))]


def _read(rules: tuple[RecordRule, ...], node: JsonNode, outer: _Outer | None, reading: RecordReading) -> None:
    if not node.closed and not _has_readable_list(rules, node):
        reading.drafts.append(_unknown(node, is_open=True))
        return
    first = len(reading.drafts)
    try:
        _read_rules(rules, node, outer, reading)
    except Unreadable:
        del reading.drafts[first:]
        _read_unreadable(rules, node, reading)
        reading.narrows += [rule.narrows for rule in rules if rule.narrows is not None and may_hold(rule.when, node)]


def _read_unreadable(rules: tuple[RecordRule, ...], node: JsonNode, reading: RecordReading) -> None:
    """Hide a record, and the later chunks of the reply that it may begin."""
    chunks = (rule.stream for rule in rules if rule.stream is not None and may_hold(rule.when, node))
    chunk = next((stream for stream in chunks if stream.step is Step.ADD), None)
    if chunk is None:
        reading.drafts.append(_unknown(node))
        return
    scope, block, reply = (string_at(node, at) for at in (chunk.scope, chunk.block, chunk.reply))
    span = (node.start, node.end)
    reading.steps.append(StreamStep(Step.ADD, scope or "", block or "", reply, [_unknown(node)], span))


def _has_readable_list(rules: tuple[RecordRule, ...], node: JsonNode) -> bool:
    """True if a rule can read a list in a record even though the record is truncated."""
    try:
        return any(rule.each and not rule.whole and all_hold(rule.when, node) for rule in rules)
    except Unreadable:
        return False


def _read_rules(rules: tuple[RecordRule, ...], node: JsonNode, outer: _Outer | None, reading: RecordReading) -> None:
    found: list[RecordRule] = []
    for rule in holding(rules, node):
        if rule.whole and not node.closed:
            continue
        found.append(rule)
        if not rule.each and not rule.goes_on:
            break
    if all(rule.goes_on and rule.kind is None and not rule.each for rule in found):
        if holds_text(node, _DEEPEST_TEXT):
            reading.drafts.append(_unknown(node))
        else:
            reading.unknown = node
    if outer is not None and any(rule.starts for rule in found):
        reading.begins.append(len(reading.drafts))
    for rule in sorted(found, key=lambda each: _place(each, node)) if len(found) > 1 else found:
        _note_start(rule, node, reading)
        if rule.aside:
            reading.is_aside = True
        if rule.rewind:
            reading.rewind_to = reading.rewind_to or string_at(node, rule.rewind)
        _apply(rule, node, outer, reading)


def _note_start(rule: RecordRule, node: JsonNode, reading: RecordReading) -> None:
    """Note the effects of a rule on its record and on later records."""
    if rule.starts:
        reading.starts = True
        reading.session = reading.session or string_at(node, rule.session)
    if rule.narrows is not None:
        reading.narrows.append(rule.narrows)
    reading.cancels = reading.cancels or rule.cancels
    if rule.exchange is not None:
        reading.exchanges.add(rule.exchange)
    turns = string_at(node, rule.rewind_turns) if rule.rewind_turns else None
    if turns is not None and turns.isascii() and turns.isdecimal():
        reading.rewind_turns = min(int(turns[:9]), MOST_TURNS)


def _place(rule: RecordRule, node: JsonNode) -> tuple[int, int]:
    """Return a sort key: instructions come first, repetitions last, and everything else in byte order."""
    if rule.merge is not None and rule.merge.mode is Mode.FINAL:
        return 2, node.start
    if rule.place:
        return 1 + rule.place, node.start
    if rule.kind is Kind.INSTRUCTION and rule.goes_on:
        return 0, 0
    first = path(rule.each or rule.body).first(node) if rule.goes_on or rule.each else None
    return 1, first.start if first is not None else node.start


class _Outer(Struct, frozen=True):
    """Properties that nested records inherit from the record around them."""

    kind: Kind
    thread: str | None
    time_ms: int | None
    time_at: Placed | None
    call_id: str | None = None
    """The ID of the call that nested replies answer if they have no call ID."""
    is_unused: bool = False
    is_hidden: bool = False
    """True if a flag of the record hides its content."""

    @property
    def is_neutral(self) -> bool:
        """True if nested records inherit nothing."""
        is_plain = self.kind not in NARROWING and not self.is_unused and not self.is_hidden
        return is_plain and self.thread is None and self.time_ms is None and self.call_id is None


def _apply(rule: RecordRule, node: JsonNode, outer: _Outer | None, reading: RecordReading) -> None:
    if rule.faults:
        reading.faults += _faults(rule.faults, node)
    if rule.merge and rule.merge.begins and holds(rule.merge.begins, node):
        reading.begun.setdefault(len(reading.drafts), []).append((rule, string_at(node, rule.merge.key)))
    if rule.merge and rule.merge.done and holds(rule.merge.done, node):
        reading.done.append((rule, string_at(node, rule.merge.key)))
    if rule.each:
        items = path(rule.each).all(node)
        time_ms, time_at = _time(node, rule.time, reading.faults)
        if not items and rule.branches is None:
            return
        kind = rule.kind if rule.kind in NARROWING else outer.kind if outer else Kind.UNKNOWN
        assert kind is not None
        thread = string_at(node, rule.thread) or (outer.thread if outer else None)
        if outer is not None and not time_ms:
            time_ms, time_at = outer.time_ms, outer.time_at
        calls = path(rule.call_id).all(node) if rule.call_id else []
        is_unused = rule.unused or (outer is not None and outer.is_unused)
        is_hidden = (outer is not None and outer.is_hidden) or hides_items(rule, node)
        inner = _Outer(kind, thread, time_ms, time_at, calls[0].text if len(calls) == 1 else None, is_unused, is_hidden)
        if rule.order:
            items = _in_order(items, rule.order)
        if rule.branches is not None:
            _read_branches(rule, rule.branches, items, node, inner, reading)
            return
        known = reading.known if rule.lookup is None and inner.is_neutral else None
        hidden = [*_hidden_holders(rule.each, node)]
        ids_at, id_at = rule.known_ids or ("", "")
        ids = {each.text for each in path(ids_at).all(node)} if ids_at else set()
        for item in items[repeated_length(items, rule.repeats, node) :]:
            if ids and string_at(item, id_at) in ids:
                continue
            if rule.lookup is not None:
                reading.faults += look_up(item, rule.lookup)
            is_held = any(holder.start <= item.start < holder.end for holder in hidden)
            drafts = known.read(rule, item) if known is not None and not is_held else None
            if drafts is None:
                _read(rule.rules, item, replace(inner, is_hidden=True) if is_held else inner, reading)
            else:
                reading.drafts += drafts
        return
    if rule.stream is not None:
        reading.steps.append(_step(rule, node, outer))
    elif rule.kind is not None:
        drafts = [] if rule.repeats and is_repeated(rule, node) else _messages(rule, node)
        if rule.unused:
            outer = _Outer(rule.kind, None, None, None, is_unused=True)
        if outer is not None:
            for draft in drafts:
                _narrow(draft, outer)
        said = [draft for draft in drafts if draft.kind is Kind.SAID]
        if said and _is_hidden_elsewhere(rule, node):
            for draft in said:
                draft.kind = Kind.UNKNOWN
        if not drafts and rule.kind is Kind.SAID and not (rule.repeats or rule.goes_on):
            member = first_text_member(node)
            body = path(rule.body).first(node)
            if member is not None and body is None:
                reading.faults.append(Problem(W_CONTENT_MISSING, None, member.key_start, member.value.end))
        reading.drafts += drafts
    for more in holding_each(rule.also, node):
        _apply(more, node, outer, reading)


CONVERSATIONS = frozenset(
    f"{name}[]"
    for name in (
        *("messages", "conversations", "conversation", "history", "turns", "chat_messages", "contents"),
        *("prompt", "completion", "chosen", "rejected", "response", "thread"),
    )
) | {"+replies"}
"""The lists of whole messages."""


def hides_items(rule: RecordRule, node: JsonNode) -> bool:
    """True if a record hides the items of its list: the parts of a message, or the messages of a conversation."""
    if not is_flagged(node, {at.partition("[")[0] for at in rule.each.split("|")}):
        return False
    is_conversation = all(at.rpartition(".")[2] in CONVERSATIONS for at in rule.each.split("|"))
    return not is_conversation or hides_messages(node)


def _hidden_holders(each: str, node: JsonNode) -> Iterator[JsonNode]:
    """Yield the objects on the way from a record to the items of its list that have a flag which hides them."""
    for at, is_conversation in _holders_of_items(each):
        for holder in path(at).all(node):
            if hides_messages(holder) if is_conversation else is_flagged(holder):
                yield holder


@cache
def _holders_of_items(each: str) -> tuple[tuple[str, bool], ...]:
    """Return the paths of the objects on the way from a record to the items of its list. For each, return whether all
    that it contains is one conversation."""
    found: dict[str, bool] = {}
    for choice in each.replace("&", "|").split("|"):
        steps = choice.split(".")
        is_conversation = steps[-1] in CONVERSATIONS
        found |= {".".join(steps[:length]): is_conversation for length in range(1, len(steps))}
    return tuple(found.items())


def _in_order(items: list[JsonNode], at: str) -> list[JsonNode]:
    """Return the records sorted by a number in each, or unchanged if one has no such number. The sort is stable, but a
    list whose first number is higher than its last is reversed before sorting."""
    given = [string_at(item, at) or "" for item in items]
    if not all(each.isascii() and each.isdecimal() and len(each) <= LONGEST_NUMBER for each in given):
        return items
    pairs = [*zip(map(int, given), items, strict=True)]
    if pairs and pairs[0][0] > pairs[-1][0]:
        pairs.reverse()
    return [item for _, item in sorted(pairs, key=lambda pair: pair[0])]


def _read_branches(
    rule: RecordRule, tree: Branches, items: list[JsonNode], node: JsonNode, outer: _Outer, reading: RecordReading
) -> None:
    """Read the records of a tree. Each older branch comes before the one that replaced it."""
    order, fault = branch_order(tree, items, node)
    if fault is not None:
        reading.faults.append(Problem(W_THREAD_BROKEN, fault, node.start, node.end))
    for index, is_left in order:
        first = len(reading.drafts)
        _read(rule.rules, items[index], outer, reading)
        if is_left and len(reading.drafts) > first:
            if reading.left and reading.left[-1][1] == first:
                first = reading.left.pop()[0]
            reading.left.append((first, len(reading.drafts)))


def _step(rule: RecordRule, node: JsonNode, outer: _Outer | None) -> StreamStep:
    stream = rule.stream
    assert stream is not None
    base = _base(rule, node)
    bodies = path(rule.body).all(node) if rule.body or rule.parts else []
    reader = _PartReader(rule, base)
    drafts = reader.drafts(bodies) if stream.step is Step.REPLY else reader.drafts_of_one(bodies)
    said = [draft for draft in drafts if draft.kind is Kind.SAID]
    if said and _is_hidden_elsewhere(rule, node):
        for draft in said:
            draft.kind = Kind.UNKNOWN
    is_whole = False
    if stream.step is Step.OPEN and bodies:
        part = first_rule(rule.parts, bodies[0]) if bodies[0].kind is JsonKind.OBJECT else None
        is_whole = part is None or part.label or part.opaque or part.kind is Kind.REPLY
        if not drafts and part is not None and part.kind is not None:
            drafts = [_copy_of(base, part.kind)]
    follows = stream.by_chunks and not stream.scope
    if stream.by_chunks and not follows and not drafts and rule.kind is not None:
        drafts = [_copy_of(base, rule.kind)]
    if outer is not None:
        for draft in drafts:
            _narrow(draft, outer)
    scope, block = string_at(node, stream.scope) or "", string_at(node, stream.block) or ""
    reply = string_at(node, stream.reply)
    return StreamStep(stream.step, scope, block, reply, drafts, base.span, is_whole, stream.by_chunks, follows)


def _is_hidden_elsewhere(rule: RecordRule, node: JsonNode) -> bool:
    """True if the record, or the object that contains its text, has a flag that hides text in other formats."""
    reads_type = rule.label or any(when.path == "type" for when in rule.when)
    if not reads_type and any(map(is_hidden_kind, values_of(node, "type"))):
        return True
    reads_channel = isinstance(rule.channel, Words) and rule.channel.path == "channel"
    reads_phase = isinstance(rule.channel, Words) and not reads_channel
    for at in _holder_paths(rule.body):
        reads_own_type = not at or any(when.path == f"{at}.type" for when in rule.when)
        for holder in path(at).all(node):
            if not reads_own_type and any(map(is_hidden_kind, values_of(holder, "type"))):
                return True
            if any(map(is_other_author, values_of(holder, "role"))):
                return True
            is_hidden = hides_row(holder) if rule.of_conversation and not at else is_flagged(holder)
            if is_hidden or (not reads_channel and is_on_other_channel(holder)) or is_addressed_elsewhere(holder):
                return True
            if not reads_phase and is_in_hidden_phase(holder):
                return True
    return any(is_flagged(holder) for at in _outer_holder_paths(rule.body) for holder in path(at).all(node))


@cache
def _holder_paths(body: str) -> tuple[str, ...]:
    """Return the paths of the record itself and of the object that contains its text."""
    holder = body.rpartition(".")[0]
    return ("", holder) if holder and "|" not in holder and "&" not in holder else ("",)


@cache
def _outer_holder_paths(body: str) -> tuple[str, ...]:
    """Return the paths of the other objects on the way from the record to its text."""
    choices = [choice.split(".") for choice in body.replace("&", "|").split("|")]
    paths = [".".join(steps[:length]) for steps in choices for length in range(1, len(steps))]
    return tuple(dict.fromkeys(at for at in paths if at not in _holder_paths(body)))


def _narrow(draft: Draft, outer: _Outer) -> None:
    """Narrow the kind of a part so that it never shows more than the record around it."""
    if outer.kind in NARROWING and draft.kind is Kind.SAID:
        draft.kind = outer.kind
    if outer.is_hidden and draft.kind is Kind.SAID:
        draft.kind = Kind.UNKNOWN
    if outer.is_unused:
        draft.kind = Kind.UNKNOWN if draft.kind is Kind.SAID else draft.kind
        draft.thread = _UNUSED
    if draft.kind is Kind.REPLY:
        draft.call_id = draft.call_id or outer.call_id
    draft.thread = draft.thread or outer.thread
    if draft.time_ms is None:
        draft.time_ms, draft.time_at = outer.time_ms, outer.time_at


def _messages(rule: RecordRule, node: JsonNode) -> list[Draft]:
    base = _base(rule, node)
    if not rule.body:
        if rule.kind is not Kind.CALL and rule.kind is not Kind.REPLY:
            base.pieces = [Piece(node.start, node.end, Coding.LABEL if rule.label else Coding.JSON_VALUE)]
        return [base]
    bodies = path(rule.body).all(node)
    if rule.parts:
        drafts = _PartReader(rule, base).drafts(bodies)
        if drafts and base.problems and drafts[0] is not base:
            drafts[0].problems[:0] = base.problems
        return drafts
    if rule.kind is Kind.SAID and not rule.label and not all(_is_text(rule, body) for body in bodies):
        return [_unknown(node)]
    base.pieces = _pieces(bodies, base.kind, label=rule.label, opaque=rule.opaque)
    if rule.html:
        base.pieces = [*map(_html_piece, base.pieces)]
    if len(bodies) == 1:
        base.text = bodies[0].text
        base.texts = [base.text]
    else:
        base.text = "\n".join(body.text for body in bodies)
    if rule.then:
        _add_paragraphs(base, rule, node)
    if base.pieces or base.kind in (Kind.CALL, Kind.REPLY):
        base.is_text = rule.text or not (bodies and _may_be_json(bodies[0]))
        return [base]
    return []


def _is_text(rule: RecordRule, body: JsonNode) -> bool:
    return body.kind is JsonKind.STRING or (rule.numbers and body.kind is JsonKind.NUMBER)


def _add_paragraphs(draft: Draft, rule: RecordRule, node: JsonNode) -> None:
    """Add the additional text of a message. In a `SAID` message, report anything other than text and leave it out."""
    for at in rule.then:
        for body in path(at).all(node):
            if is_empty(body):
                continue
            if draft.kind is Kind.SAID and body.kind is not JsonKind.STRING:
                draft.problems.append(Problem(W_PART_UNKNOWN, None, body.start, body.end))
                continue
            if draft.pieces:
                draft.pieces.append(Piece(body.start, body.start, Coding.BREAK))
            draft.pieces.append(piece_of(body))
            draft.text += f"\n\n{body.text}" if draft.text else body.text


def _base(rule: RecordRule, node: JsonNode) -> Draft:
    assert rule.kind is not None
    role = rule.role
    if role.startswith("@"):
        role = string_at(node, role[1:]) or ""
    draft = Draft(rule.kind, role, [], (node.start, node.end), rule)
    if isinstance(rule.channel, Words):
        _set_channel(draft, rule.channel, node)
    else:
        draft.channel = rule.channel
    if rule.call_id:
        draft.call_id = _typed_id(node, rule.call_id) if rule.typed_id else string_at(node, rule.call_id)
    if rule.name or rule.default_name:
        draft.name = string_at(node, rule.name) or rule.default_name or None
    draft.is_text = rule.text
    if rule.time:
        draft.time_ms, draft.time_at = _time(node, rule.time, draft.problems)
    if rule.thread:
        draft.thread = string_at(node, rule.thread)
    if rule.merge and rule.merge.key:
        draft.key = string_at(node, rule.merge.key)
    if rule.outcome is not None:
        _set_outcome(draft, rule.outcome, node)
    return draft


def _typed_id(node: JsonNode, at: str) -> str | None:
    """Return the ID at a path, or None if there is none. A string that looks like a number or begins with a quote is
    returned in quotes."""
    text, value = string_at(node, at), path(at).first(node)
    is_string = text is not None and value is not None and value.kind is JsonKind.STRING
    return f'"{text}"' if is_string and _LIKE_OTHERS.match(text or "") else text


def _set_channel(draft: Draft, words: Words, node: JsonNode) -> None:
    values = path(words.path).all(node) if type(node) is LazyNode else each_at(words.path, node)
    if not values:
        draft.channel = words.missing
        return
    draft.channel_word = values[0].text
    is_word = len(values) == 1 and values[0].kind is JsonKind.STRING
    draft.channel = words.words.get(values[0].text) if is_word else None
    draft.has_unknown_channel = draft.channel is None


def _set_outcome(draft: Draft, outcomes: Outcomes | None, node: JsonNode) -> None:
    if outcomes is None:
        return
    for outcome, test in _outcome_tests(outcomes):
        value = test.value(node)
        if value is not None:
            draft.outcome, draft.outcome_span = outcome, (value.start, value.end)


class _OutcomeTest(Struct, frozen=True):
    """A test from an outcome table, parsed once."""

    at: Path
    word: str | None
    """The word that the value must equal, or must not equal if `is_unequal` is set; None if the value must only be true
    or nonempty."""
    is_unequal: bool

    def value(self, node: JsonNode) -> JsonNode | None:
        """Return the value for which the test is true, or None if the test is false."""
        value = self.at.first(node)
        if value is None:
            return None
        if self.word is None:
            return value if _is_true(value) else None
        return value if (_word(value) != self.word if self.is_unequal else _is_word(value, self.word)) else None


_OUTCOME_TESTS: dict[int, tuple[Outcomes, list[tuple[Outcome, _OutcomeTest]]]] = {}
"""The tests of each outcome table, by its identity, because hashing the table takes longer."""


def _outcome_tests(outcomes: Outcomes) -> list[tuple[Outcome, _OutcomeTest]]:
    known = _OUTCOME_TESTS.get(id(outcomes))
    if known is None:
        found = [(outcome, _outcome_test(test)) for outcome, name in _OUTCOMES for test in getattr(outcomes, name)]
        known = _OUTCOME_TESTS[id(outcomes)] = outcomes, found
    return known[1]


def _outcome_test(test: str) -> _OutcomeTest:
    at, unequal, word = test.partition("!=")
    if unequal:
        return _OutcomeTest(path(at), word, True)
    at, equal, word = test.partition("=")
    return _OutcomeTest(path(at), word if equal else None, False)


def _is_word(value: JsonNode, word: str) -> bool:
    return _word(value).endswith(word[1:]) if word[:1] == "*" else _word(value) == word


def _word(value: JsonNode) -> str:
    return value.text if value.kind in (JsonKind.STRING, JsonKind.NUMBER) else value.kind.value


def _is_true(value: JsonNode) -> bool:
    if value.kind in (JsonKind.OBJECT, JsonKind.ARRAY):
        return bool(value.members or value.items)
    return value.kind is JsonKind.TRUE or bool(value.text and value.text != "0")


def _faults(faults: tuple[Fault, ...], node: JsonNode) -> Iterator[Problem]:
    for fault in faults:
        value = path(fault.path).first(node)
        if value is None or not _is_true(value):
            continue
        found = fault.codes.get(_word(value), fault.default)
        if found is not None:
            about = string_at(node, fault.message) if fault.message else None
            yield Problem(found[0], found[1], value.start, value.end, about=about)


def _time(node: JsonNode, at: str, problems: list[Problem]) -> tuple[int | None, Placed | None]:
    """Return the time at a path in milliseconds and the value that contains it, each None if there is none. If the
    value cannot be read as a time, add a problem."""
    value = path(at).first(node) if at else None
    if value is None:
        return None, None
    if type(value) is LazyNode:
        time_ms = parse_decoded_time(value.value)
    else:
        time_ms = parse_fine_time(value) or parse_time_pair(value) or parse_time(value)
    if time_ms is None:
        problems += unreadable_time(value)
    return time_ms, value


def _unknown(node: JsonNode, *, is_open: bool = False) -> Draft:
    """Return a hidden draft with the source text of a record."""
    draft = Draft(Kind.UNKNOWN, "", [Piece(node.start, node.end, Coding.JSON_VALUE)], (node.start, node.end), _UNKNOWN)
    draft.is_open = is_open
    if not is_open:
        given = node.get("type")
        place = given if given is not None and given.kind is JsonKind.STRING else node
        draft.problems.append(Problem(W_RECORD_UNKNOWN, None, place.start, place.end))
    return draft


_UNKNOWN = RecordRule((), Kind.UNKNOWN)


def holds_text(node: JsonNode, depth: int) -> bool:
    """True if a member that usually contains content has text, at most `depth` objects deep."""
    for member in node.members:
        value = member.value
        if member.key in TEXT_KEYS and (value.members or value.items or (value.kind is JsonKind.STRING and value.text)):
            return True
        if depth > 1 and (holds_text(value, depth - 1) or any(holds_text(item, depth - 1) for item in value.items)):
            return True
    return False


class _PartReader:
    """Reads the parts of a body in order. Adjacent text parts form one message."""

    def __init__(self, rule: RecordRule, base: Draft) -> None:
        self._rule = rule
        self._base = base
        self._said: Draft | None = None
        self._found: list[Draft] = []
        self._line_ended = True
        self._on_own_line = False

    def drafts(self, bodies: list[JsonNode]) -> list[Draft]:
        for body in bodies:
            for index, part in enumerate(body.items if body.kind is JsonKind.ARRAY else [body]):
                self._add(part, index)
        return self._found

    def drafts_of_one(self, bodies: list[JsonNode]) -> list[Draft]:
        """Return the drafts of single parts. Each body must be an object."""
        for body in bodies:
            if body.kind is JsonKind.OBJECT:
                self._add(body, 0)
            else:
                self._add_unknown(body)
        return self._found

    def _add(self, part: JsonNode, index: int) -> None:
        if is_empty(part):
            return
        if part.kind is JsonKind.STRING:
            self._add_text(part, own_line=False)
            return
        rule = first_rule(self._rule.parts, part) if part.kind is JsonKind.OBJECT and part.closed else None
        if rule is None:
            self._add_unknown(part)
            return
        for each in (rule, *(more for more in rule.also if all_hold(more.when, part))):
            self._add_part(each, part, index)

    def _add_part(self, rule: PartRule, part: JsonNode, index: int) -> None:
        if rule.kind is None:
            return
        if rule.each:
            for inner in path(rule.each).all(part):
                self._add(inner, index)
            return
        if rule.kind is Kind.SAID:
            self._add_said(rule, part)
            return
        draft = self._part(rule, part)
        draft.part = f"{rule.kind.value} {draft.call_id or index}"
        if draft.pieces or rule.kind in (Kind.CALL, Kind.REPLY):
            if rule.kind is not Kind.INJECTED:
                self._end_said()
            self._found.append(draft)
        if rule.reply is not None and all_hold(rule.reply.when, part):
            self._found.append(self._part(rule.reply, part))

    def _add_said(self, rule: PartRule, part: JsonNode) -> None:
        if _hides(part) or ("." in rule.body and any(map(_hides, path(_holder_paths(rule.body)[-1]).all(part)))):
            self._add_unknown(part)
            return
        if rule.label:
            self._put(Piece(part.start, part.end, Coding.LABEL), own_line=True)
            return
        bodies = path(rule.body).all(part)
        if not bodies and first_text_member(part) is not None:
            self._add_unknown(part)
        for body in bodies:
            if body.kind is not JsonKind.STRING:
                self._add_unknown(part)
            elif not is_empty(body):
                self._add_text(body, own_line=rule.refusal)
                if self._said is not None:
                    _set_outcome(self._said, rule.outcome, part)

    def _add_text(self, value: JsonNode, *, own_line: bool) -> None:
        self._put(_piece(value), own_line=own_line, text=value.text)

    def _put(self, piece: Piece, *, own_line: bool, text: str = "") -> None:
        if self._said is None:
            self._said = _copy_of(self._base, self._base.kind)
            self._found.append(self._said)
            self._line_ended, self._on_own_line = True, False
        said = self._said
        if said.pieces and (own_line or self._on_own_line) and not self._line_ended:
            said.pieces.append(Piece(piece.start, piece.start, Coding.LINE))
        said.pieces.append(piece)
        said.text += text
        said.texts.append(text)
        self._on_own_line, self._line_ended = own_line, text.endswith("\n")

    def _end_said(self) -> None:
        self._said = None

    def _part(self, rule: PartRule, part: JsonNode) -> Draft:
        assert rule.kind is not None
        kind = rule.kind
        draft = _copy_of(self._base, kind)
        draft.channel = rule.channel
        draft.channel_word, draft.has_unknown_channel = None, False
        draft.call_id = string_at(part, rule.call_id)
        draft.name = string_at(part, rule.name) or rule.default_name or None
        draft.intent = rule.intent or None
        draft.outcome = draft.outcome_span = None
        if kind is Kind.REPLY:
            draft.outcome, draft.outcome_span = self._base.outcome, self._base.outcome_span
        _set_outcome(draft, rule.outcome, part)
        bodies = path(rule.body).all(part) if rule.body else [part] if kind in _WHOLE else []
        draft.pieces = _pieces(bodies, kind, label=rule.label, opaque=rule.opaque)
        draft.text = "\n".join(body.text for body in bodies)
        draft.is_text = rule.text or not (bodies and _may_be_json(bodies[0]))
        return draft

    def _add_unknown(self, part: JsonNode) -> None:
        self._end_said()
        draft = _copy_of(self._base, Kind.UNKNOWN)
        draft.pieces = [piece_of(part)]
        if part.closed:
            draft.problems.append(Problem(W_PART_UNKNOWN, None, part.start, part.end))
        self._found.append(draft)


def _hides(part: JsonNode) -> bool:
    """True if a flag, a channel, an address, or a phase hides the text of a part."""
    return is_flagged(part) or is_on_other_channel(part) or is_addressed_elsewhere(part) or is_in_hidden_phase(part)


def _copy_of(base: Draft, kind: Kind) -> Draft:
    """Return a draft without text that has the record data of `base`. If `kind` is `SAID`, the kind of `base` is
    kept."""
    narrowed = base.kind if kind is Kind.SAID and base.kind is not Kind.SAID else kind
    draft = Draft(narrowed, base.role, [], base.span, base.rule, base.channel, base.channel_word)
    draft.has_unknown_channel = base.has_unknown_channel
    draft.time_ms, draft.time_at, draft.thread, draft.key = base.time_ms, base.time_at, base.thread, base.key
    draft.outcome, draft.outcome_span = base.outcome, base.outcome_span
    return draft


def _may_be_json(body: JsonNode) -> bool:
    """True if the arguments of a call are JSON or a string that may contain JSON."""
    return body.kind is not JsonKind.STRING or body.text.lstrip()[:1] in ("{", "[", "")


def _pieces(bodies: list[JsonNode], kind: Kind, *, label: bool, opaque: bool) -> list[Piece]:
    """Return the pieces for these values, each on a separate line."""
    pieces: list[Piece] = []
    for body in bodies:
        if is_empty(body):
            continue
        found = _pieces_of_one(body, kind, label=label, opaque=opaque)
        if pieces and found:
            pieces.append(Piece(found[0].start, found[0].start, Coding.LINE))
        pieces += found
    return pieces


def _pieces_of_one(body: JsonNode, kind: Kind, *, label: bool, opaque: bool) -> list[Piece]:
    if label:
        return [Piece(body.start, body.end, Coding.LABEL)]
    if opaque:
        return [Piece(body.start, body.end, Coding.OPAQUE)]
    if body.kind is JsonKind.ARRAY and kind is not Kind.CALL and body.items:
        texts = [_text_or_label(item) for item in body.items]
        if all(texts):
            pieces: list[Piece] = []
            for piece in texts:
                assert piece is not None
                if pieces:
                    pieces.append(Piece(piece.start, piece.start, Coding.LINE))
                pieces.append(piece)
            return pieces
    return [_piece(body)]


def _piece(value: JsonNode) -> Piece:
    """Like `piece_of`, but in one step for a string in a regular record."""
    if type(value) is not LazyNode or value.kind is not JsonKind.STRING:
        return piece_of(value)
    start, end, plain = value.string_place()
    return Piece(start + 1, end - 1, Coding.PLAIN) if plain else Piece(start, end, Coding.JSON_STRING)


def _html_piece(piece: Piece) -> Piece:
    if piece.coding is Coding.PLAIN:
        return Piece(piece.start, piece.end, Coding.HTML_TEXT)
    return Piece(piece.start + 1, piece.end - 1, Coding.HTML_TEXT) if piece.coding is Coding.JSON_STRING else piece


def _text_or_label(item: JsonNode) -> Piece | None:
    """Return the piece for the text of a content part or the label of an attachment, or None for any other value."""
    if item.kind is JsonKind.STRING:
        return piece_of(item)
    for key in ("text", "thinking", "content"):
        value = item.get(key)
        if value is not None and value.kind is JsonKind.STRING:
            return piece_of(value)
    given = item.get("type")
    if attachment_kind(item, given.text if given is not None and given.kind is JsonKind.STRING else ""):
        return Piece(item.start, item.end, Coding.LABEL)
    return None
