"""Cursor: chats from the database of the editor, whole or as single messages, which Cursor calls bubbles."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Inner,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    is_not,
    lacks,
    no_flag,
    starts,
)
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_TIME: dict[str, Any] = {"time": "createdAt|timingInfo.clientStartTime"}
_USER, _ASSISTANT = is_("type", "1", "user"), is_("type", "2", "ai")
_SIMULATED = ("isSimulatedMsg", "grouping.isSimulatedMsg")
_ADDED = ("isThought", "isSummary", "isCapabilityIteration")
"""Flags on text that the model did not address to the user."""
_PLAIN = tuple(no_flag(name) for name in _ADDED)
_TEXT = "text|rawText"
_TOOL = "toolFormerData"
_ARGUMENTS = f"{_TOOL}.rawArgs"
_OF_ANSWER = (
    RecordRule((has("thinking.text"),), Kind.THOUGHT, "assistant", "thinking.text", **_TIME),
    RecordRule(
        (lacks("thinking.text"), has("allThinkingBlocks[0]")),
        each="allThinkingBlocks[]",
        rules=(RecordRule((), Kind.THOUGHT, "assistant", "thinking|text"),),
    ),
    RecordRule((flag("isThought"), has(_TEXT)), Kind.THOUGHT, "assistant", _TEXT, **_TIME),
    RecordRule((flag("isSummary"), has(_TEXT)), Kind.REPLAYED, "assistant", _TEXT, **_TIME),
    RecordRule((flag("isCapabilityIteration"), has(_TEXT)), Kind.UNKNOWN, "assistant", _TEXT, **_TIME),
    RecordRule((*_PLAIN, has(_TEXT)), Kind.SAID, "assistant", _TEXT, **_TIME),
    *(
        RecordRule(
            (has(_TOOL), *when),
            Kind.CALL,
            "assistant",
            body,
            call_id=f"{_TOOL}.toolCallId",
            name=f"{_TOOL}.name",
            default_name="tool",
            **_TIME,
        )
        for when, body in (
            ((has(_ARGUMENTS), is_not(_ARGUMENTS, "")), _ARGUMENTS),
            ((lacks(_ARGUMENTS),), f"{_TOOL}.params"),
            ((is_(_ARGUMENTS, ""),), f"{_TOOL}.params"),
        )
    ),
    RecordRule(
        (has(f"{_TOOL}.result|{_TOOL}.error"),),
        Kind.REPLY,
        "tool",
        f"{_TOOL}.result|{_TOOL}.error",
        call_id=f"{_TOOL}.toolCallId",
        name=f"{_TOOL}.name",
        outcome=Outcomes(
            failed=(f"{_TOOL}.status=error", f"{_TOOL}.error"),
            cancelled=(f"{_TOOL}.status=cancelled",),
            refused=(f"{_TOOL}.userDecision=rejected", f"{_TOOL}.status=rejected"),
        ),
        **_TIME,
    ),
)
_BUBBLE = (
    *(RecordRule((_USER, flag(name)), Kind.INJECTED, "user", "text", **_TIME) for name in _SIMULATED),
    RecordRule((_USER, *map(no_flag, _SIMULATED), has("text")), Kind.SAID, "user", "text", **_TIME),
    RecordRule((_USER,), None),
    RecordRule((_ASSISTANT,), None, also=_OF_ANSWER),
    RecordRule((), Kind.UNKNOWN, "", _TEXT),
)
"""The rules for a bubble. Its rich text repeats its text."""
_LISTS = ("conversation", "bubbles", "messages")
_AGENTS = (has("subagentInfo"), flag("isBestOfNSubcomposer"))
"""Conditions, any one of which marks the chat of another agent."""
_NO_AGENT = (lacks("subagentInfo"), no_flag("isBestOfNSubcomposer"))
_CHAT = (
    *(
        RecordRule(
            (condition, has(f"{name}[0]")),
            Kind.SUBAGENT,
            each=f"{name}[]",
            rules=_BUBBLE,
            starts=True,
            session="composerId|tabId|id",
            thread="composerId",
        )
        for condition in _AGENTS
        for name in _LISTS
    ),
    *(
        RecordRule(
            (*_NO_AGENT, has(f"{name}[0]")),
            each=f"{name}[]",
            rules=_BUBBLE,
            starts=True,
            whole=True,
            session="composerId|tabId|id",
        )
        for name in _LISTS
    ),
)
_COMPOSER = (*_CHAT, RecordRule((has("composerId"), lacks("bubbleId")), None))
_META = (
    RecordRule((has("allComposers"),), each="allComposers[]", rules=_COMPOSER),
    RecordRule((has("allComposers|fullConversationHeadersOnly"),), None),
    RecordRule((has("composerId"), lacks("bubbleId")), None),
)

_ROW = starts("key", "bubbleId:", "composerData:")
"""The condition on a row of the database: a key, and JSON as its value."""

CURSOR_CHATS = RecordFormat(
    name="cursor-chats",
    title="Cursor chats",
    container=Container.JSON,
    signatures=(
        Signature(95, ("bubbleId", "type"), none_of=("role",)),
        Signature(95, ("composerId", "conversation[].bubbleId|bubbles[].type")),
        Signature(95, ("allComposers[].composerId",)),
        Signature(95, ("tabs[].tabId", "tabs[].bubbles[].type")),
        Signature(95, ("value",), {"key": frozenset({"bubbleId:*", "composerData:*"})}, decides=True),
    ),
    records=(
        RecordRule((has("key"), starts("key", "bubbleId:")), each="value", rules=_BUBBLE),
        RecordRule((has("key"), starts("key", "composerData:")), each="value", rules=(*_CHAT, *_META)),
        RecordRule((_ROW, When("value", kind=JsonKind.STRING)), Kind.UNKNOWN, "", "value"),
        RecordRule((has("tabs"),), each="tabs[]", rules=_CHAT),
        *_CHAT,
        *_META,
        *_BUBBLE[:-1],
    ),
    inner=(Inner("", "value", (_ROW,)),),
)
