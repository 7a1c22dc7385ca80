"""Cursor: agent transcripts, with the content parts of the Anthropic API, and the output stream of the CLI."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.tags import cursor_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_ROLES = {"role": frozenset({"user", "assistant"})}
_OF_OTHERS = ("type", "uuid", "sessionId", "session_id", "info", "parts", "content")

# The output of `cursor-agent --print --output-format stream-json`.

_TOOLS = (
    *("shell", "read", "write", "edit", "delete", "ls", "glob", "grep", "semSearch", "webSearch", "fetch", "mcp"),
    *("readLints", "updateTodos", "readTodos", "task", "createPlan", "askQuestion", "switchMode", "applyAgentDiff"),
)
_STREAM = has("session_id")
_USER, _ASSISTANT = is_("type", "user"), is_("type", "assistant")
_THINKING, _CALL, _RESULT = is_("type", "thinking"), is_("type", "tool_call"), is_("type", "result")
_BODY: dict[str, Any] = {"body": "message.content", "parts": PARTS, "time": "timestamp_ms"}
_STARTED = (_STREAM, _CALL, is_("subtype", "started"))
_INIT = is_("type", "system"), is_("subtype", "init")
_EVENTS = (
    RecordRule((_STREAM, *_INIT), None, starts=True, session="session_id"),
    RecordRule((_STREAM, _USER, is_("message.role", "user")), Kind.SAID, "user", **_BODY, split=True),
    RecordRule(
        (_STREAM, _ASSISTANT, is_("message.role", "assistant"), has("timestamp_ms"), lacks("model_call_id")),
        Kind.REPLAYED,
        "assistant",
        **_BODY,
        merge=Merge(Mode.APPEND),
    ),
    RecordRule((_STREAM, _ASSISTANT, is_("message.role", "assistant")), Kind.SAID, "assistant", **_BODY),
    RecordRule(
        (_STREAM, _THINKING, is_("subtype", "delta")),
        Kind.THOUGHT,
        "assistant",
        "text",
        merge=Merge(Mode.APPEND),
        time="timestamp_ms",
    ),
    RecordRule((_STREAM, _THINKING, is_("subtype", "completed"), lacks("text")), None),
    *(
        RecordRule(
            (*_STARTED, has(f"tool_call.{tool}ToolCall")),
            Kind.CALL,
            "assistant",
            f"tool_call.{tool}ToolCall.args",
            call_id="call_id",
            default_name=tool,
            time="timestamp_ms",
        )
        for tool in _TOOLS
    ),
    RecordRule(
        _STARTED,
        Kind.CALL,
        "assistant",
        "tool_call.function.arguments|tool_call.*.args",
        call_id="call_id",
        name="tool_call.function.name",
        default_name="tool",
        time="timestamp_ms",
    ),
    RecordRule(
        (_STREAM, _CALL, is_("subtype", "completed")),
        Kind.REPLY,
        "tool",
        "tool_call.*.result",
        call_id="call_id",
        outcome=Outcomes(
            ok=("tool_call.*.result.success",),
            failed=("tool_call.*.result.error", "tool_call.*.result.failure"),
            refused=("tool_call.*.result.rejected",),
        ),
        time="timestamp_ms",
    ),
    RecordRule(
        (_STREAM, _RESULT, flag("is_error")),
        Kind.NOTICE,
        "system",
        "result",
        faults=(Fault("is_error", default=(W_RUN_ERROR, "unknown")),),
    ),
    RecordRule((_STREAM, _RESULT), Kind.REPLAYED, "assistant", "result"),
)
"""The rules for the output of the CLI. With partial output, an answer first arrives in pieces, which have a time but no
model call ID, and then as a whole. Only the whole answer is read. The result record repeats all answers."""

CURSOR = RecordFormat(
    name="cursor",
    title="Cursor agent transcript",
    container=Container.LINES,
    signatures=(
        Signature(90, ("role", "message.content"), _ROLES, _OF_OTHERS),
        Signature(97, ("session_id", "call_id", "tool_call"), {"type": frozenset({"tool_call"})}, decides=True),
        Signature(
            97,
            ("apiKeySource", "permissionMode", "session_id"),
            {"type": frozenset({"system"}), "subtype": frozenset({"init"})},
            ("tools", "uuid", "mcp_servers", "slash_commands"),
            decides=True,
        ),
        Signature(96, ("session_id", "timestamp_ms"), {"type": frozenset({"thinking"})}),
    ),
    records=(
        *_EVENTS,
        RecordRule(
            (is_("role", "user"), lacks("session_id")),
            Kind.SAID,
            "user",
            "message.content",
            PARTS,
            time="timestamp",
            split=True,
        ),
        RecordRule(
            (is_("role", "assistant"), lacks("session_id")),
            Kind.SAID,
            "assistant",
            "message.content",
            PARTS,
            time="timestamp",
        ),
        RecordRule((has("message.content"),), Kind.UNKNOWN, "@role", "message.content", PARTS, time="timestamp"),
    ),
    hooks=Hooks(split=cursor_tags),
)
