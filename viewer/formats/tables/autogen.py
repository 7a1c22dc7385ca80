"""AutoGen: states of teams and agents, and the messages of a run."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
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
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_TIME: dict[str, Any] = {"time": "created_at"}
_PARTS = (
    PartRule((When("", kind=JsonKind.STRING),), Kind.SAID, ""),
    PartRule((has("data"), lacks("type")), Kind.SAID, label=True),
)
"""The parts of a multimodal message: text and images."""
_USERS = ("user", "User", "user_proxy", "UserProxy", "human", "Human")
_FROM_USER, _FROM_OTHERS = is_("source", *_USERS), is_not("source", *_USERS)
_CALL = (RecordRule((has("arguments"),), Kind.CALL, "assistant", "arguments", call_id="id", name="name"),)
_RESULT = (
    RecordRule(
        (has("call_id"),),
        Kind.REPLY,
        "tool",
        "content",
        call_id="call_id",
        name="name",
        outcome=Outcomes(failed=("is_error",)),
    ),
)
_LIST = When("content", kind=JsonKind.ARRAY)

# Messages of a run, which the console prints

_CHATS = is_("type", "TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage")
_MESSAGES = (
    RecordRule((_CHATS, _FROM_USER), Kind.SAID, "user", "content", _PARTS, **_TIME),
    RecordRule((_CHATS, has("source"), _FROM_OTHERS), Kind.SAID, "assistant", "content", _PARTS, **_TIME),
    RecordRule((is_("type", "ThoughtEvent"),), Kind.THOUGHT, "assistant", "content", **_TIME),
    RecordRule((is_("type", "ToolCallRequestEvent"), _LIST), each="content[]", rules=_CALL, **_TIME),
    RecordRule((is_("type", "ToolCallExecutionEvent"), _LIST), each="content[]", rules=_RESULT, **_TIME),
    RecordRule((is_("type", "ToolCallSummaryMessage"),), Kind.REPLAYED, "assistant", "content", **_TIME),
    RecordRule((is_("type", "ModelClientStreamingChunkEvent"),), Kind.REPLAYED, "assistant", "content", **_TIME),
    RecordRule((is_("type", "MemoryQueryEvent"),), Kind.INJECTED, "user", "content", **_TIME),
    RecordRule((is_("type", "CodeGenerationEvent"),), Kind.CALL, "assistant", "content", text=True, **_TIME),
    RecordRule((is_("type", "CodeExecutionEvent"),), Kind.REPLY, "tool", "result.output|result", **_TIME),
    RecordRule((is_("type", "SelectSpeakerEvent", "UserInputRequestedEvent"),), Kind.NOTICE, "system", "content"),
)

# Messages in the context of a model

_THOUGHT = has("thought")
_CONTEXT = (
    RecordRule((is_("type", "SystemMessage"),), Kind.INSTRUCTION, "system", "content"),
    RecordRule((is_("type", "UserMessage"), _FROM_USER), Kind.SAID, "user", "content", _PARTS),
    RecordRule((is_("type", "UserMessage"),), Kind.INJECTED, "user", "content"),
    RecordRule(
        (is_("type", "AssistantMessage"), _THOUGHT), Kind.THOUGHT, "assistant", "thought", goes_on=True, place=-1
    ),
    RecordRule((is_("type", "AssistantMessage"), _LIST), each="content[]", rules=_CALL),
    RecordRule((is_("type", "AssistantMessage"), _LIST), None),
    RecordRule((is_("type", "AssistantMessage"),), Kind.SAID, "assistant", "content"),
    RecordRule((is_("type", "FunctionExecutionResultMessage"), _LIST), each="content[]", rules=_RESULT),
)
_MODEL_CONTEXT = "llm_context.messages|model_context.messages"
_IN_STATE = "|".join(f"agent_state.{at}" for at in _MODEL_CONTEXT.split("|"))
_IN_CONTEXT = "llm_context.messages[]|model_context.messages[]"
_ENDS = Fault("stop_reason", {"Maximum number of turns reached.": (W_RUN_INCOMPLETE, "stopped")})
_STATE = (
    RecordRule((has("message_thread"),), each="message_thread[]", rules=_MESSAGES),
    RecordRule(
        (has("agent_state"),),
        Kind.REPLAYED,
        each="|".join(f"{at}[]" for at in _IN_STATE.split("|")),
        rules=_CONTEXT,
    ),
    RecordRule((has("agent_state"), lacks(_IN_STATE)), Kind.UNKNOWN, "", "agent_state"),
    RecordRule((has("message_thread|agent_state"),), None),
)
"""The rules for an agent's state. The state of a group chat's manager contains the messages of the chat. The contexts
of the other agents repeat them."""
_TYPES = frozenset(
    {
        *("TextMessage", "MultiModalMessage", "StopMessage", "HandoffMessage", "ThoughtEvent", "ToolCallRequestEvent"),
        *("ToolCallExecutionEvent", "ToolCallSummaryMessage", "MemoryQueryEvent", "SelectSpeakerEvent"),
    }
)
_CONTEXT_TYPES = frozenset({"UserMessage", "AssistantMessage"})

AUTOGEN = RecordFormat(
    name="autogen",
    title="AutoGen state",
    container=Container.JSON,
    signatures=(
        Signature(94, ("agent_states", "type")),
        Signature(94, (_MODEL_CONTEXT, "type")),
        Signature(94, ("message_thread", "type")),
        Signature(93, ("source", "content"), {"type": _TYPES}),
        Signature(93, ("messages[].source", "messages[].content"), {"messages[].type": _TYPES}, ("mode",)),
        Signature(93, ("source", "content"), {"type": _CONTEXT_TYPES}, ("uuid",)),
        Signature(93, ("messages[].source", "messages[].content"), {"messages[].type": _CONTEXT_TYPES}, ("mode",)),
    ),
    records=(
        RecordRule((has("agent_states"),), each="agent_states.*", rules=_STATE, starts=True),
        RecordRule((has("message_thread"),), each="message_thread[]", rules=_MESSAGES, starts=True),
        RecordRule((has(_MODEL_CONTEXT),), each=_IN_CONTEXT, rules=_CONTEXT, starts=True),
        RecordRule((has("messages"), lacks("source")), each="messages[]", rules=(*_MESSAGES, *_CONTEXT), starts=True),
        RecordRule((has("messages"), lacks("source")), None, faults=(_ENDS,)),
        *_MESSAGES,
        *_CONTEXT,
    ),
    usage=(
        openai("models_usage"),
        openai("models_usage", each="messages[]"),
        openai("models_usage", each="message_thread[]"),
    ),
)
