"""Codex: session files (rollouts), including those of early versions, whose lines are bare items."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Alone,
    Container,
    Copies,
    Counting,
    Fault,
    Hooks,
    Narrowing,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    Words,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.responses_items import INJECTED_PREFIXES, PHASES, Items
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_THREAD_BROKEN
from viewer.syntax.json_text import JsonKind

_IDE_CONTEXT = "# Context from my IDE setup:"
_REQUEST = "## My request for Codex:"
_CITATION, _CITATION_END = "<oai-mem-citation>", "</oai-mem-citation>"
_PLAN_TAGS = ("<proposed_plan>", "</proposed_plan>")


def codex_runs(text: str) -> list[tuple[Kind, int, int]]:
    """Split the text into runs. The editor context, memory citations, and the tags around a plan were never shown."""
    runs: list[tuple[Kind, int, int]] = []
    at = 0
    if text.lstrip().startswith(_IDE_CONTEXT):
        found = text.find(f"\n{_REQUEST}")
        at = found + 1 + len(_REQUEST) if found >= 0 else len(text)
        runs.append((Kind.INJECTED, 0, at))
    while at < len(text):
        start, end = _next_hidden(text, at)
        said = text[at:start]
        if said.strip():
            runs.append((Kind.SAID, at + len(said) - len(said.lstrip()), at + len(said.rstrip())))
        if start < end:
            runs.append((Kind.INJECTED, start, end))
        at = end if start < end else len(text)
    return [(Kind.SAID, 0, len(text))] if [kind for kind, _, _ in runs] == [Kind.SAID] else runs


def _next_hidden(text: str, at: int) -> tuple[int, int]:
    """Return the next run that was not shown, or an empty run at the end of the text."""
    found = [(start, start + len(tag)) for tag in _PLAN_TAGS if (start := text.find(tag, at)) >= 0]
    citation = text.find(_CITATION, at)
    if citation >= 0:
        end = text.find(_CITATION_END, citation)
        found.append((citation, end + len(_CITATION_END) if end >= 0 else len(text)))
    return min(found, default=(len(text), len(text)))


_TIME: dict[str, Any] = {"time": "timestamp"}
_ITEM, _EVENT = is_("type", "response_item"), is_("type", "event_msg")
_META, _TURN = is_("type", "session_meta"), is_("type", "turn_context")

_REPLAY = Narrowing(
    Kind.REPLAYED,
    until=(_EVENT, is_("payload.type", "task_started", "turn_started")),
    time="timestamp",
    within_ms=1000,
    fault=(W_THREAD_BROKEN, "parent-missing"),
)
"""The history of a forked session. All of its lines are written again at the same moment."""
_OTHER_AGENT = Narrowing(Kind.SUBAGENT)
"""Hides the session of a sub-agent. Its prompts come from another agent, which also receives its answers."""

_META_RULES = (
    RecordRule((_META,), None, starts=True, session="payload.id", goes_on=True),
    RecordRule(
        (When("payload.source", kind=JsonKind.OBJECT), lacks("payload.source.custom")),
        None,
        narrows=_OTHER_AGENT,
        goes_on=True,
    ),
    RecordRule((has("payload.source.subagent"),), None, narrows=_OTHER_AGENT, goes_on=True),
    RecordRule((is_("payload.source", "subagent"),), None, narrows=_OTHER_AGENT, goes_on=True),
    RecordRule((is_("payload.thread_source", "subagent"),), None, narrows=_OTHER_AGENT, goes_on=True),
    RecordRule((has("payload.forked_from_id"),), None, narrows=_REPLAY, goes_on=True),
    RecordRule(
        (_META,),
        Kind.INSTRUCTION,
        "system",
        "payload.base_instructions.text|payload.base_instructions",
        **_TIME,
        once=True,
        also=(RecordRule((), Kind.INSTRUCTION, "system", "payload.instructions", **_TIME, once=True),),
    ),
)
_TURN_RULES = (
    RecordRule(
        (_TURN,),
        Kind.INSTRUCTION,
        "developer",
        "payload.user_instructions",
        **_TIME,
        once=True,
        also=(
            RecordRule((), Kind.INSTRUCTION, "developer", "payload.developer_instructions", **_TIME, once=True),
            RecordRule(
                (),
                Kind.INSTRUCTION,
                "developer",
                "payload.collaboration_mode.settings.developer_instructions"
                "|payload.collaboration_mode.developer_instructions|payload.collaboration_mode.text",
                **_TIME,
                once=True,
            ),
        ),
    ),
)


def _item_rules(items: Items) -> tuple[RecordRule, ...]:
    return (
        *items.messages(
            {"copy": Copies("user", primary=True), "split": True},
            {"copy": Copies("agent", primary=True), "split": True},
        ),
        items.reasoning(Copies("reasoning", primary=True)),
        *items.calls(),
        *items.replies(Copies("reply", primary=True)),
        *items.others(),
        items.rule(items.is_("agent_message"), Kind.SUBAGENT, "", thread=items.path("author|recipient")),
    )


def _event(*types: str) -> tuple[When, ...]:
    return _EVENT, is_("payload.type", *types)


_TEXT_PARTS = (
    PartRule((is_("type", "text", "Text"),), Kind.SAID, "text"),
    PartRule((is_("type", "image", "local_image", "audio", "local_audio"),), Kind.SAID, label=True),
    PartRule((is_("type", "skill", "mention"),), None),
)
_ERRORS = {
    "context_window_exceeded": (W_RUN_ERROR, "context-length"),
    "usage_limit_exceeded": (W_RUN_ERROR, "rate-limit"),
    "session_budget_exceeded": (W_RUN_ERROR, "rate-limit"),
    "unauthorized": (W_RUN_ERROR, "auth"),
    "cyber_policy": (W_RUN_ERROR, "content-filter"),
    "error": (W_RUN_ERROR, "unknown"),
    "warning": (W_RUN_ERROR, "unknown"),
    "guardian_warning": (W_RUN_ERROR, "unknown"),
    "other": (W_RUN_ERROR, "unknown"),
}
_METADATA = (
    *("token_count", "task_started", "task_complete", "turn_started", "turn_complete", "context_compacted"),
    *("thread_name_updated", "thread_settings_applied", "thread_goal_updated", "session_configured"),
    *("shutdown_complete", "mcp_startup_update", "mcp_startup_complete", "agent_reasoning_section_break"),
    *("exec_command_begin", "patch_apply_begin", "mcp_tool_call_begin", "web_search_begin", "web_search_end"),
    *("item_started", "model_reroute", "skills_update_available", "entered_review_mode"),
)
_REPLY: dict[str, Any] = {"call_id": "payload.call_id", "copy": Copies("reply"), **_TIME}

_EVENT_RULES = (
    RecordRule(
        (*_event("user_message"), has("payload.kind"), is_not("payload.kind", "plain")),
        Kind.INJECTED,
        "user",
        "payload.message",
        copy=Copies("user"),
        **_TIME,
    ),
    RecordRule(
        (*_event("user_message"), When("payload.message", starts=INJECTED_PREFIXES)),
        Kind.INJECTED,
        "user",
        "payload.message",
        copy=Copies("user"),
        **_TIME,
    ),
    RecordRule(_event("user_message"), Kind.SAID, "user", "payload.message", copy=Copies("user"), split=True, **_TIME),
    RecordRule(
        _event("agent_message"),
        Kind.SAID,
        "assistant",
        "payload.message",
        channel=Words("payload.phase", PHASES),
        copy=Copies("agent"),
        split=True,
        **_TIME,
    ),
    RecordRule(
        _event("agent_reasoning", "agent_reasoning_raw_content"),
        Kind.THOUGHT,
        "assistant",
        "payload.text",
        copy=Copies("reasoning"),
        **_TIME,
    ),
    RecordRule(
        (*_event("item_completed"), is_("payload.item.type", "UserMessage")),
        Kind.SAID,
        "user",
        "payload.item.content",
        _TEXT_PARTS,
        copy=Copies("user"),
        split=True,
        **_TIME,
    ),
    RecordRule(
        (*_event("item_completed"), is_("payload.item.type", "AgentMessage")),
        Kind.SAID,
        "assistant",
        "payload.item.content",
        _TEXT_PARTS,
        channel=Words("payload.item.phase", PHASES),
        copy=Copies("agent"),
        split=True,
        **_TIME,
    ),
    RecordRule(
        (*_event("item_completed"), is_("payload.item.type", "Plan")),
        Kind.SAID,
        "assistant",
        "payload.item.text",
        copy=Copies("agent"),
        **_TIME,
    ),
    RecordRule(_event("item_completed"), Kind.UNKNOWN, "", "payload.item", **_TIME),
    RecordRule(_event("plan_update"), Kind.THOUGHT, "assistant", "payload", **_TIME),
    RecordRule(
        _event("exec_command_end"),
        Kind.REPLY,
        "tool",
        "payload.aggregated_output|payload.formatted_output|payload.stdout|payload.stderr",
        outcome=Outcomes(
            ok=("payload.exit_code=0",),
            failed=("payload.exit_code!=0", "payload.status=failed"),
            cancelled=("payload.status=declined",),
            timeout=("payload.timed_out",),
        ),
        **_REPLY,
    ),
    RecordRule(
        _event("patch_apply_end"),
        Kind.REPLY,
        "tool",
        "payload.stdout|payload.stderr|payload.changes",
        outcome=Outcomes(
            ok=("payload.success=true",),
            failed=("payload.success=false", "payload.status=failed"),
            cancelled=("payload.status=declined",),
        ),
        **_REPLY,
    ),
    RecordRule(
        _event("mcp_tool_call_end", "dynamic_tool_call_response"),
        Kind.REPLY,
        "tool",
        "payload.result.Ok.content|payload.result|payload.content_items|payload.error",
        outcome=Outcomes(
            ok=("payload.result.Ok.content", "payload.success=true"),
            failed=(
                *("payload.result.Err", "payload.result.Ok.isError", "payload.result.Ok.is_error"),
                *("payload.success=false", "payload.error", "payload.status=failed"),
            ),
        ),
        **_REPLY,
    ),
    RecordRule(
        _event("error", "stream_error", "warning", "guardian_warning"),
        Kind.NOTICE,
        "system",
        "payload.message",
        faults=(Fault("payload.codex_error_info|payload.type", _ERRORS, (W_RUN_ERROR, "api")),),
        **_TIME,
    ),
    RecordRule(
        _event("turn_aborted"),
        Kind.NOTICE,
        "system",
        "payload.reason",
        faults=(Fault("payload.type", default=(W_RUN_ERROR, "aborted")),),
        cancels=True,
        **_TIME,
    ),
    RecordRule(_event("thread_rolled_back"), None, rewind_turns="payload.num_turns"),
    RecordRule(_event("exited_review_mode"), Kind.NOTICE, "system", "payload.review_output", **_TIME),
    RecordRule(_event("background_event", "deprecation_notice"), Kind.NOTICE, "system", "payload", **_TIME),
    RecordRule(
        (_EVENT, When("payload.type", starts=("collab_", "sub_agent_"))),
        Kind.SUBAGENT,
        "",
        "payload",
        thread="payload.new_thread_id|payload.receiver_thread_id|payload.agent_thread_id|payload.sender_thread_id",
        **_TIME,
    ),
    RecordRule(_event(*_METADATA), None),
)
_BARE = Items()
_EARLY_RULES = (
    RecordRule((lacks("type"), lacks("role"), has("record_type")), None),
    RecordRule(
        (lacks("type"), lacks("role"), has("id"), has("timestamp")),
        Kind.INSTRUCTION,
        "system",
        "instructions",
        time="timestamp",
        starts=True,
        session="id",
    ),
)

CODEX = RecordFormat(
    name="codex",
    title="Codex session",
    container=Container.LINES,
    signatures=(
        Signature(
            97,
            ("payload",),
            {
                "type": frozenset(
                    {
                        *("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"),
                        *("inter_agent_communication", "inter_agent_communication_metadata"),
                    }
                )
            },
        ),
        Signature(97, ("record_type",), {"record_type": frozenset({"state"})}, ("type", "role")),
        Signature(97, ("id", "timestamp", "instructions"), none_of=("type", "role", "model", "messages", "input")),
        Signature(97, ("id", "timestamp", "git"), none_of=("type", "role", "model", "messages", "input")),
        Signature(
            89,
            any_of={"type": frozenset({"message", "reasoning", "function_call", "function_call_output"})},
            none_of=("stop_reason", "uuid", "sessionId", "message", "data"),
        ),
    ),
    records=(
        *_META_RULES,
        *_TURN_RULES,
        *_item_rules(Items("payload.", (_ITEM,), time="timestamp")),
        *_EVENT_RULES,
        RecordRule((is_("type", "compacted"),), Kind.REPLAYED, "system", "payload.message", **_TIME),
        RecordRule((is_("type", "inter_agent_communication_metadata"),), None),
        RecordRule(
            (When("type", starts=("inter_agent_communication",)),),
            Kind.SUBAGENT,
            "",
            "payload",
            thread="payload.author|payload.sender_thread_id|payload.recipient",
            **_TIME,
        ),
        *_EARLY_RULES,
        *_item_rules(_BARE),
    ),
    inner=("payload.output", "output"),
    usage=(openai("payload.info.total_token_usage", counts=Counting.COUNTER),),
    model="payload.model",
    version="payload.cli_version",
    alone={"user": Alone.SAID_BEFORE_COPIES},
    replays=_REPLAY,
    preambles=True,
    hooks=Hooks(split=codex_runs),
)
