"""Flags that hide text in any format. Every reader of records applies all of them."""

from __future__ import annotations

from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode

FLAGS = frozenset(
    {
        *("isMeta", "isSidechain", "isSynthetic", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"),
        *("isSystemInitiated", "isThought", "is_copied_context", "is_demo", "isHidden", "is_hidden"),
        *("is_visually_hidden_from_conversation", "is_user_system_message", "is_system", "isSmallSys"),
        *("isThinking", "is_thinking", "is_thought", "isReasoning", "is_reasoning", "isInternal", "is_internal"),
        *("isInjected", "is_injected", "isSynthesized", "is_synthetic", "is_meta", "isPrivate", "is_private"),
        *("is_summary", "isEphemeral", "is_ephemeral", "hidden_from_user", "hiddenFromUser", "hidden_from_ui"),
        *("isHiddenFromUser", "is_hidden_from_user", "hide_from_user", "hideFromUser", "user_hidden", "userHidden"),
        *("isSystem", "isSystemMessage", "is_system_message", "model_only", "modelOnly", "llm_only", "llmOnly"),
        *("internal_only", "internalOnly", "exclude_from_display", "excludeFromDisplay", "isInvisible", "is_invisible"),
    }
)
"""Members that hide text unless their value is false or null."""
WORDS = frozenset(
    {
        *("thought", "synthetic", "ignored", "hidden", "redacted", "summary", "internal", "injected", "private"),
        *("ephemeral", "hide", "invisible"),
    }
)
"""Members that hide text if their value is true or a number. Some formats use these names for strings."""
SHOWN = frozenset(
    {
        *("userVisible", "user_visible", "visible", "isVisible", "is_visible", "showToUser", "show_to_user"),
        *("displayToUser", "display_to_user", "visibleToUser", "visible_to_user"),
        *("showUser", "show_user", "shown", "isShown", "is_shown", "show_in_ui", "showInUI", "showInUi"),
        *("display_in_chat", "displayInChat", "show_in_chat", "showInChat", "visible_in_chat", "visibleInChat"),
    }
)
"""Members that hide text unless their value is true or null."""
OFF = frozenset({"display", "show"})
"""Members that hide text if their value is false."""

STARTERS = frozenset({"parent_tool_use_id", "parentToolUseId", "parentToolUseID", "parentToolCallId"})
"""Members that hide text if their value is a string: the call that started another agent, which wrote the object."""
KINDS = frozenset(
    {"kind", "part_kind", "subtype", "message_type", "messageType", "message_kind", "messageKind", "stage"}
)
"""Other names for `type`. They hide text if their value is a word for a thought, a call, or a reply."""
_HIDDEN_KINDS = ("think", "thought", "reason", "redacted", "tool", "builtin", "function", "system")
"""The prefixes of such words."""
RANGES = frozenset({"visibility", "visible_to", "visibleTo", "for", "shown_to", "shownTo"})
"""Members that hide text if their value is a word, or a list of words, for text that no user sees."""
_UNSEEN = ("hidden", "internal", "private", "assistant", "model", "agent", "system", "none", "llm", "tool", "developer")
"""The prefixes of such words."""
STATES = frozenset({"status", "state", "scope", "display_type", "displayType"})
"""Members that hide text if their value is a word for text that is not on display. Most of their words are others."""
_CONCEALED = ("hidden", "internal", "private", "invisible")
"""The prefixes of such words."""
HOLDERS = frozenset({"metadata", "annotations", "additional_kwargs", "meta", "extra", "flags"})
"""Members that may hold flags and the audience."""

HELD = FLAGS | SHOWN | OFF | RANGES | (WORDS - {"summary"})
"""Members of holders that may hide text."""
DECIDING = FLAGS | WORDS | SHOWN | OFF | STARTERS | KINDS | RANGES | STATES | HOLDERS | {"audience"}
"""All members that may hide text."""


def is_flagged(node: JsonNode) -> bool:
    """True if a flag hides the text of an object."""
    if type(node) is LazyNode and (type(node.value) is not dict or DECIDING.isdisjoint(node.value)):
        return False
    return any(member.key in DECIDING and _hides(member.key, member.value) for member in node.members)


_HIDDEN_PHASES = ("commentary", "analysis", "think", "thought", "reason")
"""The prefixes of words for phases before the answer."""


def is_in_hidden_phase(node: JsonNode) -> bool:
    """True if the phase of an object is commentary, analysis, or thinking."""
    if type(node) is LazyNode and (type(node.value) is not dict or "phase" not in node.value):
        return False
    phase = node.get("phase")
    return phase is not None and phase.kind is JsonKind.STRING and phase.text.lower().startswith(_HIDDEN_PHASES)


def is_on_other_channel(node: JsonNode) -> bool:
    """True if an object names a channel other than the final one. For readers that do not read channels there."""
    if type(node) is LazyNode and (type(node.value) is not dict or "channel" not in node.value):
        return False
    channel = node.get("channel")
    return channel is not None and channel.kind is not JsonKind.NULL and channel.text != "final"


def _hides(name: str, value: JsonNode) -> bool:
    if value.kind is JsonKind.NULL:
        return False
    if name in HOLDERS:
        return _holds_flag(value) or (name == "flags" and any(_is_word(item, _CONCEALED) for item in value.items))
    if name == "audience":
        return _lacks_user(value)
    if name in OFF:
        return value.kind is JsonKind.FALSE
    if name in KINDS:
        return _is_word(value, _HIDDEN_KINDS if name != "stage" else (*_HIDDEN_KINDS, *_HIDDEN_PHASES))
    if name in STATES:
        return _is_word(value, _CONCEALED)
    if name in RANGES:
        return _is_word(value, _UNSEEN) or (bool(value.items) and all(_is_word(item, _UNSEEN) for item in value.items))
    if name in STARTERS:
        return value.kind is not JsonKind.STRING or value.text != ""
    if name in WORDS:
        return value.kind in (JsonKind.TRUE, JsonKind.NUMBER)
    return value.kind is not (JsonKind.TRUE if name in SHOWN else JsonKind.FALSE)


def _is_word(value: JsonNode, prefixes: tuple[str, ...]) -> bool:
    return value.kind is JsonKind.STRING and value.text.lower().startswith(prefixes)


def _holds_flag(holder: JsonNode) -> bool:
    """True if the object has a flag that is set, or an audience without the user."""
    audience = holder.get("audience")
    if audience is not None and _lacks_user(audience):
        return True
    return any(member.key in HELD and _hides(member.key, member.value) for member in holder.members)


def _lacks_user(audience: JsonNode) -> bool:
    """True if an audience names others than the user."""
    if audience.kind is JsonKind.STRING:
        return audience.text.lower().startswith(_UNSEEN)
    return bool(audience.items) and all(item.text != "user" for item in audience.items)
