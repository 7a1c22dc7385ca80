"""Gemini CLI: session files, as one document or one record per line."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.gemini_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    When,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.tags import gemini_tags
from viewer.formats.tables.usage import gemini_cli
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_MERGE = Merge(Mode.PARTS, "id")
"""Merges the records of a message. A record with a known ID repeats the message and adds to it."""
_COMMON: dict[str, Any] = {"time": "timestamp", "merge": _MERGE}
_OUTPUT = "result[0].functionResponse.response.output"


def _reply(body: str, *when: When) -> RecordRule:
    """Return the rule for the result of a tool call."""
    return RecordRule(
        when,
        Kind.REPLY,
        "tool",
        body,
        call_id="id",
        name="name",
        thread="agentId",
        merge=_MERGE,
        outcome=Outcomes(ok=("status=success",), failed=("status=error",), cancelled=("status=cancelled",)),
    )


_TOOL_CALLS = (
    RecordRule(
        (),
        Kind.CALL,
        "assistant",
        "args",
        call_id="id",
        name="name",
        time="timestamp",
        thread="agentId",
        merge=_MERGE,
        also=(
            _reply(_OUTPUT, has(_OUTPUT), lacks("result[1]")),
            _reply("result", has(_OUTPUT), has("result[1]")),
            _reply("result", has("result"), lacks(_OUTPUT)),
            _reply("resultDisplay", lacks("result"), has("resultDisplay")),
            _reply("", lacks("result|resultDisplay"), is_("status", "error", "cancelled")),
        ),
    ),
)

_MESSAGES = (
    RecordRule(
        (is_("type", "user"), has("displayContent")),
        Kind.SAID,
        "user",
        "displayContent",
        PARTS,
        **_COMMON,
        split=True,
        also=(RecordRule((), Kind.INJECTED, "user", "content", PARTS, time="timestamp"),),
    ),
    RecordRule((is_("type", "user"),), Kind.SAID, "user", "content", PARTS, **_COMMON, split=True),
    RecordRule(
        (is_("type", "gemini", "model"),),
        Kind.THOUGHT,
        "assistant",
        "thoughts[].subject&thoughts[].description",
        **_COMMON,
        also=(
            RecordRule((), Kind.SAID, "assistant", "content", PARTS, **_COMMON),
            RecordRule((has("toolCalls"),), each="toolCalls[]", rules=_TOOL_CALLS),
        ),
    ),
    RecordRule((is_("type", "info", "warning"),), Kind.NOTICE, "system", "content", PARTS, **_COMMON),
    RecordRule(
        (is_("type", "error"),),
        Kind.NOTICE,
        "system",
        "content",
        PARTS,
        **_COMMON,
        faults=(Fault("content|type", default=(W_RUN_ERROR, "unknown")),),
    ),
)

# The output of `gemini --output-format stream-json`.

_SPEAKER = is_("type", "message")
_EVENTS = (
    RecordRule((is_("type", "init"), has("session_id")), None, starts=True, session="session_id"),
    RecordRule((_SPEAKER, is_("role", "user")), Kind.SAID, "user", "content", PARTS, time="timestamp", split=True),
    RecordRule(
        (_SPEAKER, is_("role", "assistant"), flag("delta")),
        Kind.SAID,
        "assistant",
        "content",
        PARTS,
        time="timestamp",
        merge=Merge(Mode.APPEND),
    ),
    RecordRule((_SPEAKER, is_("role", "assistant")), Kind.SAID, "assistant", "content", PARTS, time="timestamp"),
    RecordRule((_SPEAKER,), Kind.UNKNOWN, "@role", "content", PARTS, time="timestamp"),
    RecordRule(
        (is_("type", "tool_use"), has("tool_id")),
        Kind.CALL,
        "assistant",
        "parameters",
        call_id="tool_id",
        name="tool_name",
        time="timestamp",
    ),
    RecordRule(
        (is_("type", "tool_result"), has("tool_id")),
        Kind.REPLY,
        "tool",
        "output|error.message",
        call_id="tool_id",
        time="timestamp",
        outcome=Outcomes(ok=("status=success",), failed=("status=error",)),
    ),
    RecordRule(
        (is_("type", "error"), has("message")),
        Kind.NOTICE,
        "system",
        "message",
        time="timestamp",
        faults=(Fault("severity=error", default=(W_RUN_ERROR, "unknown")),),
    ),
    RecordRule(
        (is_("type", "result"), is_("status", "error")),
        Kind.NOTICE,
        "system",
        "error.message|error",
        time="timestamp",
        faults=(Fault("error.type|status", default=(W_RUN_ERROR, "unknown")),),
    ),
    RecordRule((is_("type", "result"), has("status")), None),
)
_OF_OTHERS = ("uuid", "sessionId", "message", "subtype")

_HEAD = (has("sessionId"), lacks("type"))
_SUBAGENT = Narrowing(Kind.SUBAGENT)
_OTHER_AGENT = (has("kind"), is_not("kind", "main"))
_TYPES = {"type": frozenset({"user", "gemini", "info", "warning", "error"})}

GEMINI_CLI = RecordFormat(
    name="gemini-cli",
    title="Gemini CLI session",
    container=Container.JSON,
    signatures=(
        Signature(92, ("sessionId", "messages"), {"messages[].type": frozenset({"user", "gemini", "info", "error"})}),
        Signature(88, ("sessionId", "projectHash", "startTime"), {}, ("type",)),
        Signature(86, ("id", "timestamp", "content"), _TYPES, ("uuid", "message", "data", "source", "role")),
        Signature(92, ("sessionId", "messageId", "message"), {"type": frozenset({"user"})}, ("uuid", "role")),
        Signature(
            93, ("session_id", "model", "timestamp"), {"type": frozenset({"init"})}, (*_OF_OTHERS, "cwd"), decides=True
        ),
        Signature(
            93, ("tool_id", "tool_name", "timestamp"), {"type": frozenset({"tool_use"})}, _OF_OTHERS, decides=True
        ),
        Signature(86, ("$set",)),
        Signature(86, ("$rewindTo",)),
    ),
    records=(
        RecordRule(
            (*_HEAD, has("messages"), *_OTHER_AGENT),
            Kind.SUBAGENT,
            each="messages[]",
            rules=_MESSAGES,
            thread="sessionId",
            starts=True,
            narrows=_SUBAGENT,
        ),
        RecordRule((*_HEAD, has("messages")), each="messages[]", rules=_MESSAGES, starts=True),
        RecordRule((*_HEAD, *_OTHER_AGENT), None, starts=True, narrows=_SUBAGENT),
        RecordRule(_HEAD, None, starts=True),
        RecordRule((has("$set"),), each="$set.messages[]", rules=_MESSAGES),
        RecordRule((has("$rewindTo"),), None, rewind="$rewindTo"),
        RecordRule(
            (is_("type", "user"), has("messageId"), lacks("content"), When("message", kind=JsonKind.STRING)),
            Kind.SAID,
            "user",
            "message",
            time="timestamp",
        ),
        *_EVENTS,
        *_MESSAGES,
    ),
    usage=(gemini_cli(""), gemini_cli("messages[]")),
    session="sessionId",
    threads=Threads("id", ""),
    hooks=Hooks(split=gemini_tags),
)
