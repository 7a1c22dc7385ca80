"""AG-UI: the events between an agent and its user interface, and the requests that start runs."""

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
    Step,
    Stream,
    Tokens,
    When,
    has,
    is_,
    lacks,
)
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_FAILED = Outcomes(failed=("error",))
_STRING = When("content", kind=JsonKind.STRING)

# Messages, which a request or a snapshot repeats by ID.

_SENT = (
    PartRule((When("", kind=JsonKind.STRING),), Kind.SAID),
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "binary", "image", "audio", "video", "document"),), Kind.SAID, label=True),
)
_BY_ID: dict[str, Any] = {"merge": Merge(Mode.PARTS, "id")}
_CALL = (
    RecordRule(
        (When("", kind=JsonKind.OBJECT),),
        Kind.CALL,
        "assistant",
        "function.arguments",
        call_id="id",
        name="function.name",
        **_BY_ID,
    ),
)
_USER, _ASSISTANT = is_("role", "user"), is_("role", "assistant")
_MESSAGES = (
    RecordRule((_USER, When("content", kind=JsonKind.OBJECT)), Kind.UNKNOWN, "user", "content", **_BY_ID),
    RecordRule((_USER,), Kind.SAID, "user", "content", _SENT, **_BY_ID),
    RecordRule((_ASSISTANT, _STRING), Kind.SAID, "assistant", "content", goes_on=True, **_BY_ID),
    RecordRule((_ASSISTANT, has("toolCalls")), each="toolCalls[]", rules=_CALL),
    RecordRule((_ASSISTANT, _STRING), None),
    RecordRule((_ASSISTANT,), Kind.UNKNOWN, "assistant", "content", **_BY_ID),
    RecordRule((is_("role", "system", "developer"),), Kind.INSTRUCTION, "@role", "content", **_BY_ID),
    RecordRule((is_("role", "reasoning"),), Kind.THOUGHT, "assistant", "content", **_BY_ID),
    RecordRule((is_("role", "tool"),), Kind.REPLY, "tool", "content", call_id="toolCallId", outcome=_FAILED, **_BY_ID),
    RecordRule((is_("role", "activity"),), Kind.UNKNOWN, "assistant", "content", **_BY_ID),
)


def _request(at: str = "") -> tuple[RecordRule, ...]:
    """Return the rules for a request, at a path that ends with a dot."""
    return (
        RecordRule((has(f"{at}tools[0]"),), Kind.INSTRUCTION, "system", f"{at}tools", goes_on=True),
        RecordRule((has(f"{at}context[0]"),), Kind.INJECTED, "user", f"{at}context", goes_on=True),
        RecordRule((has(f"{at}messages"),), each=f"{at}messages[]", rules=_MESSAGES),
    )


# Events. Each message and each call is a separate stream.


def _event(*types: str) -> tuple[When, ...]:
    return (is_("type", *types),)


def _of(step: Step, id: str) -> dict[str, Any]:
    return {"stream": Stream(step, "", id, id, by_chunks=step is Step.ADD), "time": "timestamp"}


_FOLLOWS: dict[str, Any] = {"stream": Stream(Step.ADD, by_chunks=True), "time": "timestamp"}
"""The fields of the rules for a chunk without an ID, which continues the message or call of the chunk right before
it."""
_HAS_ID = When("messageId", kind=JsonKind.STRING)
_HAS_CALL_ID = When("toolCallId", kind=JsonKind.STRING)


_SPEAKERS = (
    (is_("role", "user"), Kind.SAID, "user"),
    (is_("role", "assistant"), Kind.SAID, "assistant"),
    (is_("role", "system", "developer"), Kind.INSTRUCTION, "system"),
    (lacks("role"), Kind.SAID, "assistant"),
)


def _begun(kind: Kind) -> tuple[PartRule, ...]:
    """Return the rule for the event that begins a message, which has no text yet."""
    return (PartRule((), kind, each="delta"),)


