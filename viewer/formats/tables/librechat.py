"""LibreChat: exported conversations, whose messages form a tree, and stored messages."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Branches,
    Container,
    Fault,
    Hooks,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    flag,
    has,
    is_,
    lacks,
    no_flag,
)
from viewer.formats.tables.tags import librechat_answer
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_CALL = "tool_call"
_ARGUMENTS = f"{_CALL}.args|{_CALL}.function.arguments"
_NAME = f"{_CALL}.name|{_CALL}.function.name|{_CALL}.type"
_OUTPUT = f"{_CALL}.output|{_CALL}.function.output|{_CALL}.code_interpreter.outputs"
_REPLY = PartRule((has(_OUTPUT),), Kind.REPLY, _OUTPUT, f"{_CALL}.id", _NAME)
_IS_CALL = is_("type", "tool_call")
_TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text.value|text")
_MEDIA = PartRule((is_("type", "image_file", "image_url", "input_audio", "video_url"),), Kind.SAID, label=True)
_ASKED = (_TEXT, _MEDIA)
_ANSWERED = (
    *_ASKED,
    PartRule((is_("type", "think"),), Kind.THOUGHT, "think.value|think"),
    PartRule((_IS_CALL, is_(_ARGUMENTS, "")), Kind.CALL, "", f"{_CALL}.id", _NAME, reply=_REPLY),
    PartRule(
        (_IS_CALL, has(f"{_CALL}.code_interpreter")),
        Kind.CALL,
        f"{_CALL}.code_interpreter.input",
        f"{_CALL}.id",
        _NAME,
        text=True,
        reply=_REPLY,
    ),
    PartRule((_IS_CALL,), Kind.CALL, _ARGUMENTS, f"{_CALL}.id", _NAME, reply=_REPLY),
    PartRule((is_("type", "error"),), Kind.NOTICE, "error"),
    PartRule((is_("type", "summary"),), Kind.REPLAYED),
    PartRule((is_("type", "agent_update"),), None),
)
_FILES = RecordRule(
    (has("files[0]"),), each="files[]", rules=(RecordRule((has("file_id"),), Kind.SAID, "user", label=True),)
)
_COMMON: dict[str, Any] = {"time": "createdAt.$date|createdAt"}
_FAULTS = (
    Fault("unfinished", default=(W_RUN_INCOMPLETE, "stopped")),
    Fault(
        "finish_reason",
        {
            "length": (W_RUN_INCOMPLETE, "max-tokens"),
            "incomplete": (W_RUN_INCOMPLETE, "stopped"),
            "content_filter": (W_RUN_ERROR, "content-filter"),
        },
    ),
)
_PARTS = has("content[0]")
_BY_USER, _BY_MODEL = flag("isCreatedByUser"), (has("isCreatedByUser"), no_flag("isCreatedByUser"))
_ONE = has("messageId")
_MESSAGES = (
    RecordRule(
        (_ONE, flag("error")),
        Kind.NOTICE,
        "assistant",
        "text",
        faults=(Fault("error", default=(W_RUN_ERROR, "unknown")),),
        **_COMMON,
    ),
    RecordRule((_ONE, _BY_USER, _PARTS), Kind.SAID, "user", "content", _ASKED, also=(_FILES,), **_COMMON),
    RecordRule((_ONE, _BY_USER), Kind.SAID, "user", "text", also=(_FILES,), **_COMMON),
    RecordRule(
        (_ONE, *_BY_MODEL, _PARTS), Kind.SAID, "assistant", "content", _ANSWERED, split=True, faults=_FAULTS, **_COMMON
    ),
    RecordRule((_ONE, *_BY_MODEL), Kind.SAID, "assistant", "text", split=True, faults=_FAULTS, **_COMMON),
)
_PROMPTS = ("promptPrefix", "system", "instructions", "additional_instructions")
_CONVERSATION = has("conversationId")
_TREE: dict[str, Any] = {
    "branches": Branches("messageId", "parentMessageId", "", frozenset({"00000000-0000-0000-0000-000000000000"})),
    "starts": True,
    "session": "conversationId",
}
_LISTS = ("messagesTree", "messages")

LIBRECHAT = RecordFormat(
    name="librechat",
    title="LibreChat conversation",
    container=Container.JSON,
    signatures=(
        *(Signature(95, ("conversationId", f"{name}[].isCreatedByUser")) for name in _LISTS),
        Signature(93, ("messageId", "isCreatedByUser", "sender")),
    ),
    records=(
        *(
            RecordRule(
                (_CONVERSATION, has(f"options.{name}")),
                Kind.INSTRUCTION,
                "system",
                f"options.{name}",
                goes_on=True,
            )
            for name in _PROMPTS
        ),
        RecordRule((_CONVERSATION, has("messagesTree")), each="messagesTree[].+children", rules=_MESSAGES, **_TREE),
        RecordRule(
            (_CONVERSATION, lacks("messagesTree"), has("messages")),
            each="messages[].+children",
            rules=_MESSAGES,
            **_TREE,
        ),
        *_MESSAGES,
    ),
    session="conversationId",
    model="options.model",
    hooks=Hooks(split_answer=librechat_answer),
)
