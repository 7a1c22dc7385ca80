"""Read an event object: its types, its members under various names, and the properties of its message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import astuple

from viewer.formats.json import fields
from viewer.formats.json.times import StatedTime, stated_time
from viewer.model.messages import Span
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode

_STATED = ("role", "channel", "phase", "recipient", "to", "intent")
_STATING = frozenset(_STATED)
_PHASES = {"commentary": "commentary", "final_answer": "final"}
_NOTES = frozenset(
    (
        "type",
        "event",
        "event_id",
        "id",
        "item_id",
        "message_id",
        "response_id",
        "call_id",
        "tool_call_id",
        "object",
        "status",
        "model",
        "name",
        "namespace",
        "role",
        "channel",
        "phase",
        "recipient",
        "to",
        "intent",
        "obfuscation",
        "partial_image_b64",
        "encrypted_content",
        "signature",
    )
)
"""Members whose strings are not message text."""


class Said(Struct, frozen=True):
    """The properties that an object gives the message to which its text belongs. Anything not given is None."""

    role: JsonNode | None = None
    channel: JsonNode | None = None
    phase: JsonNode | None = None
    recipient: JsonNode | None = None
    intent: JsonNode | None = None

    def over(self, other: Said) -> Said:
        """Return these properties, completed with those of another object."""
        has_channel = self.channel is not None or self.phase is not None
        channel, phase = (self.channel, self.phase) if has_channel else (other.channel, other.phase)
        return Said(
            other.role if self.role is None else self.role,
            channel,
            phase,
            other.recipient if self.recipient is None else self.recipient,
            other.intent if self.intent is None else self.intent,
        )

    @property
    def first(self) -> JsonNode | None:
        """The property that comes first in the input, or None if there is none."""
        return min((node for node in astuple(self) if node is not None), key=lambda node: node.start, default=None)

    @property
    def channel_name(self) -> str | None:
        """The channel as written, or as implied by the phase; None if neither is given. A value that is not a string
        counts by its text or its kind."""
        if self.channel is not None:
            return word_of(self.channel)
        if self.phase is None:
            return None
        phase = word_of(self.phase)
        return _PHASES.get(phase, phase)


NOTHING_SAID = Said()


class EventObject(Struct, frozen=True):
    """A JSON object that is an event. Members of `data`, if that is an object, come first."""

    layers: tuple[JsonNode, ...]
    span: Span

    def get(self, *keys: str) -> JsonNode | None:
        """Return the first of these members that exists and is not null, or None if there is none."""
        for layer in self.layers:
            known = layer.value if type(layer) is LazyNode else None
            for key in keys:
                if type(known) is dict and key not in known:
                    continue  # asking the node takes longer
                value = layer.get(key)
                if value is not None and value.kind is not JsonKind.NULL:
                    return value
        return None

    def text(self, *keys: str) -> str | None:
        """Return the first of these members as text if it is a number or a nonempty string, or else None."""
        return text_of(self.get(*keys))

    @property
    def time(self) -> StatedTime:
        return stated_time(self.get(*fields.TIME_KEYS))

    @property
    def said(self) -> Said:
        """The properties that the event gives its message."""
        return said_by(self.layers)

    @property
    def contradiction(self) -> Span | None:
        """The span of a repeated key, or of a property on which two objects of the event disagree, or None if there is
        neither."""
        part, response = self.get("part"), self.get("response")
        inner = [node for node in (self.get("item"), part, response) if node and node.kind is JsonKind.OBJECT]
        return repeated_key((*self.layers, *inner)) or disagreement((*self.layers, *inner[:1]))


def event_object(node: JsonNode) -> EventObject:
    """Return the event in this object."""
    data = node.get("data")
    layers = (data, node) if data is not None and data.kind is JsonKind.OBJECT else (node,)
    return EventObject(layers, (node.start, node.end))


def names_of_event(event: EventObject, name: str | None) -> list[str]:
    """Return the types of an event. `name` is the type from an `event:` line."""
    values = [layer.get(key) for layer in event.layers for key in ("type", "event")]
    names = [value.text for value in values if value is not None and value.kind is JsonKind.STRING]
    return [*names, *([name] if name else [])]


def is_chunk(event: EventObject) -> bool:
    """True if the event is a chunk of a chat completion."""
    choices = event.get("choices")
    if choices is None or choices.kind is not JsonKind.ARRAY:
        return False
    if not choices.items:
        return event.text("object") == "chat.completion.chunk"
    return any(member_object(choice, "delta") for choice in choices.items)


def said_by(nodes: Iterable[JsonNode]) -> Said:
    """Return the properties that these objects give. The first value of each property takes precedence."""
    found: dict[str, JsonNode] = {}
    for node in filter(_states, nodes):
        for key in _STATED:
            value = node.get(key)
            if value is not None and value.kind is not JsonKind.NULL:
                found.setdefault("recipient" if key == "to" else key, value)
    return Said(**found) if found else NOTHING_SAID


def _states(node: JsonNode) -> bool:
    """True if an object has any of these properties. Most events have none."""
    if type(node) is LazyNode and type(node.value) is dict:
        return not _STATING.isdisjoint(node.value)
    return any(member.key in _STATING for member in node.members)


def repeated_key(nodes: Iterable[JsonNode]) -> Span | None:
    """Return the span of the first repeated key in one of these objects, or None if there is none."""
    for node in nodes:
        if type(node) is LazyNode:  # a regular object has no repeated key
            continue
        seen = set()
        for member in node.members:
            if member.key in seen:
                return member.key_start, member.key_end
            seen.add(member.key)
    return None


def disagreement(nodes: Iterable[JsonNode]) -> Span | None:
    """Return the span of the first value in these objects that another value contradicts, or None if there is none."""
    known: dict[str, tuple[str, JsonNode]] = {}
    for node in filter(_states, nodes):
        for key in _STATED:
            value = node.get(key)
            if value is None or value.kind is JsonKind.NULL:
                continue
            word = word_of(value)
            word = _PHASES.get(word, word) if key == "phase" else word
            name = {"to": "recipient", "phase": "channel"}.get(key, key)
            other, first = known.setdefault(name, (word, value))
            if other != word:
                return first.start, first.end
    return None


def is_thought(*nodes: JsonNode | None) -> bool:
    """True if an object marks its text as a thought, with `thought` or Google's extension of it."""
    for node in nodes:
        extra = member_object(member_object(node, "extra_content"), "google")
        if any(each is not None and fields.is_marked_thought(each) for each in (node, extra)):
            return True
    return False


def has_text(node: JsonNode) -> bool:
    """True if a string in the object may be message text."""
    return fields.has_text(node, _NOTES)


def text_of(node: JsonNode | None) -> str | None:
    """Return a string or number as text, or None if it is anything else or empty."""
    if node is None or node.kind not in (JsonKind.STRING, JsonKind.NUMBER):
        return None
    return node.text or None


def word_of(node: JsonNode) -> str:
    """Return a string without surrounding whitespace, or the text or the kind of any other value."""
    return node.text.strip(" \t\r\n") if node.kind is JsonKind.STRING else node.text or node.kind.value


def member_object(node: JsonNode | None, key: str) -> JsonNode | None:
    """Return a member if it is an object, or else None."""
    value = node.get(key) if node else None
    return value if value is not None and value.kind is JsonKind.OBJECT else None


def member_items(node: JsonNode | None, key: str) -> Iterator[JsonNode]:
    """Yield the objects in a member that is an array."""
    value = node.get(key) if node else None
    return (item for item in (value.items if value else []) if item.kind is JsonKind.OBJECT)
