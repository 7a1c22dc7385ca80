"""Look up the fields of a JSON message under their various names, and read their values as text and pieces."""

from __future__ import annotations

from msgspec import Struct

from viewer.model.messages import Coding, Piece
from viewer.syntax.json_in_string import InnerNode
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.syntax.json_tree import JsonText

ROLE_KEYS = ("role", "author")
CONTENT_KEYS = ("content", "refusal")
CALL_KEYS = ("tool_call", "tool_calls", "function_call")
CALL_ID_KEYS = ("call_id", "tool_call_id")
RECIPIENT_KEYS = ("to", "recipient")
TIME_KEYS = ("ts", "timestamp", "created", "created_at", "time")
HEADER_KEYS = ("name", "channel", "intent", "content_type", "constrained", "ending")

_KNOWN_KEYS = frozenset(
    (*ROLE_KEYS, *CONTENT_KEYS, *CALL_KEYS, *CALL_ID_KEYS, *RECIPIENT_KEYS, *TIME_KEYS, *HEADER_KEYS, "messages")
)
THOUGHT_WORDS = ("thinking", "reasoning", "thought")
_THOUGHT_TEXTS = (*THOUGHT_WORDS, "text", "summary")


def is_thought_key(key: str) -> bool:
    """True if a field contains a thought (`thinking`, `reasoning`, `reasoning_content`, …)."""
    return key.startswith(THOUGHT_WORDS)


def is_marked_thought(node: JsonNode) -> bool:
    """True if the flag `thought` marks a part or an event as a thought, with any value except false."""
    flag = node.get("thought")
    return flag is not None and flag.kind not in (JsonKind.NULL, JsonKind.FALSE)


def has_thought_flag(node: JsonNode) -> bool:
    """True if the flag `thought` marks a message as a thought. In a message, `thought` may also be text next to the
    content."""
    flag = node.get("thought")
    return flag is not None and flag.kind in (JsonKind.TRUE, JsonKind.NUMBER)


def has_text(node: JsonNode, notes: frozenset[str] = frozenset()) -> bool:
    """True if a value contains a string that may be text. Members named in `notes` contain no text."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if value.kind is JsonKind.STRING and value.text.strip():
            return True
        waiting += value.items
        waiting += [member.value for member in value.members if member.key not in notes]
    return False


def is_known_key(key: str) -> bool:
    """True if this program knows the meaning of a message field. Other fields become extra attributes."""
    return key in _KNOWN_KEYS or is_thought_key(key)


def is_message(node: JsonNode) -> bool:
    """True if an object is probably meant to be a message."""
    keys = {member.key for member in node.members}
    return any(key in (*ROLE_KEYS, *CONTENT_KEYS, *CALL_KEYS) or is_thought_key(key) for key in keys)


def is_blank_call(node: JsonNode) -> bool:
    """True for a call whose members are all empty. Some servers add such an object to every message."""
    values = [member.value for member in node.members]
    return bool(values) and all(
        value.kind is JsonKind.NULL or (value.kind is JsonKind.STRING and not value.text) for value in values
    )


def first_of(node: JsonNode, keys: tuple[str, ...]) -> JsonNode | None:
    """Return the first of these fields that exists and is not null, or None if there is none."""
    for key in keys:
        value = node.get(key)
        if value is not None and value.kind is not JsonKind.NULL:
            return value
    return None


class Source(Struct, frozen=True, gc=False):
    """The bytes that nodes refer to, and their offset in the input."""

    data: bytes
    base: int

    def text(self, node: JsonNode) -> str:
        """Return the value of a string, or the source text of anything else."""
        if node.kind is JsonKind.STRING:
            return node.text
        return self.data[node.start - self.base : node.end - self.base].decode("utf-8", "replace")

    def value(self, node: JsonNode) -> str:
        """Return the value of a string, or the source text of anything else as `JsonText`."""
        return node.text if node.kind is JsonKind.STRING else JsonText(self.text(node))

    def field(self, node: JsonNode, *keys: str) -> str | None:
        """Return the first of these fields that is not null, as text, or None if there is none."""
        value = first_of(node, keys)
        return None if value is None else self.text(value)


def header_value(node: JsonNode, source: Source) -> object:
    """Return a header value of a transcript, as mappings, lists, and text."""
    if node.kind is JsonKind.OBJECT:
        return {member.key: header_value(member.value, source) for member in node.members}
    if node.kind is JsonKind.ARRAY:
        return [header_value(item, source) for item in node.items]
    return source.value(node)


def piece_of(node: JsonNode) -> Piece:
    """Return the piece for a value as a body: the text of a string, or the source text of anything else."""
    if isinstance(node, InnerNode):
        if node.kind is JsonKind.STRING:
            return Piece(node.body_start, node.body_end, Coding.NESTED_TEXT)
        return Piece(node.start, node.end, Coding.JSON_TEXT)
    if node.kind is not JsonKind.STRING:
        return Piece(node.start, node.end, Coding.JSON_VALUE)
    if node.split:
        return Piece(node.start, node.end, Coding.SPLIT_STRING)
    if node.plain:
        return Piece(node.start + 1, node.body_end, Coding.PLAIN)
    return Piece(node.start, node.end if node.end == node.body_end + 1 else node.body_end, Coding.JSON_STRING)


def piece_if_any(node: JsonNode) -> Piece | None:
    """Return the piece for a value, or None for null and the empty string."""
    return None if is_empty(node) else piece_of(node)


def pieces_of(node: JsonNode | None) -> list[Piece]:
    """Return the pieces for a value that may be missing."""
    return [] if node is None or is_empty(node) else [piece_of(node)]


def thought_pieces(node: JsonNode | None) -> list[Piece]:
    """Return the pieces for a thought, which may be a list of parts."""
    if node is None:
        return []
    pieces: list[Piece] = []
    for part in node.items if node.kind is JsonKind.ARRAY else [node]:
        pieces += pieces_of(_thought_text(part) or part)
    return pieces


def _thought_text(part: JsonNode) -> JsonNode | None:
    """Return the first field with text, or None if there is none. A flag such as `"thought": true` is not text."""
    texts = (first_of(part, (key,)) for key in _THOUGHT_TEXTS)
    flags = (JsonKind.TRUE, JsonKind.FALSE, JsonKind.NUMBER)
    return next((text for text in texts if text is not None and text.kind not in flags), None)


def is_empty(node: JsonNode) -> bool:
    """True for null and the empty string."""
    return node.kind is JsonKind.NULL or (node.kind is JsonKind.STRING and not node.text)
