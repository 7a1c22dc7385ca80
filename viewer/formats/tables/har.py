"""HAR files: requests to model servers and their responses, as browsers and proxies record them."""

from __future__ import annotations

from viewer.formats.tables.exchanges import request, response
from viewer.formats.tables.model import (
    Asides,
    Container,
    Fault,
    Hooks,
    Inner,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    lacks,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.formats.tables.streamed_answers import EVENTS, with_split_prompts
from viewer.formats.tables.tags import claude_tags
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
_BEFORE = f"{_IN}.previous_response_id"
"""The member of a request that continues a conversation without repeating it."""
_CALLS = (
    *((has(f"{_IN}.{name}"), has(f"{_IN}.model")) for name in ("messages", "input")),
    (has(f"{_IN}.contents[0].parts"),),
)
_ENTRY = (
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
