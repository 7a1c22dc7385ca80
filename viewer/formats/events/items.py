"""Track the items of a response: their keys, their announcements, and the text that closing events repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.engine.conditions import Unreadable, first_rule
from viewer.formats.engine.paths import path
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
from viewer.formats.hiding import is_flagged
from viewer.formats.json.parts import is_ambiguous
from viewer.formats.tables.model import Act, Family, PartRule, RecordRule
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind, JsonNode

Rule = TypeVar("Rule", RecordRule, PartRule)


class ItemText(Struct, frozen=True):
    """Text of an item, and the part that contains it."""

    family: Family
    part: str
    node: JsonNode
    is_refusal: bool = False
    is_unknown: bool = False
    """True if no rule covers this part."""


class Item(Struct):
    """The known properties of one item."""

    lane: DeltaKey
    said: Said = NOTHING_SAID
    names: CallNames = CallNames()
    parts: set[str] = field(default_factory=set)
    """The parts without text for the user."""
    is_announced: bool = False
    is_message: bool = True


class Items:
    """The items of one response, found by ID, index, or call ID."""

    def __init__(self, rules: tuple[RecordRule, ...]) -> None:
        self._rules = rules
        self._lanes: dict[str, str] = {}
        self._items: dict[str, Item] = {}
        self.announces_messages = False
        """True once an item was announced as a message. The text of other items may then be anything."""
        self.announces = False
        """True once any item was announced."""
        self.is_strict = False
        """True if only items of type `message` with the role `assistant` are messages."""

    def clear(self) -> None:
        """Drop all items when another response begins."""
        self._lanes.clear()
        self._items.clear()
        self.announces_messages = self.announces = False

    def lane_of(self, event: EventObject, act: Act, family: Family | None) -> DeltaKey:
        """Return the key of an event that is not about an item itself."""
        name = event.text("message_id", "item_id")
        index = event.text("output_index") if act is not Act.CANCEL or name else None
        call_id = event.text("call_id") if family is Family.CALL else None
        lane = self._lane(name, index, call_id, rotates=True)
        number = event.text("summary_index" if family is Family.SUMMARY else "content_index")
        return replace(lane, part=f"part {number}") if lane.identified and number else lane

    def item_lane(
        self, item: JsonNode | None, event: EventObject, index: str | None, *, rotates: bool = False
    ) -> DeltaKey:
        """Return the key of the item that an event is about. `rotates` is true if the event does not announce the
        item."""
        name = text_of(item.get("id")) if item else None
        call_id = text_of(item.get("call_id")) if item else None
        return self._lane(name or event.text("item_id", "message_id"), index, call_id, rotates=rotates)

    def _lane(self, name: str | None, index: str | None, call_id: str | None, *, rotates: bool = False) -> DeltaKey:
        """Return the key for these names. An item known only by its index keeps that key after its ID arrives.

        Some servers give an item another ID in each event. If `rotates` is true, an ID that no event announced refers
        to the item that was announced at this index of the response."""
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
            rotated = by_place if rotates and by_place and self._is_announced(by_place) else None
            found = self._lanes.get(message) or free or rotated or message
        else:
            found = by_place or by_call or names[0]
        for each in names:
            self._lanes[each] = found
        return DeltaKey(found, True)

    def _is_announced(self, name: str) -> bool:
        known = self._items.get(name)
        return known is not None and known.is_announced

    def get(self, lane: DeltaKey) -> Item | None:
        """Return the item of a key, or None if it is unknown."""
        return self._items.get(lane.name)

    def at(self, lane: DeltaKey) -> Item:
        """Return the item of a key. Create it if it is unknown."""
        return self._items.setdefault(lane.name, Item(replace(lane, part="")))

    def note(self, lane: DeltaKey, said: Said) -> None:
        """Record the properties in an event about an item, without announcing the item."""
        if lane.identified and said.first is not None:
            known = self.at(lane)
            known.said = said.over(known.said)

    def announce(self, item: JsonNode | None, event: EventObject, index: str | None, *, rotates: bool = False) -> Item:
        """Record the properties in an event about an item, mark the item as announced, and return it. `rotates` is true
        if the item may have had another ID."""
        lane = self.item_lane(item, event, index, rotates=rotates)
        known = self._items.setdefault(lane.name, Item(lane)) if lane.identified else Item(lane)
        if item is None:
            return known
        names = CallNames(text_of(item.get("name")), text_of(item.get("call_id")))
        known.names = CallNames(names.name or known.names.name, names.call_id or known.names.call_id)
        known.said = said_by((item, *event.layers)).over(known.said)
        known.is_announced = self.announces = True
        known.is_message = (
            known.is_message and is_message(item, self._rules) and (not self.is_strict or _is_answer(item))
        )
        self.announces_messages = self.announces_messages or known.is_message
        return known


def is_message(item: JsonNode, rules: tuple[RecordRule, ...]) -> bool:
    """True if the type of an item means that its text addresses the user."""
    rule = _rule_of(item, rules)
    return rule is not None and rule.kind is Kind.SAID and not is_flagged(item)


def _is_answer(item: JsonNode) -> bool:
    """True if an item indicates that it is a message of the assistant."""
    return text_of(item.get("type")) == "message" and text_of(item.get("role")) == "assistant"


def texts_of(item: JsonNode, rules: tuple[RecordRule, ...]) -> Iterator[ItemText]:
    """Yield the text of an item as deltas would have contained it, in the same order."""
    rule = _rule_of(item, rules)
    if rule is not None:
        for each in (rule, *rule.also):
            yield from _texts_by(each, item)
    elif has_text(item):
        yield ItemText(Family.OTHER, "", item, is_unknown=True)


def part_text(node: JsonNode, part: str, rules: tuple[PartRule, ...]) -> ItemText:
    """Return the text of one content part of a message."""
    rule = _rule_of(node, rules)
    if rule is not None and rule.kind is Kind.THOUGHT:
        return ItemText(_family_of(rule), part, path(rule.body).first(node) or node)
    if is_thought(node):
        return ItemText(Family.REASONING, part, node.get("text") or node)
    text = path(rule.body).first(node) if rule is not None and not is_ambiguous(node) and not is_flagged(node) else None
    if rule is None or text is None or text.kind is not JsonKind.STRING:
        return ItemText(Family.OTHER, part, node, is_unknown=True)
    return ItemText(Family.TEXT, part, text, is_refusal=rule.refusal)


def _rule_of(node: JsonNode, rules: tuple[Rule, ...]) -> Rule | None:
    """Return the rule for an item or a part, or None if there is none or if its conditions cannot be read."""
    try:
        return first_rule(rules, node)
    except Unreadable:
        return None


def _texts_by(rule: RecordRule, item: JsonNode) -> Iterator[ItemText]:
    found = path(rule.body).all(item)
    if not rule.parts:
        is_hidden = rule.kind is Kind.UNKNOWN
        family = Family.OTHER if is_hidden else Family.CALL
        yield from (ItemText(family, "", value) for value in found if not is_hidden or has_text(value))
        return
    for content in found:
        nodes = content.items if content.kind is JsonKind.ARRAY else [content]
        yield from (part_text(node, f"part {number}", rule.parts) for number, node in enumerate(nodes))


def _family_of(rule: PartRule) -> Family:
    return Family.SUMMARY if rule.intent == "summary" else Family.REASONING


def output_of(response: JsonNode | None) -> list[JsonNode]:
    """Return the items that a closing event repeats, if any."""
    output = response.get("output") if response else None
    if output is None:
        return []
    return [item for item in output.items if item.kind is JsonKind.OBJECT] if output.kind is JsonKind.ARRAY else []


def response_of(event: EventObject) -> JsonNode | None:
    """Return the response object of an event, or None if there is none."""
    return next((found for layer in event.layers if (found := member_object(layer, "response"))), None)
