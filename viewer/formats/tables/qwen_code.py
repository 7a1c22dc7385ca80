"""Qwen Code: session files with records like those of Claude Code and parts like those of the Gemini API."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.gemini_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    flag,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.tags import gemini_tags
from viewer.formats.tables.usage import gemini
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_COMMON: dict[str, Any] = {"time": "timestamp", "body": "message.parts", "parts": PARTS}
_PAYLOAD = "message.parts|systemPayload|content"
_USER = is_("type", "user")
_OUTCOME = Outcomes(
    ok=("toolCallResult.status=success",),
    failed=("toolCallResult.status=error", "toolCallResult.error"),
    cancelled=("toolCallResult.status=cancelled",),
)
_TYPES = frozenset({"user", "assistant", "tool_result"})

QWEN_CODE = RecordFormat(
    name="qwen-code",
    title="Qwen Code session",
    container=Container.LINES,
    signatures=(
        Signature(97, ("uuid", "message.parts"), {"type": _TYPES}),
        Signature(97, ("uuid", "sessionId", "systemPayload"), {"type": frozenset({"system"})}),
    ),
    records=(
        RecordRule(
            (is_("type", "user", "assistant"), flag("isSidechain")),
            Kind.SUBAGENT,
            "@message.role",
            **_COMMON,
            thread="agentId|sessionId",
        ),
        RecordRule(
            (is_("type", "user", "assistant"), has("agentId")),
            Kind.SUBAGENT,
            "@message.role",
            **_COMMON,
            thread="agentId",
        ),
        RecordRule((_USER, is_("message.role", "user"), lacks("subtype")), Kind.SAID, "user", **_COMMON, split=True),
        RecordRule(
            (_USER, is_("message.role", "user"), is_("subtype", "mid_turn_user_message")),
            Kind.SAID,
            "user",
            **_COMMON,
            split=True,
        ),
        RecordRule((_USER, has("message.parts")), Kind.INJECTED, "user", **_COMMON),
        RecordRule((is_("type", "assistant"), is_("message.role", "model")), Kind.SAID, "assistant", **_COMMON),
        RecordRule((is_("type", "tool_result"),), Kind.INJECTED, "user", **_COMMON, outcome=_OUTCOME),
        RecordRule(
            (is_("type", "system"), is_("subtype", "chat_compression")),
            Kind.REPLAYED,
            "system",
            _PAYLOAD,
            time="timestamp",
            aside=True,
        ),
        RecordRule(
            (is_("type", "system"),),
            Kind.NOTICE,
            "system",
            _PAYLOAD,
            time="timestamp",
            aside=True,
            faults=(Fault("systemPayload.error", default=(W_RUN_ERROR, "unknown")),),
        ),
    ),
    usage=(gemini("usageMetadata", key="uuid"),),
    session="sessionId",
    model="model",
    version="version",
    threads=Threads("uuid", "parentUuid"),
    hooks=Hooks(split=gemini_tags),
)
