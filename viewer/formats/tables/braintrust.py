"""Braintrust: exported spans of logs and experiments, one per line or as a list."""

from __future__ import annotations

from viewer.formats.tables.exchanges import request, response, unknown_values
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

_TYPE, _PARENT = "span_attributes.type", "span_parents[0]"
_START, _END = "metrics.start|created", "metrics.end|metrics.start|created"
_IS_CALL = (is_(_TYPE, "llm"),)
_CHOICE = "output[0].message"
_OTHERS = (RecordRule((has("message"),), each="message", rules=TRACED), RecordRule((), Kind.UNKNOWN, "assistant"))
"""Rules for the choices after the first. Braintrust stores choices as a list, without the completion object around
it."""
_LISTS = ("events", "data", "rows")

BRAINTRUST = RecordFormat(
    name="braintrust",
    title="Braintrust logs",
    container=Container.JSON,
    signatures=(
        Signature(95, ("span_id", "root_span_id"), none_of=("traceId",)),
        *(Signature(95, (f"{name}[].span_id", f"{name}[].root_span_id")) for name in _LISTS),
    ),
    records=(
        RecordRule(
            (has("span_id"),),
            None,
            also=(
                *request("input", _IS_CALL, _START, TRACED),
                *response("output", (*_IS_CALL, lacks(_CHOICE)), _END, TRACED),
                RecordRule((*_IS_CALL, has(_CHOICE)), each=_CHOICE, rules=TRACED, time=_END),
                RecordRule(
                    (*_IS_CALL, has(_CHOICE), has("output[1]")),
                    each="output[1:]",
                    rules=_OTHERS,
                    time=_END,
                    unused=True,
                ),
                *unknown_values("input", "output", (is_not(_TYPE, "llm"),), (_START, _END), _PARENT),
                RecordRule((has("expected"),), Kind.UNKNOWN, "assistant", "expected", time=_END),
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
    ),
    inner=("input", "output"),
    usage=(openai("metrics"),),
    model="metadata.model",
    spans=Spans(
        each="|".join(f"{name}[]" for name in _LISTS),
        trace="root_span_id",
        id="span_id",
        parent=_PARENT,
        start=_START,
        group="metadata.session_id|metadata.thread_id|metadata.conversation_id",
        attributes="",
        results="output",
        asked="input",
        tools=(is_(_TYPE, "tool", "score", "function"),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
