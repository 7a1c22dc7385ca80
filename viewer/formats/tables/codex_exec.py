"""Headless Codex: the output of `codex exec --json`."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
)
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_DONE = is_("type", "item.completed")
_ITEM = is_("type", "item.started", "item.updated", "item.completed")
_GROWS: dict[str, Any] = {"merge": Merge(Mode.REPLACE, "item.id", _DONE)}
"""Merges the records of an item, because Codex writes an item again whenever it changes."""
_ERROR = (W_RUN_ERROR, "unknown")
_CALLS = {
    "command_execution": "command",
    "mcp_tool_call": "arguments",
    "file_change": "changes",
    "web_search": "query|action",
}
"""The members that contain the arguments of a call, by the type of the item."""
_ANSWERS = {
    "command_execution": "aggregated_output",
    "mcp_tool_call": "result.content|result|error.message|error",
    "file_change": "status",
    "web_search": "status|action",
}
"""The members that contain the reply to a call, by the type of the item."""
_OUTCOMES = Outcomes(
    ok=("item.exit_code=0", "item.status=completed"),
    failed=("item.exit_code!=0", "item.status=failed", "item.error"),
    cancelled=("item.status=declined",),
)


def _item(*types: str) -> tuple[When, ...]:
    """Return the conditions for an item of one of these types. The member with the type had another name in early
    versions."""
    return _ITEM, is_("item.type|item.item_type", *types)


def _paths(members: str) -> str:
    return "|".join(f"item.{member}" for member in members.split("|"))


def _call(kind: str) -> RecordRule:
    """Return the rule for a call whose last record also contains the reply."""
    reply = RecordRule(
        (_DONE,), Kind.REPLY, "tool", _paths(_ANSWERS[kind]), call_id="item.id", default_name=kind, outcome=_OUTCOMES
    )
    return RecordRule(
        _item(kind),
        Kind.CALL,
        "assistant",
        _paths(_CALLS[kind]),
        call_id="item.id",
        name="item.tool",
        default_name=kind,
        text=kind != "mcp_tool_call",
        also=(reply,),
        **_GROWS,
    )


_TYPES = frozenset({"thread.started", "turn.started", "turn.completed", "turn.failed", "item.*"})
"""The types of records that are evidence for this format. Other programs write other records about turns."""

CODEX_EXEC = RecordFormat(
    name="codex-exec",
    title="Codex exec output",
    container=Container.LINES,
    signatures=(Signature(96, any_of={"type": _TYPES}, none_of=("payload", "sessionId")),),
    usage=(openai("usage", when=(is_("type", "turn.completed"),)),),
    records=(
        RecordRule((is_("type", "thread.started"),), None, starts=True, session="thread_id"),
        RecordRule((is_("type", "turn.started", "turn.completed"),), None),
        RecordRule(
            (is_("type", "turn.failed"),),
            Kind.NOTICE,
            "system",
            "error.message|error",
            faults=(Fault("type", default=_ERROR),),
        ),
        RecordRule(
            (is_("type", "error"),), Kind.NOTICE, "system", "message|error", faults=(Fault("type", default=_ERROR),)
        ),
        RecordRule(_item("agent_message", "assistant_message"), Kind.SAID, "assistant", "item.text", **_GROWS),
        RecordRule(_item("reasoning", "plan"), Kind.THOUGHT, "assistant", "item.text", **_GROWS),
        *map(_call, _CALLS),
        RecordRule(
            _item("todo_list"),
            Kind.CALL,
            "assistant",
            "item.items",
            default_name="todo_list",
            text=True,
            **_GROWS,
        ),
        RecordRule(
            _item("collab_tool_call"),
            Kind.SUBAGENT,
            "",
            "item",
            thread="item.receiver_thread_ids[0]|item.sender_thread_id",
            **_GROWS,
        ),
        RecordRule(_item("error"), Kind.NOTICE, "system", "item.message", **_GROWS),
        RecordRule(
            (is_("type", "item.plan.delta"), has("item_id")),
            Kind.THOUGHT,
            "assistant",
            "delta",
            merge=Merge(Mode.APPEND, "item_id"),
        ),
        RecordRule((is_("type", "request_user_input"),), Kind.CALL, "assistant", "questions", call_id="call_id"),
    ),
)
