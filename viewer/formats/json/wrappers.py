"""Find the messages in a JSON value: arrays, message lists, requests with responses, and preference pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.formats.hiding import FACTS_OF_CONVERSATIONS, hides_messages, is_addressed_elsewhere, is_flagged
from viewer.formats.json.fields import CONTENT_KEYS, ROLE_KEYS
from viewer.formats.json.unread import unread_messages
from viewer.formats.tables.model import MessageTable
from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

if TYPE_CHECKING:
    from viewer.formats.json.known.rows import RowMaker

DEEPEST_EXCHANGE = 3
"""The maximum nesting of objects around a request or a response."""


class Use(Enum):
    """The use of a value in a document."""

    WRAPPER = "wrapper"
    """A transcript may begin here; its messages follow."""
    ITEM = "item"
    """A message, or a value where a message should be."""
    REJECTED = "rejected"
    """A message of the rejected answer, or of a hidden conversation."""
    UNREAD = "unread"
    """A message outside the lists. It is not read."""


class Found(Struct, frozen=True):
    """A value and its use."""

    node: JsonNode
    use: Use


class MessageFinder:
    """Finds the messages in the values of an input."""

    def __init__(self, table: MessageTable) -> None:
        self._table = table
        self._lists = table.lists
        self.plain_names = table.lists[:-1]
        """The names of lists that contain only messages."""
        self._exchanges = (*table.requests, *table.responses)
        self._holders = frozenset((*self._lists, *self._exchanges))
        """The members of which every wrapper has at least one."""
        self._answers = (table.chosen, table.rejected)

    def is_wrapper(self, node: JsonNode) -> bool:
        """True if a value contains messages but is not a message itself."""
        if type(node) is LazyNode and type(node.value) is dict and self._holders.isdisjoint(node.value):
            return False
        return node.kind is JsonKind.ARRAY or self._has_list(node) or any(True for _ in self._exchange(node))

    def plain_messages(self, node: JsonNode) -> list[JsonNode]:
        """Return the messages of an object, or none if any of them is rejected, unread, or inside an inner wrapper."""
        wrapper, *found = self.find(node)
        is_plain = wrapper.use is Use.WRAPPER and all(each.use is Use.ITEM for each in found)
        return [each.node for each in found] if is_plain else []

    def row_maker(self) -> RowMaker:
        """Return a `RowMaker`, which makes patterns for the objects that this finder reads."""
        from viewer.formats.json.known.rows import RowMaker  # lazy: a single document needs no patterns

        fixed = self._holders.union(self._answers, FACTS_OF_CONVERSATIONS)
        return RowMaker(self.plain_names, fixed, frozenset((*self._answers, self._table.items)))

    def is_plain(self, node: JsonNode) -> bool:
        """True for an object with one message list and nothing else that is or may be a message."""
        found = self._plain_member(node)
        others = (member for member in node.members if member is not found)
        is_alone = found is not None and not any(True for other in others for _ in unread_messages(other.value))
        return is_alone and not hides_messages(node)

    def _plain_member(self, node: JsonNode) -> JsonMember | None:
        found = [member for member in node.members if member.key in self._holders or member.key in self._answers]
        is_plain = len(found) == 1 and found[0].key in self.plain_names and found[0].value.kind is JsonKind.ARRAY
        return found[0] if is_plain else None

    def find(self, node: JsonNode | None, use: Use = Use.ITEM) -> Iterator[Found]:
        """Yield the messages of a value in order, each wrapper before its messages."""
        if node is None:
            return
        if not self.is_wrapper(node):
            yield Found(node, use)
            return
        yield Found(node, Use.WRAPPER)
        yield from self._inside(node, use)

    def header_members(self, node: JsonNode) -> list[JsonMember]:
        """Return the members of a wrapper that contain no messages: the header of its transcript."""
        if not self.is_wrapper(node):
            return []
        has_list = self._has_list(node)
        return [
            member
            for member in node.members
            if member.key not in self._lists
            and not (has_list and member.key in self._answers)
            and not (member.key in self._exchanges and self._holds_messages(member.value))
        ]

    def _inside(self, node: JsonNode, use: Use, *, is_response: bool = False) -> Iterator[Found]:
        if hides_messages(node):
            use = Use.REJECTED
        for item in node.items:
            yield from self.find(item, use)
        exchange = dict(self._exchange(node))
        for key in self._table.requests:
            if key in exchange:
                yield from self._inside(exchange[key], use)
        for key in self._lists:
            value = node.get(key)
            for item in value.items if value is not None else ():
                message = item.get(self._table.inner) if key == self._lists[-1] else None
                is_hidden = message is not None and (is_flagged(item) or is_addressed_elsewhere(item))
                yield from self.find(message or item, Use.REJECTED if is_hidden else use)
                if message is not None:
                    yield from self._unread(member for member in item.members if member.value.start != message.start)
        for key in self._table.responses:
            if key in exchange:
                response = exchange[key]
                yield from (
                    [Found(response, use)]
                    if self._is_spoken(response)
                    else self._inside(response, use, is_response=True)
                )
                yield from (Found(self._as_message(item), use) for item in self._output(response))
        if self._has_list(node):
            yield from self._preferred(node, use)
        outputs = self._output(node) if is_response else []
        yield from self._unread(
            member for member in self.header_members(node) if not (outputs and member.key == self._table.items)
        )

    def _unread(self, members: Iterable[JsonMember]) -> Iterator[Found]:
        for member in members:
            yield from (Found(message, Use.UNREAD) for message in unread_messages(member.value))

    def _output(self, response: JsonNode) -> list[JsonNode]:
        """Return the output items of a response that has no message list, or none if any of them has no type."""
        value = response.get(self._table.items) if not self._has_list(response) else None
        items = value.items if value is not None and value.kind is JsonKind.ARRAY else []
        return items if all(item.kind is JsonKind.OBJECT and item.get("type") is not None for item in items) else []

    def _as_message(self, item: JsonNode) -> JsonNode:
        """Return an item of a response as a message. An item without a role, such as a call, becomes the content of an
        assistant message."""
        if item.get("role") is not None:
            return item
        return _spoken(JsonNode(JsonKind.ARRAY, item.start, item.end, items=[item], closed=item.closed))

    def _has_list(self, node: JsonNode) -> bool:
        return any((value := node.get(key)) is not None and value.kind is JsonKind.ARRAY for key in self._lists)

    def _exchange(self, node: JsonNode, deepest: int = DEEPEST_EXCHANGE) -> Iterator[tuple[str, JsonNode]]:
        """Yield the request and the response in an object that is not itself a message."""
        if not deepest or not any(member.key in self._exchanges for member in node.members) or self._is_spoken(node):
            return
        for key in self._exchanges:
            value = node.get(key)
            if value is not None and self._holds_messages(value, deepest - 1):
                yield key, value

    def _holds_messages(self, value: JsonNode, deepest: int = DEEPEST_EXCHANGE - 1) -> bool:
        """True for an object with a message list at any level, or with the answer itself."""
        if value.kind is not JsonKind.OBJECT:
            return False
        return (
            self._has_list(value)
            or self._is_spoken(value)
            or bool(self._output(value))
            or any(True for _ in self._exchange(value, deepest))
        )

    def _is_spoken(self, node: JsonNode) -> bool:
        """True for an object with a role or content, which makes it a message, not a wrapper."""
        return not self._has_list(node) and any(node.get(key) is not None for key in (*ROLE_KEYS, *CONTENT_KEYS))

    def _preferred(self, node: JsonNode, use: Use) -> Iterator[Found]:
        """Yield the answers of a preference pair where they differ from the message list. The rejected answer is marked
        as such."""
        messages = node.get(self._lists[0])
        prompt = messages.items if messages is not None else []
        for key in self._answers:
            value = node.get(key)
            if value is None or value.kind is JsonKind.NULL:
                continue
            answer_use = Use.REJECTED if key == self._table.rejected else use
            if value.kind is JsonKind.STRING:
                yield Found(_spoken(value), answer_use)
                continue
            items = value.items if value.kind is JsonKind.ARRAY else [value]
            for item in items[_common_length(prompt, items) :]:
                yield from self.find(item, answer_use)


def _common_length(messages: list[JsonNode], answer: list[JsonNode]) -> int:
    """Return the number of messages of the list that an answer repeats at its start."""
    length = 0
    for one, other in zip(messages, answer, strict=False):
        if one.to_python() != other.to_python():
            break
        length += 1
    return length


def _spoken(text: JsonNode) -> JsonNode:
    """Return an assistant message with this value as its content."""
    role = JsonNode(JsonKind.STRING, text.start, text.start, text="assistant", plain=True)
    members = [
        JsonMember("role", text.start, text.start, role),
        JsonMember("content", text.start, text.start, text),
    ]
    return JsonNode(JsonKind.OBJECT, text.start, text.end, members=members, closed=text.closed)
