"""OpenCode: exported sessions, lists of messages, and the events of `opencode run --format json`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
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
    ),
    session="sessionID|info.sessionID",
    version="info.version",
)
