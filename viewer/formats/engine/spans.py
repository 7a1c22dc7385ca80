"""Collect the spans of traces, and group them into conversations, agents, and chains."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from itertools import islice

from msgspec import Struct

from viewer.formats.engine.attributes import LOGS, attribute_tree, spans_of_logs
from viewer.formats.engine.chains import Conversation, identity_of
from viewer.formats.engine.conditions import Unreadable, holds
from viewer.formats.engine.drafts import Draft, RecordReading, read_record
from viewer.formats.engine.inner import read_inner_strings
from viewer.formats.engine.paths import path, string_at
from viewer.formats.json.fields import Source
from viewer.formats.json.unread import unread_messages
from viewer.formats.side_calls import is_side_call
from viewer.formats.tables.model import RecordFormat, Spans, When
from viewer.model.diagnostic import Problem
from viewer.model.messages import Kind
from viewer.rules.structure import W_SIBLING_UNREAD, W_THREAD_BROKEN
from viewer.syntax.json_lines import LazyNode, note_decoded, whole_tree
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

MOST_WAITING = 65_536
"""The maximum number of spans that may wait for the root of their trace."""
MOST_ANCESTORS = 200
FEW_SPANS = 64
"""The traces of a record with up to this many spans are written at its end."""
LONG_RECORD = 1024 * 1024
"""The minimum length in bytes of a record whose spans become trees of nodes one at a time, which needs less memory."""
MOST_RESULTS = 256
"""The maximum number of texts in what a trace returned to its caller."""
MOST_ASKED = 4_096
"""The maximum number of texts in what a trace received from its caller."""
LONGEST_RESULT = 1_000_000
_NO_PARENT = "0" * 16
_NO_NODE = JsonNode(JsonKind.NULL, 0, 0)
_NO_READING = RecordReading()
"""The reading of all spans that have been written. It never changes."""


class TraceSpan(Struct):
    """One span of a trace."""

    node: JsonNode
    source: Source | None
    trace: str
    id: str
    parent: str
    group: str
    """The ID of the conversation or, if the span belongs to none, of the trace."""
    start: tuple[int, int]
    """The start time of the span, then its ordinal number in the input."""
    is_agent: bool
    is_tool: bool
    is_root: bool
    reading: RecordReading
    has_messages: bool = False
    is_side: bool = False
    """True if the names of the span, or of one above it, say that its model call produces no answer."""
    thread: str = ""
    """The other agent to which this span belongs, usually the ID of that agent's span; empty for the main agent."""
    may_wrap: bool = False
    """True for the root of a workflow that counts as an agent."""
    wraps: str | None = None
    """The ID of the only agent below the root of a workflow. That agent speaks for the workflow."""
    is_covered: bool = False
    """True if the spans below this one contain the same messages."""
    is_logged: bool = False
    """True if the events of the span are log records. Its parent is then the span to which those records belong, which
    may be in another file."""

    def forget(self) -> None:
        """Once the messages of the span are written, drop everything that the spans below it do not need."""
        self.node, self.source, self.reading = _NO_NODE, None, _NO_READING


class _EarlyTraces:
    """The traces of one record that can be written before the record was read, in the order of their first spans."""

    def __init__(self, traces: list[str], waiting: Container[str]) -> None:
        self._lasts = {trace: place for place, trace in enumerate(traces)}
        is_late = any(trace in waiting for trace in self._lasts)
        self._order = deque(() if is_late else dict.fromkeys(traces))

    def end(self) -> None:
        """Write no further traces early."""
        self._order.clear()

    def complete(self, place: int) -> Iterator[str]:
        """Yield the next traces whose last span is at most at this place."""
        while self._order and self._lasts[self._order[0]] <= place:
            yield self._order.popleft()


Emit = Callable[[TraceSpan], None]


