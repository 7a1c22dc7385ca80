"""Inspect: evaluation logs as JSON. Each epoch of a sample is one transcript."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    Lookup,
    Merge,
    Mode,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.usage import INSPECT_TOKENS
from viewer.model.messages import Kind
from viewer.rules.errors import E_BODY_CONSTRAINT_VIOLATION
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_UNKNOWN, _STOPPED = (W_RUN_ERROR, "unknown"), (W_RUN_INCOMPLETE, "stopped")
_STATUS = Fault("status", {"cancelled": _STOPPED, "started": _STOPPED})
_ERRORS = Outcomes(
    failed=("error",),
    cancelled=("error.type=cancelled", "error.type=canceled"),
    timeout=("error.type=timeout",),
)

_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text")
_MEDIA = PartRule((is_("type", "image", "audio", "video", "document"),), Kind.SAID, label=True)
_REASONING = (
    PartRule((is_("type", "reasoning"), flag("redacted")), Kind.THOUGHT, "reasoning", opaque=True),
    PartRule(
        (is_("type", "reasoning"),),
        Kind.THOUGHT,
        "reasoning",
        also=(PartRule((has("summary"),), Kind.THOUGHT, "summary"),),
    ),
)
_SERVER_CALL = PartRule(
    (is_("type", "tool_use"),),
    Kind.CALL,
    "arguments",
    "id",
    "name",
    reply=PartRule((has("result"),), Kind.REPLY, "result", "id", outcome=_ERRORS),
)
_USER_PARTS = (_TEXT, _MEDIA)
_ASSISTANT_PARTS = (_TEXT, *_REASONING, _SERVER_CALL, _MEDIA)

_CALLS = RecordRule(
    (has("tool_calls"),),
    each="tool_calls[]",
    rules=(
        RecordRule(
            (),
            Kind.CALL,
            "assistant",
            "arguments",
            call_id="id",
            name="function",
            faults=(Fault("parse_error", default=(E_BODY_CONSTRAINT_VIOLATION, "json-malformed")),),
        ),
    ),
)
_TOOL_ERROR = RecordRule((has("error.message"),), Kind.NOTICE, "system", "error.message")
_USER: dict[str, Any] = {"role": "user", "body": "content", "parts": _USER_PARTS}


def _messages() -> Iterator[RecordRule]:
    user = is_("role", "user")
    yield RecordRule((user, is_("source", "generate")), Kind.INJECTED, **_USER)
    for source in (lacks("source"), is_("source", "input", "operator")):
        yield RecordRule((user, source), Kind.SAID, **_USER)
    yield RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content")
    yield RecordRule((is_("role", "assistant"),), Kind.SAID, "assistant", "content", _ASSISTANT_PARTS, also=(_CALLS,))
    yield RecordRule(
        (is_("role", "tool"),),
        Kind.REPLY,
        "tool",
        "content",
        call_id="tool_call_id",
        name="function",
        outcome=_ERRORS,
        also=(_TOOL_ERROR,),
    )


MESSAGES = tuple(_messages())
_OUTPUT, _STOP = "output.choices[0].message", "output.choices[0].stop_reason"
_STOP_CODES = {
    "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "model_length": (W_RUN_ERROR, "context-length"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
}
_SAMPLE = (
    RecordRule((When("messages", kind=JsonKind.ARRAY),), each="messages[]", rules=MESSAGES, starts=True),
    RecordRule((lacks("messages[0]"), has(_OUTPUT)), each=_OUTPUT, rules=MESSAGES, starts=True),
    RecordRule(
        (has("messages[0]"), is_(f"{_OUTPUT}.role", "assistant")),
        Kind.SAID,
        "assistant",
        f"{_OUTPUT}.content",
        (_TEXT, PartRule((), None)),
        merge=Merge(Mode.FINAL),
        goes_on=True,
    ),
    RecordRule(
        (has("error"),),
        Kind.NOTICE,
        "system",
        "error.message|error",
        faults=(Fault("error", default=_UNKNOWN),),
        goes_on=True,
    ),
    RecordRule((has(_STOP),), None, faults=(Fault(_STOP, _STOP_CODES),), goes_on=True),
    RecordRule((has("limit"),), None, faults=(Fault("limit", default=_STOPPED),), goes_on=True),
    RecordRule((has("id"),), None),
)
"""The rules for a sample. Only its messages are read: the output repeats the last message, and no user saw the rest."""

INSPECT = RecordFormat(
    name="inspect",
    title="Inspect evaluation log",
    container=Container.JSON,
    signatures=(
        Signature(99, ("eval.task", "samples")),
        Signature(99, ("eval.task", "status")),
        Signature(99, ("eval.model", "samples")),
    ),
    records=(
        RecordRule(
            (has("eval"), When("samples", kind=JsonKind.ARRAY)),
            each="samples[]",
            rules=_SAMPLE,
            lookup=Lookup("attachment://", "attachments"),
            starts=True,
            faults=(_STATUS,),
        ),
        RecordRule(
            (has("eval"), has("error")),
            Kind.NOTICE,
            "system",
            "error.message|error",
            faults=(Fault("error", default=_UNKNOWN),),
            goes_on=True,
        ),
        RecordRule((has("eval"),), None, starts=True),
    ),
    usage=(INSPECT_TOKENS,),
    model="eval.model",
)
