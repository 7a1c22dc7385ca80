"""Langfuse: exported traces with observations, or one observation per line."""

from __future__ import annotations

from viewer.formats.tables.exchanges import exchange, unknown_values
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    RecordFormat,
    RecordRule,
    Signature,
    Spans,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.formats.tables.usage import LANGFUSE_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_PARENT = "parentObservationId|parent_observation_id"
_START, _END = "startTime|start_time", "endTime|end_time|startTime|start_time"
_GENERATION = (is_("type", "GENERATION"),)
_OTHER = (is_not("type", "GENERATION"),)
_TYPES = frozenset(
    {"GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EMBEDDING", "EVALUATOR", "GUARDRAIL"}
)

LANGFUSE = RecordFormat(
    name="langfuse",
    title="Langfuse traces",
    container=Container.JSON,
    signatures=(
        Signature(92, ("observations[].id",), {"observations[].type": _TYPES}),
        Signature(92, ("id",), {"type": _TYPES}, ("attributes",), ("traceId", "trace_id")),
    ),
    records=(
        RecordRule(
            (has("type"),),
            None,
            also=(
                *exchange("input", "output", _GENERATION, (_START, _END)),
                *unknown_values("input", "output", _OTHER, (_START, _END), _PARENT),
                RecordRule(
                    (is_("level", "ERROR"),),
                    Kind.NOTICE,
                    "system",
                    "statusMessage|status_message",
                    faults=(Fault("level", default=(W_RUN_ERROR, "unknown")),),
                    time=_END,
                ),
            ),
        ),
    ),
    inner=("input", "output"),
    usage=(LANGFUSE_TOKENS,),
    model="model|providedModelName|provided_model_name",
    spans=Spans(
        each="observations[]|data[].observations[]|data[]",
        trace="traceId|trace_id",
        id="id",
        parent=_PARENT,
        start=_START,
        group="sessionId|session_id",
        attributes="",
        results="output",
        outer_results="output",
        asked="input",
        outer_asked="input",
        agents=(is_("type", "AGENT"),),
        workflows=(lacks("input|output"),),
        tools=(is_("type", "TOOL", "RETRIEVER", "EVALUATOR", "GUARDRAIL", "EMBEDDING"),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
