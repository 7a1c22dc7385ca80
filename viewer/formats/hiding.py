"""Flags that hide text in any format. Every reader of records applies all of them."""

from __future__ import annotations

from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode


def spelled(*names: str) -> frozenset[str]:
    """Return snake-case names in all usual spellings: snake case, kebab case, and camel case."""
    found: set[str] = set()
    for name in names:
        first, *rest = name.split("_")
        camel = first + "".join(map(str.capitalize, rest))
        found |= {name, name.replace("_", "-"), camel, camel[:1].upper() + camel[1:]}
        if rest and rest[-1] in ("id", "ui"):
            found.add(camel[:-2] + rest[-1].upper())
    return frozenset(found)


FLAGS = spelled(
    *("is_meta", "is_sidechain", "is_synthetic", "is_compact_summary", "is_visible_in_transcript_only"),
    *("is_api_error_message", "is_system_initiated", "is_thought", "is_copied_context", "is_demo", "is_hidden"),
    *("is_visually_hidden_from_conversation", "is_visually_hidden", "is_user_system_message", "is_system"),
    *("is_small_sys", "is_thinking", "is_reasoning", "is_internal", "is_injected", "is_synthesized", "is_private"),
    *("is_summary", "is_ephemeral", "hidden_from_user", "hidden_from_ui", "is_hidden_from_user", "is_hidden_from_ui"),
    *(
        "hide_from_user",
        "hide_from_ui",
        "hide_in_ui",
        "hidden_in_ui",
        "hide_in_chat",
        "hidden_in_chat",
        "user_hidden",
        "ui_hidden",
    ),
    *(
        "is_system_message",
        "system_message_only",
        "model_only",
        "llm_only",
        "agent_only",
        "internal_only",
        "debug_only",
    ),
    *("model_visible_only", "visible_to_model_only", "exclude_from_display", "exclude_from_ui", "exclude_from_chat"),
    *("is_invisible", "do_not_display", "dont_display", "skip_display", "suppress_display", "is_redacted"),
    *("is_developer", "is_tool", "is_tool_output", "is_tool_result", "is_tool_response", "is_tool_call"),
    *("from_tool", "from_system", "is_from_tool", "is_from_system", "is_analysis", "is_scratchpad", "is_subagent"),
)
"""Members that hide text unless their value is false or null."""
CONCEALING = spelled("hidden", "hide", "invisible")
"""Members that hide text unless their value is false, null, or empty."""
WORDS = CONCEALING | spelled(
    *("thought", "synthetic", "ignored", "redacted", "summary", "internal", "injected", "private", "ephemeral")
)
"""Members that hide text if their value is true. Some formats use most of these names for strings."""
SHOWN = spelled(
    *("user_visible", "visible", "is_visible", "show_to_user", "display_to_user", "visible_to_user", "show_user"),
    *("shown", "is_shown", "show_in_ui", "visible_in_ui", "display_in_ui", "display_in_chat", "show_in_chat"),
    *("visible_in_chat", "is_user_visible", "is_visible_to_user", "shown_to_the_user", "is_displayed", "displayed"),
)
"""Members that hide text unless their value is true or null."""
OFF = spelled("display", "show")
"""Members that hide text if their value is false."""

