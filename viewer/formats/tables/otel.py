"""OpenTelemetry traces of language models: GenAI semantic conventions, OpenInference, and the Vercel AI SDK."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CALL, CHAT, PARTS, chat_rules
from viewer.formats.tables.exchanges import exchange, unknown_values
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Inner,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    Spans,
    When,
    has,
    is_,
    is_not,
    lacks,
    printed,
    starts,
)
from viewer.formats.tables.prompts import prompt_kind
from viewer.formats.tables.traced_messages import GEN_AI_MESSAGE
from viewer.formats.tables.usage import OTEL_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_ASIDE = ("EVALUATOR", "GUARDRAIL", "RERANKER", "EMBEDDING")
"""Kinds of spans whose content never reaches a user, not even through the model calls below them."""
_OF_AGENTS = (
    "input.value",
    "output.value",
    "graph.node.id",
    "agent.name",
    "gen_ai.agent.name",
    "traceloop.entity.name",
)
"""Attributes that mark a span as an agent rather than just the root of a workflow."""
_START = "startTimeUnixNano|start_time_unix_nano|startTime|start_time|timestamp|started_at"
_END = f"endTimeUnixNano|end_time_unix_nano|endTime|end_time|{_START}"
_PARENT = "parentSpanId|parent_span_id|parentId|parent_id|parentSpanContext.spanId|parentSpanContext"
_SPAN = (
    *("resourceSpans[].scopeSpans[].spans[]", "resourceSpans[].instrumentationLibrarySpans[].spans[]"),
    *("resource_spans[].scope_spans[].spans[]", "batches[].scopeSpans[].spans[]"),
    *("batches[].instrumentationLibrarySpans[].spans[]", "trace.resourceSpans[].scopeSpans[].spans[]"),
    *("scopeSpans[].spans[]", "spans[]"),
)

_FINISHED = {
    "length": (W_RUN_INCOMPLETE, "max-tokens"),
    "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
    "content-filter": (W_RUN_ERROR, "content-filter"),
}
_OPEN_INFERENCE = (RecordRule((has("message"),), each="message", rules=chat_rules(body="content|contents")), *CHAT)

# Attributes of the GenAI conventions, on a span or on one of its events.

_GEN_AI = (
    RecordRule(
        (has("attributes.gen_ai.system_instructions"),),
        Kind.INSTRUCTION,
        "system",
        "attributes.gen_ai.system_instructions",
        PARTS,
    ),
    RecordRule(
        (has("attributes.gen_ai.tool.definitions"),), Kind.INSTRUCTION, "system", "attributes.gen_ai.tool.definitions"
    ),
    RecordRule(
        (has("attributes.gen_ai.input.messages"),),
        each="attributes.gen_ai.input.messages[]",
        rules=GEN_AI_MESSAGE,
        time=_START,
    ),
    RecordRule(
        (has("attributes.gen_ai.output.messages"),),
        each="attributes.gen_ai.output.messages[]",
        rules=GEN_AI_MESSAGE,
        time=_END,
    ),
    *(
        RecordRule(
            (When(f"attributes.gen_ai.{name}.messages", kind=JsonKind.STRING),),
            Kind.UNKNOWN,
            "assistant",
            f"attributes.gen_ai.{name}.messages",
        )
        for name in ("input", "output")
    ),
)
_PROMPTS = tuple(f"{program}user_prompt" for program in ("", "claude_code.", "codex.", "gemini_cli.", "qwen-code."))
"""The names of the events with which coding agents log what the user typed."""
_EVENT_MESSAGE = "attributes.gen_ai.event.content"
_EVENTS = (
    RecordRule((is_("name", "gen_ai.client.inference.operation.details"),), None, also=_GEN_AI),
    RecordRule(
        (is_("name", "gen_ai.assistant.message"), has("attributes.tool_calls")),
        None,
        also=(RecordRule((), each="attributes.tool_calls[]", rules=CALL),),
        goes_on=True,
    ),
    RecordRule(
        (is_("name", "gen_ai.assistant.message"), lacks("attributes.content"), has("attributes.tool_calls")), None
    ),
    *(
        rule
        for name, kind, role in (
            ("user", Kind.SAID, "user"),
            ("assistant", Kind.SAID, "assistant"),
            ("system", Kind.INSTRUCTION, "system"),
            ("tool", Kind.REPLY, "tool"),
        )
        for rule in (
            RecordRule(
                (is_("name", f"gen_ai.{name}.message"), has("attributes.content")),
                kind,
                role,
                "attributes.content",
                PARTS,
                call_id="attributes.id|attributes.tool_call_id",
            ),
            RecordRule(
                (is_("name", f"gen_ai.{name}.message"), When(_EVENT_MESSAGE, kind=JsonKind.OBJECT)),
                kind,
                role,
                f"{_EVENT_MESSAGE}.content",
                PARTS,
                call_id=f"{_EVENT_MESSAGE}.id|{_EVENT_MESSAGE}.tool_call_id",
                also=(RecordRule((), each=f"{_EVENT_MESSAGE}.tool_calls[]", rules=CALL),),
            ),
        )
    ),
    RecordRule(
        (is_("name", "gen_ai.choice"), When("attributes.message", kind=JsonKind.OBJECT)),
        None,
        also=(
            RecordRule(
                (has("attributes.message.content"),), Kind.SAID, "assistant", "attributes.message.content", PARTS
            ),
            RecordRule((), each="attributes.message.tool_calls[]", rules=CALL),
        ),
    ),
    RecordRule(
        (is_("name", "gen_ai.choice"), When("attributes.message", kind=JsonKind.ARRAY)),
        Kind.SAID,
        "assistant",
        "attributes.message",
        PARTS,
    ),
    RecordRule(
        (is_("name", "gen_ai.choice"), has(f"{_EVENT_MESSAGE}.message")),
        None,
        also=(
            RecordRule(
                (has(f"{_EVENT_MESSAGE}.message.content"),),
                Kind.SAID,
                "assistant",
                f"{_EVENT_MESSAGE}.message.content",
                PARTS,
            ),
            RecordRule((), each=f"{_EVENT_MESSAGE}.message.tool_calls[]", rules=CALL),
        ),
    ),
    RecordRule(
        (is_("name", "exception"),),
        Kind.NOTICE,
        "system",
        "attributes.exception.message",
    ),
    RecordRule(
        (is_("name", *_PROMPTS), has("attributes.prompt")), Kind.SAID, "user", "attributes.prompt", classify=True
    ),
    RecordRule((lacks("attributes"),), None),
    RecordRule((has("attributes.body"), lacks("attributes.content")), Kind.NOTICE, "system", "attributes.body"),
)

# A span follows one convention: the first of these that it uses.

_NOT_NEW = lacks("attributes.gen_ai.input.messages|attributes.gen_ai.output.messages")
_ALL_MESSAGES = "attributes.pydantic_ai.all_messages"
"""The path of the conversation of an agent run, on the span of the run."""
_PAIRS = "attributes.gen_ai.prompt|attributes.gen_ai.completion"
_INFERENCE = "attributes.llm.input_messages|attributes.llm.output_messages"
_PRINTED = RecordRule(
    (is_("role", "assistant"), printed("content"), When("content", not_starts=('{"', "{ ", "{\n"))),
    Kind.UNKNOWN,
    "assistant",
    "content",
)
"""The rule for an answer that was stored as a printed object. An answer in JSON is text."""
_OLD_RULES = (
    RecordRule((), each="attributes.gen_ai.prompt[]", rules=GEN_AI_MESSAGE, time=_START),
    RecordRule((), each="attributes.gen_ai.completion[]", rules=(_PRINTED, *GEN_AI_MESSAGE), time=_END),
)
_INFERENCE_RULES = (
    RecordRule((has("attributes.llm.tools"),), Kind.INSTRUCTION, "system", "attributes.llm.tools"),
    RecordRule((), each="attributes.llm.input_messages[]", rules=_OPEN_INFERENCE, time=_START),
    RecordRule((), each="attributes.llm.output_messages[]", rules=_OPEN_INFERENCE, time=_END),
)
_PROMPT = "attributes.ai.prompt"
_RESPONSE = "attributes.ai.response"
_VERCEL_RULES = (
    RecordRule((), Kind.INSTRUCTION, "system", f"{_PROMPT}.system|{_PROMPT}.=.system", time=_START),
    RecordRule((has(f"{_PROMPT}.tools"),), Kind.INSTRUCTION, "system", f"{_PROMPT}.tools", time=_START),
    RecordRule((), each=f"{_PROMPT}.messages[]|{_PROMPT}.=.messages[]", rules=CHAT, time=_START),
    *(
        RecordRule(
            (lacks(f"{_PROMPT}.messages|{_PROMPT}.=.messages"), When(at, kind=JsonKind.STRING)),
            Kind.SAID,
            "user",
            at,
            time=_START,
            classify=True,
        )
        for at in (f"{_PROMPT}.prompt", f"{_PROMPT}.=.prompt")
    ),
    *(
        RecordRule((When(at, kind=JsonKind.STRING),), Kind.UNKNOWN, "user", at, time=_START)
        for at in (_PROMPT, f"{_PROMPT}.=")
    ),
    RecordRule((has(f"{_RESPONSE}.reasoning"),), Kind.THOUGHT, "assistant", f"{_RESPONSE}.reasoning", time=_END),
    RecordRule(
        (When(f"{_RESPONSE}.text", kind=JsonKind.STRING),), Kind.SAID, "assistant", f"{_RESPONSE}.text", time=_END
    ),
    RecordRule((has(f"{_RESPONSE}.object"),), Kind.UNKNOWN, "assistant", f"{_RESPONSE}.object", time=_END),
    RecordRule((), each=f"{_RESPONSE}.toolCalls[]", rules=CALL, time=_END),
)
_VERCEL = f"{_PROMPT}|{_RESPONSE}"
_ASKED, _ANSWERED = "attributes.request_data", "attributes.response_data"
_LOGGED = ("attributes.all_messages_events", "attributes.events")
_LOGFIRE = f"{_ASKED}|{_ANSWERED}|{'|'.join(_LOGGED)}"
_LOGGED_EVENT = (RecordRule((has("message"), lacks("role")), each="message", rules=CHAT), *CHAT)
_LOGFIRE_RULES = (
    *(
        RecordRule((has(f"{_ASKED}.{name}"),), Kind.INSTRUCTION, "system", f"{_ASKED}.{name}", time=_START)
        for name in ("system", "instructions", "tools")
    ),
    RecordRule((), each=f"{_ASKED}.messages[]", rules=CHAT, time=_START),
    *(
        RecordRule((has(at), lacks("attributes.events")), Kind.UNKNOWN, role, at, time=_START)
        for at, role in (
            *((f"{_ASKED}.{name}", "user") for name in ("prompt", "input")),
            *((f"{_ANSWERED}.{name}", "assistant") for name in ("text", "output")),
        )
    ),
    RecordRule((has(f"{_ANSWERED}.message"),), each=f"{_ANSWERED}.message", rules=CHAT, time=_END),
    RecordRule(
        (When(f"{_ANSWERED}.combined_chunk_content", kind=JsonKind.STRING), lacks(f"{_ANSWERED}.message")),
        Kind.SAID,
        "assistant",
        f"{_ANSWERED}.combined_chunk_content",
        time=_END,
    ),
    *(RecordRule((), each=f"{at}[]", rules=_LOGGED_EVENT, time=_START) for at in _LOGGED),
)
"""The rules for spans from Logfire before it adopted the GenAI conventions, and from the first version of Pydantic
AI."""

# Tools, documents, and spans without messages.

_FAILED = Outcomes(failed=("status.code=2", "status.code=STATUS_CODE_ERROR", "status.code=ERROR"))
_TOOLS = (
    RecordRule(
        (has("attributes.gen_ai.tool.call.arguments"),),
        Kind.CALL,
        "assistant",
        "attributes.gen_ai.tool.call.arguments",
        call_id="attributes.gen_ai.tool.call.id",
        name="attributes.gen_ai.tool.name",
        time=_START,
    ),
    RecordRule(
        (has("attributes.gen_ai.tool.call.result"),),
        Kind.REPLY,
        "tool",
        "attributes.gen_ai.tool.call.result",
        call_id="attributes.gen_ai.tool.call.id",
        name="attributes.gen_ai.tool.name",
        outcome=_FAILED,
        time=_END,
    ),
    RecordRule(
        (has("attributes.ai.toolCall.args"),),
        Kind.CALL,
        "assistant",
        "attributes.ai.toolCall.args",
        call_id="attributes.ai.toolCall.id",
        name="attributes.ai.toolCall.name",
        time=_START,
    ),
    RecordRule(
        (has("attributes.ai.toolCall.result"),),
        Kind.REPLY,
        "tool",
        "attributes.ai.toolCall.result",
        call_id="attributes.ai.toolCall.id",
        name="attributes.ai.toolCall.name",
        outcome=_FAILED,
        time=_END,
    ),
    RecordRule(
        (has("attributes.retrieval.documents"),),
        Kind.REPLY,
        "tool",
        "attributes.retrieval.documents[].document.content",
        time=_END,
    ),
)
_PLAIN = (
    lacks("attributes.gen_ai.input.messages|attributes.gen_ai.output.messages"),
    lacks(_PAIRS),
    lacks(_INFERENCE),
    lacks(_VERCEL),
)
_IN, _OUT = "attributes.input.value", "attributes.output.value"
_ROOTS = ((lacks(_PARENT),), (is_(_PARENT, ""),))


def _values(root: tuple[When, ...]) -> tuple[RecordRule, ...]:
    """Return the rules for the input and the output of a root span without messages."""
    is_list, is_object = When(_IN, kind=JsonKind.ARRAY), has(f"{_IN}.messages")
    spoken = has(f"{_IN}[0].role|{_IN}.messages[0].role")
    return (
        RecordRule((*root, *_PLAIN, spoken, is_list), each=f"{_IN}[]", rules=GEN_AI_MESSAGE, time=_START),
        RecordRule((*root, *_PLAIN, spoken, is_object), each=f"{_IN}.messages[]", rules=GEN_AI_MESSAGE, time=_START),
        RecordRule((*root, *_PLAIN, spoken, has(f"{_OUT}.role")), each=_OUT, rules=GEN_AI_MESSAGE, time=_END),
        RecordRule((*root, *_PLAIN, spoken), each=f"{_OUT}.choices[].message", rules=GEN_AI_MESSAGE, time=_END),
    )


_NOT_SPOKEN = "{0}[0].role|{0}.messages[0].role|{0}.role|{0}.choices"
_UNKNOWN_VALUES = tuple(
    RecordRule((*_PLAIN, has(at), *conditions), Kind.UNKNOWN, "assistant", at)
    for at in (_IN, _OUT)
    for conditions in (
        (has(_PARENT), is_not(_PARENT, "")),
        *((*root, lacks(_NOT_SPOKEN.format(at))) for root in _ROOTS),
    )
)
_ERROR = ("2", "STATUS_CODE_ERROR", "ERROR")
_CODES = {
    **dict.fromkeys(("429", "rate_limit", "rate_limit_exceeded", "RateLimitError"), (W_RUN_ERROR, "rate-limit")),
    **dict.fromkeys(("401", "403", "AuthenticationError", "PermissionDeniedError"), (W_RUN_ERROR, "auth")),
    **dict.fromkeys(("context_length_exceeded", "ContextWindowExceededError"), (W_RUN_ERROR, "context-length")),
    **dict.fromkeys(("content_filter", "ContentFilterFinishReasonError"), (W_RUN_ERROR, "content-filter")),
    **dict.fromkeys(("500", "502", "503", "529", "InternalServerError", "APIError"), (W_RUN_ERROR, "api")),
    **dict.fromkeys(("cancelled", "CancelledError", "AbortError"), (W_RUN_ERROR, "aborted")),
}
_STATUS = (
    RecordRule(
        (is_("status.code|status_code", *_ERROR),),
        Kind.NOTICE,
        "system",
        "status.message|status.description|status_message|name",
        faults=(Fault("attributes.error.type|status.code|status_code", _CODES, (W_RUN_ERROR, "unknown")),),
        time=_END,
    ),
    RecordRule(
        (),
        None,
        faults=(Fault("attributes.gen_ai.response.finish_reasons[0]|attributes.ai.response.finishReason", _FINISHED),),
    ),
)

_SPAN_RULES = (
    *_GEN_AI,
    RecordRule((_NOT_NEW, has(_ALL_MESSAGES)), each=f"{_ALL_MESSAGES}[]", rules=GEN_AI_MESSAGE, time=_START),
    RecordRule((_NOT_NEW,), None, also=_OLD_RULES),
    RecordRule((_NOT_NEW, lacks(_PAIRS)), None, also=_INFERENCE_RULES),
    RecordRule((_NOT_NEW, lacks(_PAIRS), lacks(_INFERENCE)), None, also=_VERCEL_RULES),
    RecordRule(
        (_NOT_NEW, lacks(_PAIRS), lacks(_INFERENCE), lacks(_VERCEL), lacks(_LOGFIRE)),
        each="events[]",
        rules=_EVENTS,
        time=_START,
    ),
    RecordRule(
        (_NOT_NEW, lacks(_PAIRS), lacks(_INFERENCE), lacks(_VERCEL), lacks(_ALL_MESSAGES)), None, also=_LOGFIRE_RULES
    ),
    *_TOOLS,
    *(rule for root in _ROOTS for rule in _values(root)),
    *_UNKNOWN_VALUES,
    *_STATUS,
)

_OF_WEAVE = (has("op_name"), has("inputs"))
_ASKED_IN_WEAVE = (*_OF_WEAVE, When("inputs.messages", kind=JsonKind.ARRAY))
_WEAVE_TIMES = ("started_at", "ended_at|started_at")
_CHOICE = "output.choices[0].message"
_WEAVE_RULES = (
    *exchange("inputs", "output", (*_ASKED_IN_WEAVE, has(_CHOICE)), _WEAVE_TIMES),
    *exchange("inputs", "output", (*_ASKED_IN_WEAVE, lacks(_CHOICE), is_("output.type", "message")), _WEAVE_TIMES),
    *unknown_values("inputs", "output", (lacks(_CHOICE), is_not("output.type", "message")), _WEAVE_TIMES, "parent_id"),
    *(
        rule
        for answer in (has(_CHOICE), is_("output.type", "message"))
        for rule in unknown_values("inputs", "output", (lacks("inputs.messages"), answer), _WEAVE_TIMES, "parent_id")
    ),
    RecordRule(
        (*_OF_WEAVE, has("exception")),
        Kind.NOTICE,
        "system",
        "exception",
        faults=(Fault("exception", default=(W_RUN_ERROR, "unknown")),),
        time="ended_at",
    ),
)
"""The rules for a call that Weave exported. Messages are read only if the arguments and the answer have the form of a
model API."""

_RESULTS = "|".join(
    (
        *(f"attributes.{name}" for name in ("output.value", "traceloop.entity.output", "final_result", "output")),
        *(f"attributes.langfuse.{name}.output" for name in ("trace", "observation")),
        *("attributes.mlflow.spanOutputs", "output"),
    )
)
"""The paths of the value that the root of a trace returned to its caller."""
_RECEIVED = "|".join(
    (
        *(f"attributes.{name}" for name in ("input.value", "traceloop.entity.input", "prompt", "input")),
        *(f"attributes.langfuse.{name}.input" for name in ("trace", "observation")),
        *("attributes.mlflow.spanInputs", "input"),
    )
)
"""The paths of the value that the root of a trace received from its caller."""

OTEL = RecordFormat(
    name="otel",
    title="OpenTelemetry traces",
    container=Container.JSON,
    signatures=(
        *(Signature(98, (name,)) for name in ("resourceSpans", "resource_spans", "trace.resourceSpans")),
        Signature(98, ("batches[].scopeSpans",)),
        Signature(98, ("resourceLogs",)),
        Signature(98, ("resource_logs",)),
        *(
            Signature(98, (trace, "attributes"))
            for trace in ("traceId", "trace_id", "context.trace_id", "context.traceId", "spanContext.traceId")
        ),
        Signature(90, members=("gen_ai.", "llm.", "ai.prompt", "ai.response", "attributes.llm.", "attributes.gen_ai.")),
    ),
    records=(
        RecordRule((is_("attributes.gen_ai.operation.name", "embeddings"),), None),
        RecordRule((is_("attributes.openinference.span.kind", *_ASIDE),), None),
        RecordRule(_OF_WEAVE, None, also=_WEAVE_RULES),
        RecordRule((When("attributes", kind=JsonKind.OBJECT),), None, also=_SPAN_RULES),
    ),
    inner=(
        *(f"attributes.gen_ai.{name}" for name in ("system_instructions", "input.messages", "output.messages")),
        *(f"attributes.gen_ai.{name}" for name in ("prompt", "completion")),
        *(_ALL_MESSAGES, _ASKED, _ANSWERED, *_LOGGED),
        *("attributes.ai.prompt", "attributes.ai.prompt.=", "attributes.ai.prompt.messages"),
        "attributes.ai.response.toolCalls",
        *("attributes.llm.input_messages", "attributes.llm.output_messages"),
        *("attributes.input.value", "attributes.output.value"),
        *("events[].attributes.gen_ai.input.messages", "events[].attributes.gen_ai.output.messages"),
        *("events[].attributes.gen_ai.event.content", "events[].attributes.message"),
        "events[].attributes.gen_ai.system_instructions",
        Inner("events[]", "attributes.content", (starts("attributes.content", "[{"),)),
    ),
    usage=OTEL_TOKENS,
    model="attributes.gen_ai.response.model|attributes.gen_ai.request.model|attributes.llm.model_name|attributes.ai.model.id",
    spans=Spans(
        each="|".join(_SPAN),
        trace="traceId|trace_id|context.trace_id|context.traceId|spanContext.traceId",
        id="spanId|span_id|context.span_id|context.spanId|spanContext.spanId|id",
        parent=_PARENT,
        start=_START,
        group="attributes.gen_ai.conversation.id|attributes.session.id|attributes.ai.telemetry.metadata.sessionId",
        agents=(
            is_("attributes.gen_ai.operation.name", "invoke_agent", "create_agent"),
            is_("attributes.openinference.span.kind", "AGENT"),
            is_("attributes.traceloop.span.kind", "agent"),
        ),
        workflows=(
            is_not("attributes.gen_ai.operation.name", "invoke_agent"),
            lacks("|".join(f"attributes.{name}" for name in _OF_AGENTS)),
        ),
        tools=(
            is_("attributes.gen_ai.operation.name", "execute_tool"),
            is_("attributes.openinference.span.kind", "TOOL", "RETRIEVER", *_ASIDE),
            is_("attributes.traceloop.span.kind", "tool"),
            has("attributes.ai.toolCall.name"),
        ),
        remote=(is_("flags", "768", "769"),),
        results=_RESULTS,
        asked=_RECEIVED,
        logs=True,
    ),
    hooks=Hooks(classify=prompt_kind),
)
