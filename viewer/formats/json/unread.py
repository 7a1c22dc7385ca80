"""Find members of a JSON message or wrapper that no reader uses."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.formats.json.fields import TIME_KEYS, first_of, has_text, is_known_key
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

_METADATA = frozenset(
    {
        *("id", "uuid", "parent_id", "parent", "object", "model", "type", "status", "metadata", "usage"),
        *("finish_reason", "stop_reason", "stop_sequence", "system_fingerprint", "service_tier", "provider"),
        *("annotations", "logprobs", "citations", "cache_control", "weight", "audience", "phase"),
    }
)
"""Members with text that is not content."""
_NOT_A_TEXT = ("content", "refusal", "parts", "message", "kind", "part_kind", "subtype", "event", "category", "purpose")
"""In an object that has one of these members, a `text` may be anything."""


def with_inner_message(node: JsonNode) -> JsonNode:
    """Return `{"role": …, "message": {"content": …}}` merged into one object. If both objects have a member, both
    values are kept. Any other object is returned unchanged."""
    inner = node.get("message")
    if inner is None or inner.kind is not JsonKind.OBJECT or first_of(node, ("content", "refusal")) is not None:
        return node
    outer = [member for member in node.members if member.value.start != inner.start]
    taken = {member.key for member in outer}
    members = [
        _renamed(member) if member.key in taken and not _decides(member.key) else member for member in inner.members
    ]
    return JsonNode(JsonKind.OBJECT, node.start, node.end, members=[*outer, *members], closed=node.closed)


def with_text_as_content(node: JsonNode) -> JsonNode:
    """Return a message with its `text` as its content, if it has no content and no member that suggests another
    meaning. Return any other message unchanged."""
    text = node.get("text")
    if text is None or text.kind is not JsonKind.STRING or any(node.get(key) is not None for key in _NOT_A_TEXT):
        return node
    members = [
        JsonMember("content", member.key_start, member.key_end, member.value) if member.key == "text" else member
        for member in node.members
    ]
    return JsonNode(JsonKind.OBJECT, node.start, node.end, members=members, closed=node.closed)


def _decides(key: str) -> bool:
    """True if two values of this member would contradict each other."""
    return is_known_key(key) and key not in TIME_KEYS


def _renamed(member: JsonMember) -> JsonMember:
    return JsonMember(f"message.{member.key}", member.key_start, member.key_end, member.value)


def first_text_member(node: JsonNode) -> JsonMember | None:
    """Return the first unread member that contains text, or None if there is none."""
    unread = (member for member in node.members if not is_known_key(member.key) and member.key not in _METADATA)
    return next((member for member in unread if has_text(member.value)), None)


def unread_messages(value: JsonNode) -> Iterator[JsonNode]:
    """Yield the outermost objects with `role` and `content` at any depth of an unread value."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        role = node.get("role")
        if role is not None and role.kind is JsonKind.STRING and node.get("content") is not None:
            yield node
            continue
        waiting += reversed([*node.items, *(member.value for member in node.members)])
