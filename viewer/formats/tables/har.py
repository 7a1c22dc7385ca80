"""HAR files: requests to model servers and their responses, as browsers and proxies record them."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.formats.tables.completions import OPEN_THOUGHTS
from viewer.formats.tables.exchanges import request, response
from viewer.formats.tables.model import (
    Asides,
    Container,
    Fault,
    Hooks,
    Inner,
    Merge,
    Mode,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    ends,
    has,
    is_,
    is_not,
    lacks,
    starts,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.formats.tables.streamed_answers import EVENTS, with_split_prompts
from viewer.formats.tables.tags import claude_tags
from viewer.formats.tables.threads import RECORDS
from viewer.formats.tables.traced_messages import TRACED
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.notes import I_RECORD_UNKNOWN
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_CONTENT_MISSING, W_PART_UNKNOWN
from viewer.syntax.json_text import JsonKind

_IN, _OUT, _TIME = "request.postData.text", "response.content.text", "startedDateTime"
_RULES = with_split_prompts(TRACED)
_IS_OBJECT = When(_OUT, kind=JsonKind.OBJECT)
_STATUS = Fault(
    "response.status",
    {
        **dict.fromkeys(("200", "201", "202")),
        **dict.fromkeys(("401", "403"), (W_RUN_ERROR, "auth")),
        "429": (W_RUN_ERROR, "rate-limit"),
    },
    (W_RUN_ERROR, "api"),
)
_EXCHANGE = (
    *with_split_prompts(request(_IN, (), _TIME, TRACED)),
    RecordRule((When(_OUT, kind=JsonKind.ARRAY),), each=f"{_OUT}[]", rules=EVENTS, time=_TIME),
    *response(_OUT, (_IS_OBJECT, lacks(f"{_OUT}.error")), _TIME, _RULES),
    RecordRule((_IS_OBJECT, has(f"{_OUT}.error")), Kind.NOTICE, "system", f"{_OUT}.error.message|{_OUT}.error"),
    RecordRule(
        (When(_OUT, kind=JsonKind.STRING),),
        Kind.UNKNOWN,
        "assistant",
        _OUT,
        faults=(Fault(_OUT, default=(W_PART_UNKNOWN, None)),),
    ),
    RecordRule((lacks(_OUT), has("response")), None, faults=(Fault("response", default=(W_CONTENT_MISSING, None)),)),
)
_PROMPT = f"{_IN}.prompt|{_IN}.inputText|{_IN}.input"
_TEXTS = (
    *("choices[0].text", "generations[0].text", "completion", "completions[0].completion", "response"),
    *("results[0].outputText", "results[0].generated_text", "generation", "outputs[0].text"),
)
"""The members that contain the answer of a text completion: OpenAI, Cohere, Anthropic, Aleph Alpha, Ollama, and the
models of Bedrock and watsonx."""
_OTHERS = ("choices", "generations", "completions", "results", "outputs")
_TEXT = "|".join(f"{_OUT}.{text}" for text in _TEXTS)


def _completion(kind: Kind) -> tuple[RecordRule, ...]:
    """Return the rules for a text completion. The prompt is hidden, because a program wrote it, possibly with a
    template."""
    in_event = "|".join(_TEXTS)
    pieces = (
        RecordRule((has("error"),), Kind.NOTICE, "system", "error.message|error"),
        RecordRule((has("thinking"),), Kind.THOUGHT, "assistant", "thinking", merge=Merge(Mode.APPEND)),
        RecordRule(
            (has("choices[0].index"), is_not("choices[0].index", "0")), Kind.UNKNOWN, "assistant", in_event, unused=True
        ),
        RecordRule((When(in_event, kind=JsonKind.STRING),), kind, "assistant", in_event, merge=Merge(Mode.APPEND)),
        RecordRule(()),
    )
    system = f"{_IN}.system|{_IN}.system_prompt|{_IN}.preamble"
    return (
        RecordRule((has(system),), Kind.INSTRUCTION, "system", system, time=_TIME),
        RecordRule((has(_PROMPT),), Kind.UNKNOWN, "user", _PROMPT, time=_TIME),
        RecordRule((has(f"{_OUT}.thinking"),), Kind.THOUGHT, "assistant", f"{_OUT}.thinking", time=_TIME),
        RecordRule((When(_TEXT, kind=JsonKind.STRING),), kind, "assistant", _TEXT, time=_TIME),
        *(
            RecordRule(
                (has(f"{_OUT}.{name}[1]"),),
                each=f"{_OUT}.{name}[1:]",
                rules=(RecordRule((), Kind.UNKNOWN, "assistant"),),
                unused=True,
            )
            for name in _OTHERS
        ),
        RecordRule((When(_OUT, kind=JsonKind.ARRAY),), each=f"{_OUT}[]", rules=pieces, time=_TIME),
    )


def _completions() -> Iterator[RecordRule]:
    """Yield the rules for an entry with a text completion. An answer that repeats its prompt or begins inside a thought
    is hidden."""
    settings = (
        "model",
        "max_tokens",
        "max_tokens_to_sample",
        "maximum_tokens",
        "maxTokens",
        "max_gen_len",
        "temperature",
    )
    asked = (
        When(_PROMPT, present=True),
        has("|".join(f"{_IN}.{name}" for name in (*settings, "textGenerationConfig", "model_id", "stream"))),
        *(lacks(f"{_IN}.{name}") for name in ("messages", "contents", "instructions")),
    )
    for answered in ((has(_TEXT),), (lacks(_TEXT), When(_OUT, kind=JsonKind.ARRAY), has(f"{_OUT}[0]"), _IS_PROMPT)):
        for hidden in (ends(_PROMPT, *OPEN_THOUGHTS), When(f"{_IN}.echo", true=True)):
            yield RecordRule(
                (*asked, *answered, hidden), None, starts=True, faults=(_STATUS,), also=_completion(Kind.UNKNOWN)
            )
        yield RecordRule((*asked, *answered), None, starts=True, faults=(_STATUS,), also=_completion(Kind.SAID))


_IS_PROMPT = has(f"{_IN}.prompt|{_IN}.inputText")
"""Excludes requests of the Responses API, whose streams are read elsewhere."""
_OF_THREAD = (
    RecordRule((is_(f"{_OUT}.object", "thread"),), None, starts=True),
    RecordRule(
        (starts(f"{_OUT}.object", "thread."),),
        None,
        faults=(_STATUS,),
        also=(RecordRule((), each=_OUT, rules=RECORDS),),
    ),
    RecordRule(
        (is_(f"{_OUT}.object", "list"), starts(f"{_OUT}.data[0].object", "thread.")),
        each=f"{_OUT}.data[]",
        rules=RECORDS,
        order="created_at",
    ),
    RecordRule(
        (When(_OUT, kind=JsonKind.ARRAY), starts(f"{_OUT}[0].object", "thread")), each=f"{_OUT}[]", rules=RECORDS
    ),
)
"""The rules for responses of the Assistants API: messages, lists of messages, runs, and streams of runs."""
_TURN = (
    RecordRule((is_("role", "USER", "User"),), Kind.SAID, "user", "message", classify=True, split=True),
    RecordRule((is_("role", "CHATBOT", "Chatbot"),), Kind.SAID, "assistant", "message"),
    RecordRule((), Kind.INSTRUCTION, "system", "message"),
)
_OLD_EVENTS = (
    RecordRule((is_("event_type", "text-generation"),), Kind.SAID, "assistant", "text", merge=Merge(Mode.APPEND)),
    RecordRule(
        (is_("event_type", "stream-start", "stream-end", "citation-generation", "search-queries-generation"),), None
    ),
    RecordRule(()),
)
_OLD_CHAT = RecordRule(
    (When(f"{_IN}.message", kind=JsonKind.STRING), has(f"{_OUT}.generation_id|{_OUT}[0].event_type")),
    None,
    starts=True,
    faults=(_STATUS,),
    also=(
        RecordRule((has(f"{_IN}.preamble"),), Kind.INSTRUCTION, "system", f"{_IN}.preamble", time=_TIME),
        RecordRule((has(f"{_IN}.chat_history"),), each=f"{_IN}.chat_history[]", rules=_TURN),
        RecordRule((has(f"{_IN}.documents"),), Kind.INJECTED, "user", f"{_IN}.documents", time=_TIME),
        RecordRule((), Kind.SAID, "user", f"{_IN}.message", time=_TIME, classify=True, split=True),
        RecordRule((has(f"{_OUT}.tool_calls[0]"),), Kind.CALL, "assistant", f"{_OUT}.tool_calls", time=_TIME),
        RecordRule((When(f"{_OUT}.text", kind=JsonKind.STRING),), Kind.SAID, "assistant", f"{_OUT}.text", time=_TIME),
        RecordRule((When(_OUT, kind=JsonKind.ARRAY),), each=f"{_OUT}[]", rules=_OLD_EVENTS, time=_TIME),
    ),
)
"""The rule for version 1 of the Cohere chat API."""
_BEFORE = f"{_IN}.previous_response_id"
"""The member of a request that continues a conversation without repeating it."""
_CALLS = (
    *((has(f"{_IN}.{name}"), has(f"{_IN}.model")) for name in ("messages", "input")),
    (has(f"{_IN}.contents[0].parts"),),
)
_ENTRY = (
    *_completions(),
    _OLD_CHAT,
    *_OF_THREAD,
    *(RecordRule((*when, lacks(_BEFORE)), None, starts=True, faults=(_STATUS,), also=_EXCHANGE) for when in _CALLS),
    RecordRule((has(_BEFORE),), None, faults=(_STATUS,), also=_EXCHANGE),
    RecordRule((has("request"),), None, faults=(Fault("request", default=(I_RECORD_UNKNOWN, None)),)),
)
"""The rules for an entry. A request that does not look like a model call is reported and skipped, whatever its URL."""

HAR = RecordFormat(
    name="har",
    title="HAR file",
    container=Container.JSON,
    signatures=(
        Signature(94, ("log.entries", "log.creator")),
        Signature(94, ("log.entries[].request.method", "log.entries[].request.url")),
        Signature(90, ("log.version", "log.creator.name")),
    ),
    records=(RecordRule((has("log.entries"),), each="log.entries[]", rules=_ENTRY), RecordRule((has("log"),), None)),
    inner=(
        Inner("log.entries[].request.postData", "text"),
        Inner("log.entries[].response.content", "text", events=True),
    ),
    asides=Asides("log.entries[]", _IN),
    usage=(openai(f"{_OUT}.usage", each="log.entries[]"),),
    model=f"log.entries[0].{_IN}.model",
    hooks=Hooks(split=claude_tags, classify=traced_prompt_kind),
)
