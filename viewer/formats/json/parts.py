"""Sort the content parts of a JSON message: text, attachments, thoughts, calls, replies, and unknown parts."""

from __future__ import annotations

from msgspec import Struct, field

from viewer.formats.hiding import (
    HIDDEN_TYPES,
    KINDS,
    is_addressed_elsewhere,
    is_flagged,
    is_in_hidden_phase,
    is_on_other_channel,
    is_word,
)
from viewer.formats.json.fields import (
    THOUGHT_WORDS,
    Source,
    has_thought_flag,
    is_empty,
    is_marked_thought,
    is_thought_key,
    piece_of,
    thought_pieces,
)
from viewer.model.messages import Coding, Piece, Span
from viewer.syntax.attachments import attachment_kind
from viewer.syntax.json_text import JsonKind, JsonNode

_TEXTS = frozenset({"", "text", "input_text", "output_text"})
_THOUGHTS = frozenset({"summary_text", "redacted_thinking", "reasoningContent", "reasoning_content"})
_INSTRUCTIONS = frozenset({"system_content", "developer_content"})
"""Parts that Harmony's reference library writes in system and developer messages."""
_CALLS = frozenset(
    {
        *("tool_use", "tool_call", "tool-call", "function_call", "functionCall", "toolUse", "toolCall"),
        *("mcp_tool_use", "server_tool_use", "server_tool_call", "mcp_call", "custom_tool_call"),
        *("computer_call", "web_search_call", "file_search_call", "code_interpreter_call", "local_shell_call"),
        *("shell_call", "apply_patch_call", "tool_search_call", "image_generation_call"),
        *("executableCode", "executable_code"),
    }
)
_REPLIES = frozenset(
    {
        *("tool_result", "tool-result", "toolResult", "tool_response", "toolResponse", "tool_call_response"),
        *("server_tool_call_response", "function_response", "functionResponse", "function_call_output"),
        *("codeExecutionResult", "code_execution_result"),
    }
)
_REPLY_ENDINGS = ("_tool_result", "_call_output")
_OF_CALLS = "function"
"""The type of calls in a chat completion. It does not always hide text: some formats show the arguments of a call that
sends a message."""
_BARE_CALLS = frozenset({"functionCall", "function_call", "toolUse", "executableCode", "executable_code"})
_BARE_REPLIES = frozenset(
    {"functionResponse", "function_response", "toolResult", "codeExecutionResult", "code_execution_result"}
)
_BARE_THOUGHTS = frozenset({"reasoningContent", "reasoning_content"})
"""Members that identify a part without a `type`, as in Gemini and Bedrock."""
_DECIDING = frozenset({"type", "text", "thought", "refusal", *KINDS})
"""Members that identify a part. If one of them is repeated or has different capitalization, the part is unknown."""
_LISTS_OF_PARTS = frozenset({"text", "multimodal_text"})


class Content(Struct):
    """The content of a message, sorted by kind."""

    pieces: list[Piece] = field(default_factory=list)
    """Text and labels to show."""
    thoughts: list[Piece] = field(default_factory=list)
    calls: list[JsonNode] = field(default_factory=list)
    replies: list[JsonNode] = field(default_factory=list)
    unknown: list[list[JsonNode]] = field(default_factory=list)
    """Runs of parts that no rule maps."""
    faults: list[Span] = field(default_factory=list)
    """Unknown parts of a tool reply. A reply is not split, because it is never shown."""
    empty: list[Piece] = field(default_factory=list)
    """The positions of content without text."""


def read_content(node: JsonNode, source: Source, role: str) -> Content:
    """Return the values of `content` and `refusal`, sorted. A part of an unlisted type is unknown, whatever the
    role."""
    sorter = _Sorter(source, role)
    value = node.get("content")
    if value is not None:
        sorter.add_content(value)
    refusal = node.get("refusal")
    if refusal is not None:
        sorter.add_refusal(refusal)
    content = sorter.content
    if has_thought_flag(node):
        content.thoughts, content.pieces = [*content.thoughts, *content.pieces], []
    return content


