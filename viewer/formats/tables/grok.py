"""Grok: the conversations of an account, as xAI exports them."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Branches,
    Container,
    Fault,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
)
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

GROK = RecordFormat(
    name="grok",
    title="Grok data export",
    container=Container.JSON,
    signatures=(
        Signature(95, ("conversations[].conversation", "conversations[].responses[].response")),
        Signature(94, ("conversation.id", "responses[].response.sender")),
    ),
    records=(
        RecordRule((has("conversations"),), each="conversations[]", rules=(_CONVERSATION,)),
        _CONVERSATION,
    ),
)
