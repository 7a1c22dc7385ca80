"""MLflow: exported traces with spans."""

from __future__ import annotations

from viewer.formats.tables.exchanges import exchange, unknown_values
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Inner,
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
from viewer.formats.tables.traced_messages import TRACED
from viewer.formats.tables.usage import MLFLOW_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_PARENT = "parent_span_id|parent_id"
_START = "start_time_unix_nano|start_time|start_time_ns"
_END = f"end_time_unix_nano|end_time|end_time_ns|{_START}"
_IN, _OUT, _CHAT = "attributes.mlflow.spanInputs", "attributes.mlflow.spanOutputs", "attributes.mlflow.chat.messages"
_TYPE = "attributes.mlflow.spanType|span_type"
_TOOLS = ("TOOL", "RETRIEVER", "RERANKER", "EMBEDDING", "EVALUATOR", "GUARDRAIL")
_CALLS = ("LLM", "CHAT_MODEL", '"LLM"', '"CHAT_MODEL"')

MLFLOW = RecordFormat(
    name="mlflow",
    title="MLflow traces",
    container=Container.JSON,
    signatures=(Signature(95, ("info", "data.spans")),),
    records=(
        RecordRule(
            (has("attributes"),),
            None,
            also=(
                RecordRule((is_(_TYPE, *_CALLS), has(_CHAT)), each=f"{_CHAT}[]", rules=TRACED, time=_START),
                *exchange(_IN, _OUT, (is_(_TYPE, *_CALLS), lacks(_CHAT)), (_START, _END)),
                *unknown_values(_IN, _OUT, (is_not(_TYPE, *_CALLS),), (_START, _END), _PARENT),
                RecordRule(
                    (is_("status.code|status_code", "ERROR", "STATUS_CODE_ERROR", "2"),),
                    Kind.NOTICE,
                    "system",
                    "status.message|status_message|name",
                    faults=(Fault("status.code|status_code", default=(W_RUN_ERROR, "unknown")),),
                    time=_END,
                ),
            ),
        ),
    ),
    inner=(*(Inner("", each, always=True) for each in (_IN, _OUT, _CHAT)), "attributes.mlflow.chat.tokenUsage"),
    usage=(MLFLOW_TOKENS,),
    model="attributes.mlflow.llm.model|attributes.model",
    spans=Spans(
        each="data.spans[]|traces[].data.spans[]",
        trace="trace_id|context.trace_id",
        id="span_id|context.span_id",
        parent=_PARENT,
        start=_START,
        results=_OUT,
        asked=_IN,
        agents=(is_(_TYPE, "AGENT", '"AGENT"'),),
        tools=(is_(_TYPE, *_TOOLS, *(f'"{name}"' for name in _TOOLS)),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