class _Sorter:
    """Sorts the parts of a message, in order."""

    def __init__(self, source: Source, role: str) -> None:
        self.content = Content()
        self._source = source
        self._role = role
        self._line_ended = True
        """True if the next text does not need a line break before it."""
        self._on_own_line = False
        """True if the last piece must stay on a separate line."""
        self._last_unknown = -2

    def add_content(self, value: JsonNode) -> None:
        self._last_unknown = -2
        parts = self._parts(value)
        if parts and parts[0] is value and value.kind is JsonKind.OBJECT:
            self._unknown(value, 0)
            return
        for index, part in enumerate(parts):
            self._add(part, index)

    def add_refusal(self, value: JsonNode) -> None:
        """Add a refusal: text on a separate line after the content, or any other value as further content."""
        if value.kind is JsonKind.STRING:
            self._text(value, own_line=True)
        else:
            self.add_content(value)

    def _parts(self, value: JsonNode) -> list[JsonNode]:
        """Return the parts of a `content` value. In a tool reply, a list of other data is a single part."""
        inner = value.get("parts")
        if inner is not None and inner.kind is JsonKind.ARRAY:
            listed = value.get("content_type")
            if listed is not None and listed.kind is JsonKind.STRING and listed.text in _LISTS_OF_PARTS:
                return inner.items
        if value.kind is not JsonKind.ARRAY:
            return [value]
        if self._role == "tool" and not all(_is_part(item) for item in value.items):
            return [value]
        return value.items

    def _add(self, part: JsonNode, index: int) -> None:
        if is_empty(part):
            self.content.empty += [piece_of(part)] if part.kind is JsonKind.STRING else []
        elif part.kind is JsonKind.STRING:
            self._text(part)
        elif part.kind is JsonKind.OBJECT and self._add_object(part):
            return
        else:
            self._unknown(part, index)

    def _add_object(self, part: JsonNode) -> bool:
        """Sort a part that is an object. Return False if no rule covers it."""
        if not part.closed or is_ambiguous(part):
            return False
        given = part.get("type")
        if given is not None and given.kind not in (JsonKind.STRING, JsonKind.NULL):
            return False
        kind = given.text if given is not None else _other_kind(part)
        bare_call, bare_reply = (_bare(part, kind, keys) for keys in (_BARE_CALLS, _BARE_REPLIES))
        if is_call_type(kind) or bare_call:
            self.content.calls.append(bare_call or part)
        elif is_reply_type(kind) or bare_reply:
            self.content.replies.append(bare_reply or part)
        elif _is_thought(part, kind):
            self.content.thoughts += thought_pieces(_bare(part, kind, _BARE_THOUGHTS) or part)
        elif is_flagged(part) or is_in_hidden_phase(part) or is_on_other_channel(part) or is_addressed_elsewhere(part):
            return False
        elif kind in _TEXTS and (text := _text_of(part, kind)) is not None:
            self._text(text)
        elif kind == "refusal" and _has_text(part, "refusal"):
            self._text(part.get("refusal"), own_line=True)
        elif attachment_kind(part, kind):
            self._label(part)
        elif kind in _INSTRUCTIONS and self._role in ("system", "developer"):
            self._put(piece_of(part), False)
        else:
            return False
        return True

    def _text(self, value: JsonNode | None, *, own_line: bool = False) -> None:
        if value is None or is_empty(value):
            return
        self._put(piece_of(value), own_line, value.text)

    def _label(self, part: JsonNode) -> None:
        self._put(Piece(part.start, part.end, Coding.LABEL), True)

    def _put(self, piece: Piece, own_line: bool, text: str = "") -> None:
        if self.content.pieces and (own_line or self._on_own_line) and not self._line_ended:
            self.content.pieces.append(Piece(piece.start, piece.start, Coding.LINE))
        self.content.pieces.append(piece)
        self._on_own_line = own_line
        self._line_ended = text.endswith("\n")

    def _unknown(self, part: JsonNode, index: int) -> None:
        if self._role == "tool":
            self._put(piece_of(part), False)
            if part.get("type") is not None:
                self.content.faults.append((part.start, part.end))
        elif index == self._last_unknown + 1:
            self.content.unknown[-1].append(part)
        else:
            self.content.unknown.append([part])
        self._last_unknown = index


def is_hidden_type(kind: str) -> bool:
    """True if a `type` names a thought, a call, or a reply."""
    return is_call_type(kind) or is_reply_type(kind) or is_thought_type(kind)


def is_hidden_kind(type: JsonNode) -> bool:
    """True if a `type` may name a thought, a call, or a reply, in any capitalization, or if it is an object, array, or
    Boolean."""
    if type.kind is JsonKind.STRING:
        return is_hidden_type(type.text) or (is_word(type, HIDDEN_TYPES) and type.text != _OF_CALLS)
    return type.kind in (JsonKind.OBJECT, JsonKind.ARRAY, JsonKind.TRUE, JsonKind.FALSE)


def is_call_type(kind: str) -> bool:
    """True if a `type` names a call."""
    return kind in _CALLS


def is_reply_type(kind: str) -> bool:
    """True if a `type` names a tool's reply."""
    return kind in _REPLIES or kind.endswith(_REPLY_ENDINGS)


def is_thought_type(kind: str) -> bool:
    """True if a `type` names a thought."""
    return kind in _THOUGHTS or kind.startswith(THOUGHT_WORDS)


def _is_part(node: JsonNode) -> bool:
    return node.kind is JsonKind.STRING or node.get("type") is not None or node.get("text") is not None


def is_ambiguous(part: JsonNode) -> bool:
    """True if an identifying member occurs twice or has different capitalization."""
    seen = set()
    for member in part.members:
        key = member.key
        if key.lower() in _DECIDING:
            if key not in _DECIDING or key in seen:
                return True
            seen.add(key)
    return False


def _other_kind(part: JsonNode) -> str:
    """Return the kind of a part without a `type`, or an empty string if it has none. For a kind that is not a string,
    return `?`, which matches no rule."""
    values = [value for key in sorted(KINDS) if (value := part.get(key)) is not None]
    words = [
        value.text if value.kind is JsonKind.STRING else "?" for value in values if value.kind is not JsonKind.NULL
    ]
    return next((word for word in words if word != "text"), words[0] if words else "")


def _is_thought(part: JsonNode, kind: str) -> bool:
    if is_marked_thought(part):
        return True
    if kind:
        return is_thought_type(kind)
    return not _has_text(part, "text") and any(is_thought_key(member.key) for member in part.members)


def _bare(part: JsonNode, kind: str, keys: frozenset[str]) -> JsonNode | None:
    """Return the object that a part without a `type` contains in one of these members, or None if there is not exactly
    one."""
    if kind:
        return None
    values = [member.value for member in part.members if member.key in keys]
    return values[0] if len(values) == 1 and values[0].kind is JsonKind.OBJECT else None


def _text_of(part: JsonNode, kind: str) -> JsonNode | None:
    """Return the text of a text part, or None if it has none. Only a part of type `text` may have it in `value` or
    `content`."""
    for key in ("text", "value", "content") if kind == "text" else ("text",):
        value = part.get(key)
        if value is not None and value.kind is not JsonKind.NULL:
            return value if value.kind is JsonKind.STRING else None
    return None


def _has_text(part: JsonNode, key: str) -> bool:
    value = part.get(key)
    return value is not None and value.kind is JsonKind.STRING