def _delta(kind: Kind) -> tuple[PartRule, ...]:
    return (PartRule((), kind, "delta"),)


_ARGUMENTS = (PartRule((), Kind.CALL, "delta", "toolCallId", "toolCallName", text=True),)


_CHUNKS = tuple(
    ((*when, has_delta), kind, role, parts)
    for when, kind, role in (
        *(((when,), kind, role) for when, kind, role in _SPEAKERS),
        ((), Kind.UNKNOWN, "assistant"),
    )
    for has_delta, parts in ((has("delta"), _delta(kind)), (lacks("delta"), _begun(kind)))
)
_TEXTS = (
    *(
        RecordRule(
            (*_event("TEXT_MESSAGE_START"), _HAS_ID, when),
            kind,
            role,
            "",
            _begun(kind),
            **_of(Step.OPEN, "messageId"),
        )
        for when, kind, role in _SPEAKERS
    ),
    RecordRule(
        (*_event("TEXT_MESSAGE_START"), _HAS_ID),
        Kind.UNKNOWN,
        "assistant",
        "",
        _begun(Kind.UNKNOWN),
        **_of(Step.ADD, "messageId"),
    ),
    RecordRule(_event("TEXT_MESSAGE_START"), None),
    RecordRule(
        (*_event("TEXT_MESSAGE_CONTENT"), _HAS_ID),
        Kind.SAID,
        "assistant",
        "",
        _delta(Kind.SAID),
        **_of(Step.GROW, "messageId"),
    ),
    RecordRule((*_event("TEXT_MESSAGE_END"), _HAS_ID), **_of(Step.END, "messageId")),
    *(
        RecordRule((*_event("TEXT_MESSAGE_CHUNK"), _HAS_ID, *when), kind, role, "", parts, **_of(Step.ADD, "messageId"))
        for when, kind, role, parts in _CHUNKS
    ),
    RecordRule(
        (*_event("TEXT_MESSAGE_CHUNK"), lacks("messageId"), lacks("role"), has("delta")),
        Kind.SAID,
        "assistant",
        "",
        _delta(Kind.SAID),
        **_FOLLOWS,
    ),
    RecordRule((*_event("TEXT_MESSAGE_CHUNK"), lacks("delta")), None),
    RecordRule(
        _event("TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CONTENT"), Kind.UNKNOWN, "assistant", "delta", time="timestamp"
    ),
    RecordRule(_event("TEXT_MESSAGE_END"), None),
)
_THOUGHTS = (
    *(
        RecordRule(
            _event(*(f"{name}_{step}" for step in ("START", "CONTENT", "END"))),
            Kind.THOUGHT,
            "assistant",
            "delta",
            merge=Merge(Mode.APPEND, id, done=is_("type", f"{name}_END")),
            time="timestamp",
        )
        for name, id in (("REASONING_MESSAGE", "messageId"), ("THINKING_TEXT_MESSAGE", ""))
    ),
    RecordRule(
        _event("REASONING_MESSAGE_CHUNK"),
        Kind.THOUGHT,
        "assistant",
        "delta",
        merge=Merge(Mode.APPEND, "messageId"),
        time="timestamp",
    ),
)
_CALLS = (
    RecordRule(
        (*_event("TOOL_CALL_START"), _HAS_CALL_ID),
        Kind.CALL,
        "assistant",
        "",
        (PartRule((), Kind.CALL, "", "toolCallId", "toolCallName"),),
        **_of(Step.OPEN, "toolCallId"),
    ),
    RecordRule(
        (*_event("TOOL_CALL_ARGS"), _HAS_CALL_ID),
        Kind.CALL,
        "assistant",
        "",
        _ARGUMENTS,
        **_of(Step.GROW, "toolCallId"),
    ),
    RecordRule((*_event("TOOL_CALL_END"), _HAS_CALL_ID), **_of(Step.END, "toolCallId")),
    RecordRule(
        (*_event("TOOL_CALL_CHUNK"), _HAS_CALL_ID),
        Kind.CALL,
        "assistant",
        "",
        _ARGUMENTS,
        **_of(Step.ADD, "toolCallId"),
    ),
    RecordRule(
        (*_event("TOOL_CALL_CHUNK"), lacks("toolCallId"), has("delta")),
        Kind.CALL,
        "assistant",
        "",
        _ARGUMENTS,
        **_FOLLOWS,
    ),
    RecordRule(
        _event("TOOL_CALL_RESULT"),
        also=(
            RecordRule(
                (),
                Kind.REPLY,
                "tool",
                "content",
                call_id="toolCallId",
                outcome=_FAILED,
                merge=Merge(Mode.PARTS, "messageId"),
                time="timestamp",
            ),
        ),
        stream=Stream(Step.END, "", "toolCallId"),
    ),
)
_OTHERS = (
    RecordRule(
        _event("REASONING_ENCRYPTED_VALUE"), Kind.THOUGHT, "assistant", "encryptedValue", opaque=True, time="timestamp"
    ),
    RecordRule(_event("MESSAGES_SNAPSHOT"), each="messages[]", rules=_MESSAGES),
    RecordRule(
        _event("STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM"),
        Kind.UNKNOWN,
        "assistant",
        "snapshot|delta|content|patch|event|value",
        time="timestamp",
    ),
    RecordRule(
        _event("RUN_FINISHED"),
        None,
        faults=(Fault("outcome.type", {"success": None}, (W_RUN_INCOMPLETE, "pause")),),
        also=(
            RecordRule((has("result"),), Kind.UNKNOWN, "assistant", "result", time="timestamp"),
            RecordRule((has("outcome.interrupts"),), Kind.UNKNOWN, "assistant", "outcome.interrupts"),
        ),
    ),
    RecordRule(
        _event("RUN_ERROR"),
        Kind.NOTICE,
        "system",
        "message",
        faults=(Fault("type", default=(W_RUN_ERROR, "unknown")),),
        time="timestamp",
    ),
    RecordRule((*_event("RUN_STARTED"), has("input")), None, also=_request("input.")),
    RecordRule(
        _event(
            *("RUN_STARTED", "STEP_STARTED", "STEP_FINISHED", "THINKING_START", "THINKING_END"),
            *("REASONING_START", "REASONING_END"),
        ),
        None,
    ),
)
_NAMES = (
    *(f"TEXT_MESSAGE_{step}" for step in ("START", "CONTENT", "END", "CHUNK")),
    *(f"REASONING_MESSAGE_{step}" for step in ("START", "CONTENT", "END", "CHUNK")),
    *(f"THINKING_TEXT_MESSAGE_{step}" for step in ("START", "CONTENT", "END")),
    *(f"TOOL_CALL_{step}" for step in ("START", "ARGS", "END", "CHUNK", "RESULT")),
    *("STATE_SNAPSHOT", "STATE_DELTA", "MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"),
    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED"),
    *("REASONING_START", "REASONING_END", "REASONING_ENCRYPTED_VALUE", "THINKING_START", "THINKING_END"),
    *("RAW", "CUSTOM"),
)

AG_UI = RecordFormat(
    name="ag-ui",
    title="AG-UI events",
    container=Container.SSE,
    signatures=(
        Signature(97, (), {"type": frozenset(_NAMES)}, ("payload", "uuid")),
        Signature(94, ("threadId", "runId", "messages"), {}, ("type",)),
    ),
    records=(
        *_TEXTS,
        *_THOUGHTS,
        *_CALLS,
        *_OTHERS,
        RecordRule((has("threadId"), has("messages"), lacks("type")), None, also=_request()),
    ),
    usage=(
        Tokens(
            "",
            input=("inputTokens",),
            output=("outputTokens",),
            cached=("cachedInputTokens",),
            reasoning=("reasoningTokens",),
            total=("totalTokens",),
            when=(),
            each="usage[]",
        ),
    ),
    session="threadId",
)
