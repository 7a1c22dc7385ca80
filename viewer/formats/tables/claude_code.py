"""Claude Code: session files, and the output of `--output-format stream-json`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    flag,
    has,
    is_,
)
from viewer.formats.tables.tags import claude_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_COMMON: dict[str, Any] = {
    "time": "timestamp",
    "body": "message.content",
    "parts": PARTS,
}
_API = (W_RUN_ERROR, "api")
_STATUS = {
    "429": (W_RUN_ERROR, "rate-limit"),
    "401": (W_RUN_ERROR, "auth"),
    "403": (W_RUN_ERROR, "auth"),
}
_USER, _ASSISTANT = is_("type", "user"), is_("type", "assistant")
_METADATA = (
    *("file-history-snapshot", "queue-operation", "custom-title", "ai-title", "pr-link", "agent-name", "tag"),
    *("last-prompt", "worktree-state", "permission-mode", "mode", "attribution-snapshot", "speculation-accept"),
    *("content-replacement", "agent-color", "agent-setting"),
)

_RECORDS = (
    RecordRule(
        (is_("type", "user", "assistant"), flag("isSidechain")),
        Kind.SUBAGENT,
        "@message.role",
        **_COMMON,
        thread="agentId|sessionId",
    ),
    RecordRule((_USER, flag("isCompactSummary")), Kind.REPLAYED, "user", **_COMMON),
    RecordRule((_USER, flag("isMeta")), Kind.INJECTED, "user", **_COMMON),
    RecordRule((_USER, flag("isVisibleInTranscriptOnly")), Kind.INJECTED, "user", **_COMMON),
    RecordRule((_USER, is_("message.role", "user")), Kind.SAID, "user", **_COMMON, split=True),
    RecordRule(
        (_ASSISTANT, flag("isApiErrorMessage")),
        Kind.NOTICE,
        "assistant",
        **_COMMON,
        faults=(Fault("message.content", default=_API),),
    ),
    RecordRule(
        (_ASSISTANT, is_("message.role", "assistant")),
        Kind.SAID,
        "assistant",
        **_COMMON,
        merge=Merge(Mode.PARTS, "message.id"),
    ),
    RecordRule(
        (is_("type", "attachment"), is_("attachment.type", "queued_command")),
        Kind.SAID,
        "user",
        **_COMMON | {"body": "attachment.prompt"},
        split=True,
    ),
    RecordRule((is_("type", "attachment"),), Kind.INJECTED, "user", "attachment", time="timestamp", aside=True),
    RecordRule(
        (is_("type", "system"), is_("subtype", "api_error")),
        Kind.NOTICE,
        "system",
        "content|error.message|error",
        faults=(Fault("error.status|content|error|type", _STATUS, _API),),
        time="timestamp",
        aside=True,
    ),
    RecordRule((is_("type", "system"),), Kind.NOTICE, "system", "content", time="timestamp", aside=True),
    RecordRule((is_("type", "summary"),), Kind.REPLAYED, "system", "summary"),
    RecordRule(
        (is_("type", "progress"), has("data.message.message.content")),
        Kind.SUBAGENT,
        "@data.message.message.role",
        "data.message.message.content",
        PARTS,
        thread="data.agentId|parentToolUseID|toolUseID",
        time="timestamp",
        aside=True,
    ),
    RecordRule((is_("type", "progress"),), None),
    RecordRule((is_("type", *_METADATA),), None),
)

CLAUDE_CODE = RecordFormat(
    name="claude-code",
    title="Claude Code session",
    container=Container.LINES,
    signatures=(
        Signature(96, ("sessionId", "uuid"), {"type": frozenset({"user", "assistant", "system", "attachment"})}),
        Signature(90, ("type", "leafUuid", "summary")),
        Signature(86, ("message.content",), {"type": frozenset({"user", "assistant"})}, ("session_id",)),
        Signature(90, ("loglines[].type",)),
    ),
    records=(
        RecordRule((has("loglines"),), each="loglines[]", rules=_RECORDS, goes_on=False),
        *_RECORDS,
    ),
    session="sessionId",
    version="version",
    threads=Threads("uuid", "parentUuid", calls=frozenset({"Task", "Agent"})),
    hooks=Hooks(split=claude_tags),
)
