"""LangSmith: exported runs, one per line or as a list."""

from __future__ import annotations

from viewer.formats.tables.exchanges import request, response, unknown_values
from viewer.formats.tables.langchain_messages import TYPED
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    RecordFormat,
    RecordRule,
    Signature,
    Spans,
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.formats.tables.traced_messages import TRACED
from viewer.formats.tables.usage import LANGSMITH_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_PARENT = "parent_run_id"
_START, _END = "start_time", "end_time|start_time"
_CALL = (is_("run_type", "llm", "chat"),)
_OTHER = (is_not("run_type", "llm", "chat"),)
_BATCHED = When("inputs.messages[0]", kind=JsonKind.ARRAY)
_BATCHES = (
    RecordRule((*_CALL, _BATCHED), each="inputs.messages[0][]", rules=TRACED, time=_START),
    RecordRule((*_CALL, _BATCHED), each="inputs.messages[1:]", rules=TRACED, time=_START, unused=True),
)

LANGSMITH = RecordFormat(
    name="langsmith",
    title="LangSmith runs",
    container=Container.JSON,
    signatures=(
        Signature(93, ("run_type", "inputs")),
        Signature(93, ("run_type", "dotted_order")),
        Signature(93, ("runs[].run_type",)),
        Signature(93, ("messages[].content",), {"messages[].type": frozenset({"human", "ai"})}, ("messages[].role",)),
        Signature(93, ("post[].dotted_order",)),
        Signature(93, ("patch[].dotted_order",)),
        Signature(93, ("values.messages[].content",), {"values.messages[].type": frozenset({"human", "ai"})}),
    ),
    records=(
        RecordRule((lacks("run_type"), has("values.messages")), each="values.messages[]", rules=TRACED),
        RecordRule((lacks("run_type|role"), has("messages")), each="messages[]", rules=TRACED),
        RecordRule(
            (lacks("run_type"), has("dotted_order"), has("outputs.choices[0].message")),
            each="outputs.choices[0].message",
            rules=TRACED,
            time=_END,
        ),
        RecordRule(
            (lacks("run_type"), has("dotted_order"), has("outputs")), Kind.UNKNOWN, "assistant", "outputs", time=_END
        ),
        RecordRule(
            (has("run_type"),),
            None,
            also=(
                *request("inputs", (*_CALL, lacks("inputs.messages[0][0]")), _START, TRACED),
                *_BATCHES,
                *response("outputs", _CALL, _END, TRACED),
                *unknown_values("inputs", "outputs", _OTHER, (_START, _END), _PARENT),
                RecordRule(
                    (has("error"),),
                    Kind.NOTICE,
                    "system",
                    "error",
                    faults=(Fault("error", default=(W_RUN_ERROR, "unknown")),),
                    time=_END,
                ),
            ),
        ),
        *TYPED,
    ),
    inner=("inputs", "outputs"),
    usage=LANGSMITH_TOKENS,
    model="extra.metadata.ls_model_name|extra.invocation_params.model",
    spans=Spans(
        each="runs[]|post[]&patch[]",
        trace="trace_id",
        id="id",
        parent=_PARENT,
        start=f"{_START}|end_time",
        group="extra.metadata.thread_id|extra.metadata.session_id|extra.metadata.conversation_id",
        attributes="",
        results="outputs",
        asked="inputs",
        tools=(is_("run_type", "tool", "retriever", "embedding"),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