class SpanCollector:
    """Keeps the spans of incomplete traces until their roots arrive, because ancestors determine the agent but arrive
    last."""

    def __init__(self, format: RecordFormat, emit: Emit) -> None:
        assert format.spans is not None
        self._format = format
        self._spans: Spans = format.spans
        self._emit = emit
        self._waiting: dict[str, list[TraceSpan]] = {}
        """The spans of each trace whose root has not arrived."""
        self._waiting_count = 0
        self._known: dict[tuple[str, str], TraceSpan] = {}
        self._groups: dict[str, str] = {}
        """The conversation of each trace."""
        self._conversations: dict[str, Conversation] = {}
        self._names: dict[str, str] = {}
        self._results: dict[str, list[int]] = {}
        """The hashes of the texts that each trace returned to its caller."""
        self._asked: dict[str, set[int]] = {}
        """The hashes of the texts that each trace received from its caller."""
        self._written: set[str] = set()
        """The traces with messages that have been written."""
        self._count = 0
        self.first: int | None = None
        """The position of the first span. Even a trace without content becomes a transcript."""

    def take(self, record: JsonNode, source: Source | None) -> None:
        """Add the spans of a record, and write the traces whose roots have arrived, or all traces if too many spans
        wait."""
        if type(record) is LazyNode and record.end - record.start < LONG_RECORD:
            record = whole_tree(record)
        found = path(self._spans.each).all(record)
        if type(record) is LazyNode and not found:
            record = whole_tree(record)
        logged = [] if found or not self._spans.logs else spans_of_logs(record)
        given = found or logged or [record]
        traces = [string_at(span, self._spans.trace) or "" for span in given] if len(given) > FEW_SPANS else []
        early = _EarlyTraces(traces, self._waiting)
        roots: set[str] = set()
        for place, node in enumerate(given):
            span = self._read(whole_tree(node) if type(node) is LazyNode else node, source)
            if logged:
                span.is_root, span.is_logged = False, True
            if place == 0 and (found or logged):
                span.reading.faults += self._unread(record)
            self._add(span, record if found else None)
            if span.is_root:
                roots.add(span.trace)
            if span.trace in self._groups:
                early.end()  # all traces of a conversation are sorted by their time
            for trace in early.complete(place):
                if trace in roots:
                    roots.remove(trace)
                    self._write_traces({trace})
        if self._waiting_count > MOST_WAITING:
            self.close()
        else:
            self._write_traces(roots)

    def _add(self, span: TraceSpan, record: JsonNode | None) -> None:
        """Add a span of a record to its trace."""
        if record is not None:
            self._note_results(span.trace, record, self._spans.outer_results)
            self._note_asked(span.trace, record, self._spans.outer_asked)
        if span.is_root and not span.has_messages:
            self._note_results(span.trace, span.node, self._spans.results)
            self._note_asked(span.trace, span.node, self._spans.asked)
        self._waiting.setdefault(span.trace, []).append(span)
        self._waiting_count += 1
        if span.id:
            self._known.setdefault((span.trace, span.id), span)

    def close(self) -> None:
        """Write all waiting spans, even those whose root has not arrived."""
        self._write_traces({*self._waiting})

    def _write_traces(self, traces: set[str]) -> None:
        """Write the spans of these traces in the order in which they arrived."""
        spans = [span for trace in traces for span in self._waiting.pop(trace)]
        self._waiting_count -= len(spans)
        if len(traces) > 1:
            spans.sort(key=lambda span: span.start[1])
        if spans:
            self._write(spans)

    def _read(self, node: JsonNode, source: Source | None) -> TraceSpan:
        spans = self._spans
        problems: list[Problem] = []
        if node.closed and node.kind is JsonKind.OBJECT and spans.attributes:
            node = _with_trees(node, spans)
        if node.closed:
            note_decoded(node)  # from here on, only inner strings change
            problems = read_inner_strings(self._format.inner, node, source) if source is not None else []
        reading = read_record(self._format.records, node)
        reading.faults = [*problems, *reading.faults]
        self._count += 1
        self.first = node.start if self.first is None else self.first
        trace = self._shared(string_at(node, spans.trace))
        group = string_at(node, spans.group) if spans.group else None
        if group is not None:
            self._groups.setdefault(trace, group)
        parent = string_at(node, spans.parent)
        is_agent = _any_holds(spans.agents, node)
        is_root = (node.closed and _is_apart(node, spans.parent, parent)) or _any_holds(spans.remote, node)
        return TraceSpan(
            node=node,
            source=source,
            trace=trace,
            id=string_at(node, spans.id) or "",
            parent=self._shared(parent),
            group=self._shared(group),
            start=(_number(string_at(node, spans.start)), self._count),
            is_agent=is_agent,
            is_tool=_any_holds(spans.tools, node),
            is_root=is_root,
            may_wrap=is_agent and is_root and bool(spans.workflows) and _all_hold(spans.workflows, node),
            reading=reading,
            has_messages=any(draft.kind is Kind.SAID for draft in reading.drafts),
            is_side=is_side_call(node),
        )

    def _shared(self, name: str | None) -> str:
        """Return the same string for each occurrence of an ID, which many spans have."""
        return self._names.setdefault(name, name) if name else ""

    def _note_results(self, trace: str, node: JsonNode, at: str) -> None:
        """Note the texts that a trace returned to its caller."""
        for value in path(at).all(node) if at and trace not in self._results else ():
            found = [hash(text.strip()) for text in islice(_texts(value), MOST_RESULTS)]
            if found:
                self._results[trace] = found

    def _note_asked(self, trace: str, node: JsonNode, at: str) -> None:
        """Note the texts that a trace received from its caller."""
        for value in path(at).all(node) if at and trace not in self._asked else ():
            found = {hash(text.strip()) for text in islice(_texts(value), MOST_ASKED) if text.strip()}
            if found:
                self._asked[trace] = found

    def _unread(self, record: JsonNode) -> Iterator[Problem]:
        """Yield problems for messages that are next to the spans of a record and therefore not read."""
        places = (path(each) for each in self._spans.each.split("&"))
        read = {choice[0] for each in places for choice in each.choices if choice}
        read |= {choice[0] for choice in path(LOGS).choices}
        for member in record.members:
            if member.key not in read:
                for message in unread_messages(member.value):
                    yield Problem(W_SIBLING_UNREAD, None, message.start, message.end)

    def _write(self, spans: list[TraceSpan]) -> None:
        groups: dict[str, list[TraceSpan]] = {}
        self._find_wrappers(spans)
        for span in spans:
            self._settle(span)
            groups.setdefault(span.group, []).append(span)
        for span in spans:
            span.is_side = span.is_side or any(above.is_side and not above.is_root for above in self._ancestors(span))
        for span in spans:
            self._cover(span)
        self._hide_side_calls(spans)
        for group, members in groups.items():
            conversation = self._conversations.setdefault(group, Conversation())
            traces: dict[str, list[TraceSpan]] = {}
            for span in sorted(members, key=lambda span: span.start):
                traces.setdefault(span.trace, []).append(span)
            for ordered in traces.values():
                trace = ordered[0].trace
                conversation.add(
                    [(span.reading, span.source, span.thread, span.is_covered) for span in ordered],
                    is_stated=trace in self._groups,
                    results=[*self._results.get(trace, ()), *_said_by_roots(ordered, "assistant")],
                    asked={*self._asked.get(trace, ()), *_said_by_roots(ordered, "user")},
                    is_late=trace in self._written,
                )
                if any(
                    span.has_messages and not (span.thread or span.is_side) and (trace or span.id) for span in ordered
                ):
                    self._written.add(trace)
                for span in ordered:
                    self._emit(span)
                    span.forget()

    def _hide_side_calls(self, spans: list[TraceSpan]) -> None:
        """Hide what was said in calls that produce no answer. If a trace has only such calls, show the only one whose
        answers include everything that the trace returned."""
        sides: dict[str, list[TraceSpan]] = {}
        others = {span.trace for span in spans if span.has_messages and not span.is_side}
        for span in spans:
            if span.has_messages and span.is_side:
                sides.setdefault(span.trace, []).append(span)
        for trace, calls in sides.items():
            results = {*self._results.get(trace, ())} - self._asked.get(trace, set())
            if results and trace not in others and trace not in self._written:
                matching = [call for call in calls if results <= _answers(call)]
                if len(matching) == 1:
                    matching[0].is_side = False
            for call in calls:
                for draft in _said(call) if call.is_side else ():
                    draft.kind = Kind.REPLAYED

    def _find_wrappers(self, spans: list[TraceSpan]) -> None:
        """Find the roots of workflows that only start one agent."""
        below: dict[tuple[str, str], set[str | None]] = {}
        for span in spans:
            if span.is_agent or span.has_messages:
                inside = span.id if span.is_agent else None
                for above in self._ancestors(span):
                    if above.is_agent:
                        below.setdefault((above.trace, above.id), set()).add(inside)
                        break
        for span in spans:
            only = below.get((span.trace, span.id), set())
            if span.may_wrap and not span.has_messages and len(only) == 1:
                (span.wraps,) = only

    def _settle(self, span: TraceSpan) -> None:
        """Set the conversation and the thread of a span, and report a missing parent."""
        span.group = span.group or self._groups.get(span.trace) or span.trace
        around = [above for above in self._ancestors(span) if above.is_agent or above.is_tool]
        inside = {each.id for each in [span, *around]}
        agents = [each for each in [span, *around] if each.is_agent and each.wraps not in inside]
        if len(agents) > 1 or any(above.is_tool for above in around):
            span.thread = agents[0].id if span.is_agent else around[0].id
        top = self._top(span)
        if not top.is_root and not span.thread and not top.is_logged:
            span.thread = f"below {top.parent}"
            if top is span:
                fault = Problem(W_THREAD_BROKEN, "parent-missing", span.node.start, span.node.end)
                span.reading.faults.append(fault)

    def _ancestors(self, span: TraceSpan) -> Iterator[TraceSpan]:
        seen = {span.id}
        for _ in range(MOST_ANCESTORS):
            above = self._known.get((span.trace, span.parent)) if not span.is_root else None
            if above is None or above.id in seen:
                return
            seen.add(above.id)
            yield above
            span = above

    def _top(self, span: TraceSpan) -> TraceSpan:
        return [span, *self._ancestors(span)][-1]

    def _cover(self, span: TraceSpan) -> None:
        """If a span has messages, mark the spans of the same agent above it as covered, because they repeat its
        messages."""
        if span.has_messages and not span.is_side:
            for above in self._ancestors(span):
                above.is_covered = above.is_covered or above.thread == span.thread


