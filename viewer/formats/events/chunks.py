"""Chunks of chat completions: `choices[].delta` with text, reasoning, and tool calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from viewer.formats.events.delta_keys import Delta, DeltaKey, Opening
from viewer.formats.events.headers import CallNames, identity_of, opening_of
from viewer.formats.events.items import ItemText, part_text
from viewer.formats.events.objects import (
    NOTHING_SAID,
    EventObject,
    Said,
    disagreement,
    has_text,
    is_thought,
    member_items,
    member_object,
    repeated_key,
    said_by,
    text_of,
)
from viewer.formats.events.streams import Streams
from viewer.formats.hiding import is_flagged
from viewer.formats.json.fields import is_blank_call, is_thought_key, piece_if_any
from viewer.formats.json.times import StatedTime
from viewer.formats.tables.model import EventTable, Family
from viewer.model.diagnostic import Problem
from viewer.rules.structure import W_PART_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode


class _Choice(Struct, frozen=True):
    """One choice of a chunk: the properties of its message, and the key of that message."""

    event: EventObject
    said: Said
    lane: DeltaKey
    time: StatedTime


class ChatChunks:
    """Reads chunks. The first chunk of a choice contains the role and other properties of the whole message."""

    def __init__(self, streams: Streams, table: EventTable, reject: Callable[[int, int], bool]) -> None:
        self._streams = streams
        self._table = table
        self._reject = reject
        self._said: dict[str, Said] = {}
        self.is_addition = False
        """True if the last chunk only added text to existing messages."""

    def apply(self, event: EventObject) -> bool:
        """Apply a chunk. Return True if no part of it was rejected."""
        taken = True
        choices = event.get("choices")
        self.is_addition = choices is not None and len(choices.items) == 1
        for choice in choices.items if choices else []:
            known = choice.kind is JsonKind.OBJECT or self._reject(choice.start, choice.end)
            taken = known and self._choice(event, choice) and taken
        return taken

    def _choice(self, event: EventObject, choice: JsonNode) -> bool:
        lane = _lane(event, choice)
        delta = member_object(choice, "delta")
        nodes = [node for node in (delta, choice, *event.layers) if node is not None]
        fault = repeated_key(nodes) or disagreement(nodes)
        if fault:
            return self._reject(*fault)
        own = said_by(nodes)
        if own.role is not None:
            self._streams.reopen(lane)
        said = self._said[lane.name] = own.over(self._said.get(lane.name, NOTHING_SAID))
        place = _Choice(EventObject((delta,) if delta else (), event.span), said, lane, event.time)
        texts = list(_texts(delta, choice, self._table))
        taken = True
        is_hidden = any(map(is_flagged, nodes))
        for text in texts:
            if is_hidden and text.family is Family.TEXT:
                text = replace(text, family=Family.OTHER, is_unknown=True)
            taken = self._text(place, text) and taken
        for call in _calls(delta):
            taken = self._call(place, call) and taken
        if not texts:
            self.is_addition = self.is_addition and own is NOTHING_SAID
            self._streams.declare(lane, None, own)
        if text_of(choice.get("finish_reason")):
            self.is_addition = False
            self._streams.done(lane, None, event.span)
            self._said.pop(lane.name, None)
        return taken

    def _text(self, choice: _Choice, text: ItemText) -> bool:
        if piece_if_any(text.node) is None:
            return True
        self._write(choice, text.family, text.node, CallNames(), text)
        return True

    def _call(self, choice: _Choice, call: JsonNode) -> bool:
        function = member_object(call, "function") or member_object(call, "custom") or call
        part = replace(choice.lane, identified=True, part=f"call {text_of(call.get('index')) or 0}")
        names = CallNames(text_of(function.get("name")), text_of(call.get("id")))
        value = function.get("arguments") or function.get("input")
        self._write(replace(choice, lane=part), Family.CALL, value, names)
        if names.name or names.call_id:
            self._streams.describe_call(part, names.recipient, names.call_id)
        return True

    def _write(
        self, choice: _Choice, family: Family, value: JsonNode | None, names: CallNames, text: ItemText | None = None
    ) -> None:
        event, said = choice.event, choice.said
        piece = piece_if_any(value) if value is not None else None
        is_refusal = text is not None and text.is_refusal
        delta = Delta(choice.lane, family, identity_of(said, family), piece, event.span, is_refusal)
        rule = W_PART_UNKNOWN if value and text and text.is_unknown else None
        faults = (Problem(rule, None, value.start, value.end),) if rule and value else ()
        self._streams.delta(delta, partial(_opening, event, family, said, names, choice.time, faults))


def _opening(
    event: EventObject, family: Family, said: Said, names: CallNames, time: StatedTime, faults: tuple[Problem, ...]
) -> Opening:
    opening = opening_of(event, family, said, names, time)
    return replace(opening, faults=(*opening.faults, *faults))


def _lane(event: EventObject, choice: JsonNode) -> DeltaKey:
    identifier = event.text("id")
    index = text_of(choice.get("index")) or "0"
    return DeltaKey(f"chat:{index}:{identifier or ''}", identifier is not None)


def _texts(delta: JsonNode | None, choice: JsonNode, table: EventTable) -> Iterator[ItemText]:
    """Yield the text of one choice in the order of its messages. Thoughts come first."""
    if delta is not None:
        yield from _thoughts(delta)
        is_hidden = is_thought(delta, choice)
        for text in _contents(delta, table):
            hide = is_hidden and text.family is Family.TEXT
            yield replace(text, family=Family.REASONING) if hide else text
    for node, known in ((delta, table.chunk_members), (choice, table.choice_members)):
        for member in node.members if node else ():
            if member.key not in known and not is_thought_key(member.key) and has_text(member.value):
                yield ItemText(Family.OTHER, "", member.value, is_unknown=True)


def _thoughts(delta: JsonNode) -> Iterator[ItemText]:
    """Yield the thoughts in a delta. If several members have the same text, the text counts once."""
    members = [member.value for member in delta.members if is_thought_key(member.key)]
    texts = {node.text: node for node in reversed(members) if node.kind is JsonKind.STRING and node.text}
    if texts:
        yield from (ItemText(Family.REASONING, "", node) for node in reversed(texts.values()))
        return
    for node in members:
        for item in node.items if node.kind is JsonKind.ARRAY else [node]:
            text = item.get("text") or item.get("thinking") or item.get("summary") or item
            if has_text(text):
                yield ItemText(Family.REASONING, "", text)


def _contents(delta: JsonNode, table: EventTable) -> Iterator[ItemText]:
    content = delta.get("content")
    if content is not None and content.kind is JsonKind.OBJECT:
        yield ItemText(Family.OTHER, "", content, is_unknown=True)
    elif content is not None and content.kind is not JsonKind.NULL:
        for node in content.items if content.kind is JsonKind.ARRAY else [content]:
            yield part_text(node, "", table.parts)
    refusal = delta.get("refusal")
    if refusal is not None and refusal.kind is not JsonKind.NULL:
        is_text = refusal.kind is JsonKind.STRING
        yield ItemText(Family.TEXT if is_text else Family.OTHER, "", refusal, is_refusal=True, is_unknown=not is_text)
    transcript = (member_object(delta, "audio") or delta).get("transcript")
    if transcript is not None and transcript.kind is JsonKind.STRING:
        yield ItemText(Family.TEXT, "", transcript)


def _calls(delta: JsonNode | None) -> list[JsonNode]:
    legacy = member_object(delta, "function_call")
    return [*member_items(delta, "tool_calls"), *([legacy] if legacy and not is_blank_call(legacy) else [])]
