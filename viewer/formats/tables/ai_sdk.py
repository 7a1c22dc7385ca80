"""Vercel AI SDK: UI messages, and the stream of a UI message."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    lacks,
    no_flag,
    starts,
)
from viewer.formats.tables.usage import AI_SDK_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_FAILED = Outcomes(
    ok=("state=output-available", "type=tool-output-available"),
    failed=("state=output-error", "type=tool-output-error"),
    refused=("state=output-denied", "type=tool-output-denied"),
)
_REPORTED = Outcomes(ok=("state=complete",), failed=("state=error",))
_RESULT = "output|errorText|approval.reason"
_INVOKED = "toolInvocation"

# Parts of a message. Everything in a part except its text is for the program.

_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text|content")
_FILE = PartRule((is_("type", "file"),), Kind.SAID, label=True)
_ASKED = (_TEXT, _FILE, PartRule((is_("type", "step-start"),), None))
_ANSWERED = (
    *_ASKED,
    PartRule((is_("type", "reasoning"),), Kind.THOUGHT, "text|reasoning"),
    PartRule(
        (is_("type", "tool-invocation"),),
        Kind.CALL,
        f"{_INVOKED}.args",
        f"{_INVOKED}.toolCallId",
        f"{_INVOKED}.toolName",
        reply=PartRule((has(f"{_INVOKED}.result"),), Kind.REPLY, f"{_INVOKED}.result", f"{_INVOKED}.toolCallId"),
    ),
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "content"),
    PartRule((is_("type", "tool-call"), has("id"), is_("arguments", "")), Kind.CALL, "", "id", "name"),
    PartRule((is_("type", "tool-call"), has("id")), Kind.CALL, "arguments", "id", "name"),
    PartRule((is_("type", "tool-result"), has("content")), Kind.REPLY, "content", "toolCallId", outcome=_REPORTED),
    *(
        PartRule(
            (is_tool, has("toolCallId")),
            Kind.CALL,
            "input|rawInput",
            "toolCallId",
            "toolName|type",
            reply=PartRule((has(_RESULT),), Kind.REPLY, _RESULT, "toolCallId", "toolName|type", outcome=_FAILED),
        )
        for is_tool in (is_("type", "dynamic-tool"), starts("type", "tool-"))
    ),
    PartRule((is_("type", "source-url", "source-document", "source"),), None),
    PartRule((starts("type", "data-"),), Kind.UNKNOWN, "data"),
)
_PARTS = (When("parts", kind=JsonKind.ARRAY), lacks("content"), lacks("message"))
_TIME: dict[str, Any] = {"time": "createdAt|metadata.createdAt"}
_MESSAGES = (
    RecordRule((is_("role", "user"), *_PARTS), Kind.SAID, "user", "parts", _ASKED, **_TIME),
    RecordRule((is_("role", "assistant"), *_PARTS), Kind.SAID, "assistant", "parts", _ANSWERED, **_TIME),
    RecordRule((is_("role", "system"), *_PARTS), Kind.INSTRUCTION, "system", "parts", _ASKED, **_TIME),
)

# Chunks of a stream.


def _block(name: str, kind: Kind) -> RecordRule:
    """Return the rule for the chunks of a block of text, from start to end."""
    types = is_("type", f"{name}-start", f"{name}-delta", f"{name}-end")
    merge = Merge(Mode.APPEND, "id", done=is_("type", f"{name}-end"))
    return RecordRule((types,), kind, "assistant", "delta|text", merge=merge)


_TOOL: dict[str, Any] = {"call_id": "toolCallId", "name": "toolName"}
_FINISHED = {
    "length": (W_RUN_INCOMPLETE, "max-tokens"),
    "content-filter": (W_RUN_ERROR, "content-filter"),
    "error": (W_RUN_ERROR, "unknown"),
}
_CHUNKS = (
    _block("text", Kind.SAID),
    _block("reasoning", Kind.THOUGHT),
    RecordRule((is_("type", "tool-input-available", "tool-input-error"),), Kind.CALL, "assistant", "input", **_TOOL),
    RecordRule(
        (is_("type", "tool-output-available"), no_flag("preliminary")),
        Kind.REPLY,
        "tool",
        "output",
        outcome=_FAILED,
        **_TOOL,
    ),
    RecordRule(
        (is_("type", "tool-output-error", "tool-output-denied"),),
        Kind.REPLY,
        "tool",
        "errorText",
        outcome=_FAILED,
        **_TOOL,
    ),
    RecordRule((is_("type", "file"), has("url"), has("mediaType")), Kind.SAID, "assistant", label=True),
    RecordRule(
        (is_("type", "error"),),
        Kind.NOTICE,
        "system",
        "errorText|error",
        faults=(Fault("type", default=(W_RUN_ERROR, "unknown")),),
    ),
    RecordRule((is_("type", "abort"),), None, faults=(Fault("type", default=(W_RUN_ERROR, "aborted")),)),
    RecordRule((is_("type", "finish"),), None, faults=(Fault("finishReason", _FINISHED),)),
    RecordRule((starts("type", "data-"),), Kind.UNKNOWN, "assistant", "data"),
    RecordRule(
        (
            is_(
                "type",
                *("start", "start-step", "finish-step", "message-metadata", "source-url", "source-document"),
                *("tool-input-start", "tool-input-delta", "tool-output-available"),
            ),
        ),
        None,
    ),
)
_TYPES = frozenset(
    {
        *("text-start", "text-delta", "text-end", "reasoning-start", "reasoning-delta", "reasoning-end"),
        *("start-step", "finish-step", "tool-input-start", "tool-input-delta", "tool-input-available"),
        *("tool-output-available", "tool-output-error", "source-url", "message-metadata"),
    }
)
_ROLES = frozenset({"user", "assistant", "system"})

AI_SDK = RecordFormat(
    name="ai-sdk",
    title="Vercel AI SDK messages",
    container=Container.JSON,
    signatures=(
        Signature(90, ("parts[].type",), {"role": _ROLES}, ("content", "message", "uuid", "info", "sessionId")),
        Signature(
            90,
            ("messages[].parts[].type",),
            {"messages[].role": _ROLES},
            ("messages[].content", "messages[].message", "messages[].info", "sessionId", "info"),
        ),
        Signature(90, (), {"type": _TYPES}, ("role", "uuid", "sessionId", "message", "timestamp")),
        Signature(
            0, (), {"type": frozenset({"start", "finish", "error", "abort", "file", "data-*"})}, ("role", "uuid")
        ),
    ),
    records=(
        RecordRule((has("messages"), lacks("role"), lacks("type")), each="messages[]", rules=_MESSAGES, starts=True),
        *_MESSAGES,
        *_CHUNKS,
    ),
    inner=("parts",),
    usage=AI_SDK_TOKENS,
    session="chatId",
)
