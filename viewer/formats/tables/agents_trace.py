"""OpenAI Agents SDK: traces, as its exporters and processors write them."""

from __future__ import annotations

from viewer.formats.tables.exchanges import exchange, request, response, unknown_values
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
from viewer.formats.tables.traced_messages import TRACED
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_START, _END = "started_at", "ended_at|started_at"
_TYPE, _IN, _OUT = "span_data.type", "span_data.input", "span_data.output"
_RESPONSE = "span_data.response"
_IS_GENERATION = (is_(_TYPE, "generation"),)
_STREAMED = (*_IS_GENERATION, is_(f"{_OUT}[0].object", "response"))
"""The conditions for a generation whose output is a response object, which the SDK builds from the chunks of a streamed
chat completion."""

AGENTS_TRACE = RecordFormat(
    name="agents-trace",
    title="OpenAI Agents trace",
    container=Container.JSON,
    signatures=(
        Signature(96, (_TYPE, "trace_id"), {"object": frozenset({"trace.span"})}),
        Signature(96, ("workflow_name",), {"object": frozenset({"trace"})}),
        Signature(96, (f"data[].{_TYPE}", "data[].trace_id")),
        Signature(96, (f"spans[].{_TYPE}", "spans[].trace_id")),
    ),
    records=(
        RecordRule(
            (has(_TYPE),),
            None,
            also=(
                RecordRule(
                    (is_(_TYPE, "response"), has(f"{_RESPONSE}.instructions")),
                    Kind.INSTRUCTION,
                    "system",
                    f"{_RESPONSE}.instructions",
                    time=_START,
                ),
                *request(_IN, _IS_GENERATION, _START, TRACED),
                *response(_OUT, (*_IS_GENERATION, is_not(f"{_OUT}[0].object", "response")), _END, TRACED),
                RecordRule(
                    (*_STREAMED, has(f"{_OUT}[0].output[0]")), each=f"{_OUT}[0].output[]", rules=TRACED, time=_END
                ),
                *(
                    RecordRule((*_STREAMED, unread), Kind.UNKNOWN, "assistant", _OUT, time=_END)
                    for unread in (lacks(f"{_OUT}[0].output[0]"), has(f"{_OUT}[1]"))
                ),
                *exchange(_IN, _RESPONSE, (is_(_TYPE, "response"),), (_START, _END)),
                *unknown_values(
                    _IN, _OUT, (has(_TYPE), is_not(_TYPE, "generation", "response")), (_START, _END), "parent_id"
                ),
                RecordRule((is_(_TYPE, "custom"), has("span_data.data")), Kind.UNKNOWN, "assistant", "span_data.data"),
                RecordRule(
                    (has("error"),),
                    Kind.NOTICE,
                    "system",
                    "error.message|error",
                    faults=(Fault("error", default=(W_RUN_ERROR, "unknown")),),
                    time=_END,
                ),
            ),
        ),
        RecordRule((has("workflow_name"),), None),
        RecordRule((is_("object", "trace"),), None),
    ),
    inner=(_IN, _OUT),
    usage=(openai("span_data.usage"),),
    model="span_data.model|span_data.response.model",
    spans=Spans(
        each="data[]|spans[]",
        trace="trace_id",
        id="id",
        parent="parent_id",
        start=_START,
        attributes="",
        agents=(is_(_TYPE, "agent"),),
        tools=(is_(_TYPE, "function", "guardrail", "mcp_tools"),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
