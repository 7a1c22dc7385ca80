"""Flags that hide text in every format, built in or from a plug-in. Every reader of records applies all of them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from itertools import product

from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode


def spelled(*names: str) -> frozenset[str]:
    """Return snake-case names in all usual spellings: snake case, kebab case, and camel case."""
    found = {*names, *(name.replace("_", "-") for name in names)}
    for name in names:
        pascal = name.title().replace("_", "")
        camel = pascal if name[0] == "_" else name[0] + pascal[1:]
        found.add(camel)
        found.add(pascal)
        if name.endswith(("_id", "_ui")):
            found.add(camel[:-2] + name[-2:].upper())
    return frozenset(found)


def joined(*words: tuple[str, ...]) -> tuple[str, ...]:
    """Return all names that join one word from each list with underscores, in order. Empty words are skipped."""
    return tuple("_".join(filter(None, each)) for each in product(*words))


_USER_PLACES = ("user", "users", "end_user", "customer", "client", "human")
_PLACES = (*_USER_PLACES, "ui", "chat", "transcript", "view", "frontend", "conversation")
"""Words for people who may see text, or for places where it may be displayed. They include the user."""
_THOUGHTS = (
    *("thought", "thoughts", "thinking", "reasoning", "analysis", "scratchpad", "cot", "chain_of_thought"),
    *("reflection", "monologue", "inner_monologue", "internal_monologue", "inner_thought", "inner_thoughts"),
)
_PARTS = ("", "block", "message", "step", "summary", "content", "text", "part", "chunk")
_PROGRAMS = (
    *("tool", "function", "system", "developer", "environment", "observation", "instruction", "reminder", "internal"),
    *("private", "hidden", "debug", "injected", "subagent", "sub_agent"),
)
_WRITINGS = (
    "",
    "message",
    "call",
    "output",
    "result",
    "response",
    "prompt",
    "reminder",
    "note",
    "event",
    "use",
    "text",
)
_READERS = (
    *("model", "llm", "ai", "agent", "internal", "debug", "dev", "developer", "admin", "staff", "backend", "server"),
    *("system", "tool", "log", "trace", "context", "reasoning", "thought", "thinking", "model_visible"),
    *("visible_to_model", "visible_to_llm", "visible_to_agent", "for_model", "for_llm", "for_agent"),
    "system_message",
)
FLAGS = spelled(
    *("is_meta", "is_sidechain", "is_synthetic", "is_compact_summary", "is_visible_in_transcript_only"),
    *("is_api_error_message", "is_system_initiated", "is_copied_context", "is_demo", "is_small_sys", "is_synthesized"),
    *("is_visually_hidden_from_conversation", "is_visually_hidden", "is_user_system_message", "is_summary"),
    *("is_simulated_msg", "is_best_of_n_subcomposer", "is_capability_iteration"),
    *("is_ephemeral", "is_invisible", "is_redacted", "is_concealed", "is_secret", "is_silent", "is_suppressed"),
    *("is_confidential", "is_background", "is_compaction", "is_notification", "is_intermediate_step", "unshown"),
    *("do_not_display", "dont_display", "skip_display", "suppress_display", "exclude_from_display", "no_display"),
    *("do_not_show", "dont_show", "do_not_render", "not_displayed", "is_not_displayed", "is_not_shown"),
    *("is_not_visible", "is_undisplayed", "from_tool", "from_system", "is_from_tool", "is_from_system"),
    *("from_subagent", "is_from_subagent", "is_planning", "is_planning_step", "is_plan", "is_critique"),
    *("hide_message", "hidden_message", "hide_from_display", "hide_from_history", "is_agent_internal"),
    *joined(("hide", "hidden", "is_hidden"), ("from", "in"), _PLACES),
    *joined(("exclude", "excluded", "omit", "omitted"), ("from",), ("user", "ui", "chat", "transcript", "view")),
    *joined(("not_for", "not_visible_to", "not_shown_to", "invisible_to"), _USER_PLACES),
    *joined(_PLACES, ("hidden",)),
    *joined(_READERS, ("only",)),
    *joined(("is",), _THOUGHTS, _PARTS),
    *joined(("is",), _PROGRAMS, _WRITINGS),
    *joined(("system", "tool", "hook"), ("generated", "injected", "inserted", "added")),
    *joined(("injected_by",), ("system", "hook", "program", "client", "tool", "agent")),
)
"""Members that hide text unless their value is false or null."""
_WHEN = ("at", "on", "by", "time", "timestamp", "ts", "date")
_DELETIONS = (
    *joined(("deleted", "removed", "retracted", "withdrawn", "unsent", "erased", "trashed", "soft_deleted"), _WHEN),
    *joined(("date", "time"), ("deleted", "removed", "retracted")),
    *joined(("deletion", "removal"), ("time", "timestamp", "date", "reason")),
    *("deleted", "removed", "retracted", "soft_deleted", "is_soft_deleted", "withdrawn", "erased", "trashed"),
)
CONCEALING = spelled(
    *("hidden", "hide", "invisible", "x_hidden", "hidden_at", "hidden_on", "hidden_by", "hidden_since", *_DELETIONS)
) | {"HIDDEN", "ishidden", "is hidden"}
"""Members that hide text unless their value is false, null, or empty."""
TEXTUAL = spelled("summary", *_THOUGHTS)
"""Members that are flags in some formats, and text in others."""
WORDS = (CONCEALING | TEXTUAL) | spelled(
    *("synthetic", "ignored", "redacted", "internal", "injected", "private", "ephemeral", "debug", "secret", "silent"),
    *("concealed", "suppressed", "not_visible", "non_visible", "not_shown", "undisplayed", "subagent", "sub_agent"),
    *("draft", "is_draft", "is_deleted", "is_removed", "is_retracted", "unsent", "is_unsent", "spam", "is_spam"),
    *("is_withdrawn", "is_erased", "is_trashed", "tombstone", "is_tombstone"),
    *("is_example", "is_few_shot", "internal_note", "private_note", "agent_internal", "backstage", "confidential"),
    *("_hidden", "_deleted", "_removed"),
)
"""Members that hide text if their value is true. Some formats use most of these names for strings."""
SHOWN = spelled(
    *("visible", "is_visible", "show_user", "shown", "is_shown", "is_displayed", "displayed", "shown_to_the_user"),
    *joined(("visible", "is_visible", "show", "shown", "is_shown"), ("to", "in"), _PLACES),
    *joined(("display", "displayed", "render"), ("to", "in"), _PLACES),
    *joined(("", "is"), _PLACES, ("visible", "facing")),
    *joined(("should",), ("show", "display", "render", "be_shown", "be_displayed", "be_visible")),
    *joined(("include_in",), ("ui", "chat", "transcript", "view")),
    *joined(("show", "display"), ("message",)),
) | {"VISIBLE", "isvisible"}
"""Members that hide text unless their value is true or null."""
OFF = spelled(
    *("display", "show", "render", "public", "is_public", "for_user", "is_for_user", "to_user", "sent_to_user"),
    *("delivered_to_user", "published", "is_published", "exposed", "viewable", "is_viewable", "in_transcript"),
    *("is_main_agent", "_visible"),
)
"""Members that hide text if their value is false, or a word such as `never`."""

STARTERS = spelled(
    *("parent_tool_use_id", "parent_tool_call_id", "subagent_id", "sub_agent_id", "parent_agent_id"),
    *("subagent_invocation_id", "sub_agent_invocation_id"),
)
"""Members that hide text unless their value is null or an empty string. The value identifies the sub-agent that
wrote the object, the call that started it, or its parent agent."""
KINDS = frozenset(
    {
        *("kind", "part_kind", "partKind", "part-kind", "subtype", "message_type", "messageType", "message-type"),
        *("message_kind", "messageKind", "message-kind", "stage"),
    }
)
"""Other names for `type`. They hide text if their value is a word for a thought, a call, or a reply."""
HIDDEN_TYPES = (
    *("think", "thought", "reason", "redacted", "tool", "builtin", "function", "system", "analysis", "scratch_"),
    *("scratchpad", "internal", "hidden", "monologue", "inner_", "plan_", "planning", "reflect", "self_reflect"),
    *("critique", "compaction", "compact_boundary", "context_summary", "deliberat", "chain_of", "cot_", "environment"),
    *("developer", "instruction", "subagent", "sub_agent", "debug", "injected", "draft_"),
)
"""The prefixes of words for a thought, a call, or a reply. Words are compared with `_` appended, so `draft_` matches
`draft`, but not `drafting`."""
TYPES = frozenset({"Type", "TYPE", "_type", "@type", "Kind", "KIND", "_kind"}) | spelled(
    *joined(("msg", "entry", "step", "chunk", "block", "segment", "output", "item"), ("type", "kind")),
    *("part_type", "log_level"),
)
"""Spellings of `type` that no format reads. They hide text if their value is a word for a thought, a call, or a
reply."""
PHASES = spelled("output_channel", "message_channel", "message_phase", "output_phase") | {
    *("Channel", "CHANNEL", "_channel", "Phase", "PHASE", "_phase")
}
"""Spellings of `channel` and `phase` that no format reads. They hide text if their value is a word for a phase before
the answer."""
CONTENTS = spelled("content_type", "content_kind")
"""Members that hide text if their value is a word for the content of a thought, a call, or a reply."""
_HIDDEN_CONTENTS = (
    *(*HIDDEN_TYPES, "commentary", "execution_output", "user_editable_context", "model_editable_context", "tether_"),
    *("computer_output", "observation"),
)
"""The prefixes of words for the content of a thought, a call, or a reply."""
RANGES = spelled(
    *("visibility", "visible_to", "visible_for", "for", "shown_to", "private_to", "readers", "viewers", "audiences"),
    *("target_audience", "intended_for", "intended_audience", "access", "access_level", "exposure", "privacy"),
    "permissions",
)
"""Members that hide text if their value is a word, or a list of words, for text that no user sees."""
_UNSEEN = (
    *("hidden", "internal", "private", "assistant", "model", "agent", "system", "none", "llm", "tool", "developer"),
    *("self", "admin", "staff", "backend", "debug", "not_visible", "invisible", "secret", "silent", "nobody"),
    *("no_one", "off_", "no_", "never"),
)
"""The prefixes of words for text that no user sees. Words are compared with `_` appended, so `off_` matches `off`, but
not `official`."""
_USERS = frozenset({"user", "users", "human", "end_user", "endUser", "customer", "ui", "chat", "public", "everyone"})
"""Members of an object that specifies who may see text. If one of them is off, the user does not see the text."""
STATES = spelled("status", "state", "scope", "display_type", "display_mode", "presentation", "purpose", "mode")
"""Members that hide text if their value is a word for text that is not displayed. Most of their values mean something
else."""
_CONCEALED = ("hidden", "internal", "private", "invisible", "not_displayed", "not_visible", "suppressed")
"""The prefixes of words for text that is not displayed."""
_HIDDEN_STATES = (*_CONCEALED, "thinking_", "reasoning_", "draft_", "deleted_", "retracted_", "unsent_")
_MODES = spelled("mode")
"""Members in `STATES` that often contain the mode of the model that wrote an answer, such as `reasoning`."""
TAGS = spelled("tags", "tag", "labels", "label")
"""Members that hide text if their value is a word in `_HIDING_TAGS`, or a list that contains one."""
_HIDING_TAGS = spelled(
    *("hidden", "internal", "invisible", "internal_only", "model_only", "hidden_from_user", "not_visible"),
    *("do_not_display", "system_reminder", "is_hidden", "scratchpad", "chain_of_thought", "inner_monologue"),
)
_OF_TAGS = ("name", "tag", "label", "value", "key", "id", "text")
"""Members that contain the word, if a tag is an object."""
_LISTING = ("flags", "attributes")
"""Members in `HOLDERS` whose value may also be a word, or a list of words."""
_FLAG_WORDS = (*_CONCEALED, "thought_", "thinking_")
SOURCES = spelled(
    *("source", "sender", "author", "origin", "from", "speaker", "actor", "source_type", "source_role"),
    *("sender_type", "sender_role", "sender_name", "author_type", "author_role", "author_name", "role_type"),
    *("role_name", "message_source", "message_origin", "message_role", "original_role", "real_role", "actual_role"),
    *("display_role", "displayed_role", "shown_role", "effective_role", "ui_role", "display_author"),
    *("actor_type", "actor_role", "speaker_role", "speaker_type", "origin_role", "origin_type", "msg_role"),
    *("turn_origin", "prompt_source", "prompt_origin"),
    *("creator", "producer", "emitter", "provenance", "target_role", "recipient_role", "agent_type", "agent_role"),
    *joined(("generated", "created", "produced", "added", "sent", "written"), ("by",)),
) | {"_role", "@role", "ROLE", "role_", "role "}
"""Members that hide text if their value is a word for an author other than the user and the assistant. In an object,
that word is the role, the type, or the kind."""
_OTHERS = (
    *("system", "developer", "tool", "tools", "function", "functions", "internal", "hidden", "environment", "hook"),
    *("observation", "observer", "scratchpad", "subagent", "ipython", "interpreter", "codeinterpreter", "executor"),
    *("retrieval", "retriever", "injected", "innermonologue", "monologue", "memory"),
)
_OF_OTHERS = (
    *("", "message", "prompt", "result", "output", "call", "use", "response", "reminder", "event"),
    "instruction",
)
_OTHER_AUTHORS = frozenset(f"{author}{rest}" for author in _OTHERS for rest in _OF_OTHERS)
"""Words for authors other than the user and the assistant, in lower case and without separators."""
_OF_AUTHORS = ("role", "type", "kind")
HOLDERS = spelled(
    *("metadata", "annotations", "additional_kwargs", "meta", "extra", "flags", "extras", "properties", "attributes"),
    *("options", "custom", "custom_metadata", "additional_properties", "message_metadata", "user_metadata", "ui"),
    *("attrs", "props", "additional", "additional_data", "extra_data", "extra_info", "extensions", "extension"),
) | {"_meta", "_metadata", "_extra"}
"""Members that may contain flags and the audience."""
_DEEPEST_HOLDER = 3
"""The maximum nesting depth of holders."""

RECIPIENTS = spelled("recipients", "recipient_name", "addressee", "addressees", "addressed_to") | {"Recipient"}
"""Members that hide text if all readers that they name are other than the user and the assistant."""

HELD = (
    FLAGS.union(SHOWN, OFF, RANGES, SOURCES, TAGS, CONTENTS, HOLDERS, RECIPIENTS, {"audience"}, WORDS) - TEXTUAL
).union(spelled("thought"))
"""Members that may hide text, also if they are in a holder."""
HELD_HEADERS = frozenset({"recipient", "to", "intent", "channel", "phase", "role", "type", "status", "state"}) | KINDS
"""Further members of a holder that may hide text. In a message itself, readers interpret most of them."""
IN_HOLDERS = HELD | HELD_HEADERS
"""All members of holders that may hide text."""
DECIDING = HELD.union(WORDS, STARTERS, KINDS, TYPES, PHASES, STATES)
"""All members that may hide text."""
_WEAK_NAMES = (
    *("synthetic", "is_synthetic", "is_synthesized", "private", "is_private", "ephemeral", "is_ephemeral"),
    *("redacted", "is_redacted", "is_summary", "is_tool", "is_system", "is_example", "is_few_shot", "debug"),
    *("is_debug", "silent", "is_silent", "public", "is_public", "published", "is_published", "exposed", "viewable"),
    *("is_viewable", "is_plan", "secret", "is_secret", "confidential", "is_confidential", "is_background"),
    *("is_function", "is_environment", "is_instruction", "is_planning", "access", "access_level", "exposure"),
    *("privacy", "permissions", "audiences", "target_audience", "intended_for", "intended_audience", "purpose"),
    *("mode", "draft", "is_draft", "spam", "is_spam", "is_deleted", "is_removed", "is_retracted", "unsent"),
    *(
        "is_unsent",
        "is_withdrawn",
        "is_erased",
        "is_trashed",
        "tombstone",
        "is_tombstone",
        "_deleted",
        "_removed",
        *_DELETIONS,
    ),
    *joined(("is",), _THOUGHTS),
    *joined(("system", "tool", "hook"), ("generated", "added")),
)
WEAK = TEXTUAL | RECIPIENTS | spelled(*_WEAK_NAMES)
"""Flags that may hide a single message, but not a whole conversation."""
_OF_CONVERSATIONS = HELD.union(STARTERS, STATES).difference(WEAK, TAGS, SOURCES, CONTENTS)
"""Members that hide the messages of a whole conversation."""
FACTS_OF_CONVERSATIONS = (_OF_CONVERSATIONS - HOLDERS) | {"flags"}
"""Members that hide a whole conversation by their own value, not by a member of that value."""


def is_flagged(node: JsonNode, lists: Container[str] = ()) -> bool:
    """True if a flag hides the text of an object. A member named in `lists` is not a flag if its value is an array."""
    if type(node) is LazyNode and (type(node.value) is not dict or DECIDING.isdisjoint(node.value)):
        return False
    return any(
        member.key in DECIDING
        and not (member.key in lists and member.value.kind is JsonKind.ARRAY)
        and _hides(member.key, member.value)
        for member in node.members
    )


def hides_messages(node: JsonNode) -> bool:
    """True if a flag hides all messages of a conversation. Flags that state its subject, how it was made, or who may
    open it hide nothing."""
    if type(node) is LazyNode and (type(node.value) is not dict or _OF_CONVERSATIONS.isdisjoint(node.value)):
        return False
    return any(
        member.key in _OF_CONVERSATIONS and _hides(member.key, member.value, is_message=False)
        for member in node.members
    )


def hides_row(node: JsonNode) -> bool:
    """True if a flag hides an object that consists of a question and its answer. As with a whole conversation, flags
    such as `synthetic` do not hide it."""
    if type(node) is LazyNode and (type(node.value) is not dict or DECIDING.isdisjoint(node.value)):
        return False
    return any(
        member.key in DECIDING
        and member.key not in WEAK
        and _hides(member.key, member.value, is_message=member.key not in HOLDERS and member.key not in STATES)
        for member in node.members
    )


def values_of(node: JsonNode, name: str) -> list[JsonNode]:
    """Return all values of a member that may be repeated."""
    if type(node) is LazyNode:
        value = node.get(name)
        return [] if value is None else [value]
    return [member.value for member in node.members if member.key == name]


_HIDDEN_PHASES = (
    *("commentary", "analysis", "think", "thought", "reason", "planning", "plan_", "internal", "hidden", "reflect"),
    *("scratchpad", "inner_", "monologue", "deliberat", "critique"),
)
"""The prefixes of words for phases before the answer."""
_HIDDEN_STAGES = (*HIDDEN_TYPES, *_HIDDEN_PHASES)


def is_in_hidden_phase(node: JsonNode) -> bool:
    """True if the phase of an object is one before the answer, such as commentary or analysis."""
    if type(node) is LazyNode and (type(node.value) is not dict or "phase" not in node.value):
        return False
    return any(is_word(phase, _HIDDEN_PHASES) for phase in values_of(node, "phase"))


def is_on_other_channel(node: JsonNode) -> bool:
    """True if an object names a channel other than the final one. Used by readers that do not interpret this member as
    the channel."""
    if type(node) is LazyNode and (type(node.value) is not dict or "channel" not in node.value):
        return False
    return any(each.kind is not JsonKind.NULL and each.text != "final" for each in values_of(node, "channel"))


ADDRESSES = frozenset({"recipient", "to", "intent"})
"""Members of a header that hide text by their value. Some formats use them for other things."""
_READERS_OF_TEXT = frozenset(
    {"", "user", "users", "human", "assistant", "all", "everyone", "any", "model", "ai", "end_user", "customer"}
)
_HIDDEN_INTENTS = ("debug", "status_", "internal", "hidden", "thought", "thinking", "reasoning", "analysis", "plan_")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]*")
_TOOLS = frozenset({"browser", "python", "web", "container", "terminal", "bash", "shell", "code", "memory", "planner"})


def is_addressed_elsewhere(node: JsonNode) -> bool:
    """True if an object names a recipient other than the user and the assistant, or an intent that hides it. Used by
    readers that do not interpret these members."""
    if type(node) is LazyNode and (type(node.value) is not dict or ADDRESSES.isdisjoint(node.value)):
        return False
    return any(
        _is_tool(each) or (each.kind is JsonKind.STRING and each.text.lower() not in _READERS_OF_TEXT)
        for each in _addresses(node, "recipient")
    ) or any(
        is_word(each, _HIDDEN_INTENTS) if name == "intent" else _is_tool(each)
        for name in ("to", "intent")
        for each in _addresses(node, name)
    )


def _addresses(node: JsonNode, name: str) -> Iterator[JsonNode]:
    """Yield the values of a member and the items of those that are lists."""
    for value in values_of(node, name):
        yield value
        if value.kind is JsonKind.ARRAY:
            yield from value.items


def _is_tool(value: JsonNode) -> bool:
    return is_other_author(value) or (value.kind is JsonKind.STRING and value.text.lower() in _TOOLS)


def _hides(name: str, value: JsonNode, depth: int = 0, *, is_message: bool = True) -> bool:
    """True if a member hides text. `depth` counts the holders around it."""
    if value.kind is JsonKind.NULL:
        return False
    if name in HOLDERS:
        if value.kind is not JsonKind.OBJECT:
            is_listed = name in _LISTING and any(map(_is_flag_word, (value, *value.items)))
            return is_listed or any(_holds_flag(each, depth, is_message=is_message) for each in value.items)
        return depth < _DEEPEST_HOLDER and _holds_flag(value, depth, is_message=is_message)
    if name in RECIPIENTS:
        return _names_only_others(value)
    if name == "audience":
        return _lacks_user(value)
    if name in OFF:
        if value.kind is JsonKind.OBJECT:
            return depth < _DEEPEST_HOLDER and _holds_flag(value, depth, is_message=is_message)
        return _is_off(value) or is_word(value, ("none", "hidden", "never"))
    if name in KINDS:
        return is_word(value, HIDDEN_TYPES if name != "stage" else _HIDDEN_STAGES)
    if name in TYPES:
        return is_word(value, HIDDEN_TYPES)
    if name in PHASES:
        return is_word(value, _HIDDEN_PHASES)
    if name in CONTENTS:
        return is_word(value, _HIDDEN_CONTENTS)
    if name in STATES:
        words = _HIDDEN_STATES if is_message and name not in _MODES else _CONCEALED
        return is_word(value, words) and (is_message or not is_word(value, ("private",)))
    if name in RANGES:
        return _is_out_of_range(value) and (is_message or not is_word(value, ("private",)))
    if name in STARTERS:
        return value.kind is not JsonKind.STRING or value.text != ""
    if name in SOURCES:
        return is_other_author(value)
    if name in TAGS:
        return any(map(_is_hiding_tag, (value, *value.items)))
    if name in TEXTUAL:
        return value.kind is JsonKind.TRUE or (value.kind is JsonKind.NUMBER and value.text != "0")
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


_LONGEST_WORD = 40


def is_word(value: JsonNode, prefixes: tuple[str, ...]) -> bool:
    """True for a string that begins with one of these prefixes. Case is ignored, and hyphens and spaces count as
    underscores."""
    if value.kind is not JsonKind.STRING:
        return False
    return f"{value.text[:_LONGEST_WORD]}_".lower().replace("-", "_").replace(" ", "_").startswith(prefixes)


_LONGEST_TAGS = 400


def _is_flag_word(value: JsonNode) -> bool:
    return is_word(value, _FLAG_WORDS) or _is_hiding_tag(value)


def _is_hiding_tag(value: JsonNode) -> bool:
    """True for a string with a word in `_HIDING_TAGS`, possibly among others, and for an object that names such a word
    or has a flag that is set."""
    if value.kind is JsonKind.OBJECT:
        named = any(member.key in _OF_TAGS and _is_hiding_tag(member.value) for member in value.members)
        return named or _holds_flag(value, 1)
    words = value.text[:_LONGEST_TAGS].split(",") if value.kind is JsonKind.STRING else ()
    return any(word.strip().replace(" ", "_").lower() in _HIDING_TAGS for word in words)


def is_other_author(value: JsonNode) -> bool:
    """True for a word for an author other than the user and the assistant, and for an object that names one."""
    if value.kind is JsonKind.STRING:
        word = "".join(filter(str.isalnum, value.text[:40])).lower()
        return word.removesuffix("s") in _OTHER_AUTHORS or word in _OTHER_AUTHORS or value.text.startswith("functions.")
    given = (value.get(name) for name in _OF_AUTHORS) if value.kind is JsonKind.OBJECT else ()
    return any(each is not None and each.kind is JsonKind.STRING and is_other_author(each) for each in given)


def _is_out_of_range(value: JsonNode) -> bool:
    """True if a value that specifies who may see text excludes the user."""
    if value.kind in (JsonKind.FALSE, JsonKind.NUMBER):
        return _is_off(value)
    if value.kind is JsonKind.OBJECT:
        return _holds_flag(value, 1) or any(
            is_word(member.value, _UNSEEN) or (member.key in _USERS and _is_off(member.value))
            for member in value.members
        )
    return is_word(value, _UNSEEN) or (bool(value.items) and all(map(_is_unseen, value.items)))


def _is_unseen(item: JsonNode) -> bool:
    return any(is_word(each, _UNSEEN) for each in (item, *(member.value for member in item.members)))


def _holds_flag(holder: JsonNode, depth: int, *, is_message: bool = True) -> bool:
    """True if an object has a flag that is set, or an audience without the user."""
    names = IN_HOLDERS if is_message else _OF_CONVERSATIONS
    if type(holder) is LazyNode and (type(holder.value) is not dict or names.isdisjoint(holder.value)):
        return False
    return any(
        _hides(member.key, member.value, depth + 1, is_message=is_message)
        if member.key not in HELD_HEADERS
        else is_message and _is_hiding_header(member.key, member.value)
        for member in holder.members
        if member.key in names
    )


_THOUGHT_WORDS = (
    "think",
    "thought",
    "reason",
    "analysis",
    "scratchpad",
    "inner_",
    "monologue",
    "reflect",
    "commentary",
)
_HELD_TYPES = (
    *(*_THOUGHT_WORDS, "chain_of", "internal", "hidden", "subagent", "sub_agent", "debug_", "redacted", "tool_"),
    *("function_call_output", "system_message", "system_prompt", "system_reminder", "compaction", "compact_boundary"),
    "context_summary",
)
_HELD_ROLES = frozenset({"tool", "function", "system", "ipython", "environment", "observation"})
_HELD_INTENTS = frozenset({"debug", "internal", "hidden", "thought", "thinking", "reasoning", "analysis"})


def _is_hiding_header(name: str, value: JsonNode) -> bool:
    """True if a member of a holder is a header that hides text. Holders use these names for other things, too, so fewer
    words count than in a message itself."""
    if name == "recipient":
        return _names_only_others(value)
    if name == "to":
        return any(map(_is_tool, (value, *value.items)))
    if name in ("intent", "role"):
        return value.kind is JsonKind.STRING and value.text.lower() in (
            _HELD_INTENTS if name == "intent" else _HELD_ROLES
        )
    if name in ("status", "state"):
        return is_word(value, _HIDDEN_STATES)
    return is_word(value, _THOUGHT_WORDS if name in ("channel", "phase", "stage") else _HELD_TYPES)


def _names_only_others(value: JsonNode) -> bool:
    """True if a value names readers, none of whom is the user or the assistant. Addresses and telephone numbers are not
    names of tools."""
    named = value.items if value.kind is JsonKind.ARRAY else [value]
    return bool(named) and all(map(_is_other_reader, named))


def _is_other_reader(value: JsonNode) -> bool:
    if value.kind is not JsonKind.STRING:
        return is_other_author(value) or any(_is_tool(member.value) for member in value.members if member.key == "name")
    return value.text.lower() not in _READERS_OF_TEXT and _NAME.fullmatch(value.text) is not None


def _lacks_user(audience: JsonNode) -> bool:
    """True if an audience does not include the user."""
    if audience.kind is not JsonKind.ARRAY:
        return _is_out_of_range(audience)
    return bool(audience.items) and all(item.text != "user" for item in audience.items)
