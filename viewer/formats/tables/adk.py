"""Google's Agent Development Kit: sessions, lists of events, streams of events, and evaluation sets."""

from __future__ import annotations

from viewer.formats.tables.gemini_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    is_not,
    lacks,
    no_flag,
)
from viewer.formats.tables.usage import gemini
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_CONTENT = "content.parts"
_ERROR = "errorCode|error_code"
_CODES = {"MAX_TOKENS": (W_RUN_INCOMPLETE, "max-tokens"), "SAFETY": (W_RUN_ERROR, "content-filter")}
_FAULTS = (Fault(_ERROR, _CODES, (W_RUN_ERROR, "api")),)
_MESSAGE = (RecordRule((has("errorMessage|error_message"),), Kind.NOTICE, "system", "errorMessage|error_message"),)
_USER, _AGENT = is_("author", "user"), is_not("author", "user")
_MODEL = (
    RecordRule((_AGENT, has("branch")), Kind.SUBAGENT, "assistant", _CONTENT, PARTS, time="timestamp", thread="branch"),
    RecordRule(
        (_AGENT, is_("content.role", "model")),
        Kind.SAID,
        "assistant",
        _CONTENT,
        PARTS,
        time="timestamp",
        faults=_FAULTS,
        also=_MESSAGE,
    ),
)
_EVENT = (
    RecordRule((flag("partial"),), None),
    RecordRule(
        (_USER, no_flag("partial"), is_("content.role", "user")),
        Kind.SAID,
        "user",
        _CONTENT,
        PARTS,
        time="timestamp",
    ),
    RecordRule(
        (_USER, no_flag("partial"), has("content.parts"), lacks("content.role")),
        Kind.SAID,
        "user",
        _CONTENT,
        PARTS,
        time="timestamp",
    ),
    *_MODEL,
    RecordRule((has("content.parts"),), Kind.UNKNOWN, "user", _CONTENT, PARTS, time="timestamp"),
    RecordRule((has("author"), lacks("content.parts")), None, faults=_FAULTS, also=_MESSAGE),
)
"""The rules for an event. Agents with a branch work in parallel and only prepare text for the next agent, so their text
is hidden."""


def _either(snake: str) -> str:
    """Return a path that matches a member in camel case or in snake case."""
    first, *words = snake.split("_")
    return f"{first}{''.join(map(str.capitalize, words))}|{snake}"


_DATA = {
    name: "|".join(
        f"{data}.{each}" for data in _either("intermediate_data").split("|") for each in _either(name).split("|")
    )
    for name in ("tool_uses", "tool_responses", "intermediate_responses", "invocation_events")
}


def _items(name: str) -> str:
    return "|".join(f"{path}[]" for path in _DATA[name].split("|"))


def _parts_of(snake: str) -> str:
    return "|".join(f"{name}.parts" for name in _either(snake).split("|"))


_INVOCATION = (
    RecordRule(
        (has(_parts_of("user_content")),),
        each=_either("user_content"),
        rules=(RecordRule((), Kind.SAID, "user", "parts", PARTS),),
    ),
    RecordRule(
        (has(_DATA["tool_uses"]),),
        each=_items("tool_uses"),
        rules=(RecordRule((), Kind.CALL, "assistant", "args", call_id="id", name="name"),),
    ),
    RecordRule(
        (has(_DATA["tool_responses"]),),
        each=_items("tool_responses"),
        rules=(RecordRule((), Kind.REPLY, "tool", "response", call_id="id", name="name"),),
    ),
    RecordRule(
        (has(_DATA["intermediate_responses"]),),
        each=_DATA["intermediate_responses"],
        rules=(RecordRule((), Kind.UNKNOWN),),
    ),
    RecordRule(
        (has(_DATA["invocation_events"]),),
        each=_items("invocation_events"),
        rules=(RecordRule((has("content.parts"),), Kind.UNKNOWN, "assistant", _CONTENT, PARTS),),
    ),
    RecordRule(
        (has(_parts_of("final_response")),),
        each=_either("final_response"),
        rules=(RecordRule((), Kind.SAID, "assistant", "parts", PARTS),),
    ),
)
_CASE = (
    RecordRule(
        (has("conversation"),), each="conversation[]", rules=_INVOCATION, starts=True, session=_either("eval_id")
    ),
)
_CASES, _INVOCATION_ID = _either("eval_cases"), _either("invocation_id")

ADK = RecordFormat(
    name="adk",
    title="ADK session",
    container=Container.JSON,
    signatures=(
        Signature(94, ("author", _INVOCATION_ID), {}, ("messages",)),
        Signature(94, ("events[].author", "|".join(f"events[].{name}" for name in _INVOCATION_ID.split("|")))),
        Signature(94, ("appName|app_name", "userId|user_id", "events[].author", "events[].content.parts")),
        Signature(94, ("|".join(f"{name}[].conversation" for name in _CASES.split("|")),)),
        Signature(94, (_either("eval_id"), "conversation")),
    ),
    records=(
        RecordRule((has(_CASES),), each="|".join(f"{name}[]" for name in _CASES.split("|")), rules=_CASE),
        *_CASE,
        RecordRule((has("events"), has("id")), each="events[]", rules=_EVENT, starts=True, session="id"),
        RecordRule((has("events"), lacks("id")), each="events[]", rules=_EVENT),
        *_EVENT,
    ),
    usage=(
        gemini("usageMetadata|usage_metadata", key="id"),
        gemini("usageMetadata|usage_metadata", each="events[]", key="id"),
    ),
    model="modelVersion|model_version",
)
