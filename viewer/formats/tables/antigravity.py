"""Antigravity: transcripts of agent conversations, one step per line."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.tags import antigravity_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_TIME: dict[str, Any] = {"time": "created_at"}
_STEP: dict[str, Any] = {
    "role": "tool",
    "body": "content",
    "name": "type",
    "time": "created_at",
    "outcome": Outcomes(failed=("status=ERROR",), cancelled=("status=CANCELED",)),
}
"""The fields of the rules for tool results. The type of a step names the tool."""
_ERROR = (Fault("type", default=(W_RUN_ERROR, "unknown")),)
_USER = is_("source", "USER_EXPLICIT")
_MODEL, _ANSWER = is_("source", "MODEL"), is_("type", "PLANNER_RESPONSE")
_CALL = (RecordRule((), Kind.CALL, "assistant", "arguments|args|input", call_id="id", name="name|toolName"),)

ANTIGRAVITY = RecordFormat(
    name="antigravity",
    title="Antigravity transcript",
    container=Container.LINES,
    signatures=(Signature(93, ("step_index", "source", "type", "status")),),
    records=(
        RecordRule((_USER, is_("type", "USER_INPUT")), Kind.SAID, "user", "content", split=True, **_TIME),
        RecordRule((_MODEL, has("thinking")), Kind.THOUGHT, "assistant", "thinking", goes_on=True, **_TIME),
        RecordRule((_MODEL, _ANSWER, has("content")), Kind.SAID, "assistant", "content", goes_on=True, **_TIME),
        RecordRule((_MODEL, is_("type", "ERROR_MESSAGE")), Kind.NOTICE, "system", "content", faults=_ERROR, **_TIME),
        RecordRule((_MODEL, _ANSWER, has("tool_calls")), each="tool_calls[]", rules=_CALL, whole=True),
        RecordRule((_MODEL, _ANSWER), None),
        RecordRule((_MODEL, has("tool_calls[1]")), each="tool_calls[1:]", rules=_CALL, whole=True),
        RecordRule(
            (_MODEL, has("content"), has("tool_calls[0].id")),
            Kind.CALL,
            "assistant",
            "tool_calls[0].arguments|tool_calls[0].args",
            call_id="tool_calls[0].id",
            name="tool_calls[0].name|tool_calls[0].toolName",
            also=(RecordRule((), Kind.REPLY, call_id="tool_calls[0].id", **_STEP),),
            **_TIME,
        ),
        RecordRule(
            (_MODEL, has("content")),
            Kind.CALL,
            "assistant",
            "type",
            call_id="step_index",
            name="type",
            text=True,
            also=(RecordRule((), Kind.REPLY, call_id="step_index", **_STEP),),
            **_TIME,
        ),
        RecordRule((lacks("content"),), None),
        RecordRule((is_("source", "SYSTEM"),), Kind.INJECTED, "user", "content", **_TIME),
        RecordRule((), Kind.UNKNOWN, "", "content", **_TIME),
    ),
    hooks=Hooks(split=antigravity_tags),
)
