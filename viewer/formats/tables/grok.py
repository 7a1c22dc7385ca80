"""Grok: the conversations of an account, as xAI exports them, and the sessions of its CLI, Grok Build."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Branches,
    Container,
    Fault,
    Hooks,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.tags import cursor_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_TIME: dict[str, Any] = {"time": "response.create_time.$date.$numberLong|response.create_time"}
_STEP = (
    RecordRule((has("tagged_text.header"),), Kind.THOUGHT, "assistant", "tagged_text.header", goes_on=True),
    RecordRule((has("tagged_text.summary"),), Kind.THOUGHT, "assistant", "tagged_text.summary", goes_on=True),
    RecordRule(
        (has("tool_usage_cards[0]"),),
        each="tool_usage_cards[]",
        rules=(RecordRule((), Kind.CALL, "assistant", "tool", call_id="tool_usage_card_id", default_name="tool"),),
    ),
    RecordRule(
        (has("tool_usage_results[0]"),),
        each="tool_usage_results[]",
        rules=(RecordRule((), Kind.REPLY, "tool", "result", call_id="tool_usage_card_id"),),
    ),
    RecordRule((has("tool_usage_cards|tool_usage_results|tagged_text.header|tagged_text.summary"),), None),
)
_HUMAN = is_("response.sender", "human", "HUMAN")
_ASSISTANT = is_("response.sender", "assistant", "ASSISTANT")
_RESPONSE = (
    RecordRule((_HUMAN,), Kind.SAID, "user", "response.message", **_TIME),
    RecordRule(
        (_ASSISTANT, has("response.thinking_trace")), Kind.THOUGHT, "assistant", "response.thinking_trace", goes_on=True
    ),
    RecordRule(
        (_ASSISTANT, has("response.agent_thinking_traces[0]")),
        each="response.agent_thinking_traces[]",
        rules=(RecordRule((), Kind.THOUGHT, "assistant", "thinking_trace"),),
    ),
    RecordRule((_ASSISTANT, has("response.steps[0]")), each="response.steps[]", rules=_STEP),
    RecordRule(
        (_ASSISTANT,),
        Kind.SAID,
        "assistant",
        "response.message",
        faults=(Fault("response.metadata.stream_errors[0]", default=(W_RUN_ERROR, "api")),),
        also=(
            RecordRule(
                (has("response.metadata.stream_errors[0]"),),
                Kind.NOTICE,
                "system",
                "response.metadata.stream_errors[].message",
            ),
        ),
        **_TIME,
    ),
)
_CONVERSATION = RecordRule(
    (has("responses"), has("conversation")),
    each="responses[]",
    rules=_RESPONSE,
    branches=Branches(
        "response._id", "response.parent_response_id", "conversation.leaf_response_id", has_hidden_top=True
    ),
    starts=True,
    session="conversation.id",
)


# The file `chat_history.jsonl` of Grok Build.

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "image"),), Kind.SAID, label=True),
)
_USER = is_("type", "user"), lacks("response")
_CALLS = (RecordRule((), Kind.CALL, "assistant", "arguments", call_id="id", name="name"),)
_HISTORY = (
    RecordRule((is_("type", "system"), has("content")), Kind.INSTRUCTION, "system", "content", _PARTS),
    RecordRule((*_USER, has("synthetic_reason")), Kind.INJECTED, "user", "content", _PARTS),
    RecordRule((*_USER, has("prompt_index")), Kind.SAID, "user", "content", _PARTS, split=True),
    RecordRule(_USER, Kind.UNKNOWN, "user", "content", _PARTS),
    RecordRule((is_("type", "reasoning"), has("summary[0]")), Kind.THOUGHT, "assistant", "summary[].text"),
    RecordRule((is_("type", "reasoning"),), None),
    RecordRule(
        (is_("type", "assistant"), has("content")),
        Kind.SAID,
        "assistant",
        "content",
        _PARTS,
        also=(RecordRule((has("tool_calls[0]"),), each="tool_calls[]", rules=_CALLS),),
    ),
    RecordRule((is_("type", "assistant"), has("tool_calls[0]")), each="tool_calls[]", rules=_CALLS),
    RecordRule((is_("type", "tool_result"),), Kind.REPLY, "tool", "content", call_id="tool_call_id"),
    RecordRule(
        (is_("type", "backend_tool_call"),),
        Kind.CALL,
        "assistant",
        "kind.action",
        call_id="kind.id",
        name="kind.tool_type",
        default_name="tool",
        also=(
            RecordRule(
                (is_("kind.status", "completed"),), Kind.REPLY, "tool", "", call_id="kind.id", name="kind.tool_type"
            ),
        ),
    ),
)
"""The rules for the messages of a history. The user typed only the prompts with an index. All other prompts come from
the program, most of them with a reason."""

_OF_OTHERS = ("uuid", "role", "session_id", "sessionId", "message", "id")

GROK = RecordFormat(
    name="grok",
    title="Grok data export, Grok Build",
    container=Container.JSON,
    signatures=(
        Signature(95, ("conversations[].conversation", "conversations[].responses[].response")),
        Signature(94, ("conversation.id", "responses[].response.sender")),
        Signature(94, ("content", "prompt_index"), {"type": frozenset({"user"})}, _OF_OTHERS, decides=True),
        Signature(94, ("content", "synthetic_reason"), {"type": frozenset({"user"})}, _OF_OTHERS, decides=True),
        Signature(94, ("content", "model_fingerprint"), {"type": frozenset({"assistant"})}, _OF_OTHERS, decides=True),
    ),
    records=(
        RecordRule((has("conversations"),), each="conversations[]", rules=(_CONVERSATION,)),
        _CONVERSATION,
        *_HISTORY,
    ),
    hooks=Hooks(split=cursor_tags),
)
