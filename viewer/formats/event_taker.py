"""What each event does to the messages: one method a kind of event."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from viewer.core.json_text import JsonKind, JsonNode
from viewer.core.messages import Coding, Piece
from viewer.core.record import Record
from viewer.core.times import parse_time
from viewer.formats.chat_chunks import ChatChunks
from viewer.formats.event_headers import CallNames, identity_of, opening_of
from viewer.formats.event_kinds import TEXT_KEYS, Act, EventKind, Family, kind_of
from viewer.formats.event_lanes import ANONYMOUS, Delta, Lane, Opening
from viewer.formats.event_objects import (
    EventObject,
    event_object,
    is_chunk,
    kinds_of_event,
    lane_of,
    member_items,
    piece_of,
    text_of,
    tool_name,
)
from viewer.formats.event_streams import Streams

_Act = Callable[["EventTaker", EventObject, EventKind], bool]


class EventTaker:
    """Takes events one after another; what it does not take is stray text, which is its caller's to record."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.streams = Streams(record)
        self._chunks = ChatChunks(self.streams, self._reject)
        self._items: dict[str, CallNames] = {}
        """What is known of the calls of this response, by the name of their lane."""
        self._speakers: dict[str, JsonNode] = {}
        self._time_ms: int | None = None
        """When the response began."""

    def knows(self, node: JsonNode, name: str | None) -> bool:
        """Whether this value, or the line before it, gives a type that is known here."""
        if node.kind is JsonKind.STRING:
            kind = kind_of(name) if name else None
            return kind is not None and kind.act is Act.DELTA
        if node.kind is not JsonKind.OBJECT:
            return False
        event = event_object(node)
        return bool(kinds_of_event(event, name)) or is_chunk(event)

    def take(self, node: JsonNode, name: str | None = None) -> bool:
        """Whether this was an event, and has been taken; `name` is what the line before said of its type."""
        if node.kind is JsonKind.STRING and name:
            return self._take_string(node, kind_of(name))
        if node.kind is not JsonKind.OBJECT:
            return False
        event = event_object(node)
        kinds = kinds_of_event(event, name)
        if not kinds and not is_chunk(event):
            return False
        contradiction = event.contradiction
        if contradiction or len({kind.family for kind in kinds if kind.act is Act.DELTA}) > 1:
            return self._reject(*(contradiction or event.span))
        self._note_model(event)
        return _ACTS[kinds[0].act](self, event, kinds[0]) if kinds else self._chunks.take(event)

    def _take_string(self, node: JsonNode, kind: EventKind | None) -> bool:
        """A delta that is nothing but its text."""
        if kind is None or kind.act is not Act.DELTA or kind.family is None:
            return False
        return self._write(EventObject((), (node.start, node.end)), kind.family, ANONYMOUS, node)

    def _reject(self, start: int, end: int) -> bool:
        self._record.start_if_none(start)
        self._record.report("E-PARSE-HEADER", "not-a-message", start, end)
        return False

    def _note_model(self, event: EventObject) -> None:
        if not self._record.transcript:
            model = event.text("model") or text_of(_member(event.get("response"), "model"))
            if model:
                self._record.start(event.span[0], model=model)

    # Text.

    def _delta(self, event: EventObject, kind: EventKind) -> bool:
        assert kind.family is not None
        value = event.get("delta", "data", "text")
        if value is None:
            return self._reject(*event.span)
        return self._write(event, kind.family, lane_of(event, Act.DELTA, kind.family), value)

    def _write(self, event: EventObject, family: Family, lane: Lane, value: JsonNode) -> bool:
        if value.kind is not JsonKind.STRING:
            return self._reject(value.start, value.end)
        delta = Delta(lane, family, identity_of(event, family), piece_of(value), event.span)
        return self.streams.delta(delta, partial(self._opening, event, family, lane))

    def _opening(self, event: EventObject, family: Family, lane: Lane) -> Opening:
        speaker = event.get("role") or self._speakers.get(lane.name)
        time_ms = self._time_ms if event.time_ms is None else event.time_ms
        return opening_of(event, family, speaker, self._names(event, lane), time_ms)

    def _names(self, event: EventObject, lane: Lane) -> CallNames:
        known = self._items.get(lane.name) or self._items.get(f"index:{event.text('output_index')}") or CallNames()
        return CallNames(event.text("name") or known.name, event.text("call_id") or known.call_id)

    def _flush(self, event: EventObject, kind: EventKind) -> bool:
        self.streams.flush(lane_of(event, kind.act, None), event.span, Piece(*event.span, Coding.BREAK))
        return True

    # Ends.

    def _done(self, event: EventObject, kind: EventKind) -> bool:
        lane = lane_of(event, kind.act, kind.family)
        if kind.family is Family.CALL:
            names = self._names(event, lane)
            self.streams.describe_call(lane, tool_name(names.name), names.call_id)
        whole = event.get(*TEXT_KEYS)
        taken = True
        if kind.family and whole is not None and piece_of(whole) and not self.streams.has_seen(lane, kind.family):
            taken = self._write(event, kind.family, lane, whole)
        self.streams.done(lane, kind.family, event.span)
        return taken

    def _end(self, event: EventObject, kind: EventKind) -> bool:
        lane = lane_of(event, kind.act, None)
        if lane is not ANONYMOUS:
            self.streams.done(lane, None, event.span)
            return True
        self.end_response()
        return True

    def end_response(self) -> None:
        """All that is open closes."""
        self.streams.end_response()
        self._forget()

    def _break_off(self, event: EventObject, kind: EventKind) -> bool:
        self.streams.break_off()
        self._forget()
        return True

    def _forget(self) -> None:
        self._items.clear()
        self._speakers.clear()
        self._time_ms = None

    def _begin(self, event: EventObject, kind: EventKind) -> bool:
        self._forget()
        self.streams.begin_response()
        time_ms = parse_time(_member(event.get("response"), "created_at"))
        self._time_ms = event.time_ms if time_ms is None else time_ms
        return True

    # Cancelling.

    def _cancel(self, event: EventObject, kind: EventKind) -> bool:
        self.streams.cancel(lane_of(event, kind.act, None), event.span)
        return True

    def _cancel_tool(self, event: EventObject, kind: EventKind) -> bool:
        call_id = event.text("call_id")
        if call_id is None:
            return self._reject(*event.span)
        self._record.cancel_tool(call_id, *event.span)
        return True

    # Items of a response.

    def _item(self, event: EventObject, kind: EventKind) -> bool:
        item = _item_of(event)
        names = CallNames(text_of(_member(item, "name")), text_of(_member(item, "call_id")))
        speaker = _member(item, "role")
        for lane in _item_lanes(event, item):
            if names.name or names.call_id:
                self._items[lane.name] = names
            if speaker and text_of(speaker):
                self._speakers[lane.name] = speaker
        return True

    def _item_done(self, event: EventObject, kind: EventKind) -> bool:
        self._item(event, kind)
        item = _item_of(event)
        lanes = _item_lanes(event, item)
        for lane in lanes:
            names = self._items.get(lane.name, CallNames())
            self.streams.describe_call(lane, tool_name(names.name), names.call_id)
        if item and lanes:
            self._write_missing(event, item, lanes)
        for lane in lanes:
            self.streams.done(lane, None, event.span)
        return True

    def _write_missing(self, event: EventObject, item: JsonNode, lanes: list[Lane]) -> None:
        """The text of an item whose deltas are not in this input."""
        for family, texts in _item_texts(item).items():
            if texts and not any(self.streams.has_seen(lane, family) for lane in lanes):
                for text in texts:
                    self._write(event, family, lanes[0], text)


