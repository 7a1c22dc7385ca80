"""OpenHands: conversation events, one per line or in a list, and the actions and observations of version 0."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import MEDIA, TEXT, THOUGHTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.usage import OPENHANDS_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_PARTS = (TEXT, *MEDIA)
_REPLY_MERGE = Merge(Mode.PARTS, "llm_response_id")
"""Merges the events of one reply. The events of parallel calls all repeat the thought of the reply."""
_ERRORS = {
    **dict.fromkeys(("LLMRateLimitError", "RateLimitError"), (W_RUN_ERROR, "rate-limit")),
    **dict.fromkeys(("LLMAuthenticationError", "AuthenticationError"), (W_RUN_ERROR, "auth")),
    **dict.fromkeys(("LLMContextWindowExceedError", "LLMContextWindowTooSmallError"), (W_RUN_ERROR, "context-length")),
    "LLMContentPolicyViolationError": (W_RUN_ERROR, "content-filter"),
    "MaxIterationsReached": (W_RUN_INCOMPLETE, "stopped"),
}
_UNKNOWN = (W_RUN_ERROR, "unknown")

# Version 1: each event has a `kind`.


def _kind(*words: str) -> When:
    return is_("kind", *words)


def _event(*when: When, kind: Kind | None, role: str, body: str, **more: Any) -> RecordRule:
    return RecordRule(when, kind, role, body, time="timestamp", **more)


def _thought(body: str, *parts: Any) -> RecordRule:
    return RecordRule((), Kind.THOUGHT, "assistant", body, parts, merge=_REPLY_MERGE, time="timestamp")


_EXTENDED = (RecordRule((), Kind.INJECTED, "user", "extended_content", _PARTS, time="timestamp"),)
_MESSAGE_THOUGHTS = (
    _thought("llm_message.reasoning_content"),
    _thought("llm_message.thinking_blocks", *THOUGHTS),
)
_CONTENT: dict[str, Any] = {"body": "llm_message.content", "parts": _PARTS}
_MESSAGE = _kind("MessageEvent")
_OTHER_SENDER = (has("sender"), is_not("sender", ""))
_ARGUMENTS = "tool_call.arguments|tool_call.function.arguments|action"
_CALL = RecordRule(
    (),
    Kind.CALL,
    "assistant",
    _ARGUMENTS,
    call_id="tool_call_id|tool_call.id",
    name="tool_name|tool_call.name|tool_call.function.name",
    time="timestamp",
)
_ACTION_THOUGHTS = (
    _thought("reasoning_content"),
    _thought("thinking_blocks", *THOUGHTS),
    _thought("responses_reasoning_item.summary[]&responses_reasoning_item.content[]"),
    _thought("summary"),
)
_REPLY: dict[str, Any] = {"role": "tool", "call_id": "tool_call_id", "name": "tool_name"}

_EVENTS = (
    _event(_MESSAGE, *_OTHER_SENDER, kind=Kind.SUBAGENT, role="@llm_message.role", **_CONTENT, thread="sender"),
    _event(
        _MESSAGE,
        is_("source", "user"),
        is_("llm_message.role", "user"),
        kind=Kind.SAID,
        role="user",
        **_CONTENT,
        also=_EXTENDED,
    ),
    _event(
        _MESSAGE,
        is_("source", "agent"),
        is_("llm_message.role", "assistant"),
        kind=Kind.SAID,
        role="assistant",
        **_CONTENT,
        also=(*_MESSAGE_THOUGHTS, *_EXTENDED),
    ),
    _event(_MESSAGE, is_("source", "environment"), kind=Kind.INJECTED, role="user", **_CONTENT, also=_EXTENDED),
    _event(
        _kind("SystemPromptEvent"),
        kind=Kind.INSTRUCTION,
        role="system",
        body="system_prompt.text&dynamic_context.text",
        also=(RecordRule((has("tools"),), Kind.INSTRUCTION, "system", "tools"),),
    ),
    RecordRule(
        (_kind("ActionEvent"), is_("tool_name", "finish")),
        Kind.THOUGHT,
        "assistant",
        "thought",
        _PARTS,
        merge=_REPLY_MERGE,
        time="timestamp",
        also=(
            *_ACTION_THOUGHTS,
            _CALL,
            RecordRule((), Kind.SAID, "assistant", "action.message", time="timestamp"),
        ),
    ),
    RecordRule(
        (_kind("ActionEvent"),),
        Kind.THOUGHT,
        "assistant",
        "thought",
        _PARTS,
        merge=_REPLY_MERGE,
        time="timestamp",
        also=(*_ACTION_THOUGHTS, _CALL),
    ),
    _event(
        _kind("ObservationEvent"),
        kind=Kind.REPLY,
        body="observation.content|observation.output|observation",
        **_REPLY,
        outcome=Outcomes(failed=("observation.is_error", "observation.error"), timeout=("observation.timeout",)),
        also=_EXTENDED,
    ),
    _event(_kind("AgentErrorEvent"), kind=Kind.REPLY, body="error", **_REPLY, outcome=Outcomes(failed=("kind",))),
    _event(
        _kind("UserRejectObservation"),
        kind=Kind.REPLY,
        body="rejection_reason",
        **_REPLY,
        outcome=Outcomes(refused=("kind",)),
    ),
    _event(
        _kind("ACPToolCallEvent"),
        kind=Kind.CALL,
        role="assistant",
        body="raw_input",
        call_id="tool_call_id",
        name="tool_kind",
        merge=Merge(Mode.PARTS, "tool_call_id"),
        also=(
            _event(
                is_("status", "completed", "failed"),
                kind=Kind.REPLY,
                role="tool",
                body="raw_output|content",
                call_id="tool_call_id",
                merge=Merge(Mode.PARTS, "tool_call_id"),
                outcome=Outcomes(failed=("status=failed", "is_error")),
            ),
        ),
    ),
    _event(
        _kind("ConversationErrorEvent"),
        kind=Kind.NOTICE,
        role="system",
        body="detail",
        faults=(Fault("code|kind", _ERRORS, _UNKNOWN),),
    ),
    _event(When("kind", starts=("Condensation",)), kind=Kind.REPLAYED, role="system", body="summary"),
    RecordRule((_kind("PauseEvent"),), None, faults=(Fault("kind", default=(W_RUN_INCOMPLETE, "pause")),)),
    RecordRule((_kind("InterruptEvent"),), None, faults=(Fault("kind", default=(W_RUN_ERROR, "aborted")),)),
    RecordRule((_kind("HookExecutionEvent"),), Kind.INJECTED, "user", time="timestamp"),
    RecordRule((_kind("ConversationStateUpdateEvent", "TokenEvent", "LLMCompletionLogEvent"),), None),
)

# Version 0: each event is an `action` or an `observation` of an earlier action.

_OLD_THOUGHT = RecordRule((), Kind.THOUGHT, "assistant", "args.thought", time="timestamp")
_OLD: dict[str, Any] = {"time": "timestamp", "call_id": "id"}


def _action(*words: str) -> tuple[When, ...]:
    return (is_("action", *words), lacks("observation"), lacks("kind"))


def _observation(*words: str) -> tuple[When, ...]:
    return (is_("observation", *words), lacks("kind"))


_OLD_EVENTS = (
    RecordRule((*_action("message"), is_("source", "user")), Kind.SAID, "user", "args.content", time="timestamp"),
    RecordRule(
        (*_action("message"), is_("source", "agent")),
        Kind.SAID,
        "assistant",
        "args.content",
        time="timestamp",
        also=(_OLD_THOUGHT,),
    ),
    RecordRule(_action("message"), Kind.INJECTED, "user", "args.content", time="timestamp"),
    RecordRule(_action("system"), Kind.INSTRUCTION, "system", "args.content", time="timestamp"),
    RecordRule(
        _action("finish"),
        Kind.SAID,
        "assistant",
        "args.final_thought",
        time="timestamp",
        also=(_OLD_THOUGHT,),
    ),
    RecordRule(_action("think"), Kind.THOUGHT, "assistant", "args.thought", time="timestamp"),
    RecordRule(_action("recall", "change_agent_state", "null", "pause", "resume"), None),
    RecordRule((*_action("condensation"), has("args.summary")), Kind.REPLAYED, "system", "args.summary"),
    RecordRule(
        (has("action"), has("args"), lacks("observation"), lacks("kind")),
        Kind.CALL,
        "assistant",
        "args",
        name="action",
        **_OLD,
        also=(_OLD_THOUGHT,),
    ),
    RecordRule(
        _observation("agent_state_changed", "null"),
        None,
        faults=(Fault("extras.agent_state", {"error": _UNKNOWN, "rate_limited": (W_RUN_ERROR, "rate-limit")}),),
    ),
    RecordRule(_observation("recall", "system", "agent_condensation"), Kind.INJECTED, "user", time="timestamp"),
    RecordRule(
        (has("observation"), has("cause"), lacks("kind")),
        Kind.REPLY,
        "tool",
        "content",
        call_id="cause",
        name="observation",
        time="timestamp",
        outcome=Outcomes(
            failed=("success=false", "observation=error"),
            refused=("observation=user_rejected",),
        ),
    ),
)
_KINDS = frozenset(
    {
        *("MessageEvent", "ActionEvent", "ObservationEvent", "SystemPromptEvent", "AgentErrorEvent"),
        *("UserRejectObservation", "ConversationErrorEvent", "ConversationStateUpdateEvent", "PauseEvent"),
        *("Condensation*", "ACPToolCallEvent", "HookExecutionEvent", "TokenEvent", "LLMCompletionLogEvent"),
    }
)

OPENHANDS = RecordFormat(
    name="openhands",
    title="OpenHands conversation",
    container=Container.JSON,
    signatures=(
        Signature(94, ("source", "kind"), {"kind": _KINDS}),
        Signature(90, ("source", "action", "args", "id")),
        Signature(90, ("source", "observation", "extras")),
        Signature(90, ("history[].source|history[][].source", "instance_id|git_patch")),
    ),
    records=(
        *(
            RecordRule(
                (has("history"), has("instance_id|git_patch"), When("history[0]", kind=kind)),
                each=each,
                rules=(*_EVENTS, *_OLD_EVENTS),
                starts=True,
            )
            for kind, each in ((JsonKind.OBJECT, "history[]"), (JsonKind.ARRAY, "history[][]"))
        ),
        *_EVENTS,
        *_OLD_EVENTS,
    ),
    usage=OPENHANDS_TOKENS,
)
