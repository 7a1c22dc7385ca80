"""The fields of a JSON message object by the names they go by, and their values as text and pieces."""

from __future__ import annotations

from dataclasses import field

from viewer.core.json_text import JsonKind, JsonNode
from viewer.core.messages import Coding, Piece
from viewer.values import frozen, mutable

ROLE_KEYS = ("role", "author")
CONTENT_KEYS = ("content", "refusal")
CALL_KEYS = ("tool_call", "tool_calls", "function_call")
CALL_ID_KEYS = ("call_id", "tool_call_id")
RECIPIENT_KEYS = ("to", "recipient")
TIME_KEYS = ("ts", "timestamp", "created", "created_at", "time")
WRAPPER_KEYS = ("messages", "choices")
HEADER_KEYS = ("name", "channel", "intent", "content_type", "constrained", "ending")

_KNOWN_KEYS = frozenset(
    (*ROLE_KEYS, *CONTENT_KEYS, *CALL_KEYS, *CALL_ID_KEYS, *RECIPIENT_KEYS, *TIME_KEYS, *HEADER_KEYS, "messages")
)
_THOUGHT_WORDS = ("thinking", "reasoning", "thought")
_THOUGHT_TEXTS = (*_THOUGHT_WORDS, "text", "summary")
_TEXT_PARTS = frozenset({"", "text", "input_text", "output_text", "summary_text", "refusal"})
_MEDIA_WORDS = ("image", "audio", "video", "file", "document", "input_", "output_")
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call"})
_REPLY_PARTS = frozenset({"tool_result", "function_call_output"})


def is_thought_key(key: str) -> bool:
    """Whether a field holds what the model thought (`thinking`, `reasoning`, `reasoning_content`, …)."""
    return key.startswith(_THOUGHT_WORDS)


def is_known_key(key: str) -> bool:
    """Whether a field of a message means something here; all others are kept as extra attributes."""
    return key in _KNOWN_KEYS or is_thought_key(key)


def is_message(node: JsonNode) -> bool:
    """Whether an object is meant as a message."""
    keys = {member.key for member in node.members}
    return any(key in (*ROLE_KEYS, *CONTENT_KEYS, *CALL_KEYS) or is_thought_key(key) for key in keys)


def first_of(node: JsonNode, keys: tuple[str, ...]) -> JsonNode | None:
    """The first of these fields that is there and not null."""
    for key in keys:
        value = node.get(key)
        if value is not None and value.kind is not JsonKind.NULL:
            return value
    return None


@frozen
class Source:
    """The bytes that nodes refer to."""

    data: bytes
    base: int

    def text(self, node: JsonNode) -> str:
        """A string's value, the source text of all else."""
        if node.kind is JsonKind.STRING:
            return node.text
        return self.data[node.start - self.base : node.end - self.base].decode("utf-8", "replace")

    def field(self, node: JsonNode, *keys: str) -> str | None:
        """The first of these fields that says something, as text."""
        value = first_of(node, keys)
        return None if value is None else self.text(value)


@mutable
class Content:
    """What the parts of a content are: text to read, thoughts, calls and replies. Empty strings are none of it."""

    pieces: list[Piece] = field(default_factory=list)
    thoughts: list[Piece] = field(default_factory=list)
    calls: list[JsonNode] = field(default_factory=list)
    replies: list[JsonNode] = field(default_factory=list)
    empty: list[Piece] = field(default_factory=list)
    """Where the content stands that has no text."""


def piece_of(node: JsonNode) -> Piece:
    """A value as a body: a string's text, the source text of all else."""
    if node.kind is not JsonKind.STRING:
        return Piece(node.start, node.end, Coding.PLAIN)
    if node.plain:
        return Piece(node.start + 1, node.body_end, Coding.PLAIN)
    return Piece(node.start, node.end if node.end == node.body_end + 1 else node.body_end, Coding.JSON_STRING)


def pieces_of(node: JsonNode | None) -> list[Piece]:
    """The body that a value gives, whatever it holds; nothing for null and the empty string."""
    return [] if node is None or _says_nothing(node) else [piece_of(node)]


def thought_pieces(node: JsonNode | None) -> list[Piece]:
    """The same for what a model thought, which may be a list of parts."""
    if node is None:
        return []
    pieces: list[Piece] = []
    for part in node.items if node.kind is JsonKind.ARRAY else [node]:
        pieces += pieces_of(first_of(part, _THOUGHT_TEXTS) or part)
    return pieces


def read_content(node: JsonNode, source: Source, role: str) -> Content:
    """Sort what the content of a message holds. What an assistant gives that is not known to be text is not shown."""
    content = Content()
    for key in CONTENT_KEYS:
        value = node.get(key)
        for part in _parts(value) if value else ():
            _sort_part(part, content, source, role == "assistant")
    return content


def _says_nothing(node: JsonNode) -> bool:
    return node.kind is JsonKind.NULL or (node.kind is JsonKind.STRING and not node.text)


def _parts(value: JsonNode) -> list[JsonNode]:
    """The parts of a content; data that only happens to be a list or an object is one part."""
    inner = value.get("parts")
    if inner is not None and inner.kind is JsonKind.ARRAY:
        return inner.items
    if value.kind is JsonKind.ARRAY and all(_is_part(item) for item in value.items):
        return value.items
    return [value]


def _is_part(node: JsonNode) -> bool:
    return node.kind is JsonKind.STRING or node.get("type") is not None or node.get("text") is not None


def _sort_part(part: JsonNode, content: Content, source: Source, from_assistant: bool) -> None:
    kind = source.field(part, "type") or ""
    text = first_of(part, ("text", "refusal"))
    if _says_nothing(part):
        content.empty += [piece_of(part)] if part.kind is JsonKind.STRING else []
    elif part.kind is not JsonKind.OBJECT:
        content.pieces.append(piece_of(part))
    elif kind.startswith(_THOUGHT_WORDS) or kind == "redacted_thinking":
        content.thoughts += thought_pieces(part)
    elif kind in _CALL_PARTS and from_assistant:
        content.calls.append(part)
    elif kind in _REPLY_PARTS:
        content.replies.append(part)
    elif kind in _TEXT_PARTS and text is not None:
        content.pieces += pieces_of(text)
    elif from_assistant and not kind.startswith(_MEDIA_WORDS):
        content.thoughts.append(piece_of(part))
    else:
        content.pieces.append(piece_of(part))