def _member(node: JsonNode | None, key: str) -> JsonNode | None:
    return node.get(key) if node else None


def _item_of(event: EventObject) -> JsonNode | None:
    item = event.get("item")
    return item if item and item.kind is JsonKind.OBJECT else None


def _item_lanes(event: EventObject, item: JsonNode | None) -> list[Lane]:
    name = text_of(_member(item, "id")) or event.text("item_id")
    index = event.text("output_index")
    call_id = text_of(_member(item, "call_id"))
    named = (("message", name), ("index", index), ("call", call_id))
    return [Lane(f"{kind}:{value}", True) for kind, value in named if value]


def _item_texts(item: JsonNode) -> dict[Family, list[JsonNode]]:
    """The strings in an item that deltas would have brought, in the order they would have come."""
    arguments = [value for key in ("arguments", "input") if (value := item.get(key))]
    is_reasoning = text_of(item.get("type")) == "reasoning"
    content = [text for part in member_items(item, "content") if (text := part.get("text") or part.get("refusal"))]
    texts = {
        Family.SUMMARY: [text for part in member_items(item, "summary") if (text := part.get("text"))],
        Family.REASONING: content if is_reasoning else [],
        Family.TEXT: content if text_of(item.get("type")) == "message" else [],
        Family.CALL: arguments if item.get("call_id") else [],
    }
    return {family: [text for text in found if text.kind is JsonKind.STRING] for family, found in texts.items()}


def _nothing(taker: EventTaker, event: EventObject, kind: EventKind) -> bool:
    return True


_ACTS: dict[Act, _Act] = {
    Act.DELTA: EventTaker._delta,
    Act.DONE: EventTaker._done,
    Act.FLUSH: EventTaker._flush,
    Act.CANCEL: EventTaker._cancel,
    Act.TOOL_CANCEL: EventTaker._cancel_tool,
    Act.ITEM: EventTaker._item,
    Act.ITEM_DONE: EventTaker._item_done,
    Act.BEGINS: EventTaker._begin,
    Act.ENDS: EventTaker._end,
    Act.BREAKS_OFF: EventTaker._break_off,
    Act.NOTHING: _nothing,
}
