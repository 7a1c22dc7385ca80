"""Chat histories: chats that chatbots, LangChain, and LlamaIndex store, alone, in lists, or by ID."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from viewer.formats.tables.chat_messages import CALL, CHAT, PARTS, object_rule
from viewer.formats.tables.langchain_messages import MESSAGE_TYPES, TYPED
from viewer.formats.tables.model import (
    Container,
    Fault,
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
from viewer.rules.structure import W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind

_TIME: dict[str, Any] = {"time": "timestamp|created_at|time"}

# Chatbot messages. The speaker and the text have many names.

_USERS = ("user", "User", "human", "Human", "you", "You", "prompter", "Prompt")
_ASSISTANTS = ("assistant", "Assistant", "ai", "AI", "bot", "Bot", "chatbot", "Chatbot", "model", "Response")
_SPEAKER, _TEXT = "role|sender|speaker|from", "content|message|text|say"
_OF_NO_AGENT = lacks("message_type|action|thought|agent_id|extra")
"""The condition that a message is not from an agent, because agents also exchange messages that their users do not
see."""
_PLAIN = lacks("recipient|to|channel|intent|thought|tool_calls|function_call|tool_call_id|message_type|action")
"""The condition that nothing marks the message as meant for somebody else."""
_MESSAGES = (
    object_rule(_SPEAKER, _TEXT, *_USERS, *_ASSISTANTS),
    *(
        RecordRule((is_(_SPEAKER, *words), known, _PLAIN, has(_TEXT)), Kind.SAID, role, _TEXT, PARTS, **_TIME)
        for role, words in (("user", _USERS), ("assistant", _ASSISTANTS))
        for known in (lacks("type"), is_("type", "message", "text", "chat"))
    ),
    RecordRule((is_(_SPEAKER, "system", "System"),), Kind.INSTRUCTION, "system", _TEXT, **_TIME),
)

# Questions with their answers

_PAIRS = (
    *(("user", answer) for answer in ("assistant", "bot", "ai", "chatbot", "response", "bot_response", "ai_response")),
    *(("human", answer) for answer in ("assistant", "bot", "ai")),
    *(("user_message", answer) for answer in ("bot_response", "ai_response", "assistant_response", "response")),
    *(("user_message", answer) for answer in ("bot_message", "ai_message", "assistant_message")),
    *(("user_input", answer) for answer in ("bot_response", "ai_response", "assistant_response", "response", "bot")),
)
_OWN = lacks("role|sender|speaker|from|type|messages")
_EXCHANGES = tuple(
    RecordRule(
        (_OWN, When(asked, kind=JsonKind.STRING), When(answered, kind=JsonKind.STRING)),
        None,
        also=(
            RecordRule((), Kind.SAID, "user", asked, **_TIME),
            RecordRule((), Kind.SAID, "assistant", answered, **_TIME),
        ),
    )
    for asked, answered in _PAIRS
)

# LlamaIndex messages

_KWARGS = "additional_kwargs"
_BLOCKS = (
    PartRule((is_("block_type", "text"),), Kind.SAID, "text"),
    PartRule((is_("block_type", "thinking"),), Kind.THOUGHT, "content"),
    PartRule((is_("block_type", "tool_call"),), Kind.CALL, "tool_kwargs", "tool_call_id", "tool_name"),
    PartRule((is_("block_type", "image", "audio", "video", "document"),), Kind.SAID, label=True),
    PartRule((is_("block_type", "cache"),), None),
)
_ASSISTANT, _TOOL = is_("role", "assistant", "chatbot", "model"), is_("role", "tool", "function")
_REPLY: dict[str, Any] = {"call_id": f"{_KWARGS}.tool_call_id", "name": f"{_KWARGS}.name"}
_IN_BLOCKS = has("blocks")
_LLAMA_INDEX = (
    RecordRule((_ASSISTANT, has(f"{_KWARGS}.tool_calls[0]")), each=f"{_KWARGS}.tool_calls[]", rules=CALL, whole=True),
    RecordRule((_IN_BLOCKS, is_("role", "user")), Kind.SAID, "user", "blocks", _BLOCKS),
    RecordRule((_IN_BLOCKS, _ASSISTANT), Kind.SAID, "assistant", "blocks", _BLOCKS),
    RecordRule((_IN_BLOCKS, is_("role", "system", "developer")), Kind.INSTRUCTION, "system", "blocks[].text|blocks"),
    RecordRule((_IN_BLOCKS, _TOOL), Kind.REPLY, "tool", "blocks[].text|blocks", **_REPLY),
    RecordRule((_IN_BLOCKS,), Kind.UNKNOWN, "@role", "blocks"),
    RecordRule((_TOOL, has(_KWARGS)), Kind.REPLY, "tool", "content", **_REPLY),
)
_ITEMS = (
    *(replace(rule, when=(lacks(_SPEAKER), *rule.when)) for rule in TYPED),
    *_LLAMA_INDEX,
    *(replace(rule, when=(has("role"), has("content"), _OF_NO_AGENT, *rule.when)) for rule in CHAT),
    *_MESSAGES,
    *_EXCHANGES,
)

# Chats, in lists or by ID

_LISTS = ("messages", "history", "chat_history", "conversation", "chat", "turns")
_CHAT = tuple(
    RecordRule((has(name), *(lacks(other) for other in _LISTS[:at])), each=f"{name}[]", rules=_ITEMS, starts=True)
    for at, name in enumerate(_LISTS)
)
_ONE = (
    RecordRule((When("", kind=JsonKind.ARRAY),), each="[]", rules=_ITEMS, starts=True),
    *_CHAT,
)
_OTHER = (
    RecordRule(
        (When("", kind=JsonKind.ARRAY),), Kind.UNKNOWN, body="[]", faults=(Fault("", default=(W_RECORD_UNKNOWN, None)),)
    ),
)
"""The rule for a list whose name is not an ID. Such a list may contain anything."""
_MEMORY = "state.state_data._data.memory.value|globals.memory.value"
_STORES = ("store", "chat_store.store", *(f"{at}.chat_store.store" for at in _MEMORY.split("|")))
_ROWS = tuple(f"{at}.sql_store.db_data" for at in ("chat_store", *_MEMORY.split("|")))
_OTHERS = (*_LISTS, "store", "chat_store", "state", "globals", *_SPEAKER.split("|"))
_OWN_WORDS = frozenset((*_USERS, *_ASSISTANTS)) - {"user", "assistant"}

CHAT_HISTORY = RecordFormat(
    name="chat-history",
    title="Chat history",
    container=Container.JSON,
    signatures=(
        Signature(92, ("store", "class_name")),
        Signature(92, ("chat_store.store", "class_name")),
        Signature(92, ("state.state_data._data.memory",)),
        Signature(92, ("globals.memory", "queues")),
        Signature(92, ("role", "blocks[].block_type")),
        Signature(93, ("type", "data.content"), {"type": MESSAGE_TYPES}),
        Signature(93, ("kwargs.content", "id[2]"), {"type": frozenset({"constructor"})}),
        Signature(93, ("additional_kwargs", "content"), {"type": MESSAGE_TYPES}, ("role",)),
        Signature(
            86, ("content",), {"type": frozenset({"human", "ai"})}, ("role", "data", "kwargs", "uuid"), decides=True
        ),
        Signature(86, (_TEXT,), {"sender|speaker": frozenset((*_USERS, *_ASSISTANTS))}, ("role", "uuid"), decides=True),
        Signature(86, (_TEXT,), {"role": _OWN_WORDS}, ("parts",), decides=True),
        Signature(86, ("role", "message"), none_of=("content", "text", "info", "type", "uuid")),
        *(
            Signature(86, (), {f"{name}[].{speaker}": words}, (f"{name}[].parts", "uuid"))
            for name in _LISTS
            for speaker, words in (("role", _OWN_WORDS), ("sender", _OWN_WORDS | {"user", "assistant"}))
        ),
        *(
            Signature(82, (f"{name}[].role", f"{name}[].content"), none_of=("messages", "type", "prompt", "question"))
            for name in _LISTS[1:]
        ),
        *(Signature(84, pair, none_of=("role", "type", "messages", "system", "history")) for pair in _PAIRS),
    ),
    records=(
        *(RecordRule((has(store),), each=f"{store}.*", rules=_ONE) for store in _STORES),
        *(
            RecordRule((has(rows),), each=f"{rows}[]", rules=(RecordRule((), each="data", rules=_ITEMS),))
            for rows in _ROWS
        ),
        *_CHAT,
        *(
            RecordRule((has("*#"), lacks("|".join(_OTHERS))), each=each, rules=rules)
            for each, rules in (("*#", _ONE), ("*!", _OTHER))
        ),
        *_ITEMS,
    ),
    inner=("state.state_data._data.memory", "globals.memory"),
)