def _said(span: TraceSpan) -> list[Draft]:
    return [draft for draft in span.reading.drafts if draft.kind is Kind.SAID]


def _answers(span: TraceSpan) -> set[int]:
    return {identity_of(draft, span.source)[2] for draft in _said(span) if draft.role != "user"}


def _said_by_roots(spans: list[TraceSpan], role: str) -> Iterator[int]:
    """Yield the hashes of the questions or answers of roots that repeat the messages of the spans below them."""
    for span in spans:
        for draft in span.reading.drafts if span.is_root and span.is_covered else ():
            if draft.kind is Kind.SAID and draft.role == role:
                yield identity_of(draft, span.source)[2]


def _texts(value: JsonNode) -> Iterator[str]:
    """Yield the strings in a value, including those in strings that contain JSON."""
    if value.kind is JsonKind.STRING:
        yield value.text
        if value.text.startswith(("{", "[", '"')) and len(value.text) <= LONGEST_RESULT:
            with suppress(ValueError, RecursionError):
                yield from _decoded_texts(json.loads(value.text))
    for item in value.items:
        yield from _texts(item)
    for member in value.members:
        yield from _texts(member.value)


def _decoded_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _decoded_texts(each)


def _is_apart(node: JsonNode, at: str, parent: str | None) -> bool:
    """True if a span certainly has no parent. A span that names its parent in an unknown form may have one."""
    if parent is not None:
        return parent in ("", _NO_PARENT)
    stated = path(at).first(node)
    return stated is None or stated.kind is JsonKind.NULL


