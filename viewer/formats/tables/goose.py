"""Goose: session files, exported sessions, and the output of `goose run`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.mcp_parts import TEXTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Narrowing,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.usage import GOOSE_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_RECORD_UNKNOWN

_PARTS = (
    *TEXTS,
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "reasoning"),), Kind.THOUGHT, "text|reasoning"),
    PartRule((is_("type", "redactedThinking"),), Kind.THOUGHT, "data", opaque=True),
    PartRule(
        (is_("type", "toolRequest", "frontendToolRequest"),),
        Kind.CALL,
        "toolCall.value.arguments|toolCall.error",
        "id",
        "toolCall.value.name",
    ),
    PartRule(
        (is_("type", "toolResponse"),),
        Kind.REPLY,
        "toolResult.value.content|toolResult.value|toolResult.error",
        "id",
        outcome=Outcomes(
            ok=("toolResult.status=success",), failed=("toolResult.status=error", "toolResult.value.isError")
        ),
    ),
    PartRule((is_("type", "image"),), Kind.SAID, label=True),
    PartRule(
        (
            is_(
                "type", "summarizationRequested", "contextLengthExceeded", "systemNotification", "conversationCompacted"
            ),
        ),
        Kind.NOTICE,
        "msg",
    ),
    PartRule((is_("type", "toolConfirmationRequest"),), Kind.NOTICE, "prompt|arguments"),
    PartRule((is_("type", "actionRequired"),), Kind.NOTICE, "data.message|data"),
)
_COMMON: dict[str, Any] = {"body": "content", "parts": _PARTS, "time": "created"}
_VISIBLE = "metadata.userVisible"

_MESSAGES = (
    RecordRule(
        (is_("role", "user", "assistant"), has(_VISIBLE), When(_VISIBLE, true=False)),
        Kind.INJECTED,
        "@role",
        **_COMMON,
    ),
    RecordRule((is_("role", "user"),), Kind.SAID, "user", **_COMMON),
    RecordRule((is_("role", "assistant"),), Kind.SAID, "assistant", **_COMMON),
    RecordRule(
        (has("role"), has("content")),
        Kind.UNKNOWN,
        "@role",
        **_COMMON,
        faults=(Fault("role", default=(W_RECORD_UNKNOWN, None)),),
    ),
)
_FAULTS = (Fault("error", default=(W_RUN_ERROR, "unknown")),)
_HEAD = (has("working_dir"), lacks("role"))
_OF_OTHERS = ("type", "uuid", "message", "sessionId", "source")

GOOSE = RecordFormat(
    name="goose",
    title="Goose session",
    container=Container.JSON,
    signatures=(
        Signature(91, ("role", "created", "content[].type"), {}, _OF_OTHERS),
        Signature(94, ("message.created", "message.role", "message.content"), {"type": frozenset({"message"})}),
        Signature(91, ("working_dir",), {}, (*_OF_OTHERS, "role", "cwd")),
        Signature(91, ("parent_session_id", "conversation"), {}, (*_OF_OTHERS, "role", "cwd")),
    ),
    records=(
        RecordRule(
            (has("parent_session_id|metadata.parent_session_id"), lacks("role")),
            None,
            starts=True,
            narrows=Narrowing(Kind.SUBAGENT),
            goes_on=True,
        ),
        RecordRule(
            (is_("session_type|metadata.session_type", "sub_agent", "subagent", "hidden"), lacks("role")),
            None,
            starts=True,
            narrows=Narrowing(Kind.SUBAGENT),
            goes_on=True,
        ),
        RecordRule(_HEAD, None, starts=True, goes_on=True),
        RecordRule((*_HEAD, has("conversation|messages")), each="conversation[]|messages[]", rules=_MESSAGES),
        RecordRule((is_("type", "message"), has("message.created")), each="message", rules=_MESSAGES),
        RecordRule((is_("type", "notification"), lacks("role")), Kind.NOTICE, "system", "data|message"),
        RecordRule((is_("type", "complete"), lacks("role")), None),
        RecordRule((is_("type", "error"), lacks("role")), Kind.NOTICE, "system", "error", faults=_FAULTS),
        *_MESSAGES,
    ),
    usage=(GOOSE_TOKENS,),
)
