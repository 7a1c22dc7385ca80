"""GitHub Copilot: Copilot CLI sessions, and chats exported from VS Code."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Copies,
    Fault,
    Merge,
    Mode,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    When,
    flag,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.usage import COPILOT_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_ERRORS = {
    **dict.fromkeys(("rate_limit", "rate_limited", "quota", "429"), (W_RUN_ERROR, "rate-limit")),
    **dict.fromkeys(("authentication", "authorization", "401", "403"), (W_RUN_ERROR, "auth")),
    **dict.fromkeys(("context_limit", "context_window"), (W_RUN_ERROR, "context-length")),
    "query": (W_RUN_ERROR, "api"),
}
_UNKNOWN = (W_RUN_ERROR, "unknown")
_ABORTED = (W_RUN_ERROR, "aborted")

# Copilot CLI

_TIME: dict[str, Any] = {"time": "timestamp"}
_INJECTED = (
    RecordRule((), Kind.INJECTED, "user", "data.transformedContent", **_TIME),
    RecordRule((has("data.attachments[0]"),), Kind.INJECTED, "user", "data.attachments", **_TIME),
)
_CALL: dict[str, Any] = {"call_id": "toolCallId", "name": "name|toolName", "merge": Merge(Mode.PARTS, "toolCallId")}
"""The fields of the rules for a call, which occurs twice: in a message, and in the record of its start."""
_HIDDEN_PARTS = (
    RecordRule(
        (),
        Kind.THOUGHT,
        "assistant",
        "data.reasoningText",
        **_TIME,
        copy=Copies("reasoning", primary=True),
    ),
    RecordRule(
        (has("data.toolRequests"),),
        each="data.toolRequests[]",
        rules=(RecordRule((), Kind.CALL, "assistant", "arguments|input", **_CALL),),
        time="timestamp",
    ),
)
_USER, _ASSISTANT = is_("type", "user.message"), is_("type", "assistant.message")
_ANY_TEXT = "|".join(
    f"data.{name}" for name in ("message", "content", "text", "summaryContent", "summary", "prompt", "input", "output")
)

_EVENTS = (
    RecordRule((is_("type", "session.start"),), None, starts=True),
    RecordRule(
        (is_("type", "user.message", "assistant.message"), has("data.parentToolCallId|data.agentId|agentId")),
        Kind.SUBAGENT,
        "assistant",
        "data.content",
        **_TIME,
        thread="data.parentToolCallId|data.agentId|agentId",
        also=(*_INJECTED, *_HIDDEN_PARTS),
    ),
    *(
        RecordRule((_USER, source), Kind.SAID, "user", "data.content", **_TIME, also=_INJECTED)
        for source in (lacks("data.source"), is_("data.source", "", "user"))
    ),
    RecordRule((_USER,), Kind.INJECTED, "user", "data.content", **_TIME, also=_INJECTED),
    RecordRule((_ASSISTANT,), Kind.SAID, "assistant", "data.content", **_TIME, also=_HIDDEN_PARTS),
    RecordRule(
        (is_("type", "assistant.reasoning"),),
        Kind.THOUGHT,
        "assistant",
        "data.content",
        **_TIME,
        copy=Copies("reasoning"),
    ),
    RecordRule(
        (is_("type", "tool.execution_start"),),
        each="data",
        rules=(RecordRule((), Kind.CALL, "assistant", "arguments", **_CALL),),
        time="timestamp",
    ),
    RecordRule(
        (is_("type", "tool.execution_complete"),),
        Kind.REPLY,
        "tool",
        "data.result.content|data.result|data.error.message|data.error",
        call_id="data.toolCallId",
        name="data.toolName",
        **_TIME,
        outcome=Outcomes(
            ok=("data.success",),
            failed=("data.success=false",),
            refused=("data.error.code=rejected", "data.error.code=denied"),
        ),
    ),
    RecordRule(
        (is_("type", "session.error"),),
        Kind.NOTICE,
        "system",
        "data.message",
        **_TIME,
        faults=(Fault("data.errorType|data.statusCode|type", _ERRORS, _UNKNOWN),),
    ),
    RecordRule((is_("type", "abort"),), None, faults=(Fault("type", default=_ABORTED),)),
    RecordRule((is_("type", "system.message"),), Kind.INSTRUCTION, "system", "data.content", **_TIME),
    RecordRule((is_("type", "session.snapshot_rewind"),), None, rewind="data.upToEventId"),
    RecordRule(
        (When("type", starts=("session.", "hook.", "skill.", "subagent.", "system.")),),
        Kind.INJECTED,
        "system",
        _ANY_TEXT,
        **_TIME,
    ),
    RecordRule(
        (
            is_(
                "type",
                *("assistant.turn_start", "assistant.turn_end", "assistant.usage", "assistant.intent"),
                *("tool.execution_progress", "tool.execution_partial_result", "pending_messages.modified"),
            ),
        ),
        None,
    ),
)

# VS Code chats

_RESPONSE = (
    PartRule((lacks("kind"), has("value")), Kind.SAID, "value"),
    PartRule((is_("kind", "markdownContent"),), Kind.SAID, "content.value"),
    PartRule((is_("kind", "inlineReference"),), Kind.SAID, "inlineReference.name|name"),
    PartRule((is_("kind", "thinking"),), Kind.THOUGHT, "value"),
    PartRule(
        (is_("kind", "toolInvocationSerialized", "toolInvocation"),),
        Kind.CALL,
        "toolSpecificData|invocationMessage.value|invocationMessage",
        "toolCallId",
        "toolId",
        reply=PartRule(
            (has("resultDetails|isComplete"),),
            Kind.REPLY,
            "resultDetails|pastTenseMessage.value|pastTenseMessage",
            "toolCallId",
            "toolId",
        ),
    ),
    PartRule(
        (is_("kind", "progressMessage", "progressTaskSerialized", "progressTask", "warning", "confirmation"),),
        Kind.NOTICE,
        "content.value|content|message.value|message|title",
    ),
    PartRule((is_("kind", "textEditGroup", "notebookEditGroup"),), Kind.NOTICE, "edits"),
    PartRule((is_("kind", "undoStop", "mcpServersStarting", "prepareToolInvocation", "codeblockUri"),), None),
)
_REQUESTS = (
    RecordRule(
        (flag("isSystemInitiated"),),
        Kind.INJECTED,
        "user",
        "message.text|message",
        time="timestamp",
        goes_on=True,
    ),
    RecordRule(
        (When("isSystemInitiated", true=False),),
        Kind.SAID,
        "user",
        "message.text|message",
        time="timestamp",
        goes_on=True,
    ),
    RecordRule((has("response"),), Kind.SAID, "assistant", "response", _RESPONSE, time="timestamp", goes_on=True),
    RecordRule(
        (has("result.errorDetails"),),
        Kind.NOTICE,
        "system",
        "result.errorDetails.message",
        time="timestamp",
        goes_on=True,
        faults=(
            Fault("result.errorDetails.responseIsFiltered", default=(W_RUN_ERROR, "content-filter")),
            Fault("result.errorDetails.message", default=_UNKNOWN),
        ),
    ),
    RecordRule((has("isCanceled"),), None, faults=(Fault("isCanceled", default=_ABORTED),)),
)
_TYPES = frozenset({"user.message", "assistant.*", "session.*", "tool.execution_*", "abort", "hook.*", "system.*"})

COPILOT_CLI = RecordFormat(
    name="copilot-cli",
    title="Copilot CLI session",
    container=Container.JSON,
    signatures=(
        Signature(93, ("type", "data"), {"type": _TYPES}),
        Signature(92, ("requests[].message", "requests[].response")),
        Signature(92, ("responderUsername", "requests")),
    ),
    records=(
        RecordRule((has("requests"), lacks("type")), each="requests[]", rules=_REQUESTS, starts=True),
        *_EVENTS,
    ),
    usage=(COPILOT_TOKENS,),
    model="data.selectedModel",
    version="data.copilotVersion",
    threads=Threads("id", ""),
)
