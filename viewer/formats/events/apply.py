"""`EventApplier`: apply events to messages, with one method for each kind of event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from viewer.formats.engine.usage import UsageLedger
from viewer.formats.events.chunks import ChatChunks
from viewer.formats.events.conversation import ConversationItems, item_of
from viewer.formats.events.delta_keys import ANONYMOUS, Delta, DeltaKey, Opening
from viewer.formats.events.headers import ANSWER, CallNames, identity_of, is_shown, opening_of, with_said
from viewer.formats.events.items import Items, ItemText, output_of, part_text, response_of, texts_of
from viewer.formats.events.notes import ResponseNotes
from viewer.formats.events.objects import (
    EventObject,
    Said,
    event_object,
    has_text,
    is_chunk,
    is_thought,
    member_object,
    names_of_event,
    repeated_key,
    said_by,
    text_of,
)
from viewer.formats.events.streams import Addition, Streams
from viewer.formats.hiding import is_flagged
from viewer.formats.json.fields import piece_if_any
from viewer.formats.json.times import stated_time
from viewer.formats.tables.model import Act, EventKind, EventTable, Family
from viewer.formats.tables.usage import EVENT_TOKENS
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Channel, Coding, Header, Kind, Piece
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER, E_STREAM_TRUNCATED
from viewer.rules.notes import I_RECORD_UNKNOWN, I_STREAM_FINAL_ONLY
from viewer.rules.structure import W_PART_UNKNOWN, W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode

_UNNAMED = DeltaKey("unnamed", True)
"""The key of deltas that name no item, in a stream that announces its items."""

_Act = Callable[["EventApplier", EventObject, EventKind], bool]


class EventTypes:
    """Looks up the effect of each type of event in a stream."""

    def __init__(self, table: EventTable) -> None:
        self._table = table
        self.is_api = table.is_api
        """True if the stream is known to come from the Responses API."""
        self._newest: tuple[JsonNode, str | None, EventObject, list[EventKind]] | None = None
        """The object that was read last, with the name of its event and the result."""

    def knows(self, node: JsonNode, name: str | None) -> bool:
        """True if this value, or the `event:` line before it, has a known type."""
        if node.kind is JsonKind.STRING:
            kind = self._table.kind_of(name) if name else None
            return kind is not None and kind.act is Act.DELTA
        if node.kind is not JsonKind.OBJECT:
            return False
        event, kinds = self.read(node, name)
        return bool(kinds) or is_chunk(event)

    def read(self, node: JsonNode, name: str | None) -> tuple[EventObject, list[EventKind]]:
        """Return the event in an object, and the effects of its types. The result is cached, because each object is
        looked up twice."""
        if self._newest is None or self._newest[0] is not node or self._newest[1] != name:
            event = event_object(node)
            self._newest = node, name, event, self._kinds(event, name)
        return self._newest[2:]

    def _kinds(self, event: EventObject, name: str | None) -> list[EventKind]:
        """Return the effects of the types of an event. The first known type takes precedence."""
        names = names_of_event(event, name)
        kinds = [kind for each in names if (kind := self._table.kind_of(each))]
        if not kinds and self.is_api:
            kinds = [self._table.api[each] for each in names if each in self._table.api]
        return kinds

    def learn_api(self, event: EventObject) -> bool:
        """If this event is numbered, note that the stream comes from the API, because only API events are numbered.
        Return True for the first numbered event."""
        if self.is_api or not event.text("sequence_number"):
            return False
        self.is_api = True
        return True


class EventApplier:
    """Applies events one after another. The caller records rejected values as stray text."""

    def __init__(self, record: Recorder, table: EventTable, *, preambles: bool = False) -> None:
        """If `preambles` is true, commentary without a recipient was shown to the user."""
        self._record = record
        self._table = table
        self.types = EventTypes(table)
        self._preambles = preambles
        self._has_begun = False
        """True while a response has begun but not ended."""
        self.streams = Streams(record)
        self._usage = UsageLedger(record, (EVENT_TOKENS,))
        self._chunks = ChatChunks(self.streams, table, self._reject)
        self._items = Items(table.items)
        self._items.is_strict = table.is_api
        self._conversation = ConversationItems(record)
        self._notes = ResponseNotes(record, table)
        self._known: set[str] = set()
        """The types of unlisted events without text that have already been reported."""
        self._time_ms: int | None = None
        """The time when the response began."""
        self.touched: str | None = None
        """The name of the only key that the last event may have changed; None if it may have changed others."""
        self.touch: Callable[[], object] = _touch_nothing
        """A function that makes the last event the newest one that names its message, if that event added text."""
        self.grown: Addition | None = None
        """The text that the last event added to a message, if it did nothing else."""
        self.opened: Addition | None = None
        """The text with which the last event opened a message, if it did nothing else."""

    def apply(self, node: JsonNode, name: str | None = None) -> bool:
        """Apply an event. Return True if the object was an event and was accepted. `name` is the type from an `event:`
        line."""
        self.grown = self.opened = self.touched = None
        self.streams.additions.clear()
        self.streams.openings.clear()
        if node.kind is JsonKind.STRING and name:
            return self._apply_string(node, self._table.kind_of(name))
        if node.kind is not JsonKind.OBJECT:
            return False
        event, kinds = self.types.read(node, name)
        if not kinds and not is_chunk(event):
            return False
        contradiction = event.contradiction
        if contradiction or len({kind for kind in kinds if Act.DELTA in {each.act for each in kinds}}) > 1:
            return self._reject(*(contradiction or event.span))
        self._note_model(event)
        self._usage.take(node, [])
        if kinds and self.types.learn_api(event):
            self._items.is_strict = True
        if not kinds:
            self.touch = _touch_nothing
            return self._note_addition(self._chunks.apply(event), is_only=self._chunks.is_addition)
        if kinds[0].act is Act.UNKNOWN:
            return self._unknown(event, names_of_event(event, name)[0])
        return _ACTS[kinds[0].act](self, event, kinds[0])

    def _apply_string(self, node: JsonNode, kind: EventKind | None) -> bool:
        """Apply a delta that consists only of its text. Return False if the type of the event is not that of a
        delta."""
        if kind is None or kind.act is not Act.DELTA or kind.family is None:
            return False
        text = ItemText(kind.family, "", node, kind.is_refusal)
        return self._write(EventObject((), (node.start, node.end)), ANONYMOUS, text)

    def _reject(self, start: int, end: int) -> bool:
        self._record.start_if_none(start)
        self._record.report(E_PARSE_HEADER, "not-a-message", start, end)
        return False

    def _note_model(self, event: EventObject) -> None:
        if not self._record.transcript:
            response = response_of(event)
            model = event.text("model") or text_of(response.get("model") if response else None)
            if model:
                self._record.start(event.span[0], model=model)

    # Text.

    def _delta(self, event: EventObject, kind: EventKind) -> bool:
        assert kind.family is not None
        value = event.get(*self._table.deltas)
        if value is None:
            return self._reject(*event.span)
        if value.kind is not JsonKind.STRING:
            return self._reject(value.start, value.end)
        text = ItemText(kind.family, "", value, kind.is_refusal)
        lane = self._items.lane_of(event, Act.DELTA, kind.family)
        if not lane.identified and self.types.is_api and self._announces:
            lane = _UNNAMED
        self.touched = lane.name if lane.identified and not self._usage.has_stated else None
        self.touch = partial(self._items.lane_of, event, Act.DELTA, kind.family)
        return self._note_addition(self._write(event, lane, text), is_only=True)

    def _note_addition(self, taken: bool, *, is_only: bool) -> bool:
        """Remember what an event added, if it did nothing else. Return True if the event was accepted."""
        additions, openings = self.streams.additions, self.streams.openings
        if taken and is_only and len(additions) == 1 and not self._usage.has_stated:
            self.grown = additions[0]
            self.opened = openings[0] if openings else None
        return taken

    @property
    def _announces(self) -> bool:
        """True if text of an unannounced item may be anything, because this stream announces its items."""
        return self._items.announces_messages or (self.types.is_api and self._items.announces)

    def _write(
        self, event: EventObject, lane: DeltaKey, text: ItemText, rule: Rule | None = None, *, is_copy: bool = False
    ) -> bool:
        """Add the text to the message of a delta key, and return True. `rule` is reported if the text opens the
        message."""
        family, value = text.family, text.node
        item = self._items.get(lane)
        if family is Family.TEXT and is_thought(*event.layers):
            family = Family.REASONING
        own = event.said
        if family is Family.TEXT and (not self._may_be_said(lane) or any(map(is_flagged, event.layers))):
            family, rule = Family.OTHER, W_RECORD_UNKNOWN
        said = own.over(item.said) if item else own
        piece = piece_if_any(value)
        characters = value.text if value.kind is JsonKind.STRING else ""
        delta = Delta(lane, family, identity_of(said, family), piece, event.span, text.is_refusal, is_copy, characters)
        faults = (Problem(rule, None, value.start, value.end),) if rule else ()
        self.streams.delta(delta, partial(self._opening, event, family, lane, faults))
        return True

    def _may_be_said(self, lane: DeltaKey) -> bool:
        item = self._items.get(lane)
        if item is None:
            return True
        return lane.part not in item.parts and (item.is_message or not item.is_announced)

    def _opening(self, event: EventObject, family: Family, lane: DeltaKey, faults: tuple[Problem, ...]) -> Opening:
        item = self._items.get(lane)
        own = event.said
        said = own.over(item.said) if item else own
        time = event.time
        if time.ms is None:
            time = replace(time, ms=self._time_ms)
        opening = opening_of(event, family, said, self._names(event, lane), time)
        opening = replace(opening, faults=(*opening.faults, *faults), header=self._with_preamble(opening.header))
        if family is not Family.TEXT or not is_shown(opening.header):
            return opening
        header = opening.header
        if item and item.is_announced:
            allowed = is_shown(with_said(ANSWER, item.said))
            return opening if allowed else replace(opening, header=replace(header, kind=Kind.UNKNOWN))
        if lane.identified and (self._announces or self._has_begun):
            return replace(opening, header=replace(header, kind=Kind.UNKNOWN), is_unsettled=True)
        return opening

    def _with_preamble(self, header: Header) -> Header:
        """Return the header, changed by Harmony's rule for commentary if the operator requested it."""
        is_said = header.role == "assistant" and header.recipient is None and header.intent is None
        is_text = header.kind is Kind.SAID and header.content_type in (None, "text", "markdown")
        if self._preambles and header.channel is Channel.COMMENTARY and is_said and is_text:
            return replace(header, intent="preamble")
        return header

    def _names(self, event: EventObject, lane: DeltaKey) -> CallNames:
        item = self._items.get(lane)
        known = item.names if item else CallNames()
        return CallNames(event.text("name") or known.name, event.text("call_id") or known.call_id)

    def _flush(self, event: EventObject, kind: EventKind) -> bool:
        lane = self._items.lane_of(event, kind.act, None)
        self._declare(event, lane, None)
        self.streams.flush(lane, event.span, Piece(*event.span, Coding.BREAK))
        return True

    def _unknown(self, event: EventObject, name: str) -> bool:
        """Handle an event that is not in the table: hide any text in it, and report it. Return True."""
        lane = self._items.lane_of(event, Act.UNKNOWN, None)
        self._declare(event, lane, None)
        node = event.layers[-1]
        if has_text(node):
            value = event.get("delta", "text")
            value = value if value is not None and value.kind is JsonKind.STRING else node
            return self._write(event, lane, ItemText(Family.OTHER, "", value), W_RECORD_UNKNOWN)
        if name not in self._known and not self._table.is_progress(name):
            self._known.add(name)
            self._record.start_if_none(event.span[0])
            self._record.report(I_RECORD_UNKNOWN, None, *event.span)
        return True

    # Ends.

    def _done(self, event: EventObject, kind: EventKind) -> bool:
        lane = self._items.lane_of(event, kind.act, kind.family)
        if lane.identified and event.said.first is None and not any(map(is_thought, event.layers)):
            self.touched = lane.name if not self._usage.has_stated else None
        if kind.family is Family.CALL:
            names = self._names(event, lane)
            self.streams.describe_call(lane, names.recipient, names.call_id)
        self._declare(event, lane, kind.family)
        whole = event.get(*self._table.wholes)
        taken = True
        if kind.family and whole is not None and piece_if_any(whole) and not self.streams.has_seen(lane, kind.family):
            if whole.kind is JsonKind.STRING:
                text = ItemText(kind.family, "", whole, kind.is_refusal)
                self._write(event, lane, text, is_copy=True)
            else:
                taken = self._reject(whole.start, whole.end)
        elif kind.family and whole is not None:
            self._compare(event, lane, kind.family, whole)
        self.streams.done(lane, kind.family, event.span)
        return taken

    def _compare(self, event: EventObject, lane: DeltaKey, family: Family, whole: JsonNode) -> None:
        """Compare the whole text of an API message with its deltas."""
        piece = piece_if_any(whole)
        if self.types.is_api and piece is not None and whole.kind is JsonKind.STRING:
            self.streams.compare(lane, family, whole.text, piece, event.span)

    def _declare(self, event: EventObject, lane: DeltaKey, family: Family | None) -> None:
        """Apply the properties in an event without text to a message."""
        self._items.note(lane, event.said)
        self.streams.declare(lane, family, event.said)
        flag = next((layer.get("thought") for layer in event.layers if is_thought(layer)), None)
        if flag is not None:
            self.streams.withdraw_lane(lane, Family.TEXT, (flag.start, flag.end))

    def _part(self, event: EventObject, kind: EventKind) -> bool:
        """Handle the start or end of a content part. The type of the part decides whether its text is shown; text in
        this event only repeats the deltas. Return False if there is a part that is not an object."""
        lane = self._items.lane_of(event, kind.act, kind.family)
        part = event.get("part")
        if part is None or part.kind is not JsonKind.OBJECT:
            return self._reject(*event.span) if part is not None else True
        if kind.family is Family.SUMMARY:
            text = ItemText(Family.SUMMARY, lane.part, part.get("text") or part)
        else:
            text = part_text(part, lane.part, self._table.parts)
        self._declare_part(lane, text, part)
        is_done = kind.act is Act.PART_DONE
        if is_done and not (text.is_unknown and not has_text(part)):
            self._write_text(event, lane, text)
        if is_done:
            self.streams.done(lane, text.family, event.span)
        return True

    def _declare_part(self, lane: DeltaKey, text: ItemText, part: JsonNode) -> None:
        """If a part has no text for the user, mark what the user already saw of it, and hide the rest."""
        if text.family is Family.TEXT or not lane.identified:
            return
        self._items.at(lane).parts.add(lane.part)
        given = part.get("type") or part
        self.streams.withdraw_lane(lane, Family.TEXT, (given.start, given.end))

    def _end(self, event: EventObject, kind: EventKind) -> bool:
        lane = self._items.lane_of(event, kind.act, None)
        self._declare(event, lane, None)
        if lane.identified:
            whole = event.get("text", "output_text")
            if whole is not None and has_text(whole) and not self.streams.has_seen(lane, Family.TEXT):
                self._write(event, lane, part_text(whole, "", self._table.parts), is_copy=True)
            self.streams.done(lane, None, event.span)
        self._take_response(event)
        if not lane.identified:
            self.end_response()
            self._note_response(event)
        return True

    def end_response(self) -> None:
        """Close all open messages at the end of a response, and forget its items."""
        self._settle_unannounced()
        self.streams.end_response()
        self._has_begun = False
        self._forget()

    def close(self, at: int) -> None:
        """Handle the end of the input. A response that has not ended is reported as truncated."""
        is_open = self.streams.has_open
        self._settle_unannounced()
        self.streams.break_off()
        if self._has_begun and not is_open:
            self._record.report(E_STREAM_TRUNCATED, "event-stream", at, at)

    def _break_off(self, event: EventObject, kind: EventKind) -> bool:
        self._declare(event, ANONYMOUS, None)
        self._take_response(event)
        self._settle_unannounced()
        self.streams.break_off()
        self._has_begun = False
        self._forget()
        self._note_response(event)
        return True

    def _settle_unannounced(self) -> None:
        """At the end of a stream that announced no items, turn all text into messages."""
        if self.types.is_api and not self._items.announces:
            self.streams.settle_all()

    def _note_response(self, event: EventObject) -> None:
        if self.types.is_api:
            self._notes.response(event)

    def _error(self, event: EventObject, kind: EventKind) -> bool:
        layers = (member_object(layer, "error") for layer in event.layers)
        self._notes.error(event, next((error for error in layers if error is not None), event.layers[0]))
        return True

    def _take_response(self, event: EventObject) -> None:
        """Read the items and the text of a response that its closing event repeats."""
        response = response_of(event)
        if response is None:
            return
        self.streams.declare(ANONYMOUS, None, said_by((response,)))
        output = output_of(response)
        for number, item in enumerate(output):
            place = EventObject((), event.span)
            self._take_item(place, item, str(number), I_STREAM_FINAL_ONLY)
        text = response.get("output_text")
        if text is not None and not output and text.kind is JsonKind.STRING and not self.streams.has_text:
            whole = ItemText(Family.TEXT, "", text)
            self._write(EventObject((response,), event.span), ANONYMOUS, whole, I_STREAM_FINAL_ONLY, is_copy=True)

    def _forget(self) -> None:
        self._items.clear()
        self._time_ms = None

    def _begin(self, event: EventObject, kind: EventKind) -> bool:
        self._forget()
        self.streams.begin_response()
        response = response_of(event)
        time = stated_time(response.get("created_at") if response else None)
        for problem in time.problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end)
        self._time_ms = event.time.ms if time.ms is None else time.ms
        self._has_begun = self.types.is_api
        self._note_response(event)
        return True

    # Cancellation.

    def _cancel(self, event: EventObject, kind: EventKind) -> bool:
        lane = self._items.lane_of(event, kind.act, None)
        self._declare(event, lane, None)
        self.streams.cancel(lane, event.span)
        return True

    def _cancel_tool(self, event: EventObject, kind: EventKind) -> bool:
        call_id = event.text("call_id")
        if call_id is None:
            return self._reject(*event.span)
        self._record.cancel_tool(call_id, *event.span)
        return True

    # Items of a conversation.

    def _asked(self, event: EventObject, kind: EventKind) -> bool:
        item = item_of(event)
        if item is None:
            return self._reject(*event.span)
        self._conversation.take(event, item, is_sent=kind.act is Act.SENT)
        return True

    def _requested(self, event: EventObject, kind: EventKind) -> bool:
        """Hide what a request adds to the conversation, because it is only for the model. Return True."""
        response = response_of(event)
        if response is not None:
            self._notes.instructions(event, response)
            given = response.get("input")
            if given is not None and given.kind is not JsonKind.NULL:
                self._conversation.inject(event, given)
        return True

    def _transcript(self, event: EventObject, kind: EventKind) -> bool:
        self._conversation.transcript(event)
        return True

    def _session(self, event: EventObject, kind: EventKind) -> bool:
        session = next((found for layer in event.layers if (found := member_object(layer, "session"))), None)
        if session is not None:
            model = text_of(session.get("model"))
            if model and not self._record.transcript:
                self._record.start(event.span[0], model=model)
            self._notes.instructions(event, session)
        return True

    # Items of a response.

    def _item(self, event: EventObject, kind: EventKind) -> bool:
        item = item_of(event)
        if item is None:
            self._declare(event, self._items.item_lane(None, event, event.text("output_index")), None)
            return True
        self._learn(event, item, event.text("output_index"))
        return True

    def _item_done(self, event: EventObject, kind: EventKind) -> bool:
        item = item_of(event)
        index = event.text("output_index")
        lane = self._items.item_lane(item, event, index, rotates=True)
        if item is None:
            self._declare(event, lane, None)
        else:
            self._take_item(event, item, index, None)
        self.streams.done(lane, None, event.span)
        return True

    def _learn(self, event: EventObject, item: JsonNode, index: str | None, *, rotates: bool = False) -> DeltaKey:
        """Apply the properties in an event about an item to the messages of that item. Return the key of the item."""
        known = self._items.announce(item, event, index, rotates=rotates)
        self._conversation.note_answer(item)
        lane = known.lane
        self.streams.describe_call(lane, known.names.recipient, known.names.call_id)
        self.streams.declare(lane, None, said_by((item, *event.layers)))
        if not known.is_message:
            given = item.get("type") or item
            self.streams.withdraw_lane(lane, Family.TEXT, (given.start, given.end))
        elif is_shown(with_said(ANSWER, known.said)):
            self.streams.settle(lane, lambda header: with_said(replace(header, kind=Kind.SAID), known.said))
        else:
            self.streams.settle(lane, lambda header: self._with_preamble(_hidden_by(header, known.said)))
        return lane

    def _take_item(self, event: EventObject, item: JsonNode, index: str | None, rule: Rule | None) -> None:
        """Read a complete item. `rule` is reported for text without deltas."""
        repeated = repeated_key((item,))
        if repeated:
            self._reject(*repeated)
            return
        lane = self._learn(event, item, index, rotates=True)
        texts = list(texts_of(item, self._table.items))
        for text in texts:
            place = replace(lane, part=text.part) if lane.identified else lane
            if text.family is not Family.TEXT and (text.part or len(texts) == 1):
                whole = text.node
                self.streams.withdraw_lane(place, Family.TEXT, (whole.start, whole.end))
            self._write_text(event, place, text, rule)

    def _write_text(self, event: EventObject, lane: DeltaKey, text: ItemText, rule: Rule | None = None) -> None:
        """Write the text or, if it already arrived in deltas, compare it with them."""
        if piece_if_any(text.node) is None:
            return
        if self.streams.has_seen(lane, text.family):
            self._compare(event, lane, text.family, text.node)
            return
        if text.is_unknown:
            rule = W_PART_UNKNOWN if text.part else W_RECORD_UNKNOWN
        self._write(event, lane, text, rule, is_copy=True)


