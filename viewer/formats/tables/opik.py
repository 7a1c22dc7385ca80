"""Opik: exported traces with their spans, and single spans, one per line or in a list."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import PARTS
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

_TOOLS = ("tool", "guardrail")
_TYPES = frozenset({"llm", "general", *_TOOLS})
_PARENT = "parent_span_id"
_START, _END = "start_time", "end_time|start_time"
_IS_CALL = is_("type", "llm")
_BLOCK, _WHOSE = "output.content[0].type", "output.role|output.type"
"""The paths of the first content block of an answer, and of its role. Opik stores only the content of Anthropic's
answers."""

OPIK = RecordFormat(
    name="opik",
    title="Opik traces",
    container=Container.JSON,
    signatures=(
        Signature(95, ("trace.id", "spans[].trace_id", "spans[].start_time"), {"spans[].type": _TYPES}),
        Signature(95, ("trace.id", "trace.start_time", "spans"), none_of=("spans[0]",)),
        Signature(
            93, ("id", "trace_id", "start_time", "input"), {"type": _TYPES}, ("attributes", "run_type", "object")
        ),
        Signature(93, ("content[].trace_id", "content[].start_time"), {"content[].type": _TYPES}),
    ),
    records=(
        RecordRule(
            (has("type"), has("trace_id")),
            None,
            also=(
                *request("input", (_IS_CALL,), _START, TRACED),
                *response("output", (_IS_CALL, lacks(_BLOCK)), _END, TRACED),
                *response("output", (_IS_CALL, has(_BLOCK), has(_WHOSE)), _END, TRACED),
                RecordRule(
                    (_IS_CALL, has(_BLOCK), lacks(_WHOSE)), Kind.SAID, "assistant", "output.content", PARTS, time=_END
                ),
                *unknown_values("input", "output", (is_not("type", "llm", *_TOOLS),), (_START, _END), _PARENT),
                RecordRule((is_("type", *_TOOLS),), Kind.UNKNOWN, "assistant", "input", time=_START),
                RecordRule((is_("type", *_TOOLS),), Kind.UNKNOWN, "assistant", "output", time=_END),
                RecordRule(
                    (has("error_info"),),
                    Kind.NOTICE,
                    "system",
                    "error_info.message|error_info.exception_type|error_info",
                    faults=(Fault("error_info", default=(W_RUN_ERROR, "unknown")),),
                    time=_END,
                ),
            ),
        ),
        RecordRule((has("trace.input"),), Kind.UNKNOWN, "user", "trace.input", goes_on=True),
        RecordRule((has("trace"),), Kind.UNKNOWN, "assistant", "trace.output"),
    ),
    inner=("input", "output"),
    usage=(openai("usage"),),
    model="model",
    spans=Spans(
        each="spans[]|content[]",
        trace="trace_id",
        id="id",
        parent=_PARENT,
        start=_START,
        group="metadata.thread_id|thread_id",
        attributes="",
        results="output",
        outer_results="trace.output",
        asked="input",
        outer_asked="trace.input",
        tools=(is_("type", *_TOOLS),),
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
