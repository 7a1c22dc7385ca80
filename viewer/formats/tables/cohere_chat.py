"""Cohere chat API, version 2: requests with their responses, responses, and streams."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Tokens,
    When,
    has,
    is_,
    lacks,
)
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "image_url"),), Kind.SAID, label=True),
)
_RESULTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "document"),), Kind.SAID, "document.data|document"),
)
_ENDS = {
    "MAX_TOKENS": (W_RUN_INCOMPLETE, "max-tokens"),
    "ERROR": (W_RUN_ERROR, "api"),
    "ERROR_TOXIC": (W_RUN_ERROR, "content-filter"),
    "TIMEOUT": (W_RUN_ERROR, "unknown"),
}
_ASSISTANT = is_("role", "assistant")
_PLAN = RecordRule((has("tool_plan"),), Kind.THOUGHT, "assistant", "tool_plan", goes_on=True)
_CALL = RecordRule((), Kind.CALL, "assistant", "function.arguments", call_id="id", name="function.name")
_CALLS = RecordRule((has("tool_calls"),), each="tool_calls[]", rules=(_CALL,))
_TEXT = RecordRule((has("content"),), Kind.SAID, "assistant", "content", _PARTS)
_ANSWER = (_PLAN, _CALLS, _TEXT)
_ANSWER_IN_LIST = (
    RecordRule((_ASSISTANT, has("tool_plan")), Kind.THOUGHT, "assistant", "tool_plan", goes_on=True),
    RecordRule((_ASSISTANT, has("tool_calls")), each="tool_calls[]", rules=(_CALL,)),
    RecordRule((_ASSISTANT, has("content")), Kind.SAID, "assistant", "content", _PARTS),
    RecordRule((_ASSISTANT, has("tool_calls|tool_plan")), None),
)
_MESSAGES = (
    RecordRule((is_("role", "system", "developer"),), Kind.INSTRUCTION, "@role", "content", _PARTS),
    RecordRule((is_("role", "user"),), Kind.SAID, "user", "content", _PARTS),
    *_ANSWER_IN_LIST,
    RecordRule((is_("role", "tool"),), Kind.REPLY, "tool", "content", _RESULTS, call_id="tool_call_id"),
)
_REQUEST = (
    RecordRule((has("documents"),), Kind.INJECTED, "user", "documents", goes_on=True),
    RecordRule((has("tools"),), Kind.INSTRUCTION, "system", "tools", goes_on=True),
    RecordRule((has("messages"),), each="messages[]", rules=_MESSAGES),
)
_RESPONSE = (
    RecordRule(
        (has("finish_reason"), is_("message.role", "assistant")),
        each="message",
        rules=_ANSWER,
        faults=(Fault("finish_reason", _ENDS),),
    ),
)

# Streams.

_CONTENT = "delta.message.content"
_BEGINS = is_("type", "content-start")
_CALL_PATH = "delta.message.tool_calls"


def _content(kind: Kind, member: str, *when: When) -> RecordRule:
    """Return the rule for text of one kind. Each block begins with its own event."""
    return RecordRule(
        (is_("type", "content-start", "content-delta"), *when),
        kind,
        "assistant",
        f"{_CONTENT}.{member}",
        merge=Merge(Mode.APPEND, begins=_BEGINS),
    )


STREAM = (
    RecordRule((is_("type", "message-start"),), None),
    _content(Kind.THOUGHT, "thinking", has(f"{_CONTENT}.thinking")),
    _content(Kind.SAID, "text", lacks(f"{_CONTENT}.thinking"), has(f"{_CONTENT}.text")),
    RecordRule(
        (is_("type", "tool-plan-delta"),),
        Kind.THOUGHT,
        "assistant",
        "delta.message.tool_plan",
        merge=Merge(Mode.APPEND),
    ),
    RecordRule(
        (is_("type", "tool-call-start", "tool-call-delta"),),
        Kind.CALL,
        "assistant",
        f"{_CALL_PATH}.function.arguments",
        call_id=f"{_CALL_PATH}.id",
        name=f"{_CALL_PATH}.function.name",
        merge=Merge(Mode.APPEND, begins=is_("type", "tool-call-start")),
    ),
    RecordRule(
        (is_("type", "message-end"),),
        None,
        faults=(Fault("delta.finish_reason", _ENDS),),
        also=(RecordRule((has("delta.error"),), Kind.NOTICE, "system", "delta.error"),),
    ),
    RecordRule((is_("type", "content-end", "tool-call-end", "citation-start", "citation-end", "debug"),), None),
)
_TYPES = frozenset({"message-start", "content-start", "content-delta", "tool-plan-delta", "tool-call-start"})
_OTHERS = frozenset({"content-end", "tool-call-delta", "tool-call-end", "citation-start", "citation-end"})

COHERE_CHAT = RecordFormat(
    name="cohere-chat",
    title="Cohere chat API",
    container=Container.JSON,
    signatures=(
        Signature(94, ("finish_reason", "message.role"), none_of=("choices", "object", "done")),
        Signature(94, ("response.finish_reason", "response.message.role"), none_of=("response.choices",)),
        Signature(94, ("messages[].tool_plan",)),
        Signature(93, (), {"type": _TYPES}, ("message", "content", "text", "role", "messageId")),
        Signature(93, (), {"type": _OTHERS}, ("message", "content", "text", "role", "messageId")),
        Signature(93, ("delta.finish_reason",), {"type": frozenset({"message-end"})}),
    ),
    records=(
        RecordRule((has("request.messages"),), each="request", rules=_REQUEST, starts=True),
        RecordRule((When("response", kind=JsonKind.OBJECT),), each="response", rules=_RESPONSE),
        RecordRule((has("messages"),), None, starts=True, goes_on=True),
        *STREAM,
        *_REQUEST,
        *_RESPONSE,
        *_MESSAGES,
    ),
    usage=tuple(
        Tokens(f"{at}usage.tokens", input=("input_tokens",), output=("output_tokens",))
        for at in ("", "response.", "delta.")
    ),
    model="model|request.model",
)
