"""Find the messages in a JSON value: arrays, message lists, requests with their responses, preference pairs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from viewer.formats.json.fields import CONTENT_KEYS, ROLE_KEYS
from viewer.formats.json.unread import unread_messages
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

LIST_KEYS = ("messages", "choices")
_EXCHANGE_KEYS = ("request", "body", "response")
"""Objects that hold a message list; the messages of a response follow those of its request."""
DEEPEST_EXCHANGE = 3
"""The maximum depth of nested objects of a request or a response."""
_ANSWER_KEYS = ("chosen", "rejected")


class Use(Enum):
    """The use of a value in a document."""

    WRAPPER = "wrapper"
    """A transcript may begin here; its messages follow."""
    ITEM = "item"
    """A message, or a value in its place."""
    REJECTED = "rejected"
    """A message of a rejected answer."""
    UNREAD = "unread"
    """A message next to the list, which is not read."""


class Found(Struct, frozen=True):
    """A value and its use."""

    node: JsonNode
    use: Use


def is_wrapper(node: JsonNode) -> bool:
    """True if a value contains messages and is not one itself."""
    return node.kind is JsonKind.ARRAY or _has_list(node) or any(True for _ in _exchange(node))


def find_messages(node: JsonNode | None, use: Use = Use.ITEM) -> Iterator[Found]:
    """The messages of a value in order, each wrapper before its messages."""
    if node is None:
        return
    if not is_wrapper(node):
        yield Found(node, use)
        return
    yield Found(node, Use.WRAPPER)
    yield from _inside(node, use)


def header_members(node: JsonNode) -> list[JsonMember]:
    """The members of a wrapper without messages: the header of its transcript."""
    if not is_wrapper(node):
        return []
    has_list = _has_list(node)
    return [
        member
        for member in node.members
        if member.key not in LIST_KEYS
        and not (has_list and member.key in _ANSWER_KEYS)
        and not (member.key in _EXCHANGE_KEYS and _holds_messages(member.value))
    ]


def _inside(node: JsonNode, use: Use) -> Iterator[Found]:
    for item in node.items:
        yield from find_messages(item, use)
    exchange = dict(_exchange(node))
    for key in ("request", "body"):
        if key in exchange:
            yield from _inside(exchange[key], use)
    for key in LIST_KEYS:
        value = node.get(key)
        for item in value.items if value is not None else ():
            message = item.get("message") if key == "choices" else None
            yield from find_messages(message or item, use)
    if "response" in exchange:
        response = exchange["response"]
        yield from [Found(response, use)] if _is_spoken(response) else _inside(response, use)
    if _has_list(node):
        yield from _answers(node, use)
    for member in header_members(node):
        yield from (Found(message, Use.UNREAD) for message in unread_messages(member.value))


def _has_list(node: JsonNode) -> bool:
    return any((value := node.get(key)) is not None and value.kind is JsonKind.ARRAY for key in LIST_KEYS)


def _exchange(node: JsonNode, deepest: int = DEEPEST_EXCHANGE) -> Iterator[tuple[str, JsonNode]]:
    """The request and the response in an object that is not a message itself."""
    if not deepest or not any(member.key in _EXCHANGE_KEYS for member in node.members) or _is_spoken(node):
        return
    for key in _EXCHANGE_KEYS:
        value = node.get(key)
        if value is not None and _holds_messages(value, deepest - 1):
            yield key, value


def _holds_messages(value: JsonNode, deepest: int = DEEPEST_EXCHANGE - 1) -> bool:
    """True for an object with a message list, at any of its levels, or with the answer itself."""
    if value.kind is not JsonKind.OBJECT:
        return False
    return _has_list(value) or _is_spoken(value) or any(True for _ in _exchange(value, deepest))


def _is_spoken(node: JsonNode) -> bool:
    """True for an object with a role or a content: a message, not a wrapper."""
    return not _has_list(node) and any(node.get(key) is not None for key in (*ROLE_KEYS, *CONTENT_KEYS))


def _answers(node: JsonNode, use: Use) -> Iterator[Found]:
    """The answers of a preference pair that differ from the message list; the rejected one is marked."""
    messages = node.get("messages")
    prompt = messages.items if messages is not None else []
    for key in _ANSWER_KEYS:
        value = node.get(key)
        if value is None or value.kind is JsonKind.NULL:
            continue
        answer_use = Use.REJECTED if key == "rejected" else use
        if value.kind is JsonKind.STRING:
            yield Found(_spoken(value), answer_use)
            continue
        items = value.items if value.kind is JsonKind.ARRAY else [value]
        for item in items[_common_length(prompt, items) :]:
            yield from find_messages(item, answer_use)


def _common_length(messages: list[JsonNode], answer: list[JsonNode]) -> int:
    """The number of messages that an answer repeats before it begins."""
    length = 0
    for one, other in zip(messages, answer, strict=False):
        if one.to_python() != other.to_python():
            break
        length += 1
    return length


def _spoken(text: JsonNode) -> JsonNode:
    """An answer that is only text, as an assistant message."""
    role = JsonNode(JsonKind.STRING, text.start, text.start, text="assistant", plain=True)
    members = [
        JsonMember("role", text.start, text.start, role),
        JsonMember("content", text.start, text.start, text),
    ]
    return JsonNode(JsonKind.OBJECT, text.start, text.end, members=members, closed=text.closed)