def _with_trees(node: JsonNode, spans: Spans) -> JsonNode:
    """Return the span with its attributes, and the attributes of its events, as trees."""
    given = node.get(spans.attributes)
    if given is None or given.kind not in (JsonKind.OBJECT, JsonKind.ARRAY):
        if not any("." in member.key for member in node.members):
            return node
        tree = attribute_tree(node)
        if tree.get(spans.attributes) is not None:
            return tree
        return _with_member(node, spans.attributes, tree)
    changed = _with_member(node, spans.attributes, attribute_tree(given))
    events = node.get("events")
    if events is not None and events.kind is JsonKind.ARRAY:
        items = [_with_trees(event, spans) if event.get(spans.attributes) else event for event in events.items]
        changed = _with_member(
            changed, "events", JsonNode(JsonKind.ARRAY, events.start, events.end, items=items, closed=events.closed)
        )
    return changed


def _with_member(node: JsonNode, key: str, value: JsonNode) -> JsonNode:
    members = [member for member in node.members if member.key != key]
    members.append(JsonMember(key, value.start, value.start, value))
    return JsonNode(JsonKind.OBJECT, node.start, node.end, members=members, closed=node.closed)


def _any_holds(conditions: tuple[When, ...], node: JsonNode) -> bool:
    try:
        return any(holds(condition, node) for condition in conditions)
    except Unreadable:
        return False


def _all_hold(conditions: tuple[When, ...], node: JsonNode) -> bool:
    try:
        return all(holds(condition, node) for condition in conditions)
    except Unreadable:
        return False


def _number(text: str | None) -> int:
    """Return a sortable number for a time: its first 20 digits, padded with zeros, or 0 if it has no digits."""
    text = text or ""
    digits = text if text.isdecimal() and text.isascii() else "".join(each for each in text if "0" <= each <= "9")
    digits = digits[:20]
    return int(digits.ljust(20, "0")) if digits else 0
