"""Kimi CLI and Kimi Code: the wire files of sessions."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import PARTS, chat_rules
from viewer.formats.tables.model import (
    Container,
    Copies,
    Fault,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.usage import KIMI_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "think"),), Kind.THOUGHT, "think"),
    PartRule((is_("type", "image_url", "audio_url", "video_url"),), Kind.SAID, label=True),
)
_ABORTED = (W_RUN_ERROR, "aborted")

# Kimi CLI: `{"timestamp": …, "message": {"type": …, "payload": {…}}}`.

_GROWS = Merge(Mode.APPEND)


def _messages() -> tuple[RecordRule, ...]:
    """Return the rules for the messages of one agent. They must not be merged with those of another agent."""
    return (
        RecordRule(
            (is_("type", "TurnBegin", "SteerInput"),),
            Kind.SAID,
            "user",
            "payload.user_input",
            _PARTS,
        ),
        RecordRule(
            (is_("type", "ContentPart"), is_("payload.type", "text")),
            Kind.SAID,
            "assistant",
            "payload.text",
            merge=_GROWS,
        ),
        RecordRule(
            (is_("type", "ContentPart"), is_("payload.type", "think")),
            Kind.THOUGHT,
            "assistant",
            "payload.think",
            merge=_GROWS,
        ),
        RecordRule((is_("type", "ContentPart"),), Kind.UNKNOWN, "assistant", "payload"),
        RecordRule(
            (is_("type", "ToolCall", "ToolCallPart"),),
            Kind.CALL,
            "assistant",
            "payload.function.arguments|payload.arguments_part",
            call_id="payload.id",
            name="payload.function.name",
            merge=Merge(Mode.APPEND, begins=is_("type", "ToolCall")),
        ),
        RecordRule(
            (is_("type", "ToolResult"),),
            Kind.REPLY,
            "tool",
            "payload.return_value.output|payload.result.output|payload.return_value"
            "&payload.return_value.message|payload.result.message",
            call_id="payload.tool_call_id",
            outcome=Outcomes(failed=("payload.return_value.is_error", "payload.result.is_error", "payload.is_error")),
        ),
        RecordRule((is_("type", "ApprovalRequest"),), Kind.NOTICE, "system", "payload.description"),
        RecordRule((is_("type", "StepInterrupted"),), None, faults=(Fault("type", default=_ABORTED),)),
        RecordRule(
            (
                is_(
                    "type",
                    *("StatusUpdate", "StepBegin", "TurnEnd", "CompactionBegin", "CompactionEnd"),
                    *("ApprovalResponse", "ApprovalRequestResolved"),
                ),
            ),
            None,
        ),
    )


_OLD = (
    RecordRule(
        (is_("type", "SubagentEvent"),),
        Kind.SUBAGENT,
        each="payload.event",
        rules=_messages(),
        thread="payload.task_tool_call_id|payload.parent_tool_call_id|payload.agent_id",
    ),
    *_messages(),
)

# Kimi Code: `{"type": …, "time": …}`.

_PROMPT, _LOOP = is_("type", "turn.prompt", "turn.steer"), is_("type", "context.append_loop_event")
_OTHER_AGENT = (has("agentId"), is_not("agentId", "main"))
_COPY = Copies("prompt", primary=True)


def _prompt(*origin: When) -> RecordRule:
    return RecordRule((_PROMPT, *origin), Kind.SAID, "user", "input", _PARTS, time="time", copy=_COPY)


_NEW = (
    RecordRule((_PROMPT, *_OTHER_AGENT), Kind.SUBAGENT, "user", "input", _PARTS, time="time", thread="agentId"),
    RecordRule(
        (_PROMPT, is_("origin.name", "subagent")),
        Kind.SUBAGENT,
        "user",
        "input",
        _PARTS,
        time="time",
        copy=_COPY,
        narrows=Narrowing(Kind.SUBAGENT),
    ),
    _prompt(lacks("origin")),
    _prompt(is_("origin.kind", "user")),
    _prompt(is_("origin", "user")),
    RecordRule((_PROMPT,), Kind.INJECTED, "user", "input", _PARTS, time="time"),
    RecordRule(
        (is_("type", "context.append_message"),),
        Kind.INJECTED,
        "@message.role",
        "message.content",
        _PARTS,
        time="time",
        copy=Copies("prompt"),
    ),
    RecordRule((is_("type", "prompt.accepted"),), Kind.INJECTED, "user", "content", _PARTS, time="time"),
    RecordRule(
        (_LOOP, is_("event.type", "content.part"), *_OTHER_AGENT),
        Kind.SUBAGENT,
        "assistant",
        "event.part",
        _PARTS,
        time="time",
        thread="agentId",
    ),
    RecordRule((_LOOP, is_("event.type", "content.part")), Kind.SAID, "assistant", "event.part", _PARTS, time="time"),
    RecordRule(
        (_LOOP, is_("event.type", "tool.call")),
        Kind.CALL,
        "assistant",
        "event.args",
        call_id="event.toolCallId",
        name="event.name",
        time="time",
    ),
    RecordRule(
        (_LOOP, is_("event.type", "tool.result")),
        Kind.REPLY,
        "tool",
        "event.result.output|event.result",
        call_id="event.toolCallId",
        time="time",
        outcome=Outcomes(failed=("event.result.isError",)),
    ),
    RecordRule((_LOOP, When("event.type", starts=("step.",))), None),
    RecordRule((is_("type", "config.update"),), Kind.INSTRUCTION, "system", "systemPrompt", time="time"),
    RecordRule((is_("type", "llm.tools_snapshot"),), Kind.INSTRUCTION, "system", "tools", time="time"),
    RecordRule(
        (When("type", starts=("context.apply_compaction", "compaction", "full_compaction", "micro_compaction")),),
        Kind.REPLAYED,
        "system",
        "summary|result.summary",
        time="time",
    ),
    RecordRule(
        (is_("type", "turn.ended"),),
        None,
        faults=(Fault("reason", {"failed": (W_RUN_ERROR, "unknown"), "cancelled": _ABORTED}),),
    ),
    RecordRule((is_("type", "turn.cancel"),), None, faults=(Fault("type", default=_ABORTED),)),
    RecordRule((is_("type", "metadata", "usage.record", "llm.request", "turn.started"),), None),
    RecordRule((When("type", starts=("step.", "permission.", "plan_mode.", "file_history.")),), None),
)
_HISTORY = (
    RecordRule((is_("role", "_system_prompt"),), Kind.INSTRUCTION, "system", "content"),
    RecordRule((When("role", starts=("_",)),), None),
    RecordRule(
        (is_("role", "user"), When("content[0].text|content", starts=("<system", "<notification"))),
        Kind.INJECTED,
        "user",
        "content",
    ),
    *chat_rules(parts=(PartRule((is_("type", "think"),), Kind.THOUGHT, "think"), *PARTS)),
)
"""The rules for the context file next to a session, which contains the messages as the model received them."""
_OLD_TYPES = frozenset(
    {
        *("TurnBegin", "TurnEnd", "StepBegin", "ContentPart", "ToolCall", "ToolCallPart", "ToolResult"),
        *("StatusUpdate", "SubagentEvent", "CompactionBegin", "CompactionEnd"),
    }
)
_NEW_TYPES = frozenset(
    {
        *("turn.prompt", "turn.steer", "context.append_loop_event", "context.append_message", "usage.record"),
        *("llm.request", "llm.tools_snapshot", "turn.ended", "prompt.accepted"),
    }
)

KIMI = RecordFormat(
    name="kimi",
    title="Kimi session",
    container=Container.LINES,
    signatures=(
        Signature(94, ("message.payload",), {"message.type": _OLD_TYPES}),
        Signature(94, ("type",), {"type": _NEW_TYPES}, ("payload", "data")),
        Signature(94, (), {"role": frozenset({"_system_prompt", "_checkpoint", "_usage"})}, decides=True),
        Signature(90, ("protocol_version",), {"type": frozenset({"metadata"})}),
    ),
    usage=(KIMI_TOKENS,),
    records=(
        RecordRule((has("message.type"), lacks("type")), each="message", rules=_OLD, time="timestamp"),
        *_NEW,
        *_HISTORY,
    ),
)
