"""Anthropic Messages: requests, responses, batches, lists of messages, text completions, and Bedrock Converse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viewer.formats.tables.anthropic_parts import ASSISTANT_PARTS, USER_PARTS
from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    Merge,
    Mode,
    Prefill,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.usage import anthropic
from viewer.model.diagnostic import Rule
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_API = (W_RUN_ERROR, "api")
_RATE_LIMIT, _AUTH = (W_RUN_ERROR, "rate-limit"), (W_RUN_ERROR, "auth")
ERROR_CODES: dict[str, tuple[Rule, str]] = {
    "rate_limit_error": _RATE_LIMIT,
    "authentication_error": _AUTH,
    "permission_error": _AUTH,
}
_ERROR_TYPES = frozenset(
    {
        *ERROR_CODES,
        *("invalid_request_error", "billing_error", "not_found_error", "request_too_large"),
        *("api_error", "timeout_error", "overloaded_error"),
    }
)
STOP_CODES: dict[str, tuple[Rule, str]] = {
    "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "pause_turn": (W_RUN_INCOMPLETE, "pause"),
    "refusal": (W_RUN_ERROR, "refused"),
    "model_context_window_exceeded": (W_RUN_ERROR, "context-length"),
    "guardrail_intervened": (W_RUN_ERROR, "content-filter"),
    "content_filtered": (W_RUN_ERROR, "content-filter"),
}
_BATCH_CODES: dict[str, tuple[Rule, str]] = {
    "canceled": (W_RUN_INCOMPLETE, "stopped"),
    "expired": (W_RUN_INCOMPLETE, "stopped"),
}

ERROR = RecordRule(
    (is_("type", "error"), has("error")),
    Kind.NOTICE,
    "system",
    "error.message|error",
    faults=(Fault("error.type|error", ERROR_CODES, _API),),
)
"""An error instead of a response, or inside a stream."""

_UNDIRECTED = tuple(lacks(member) for member in ("channel", "recipient", "to", "intent", "phase", "thought"))
"""Conditions that require a message to lack the members that would hide it in other formats."""


def _spoken(*kind: When, prefill: Prefill) -> Iterator[RecordRule]:
    """Yield the rules for the messages of both speakers, for instructions between them, and for tool results."""
    common: dict[str, Any] = {"time": "timestamp|created_at"}
    faults = (Fault("stop_reason", STOP_CODES),)
    yield RecordRule((*kind, is_("role", "user"), *_UNDIRECTED), Kind.SAID, "user", "content", USER_PARTS, **common)
    yield RecordRule(
        (*kind, is_("role", "assistant"), *_UNDIRECTED),
        Kind.SAID,
        "assistant",
        "content",
        ASSISTANT_PARTS,
        faults=faults,
        prefill=prefill,
        **common,
    )
    yield RecordRule((*kind, is_("role", "system", "developer")), Kind.INSTRUCTION, "@role", "content", **common)
    yield RecordRule(
        (*kind, is_("role", "tool")), Kind.REPLY, "tool", "content", call_id="tool_use_id|tool_call_id", **common
    )


_TYPES = (lacks("type"), is_("type", "message"))
MESSAGES = tuple(rule for kind in _TYPES for rule in _spoken(kind, prefill=Prefill.BEGINS))
"""The rules for the messages in a list."""
RESPONSE = tuple(rule for kind in _TYPES for rule in _spoken(kind, prefill=Prefill.GOES_ON))

_COMPLETION = RecordRule(
    (is_("type", "completion"), When("completion", kind=JsonKind.STRING)),
    Kind.SAID,
    "assistant",
    "completion",
    merge=Merge(Mode.APPEND, done=has("stop_reason")),
    faults=(Fault("stop_reason", STOP_CODES),),
)
_PROMPT = RecordRule((has("prompt"), has("max_tokens_to_sample")), Kind.UNKNOWN, "", "prompt", starts=True)
"""The rule for a prompt that is a single string with the words of both speakers."""

_LIST = RecordRule((When("messages", kind=JsonKind.ARRAY),), each="messages[]", rules=MESSAGES, starts=True)
SETTINGS = (
    RecordRule((has("tools"),), Kind.INSTRUCTION, "system", "tools", goes_on=True),
    RecordRule((has("toolConfig.tools"),), Kind.INSTRUCTION, "system", "toolConfig.tools", goes_on=True),
    RecordRule((has("system"),), Kind.INSTRUCTION, "system", "system", goes_on=True),
)
_REQUEST = (*SETTINGS, _LIST)
_REQUEST_BODY = tuple(
    RecordRule((When(f"{place}.messages", kind=JsonKind.ARRAY),), each=place, rules=_REQUEST)
    for place in ("request.body", "request", "body", "params")
)
_RESPONSE_BODY = tuple(
    RecordRule((has(place),), each=place, rules=(*RESPONSE, ERROR, _COMPLETION))
    for place in ("response.body", "response")
)
_BATCH = (
    RecordRule((is_("result.type", "succeeded"),), each="result.message", rules=RESPONSE, starts=True),
    RecordRule((is_("result.type", "errored"),), each="result.error", rules=(ERROR,), starts=True),
    RecordRule(
        (is_("result.type", "canceled", "expired"),),
        None,
        starts=True,
        faults=(Fault("result.type", _BATCH_CODES),),
    ),
)
CONVERSE = RecordRule(
    (has("output.message"),), each="output.message", rules=RESPONSE, faults=(Fault("stopReason", STOP_CODES),)
)

_PART_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use"})
_ROLES = frozenset({"user", "assistant"})


_PLAIN = Signature(0, ("content",), {"role": _ROLES})
"""A message without Anthropic parts. It fits the format, but is not evidence for it."""


def _signatures() -> Iterator[Signature]:
    for place in ("", "request.", "request.body.", "body.", "params."):
        messages = f"{place}messages[]"
        yield Signature(90, (f"{place}system", f"{messages}.role"), none_of=(f"{place}input",))
        yield Signature(90, (), {f"{messages}.content[].type": _PART_TYPES})
        for part in ("toolUse", "toolResult", "reasoningContent"):
            yield Signature(90, (f"{messages}.content[].{part}",))
    yield Signature(90, ("stop_reason",), {"type": frozenset({"message"}), "role": _ROLES})
    yield Signature(91, ("model",), {"type": frozenset({"message"}), "content[].type": _PART_TYPES, "role": _ROLES})
    yield Signature(90, ("completion",), {"type": frozenset({"completion"})})
    yield Signature(90, ("custom_id", "result.type"), {"result.message.type": frozenset({"message"})})
    yield Signature(90, ("custom_id",), {"result.type": frozenset({"errored", "canceled", "expired", "succeeded"})})
    yield Signature(90, (), {"content[].type": _PART_TYPES, "role": _ROLES})
    for part in ("toolUse", "toolResult", "reasoningContent"):
        yield Signature(90, (f"content[].{part}",), {"role": _ROLES})
    yield Signature(90, ("output.message.content", "stopReason"))
    yield _PLAIN
    yield Signature(85, (), {"type": frozenset({"error"}), "error.type": _ERROR_TYPES})


ANTHROPIC = RecordFormat(
    name="anthropic",
    title="Anthropic Messages",
    container=Container.JSON,
    signatures=tuple(_signatures()),
    records=(*_BATCH, *_REQUEST_BODY, *_RESPONSE_BODY, CONVERSE, *_REQUEST, *RESPONSE, _COMPLETION, _PROMPT, ERROR),
    inner=("request", "response", "request.body", "response.body", "body"),
    usage=(anthropic("usage|response.usage|response.body.usage|result.message.usage", counts=Counting.EACH),),
    model="model|request.model|request.body.model|body.model|params.model|result.message.model",
)
