"""Text completions of OpenAI's legacy API and of llama.cpp servers, streamed or complete, with their requests."""

from __future__ import annotations

from viewer.formats.tables.events import ERRORS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    Narrowing,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    ends,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.usage import COMPLETION_TOKENS
from viewer.model.messages import Kind
from viewer.rules.errors import E_PERM_VISIBILITY
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_PROMPTS = "prompt|request.prompt|body.prompt|request.body.prompt"
OPEN_THOUGHTS = (
    *("<think>", "<think>\n", "<think>\n\n", "<thinking>", "<thinking>\n", "[THINK]", "<|START_THINKING|>"),
    *("<|start|>assistant", "<|channel|>analysis<|message|>", "<|channel|>", "◁think▷"),
)
"""Endings of a prompt after which the answer begins inside a thought."""
_HIDDEN = Narrowing(Kind.UNKNOWN, until=(has(_PROMPTS),))
"""Hides an answer that repeats its prompt or begins inside a thought."""

# Requests.

_REQUEST = (
    RecordRule((ends("prompt", *OPEN_THOUGHTS),), None, narrows=_HIDDEN, goes_on=True),
    RecordRule((has("echo"), When("echo", true=True)), None, narrows=_HIDDEN, goes_on=True),
    RecordRule((has("system_prompt"),), Kind.INSTRUCTION, "system", "system_prompt", goes_on=True),
    RecordRule((has("suffix"),), Kind.UNKNOWN, "user", "suffix", goes_on=True),
    RecordRule((has("prompt"),), Kind.UNKNOWN, "user", "prompt"),
)
"""The rules for a request. The prompt is hidden, because a program wrote it, possibly with a template."""
_ASKS = (has("prompt"), lacks("choices"), lacks("content"), lacks("messages"), lacks("role"), lacks("response"))

# Responses.

_IS_COMPLETION = is_("object", "text_completion", "text_completion.chunk")
_TEXT = "choices[0].text"
_DONE = has("choices[0].finish_reason")
_ENDINGS = (
    Fault(
        "choices[0].finish_reason",
        {"length": (W_RUN_INCOMPLETE, "max-tokens"), "content_filter": (W_RUN_ERROR, "content-filter")},
    ),
)
_COMPLETION = (
    RecordRule(
        (_IS_COMPLETION, lacks("choices[1]"), has("choices[0].index"), is_not("choices[0].index", "0")),
        Kind.UNKNOWN,
        "assistant",
        _TEXT,
        merge=Merge(Mode.APPEND, "choices[0].index", done=_DONE),
        unused=True,
    ),
    *(
        RecordRule(
            (_IS_COMPLETION, identified, has("choices[0]")),
            Kind.SAID,
            "assistant",
            _TEXT,
            merge=Merge(Mode.APPEND, key, done=_DONE),
            faults=_ENDINGS,
            also=(
                RecordRule(
                    (has("choices[1]"),),
                    each="choices[1:]",
                    rules=(RecordRule((has("text"),), Kind.UNKNOWN, "assistant", "text"), RecordRule((), None)),
                    unused=True,
                ),
            ),
        )
        for identified, key in ((has("id"), "id"), (lacks("id"), ""))
    ),
    RecordRule((_IS_COMPLETION, lacks("choices[0]")), None),
)
_IS_LLAMA = (When("content", kind=JsonKind.STRING), has("stop"), lacks("role"), lacks("choices"), lacks("type"))
_STOPS = (
    Fault("stop_type", {"limit": (W_RUN_INCOMPLETE, "max-tokens"), "eos": None, "word": None, "none": None}),
    Fault("stopped_limit", default=(W_RUN_INCOMPLETE, "max-tokens")),
)
_LLAMA = tuple(
    RecordRule(
        (*_IS_LLAMA, stops),
        Kind.SAID,
        "assistant",
        "content",
        merge=Merge(Mode.APPEND, done=flag("stop")),
        faults=_STOPS,
        also=(
            RecordRule((has("prompt"),), Kind.UNKNOWN, "user", "prompt"),
            RecordRule(
                (ends("prompt", *OPEN_THOUGHTS),),
                None,
                faults=(Fault("prompt", default=(E_PERM_VISIBILITY, "late-channel")),),
            ),
        ),
    )
    for stops in (flag("stop"), When("stop", true=False))
)
"""The rules for responses of llama.cpp. The last record of a stream repeats the prompt."""
_ERROR = (
    RecordRule(
        (has("error"),),
        Kind.NOTICE,
        "system",
        "error.message|error",
        faults=(
            Fault(
                "error.code|error.type|error",
                {code: (W_RUN_ERROR, reason) for code, reason in ERRORS.items()},
                (W_RUN_ERROR, "api"),
            ),
        ),
    ),
)
_RESPONSE = (*_COMPLETION, *_LLAMA, *_ERROR)
_NO_OBJECT = (lacks("object"), lacks("content"), lacks("choices"))

COMPLETIONS = RecordFormat(
    name="completions",
    title="Text completions",
    container=Container.JSON,
    signatures=(
        Signature(93, (), {"object": frozenset({"text_completion", "text_completion.chunk"})}),
        Signature(93, (), {"response.object": frozenset({"text_completion"})}),
        Signature(93, (), {"response.body.object": frozenset({"text_completion"})}),
        Signature(92, ("content", "stop"), none_of=("role", "type", "choices", "messages", "message")),
        Signature(
            89,
            ("prompt", "model|max_tokens|n_predict|temperature|stream"),
            none_of=("messages", "role", "type", "completion", "response", "chosen", "rejected", "input", "model_name"),
        ),
        Signature(89, ("body.prompt", "url"), none_of=("body.messages",)),
    ),
    records=(
        RecordRule((*_NO_OBJECT, When("request.body", kind=JsonKind.OBJECT)), each="request.body", rules=_REQUEST),
        RecordRule((*_NO_OBJECT, has("request.prompt")), each="request", rules=_REQUEST, starts=True),
        RecordRule((*_NO_OBJECT, has("body.prompt")), each="body", rules=_REQUEST, starts=True),
        RecordRule((*_NO_OBJECT, has("custom_id"), lacks("body")), None, starts=True, goes_on=True),
        RecordRule((*_NO_OBJECT, has("response.body")), each="response.body", rules=_RESPONSE),
        RecordRule((*_NO_OBJECT, has("response"), lacks("response.body")), each="response", rules=_RESPONSE),
        RecordRule((*_NO_OBJECT, has("custom_id"), lacks("error"), lacks("response"), lacks("body")), None),
        RecordRule(_ASKS, None, starts=True, also=(), goes_on=True),
        *(
            RecordRule(
                (*_ASKS, *rule.when), rule.kind, rule.role, rule.body, narrows=rule.narrows, goes_on=rule.goes_on
            )
            for rule in _REQUEST
        ),
        *_RESPONSE,
    ),
    usage=COMPLETION_TOKENS,
    model="model|response.model|response.body.model|request.model|body.model|request.body.model",
)
