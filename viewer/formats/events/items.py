"""Items of a response: their keys, their announcements, and the texts that their last event repeats."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.events.delta_keys import ANONYMOUS, DeltaKey
from viewer.formats.events.headers import CallNames
from viewer.formats.events.objects import (
    NOTHING_SAID,
    EventObject,
    Said,
    has_text,
    is_thought,
    member_object,
    said_by,
    text_of,
)
from viewer.formats.json.parts import TEXT_TYPES, is_ambiguous, is_thought_type
from viewer.formats.json.parts import text_of as text_of_part
from viewer.formats.tables.model import Act, Family
from viewer.syntax.json_text import JsonKind, JsonNode

_WITH_TEXT = frozenset({"refusal", "audio", "output_audio", "input_audio"})
_CALL_KEYS = ("arguments", "input", "code", "command", "action")


class ItemText(Struct, frozen=True):
    """One text of an item, and its part."""

    family: Family
    part: str
    node: JsonNode
    is_refusal: bool = False
    is_unknown: bool = False
    """True if no rule maps this part."""


class Item(Struct):
    """Known properties of one item."""

    lane: DeltaKey
    said: Said = NOTHING_SAID
    names: CallNames = CallNames()
    parts: set[str] = field(default_factory=set)
    """The parts without text for the user."""
    is_announced: bool = False
    is_message: bool = True


class Items:
    """The items of one response, found by id, index, or call id."""

    def __init__(self) -> None:
        self._lanes: dict[str, str] = {}
        self._items: dict[str, Item] = {}
        self.announces_messages = False
        """True after an item was announced as a message: the text of other items may then be anything."""
        self.announces = False
        """True after any item was announced."""
        self.is_strict = False
        """True if only an item of the type `message` with the role `assistant` is a message."""

    def clear(self) -> None:
        """Forget all items when another response begins."""
        self._lanes.clear()
        self._items.clear()
        self.announces_messages = self.announces = False

    def lane_of(self, event: EventObject, act: Act, family: Family | None) -> DeltaKey:
        """The key of an event that is not about an item itself."""
        name = event.text("message_id", "item_id")
        index = event.text("output_index") if act is not Act.CANCEL or name else None
        call_id = event.text("call_id") if family is Family.CALL else None
        lane = self._lane(name, index, call_id)
        number = event.text("summary_index" if family is Family.SUMMARY else "content_index")
        return replace(lane, part=f"part {number}") if lane.identified and number else lane

    def item_lane(self, item: JsonNode | None, event: EventObject, index: str | None) -> DeltaKey:
        """The key of the item that an event is about."""
        name = text_of(item.get("id")) if item else None
        call_id = text_of(item.get("call_id")) if item else None
        return self._lane(name or event.text("item_id", "message_id"), index, call_id)

    def _lane(self, name: str | None, index: str | None, call_id: str | None) -> DeltaKey:
        """The key for these names. An item known only by its index keeps that key when its id arrives."""
        message, place, call = (
            f"{kind}:{each}" if each else None
            for kind, each in (("message", name), ("index", index), ("call", call_id))
        )
        names = [each for each in (message, place, call) if each]
        if not names:
            return ANONYMOUS
        by_place = self._lanes.get(place) if place else None
        by_call = self._lanes.get(call) if call else None
        if message:
            free = next((each for each in (by_place, by_call) if each and not each.startswith("message:")), None)
            found = self._lanes.get(message) or free or message
        else:
            found = by_place or by_call or names[0]
        for each in names:
            self._lanes[each] = found
        return DeltaKey(found, True)

    def get(self, lane: DeltaKey) -> Item | None:
        """The item of a key; None if unknown."""
        return self._items.get(lane.name)

    def at(self, lane: DeltaKey) -> Item:
        """The item of a key, created if unknown."""
        return self._items.setdefault(lane.name, Item(replace(lane, part="")))

    def note(self, lane: DeltaKey, said: Said) -> None:
        """Note the statements of an event about an item that do not announce it."""
        if lane.identified and said.first is not None:
            known = self.at(lane)
            known.said = said.over(known.said)

    def announce(self, item: JsonNode | None, event: EventObject, index: str | None) -> Item:
        """Note the statements of an event that announces an item."""
        lane = self.item_lane(item, event, index)
        known = self._items.setdefault(lane.name, Item(lane)) if lane.identified else Item(lane)
        if item is None:
            return known
        names = CallNames(text_of(item.get("name")), text_of(item.get("call_id")))
        known.names = CallNames(names.name or known.names.name, names.call_id or known.names.call_id)
        known.said = said_by((item, *event.layers)).over(known.said)
        known.is_announced = self.announces = True
        known.is_message = known.is_message and is_message(item) and (not self.is_strict or _is_answer(item))
        self.announces_messages = self.announces_messages or known.is_message
        return known


def is_message(item: JsonNode) -> bool:
    """True if the texts of an item are said to the user, as far as its type decides that."""
    kind = item.get("type")
    if kind is None or kind.kind is JsonKind.NULL:
        return not is_thought(item) and item.get("call_id") is None
    return kind.kind is JsonKind.STRING and kind.text == "message" and not is_thought(item)


def _is_answer(item: JsonNode) -> bool:
    """True if an item states that it is a message of the assistant."""
    return text_of(item.get("type")) == "message" and text_of(item.get("role")) == "assistant"


def texts_of(item: JsonNode) -> Iterator[ItemText]:
    """The texts of an item that deltas would have contained, in their order."""
    kind = text_of(item.get("type")) or ""
    if kind == "reasoning":
        yield from _of_reasoning(item)
    elif is_message(item):
        for part, node in _parts(item.get("content")):
            yield part_text(node, part)
    elif kind == "function_call" or kind.endswith("_call") or (not kind and item.get("call_id")):
        yield from _of_call(item)
    elif has_text(item):
        yield ItemText(Family.OTHER, "", item, is_unknown=True)


def part_text(node: JsonNode, part: str) -> ItemText:
    """One content part of a message."""
    if node.kind is JsonKind.STRING:
        return ItemText(Family.TEXT, part, node)
    given = node.get("type")
    kind = "" if given is None or given.kind is JsonKind.NULL else given.text
    if kind == "summary_text":
        return ItemText(Family.SUMMARY, part, node.get("text") or node)
    if is_thought_type(kind) or is_thought(node):
        return ItemText(Family.REASONING, part, node.get("text") or node.get(kind) or node)
    if is_ambiguous(node):
        return ItemText(Family.OTHER, part, node, is_unknown=True)
    if kind in TEXT_TYPES:
        text = text_of_part(node, kind)
    else:
        text = node.get("refusal" if kind == "refusal" else "transcript") if kind in _WITH_TEXT else None
    if text is not None and text.kind is JsonKind.STRING:
        return ItemText(Family.TEXT, part, text, is_refusal=kind == "refusal")
    return ItemText(Family.OTHER, part, node, is_unknown=True)


def _parts(content: JsonNode | None) -> Iterator[tuple[str, JsonNode]]:
    if content is None or content.kind is JsonKind.NULL:
        return
    nodes = content.items if content.kind is JsonKind.ARRAY else [content]
    yield from ((f"part {number}", node) for number, node in enumerate(nodes))


def _of_reasoning(item: JsonNode) -> Iterator[ItemText]:
    for family, key in ((Family.SUMMARY, "summary"), (Family.REASONING, "content")):
        for part, node in _parts(item.get(key)):
            yield ItemText(family, part, node.get("text") or node)


def _of_call(item: JsonNode) -> Iterator[ItemText]:
    for key in _CALL_KEYS:
        value = item.get(key)
        if value is not None and value.kind is not JsonKind.NULL:
            yield ItemText(Family.CALL, "", value)
            break
    for key in ("output", "outputs", "results", "result", "error"):
        value = item.get(key)
        if value is not None and has_text(value):
            yield ItemText(Family.OTHER, "", value)


def output_of(response: JsonNode | None) -> list[JsonNode]:
    """The items that a closing event repeats."""
    output = response.get("output") if response else None
    if output is None:
        return []
    return [item for item in output.items if item.kind is JsonKind.OBJECT] if output.kind is JsonKind.ARRAY else []


def response_of(event: EventObject) -> JsonNode | None:
    """The response object of an event."""
    return next((found for layer in event.layers if (found := member_object(layer, "response"))), None)
