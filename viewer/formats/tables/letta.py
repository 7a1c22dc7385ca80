"""Letta: lists and streams of messages, and agent files."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from viewer.formats.tables.chat_messages import CALL
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Inner,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    is_not,
    lacks,
    starts,
)
from viewer.formats.tables.tags import claude_tags
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

TYPES = frozenset(
    {
        *("system_message", "user_message", "assistant_message", "reasoning_message", "hidden_reasoning_message"),
        *("tool_call_message", "tool_return_message", "approval_request_message", "approval_response_message"),
        *("summary_message", "event_message", "internal_monologue"),
    }
)
"""The message types that only Letta uses."""
_PACKAGES = ('{"type"', '{\n  "type"', '{\n    "type"')
"""The beginnings of the JSON that the program uses to wrap what the user typed, and to report its own events."""
_PACKAGE = frozenset({"type", "message", "time", "location", "name"})
_FROM_AGENT = ("[Incoming message from agent",)
_FAILED = Outcomes(failed=("is_error", "status=error"))


def _packaged(at: str) -> tuple[tuple[When, ...], tuple[When, ...]]:
    """Return the conditions for a user message in a JSON wrapper, and for any other JSON object."""
    typed = (When(at, only=_PACKAGE), is_(f"{at}.type", "user_message"), When(f"{at}.message", kind=JsonKind.STRING))
    return typed, (When(at, kind=JsonKind.OBJECT),)


_TYPED_PART, _OTHER_PART = _packaged("text")
_IS_TEXT = is_("type", "text")
_THOUGHTS = (
    PartRule((is_("type", "reasoning"),), Kind.THOUGHT, "reasoning"),
    PartRule((is_("type", "summarized_reasoning"),), Kind.THOUGHT, "summary[].text"),
    PartRule((is_("type", "redacted_reasoning"),), Kind.THOUGHT, "data", opaque=True),
    PartRule((is_("type", "omitted_reasoning"),), None),
)
_IMAGE = PartRule((is_("type", "image"),), Kind.SAID, label=True)
_CALLS = (
    PartRule((is_("type", "tool_call"),), Kind.CALL, "input", "id", "name"),
    PartRule((is_("type", "tool_return"),), Kind.REPLY, "content", "tool_call_id", outcome=_FAILED),
)
_USER_PARTS = (
    PartRule((_IS_TEXT, *_TYPED_PART), Kind.SAID, "text.message"),
    PartRule((_IS_TEXT, *_OTHER_PART), Kind.INJECTED, "text"),
    PartRule((_IS_TEXT, starts("text", *_PACKAGES)), Kind.UNKNOWN, "text"),
    PartRule((_IS_TEXT,), Kind.SAID, "text"),
    _IMAGE,
)
_PARTS = (PartRule((_IS_TEXT,), Kind.SAID, "text"), *_THOUGHTS, *_CALLS, _IMAGE)
_MONOLOGUE = (PartRule((_IS_TEXT,), Kind.THOUGHT, "text"), *_THOUGHTS, *_CALLS)


def _from_user(when: tuple[When, ...], **facts: Any) -> tuple[RecordRule, ...]:
    typed, other = _packaged("content")
    return (
        RecordRule((*when, *typed), Kind.SAID, "user", "content.message", split=True, **facts),
        RecordRule((*when, *other), Kind.INJECTED, "user", "content", **facts),
        RecordRule((*when, starts("content", *_PACKAGES)), Kind.UNKNOWN, "user", "content", **facts),
        RecordRule(when, Kind.SAID, "user", "content", _USER_PARTS, split=True, **facts),
    )


# API messages.

_GROWS = Merge(Mode.APPEND, "otid|id", consecutive=True)
"""Merges the records of a message. A stream of tokens repeats the record with the next piece."""
_FACTS: dict[str, Any] = {"time": "date|created_at"}


def _type(*names: str) -> When:
    return is_("message_type", *names)


_CALL, _CALLED = _type("tool_call_message", "approval_request_message"), "tool_call|tool_calls[0]|tool_calls"
_ENDS = {
    **dict.fromkeys(("end_turn", "tool_rule", "requires_approval")),
    "max_steps": (W_RUN_INCOMPLETE, "stopped"),
    "max_tokens_exceeded": (W_RUN_INCOMPLETE, "max-tokens"),
    "cancelled": (W_RUN_ERROR, "aborted"),
    "llm_api_error": (W_RUN_ERROR, "api"),
    "context_window_overflow_in_system_prompt": (W_RUN_ERROR, "context-length"),
    "refusal": (W_RUN_ERROR, "content-filter"),
}
_UNKNOWN_END = (W_RUN_ERROR, "unknown")


def _under(paths: str, name: str) -> str:
    return "|".join(f"{at}.{name}" for at in paths.split("|"))


def _return(*when: When) -> RecordRule:
    """Return the rule for the result of a call."""
    return RecordRule(
        when,
        Kind.REPLY,
        "tool",
        "tool_return|function_return",
        call_id="tool_call_id|function_call_id",
        outcome=_FAILED,
        **_FACTS,
    )


_OTHER_AGENT = Narrowing(
    Kind.SUBAGENT, until=(_type("user_message"), When("content", not_starts=_FROM_AGENT, kind=JsonKind.STRING))
)
_MESSAGES = (
    RecordRule(
        (_type("user_message", "system_message"), starts("content", *_FROM_AGENT)),
        None,
        narrows=_OTHER_AGENT,
        goes_on=True,
    ),
    RecordRule((_type("system_message"),), Kind.INSTRUCTION, "system", "content", **_FACTS),
    *_from_user((_type("user_message"),), **_FACTS),
    RecordRule((_type("assistant_message"),), Kind.SAID, "assistant", "content", _PARTS, merge=_GROWS, **_FACTS),
    RecordRule(
        (_type("reasoning_message", "internal_monologue"),),
        Kind.THOUGHT,
        "assistant",
        "reasoning|internal_monologue|content",
        merge=_GROWS,
        **_FACTS,
    ),
    RecordRule(
        (_type("hidden_reasoning_message"),), Kind.THOUGHT, "assistant", "hidden_reasoning", opaque=True, **_FACTS
    ),
    RecordRule(
        (_CALL, has("tool_calls[1]")),
        each="tool_calls[]",
        rules=(RecordRule((), Kind.CALL, "assistant", "arguments", call_id="tool_call_id", name="name"),),
        time="date",
    ),
    RecordRule((_CALL, has("tool_calls[1]")), None),
    RecordRule(
        (_CALL,),
        Kind.CALL,
        "assistant",
        _under(_CALLED, "arguments"),
        call_id=_under(_CALLED, "tool_call_id"),
        name=_under(_CALLED, "name"),
        merge=Merge(Mode.APPEND, begins=has(_under(_CALLED, "name"))),
        **_FACTS,
    ),
    RecordRule(
        (_type("function_call"),),
        Kind.CALL,
        "assistant",
        "function_call.arguments|function_call",
        call_id="function_call.function_call_id",
        name="function_call.name",
        **_FACTS,
    ),
    RecordRule(
        (_type("tool_return_message"), has("tool_returns[1]")), each="tool_returns[]", rules=(_return(),), time="date"
    ),
    RecordRule((_type("tool_return_message"), has("tool_returns[1]")), None),
    _return(_type("tool_return_message", "function_return")),
    RecordRule(
        (_type("approval_response_message"),),
        None,
        also=(
            RecordRule((has("reason"),), Kind.NOTICE, "system", "reason", **_FACTS),
            RecordRule(
                (has("approvals"),),
                each="approvals[]",
                rules=(
                    _return(has("tool_return")),
                    RecordRule((), Kind.NOTICE, "system", "reason"),
                ),
            ),
        ),
    ),
    RecordRule((_type("summary_message"),), Kind.REPLAYED, "user", "summary", **_FACTS),
    RecordRule((_type("event_message"),), Kind.NOTICE, "system", "event_data", **_FACTS),
    RecordRule(
        (_type("error_message"),),
        Kind.NOTICE,
        "system",
        "message",
        faults=(Fault("error_type", {"internal_error": (W_RUN_ERROR, "api")}, (W_RUN_ERROR, "api")),),
    ),
    RecordRule((_type("stop_reason"),), None, faults=(Fault("stop_reason", _ENDS, _UNKNOWN_END),)),
    RecordRule((_type("usage_statistics", "ping"),), None),
)

# Agent files.

_ROLE_TOOL = is_("role", "tool")
_SENT = RecordRule(
    (is_("function.name", "send_message"), has("function.arguments.message")),
    Kind.CALL,
    "assistant",
    "function.arguments",
    call_id="id",
    name="function.name",
    also=(RecordRule((), Kind.SAID, "assistant", "function.arguments.message"),),
)


def _stored(parts: tuple[PartRule, ...]) -> tuple[RecordRule, ...]:
    """Return the rules for a stored message. `parts` are the rules for the parts of an assistant message."""
    return (
        RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content", **_FACTS),
        *_from_user((is_("role", "user"),), **_FACTS),
        RecordRule(
            (is_("role", "assistant", "approval"),), Kind.SAID, "assistant", "content", parts, goes_on=True, **_FACTS
        ),
        RecordRule((is_("role", "assistant", "approval"),), each="tool_calls[]", rules=(_SENT, *CALL), whole=True),
        RecordRule((is_("role", "assistant", "approval"),), None),
        RecordRule(
            (_ROLE_TOOL, has("tool_returns[1]")),
            each="tool_returns[]",
            rules=(RecordRule((), Kind.REPLY, "tool", "func_response", call_id="tool_call_id", outcome=_FAILED),),
        ),
        RecordRule((_ROLE_TOOL, has("tool_returns[1]")), None),
        RecordRule(
            (_ROLE_TOOL,),
            Kind.REPLY,
            "tool",
            "content",
            call_id="tool_call_id",
            outcome=Outcomes(failed=("tool_returns[0].status=error",)),
            **_FACTS,
        ),
        RecordRule((is_("role", "summary"),), Kind.REPLAYED, "user", "content", **_FACTS),
    )


_IS_AGENT = has("agent_type")
_ANSWERING, _ASLEEP = ("letta_v1_agent",), ("sleeptime_agent", "voice_sleeptime_agent")
_WITH_TOOL = (
    "memgpt_agent",
    "memgpt_v2_agent",
    "voice_convo_agent",
    "react_agent",
    "workflow_agent",
    "split_thread_agent",
)
_AGENT = (
    RecordRule((_IS_AGENT, has("system"), lacks("messages[0]")), Kind.INSTRUCTION, "system", "system"),
    RecordRule(
        (is_("agent_type", *_ANSWERING),),
        each="messages[]",
        rules=_stored(_PARTS),
        starts=True,
        session="id",
    ),
    RecordRule(
        (is_("agent_type", *_ASLEEP),),
        Kind.SUBAGENT,
        each="messages[]",
        rules=_stored(_PARTS),
        starts=True,
        session="id",
        thread="id|name",
    ),
    RecordRule(
        (is_("agent_type", *_WITH_TOOL),),
        each="messages[]",
        rules=_stored(_MONOLOGUE),
        starts=True,
        session="id",
    ),
    RecordRule(
        (_IS_AGENT, is_not("agent_type", *_WITH_TOOL, *_ANSWERING, *_ASLEEP)),
        each="messages[]",
        rules=(RecordRule(()),),
        starts=True,
        session="id",
    ),
    RecordRule((_IS_AGENT,), None),
)
"""The rules for an agent file. Only the newest type of agent answers in the text of a message. All other types call a
tool to send a message."""


def _wrapped(holder: str) -> tuple[Inner, ...]:
    """Return the locations of the strings in messages that may contain JSON."""
    prefix = f"{holder}." if holder else ""
    return (
        Inner(holder, "content", (is_("message_type|role", "user_message", "user"), starts("content", *_PACKAGES))),
        Inner(f"{prefix}content[]", "text", (starts("text", *_PACKAGES),)),
        Inner(f"{prefix}tool_calls[]", "function.arguments", (is_("function.name", "send_message"),)),
    )


LETTA = RecordFormat(
    name="letta",
    title="Letta messages",
    container=Container.JSON,
    signatures=(
        Signature(94, (), {"message_type": TYPES}),
        Signature(94, (), {"messages[].message_type": TYPES}),
        Signature(94, ("agents[].agent_type", "agents[].messages")),
        Signature(94, ("agent_type", "core_memory", "messages[].role")),
    ),
    records=(
        RecordRule((has("agents"),), each="agents[]", rules=_AGENT),
        *_AGENT,
        RecordRule(
            (has("messages[0].message_type"),),
            None,
            faults=(Fault("stop_reason.stop_reason", _ENDS, _UNKNOWN_END),),
            goes_on=True,
        ),
        RecordRule((has("messages"),), each="messages[]", rules=tuple(replace(rule, merge=None) for rule in _MESSAGES)),
        RecordRule((has("messages"), lacks("message_type")), None),
        *_MESSAGES,
    ),
    inner=tuple(each for holder in ("", "messages[]", "agents[].messages[]") for each in _wrapped(holder)),
    usage=(openai("usage", when=(lacks("message_type"),)), openai("", when=(_type("usage_statistics"),))),
    hooks=Hooks(split=claude_tags),
)