STARTERS = spelled("parent_tool_use_id", "parent_tool_call_id")
"""Members that hide text if their value is a string: the call that started another agent, which wrote the object."""
KINDS = frozenset(
    {
        *("kind", "part_kind", "partKind", "part-kind", "subtype", "message_type", "messageType", "message-type"),
        *("message_kind", "messageKind", "message-kind", "stage"),
    }
)
"""Other names for `type`. They hide text if their value is a word for a thought, a call, or a reply."""
_HIDDEN_KINDS = ("think", "thought", "reason", "redacted", "tool", "builtin", "function", "system")
"""The prefixes of such words."""
TYPES = frozenset({"Type", "TYPE", "_type", "@type", "Kind", "KIND", "_kind"})
"""Spellings of `type` that no format reads. They hide text if their value is such a word."""
CONTENTS = spelled("content_type", "content_kind")
"""Members that hide text if their value is a word for the content of a thought, a call, or a reply."""
_HIDDEN_CONTENTS = (
    *(*_HIDDEN_KINDS, "analysis", "commentary", "developer", "execution_output", "user_editable_context"),
    *("model_editable_context", "tether_", "computer_output", "internal", "hidden"),
)
"""The prefixes of such words."""
RANGES = spelled("visibility", "visible_to", "for", "shown_to", "private_to")
"""Members that hide text if their value is a word, or a list of words, for text that no user sees."""
_UNSEEN = ("hidden", "internal", "private", "assistant", "model", "agent", "system", "none", "llm", "tool", "developer")
"""The prefixes of such words."""
_USERS = frozenset({"user", "users", "human", "end_user", "endUser", "customer", "ui", "chat", "public", "everyone"})
"""Members of an object about the range of a text. If one of them is off, the user does not see the text."""
STATES = spelled("status", "state", "scope", "display_type", "display_mode")
"""Members that hide text if their value is a word for text that is not on display. Most of their words are others."""
_CONCEALED = ("hidden", "internal", "private", "invisible")
"""The prefixes of such words."""
TAGS = spelled("tags", "tag", "labels", "label")
"""Members that hide text if their value is one of these words, or a list with one of them."""
_HIDING_TAGS = spelled(
    "hidden", "internal", "invisible", "internal_only", "model_only", "hidden_from_user", "not_visible"
) | spelled("do_not_display", "system_reminder", "is_hidden")
SOURCES = spelled(
    *("source", "sender", "author", "origin", "from", "speaker", "actor", "source_type", "source_role"),
    *("sender_type", "sender_role", "sender_name", "author_type", "author_role", "author_name", "role_type"),
    *("role_name", "message_source", "message_origin", "sent_by", "written_by"),
)
"""Members that hide text if their value is a word for an author other than the user and the assistant. If it is an
object, its role, type, or kind is that word."""
_OTHERS = ("system", "developer", "tool", "tools", "function", "functions", "internal", "hidden", "environment", "hook")
_OF_OTHERS = (
    "",
    "message",
    "prompt",
    "result",
    "output",
    "call",
    "use",
    "response",
    "reminder",
    "event",
    "instruction",
)
_OTHER_AUTHORS = frozenset(f"{author}{rest}" for author in _OTHERS for rest in _OF_OTHERS)
"""Such words, in lower case and without the characters between their parts."""
_OF_AUTHORS = ("role", "type", "kind")
HOLDERS = spelled(
    *("metadata", "annotations", "additional_kwargs", "meta", "extra", "flags", "extras", "properties", "attributes"),
    *("options", "custom", "custom_metadata", "additional_properties", "message_metadata", "user_metadata", "ui"),
)
"""Members that may hold flags and the audience."""
_DEEPEST_HOLDER = 3
"""The maximum depth of holders in each other."""

HELD = FLAGS | SHOWN | OFF | RANGES | SOURCES | TAGS | CONTENTS | HOLDERS | {"audience"} | (WORDS - spelled("summary"))
"""Members of holders that may hide text."""
DECIDING = HELD | WORDS | STARTERS | KINDS | TYPES | STATES
"""All members that may hide text."""
WEAK = spelled(
    *("synthetic", "is_synthetic", "is_synthesized", "private", "is_private", "ephemeral", "is_ephemeral", "redacted"),
    *("is_redacted", "summary", "is_summary", "is_thinking", "is_reasoning", "thought", "is_tool", "is_system"),
)
"""Flags that say something else about a whole conversation than that it was hidden."""
_OF_CONVERSATIONS = (HELD | STARTERS | STATES) - WEAK - TAGS - SOURCES - CONTENTS
"""Members that hide the messages of a whole conversation."""
FACTS_OF_CONVERSATIONS = (_OF_CONVERSATIONS - HOLDERS) | {"flags"}
"""Such members whose own value hides, not a member of it."""


def is_flagged(node: JsonNode) -> bool:
    """True if a flag hides the text of an object."""
    if type(node) is LazyNode and (type(node.value) is not dict or DECIDING.isdisjoint(node.value)):
        return False
    return any(member.key in DECIDING and _hides(member.key, member.value) for member in node.members)


def hides_messages(node: JsonNode) -> bool:
    """True if a flag hides all messages of a conversation. What says who may open it, what it is about, or how it was
    made hides nothing."""
    if type(node) is LazyNode and (type(node.value) is not dict or _OF_CONVERSATIONS.isdisjoint(node.value)):
        return False
    return any(
        member.key in _OF_CONVERSATIONS and _hides(member.key, member.value, is_message=False)
        for member in node.members
    )


def hides_row(node: JsonNode) -> bool:
    """True if a flag hides an object that is a question with its answer. Like a conversation, it may be synthetic."""
    if type(node) is LazyNode and (type(node.value) is not dict or DECIDING.isdisjoint(node.value)):
        return False
    return any(
        member.key in DECIDING
        and member.key not in WEAK
        and _hides(member.key, member.value, is_message=member.key not in HOLDERS)
        for member in node.members
    )


def values_of(node: JsonNode, name: str) -> list[JsonNode]:
    """Return all values of a member that may be repeated."""
    if type(node) is LazyNode:
        value = node.get(name)
        return [] if value is None else [value]
    return [member.value for member in node.members if member.key == name]


_HIDDEN_PHASES = ("commentary", "analysis", "think", "thought", "reason")
"""The prefixes of words for phases before the answer."""


def is_in_hidden_phase(node: JsonNode) -> bool:
    """True if the phase of an object is commentary, analysis, or thinking."""
    if type(node) is LazyNode and (type(node.value) is not dict or "phase" not in node.value):
        return False
    return any(_is_word(phase, _HIDDEN_PHASES) for phase in values_of(node, "phase"))


