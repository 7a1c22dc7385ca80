"""Gemini Interactions API: requests, interactions with their steps, and streams of events."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    Fault,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Step,
    Stream,
    Tokens,
    When,
    ends,
    has,
    is_,
    lacks,
)
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_FAILED = Outcomes(failed=("is_error",))
_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text")
_CONTENT = (_TEXT, PartRule((is_("type", "image", "audio", "video", "document"),), Kind.SAID, label=True))
_SUMMARY = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "image"),), Kind.SAID, label=True),
)
_STATES = {
    "failed": (W_RUN_ERROR, "unknown"),
    "cancelled": (W_RUN_ERROR, "aborted"),
    "incomplete": (W_RUN_INCOMPLETE, "stopped"),
    "budget_exceeded": (W_RUN_INCOMPLETE, "max-tokens"),
}
_CODES = {"429": (W_RUN_ERROR, "rate-limit"), "401": (W_RUN_ERROR, "auth"), "403": (W_RUN_ERROR, "auth")}
_STEPS = (
    RecordRule((is_("type", "user_input"),), Kind.SAID, "user", "content", _CONTENT),
    RecordRule(
        (is_("type", "model_output"),),
        Kind.SAID,
        "assistant",
        "content",
        _CONTENT,
        faults=(Fault("error.code|error", _CODES, (W_RUN_ERROR, "api")),),
        also=(RecordRule((has("error"),), Kind.NOTICE, "system", "error.message|error"),),
    ),
    RecordRule((is_("type", "thought"), has("summary")), Kind.THOUGHT, "assistant", "summary", _SUMMARY),
    RecordRule((is_("type", "thought"), has("signature")), Kind.THOUGHT, "assistant", "signature", opaque=True),
    RecordRule((is_("type", "thought"),), None),
    RecordRule((ends("type", "_call"),), Kind.CALL, "assistant", "arguments", call_id="id", name="name|type"),
    RecordRule(
        (ends("type", "_result"),), Kind.REPLY, "tool", "result", call_id="call_id", name="name", outcome=_FAILED
    ),
)
_TURNS = (
    *_STEPS,
    RecordRule((is_("role", "user"),), Kind.SAID, "user", "content", _CONTENT),
    RecordRule((is_("role", "model"),), Kind.SAID, "assistant", "content", _CONTENT),
    RecordRule((is_("type", "text"), lacks("role")), Kind.SAID, "user", "text"),
    RecordRule((is_("type", "image", "audio", "video", "document"), lacks("role")), Kind.SAID, "user", label=True),
)
_OUTPUTS = (
    *_STEPS,
    RecordRule((is_("type", "text"),), Kind.SAID, "assistant", "text"),
    RecordRule((is_("type", "image", "audio", "video"),), Kind.SAID, "assistant", label=True),
)
_HAS_INPUT = is_("steps[0].type", "user_input")
_NO_TRACE = lacks("traceId|trace_id|run_type|parentObservationId")
"""The condition that a record is not part of a trace, where the input of a model call may contain more than the user
typed."""
_PLAIN = (
    RecordRule((has("system_instruction"),), Kind.INSTRUCTION, "system", "system_instruction", goes_on=True),
    RecordRule((has("tools"),), Kind.INSTRUCTION, "system", "tools", goes_on=True),
    RecordRule((_HAS_INPUT, has("input")), None, each="steps[]", rules=_STEPS),
    RecordRule((_NO_TRACE, When("input", kind=JsonKind.STRING)), Kind.SAID, "user", "input", goes_on=True),
    RecordRule((_NO_TRACE, When("input", kind=JsonKind.ARRAY)), each="input[]", rules=_TURNS),
    RecordRule((_NO_TRACE, When("input", kind=JsonKind.OBJECT)), each="input", rules=_TURNS),
    RecordRule((has("steps"),), each="steps[]", rules=_STEPS),
    RecordRule((has("outputs"),), each="outputs[]", rules=_OUTPUTS),
    RecordRule((lacks("steps"), lacks("outputs"), has("output_text")), Kind.SAID, "assistant", "output_text"),
)

# Streams.

_OPENED = (
    PartRule((is_("type", "model_output"),), Kind.SAID, "content[0].text"),
    _TEXT,
    PartRule((is_("type", "thought"),), Kind.THOUGHT, "summary[0].text"),
    PartRule((ends("type", "_call"),), Kind.CALL, "", "id", "name|type"),
    PartRule((ends("type", "_result"),), Kind.REPLY, "result", "call_id", "name", outcome=_FAILED),
)
_DELTAS = (
    _TEXT,
    PartRule((is_("type", "thought_summary"),), Kind.THOUGHT, "content.text"),
    PartRule((is_("type", "thought_signature", "text_annotation_delta"),), None),
    PartRule((is_("type", "arguments_delta"),), Kind.CALL, "arguments", text=True),
    PartRule((ends("type", "_call"),), Kind.CALL, "arguments"),
    PartRule((ends("type", "_result"),), Kind.REPLY, "result"),
)


def _event(*types: str) -> tuple[When, ...]:
    return (is_("event_type", *types),)


def _of(step: Step) -> Stream:
    return Stream(step, "index", "", "interaction.id")


_STREAM = (
    RecordRule(
        _event("interaction.created", "interaction.start"),
        Kind.SAID,
        "assistant",
        "interaction.steps",
        stream=_of(Step.REPLY),
    ),
    RecordRule(
        _event("step.start", "content.start"),
        Kind.SAID,
        "assistant",
        "step|content",
        _OPENED,
        stream=_of(Step.OPEN),
    ),
    RecordRule(_event("step.delta", "content.delta"), Kind.SAID, "assistant", "delta", _DELTAS, stream=_of(Step.GROW)),
    RecordRule(_event("step.stop", "content.stop"), stream=_of(Step.CLOSE)),
    RecordRule(
        _event("interaction.completed", "interaction.complete"),
        stream=_of(Step.END),
        faults=(Fault("interaction.status", _STATES),),
    ),
    RecordRule(_event("interaction.status_update"), None, faults=(Fault("status", _STATES),)),
    RecordRule(
        _event("error"),
        Kind.NOTICE,
        "system",
        "error.message|error",
        faults=(Fault("error.code|error", _CODES, (W_RUN_ERROR, "api")),),
    ),
)
_TYPES = (
    *("user_input", "model_output", "thought", "function_call", "function_result", "google_search_call"),
    *("code_execution_call", "url_context_call", "mcp_server_tool_call", "file_search_call", "google_maps_call"),
)
_EVENTS = (
    *("interaction.created", "interaction.status_update", "interaction.completed", "step.start", "step.delta"),
    *("step.stop", "interaction.start", "interaction.complete", "content.start", "content.delta", "content.stop"),
)

INTERACTIONS = RecordFormat(
    name="interactions",
    title="Gemini Interactions API",
    container=Container.JSON,
    signatures=(
        Signature(95, (), {"event_type": frozenset({*_EVENTS, "error"})}),
        Signature(95, ("steps[].type",), {"steps[].type": frozenset(_TYPES)}, ("schema_version",)),
        Signature(95, ("outputs[].type", "status"), {"object": frozenset({"interaction"})}),
        Signature(95, ("response.steps[].type",), {"response.steps[].type": frozenset(_TYPES)}),
        Signature(95, ("interaction.steps[].type",), {"interaction.steps[].type": frozenset(_TYPES)}),
        Signature(94, ("input[].type",), {"input[].type": frozenset({"user_input", "model_output"})}, ("messages",)),
        Signature(94, ("input", "system_instruction|previous_interaction_id|generation_config"), {}, ("messages",)),
    ),
    records=(
        RecordRule((has("interaction.steps"), lacks("event_type")), each="interaction", rules=_PLAIN, starts=True),
        *_STREAM,
        RecordRule((has("request.input"), lacks("input")), each="request", rules=_PLAIN, starts=True),
        RecordRule((has("response.steps"),), each="response", rules=_PLAIN),
        RecordRule((has("id"), has("status")), None, faults=(Fault("status", _STATES),), goes_on=True),
        *_PLAIN,
    ),
    usage=(
        Tokens(
            "usage|interaction.usage",
            input=("total_input_tokens",),
            output=("total_output_tokens", "total_thought_tokens"),
            cached=("total_cached_tokens",),
            reasoning=("total_thought_tokens",),
            total=("total_tokens",),
        ),
    ),
    model="model|interaction.model|request.model",
)
