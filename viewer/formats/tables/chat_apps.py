"""Chat apps: the chats that LM Studio, DeepSeek, LobeChat, TypingMind, Chatbox, text-generation-webui, big-AGI,
Chainlit, and the `llm` command save or export."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.chat_messages import CHAT, PARTS, chat_rules
from viewer.formats.tables.model import (
    Branches,
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
from viewer.model.messages import Kind
from viewer.rules.structure import W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind

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
"""The rules for the versions of a message. Only the selected version is displayed."""
_LM_STUDIO = (
    RecordRule((has("messages[0].versions"),), None, starts=True, goes_on=True),
    RecordRule(
        (has("messages[0].versions"), has("systemPrompt")), Kind.INSTRUCTION, "system", "systemPrompt", goes_on=True
    ),
    RecordRule((has("messages[0].versions"),), each="messages[]", rules=_MESSAGES),
    RecordRule((has("messages[0].versions"),), None),
)

_TOOLS = (RecordRule((), Kind.CALL, "assistant", "arguments", call_id="id", name="apiName"),)
"""The rule for calls in LobeChat."""

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

# text-generation-webui: the text that the model received, and the displayed text, which has HTML character references.

_OOBABOOGA = (("internal", "visible"), ("data", "data_visible"))
_TEXT = JsonKind.STRING
_PAIRS = (
    (When("[0]", kind=_TEXT), When("[1]", kind=_TEXT), lacks("[2]")),
    (When("[0]", kind=_TEXT), lacks("[1]"), lacks("[2]")),
    (lacks("[0]"), When("[1]", kind=_TEXT), lacks("[2]")),
)


def _pair(kind: Kind, *, html: bool = False) -> tuple[RecordRule, ...]:
    """Return the rules for a user message and its answer, either of which may be missing."""
    also = tuple(
        RecordRule((has(at),), kind, role, at, html=html) for at, role in (("[0]", "user"), ("[1]", "assistant"))
    )
    unknown = RecordRule((), Kind.UNKNOWN, faults=(Fault("", default=(W_RECORD_UNKNOWN, None)),))
    return (*(RecordRule(pair, None, also=also) for pair in _PAIRS), unknown)


_OF_MESSAGE = (RecordRule((has("versions|attachments|tool_sequence"),), Kind.UNKNOWN), RecordRule((), None))
"""Rules for the hidden extras of a message: earlier versions of an answer, attached files and search results, and calls
with their results."""
_WEBUI = tuple(
    RecordRule(
        (has(sent), has(shown)),
        None,
        starts=True,
        also=(
            RecordRule((), each=f"{shown}[]", rules=_pair(Kind.SAID, html=True)),
            RecordRule((), each=f"{sent}[]", rules=_pair(Kind.REPLAYED), place=1),
            RecordRule((), each="metadata.*", rules=_OF_MESSAGE, place=1),
            *(
                RecordRule((When(at, kind=kind),), Kind.UNKNOWN, "", at, place=1)
                for at in (sent, shown)
                for kind in (JsonKind.STRING, JsonKind.OBJECT)
            ),
        ),
    )
    for sent, shown in _OOBABOOGA
)

# big-AGI: each message has fragments.

_FRAGMENT = (
    PartRule((is_("ft", "content"), is_("part.pt", "text")), Kind.SAID, "part.text", refusal=True),
    PartRule((is_("ft", "content", "attachment"), is_("part.pt", "image_ref")), Kind.SAID, label=True),
    PartRule(
        (is_("ft", "content", "attachment"), is_("part.pt", "reference"), is_("part.assetType", "image", "audio")),
        Kind.SAID,
        label=True,
    ),
    PartRule(
        (is_("part.pt", "tool_invocation"),),
        Kind.CALL,
        "part.invocation.args|part.invocation.code",
        "part.id",
        "part.invocation.name",
    ),
    PartRule(
        (is_("part.pt", "tool_response"),),
        Kind.REPLY,
        "part.response.result",
        "part.id",
        "part.response.name",
        outcome=Outcomes(failed=("part.error",)),
    ),
    PartRule((is_("part.pt", "error"),), Kind.NOTICE, "part.error"),
    PartRule((is_("part.pt", "doc"),), Kind.INJECTED, "part.data.text"),
    PartRule((is_("part.pt", "ma"),), Kind.THOUGHT, "part.aText"),
)
_AGI_MESSAGE = (
    *(
        RecordRule((is_("role", role), has("fragments")), Kind.SAID, role, "fragments", _FRAGMENT, time="created")
        for role in ("user", "assistant")
    ),
    RecordRule((is_("role", "system"), has("fragments")), Kind.INSTRUCTION, "system", "fragments", _FRAGMENT),
    RecordRule((is_("role", "user"), lacks("fragments")), Kind.SAID, "user", "text", time="created"),
    RecordRule((is_("role", "assistant"), lacks("fragments")), Kind.SAID, "assistant", "text", time="created"),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "text", time="created"),
    RecordRule((), Kind.UNKNOWN, "", "fragments|text"),
)
_AGI_CHAT = RecordRule(
    (has("messages[0].sender|messages[0].fragments"),), each="messages[]", rules=_AGI_MESSAGE, starts=True, session="id"
)

# Chainlit: each thread consists of steps, some of which are messages.

_STEP_TEXT = "output.content|output"
_TOOL_STEPS = ("tool", "retrieval")
_SPOKEN_STEPS = (
    (When("output", kind=JsonKind.STRING),),
    (When("output.content", kind=JsonKind.STRING), When("output", only=frozenset({"content"}))),
)
_CHAINLIT_STEP = (
    RecordRule(
        (When("isError", kind=JsonKind.TRUE), is_not("type", *_TOOL_STEPS), has("input")),
        Kind.UNKNOWN,
        "assistant",
        "input",
        time="createdAt",
        goes_on=True,
    ),
    RecordRule(
        (When("isError", kind=JsonKind.TRUE), is_not("type", *_TOOL_STEPS)),
        Kind.NOTICE,
        "assistant",
        _STEP_TEXT,
        time="createdAt",
    ),
    *(
        RecordRule(
            (is_("type", f"{role}_message"), is_fine, *is_text),
            Kind.SAID,
            role,
            _STEP_TEXT,
            time="createdAt",
        )
        for role in ("user", "assistant")
        for is_text in _SPOKEN_STEPS
        for is_fine in (lacks("isError"), When("isError", kind=JsonKind.FALSE))
    ),
    RecordRule((is_("type", "system_message"),), Kind.NOTICE, "system", _STEP_TEXT, time="createdAt"),
    RecordRule(
        (is_("type", *_TOOL_STEPS),),
        Kind.CALL,
        "assistant",
        "input",
        call_id="id",
        name="name",
        time="createdAt",
        also=(
            RecordRule(
                (has("output"),),
                Kind.REPLY,
                "tool",
                "output",
                call_id="id",
                name="name",
                time="end",
                outcome=Outcomes(failed=("isError",)),
            ),
        ),
    ),
    *(
        RecordRule((has(at),), Kind.UNKNOWN, "assistant", at, time="createdAt", goes_on=True)
        for at in ("input", "output")
    ),
    RecordRule((), None),
)
_CHAINLIT = (
    RecordRule((has("steps[0].type"),), None, starts=True, session="id", goes_on=True),
    RecordRule((has("steps[0].type"),), each="steps[]", rules=_CHAINLIT_STEP),
    RecordRule((has("steps[0].type"), has("elements[0]")), each="elements[]", rules=(RecordRule((), Kind.UNKNOWN),)),
    RecordRule((has("steps[0].type"),), None),
)

_ROLES = frozenset({"user", "assistant"})
_STEP_TYPES = frozenset({"user_message", "assistant_message"})

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
        *(Signature(93, pair, none_of=("role", "type", "messages")) for pair in _OOBABOOGA),
        Signature(93, ("messages[].fragments[].part.pt",)),
        Signature(93, ("messages[].sender", "messages[].text"), {"messages[].role": _ROLES}, ("messages[].content",)),
        Signature(93, ("conversations[].messages[].fragments[].part.pt",)),
        Signature(93, ("conversations[].messages[].sender", "conversations[].messages[].text"), none_of=("uuid",)),
        Signature(93, ("steps[].output", "steps[].id"), {"steps[].type": _STEP_TYPES}),
        Signature(93, ("data[].steps[].output",), {"data[].steps[].type": _STEP_TYPES}),
    ),
    records=(
        *_WEBUI,
        RecordRule(
            (has("conversations[0].messages"),), each="conversations[]", rules=(_AGI_CHAT, RecordRule((), None))
        ),
        replace(_AGI_CHAT, when=(*_AGI_CHAT.when, lacks("messages[0].versions"))),
        RecordRule((has("messages[0].sender|messages[0].fragments"),), None),
        *_CHAINLIT,
        RecordRule((has("data[0].steps"),), each="data[]", rules=(*_CHAINLIT, RecordRule((), None))),
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
    inner=tuple(f"{thread}{at}metadata" for thread in ("", "data[].") for at in ("", "steps[].")),
)