def is_on_other_channel(node: JsonNode) -> bool:
    """True if an object names a channel other than the final one. For readers that do not read channels there."""
    if type(node) is LazyNode and (type(node.value) is not dict or "channel" not in node.value):
        return False
    return any(each.kind is not JsonKind.NULL and each.text != "final" for each in values_of(node, "channel"))


def _hides(name: str, value: JsonNode, depth: int = 0, *, is_message: bool = True) -> bool:
    """True if a member hides text. `depth` counts the holders around it."""
    if value.kind is JsonKind.NULL:
        return False
    if name in HOLDERS:
        if value.kind is JsonKind.ARRAY:
            return name == "flags" and any(_is_word(item, _CONCEALED) for item in value.items)
        return depth < _DEEPEST_HOLDER and _holds_flag(value, depth, is_message=is_message)
    if name == "audience":
        return _lacks_user(value)
    if name in OFF:
        return _is_off(value) or _is_word(value, ("none", "hidden", "never"))
    if name in KINDS:
        return _is_word(value, _HIDDEN_KINDS if name != "stage" else (*_HIDDEN_KINDS, *_HIDDEN_PHASES))
    if name in TYPES:
        return _is_word(value, _HIDDEN_KINDS)
    if name in CONTENTS:
        return _is_word(value, _HIDDEN_CONTENTS)
    if name in STATES:
        return _is_word(value, _CONCEALED) and (is_message or not _is_word(value, ("private",)))
    if name in RANGES:
        return _is_out_of_range(value) and (is_message or not _is_word(value, ("private",)))
    if name in STARTERS:
        return value.kind is not JsonKind.STRING or value.text != ""
    if name in SOURCES:
        return _is_other_author(value)
    if name in TAGS:
        return _is_hiding_tag(value) or any(map(_is_hiding_tag, value.items))
    if name in WORDS:
        return _is_on(value) or (name in CONCEALING and not _is_off(value) and not _is_blank(value))
    if name in SHOWN:
        return not _is_on(value)
    return name in FLAGS and not _is_off(value)


def _is_on(value: JsonNode) -> bool:
    if value.kind is JsonKind.NUMBER:
        return value.text != "0"
    is_word = value.kind is JsonKind.STRING and value.text.lower() in ("true", "1", "yes", "on")
    return is_word or value.kind is JsonKind.TRUE


def _is_off(value: JsonNode) -> bool:
    if value.kind is JsonKind.NUMBER:
        return value.text == "0"
    is_word = value.kind is JsonKind.STRING and value.text.lower() in ("false", "0", "no", "off")
    return is_word or value.kind is JsonKind.FALSE


def _is_blank(value: JsonNode) -> bool:
    return not (value.text if value.kind is JsonKind.STRING else value.members or value.items)


def _is_word(value: JsonNode, prefixes: tuple[str, ...]) -> bool:
    return value.kind is JsonKind.STRING and value.text.lower().startswith(prefixes)


def _is_hiding_tag(value: JsonNode) -> bool:
    return value.kind is JsonKind.STRING and value.text.strip().replace(" ", "_").lower() in _HIDING_TAGS


def _is_other_author(value: JsonNode) -> bool:
    if value.kind is JsonKind.STRING:
        word = "".join(filter(str.isalnum, value.text[:40])).lower()
        return word.removesuffix("s") in _OTHER_AUTHORS or word in _OTHER_AUTHORS or value.text.startswith("functions.")
    given = (value.get(name) for name in _OF_AUTHORS) if value.kind is JsonKind.OBJECT else ()
    return any(each is not None and each.kind is JsonKind.STRING and _is_other_author(each) for each in given)


def _is_out_of_range(value: JsonNode) -> bool:
    """True if the range of a text does not include the user."""
    if value.kind is JsonKind.OBJECT:
        return _holds_flag(value, 1) or any(
            _is_word(member.value, _UNSEEN) or (member.key in _USERS and _is_off(member.value))
            for member in value.members
        )
    return _is_word(value, _UNSEEN) or (bool(value.items) and all(map(_is_unseen, value.items)))


def _is_unseen(item: JsonNode) -> bool:
    return any(_is_word(each, _UNSEEN) for each in (item, *(member.value for member in item.members)))


def _holds_flag(holder: JsonNode, depth: int, *, is_message: bool = True) -> bool:
    """True if an object has a flag that is set, or an audience without the user."""
    names = HELD if is_message else _OF_CONVERSATIONS
    if type(holder) is LazyNode and (type(holder.value) is not dict or names.isdisjoint(holder.value)):
        return False
    return any(
        member.key in names and _hides(member.key, member.value, depth + 1, is_message=is_message)
        for member in holder.members
    )


def _lacks_user(audience: JsonNode) -> bool:
    """True if an audience names others than the user."""
    if audience.kind is JsonKind.STRING:
        return audience.text.lower().startswith(_UNSEEN)
    return bool(audience.items) and all(item.text != "user" for item in audience.items)
