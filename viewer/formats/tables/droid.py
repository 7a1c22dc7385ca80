"""Droid: session files of the Factory CLI, with the content parts of the Anthropic API, and the output of `droid
exec`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import ASSISTANT_PARTS, USER_PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.tags import claude_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_MESSAGE = is_("type", "message")
FOR_THE_MODEL = (has("visibility|message.visibility"), is_not("visibility|message.visibility", "both", "user"))
"""Conditions for a message that the user does not see. Pi's table has them too, because a Droid session without its
first record may be mistaken for one of Pi."""
_TEXT: dict[str, Any] = {"body": "text", "time": "timestamp"}
_COMMON: dict[str, Any] = {"body": "message.content", "time": "timestamp"}
OF_SUBAGENTS = "callingSessionId|parentSessionId|calling_session_id"
_STREAMED = has("session_id|sessionId")
_CALL_ID = "toolCallId|id"
_OUTPUT = (
    RecordRule((is_("type", "system"), _STREAMED, lacks("message|text|content")), None, starts=True),
    RecordRule((_MESSAGE, _STREAMED, lacks("message"), is_("role", "user")), Kind.SAID, "user", **_TEXT, split=True),
    RecordRule((_MESSAGE, _STREAMED, lacks("message"), is_("role", "assistant")), Kind.SAID, "assistant", **_TEXT),
    RecordRule((is_("type", "reasoning"), _STREAMED), Kind.THOUGHT, "assistant", **_TEXT),
    RecordRule(
        (is_("type", "tool_call"), _STREAMED),
        Kind.CALL,
        "assistant",
        "parameters",
        call_id=_CALL_ID,
        name="toolName|toolId",
        time="timestamp",
    ),
    RecordRule(
        (is_("type", "tool_result"), _STREAMED),
        Kind.REPLY,
        "tool",
        "value|error",
        call_id=_CALL_ID,
        outcome=Outcomes(ok=("isError!=true",), failed=("isError",)),
        time="timestamp",
    ),
    RecordRule(
        (is_("type", "completion"), _STREAMED),
        Kind.SAID,
        "assistant",
        "finalText",
        merge=Merge(Mode.FINAL),
        time="timestamp",
    ),
    RecordRule(
        (is_("type", "error"), _STREAMED),
        Kind.NOTICE,
        "system",
        "message",
        faults=(Fault("message", default=(W_RUN_ERROR, "unknown")),),
        time="timestamp",
    ),
)
"""The records that `droid exec` prints."""
_STATES = ("todo_state", "session_end", "token_usage", "settings_change")

DROID = RecordFormat(
    name="droid",
    title="Droid session",
    container=Container.LINES,
    signatures=(
        Signature(93, ("id", "cwd|title|owner"), {"type": frozenset({"session_start"})}, decides=True),
        Signature(
            94,
            ("session_id|sessionId", "text|toolName|toolId|finalText|value"),
            {"type": frozenset({"message", "tool_call", "tool_result", "completion", "reasoning"})},
            none_of=("uuid", "content", "message.content"),
        ),
    ),
    records=(
        RecordRule(
            (is_("type", "session_start"), has(OF_SUBAGENTS)),
            None,
            starts=True,
            session="id",
            narrows=Narrowing(Kind.SUBAGENT),
        ),
        RecordRule((is_("type", "session_start"),), None, starts=True, session="id"),
        RecordRule((has(OF_SUBAGENTS), lacks("message")), Kind.UNKNOWN, "system", narrows=Narrowing(Kind.SUBAGENT)),
        *_OUTPUT,
        RecordRule((_MESSAGE, *FOR_THE_MODEL), Kind.INJECTED, "@message.role", **_COMMON, parts=ASSISTANT_PARTS),
        RecordRule((_MESSAGE, is_("message.role", "user")), Kind.SAID, "user", **_COMMON, parts=USER_PARTS, split=True),
        RecordRule(
            (_MESSAGE, is_("message.role", "assistant")), Kind.SAID, "assistant", **_COMMON, parts=ASSISTANT_PARTS
        ),
        RecordRule(
            (is_("type", "compaction_state"),), Kind.REPLAYED, "system", "summaryText|summary", time="timestamp"
        ),
        RecordRule((is_("type", *_STATES), lacks("message")), None),
    ),
    hooks=Hooks(split=claude_tags),
)
