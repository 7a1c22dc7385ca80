"""LangChain messages: constructors with `kwargs`, and objects with `type` and `content` or `data`."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CALL, PARTS
from viewer.formats.tables.model import Outcomes, RecordRule, When, has, is_, lacks
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

TYPES = {
    "human": ("human", "HumanMessage", "HumanMessageChunk"),
    "ai": ("ai", "AIMessage", "AIMessageChunk"),
    "system": ("system", "developer", "SystemMessage", "SystemMessageChunk"),
    "tool": ("tool", "function", "ToolMessage", "ToolMessageChunk", "FunctionMessage"),
    "chat": ("chat", "ChatMessage", "ChatMessageChunk"),
}

MESSAGE_TYPES = frozenset({"human", "ai", "system", "tool", "function", "developer"})
"""The types of stored messages."""


def _rules(kind: str, holder: str, *conditions: When) -> tuple[RecordRule, ...]:
    """Return the rules for messages whose members are in `holder`, and whose type is at the path `kind`."""
    content, calls = f"{holder}content", f"{holder}tool_calls"
    names = ("reasoning_content", "reasoning", "reasoning_details")
    thoughts = "|".join(f"{holder}additional_kwargs.{name}" for name in names)
    human, ai, system, tool, chat = ((*conditions, is_(kind, *words)) for words in TYPES.values())
    spoken_ai = (
        RecordRule(
            (*ai, has(thoughts)),
            Kind.THOUGHT,
            "assistant",
            thoughts,
            goes_on=True,
        ),
        RecordRule((*ai, has(calls)), each=f"{calls}[]", rules=CALL, whole=True),
        RecordRule((*ai, lacks(f"{calls}[0]")), each=f"{holder}additional_kwargs.tool_calls[]", rules=CALL, whole=True),
    )
    return (
        RecordRule((*human, When(content, kind=JsonKind.OBJECT)), Kind.UNKNOWN, "user", content),
        RecordRule(human, Kind.SAID, "user", content, PARTS),
        *spoken_ai,
        RecordRule((*ai, When(content, kind=JsonKind.OBJECT)), Kind.UNKNOWN, "assistant", content),
        RecordRule(ai, Kind.SAID, "assistant", content, PARTS),
        RecordRule(system, Kind.INSTRUCTION, "system", content),
        RecordRule(
            tool,
            Kind.REPLY,
            "tool",
            content,
            call_id=f"{holder}tool_call_id",
            name=f"{holder}name",
            outcome=Outcomes(failed=(f"{holder}status=error",)),
        ),
        *(
            RecordRule(
                (*chat, is_(f"{holder}role", role), When(content, kind=JsonKind.STRING)), Kind.SAID, role, content
            )
            for role in ("user", "assistant")
        ),
    )


STORED = (
    *_rules("id[-1]", "kwargs.", has("kwargs")),
    *_rules("type", "data.", lacks("kwargs"), has("data")),
)
"""The rules for a message as LangChain stores it: a constructor, or a type next to data."""
TYPED = (*STORED, *_rules("type", "", lacks("kwargs"), lacks("data")))
"""The rules for a message as LangChain stores or prints it."""
