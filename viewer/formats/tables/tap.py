"""The log of `ocmlview tap`: requests to model servers, and streamed or complete answers, for several APIs."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.anthropic import MESSAGES, RESPONSE, SETTINGS, STOP_CODES
from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Step,
    Stream,
    Tokens,
    When,
    has,
    is_,
)
from viewer.formats.tables.ollama import ANSWERS as OLLAMA_ANSWERS
from viewer.formats.tables.ollama import MESSAGES as OLLAMA_MESSAGES
from viewer.formats.tables.responses import ITEM_RULES
from viewer.formats.tables.tags import claude_tags
from viewer.formats.tables.usage import anthropic, openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

TYPES = ("request", "delta", "close", "response", "error", "end", "note")
"""The known values of the member `tap`, which is the type of a record."""
_DELTA = Stream(Step.ADD, "block", "exchange", "exchange")
_LIST = JsonKind.ARRAY


def _record(kind: str, *apis: str) -> tuple[When, ...]:
    """Return the conditions for a record with this type and one of these APIs."""
    return (is_("tap", kind), *((is_("api", *apis),) if apis else ()))


def _split(rules: tuple[RecordRule, ...]) -> tuple[RecordRule, ...]:
    """Return the rules, changed to split user text, because clients put reminders and command output there."""
    return tuple(replace(rule, split=True) if rule.role == "user" else rule for rule in rules)


_CHAT = (
    *SETTINGS,
    RecordRule((has("functions"),), Kind.INSTRUCTION, "system", "functions", goes_on=True),
    RecordRule((When("messages", kind=_LIST),), each="messages[]", rules=CHAT),
)
_MESSAGES = (*SETTINGS, RecordRule((When("messages", kind=_LIST),), each="messages[]", rules=_split(MESSAGES)))
_RESPONSES = (
    *(
        RecordRule((has(member),), Kind.INSTRUCTION, "system", member, goes_on=True)
        for member in ("instructions", "prompt", "tools")
    ),
    RecordRule((When("input", kind=JsonKind.STRING),), Kind.SAID, "user", "input", goes_on=True),
    RecordRule((When("input", kind=_LIST),), each="input[]", rules=ITEM_RULES),
)
_OLLAMA = (*SETTINGS, RecordRule((When("messages", kind=_LIST),), each="messages[]", rules=OLLAMA_MESSAGES))
_COMPLETIONS = (
    *SETTINGS,
    RecordRule((has("suffix"),), Kind.UNKNOWN, "user", "suffix", goes_on=True),
    RecordRule((has("prompt"),), Kind.UNKNOWN, "user", "prompt", goes_on=True),
)
"""The rules for a request with a prompt. The prompt is hidden, because a program wrote it, possibly with a template."""

_REQUESTS = {
    "chat": _CHAT,
    "messages": _MESSAGES,
    "responses": _RESPONSES,
    "ollama-chat": _OLLAMA,
    "ollama-generate": _COMPLETIONS,
    "completions": _COMPLETIONS,
}
"""The rules for the body of a request, by API."""

_CHOICE = RecordRule((has("choices[0].message"),), each="choices[0].message", rules=CHAT)
_OTHER_CHOICES = RecordRule((has("choices[1]"),), each="choices[1:].message", rules=CHAT, unused=True)
_WHOLE = {
    "chat": (_CHOICE, _OTHER_CHOICES),
    "messages": RESPONSE,
    "responses": (RecordRule((When("output", kind=_LIST),), each="output[]", rules=ITEM_RULES),),
    "ollama-chat": OLLAMA_ANSWERS,
}
"""The rules for the body of an answer that was not streamed, by API. For all other APIs, the log contains the text as a
delta."""

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "refusal"),), Kind.SAID, "text", refusal=True),
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "text"),
    PartRule((is_("type", "summary"),), Kind.THOUGHT, "text", intent="summary"),
    PartRule((is_("type", "call"),), Kind.CALL, "text", call_id="id", name="name"),
    PartRule((is_("type", "reply"),), Kind.REPLY, "text", call_id="id"),
    PartRule((), Kind.UNKNOWN, "text"),
)
"""The rules for deltas. Any other type is unknown and therefore hidden."""

_ENDINGS = {
    **STOP_CODES,
    "length": (W_RUN_INCOMPLETE, "max-tokens"),
    "max_output_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
}
_PROBLEMS = {
    "client": (W_RUN_ERROR, "aborted"),
    "server": (W_RUN_INCOMPLETE, "stopped"),
    "failed": (W_RUN_ERROR, "api"),
}
"""How an exchange can end early: the client left, the server closed the connection, or the answer reports a failure."""
_AUTH, _RATE = (W_RUN_ERROR, "auth"), (W_RUN_ERROR, "rate-limit")
_STATUSES = {"401": _AUTH, "403": _AUTH, "429": _RATE}

TAP = RecordFormat(
    name="tap",
    title="Log of ocmlview tap",
    container=Container.LINES,
    signatures=(Signature(97, ("exchange",), {"tap": frozenset(TYPES)}),),
    records=(
        RecordRule(
            (is_("tap", "request"), has("earlier")),
            Kind.REPLAYED,
            "assistant",
            "earlier",
            time="time",
            goes_on=True,
        ),
        *(
            RecordRule((*_record("request", api), has("body")), each="body", rules=rules, time="time")
            for api, rules in _REQUESTS.items()
        ),
        RecordRule(_record("request", *_REQUESTS), None),
        RecordRule(_record("delta"), Kind.SAID, "assistant", "part", _PARTS, stream=_DELTA, time="time"),
        RecordRule(_record("close"), stream=Stream(Step.CLOSE, "block", "exchange", "exchange")),
        *(
            RecordRule((*_record("response", api), has("body")), each="body", rules=rules, time="time")
            for api, rules in _WHOLE.items()
        ),
        RecordRule(
            _record("error"),
            Kind.NOTICE,
            "system",
            "body.error.message|body.error|body.message|body|status",
            time="time",
            faults=(Fault("status", _STATUSES, (W_RUN_ERROR, "api")),),
        ),
        RecordRule(
            _record("end"),
            None,
            faults=(Fault("problem", _PROBLEMS), Fault("finish", _ENDINGS)),
            goes_on=True,
        ),
        RecordRule(_record("end"), stream=Stream(Step.END, "", "exchange", "exchange")),
        RecordRule(_record("note"), Kind.NOTICE, "system", "text", time="time"),
    ),
    session="session",
    usage=(
        openai("usage", when=_record("end", "chat", "responses", "completions")),
        anthropic("usage", when=_record("end", "messages")),
        Tokens(
            "usage",
            input=("prompt_eval_count",),
            output=("eval_count",),
            when=_record("end", "ollama-chat", "ollama-generate"),
        ),
    ),
    model="model",
    hooks=Hooks(split=claude_tags),
)
