"""Continue: session files of the extension and the CLI."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CALL, PARTS
from viewer.formats.tables.model import (
    Container,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
)
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind

_ROLE, _CONTENT = "message.role", "message.content"
_CALLS = "message.toolCalls|message.tool_calls"
_PARTS = (*PARTS, PartRule((is_("type", "imageUrl"),), Kind.SAID, label=True))
_ITEM = (
    RecordRule((has("conversationSummary"),), Kind.REPLAYED, "system", "conversationSummary", goes_on=True),
    RecordRule((is_(_ROLE, "user"),), each="contextItems[]", rules=(RecordRule((), Kind.INJECTED, "user", "content"),)),
    RecordRule((is_(_ROLE, "user"),), Kind.SAID, "user", _CONTENT, _PARTS),
    RecordRule(
        (is_(_ROLE, "assistant"), has("reasoning.text")), Kind.THOUGHT, "assistant", "reasoning.text", goes_on=True
    ),
    RecordRule((is_(_ROLE, "assistant"),), Kind.SAID, "assistant", _CONTENT, _PARTS, goes_on=True),
    RecordRule(
        (is_(_ROLE, "assistant"),), each="|".join(f"{each}[]" for each in _CALLS.split("|")), rules=CALL, whole=True
    ),
    RecordRule((is_(_ROLE, "assistant"),), None),
    RecordRule((is_(_ROLE, "thinking"),), Kind.THOUGHT, "assistant", _CONTENT, _PARTS),
    RecordRule(
        (is_(_ROLE, "tool"),),
        Kind.REPLY,
        "tool",
        _CONTENT,
        call_id="message.toolCallId|message.tool_call_id",
        outcome=Outcomes(failed=("message.isError",)),
    ),
    RecordRule((is_(_ROLE, "system"),), Kind.INSTRUCTION, "system", _CONTENT),
)

CONTINUE = RecordFormat(
    name="continue",
    title="Continue session",
    container=Container.JSON,
    signatures=(
        Signature(93, ("history[].message.role",)),
        Signature(93, ("sessionId", "workspaceDirectory", "history")),
    ),
    records=(RecordRule((has("history"),), each="history[]", rules=_ITEM, starts=True, session="sessionId"),),
    usage=(openai("message.usage", each="history[]"),),
    model="chatModelTitle",
)
