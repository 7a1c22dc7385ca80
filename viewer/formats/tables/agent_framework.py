"""Microsoft Agent Framework and Microsoft.Extensions.AI: messages, stream updates, and saved threads."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
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
    lacks,
)
from viewer.model.messages import Kind

_TYPE, _ROLE, _AUTHOR = "$type|type", "role.value|role", "messageId|message_id"
_CALL_ID = "callId|call_id"
_PARTS = (
    PartRule((is_(_TYPE, "text"),), Kind.SAID, "text"),
    PartRule((is_(_TYPE, "reasoning", "text_reasoning"),), Kind.THOUGHT, "text"),
    PartRule((is_(_TYPE, "functionCall", "function_call"),), Kind.CALL, "arguments", _CALL_ID, "name"),
    PartRule(
        (is_(_TYPE, "functionResult", "function_result"),),
        Kind.REPLY,
        "result|exception",
        _CALL_ID,
        outcome=Outcomes(failed=("exception",)),
    ),
    PartRule((is_(_TYPE, "data", "uri", "hostedFile", "hosted_file"),), Kind.SAID, label=True),
    PartRule((is_(_TYPE, "error"),), Kind.NOTICE, "message"),
    PartRule((is_(_TYPE, "usage"),), None),
)


def _speakers(when: tuple[When, ...], merge: Merge | None) -> tuple[RecordRule, ...]:
    return (
        RecordRule((*when, is_(_ROLE, "user")), Kind.SAID, "user", "contents", _PARTS, time="createdAt", merge=merge),
        RecordRule(
            (*when, is_(_ROLE, "assistant")), Kind.SAID, "assistant", "contents", _PARTS, time="createdAt", merge=merge
        ),
    )


_MESSAGE = (
    *_speakers((lacks(_AUTHOR),), None),
    *_speakers((has(_AUTHOR),), Merge(Mode.APPEND, _AUTHOR)),
    RecordRule((is_(_ROLE, "tool"),), Kind.REPLY, "tool", "contents", _PARTS, time="createdAt"),
    RecordRule((is_(_ROLE, "system", "developer"),), Kind.INSTRUCTION, "system", "contents", _PARTS, time="createdAt"),
    RecordRule((has("contents[0]"),), Kind.UNKNOWN, "", "contents", _PARTS, time="createdAt"),
    RecordRule((has("contents"),), None),
)
_STATES = ("storeState", "store_state", "chatHistoryProviderState", "chat_message_store_state")
_LISTS = "|".join(("messages", *(f"{state}.messages" for state in _STATES)))
_ITEMS = "|".join(f"{each}[]" for each in _LISTS.split("|"))
_CONTENTS = "|".join(f"{each}[].contents[].$type" for each in _LISTS.split("|"))

AGENT_FRAMEWORK = RecordFormat(
    name="agent-framework",
    title="Microsoft Agent Framework messages",
    container=Container.JSON,
    signatures=(
        Signature(93, ("contents[].$type",), none_of=("content",)),
        Signature(93, ("role", "contents[].type"), none_of=("content", "parts")),
        Signature(93, ("contents", "responseId"), none_of=("content", "parts")),
        Signature(93, (_CONTENTS,)),
    ),
    records=(RecordRule((has(_LISTS),), each=_ITEMS, rules=_MESSAGE, starts=True), *_MESSAGE),
    model="modelId",
)
