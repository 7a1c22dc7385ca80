"""Zed: threads of the agent panel, as the database stores them and as they are shared."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    lacks,
    no_flag,
)
from viewer.model.messages import Kind

_FAILED = Outcomes(failed=("is_error",))
_TEXT = PartRule((has("Text"),), Kind.SAID, "Text")
_IMAGE = PartRule((has("Image"),), Kind.SAID, label=True)
_USER = (_TEXT, PartRule((has("Mention"),), Kind.INJECTED, "Mention.content"), _IMAGE)
"""The rules for the parts of a user message. A mention is a file, a symbol, or the like, with its content."""
_AGENT = (
    _TEXT,
    PartRule((has("Thinking"),), Kind.THOUGHT, "Thinking.text"),
    PartRule((has("RedactedThinking"),), Kind.THOUGHT, "RedactedThinking", opaque=True),
    PartRule(
        (has("ToolUse"),), Kind.CALL, "ToolUse.input|ToolUse.raw_input", call_id="ToolUse.id", name="ToolUse.name"
    ),
)
_RESULT = (
    RecordRule(
        (has("tool_use_id"),),
        Kind.REPLY,
        "tool",
        "content.Text|content.text|content[0].Text|content[0].text|content",
        call_id="tool_use_id",
        name="tool_name",
        outcome=_FAILED,
    ),
)

# Versions 0.1 and 0.2, and those without a version.

_SEGMENTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "text"),
    PartRule((is_("type", "RedactedThinking"),), Kind.THOUGHT, "data", opaque=True),
)
_BODIES = ((has("segments"), "segments"), (lacks("segments"), "text"))
_OLD_CALLS = (RecordRule((), Kind.CALL, "assistant", "input", call_id="id", name="name"),)
_SEEN = no_flag("is_hidden")
_OLD = (
    RecordRule((flag("is_hidden"),), Kind.INJECTED, "@role", "segments", _SEGMENTS),
    RecordRule((_SEEN, is_("role", "user"), has("context")), Kind.INJECTED, "user", "context", goes_on=True),
    RecordRule((_SEEN, has("tool_results[0]"), is_("role", "user")), each="tool_results[]", rules=_RESULT),
    RecordRule((_SEEN, has("tool_results[0]"), is_("role", "user")), None),
    *(
        RecordRule((_SEEN, is_("role", role), with_body), Kind.SAID, role, body, _SEGMENTS, goes_on=role != "user")
        for role in ("user", "assistant")
        for with_body, body in _BODIES
    ),
    RecordRule((_SEEN, is_("role", "assistant"), has("tool_uses[0]")), each="tool_uses[]", rules=_OLD_CALLS),
    RecordRule((_SEEN, is_("role", "assistant"), has("tool_results[0]")), each="tool_results[]", rules=_RESULT),
    RecordRule((_SEEN, is_("role", "assistant")), None),
    RecordRule((_SEEN, is_("role", "system")), Kind.INSTRUCTION, "system", "segments", _SEGMENTS),
)
_MESSAGES = (
    RecordRule((has("User"),), Kind.SAID, "user", "User.content", _USER),
    RecordRule((has("Agent"),), Kind.SAID, "assistant", "Agent.content", _AGENT, goes_on=True),
    RecordRule((has("Agent.tool_results"),), each="Agent.tool_results.*", rules=_RESULT),
    RecordRule((has("Agent"),), None),
    RecordRule((is_("", "Resume"),), None),
    *_OLD,
)

ZED = RecordFormat(
    name="zed",
    title="Zed thread",
    container=Container.JSON,
    signatures=(
        Signature(94, ("messages[].User.content",)),
        Signature(94, ("messages[].Agent.content",)),
        Signature(94, ("summary", "updated_at", "messages[].segments")),
        Signature(90, ("summary", "updated_at", "messages[].tool_uses")),
    ),
    records=(
        RecordRule(
            (has("messages"), has("subagent_context")),
            Kind.SUBAGENT,
            each="messages[]",
            rules=_MESSAGES,
            starts=True,
            thread="subagent_context.parent_thread_id",
        ),
        RecordRule(
            (has("messages"), lacks("subagent_context")), each="messages[]", rules=_MESSAGES, starts=True, whole=True
        ),
    ),
    model="model.model",
    version="version",
)
