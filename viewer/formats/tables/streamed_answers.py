"""Rules for the events of a streamed answer, in the shape of several APIs: chat, Anthropic, Responses, and Gemini."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.anthropic_stream import stream_rules
from viewer.formats.tables.cohere_chat import STREAM as COHERE_STREAM
from viewer.formats.tables.gemini_parts import PARTS as GEMINI_PARTS
from viewer.formats.tables.model import Fault, Merge, Mode, PartRule, RecordRule, When, has, is_, is_not, lacks, starts
from viewer.formats.tables.traced_messages import TRACED
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind


def _pieces(
    when: tuple[When, ...], kind: Kind, body: str, id: str = "id", parts: tuple[PartRule, ...] = ()
) -> tuple[RecordRule, ...]:
    """Return the rules for pieces of text. The pieces of an answer share its ID, if it has one."""
    return tuple(
        RecordRule((*when, identified), kind, "assistant", body, parts, merge=Merge(Mode.APPEND, key))
        for identified, key in ((has(id), id), (lacks(id), ""))
    )


_DELTA = "choices[0].delta"
_THOUGHT = f"{_DELTA}.reasoning_content|{_DELTA}.reasoning|{_DELTA}.thinking|{_DELTA}.reasoning_details"
_FINISH = Fault(
    "choices[0].finish_reason",
    {"length": (W_RUN_INCOMPLETE, "max-tokens"), "content_filter": (W_RUN_ERROR, "content-filter")},
)
_CALL = RecordRule(
    (),
    Kind.CALL,
    "assistant",
    "function.arguments",
    call_id="id",
    name="function.name",
    merge=Merge(Mode.APPEND, begins=has("function.name")),
)
_CHUNK = (
    RecordRule(
        (has(_DELTA), has("choices[0].index"), is_not("choices[0].index", "0")),
        Kind.UNKNOWN,
        "assistant",
        _DELTA,
        unused=True,
    ),
    RecordRule(
        (has(_DELTA), lacks("choices[1]")),
        None,
        faults=(_FINISH,),
        also=(
            *_pieces((has(_THOUGHT),), Kind.THOUGHT, _THOUGHT),
            *(
                rule
                for text in (f"{_DELTA}.content", f"{_DELTA}.refusal")
                for rule in _pieces((When(text, kind=JsonKind.STRING),), Kind.SAID, text)
            ),
            RecordRule(
                (When(f"{_DELTA}.content", kind=JsonKind.ARRAY),), Kind.UNKNOWN, "assistant", f"{_DELTA}.content"
            ),
            RecordRule((has(f"{_DELTA}.tool_calls"),), each=f"{_DELTA}.tool_calls[]", rules=(_CALL,)),
        ),
    ),
    RecordRule((is_("object", "chat.completion.chunk"), lacks("choices[0]")), None),
)
_RESPONSE_EVENTS = (
    RecordRule(
        (is_("type", "response.completed", "response.incomplete", "response.failed"), has("response.output")),
        each="response.output[]",
        rules=TRACED,
    ),
    RecordRule(
        (starts("type", "response."), has("delta")),
        Kind.UNKNOWN,
        "assistant",
        "delta",
        merge=Merge(Mode.APPEND, "item_id"),
    ),
    RecordRule((starts("type", "response."),), None),
)
"""The rules for the events of the Responses API. The last event contains the whole answer. The text in an earlier event
may be a thought."""
_GEMINI = (
    *_pieces(
        (is_("candidates[0].content.role", "model"), lacks("candidates[1]")),
        Kind.SAID,
        "candidates[0].content.parts",
        "responseId",
        GEMINI_PARTS,
    ),
    RecordRule((has("usageMetadata"), lacks("candidates[0].content")), None),
)
_OLLAMA_CALL = RecordRule((), Kind.CALL, "assistant", "function.arguments", call_id="id", name="function.name")
_OLLAMA = (
    RecordRule(
        (has("model"), has("done"), is_("message.role", "assistant")),
        None,
        faults=(Fault("done_reason", {"length": (W_RUN_INCOMPLETE, "max-tokens")}),),
        also=(
            *_pieces((has("message.thinking"),), Kind.THOUGHT, "message.thinking"),
            *_pieces((When("message.content", kind=JsonKind.STRING),), Kind.SAID, "message.content"),
            RecordRule((has("message.tool_calls"),), each="message.tool_calls[]", rules=(_OLLAMA_CALL,)),
        ),
    ),
)
"""Rules for Ollama lines, which have no ID."""
_ERROR = RecordRule(
    (has("error"),),
    Kind.NOTICE,
    "system",
    "error.message|error",
    faults=(Fault("error", default=(W_RUN_ERROR, "api")),),
)
EVENTS = (_ERROR, *_CHUNK, *stream_rules(), *COHERE_STREAM, *_RESPONSE_EVENTS, *_GEMINI, *_OLLAMA, RecordRule(()))
"""The rules for one event. Any other event is unknown and therefore hidden."""


def with_split_prompts(rules: tuple[RecordRule, ...]) -> tuple[RecordRule, ...]:
    """Return the rules, changed to split user text, because clients put reminders and command output there."""
    return tuple(
        replace(
            rule,
            split=rule.split or (rule.kind is Kind.SAID and rule.role == "user"),
            rules=with_split_prompts(rule.rules),
            also=with_split_prompts(rule.also),
        )
        for rule in rules
    )
