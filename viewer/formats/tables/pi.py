"""Pi: session files of the coding agent and of agents built on it, and the output of `pi --mode json`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.droid import FOR_THE_MODEL, OF_SUBAGENTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Threads,
    Tokens,
    When,
    flag,
    has,
    is_,
    lacks,
    no_flag,
)
from viewer.formats.tables.tags import pi_tags
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text")
_IMAGE = PartRule((is_("type", "image"),), Kind.SAID, label=True)
_USER_PARTS = (_TEXT, _IMAGE)
_PARTS = (
    _TEXT,
    PartRule((is_("type", "thinking"), flag("redacted")), Kind.THOUGHT, "thinkingSignature", opaque=True),
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "toolCall"),), Kind.CALL, "arguments", "id", "name"),
    _IMAGE,
)
_SO_FAR = (_TEXT, PartRule((is_("type", "thinking", "toolCall"),), None))
"""The rules for the parts of an unfinished answer. Thoughts and calls are read once the answer is complete."""
_TIME = "timestamp|message.timestamp"
_BODY: dict[str, Any] = {"body": "message.content", "time": _TIME}
_STOPS = Fault(
    "message.stopReason",
    {
        "error": (W_RUN_ERROR, "api"),
        "aborted": (W_RUN_ERROR, "aborted"),
        "length": (W_RUN_INCOMPLETE, "max-tokens"),
    },
)
_ERROR = RecordRule((has("message.errorMessage"),), Kind.NOTICE, "system", "message.errorMessage", time=_TIME)
_ENTRY, _END = is_("type", "message"), is_("type", "message_end")
_GROWS = is_("type", "message_start", "message_update")
_UPDATES = Merge(Mode.PARTS, "message.timestamp")
"""Merges the events of a message, each of which repeats the message so far."""
_SUBAGENT = Narrowing(Kind.SUBAGENT)
_CALLING = "callingSessionId|calling_session_id"
"""The members in which Droid names the session that started this one. A Droid session may be mistaken for one of Pi."""


def _role(*roles: str) -> When:
    return is_("message.role", *roles)


def _messages(when: When) -> tuple[RecordRule, ...]:
    """Return the rules for the messages in records of one type."""
    return (
        RecordRule((when, *FOR_THE_MODEL), Kind.INJECTED, "@message.role", **_BODY, parts=_PARTS),
        RecordRule((when, _role("user"), flag("message.synthetic")), Kind.INJECTED, "user", **_BODY, parts=_USER_PARTS),
        RecordRule(
            (when, _role("user"), is_("message.attribution", "agent")),
            Kind.INJECTED,
            "user",
            **_BODY,
            parts=_USER_PARTS,
        ),
        RecordRule(
            (when, _role("user"), no_flag("message.synthetic")),
            Kind.SAID,
            "user",
            **_BODY,
            parts=_USER_PARTS,
            split=True,
        ),
        RecordRule(
            (when, _role("assistant")),
            Kind.SAID,
            "assistant",
            **_BODY,
            parts=_PARTS,
            merge=None if when is _ENTRY else _UPDATES,
            faults=(_STOPS,),
            also=(_ERROR,),
        ),
        RecordRule(
            (when, _role("toolResult")),
            Kind.REPLY,
            "tool",
            **_BODY,
            call_id="message.toolCallId",
            name="message.toolName",
            outcome=Outcomes(failed=("message.isError",)),
        ),
        RecordRule(
            (when, _role("bashExecution", "pythonExecution")),
            Kind.INJECTED,
            "user",
            "message.command|message.code",
            then=("message.output",),
            time=_TIME,
        ),
        RecordRule((when, _role("custom", "hookMessage")), Kind.INJECTED, "user", **_BODY, parts=_USER_PARTS),
        RecordRule((when, _role("fileMention")), Kind.INJECTED, "user", "message.files", time=_TIME),
        RecordRule(
            (when, _role("branchSummary", "compactionSummary")), Kind.REPLAYED, "system", "message.summary", time=_TIME
        ),
        RecordRule((when, _role("system", "developer")), Kind.INSTRUCTION, "@message.role", **_BODY, parts=_USER_PARTS),
    )


_ENTRIES = ("model_change", "thinking_level_change", "label", "session_info", "custom", "mode_change", "title")
_EVENTS = (
    *("agent_start", "agent_end", "turn_start", "turn_end", "tool_execution_start", "tool_execution_update"),
    *("tool_execution_end", "auto_compaction_start", "auto_retry_start", "compaction_start", "queue_update"),
)
_NOT_OTHERS = ("uuid", "sessionId", "session_id", "payload", "data.content", "role", "event")

PI = RecordFormat(
    name="pi",
    title="Pi session",
    container=Container.LINES,
    signatures=(
        Signature(92, ("id", "cwd"), {"type": frozenset({"session"})}, _NOT_OTHERS),
        Signature(
            91,
            ("message.role",),
            {"type": frozenset({"message", "message_start", "message_update", "message_end", "turn_end"})},
            _NOT_OTHERS,
        ),
        Signature(
            88,
            ("timestamp",),
            {"type": frozenset({*_ENTRIES, "compaction", "branch_summary", "custom_message", "session_init"})},
            (*_NOT_OTHERS, "message"),
        ),
        Signature(88, (), {"type": frozenset(_EVENTS)}, _NOT_OTHERS),
    ),
    records=(
        RecordRule((is_("type", "session"),), None, starts=True, session="id"),
        RecordRule((is_("type", "session_start"), has(OF_SUBAGENTS)), None, narrows=_SUBAGENT),
        RecordRule((is_("type", "session_init"),), Kind.INSTRUCTION, "system", "systemPrompt", narrows=_SUBAGENT),
        RecordRule((has(_CALLING), lacks("message")), Kind.UNKNOWN, "system", narrows=_SUBAGENT),
        RecordRule((has("systemPrompt"), has("task"), lacks("message")), Kind.UNKNOWN, "system", narrows=_SUBAGENT),
        *_messages(_ENTRY),
        *_messages(_END),
        RecordRule((_GROWS, _role("assistant")), Kind.SAID, "assistant", **_BODY, parts=_SO_FAR, merge=_UPDATES),
        RecordRule((_GROWS,), None),
        RecordRule(
            (is_("type", "custom_message"),),
            Kind.INJECTED,
            "user",
            "content",
            _USER_PARTS,
            time="timestamp",
            aside=True,
        ),
        RecordRule(
            (is_("type", "compaction", "branch_summary"),),
            Kind.REPLAYED,
            "system",
            "summary",
            time="timestamp",
            aside=True,
        ),
        RecordRule((is_("type", "auto_compaction_end", "compaction_end"),), Kind.REPLAYED, "system", "result.summary"),
        RecordRule((is_("type", "auto_retry_end"),), Kind.NOTICE, "system", "finalError"),
        RecordRule((is_("type", *_ENTRIES),), None, aside=True),
        RecordRule((is_("type", *_EVENTS),), None),
    ),
    usage=(
        Tokens(
            "message.usage",
            input=("input", "cacheRead", "cacheWrite"),
            output=("output",),
            cached=("cacheRead",),
            total=("totalTokens",),
            when=(is_("type", "message", "message_end"),),
        ),
    ),
    model="message.model",
    threads=Threads("id", "parentId"),
    hooks=Hooks(split=pi_tags),
)
