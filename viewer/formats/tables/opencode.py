"""OpenCode: exported sessions, lists of messages, and the events of its server and of `opencode run`."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    Merge,
    Mode,
    Outcomes,
    PartRule,
    Recall,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.usage import opencode
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_ERRORS = {
    "MessageAbortedError": (W_RUN_ERROR, "aborted"),
    "ProviderAuthError": (W_RUN_ERROR, "auth"),
    "APIError": (W_RUN_ERROR, "api"),
    "ContextOverflowError": (W_RUN_ERROR, "context-length"),
    "MessageOutputLengthError": (W_RUN_INCOMPLETE, "max-tokens"),
}
_FINISH = {
    "length": (W_RUN_INCOMPLETE, "max-tokens"),
    "content-filter": (W_RUN_ERROR, "content-filter"),
}
_ANSWERED = "state.output|state.error"
_OUTCOME = Outcomes(ok=("state.status=completed",), failed=("state.status=error",))
_TEXT, _TOOL = is_("type", "text"), is_("type", "tool")

_PARTS = (
    PartRule((_TEXT, flag("synthetic")), Kind.INJECTED, "text"),
    PartRule((_TEXT, flag("ignored")), Kind.INJECTED, "text"),
    PartRule((_TEXT,), Kind.SAID, "text"),
    PartRule((is_("type", "reasoning"),), Kind.THOUGHT, "text"),
    PartRule(
        (_TOOL,),
        Kind.CALL,
        "state.input",
        "callID",
        "tool",
        also=(
            PartRule((has(_ANSWERED),), Kind.REPLY, _ANSWERED, "callID", "tool", outcome=_OUTCOME),
            PartRule(
                (lacks(_ANSWERED), is_("state.status", "completed", "error")),
                Kind.REPLY,
                "",
                "callID",
                "tool",
                outcome=_OUTCOME,
            ),
        ),
    ),
    PartRule(
        (is_("type", "file"),),
        Kind.SAID,
        label=True,
        also=(PartRule((has("source"),), Kind.INJECTED, "source.text.value|source.text"),),
    ),
    PartRule((is_("type", "subtask"),), Kind.CALL, "prompt", "", "agent", default_name="subtask", text=True),
    PartRule((is_("type", "agent"),), Kind.CALL, "source.value", "", "name", default_name="agent", text=True),
    PartRule((is_("type", "retry"),), Kind.NOTICE, "error.data.message|error.message|error"),
    PartRule((is_("type", "compaction", "snapshot", "patch", "step-start", "step-finish"),), None),
)
_COMMON: dict[str, Any] = {"time": "info.time.created", "body": "parts", "parts": _PARTS}
_FAILED: dict[str, Any] = {
    "faults": (
        Fault("info.error.name|info.error", _ERRORS, (W_RUN_ERROR, "unknown")),
        Fault("info.finish", _FINISH),
    ),
    "also": (RecordRule((), Kind.NOTICE, "system", "info.error.data.message|info.error"),),
}
_USER, _ASSISTANT = is_("info.role", "user"), is_("info.role", "assistant")

_MESSAGES = (
    RecordRule((_USER, When("info.summary", kind=JsonKind.TRUE)), Kind.REPLAYED, "user", **_COMMON),
    RecordRule((_USER,), Kind.SAID, "user", **_COMMON),
    RecordRule((_ASSISTANT, flag("info.summary")), Kind.REPLAYED, "assistant", **_COMMON, **_FAILED),
    RecordRule((_ASSISTANT,), Kind.SAID, "assistant", **_COMMON, **_FAILED),
    RecordRule((has("info"), has("parts")), Kind.UNKNOWN, "@info.role", **_COMMON),
)
_SESSION = (has("info"), has("messages"))
# Server events. A part names its message, whose role is in an earlier event.

_PART = is_("type", "message.part.updated")
_ROLE, _AGENT, _SUMMARY, _PARENT = "@role", "@agent", "@summary", "@parent"
_AT_ROLE = f"@{_ROLE}"
_ROOT = "-"
_SEEN = (
    (is_(_PARENT, _ROOT),),
    (lacks(_PARENT), is_(_AGENT, "build", "plan")),
)
"""The conditions for a session that the user sees: the session has no parent or, if no event announced it, has an agent
that talks to the user."""
_SERVER_PART: dict[str, Any] = {
    "body": "properties.part",
    "parts": _PARTS,
    "merge": Merge(Mode.REPLACE, "properties.part.id"),
    "time": "properties.part.time.start",
}
_SERVER = (
    RecordRule(
        (_PART, has(_PARENT), is_not(_PARENT, _ROOT)),
        Kind.SUBAGENT,
        _AT_ROLE,
        **_SERVER_PART,
        thread="properties.part.sessionID",
    ),
    *(
        RecordRule((_PART, is_(_ROLE, role), is_(_SUMMARY, "", "false"), *seen), Kind.SAID, role, **_SERVER_PART)
        for role in ("user", "assistant")
        for seen in _SEEN
    ),
    RecordRule((_PART, is_(_SUMMARY, "true")), Kind.REPLAYED, _AT_ROLE, **_SERVER_PART),
    RecordRule((_PART,), Kind.UNKNOWN, _AT_ROLE, **_SERVER_PART),
    RecordRule(
        (is_("type", "message.part.delta"),),
        Kind.REPLAYED,
        "assistant",
        "properties.delta",
        merge=Merge(Mode.APPEND, "properties.partID"),
    ),
    RecordRule(
        (is_("type", "session.error"),),
        Kind.NOTICE,
        "system",
        "properties.error.data.message|properties.error",
        faults=(Fault("properties.error.name|properties.error", _ERRORS, (W_RUN_ERROR, "unknown")),),
    ),
    RecordRule((is_("type", "message.updated"),), None, faults=(Fault("properties.info.finish", _FINISH),)),
    RecordRule(
        (When("type", starts=("server.", "session.", "file.", "lsp.", "message.removed", "message.part.removed")),),
        None,
    ),
    RecordRule(
        (When("type", starts=("todo.", "permission.", "question.")), has("properties")),
        Kind.NOTICE,
        "system",
        "properties",
    ),
)
_SERVER_TYPES = frozenset({"message.updated", "message.part.*", "session.*"})
_PLACES = "properties.info.id|properties.part.messageID|properties.sessionID"
_RECALLS = (
    Recall(_ROLE, "properties.part.messageID", "properties.info.id", "properties.info.role"),
    Recall(_SUMMARY, "properties.part.messageID", "properties.info.id", "properties.info.summary"),
    Recall(_AGENT, "properties.part.messageID", "properties.info.id", "properties.info.agent|properties.info.mode"),
    Recall(
        _PARENT,
        "properties.part.sessionID",
        "properties.info.id",
        "properties.info.parentID",
        _ROOT,
        (is_("type", "session.created", "session.updated"),),
    ),
)
_EVENTS = frozenset({"text", "tool_use", "reasoning", "step_start", "step_finish"})

OPENCODE = RecordFormat(
    name="opencode",
    title="OpenCode session",
    container=Container.JSON,
    signatures=(
        Signature(94, ("info.id", "messages[].info.role", "messages[].parts")),
        Signature(94, ("info.role", "info.sessionID", "parts")),
        Signature(94, ("sessionID", "part.messageID"), {"type": _EVENTS}),
        Signature(88, ("info.id", "info.directory", "messages")),
        Signature(94, (_PLACES,), {"type": _SERVER_TYPES}, ("data", "payload")),
    ),
    records=(
        RecordRule(
            (*_SESSION, has("info.parentID")),
            Kind.SUBAGENT,
            each="messages[]",
            rules=_MESSAGES,
            thread="info.id",
            starts=True,
        ),
        RecordRule((*_SESSION, lacks("info.parentID")), each="messages[]", rules=_MESSAGES, starts=True),
        *_MESSAGES,
        *(replace(rule, when=(has("properties"), *rule.when)) for rule in _SERVER),
        RecordRule(
            (has("sessionID"), is_("type", *_EVENTS)),
            Kind.SAID,
            "assistant",
            "part",
            _PARTS,
            time="timestamp",
        ),
        RecordRule(
            (has("sessionID"), is_("type", "error")),
            Kind.NOTICE,
            "system",
            "error.data.message|error",
            faults=(Fault("error.name|error", _ERRORS, (W_RUN_ERROR, "unknown")),),
            time="timestamp",
        ),
    ),
    usage=(
        opencode("info.tokens", each="messages[]", key="info.id"),
        opencode("parts[].tokens", each="messages[]", when=(lacks("info.tokens"),), counts=Counting.EACH),
        opencode("tokens", key="id"),
        opencode("properties.info.tokens", key="properties.info.id"),
    ),
    session="sessionID|info.sessionID",
    recalls=_RECALLS,
    version="info.version",
)
