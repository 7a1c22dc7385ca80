"""JSON-RPC logs of agents: the Agent Client Protocol, the Model Context Protocol, and Agent2Agent."""

from __future__ import annotations

from viewer.formats.tables.mcp_parts import TEXTS
from viewer.formats.tables.model import (
    Container,
    Copies,
    Fault,
    Merge,
    Mode,
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
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_ABORTED = (W_RUN_ERROR, "aborted")


def _method(*names: str) -> When:
    return is_("method", *names)


# Agent Client Protocol

_BLOCKS = (
    *TEXTS,
    PartRule((is_("type", "resource"),), Kind.INJECTED, "resource.text|resource.uri"),
    PartRule((is_("type", "image", "audio", "resource_link"),), Kind.SAID, label=True),
)
_UPDATE = "params.update"
_STOP = {
    "refusal": (W_RUN_ERROR, "refused"),
    "cancelled": _ABORTED,
    "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
    "max_turn_requests": (W_RUN_INCOMPLETE, "stopped"),
}


def _update(*names: str) -> tuple[When, ...]:
    return _method("session/update", "_x.ai/session/update"), is_(f"{_UPDATE}.sessionUpdate", *names)


def _chunk(name: str, kind: Kind) -> tuple[RecordRule, ...]:
    """Return the rules for a piece of text. Pieces with the same ID form one message, even if other pieces come between
    them."""
    at = f"{_UPDATE}.messageId"
    return tuple(
        RecordRule(
            (*_update(name), when),
            kind,
            "assistant",
            f"{_UPDATE}.content",
            _BLOCKS,
            merge=Merge(Mode.APPEND, key),
        )
        for when, key in ((has(at), at), (lacks(at), ""))
    )


_STARTER = "|".join(
    f"{_UPDATE}._meta.{name}"
    for name in ("claudeCode.parentToolUseId", "parentToolUseId", "parentToolCallId", "codex.subagent.threadId")
)
"""The paths at which adapters add the call or thread of another agent to an update."""
_OF_TOOL = Merge(Mode.REPLACE, f"{_UPDATE}.toolCallId")
_CLIENT = (
    RecordRule(
        (_method("session/prompt"),),
        Kind.SAID,
        "user",
        "params.prompt",
        _BLOCKS,
        copy=Copies("prompt", primary=True),
    ),
    RecordRule(
        (*_update("user_message_chunk", "agent_message_chunk"), has(_STARTER)),
        Kind.SUBAGENT,
        "assistant",
        f"{_UPDATE}.content",
        _BLOCKS,
        thread=_STARTER,
    ),
    RecordRule(_update("user_message_chunk"), Kind.SAID, "user", f"{_UPDATE}.content", _BLOCKS, copy=Copies("prompt")),
    *_chunk("agent_message_chunk", Kind.SAID),
    *_chunk("agent_thought_chunk", Kind.THOUGHT),
    RecordRule(_update("plan"), Kind.THOUGHT, "assistant", f"{_UPDATE}.entries[].content"),
    RecordRule(
        _update("tool_call", "tool_call_update"),
        Kind.CALL,
        "assistant",
        f"{_UPDATE}.rawInput|{_UPDATE}.title",
        call_id=f"{_UPDATE}.toolCallId",
        name=f"{_UPDATE}.kind",
        default_name="",
        merge=_OF_TOOL,
        also=tuple(
            RecordRule(
                when,
                Kind.REPLY,
                "tool",
                f"{_UPDATE}.content|{_UPDATE}.rawOutput",
                call_id=f"{_UPDATE}.toolCallId",
                merge=_OF_TOOL,
                outcome=Outcomes(ok=(f"{_UPDATE}.status=completed",), failed=(f"{_UPDATE}.status=failed",)),
            )
            for when in ((is_(f"{_UPDATE}.status", "completed", "failed"),),)
        ),
    ),
    RecordRule(
        _update(
            *("available_commands_update", "current_mode_update", "config_option_update", "usage_update"),
            *("session_info_update", "turn_completed", "hook_execution", "compaction_checkpoint"),
        ),
        None,
    ),
    RecordRule(
        (_method("session/request_permission"),),
        Kind.CALL,
        "assistant",
        "params.toolCall|params",
        call_id="id",
        typed_id=True,
        default_name="request_permission",
    ),
    RecordRule(
        (When("method", starts=("fs/", "terminal/")),),
        Kind.CALL,
        "assistant",
        "params",
        call_id="id",
        typed_id=True,
        name="method",
    ),
    RecordRule((has("result.stopReason"),), None, faults=(Fault("result.stopReason", _STOP),)),
)

# Model Context Protocol

_TOOLS = (
    RecordRule(
        (_method("tools/call"),),
        Kind.CALL,
        "assistant",
        "params.arguments",
        call_id="id",
        typed_id=True,
        name="params.name",
    ),
    RecordRule((has("result.tools"),), Kind.INSTRUCTION, "system", "result.tools"),
)

# Agent2Agent

_A2A_PARTS = (
    PartRule((is_("kind|type", "text"),), Kind.SAID, "text"),
    PartRule((is_("kind|type", "file"),), Kind.SAID, label=True),
)
_STATES = {
    **dict.fromkeys(("failed", "TASK_STATE_FAILED"), (W_RUN_ERROR, "unknown")),
    **dict.fromkeys(("canceled", "TASK_STATE_CANCELLED", "TASK_STATE_CANCELED"), _ABORTED),
    **dict.fromkeys(("rejected", "TASK_STATE_REJECTED"), (W_RUN_ERROR, "refused")),
}
_ARTIFACT = RecordRule((), Kind.SAID, "assistant", "parts", _A2A_PARTS)
_HISTORY = (
    RecordRule((is_("role", "user"),), Kind.SAID, "user", "parts", _A2A_PARTS, merge=Merge(Mode.REPEAT), once=True),
    RecordRule((), Kind.REPLAYED, "assistant", "parts"),
)
"""The rules for the messages of a task. The user's messages may also be in an earlier record."""
_STATUS = "result.status.message.parts"
_ADDRESSING = (
    *("completed", "input-required", "auth-required"),
    *("TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"),
)
"""The states in which the agent addresses the user. In other states, its message reports progress."""
_IS_ADDRESSED = (is_("result.status.state", *_ADDRESSING), is_("result.status.message.role", "agent"))
_AGENTS = (
    RecordRule(
        (
            _method("message/send", "message/stream", "tasks/send", "tasks/sendSubscribe"),
            is_("params.message.role", "user"),
        ),
        Kind.SAID,
        "user",
        "params.message.parts",
        _A2A_PARTS,
    ),
    RecordRule(
        (is_("result.kind", "message"), is_("result.role", "agent")),
        Kind.SAID,
        "assistant",
        "result.parts",
        _A2A_PARTS,
    ),
    RecordRule(
        (is_("result.kind", "artifact-update"),),
        Kind.SAID,
        "assistant",
        "result.artifact.parts",
        _A2A_PARTS,
        merge=Merge(Mode.APPEND, "result.artifact.artifactId"),
    ),
    RecordRule(
        (has("result.status.state"),),
        None,
        faults=(Fault("result.status.state", _STATES),),
        also=(
            RecordRule((has("result.history"),), each="result.history[]", rules=_HISTORY),
            RecordRule(_IS_ADDRESSED, Kind.SAID, "assistant", _STATUS, _A2A_PARTS),
            RecordRule((is_not("result.status.message.role", "agent"),), Kind.NOTICE, "assistant", _STATUS, _A2A_PARTS),
            RecordRule(
                (is_not("result.status.state", *_ADDRESSING), is_("result.status.message.role", "agent")),
                Kind.NOTICE,
                "assistant",
                _STATUS,
                _A2A_PARTS,
            ),
            RecordRule((has("result.artifacts"),), each="result.artifacts[]", rules=(_ARTIFACT,)),
        ),
    ),
)

# Responses, which do not name the method that they respond to.

_QUIET_METHODS = (
    *("initialize", "initialized", "authenticate", "ping", "session/new", "session/load", "session/resume"),
    *("session/list", "session/set_mode", "session/set_model", "session/set_config_option", "session/cancel"),
    *("tools/list", "prompts/list", "resources/list", "resources/templates/list", "logging/setLevel"),
    *("notifications/initialized", "notifications/cancelled", "notifications/tools/list_changed", "tasks/get"),
)
_QUIET_RESULTS = "|".join(
    f"result.{name}" for name in ("protocolVersion", "sessionId", "modes", "models", "configOptions", "capabilities")
)
_ANSWERS = (
    RecordRule((_method(*_QUIET_METHODS),), None),
    RecordRule((has(_QUIET_RESULTS), lacks("result.content")), None),
    RecordRule(
        (has("result"), lacks("result.role"), lacks("method")),
        Kind.REPLY,
        "tool",
        "result.content|result",
        call_id="id",
        typed_id=True,
        orphan=Kind.UNKNOWN,
        outcome=Outcomes(failed=("result.isError",), cancelled=("result.outcome.outcome=cancelled",)),
    ),
    RecordRule(
        (has("error"), lacks("method")),
        Kind.REPLY,
        "tool",
        "error.message|error",
        call_id="id",
        typed_id=True,
        orphan=Kind.NOTICE,
        outcome=Outcomes(failed=("error",)),
        faults=(Fault("error.code|error", default=(W_RUN_ERROR, "unknown")),),
    ),
)
_RECORDS = (*_CLIENT, *_TOOLS, *_AGENTS, *_ANSWERS)
_WRAPPERS = ("message", "msg", "payload", "data", "json")

JSONRPC = RecordFormat(
    name="jsonrpc",
    title="JSON-RPC log (ACP, MCP, A2A)",
    container=Container.LINES,
    signatures=(
        Signature(97, ("jsonrpc",), {"jsonrpc": frozenset({"2.0"})}),
        *(Signature(97, (f"{name}.jsonrpc",)) for name in _WRAPPERS),
        Signature(96, ("method", "params.sessionId", "params.update.sessionUpdate"), {}, ("jsonrpc",)),
    ),
    records=(
        *(
            RecordRule((lacks("jsonrpc"), has(f"{name}.jsonrpc")), each=name, rules=_RECORDS, time="timestamp|time|ts")
            for name in _WRAPPERS
        ),
        *_RECORDS,
    ),
    session="|".join(("params.sessionId", *(f"{name}.params.sessionId" for name in _WRAPPERS))),
)
