"""Cline and its forks: what a task showed (`ui_messages.json`), and what the model received."""

from __future__ import annotations

from viewer.formats.tables.anthropic_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    lacks,
    starts,
)
from viewer.formats.tables.tags import cline_answer, cline_tags
from viewer.formats.tables.usage import CLINE_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_API = (W_RUN_ERROR, "api")
_CALLS = (
    *("tool", "command", "use_mcp_server", "use_mcp_tool", "browser_action", "browser_action_launch"),
    *("access_mcp_resource", "use_subagents", "new_task"),
)
_REPLIES = ("command_output", "mcp_server_response", "browser_action_result", "subagent")


def _say(*words: str) -> tuple[When, ...]:
    return is_("type", "say"), is_("say", *words)


def _ask(*words: str) -> tuple[When, ...]:
    return is_("type", "ask"), is_("ask", *words)


def _rule(when: tuple[When, ...], kind: Kind, role: str, body: str = "text", *, split: bool = False) -> RecordRule:
    return RecordRule(when, kind, role, body, time="ts", split=split)


_OBJECT = When("text", kind=JsonKind.OBJECT)
_CARRIED = "text.question|text.response|text.result"

_SHOWN = (
    _rule(_say("task", "user_feedback", "user_feedback_diff"), Kind.SAID, "user"),
    RecordRule(_say("text"), Kind.SAID, "assistant", "text", time="ts", split=True, first_role="user"),
    _rule(_say("completion_result"), Kind.SAID, "assistant", split=True),
    _rule((*_ask("followup", "plan_mode_respond", "completion_result"), _OBJECT), Kind.SAID, "assistant", _CARRIED),
    _rule((*_ask("followup", "plan_mode_respond"), starts("text", "{")), Kind.UNKNOWN, "assistant"),
    _rule(_ask("followup", "plan_mode_respond", "completion_result"), Kind.SAID, "assistant", split=True),
    _rule(_say("reasoning"), Kind.THOUGHT, "assistant"),
    *(
        RecordRule((*kind(*_CALLS),), Kind.CALL, "assistant", "text", name=f"text.tool|{word}", time="ts")
        for kind, word in ((_say, "say"), (_ask, "ask"))
    ),
    *(RecordRule(kind(*_REPLIES), Kind.REPLY, "tool", "text", time="ts") for kind in (_say, _ask)),
    RecordRule(
        _say("error", "api_req_failed"), Kind.NOTICE, "system", "text", time="ts", faults=(Fault("say", default=_API),)
    ),
    RecordRule(_ask("api_req_failed"), Kind.NOTICE, "system", "text", time="ts", faults=(Fault("ask", default=_API),)),
    RecordRule(
        _say("api_req_started"),
        Kind.INJECTED,
        "user",
        "text.request",
        time="ts",
        also=(RecordRule((), Kind.NOTICE, "system", "text.streamingFailedMessage"),),
        faults=(
            Fault("text.streamingFailedMessage", default=_API),
            Fault("text.cancelReason", {"user_cancelled": (W_RUN_ERROR, "aborted")}),
        ),
    ),
)
_SENT = (
    RecordRule((is_("role", "user"), lacks("type")), Kind.SAID, "user", "content", PARTS, time="ts", split=True),
    RecordRule(
        (is_("role", "assistant"), lacks("type")), Kind.SAID, "assistant", "content", PARTS, time="ts", split=True
    ),
    RecordRule((has("role"), has("content")), Kind.UNKNOWN, "@role", "content", PARTS, time="ts"),
)
_ENVIRONMENT = "<environment_details>*"
_OPENINGS = frozenset({"<task>*", "<feedback>*", "<user_message>*"})

CLINE = RecordFormat(
    name="cline",
    title="Cline task",
    container=Container.JSON,
    signatures=(
        Signature(93, ("ts", "say"), {"type": frozenset({"say"})}),
        Signature(93, ("ts", "ask"), {"type": frozenset({"ask"})}),
        Signature(95, ("role", "content"), {"content[].text": frozenset({_ENVIRONMENT})}, ("type",), decides=True),
        Signature(95, ("role", "content"), {"content[].text": _OPENINGS}, ("type",)),
    ),
    records=(*_SHOWN, *_SENT),
    inner=("text",),
    usage=(CLINE_TOKENS,),
    hooks=Hooks(split=cline_tags, split_answer=cline_answer),
)