def _hidden_by(header: Header, said: Said) -> Header:
    """Return the header of text in a hidden item. Use the item's own properties, such as its channel, unless they would
    show the text."""
    settled = with_said(replace(header, kind=Kind.SAID), said)
    return replace(header, kind=Kind.UNKNOWN) if is_shown(settled) else settled


def _touch_nothing() -> None:
    """Do nothing, because the order of events does not matter."""


def _nothing(applier: EventApplier, event: EventObject, kind: EventKind) -> bool:
    return True


_ACTS: dict[Act, _Act] = {
    Act.DELTA: EventApplier._delta,
    Act.DONE: EventApplier._done,
    Act.FLUSH: EventApplier._flush,
    Act.CANCEL: EventApplier._cancel,
    Act.TOOL_CANCEL: EventApplier._cancel_tool,
    Act.ITEM: EventApplier._item,
    Act.ITEM_DONE: EventApplier._item_done,
    Act.PART: EventApplier._part,
    Act.PART_DONE: EventApplier._part,
    Act.BEGINS: EventApplier._begin,
    Act.ENDS: EventApplier._end,
    Act.ERROR: EventApplier._error,
    Act.BREAKS_OFF: EventApplier._break_off,
    Act.ASKED: EventApplier._asked,
    Act.SENT: EventApplier._asked,
    Act.REQUESTED: EventApplier._requested,
    Act.TRANSCRIPT: EventApplier._transcript,
    Act.SESSION: EventApplier._session,
    Act.NOTHING: _nothing,
}
