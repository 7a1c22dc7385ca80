"""Messages in traces of model calls, in the shape of any API: chat, LangChain, GenAI, Gemini, or Responses."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import PARTS, chat_rules
from viewer.formats.tables.gemini_parts import PARTS as GEMINI_PARTS
from viewer.formats.tables.langchain_messages import TYPED
from viewer.formats.tables.model import RecordRule, When, has, is_, lacks
from viewer.formats.tables.responses_items import Items
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_ITEMS = Items()
_OF_GEMINI = (has("parts"), lacks("parts[0].type"))
_OF_GEN_AI = has("parts[0].type")

GEMINI_MESSAGE = (
    RecordRule((*_OF_GEMINI, is_("role", "user")), Kind.SAID, "user", "parts", GEMINI_PARTS),
    RecordRule((*_OF_GEMINI, is_("role", "model")), Kind.SAID, "assistant", "parts", GEMINI_PARTS),
    RecordRule(_OF_GEMINI, Kind.UNKNOWN, "@role", "parts", GEMINI_PARTS),
)
GEN_AI_MESSAGE = (
    RecordRule((is_("role", "tool", "function"), _OF_GEN_AI), Kind.REPLY, "tool", "parts", PARTS),
    RecordRule((is_("role", "system", "developer"), _OF_GEN_AI), Kind.INSTRUCTION, "@role", "parts", PARTS),
    *chat_rules(body="parts|content"),
)
_ITEM = (_ITEMS.reasoning(), *_ITEMS.calls(), *_ITEMS.replies(), *_ITEMS.others())

_ONE = (
    *GEMINI_MESSAGE,
    *_ITEM,
    RecordRule(
        (has("toolCallId"), has("toolName"), lacks("role|type|result|output")),
        Kind.CALL,
        "assistant",
        "input|args",
        call_id="toolCallId",
        name="toolName",
    ),
    *TYPED,
    *GEN_AI_MESSAGE,
)
TRACED = (RecordRule((When("", kind=JsonKind.ARRAY),), each="[]", rules=_ONE, whole=True), *_ONE)
"""The rules for a message or a list of messages."""
