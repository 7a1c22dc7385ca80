"""Claude Code: the output of `claude -p --output-format stream-json`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import PARTS
from viewer.formats.tables.anthropic_stream import stream_rules
from viewer.formats.tables.claude_code import API, RECORDS
from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    Hooks,
    Merge,
    Mode,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    lacks,
    no_flag,
    starts,
)
from viewer.formats.tables.tags import claude_tags
from viewer.formats.tables.usage import anthropic
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_USER, _ASSISTANT, _SPOKEN = is_("type", "user"), is_("type", "assistant"), is_("type", "user", "assistant")
_RESULT, _EVENT, _SYSTEM = is_("type", "result"), is_("type", "stream_event"), is_("type", "system")
_STARTER = "parent_tool_use_id|parentToolUseId|parentToolUseID"
"""The path of the ID of the call that started the agent of a record; null for the main agent."""
_ERROR_CODES = {
    "rate_limit": (W_RUN_ERROR, "rate-limit"),
    "authentication_failed": (W_RUN_ERROR, "auth"),
    "billing_error": (W_RUN_ERROR, "auth"),
}
_UNFLAGGED = tuple(map(no_flag, ("isMeta", "isCompactSummary", "isSidechain", "isVisibleInTranscriptOnly")))
_UNKNOWN = (W_RUN_ERROR, "unknown")
_BODY: dict[str, Any] = {"body": "message.content", "parts": PARTS, "time": "timestamp"}
_METADATA = ("keep_alive", "tool_progress", "rate_limit_event")
_NOTICES = ("control_request", "control_response", "control_cancel_request", "auth_status", "tool_use_summary")

_RECORDS = (
    RecordRule((_SYSTEM, is_("subtype", "init")), None, starts=True),
    *stream_rules("event.", _EVENT, has(_STARTER), kind=Kind.SUBAGENT, scope=_STARTER),
    *stream_rules("event.", _EVENT, lacks(_STARTER), scope=_STARTER),
    RecordRule((_SPOKEN, has(_STARTER)), Kind.SUBAGENT, "@message.role", **_BODY, thread=_STARTER),
    RecordRule(
        (_ASSISTANT, has("error")), Kind.NOTICE, "assistant", **_BODY, faults=(Fault("error", _ERROR_CODES, API),)
    ),
    RecordRule((_USER, flag("isSynthetic")), Kind.INJECTED, "user", **_BODY),
    RecordRule(
        (_USER, *_UNFLAGGED, flag("isReplay"), is_("message.role", "user")),
        Kind.SAID,
        "user",
        **_BODY,
        merge=Merge(Mode.REPEAT),
        split=True,
    ),
    RecordRule(
        (_RESULT, flag("is_error")), Kind.NOTICE, "system", "result|errors", faults=(Fault("is_error", default=API),)
    ),
    RecordRule(
        (_RESULT, starts("subtype", "error")),
        Kind.NOTICE,
        "system",
        "result|errors",
        faults=(Fault("subtype", default=_UNKNOWN),),
    ),
    RecordRule((_RESULT, is_("subtype", "success")), Kind.SAID, "assistant", "result", merge=Merge(Mode.FINAL)),
    RecordRule((is_("type", *_METADATA),), None),
    RecordRule((is_("type", *_NOTICES),), Kind.NOTICE, "system"),
)

CLAUDE_STREAM = RecordFormat(
    name="claude-stream",
    title="Claude Code output",
    container=Container.LINES,
    signatures=(
        Signature(95, ("session_id",), {"type": frozenset({"assistant", "user", "result", "stream_event"})}),
        Signature(95, ("subtype",), {"type": frozenset({"system"}), "subtype": frozenset({"init"})}),
        Signature(95, ("session_id",), {"type": frozenset({"system", *_METADATA, *_NOTICES})}),
    ),
    records=(*_RECORDS, *RECORDS),
    usage=(
        anthropic("message.usage", key="message.id", when=(_ASSISTANT,)),
        anthropic("usage", when=(_RESULT,), counts=Counting.TOTAL),
    ),
    session="session_id",
    version="claude_code_version",
    model="model",
    hooks=Hooks(split=claude_tags),
)
