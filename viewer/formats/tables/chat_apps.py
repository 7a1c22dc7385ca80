"""Chat apps: chats that LM Studio, DeepSeek, LobeChat, TypingMind, Chatbox, and the `llm` command save or export."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CHAT, PARTS, chat_rules
from viewer.formats.tables.model import (
    Branches,
    Container,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.model.messages import Kind

# LM Studio: each message has versions, and an answer has steps.

_USER, _ASSISTANT = is_("role", "user"), is_("role", "assistant")
_STEP_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "file"),), Kind.SAID, label=True),
    PartRule((is_("type", "toolCallRequest"),), Kind.CALL, "parameters", "callId|toolCallRequestId", "name"),
    PartRule((is_("type", "toolCallResult"),), Kind.REPLY, "content", "toolCallId|toolCallRequestId"),
)
_STEPS = (
    RecordRule(
        (is_("type", "contentBlock"), lacks("style"), lacks("role")), Kind.SAID, "assistant", "content", _STEP_PARTS
    ),
    RecordRule(
        (is_("type", "contentBlock"), is_("style.type", "thinking")), Kind.THOUGHT, "assistant", "content", _STEP_PARTS
    ),
    RecordRule(
        (is_("type", "contentBlock", "toolStatus", "debugInfoBlock", "status"),),
        Kind.UNKNOWN,
        "assistant",
        "content|statusState|debugInfo",
    ),
    RecordRule((), Kind.UNKNOWN, "assistant", "content"),
)
_VERSION = (
    RecordRule((is_("type", "singleStep"), _USER), Kind.SAID, "user", "content", _STEP_PARTS),
    RecordRule((is_("type", "singleStep"), _ASSISTANT), Kind.SAID, "assistant", "content", _STEP_PARTS),
    RecordRule((is_("type", "singleStep"), is_("role", "system")), Kind.INSTRUCTION, "system", "content", _STEP_PARTS),
    RecordRule((is_("type", "multiStep"), _ASSISTANT), each="steps[]", rules=_STEPS),
    RecordRule((), Kind.UNKNOWN, "assistant", "content"),
)
_MOST_VERSIONS = 16
_MESSAGES = (
    *(
        RecordRule((is_("currentlySelected", str(number)),), each=f"versions[{number}]", rules=_VERSION)
        for number in range(_MOST_VERSIONS)
    ),
    RecordRule((is_not("currentlySelected", *map(str, range(_MOST_VERSIONS))),), Kind.UNKNOWN, "assistant", "versions"),
    RecordRule((has("currentlySelected"),), None),
    RecordRule((), Kind.UNKNOWN, "assistant", "versions"),
)
"""Other versions of a message are not displayed."""
_LM_STUDIO = (
    RecordRule((has("messages[0].versions"),), None, starts=True, goes_on=True),
    RecordRule(
        (has("messages[0].versions"), has("systemPrompt")), Kind.INSTRUCTION, "system", "systemPrompt", goes_on=True
    ),
    RecordRule((has("messages[0].versions"),), each="messages[]", rules=_MESSAGES),
    RecordRule((has("messages[0].versions"),), None),
)

_TOOLS = (RecordRule((), Kind.CALL, "assistant", "arguments", call_id="id", name="apiName"),)
"""LobeChat calls."""

# DeepSeek: each message has fragments.

_FRAGMENTS = (
    PartRule((is_("type", "REQUEST"),), Kind.SAID, "content"),
    PartRule((is_("type", "RESPONSE"),), Kind.SAID, "content"),
    PartRule((is_("type", "THINK"),), Kind.THOUGHT, "content"),
    PartRule((is_("type", "SEARCH", "READ_LINK"),), Kind.UNKNOWN, "results|content"),
)
_FIRST = "message.fragments[0].type"
_NODE = (
    RecordRule(
        (is_(_FIRST, "REQUEST"),), Kind.SAID, "user", "message.fragments", _FRAGMENTS, time="message.inserted_at"
    ),
    RecordRule((has(_FIRST),), Kind.SAID, "assistant", "message.fragments", _FRAGMENTS, time="message.inserted_at"),
    RecordRule((lacks("message"),), None),
    RecordRule((), Kind.UNKNOWN, "assistant", "message"),
)
_DEEPSEEK = RecordRule(
    (has("mapping"), has("inserted_at")),
    each="mapping.*",
    rules=_NODE,
    branches=Branches("id", "parent", "current_message_id", frozenset({"root"})),
    starts=True,
    session="id",
)

# Lists of chats

_LOBECHAT = (
    *CHAT[:1],
    RecordRule((_ASSISTANT,), each="tools[]", rules=_TOOLS, place=1),
    *CHAT[1:],
)

_CHATBOX = (*chat_rules(body="contentParts|content", parts=PARTS), RecordRule((), Kind.UNKNOWN, "assistant", "content"))
_LLM = has("datetime_utc")
_LOGGED = (
    RecordRule((has("system"),), Kind.INSTRUCTION, "system", "system"),
    RecordRule((), Kind.SAID, "user", "prompt", time="datetime_utc"),
    RecordRule((has("reasoning"),), Kind.THOUGHT, "assistant", "reasoning"),
    RecordRule((), Kind.SAID, "assistant", "response"),
)

CHAT_APPS = RecordFormat(
    name="chat-apps",
    title="Chat app",
    container=Container.JSON,
    signatures=(
        Signature(93, ("messages[].versions", "messages[].currentlySelected")),
        Signature(93, ("mapping", "inserted_at", "title")),
        Signature(92, ("exportType", "state.messages[].role")),
        Signature(92, ("data.chats[].messages[].role",)),
        Signature(92, (), members=("session:",)),
        Signature(92, ("prompt", "response", "conversation_id", "datetime_utc")),
    ),
    records=(
        *_LM_STUDIO,
        _DEEPSEEK,
        RecordRule(
            (has("exportType"),),
            each="state.messages[]",
            rules=_LOBECHAT,
            starts=True,
        ),
        RecordRule(
            (has("data.chats"),),
            each="data.chats[]",
            rules=(RecordRule((has("messages"),), each="messages[]", rules=CHAT, starts=True, session="id"),),
        ),
        RecordRule((_LLM,), None, starts=True, session="conversation_id", also=_LOGGED),
        RecordRule(
            (lacks("role|exportType|data|messages|mapping|state"),),
            each="*",
            rules=(
                RecordRule((has("messages[0].role"),), each="messages[]", rules=_CHATBOX, starts=True, session="id"),
                RecordRule((), None),
            ),
        ),
    ),
)
