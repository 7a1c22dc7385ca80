"""OpenAI Assistants: thread messages, run steps, and run streams."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    Merge,
    Mode,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Step,
    Stream,
    has,
    is_,
    lacks,
)
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_OBJECT = "object"
_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text.value")
_IMAGES = PartRule((is_("type", "image_file", "image_url"),), Kind.SAID, label=True)
_ASKED = (_TEXT, _IMAGES)
_ANSWERED = (_TEXT, _IMAGES, PartRule((is_("type", "refusal"),), Kind.SAID, "refusal", refusal=True))
_ERROR_CODES = {"rate_limit_exceeded": (W_RUN_ERROR, "rate-limit")}
_INCOMPLETE = {
    "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "max_completion_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "max_prompt_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "content_filter": (W_RUN_ERROR, "content-filter"),
    "run_failed": (W_RUN_ERROR, "unknown"),
}
_FAULTS = (
    Fault("incomplete_details.reason", _INCOMPLETE, (W_RUN_INCOMPLETE, "stopped")),
    Fault("last_error.code", _ERROR_CODES, (W_RUN_ERROR, "api")),
)
_ERROR = RecordRule((has("last_error.message"),), Kind.NOTICE, "system", "last_error.message")
_COMMON: dict[str, Any] = {"time": "created_at", "merge": Merge(Mode.PARTS, "id")}

_MESSAGES = (
    RecordRule((is_(_OBJECT, "thread.message"), is_("role", "user")), Kind.SAID, "user", "content", _ASKED, **_COMMON),
    RecordRule(
        (is_(_OBJECT, "thread.message"), is_("role", "assistant"), has("content[0]")),
        stream=Stream(Step.END, reply="id"),
        faults=_FAULTS,
        also=(RecordRule((), Kind.SAID, "assistant", "content", _ANSWERED, **_COMMON),),
    ),
    RecordRule((is_(_OBJECT, "thread.message"), is_("role", "assistant")), None, faults=_FAULTS),
    RecordRule(
        (is_(_OBJECT, "thread.message.delta"), has("delta.content[0]"), lacks("delta.content[1]")),
        Kind.SAID,
        "assistant",
        "delta.content[0]",
        _ANSWERED,
        stream=Stream(Step.ADD, "delta.content[0].index", reply="id"),
    ),
)


def _call(kind: str, asked: str, answered: str, name: str = "") -> RecordRule:
    """Return the rule for a tool call of a run step, with its result."""
    return RecordRule(
        (is_("type", kind),),
        Kind.CALL,
        "assistant",
        f"{kind}.{asked}",
        call_id="id",
        name=name,
        default_name=kind,
        also=(
            RecordRule(
                (has(f"{kind}.{answered}"),), Kind.REPLY, "tool", f"{kind}.{answered}", call_id="id", default_name=kind
            ),
        ),
    )


_CALLS = (
    _call("function", "arguments", "output", "function.name"),
    _call("code_interpreter", "input", "outputs"),
    _call("file_search", "ranking_options", "results"),
    _call("retrieval", "query", "results"),
)
_STEPS = (
    RecordRule(
        (is_(_OBJECT, "thread.run.step"), is_("type", "tool_calls")),
        None,
        faults=_FAULTS,
        also=(RecordRule((), each="step_details.tool_calls[]", rules=_CALLS, time="created_at"), _ERROR),
    ),
    RecordRule(
        (is_(_OBJECT, "thread.run.step"), is_("type", "message_creation")), None, faults=_FAULTS, also=(_ERROR,)
    ),
    RecordRule(
        (is_(_OBJECT, "thread.run"), has("instructions")),
        Kind.INSTRUCTION,
        "system",
        "instructions",
        once=True,
        goes_on=True,
    ),
    RecordRule((is_(_OBJECT, "thread.run"),), None, faults=_FAULTS, also=(_ERROR,)),
    RecordRule((is_(_OBJECT, "thread", "thread.run.step.delta", "thread.deleted"),), None),
)
RECORDS = (*_MESSAGES, *_STEPS)
"""The rules for one object."""
_OBJECTS = frozenset({"thread.message", "thread.message.delta", "thread.run", "thread.run.step"})

THREADS = RecordFormat(
    name="threads",
    title="OpenAI Assistants thread",
    container=Container.JSON,
    signatures=(
        Signature(95, (), {_OBJECT: _OBJECTS}),
        Signature(95, (), {_OBJECT: frozenset({"list"}), "data[].object": _OBJECTS}),
        Signature(0, (), {_OBJECT: frozenset({"thread", "thread.run.step.delta"})}),
    ),
    records=(
        RecordRule((is_(_OBJECT, "list"),), each="data[]", rules=RECORDS, order="created_at", starts=True),
        *RECORDS,
    ),
    usage=(
        openai("usage", when=(is_(_OBJECT, "thread.run.step"),), key="id", counts=Counting.LAST),
        openai("usage", each="data[]", when=(is_(_OBJECT, "thread.run.step"),), key="id", counts=Counting.LAST),
    ),
    model="model",
    session="thread_id",
)
