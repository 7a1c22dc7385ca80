"""Model call logs: proxies (Helicone), DSPy, OpenAI evals, and Hugging Face pipelines."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.tables.chat_messages import CALL, CHAT
from viewer.formats.tables.completions import OPEN_THOUGHTS
from viewer.formats.tables.exchanges import request, response
from viewer.formats.tables.model import (
    Asides,
    Container,
    Exchange,
    Fault,
    History,
    Hooks,
    Inner,
    Narrowing,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    ends,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.formats.tables.streamed_answers import EVENTS
from viewer.formats.tables.traced_messages import TRACED
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_PART_UNKNOWN
from viewer.syntax.json_text import JsonKind

# Proxies.

_BODIES = (("request_body", "response_body"), ("requestBody", "responseBody"))
_TIMES = ("request_created_at|created_at|timestamp", "response_created_at|created_at|timestamp")
_STATUS = Fault(
    "response_status|status",
    {**dict.fromkeys(("200", "201")), "401": (W_RUN_ERROR, "auth"), "429": (W_RUN_ERROR, "rate-limit")},
)


def _proxied(asked: str, answered: str) -> RecordRule:
    """Return the rule for a record with two bodies. A body that is plain text could be anything."""
    in_time, out_time = _TIMES
    is_object = When(answered, kind=JsonKind.OBJECT)
    return RecordRule(
        (has(asked),),
        None,
        exchange=Exchange.REQUEST,
        faults=(_STATUS,),
        also=(
            *(
                rule
                for kind in (JsonKind.OBJECT, JsonKind.ARRAY)
                for rule in request(asked, (When(asked, kind=kind),), in_time, TRACED)
            ),
            RecordRule((When(answered, kind=JsonKind.ARRAY),), each=f"{answered}[]", rules=EVENTS, time=out_time),
            *response(answered, (is_object, lacks(f"{answered}.error")), out_time, TRACED),
            RecordRule(
                (is_object, has(f"{answered}.error")),
                Kind.NOTICE,
                "system",
                f"{answered}.error.message|{answered}.error",
                faults=(Fault(f"{answered}.error", default=(W_RUN_ERROR, "api")),),
            ),
            *(
                RecordRule(
                    (When(body, kind=JsonKind.STRING),),
                    Kind.UNKNOWN,
                    role,
                    body,
                    faults=(Fault(body, default=(W_PART_UNKNOWN, None)),),
                )
                for body, role in ((asked, "user"), (answered, "assistant"))
            ),
        ),
    )


# DSPy.

_SECTION = lazy_regex(r"(?m:^)\[\[ ## (\w+) ## \]\][ \t]*\n?")
_RESPOND = lazy_regex(r"(?m:^)Respond with (?:the corresponding output fields|a JSON object)")
_IS_THOUGHT = lazy_regex(r"(?i)reason|rational|thought|trajectory|plan|critique|tool|observation|scratch|code")
_THOUGHT_MEMBER = lazy_regex(r"(?i)\"\w*(?:reason|rational|thought|trajectory|plan|critique|tool|observation)\w*\"\s*:")
Runs = list[tuple[Kind, int, int]]


def _split_prompt(text: str) -> Runs:
    """Split a prompt into its fields and the request that the program adds."""
    added = _RESPOND.search(text)
    end = added.start() if added else len(text)
    return [*_sections(text, end), *([(Kind.INJECTED, end, len(text))] if added else [])]


def _split_answer(text: str) -> Runs:
    """Split an answer into its fields. Some of them contain thoughts."""
    if text.lstrip()[:1] in ("{", "[") and _THOUGHT_MEMBER.search(text):
        return [(Kind.UNKNOWN, 0, len(text))]
    return _sections(text, len(text))


def _sections(text: str, end: int) -> Runs:
    runs: Runs = []
    kind, start = Kind.SAID, 0
    for mark in _SECTION.finditer(text, 0, end):
        if text[start : mark.start()].strip():
            runs.append((kind, start, mark.start()))
        runs.append((Kind.INJECTED, mark.start(), mark.end()))
        kind, start = Kind.THOUGHT if _IS_THOUGHT.search(mark[1]) else Kind.SAID, mark.end()
    if text[start:end].strip():
        runs.append((kind, start, end))
    return runs


_CHAT = tuple(replace(rule, split=rule.kind is Kind.SAID) for rule in CHAT)
_OUTPUT = "outputs[0]"
_IS_CALL = (has("outputs"), lacks("inputs"))
_DSPY = RecordRule(
    _IS_CALL,
    None,
    exchange=Exchange.REQUEST,
    also=(
        RecordRule((has("messages[0]"),), each="messages[]", rules=_CHAT, time="timestamp"),
        RecordRule((lacks("messages[0]"), has("prompt")), Kind.UNKNOWN, "user", "prompt", time="timestamp"),
        RecordRule((When(_OUTPUT, kind=JsonKind.STRING),), Kind.SAID, "assistant", _OUTPUT, split=True),
        RecordRule((has(f"{_OUTPUT}.reasoning_content"),), Kind.THOUGHT, "assistant", f"{_OUTPUT}.reasoning_content"),
        RecordRule((has(f"{_OUTPUT}.tool_calls"),), each=f"{_OUTPUT}.tool_calls[]", rules=CALL),
        RecordRule(
            (When(f"{_OUTPUT}.text", kind=JsonKind.STRING),), Kind.SAID, "assistant", f"{_OUTPUT}.text", split=True
        ),
        RecordRule(
            (When(_OUTPUT, kind=JsonKind.OBJECT), lacks(f"{_OUTPUT}.text"), lacks(f"{_OUTPUT}.tool_calls")),
            Kind.UNKNOWN,
            "assistant",
            _OUTPUT,
        ),
        RecordRule(
            (has("outputs[1]"),), each="outputs[1:]", rules=(RecordRule((), Kind.UNKNOWN, "assistant"),), unused=True
        ),
    ),
)

# OpenAI evals.

_EVALS = (
    RecordRule(
        (is_("type", "sampling"), has("data.prompt")),
        None,
        exchange=Exchange.REQUEST,
        also=(
            RecordRule(
                (When("data.prompt", kind=JsonKind.ARRAY),), each="data.prompt[]", rules=CHAT, time="created_at"
            ),
            RecordRule(
                (When("data.prompt", kind=JsonKind.STRING),), Kind.UNKNOWN, "user", "data.prompt", time="created_at"
            ),
            RecordRule((When("data.sampled", kind=JsonKind.STRING),), Kind.SAID, "assistant", "data.sampled"),
            RecordRule((When("data.sampled[0]", kind=JsonKind.STRING),), Kind.SAID, "assistant", "data.sampled[0]"),
            RecordRule(
                (has("data.sampled[1]"),),
                each="data.sampled[1:]",
                rules=(RecordRule((), Kind.UNKNOWN, "assistant"),),
                unused=True,
            ),
        ),
    ),
    RecordRule((has("spec|final_report"),), None),
    RecordRule((has("event_id"), is_not("type", "sampling")), None),
)

# Pipelines.

_PIPELINE = (
    RecordRule((When("generated_text", kind=JsonKind.ARRAY),), each="generated_text[]", rules=CHAT, starts=True),
    *(
        RecordRule((When("generated_text", kind=kind),), Kind.UNKNOWN, "assistant", "generated_text", starts=True)
        for kind in (JsonKind.STRING, JsonKind.OBJECT)
    ),
    RecordRule((has("generated_text"),), None),
)
"""The rules for the output of a pipeline. Generated text that is not a list of messages is hidden, because it may begin
with the prompt."""
_OPEN = RecordRule(
    (ends("data.prompt|prompt", *OPEN_THOUGHTS),),
    None,
    narrows=Narrowing(Kind.UNKNOWN, until=(has("data.prompt|outputs|request_body|requestBody|generated_text"),)),
    goes_on=True,
)
_GENERATED = ("messages", "choices", "type", "role", "inputs")

CALL_LOG = RecordFormat(
    name="call-log",
    title="Model call log",
    container=Container.JSON,
    signatures=(
        *(Signature(93, bodies) for bodies in _BODIES),
        Signature(
            91, ("outputs", "model", "timestamp", "messages[].role|prompt"), none_of=("inputs", "run_type", "choices")
        ),
        Signature(94, ("run_id", "event_id", "sample_id", "data"), decides=True),
        Signature(90, ("spec.completion_fns",)),
        Signature(93, ("generated_text[].role",), none_of=_GENERATED),
        Signature(88, ("generated_text",), none_of=(*_GENERATED, "prompt", "text", "instruction")),
    ),
    records=(_OPEN, *(_proxied(*bodies) for bodies in _BODIES), *_EVALS, *_PIPELINE, _DSPY),
    inner=tuple(Inner("", body, events=True) for bodies in _BODIES for body in bodies),
    history=History("response_body.id|responseBody.id|uuid|event_id", "request_body.previous_response_id"),
    asides=Asides("", "request_body|requestBody"),
    usage=(openai("response_body.usage|responseBody.usage|usage"),),
    model="|".join((*(f"{asked}.model" for asked, _ in _BODIES), "model", "spec.completion_fns[0]")),
    batches=True,
    hooks=Hooks(split=_split_prompt, split_answer=_split_answer, classify=traced_prompt_kind),
)
