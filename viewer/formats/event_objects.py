"""One event: its type, and the values it says under one of several names."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.core.json_text import JsonKind, JsonNode
from viewer.core.messages import Coding, Piece, Span
from viewer.core.times import parse_time
from viewer.formats.event_kinds import Act, EventKind, Family, kind_of
from viewer.formats.event_lanes import ANONYMOUS, Lane
from viewer.values import frozen

_TIMES = ("ts", "timestamp", "created", "time", "created_at")


@frozen
class EventObject:
    """A JSON object that is an event; what is not in its `data`, where that is an object, is looked for outside."""

    layers: tuple[JsonNode, ...]
    span: Span

    def get(self, *keys: str) -> JsonNode | None:
        """The first of these members that is there and not null."""
        for layer in self.layers:
            for key in keys:
                value = layer.get(key)
                if value is not None and value.kind is not JsonKind.NULL:
                    return value
        return None

    def text(self, *keys: str) -> str | None:
        """The first of these members, if it is a string or a number, and not empty."""
        return text_of(self.get(*keys))

    @property
    def time_ms(self) -> int | None:
        """When it happened, if it says so."""
        return parse_time(self.get(*_TIMES))

    @property
    def contradiction(self) -> Span | None:
        """What is said twice, so that it cannot be told what is meant: a key of one object, or a channel of two."""
        for layer in self.layers:
            seen = set()
            for member in layer.members:
                if member.key in seen:
                    return member.key_start, member.key_end
                seen.add(member.key)
        channels = [channel for layer in self.layers if (channel := layer.get("channel"))]
        if any(channel.text != channels[0].text for channel in channels):
            return channels[0].start, channels[0].end
        return None


def event_object(node: JsonNode) -> EventObject:
    """The event that this object is."""
    data = node.get("data")
    layers = (data, node) if data is not None and data.kind is JsonKind.OBJECT else (node,)
    return EventObject(layers, (node.start, node.end))


def kinds_of_event(event: EventObject, name: str | None) -> list[EventKind]:
    """The kinds its types say, of which the first counts; `name` is what the line before said of its type."""
    values = [layer.get(key) for layer in event.layers for key in ("type", "event")]
    names = [value.text for value in values if value is not None and value.kind is JsonKind.STRING]
    return [kind for said in [*names, *([name] if name else [])] if (kind := kind_of(said))]


def is_chunk(event: EventObject) -> bool:
    """Whether it is a chunk of a chat completion."""
    choices = event.get("choices")
    if choices is None or choices.kind is not JsonKind.ARRAY:
        return False
    if not choices.items:
        return event.text("object") == "chat.completion.chunk"
    return any(member_object(choice, "delta") for choice in choices.items)


def lane_of(event: EventObject, act: Act, family: Family | None) -> Lane:
    """What keeps this event together with others."""
    name = event.text("message_id", "item_id")
    if name is not None:
        return Lane(f"message:{name}", True)
    index = event.text("output_index")
    if index is not None and act is not Act.CANCEL:
        return Lane(f"index:{index}", True)
    call_id = event.text("call_id") if family is Family.CALL else None
    return Lane(f"call:{call_id}", True) if call_id else ANONYMOUS


def text_of(node: JsonNode | None) -> str | None:
    """A string or a number as text; None where it is neither, or empty."""
    if node is None or node.kind not in (JsonKind.STRING, JsonKind.NUMBER):
        return None
    return node.text or None


def member_object(node: JsonNode | None, key: str) -> JsonNode | None:
    """A member that is an object."""
    value = node.get(key) if node else None
    return value if value is not None and value.kind is JsonKind.OBJECT else None


def member_items(node: JsonNode | None, key: str) -> Iterator[JsonNode]:
    """The objects in a member that is an array."""
    value = node.get(key) if node else None
    return (item for item in (value.items if value else []) if item.kind is JsonKind.OBJECT)


def piece_of(node: JsonNode) -> Piece | None:
    """The body that a string is; None where it is empty."""
    if node.end - node.start <= 2:
        return None
    if node.plain:
        return Piece(node.start + 1, node.end - 1, Coding.PLAIN)
    return Piece(node.start, node.end, Coding.JSON_STRING)


def tool_name(name: str | None) -> str | None:
    """The recipient that a call to a tool of this name has."""
    if name is None or "." in name or name in ("python", "browser"):
        return name
    return f"functions.{name}"
