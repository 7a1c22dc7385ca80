"""Crush: sessions as `crush session show --json` writes them, and as its database stores them."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
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
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text|data.text"),
    PartRule((is_("type", "reasoning"),), Kind.THOUGHT, "thinking|data.thinking"),
    PartRule(
        (is_("type", "tool_call"),),
        Kind.CALL,
        "input|data.input",
        "tool_call_id|data.id",
        "name|data.name",
    ),
    PartRule(
        (is_("type", "tool_result"),),
        Kind.REPLY,
        "content|data.content",
        "tool_call_id|data.tool_call_id",
        "name|data.name",
        outcome=Outcomes(failed=("is_error", "data.is_error")),
    ),
    PartRule((is_("type", "binary", "image_url"),), Kind.SAID, label=True),
    PartRule(
        (is_("type", "shell_command"),),
        Kind.INJECTED,
        "data.command",
        also=(PartRule((has("data.output"),), Kind.INJECTED, "data.output"),),
    ),
    PartRule(
        (is_("type", "finish"),),
        None,
        also=(PartRule((has("data.message"),), Kind.NOTICE, "data.message&data.details"),),
    ),
)
"""The rules for the parts of a message. In the database, the members of a part are inside `data`."""
_FINISH = (
    Fault(
        "parts[-1].reason|parts[-1].data.reason",
        {
            "end_turn": None,
            "tool_use": None,
            "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
            "canceled": (W_RUN_ERROR, "aborted"),
            "content_filter": (W_RUN_ERROR, "content-filter"),
            "error": (W_RUN_ERROR, "api"),
        },
    ),
)
_BODY: dict[str, Any] = {"body": "parts", "parts": _PARTS, "time": "created"}
_SUMMARY, _NO_SUMMARY = flag("is_summary"), no_flag("is_summary")
_MESSAGES = (
    RecordRule((_SUMMARY,), Kind.REPLAYED, "@role", **_BODY),
    RecordRule((_NO_SUMMARY, is_("role", "user")), Kind.SAID, "user", **_BODY),
    RecordRule((_NO_SUMMARY, is_("role", "assistant")), Kind.SAID, "assistant", **_BODY, faults=_FINISH),
    RecordRule((is_("role", "tool"),), Kind.REPLY, "tool", **_BODY),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", **_BODY),
)
_SESSION = (has("meta"), has("messages"))

CRUSH = RecordFormat(
    name="crush",
    title="Crush session",
    container=Container.JSON,
    signatures=(
        Signature(94, ("meta.id", "messages[].parts[].type", "messages[].created")),
        Signature(90, ("meta.uuid", "meta.prompt_tokens", "messages")),
    ),
    records=(
        RecordRule(
            (*_SESSION, has("meta.parent_session_id")),
            Kind.SUBAGENT,
            each="messages[]",
            rules=_MESSAGES,
            thread="meta.id",
            starts=True,
            session="meta.uuid|meta.id",
        ),
        RecordRule(
            (*_SESSION, lacks("meta.parent_session_id")),
            each="messages[]",
            rules=_MESSAGES,
            starts=True,
            session="meta.uuid|meta.id",
        ),
    ),
    model="messages[-1].model",
)
