"""tau2-bench: the results of simulations, in which a simulated user talks to an agent."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    lacks,
    no_flag,
)
from viewer.formats.tables.speakers import display_runs
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_TIME: dict[str, Any] = {"time": "timestamp"}
_USER, _ASSISTANT, _TOOL = is_("role", "user"), is_("role", "assistant"), is_("role", "tool")
_TEXT, _AUDIO = no_flag("is_audio"), flag("is_audio")
_CALLS = RecordRule(
    (has("tool_calls[0]"),),
    each="tool_calls[]",
    rules=(RecordRule((), Kind.CALL, "assistant", "arguments", call_id="id", name="name"),),
    whole=True,
)
"""The rule for calls. The simulated user also calls tools."""
_RESULT = RecordRule(
    (_TOOL, lacks("tool_messages")),
    Kind.REPLY,
    "tool",
    "content",
    call_id="id",
    outcome=Outcomes(failed=("error",)),
    **_TIME,
)
_MESSAGES = (
    RecordRule((_TOOL, has("tool_messages")), each="tool_messages[]", rules=(_RESULT,)),
    _RESULT,
    *(
        RecordRule((speaks, _AUDIO, has("content")), Kind.SAID, role, label=True, goes_on=True, **_TIME)
        for speaks, role in ((_USER, "user"), (_ASSISTANT, "assistant"))
    ),
    *(
        RecordRule((speaks, _TEXT, has("content")), Kind.SAID, role, "content", goes_on=True, **_TIME)
        for speaks, role in ((_USER, "user"), (_ASSISTANT, "assistant"))
    ),
    RecordRule((is_("role", "user", "assistant"), has("tool_calls[0]")), each=_CALLS.each, rules=_CALLS.rules),
    RecordRule((is_("role", "user", "assistant"),), None),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content", **_TIME),
)
_ENDS = Fault(
    "termination_reason",
    {
        "user_stop": None,
        "agent_stop": None,
        "max_steps": (W_RUN_INCOMPLETE, "stopped"),
        "timeout": (W_RUN_INCOMPLETE, "stopped"),
        "context_window_exceeded": (W_RUN_ERROR, "context-length"),
    },
    (W_RUN_ERROR, "unknown"),
)
_RUN = (
    RecordRule((has("policy"),), Kind.INSTRUCTION, "system", "policy", goes_on=True),
    RecordRule((has("messages"),), each="messages[]", rules=_MESSAGES),
    RecordRule((lacks("messages"), has("ticks[0]")), each="ticks[]", rules=(RecordRule(()),)),
    RecordRule((has("termination_reason"),), None, faults=(_ENDS,)),
)

TAU2 = RecordFormat(
    name="tau2",
    title="tau2-bench results",
    container=Container.JSON,
    signatures=(
        Signature(95, ("simulations[].task_id", "simulations[].messages|simulations[].ticks")),
        Signature(93, ("task_id", "termination_reason", "messages|ticks")),
        Signature(93, ("task_id", "reward", "traj[].role")),
        Signature(93, (), {"messages_display": frozenset({"user:*", "system:*"})}),
    ),
    records=(
        RecordRule(
            (has("simulations"),),
            each="simulations[]",
            rules=(RecordRule((), None, starts=True, session="id", goes_on=True), *_RUN),
        ),
        RecordRule((has("termination_reason"),), None, starts=True, session="id", goes_on=True),
        RecordRule((has("messages_display"),), Kind.SAID, "user", "messages_display", split=True, starts=True),
        RecordRule((has("traj"), lacks("messages")), each="traj[]", rules=CHAT, starts=True),
        *_RUN,
    ),
    usage=(openai("usage", each="simulations[].messages[]"), openai("usage", each="messages[]")),
    model="info.agent_info.llm",
    hooks=Hooks(split=display_runs),
)
