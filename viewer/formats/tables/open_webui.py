"""Open WebUI: exported chats, each of which is a tree of messages."""

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
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.responses_items import Items
from viewer.formats.tables.tags import open_webui_answer
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_COMMON: dict[str, Any] = {"time": "timestamp"}
_USER, _ASSISTANT = is_("role", "user"), is_("role", "assistant")
_ITEMS = Items()
_OUTPUT = (*_ITEMS.messages({}, {}), _ITEMS.reasoning(), *_ITEMS.calls(), *_ITEMS.replies())
"""The rules for the items of an answer. The content of the message repeats the answer as one string."""


_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "image_url", "file", "input_audio"),), Kind.SAID, label=True),
)
_FAILED = (Fault("error", default=(W_RUN_ERROR, "unknown")),)
_ERRORS = tuple(
    RecordRule((When("error", kind=kind),), Kind.NOTICE, "assistant", "error.content|error.detail|error.message|error")
    for kind in (JsonKind.OBJECT, JsonKind.STRING)
)


def _files(role: str) -> RecordRule:
    """Return the rule for files that the user attached or the model made."""
    return RecordRule(
        (is_("role", role), has("files[0]")),
        each="files[]",
        rules=(RecordRule((has("type"),), Kind.SAID, role, label=True),),
    )


_IN_ITEMS = is_("output[-1].type", "message")
"""The condition that the last item is an answer. In that case, the items are the whole message, and the content repeats
them."""
_MESSAGES = (
    RecordRule((_ASSISTANT, _IN_ITEMS), each="output[]", rules=_OUTPUT, faults=_FAILED, **_COMMON),
    RecordRule((_USER,), Kind.SAID, "user", "content", _PARTS, also=(_files("user"),), **_COMMON),
    RecordRule(
        (_ASSISTANT, When("error", kind=JsonKind.TRUE)), Kind.NOTICE, "assistant", "content", faults=_FAILED, **_COMMON
    ),
    *(
        RecordRule(
            (_ASSISTANT, When("error", kind=kind)), Kind.UNKNOWN, "assistant", "content", faults=_FAILED, **_COMMON
        )
        for kind in (JsonKind.ARRAY, JsonKind.NUMBER)
    ),
    RecordRule(
        (_ASSISTANT, is_not("output[-1].type", "message")),
        Kind.SAID,
        "assistant",
        "content",
        _PARTS,
        split=True,
        also=(_files("assistant"), *_ERRORS),
        faults=_FAILED,
        **_COMMON,
    ),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content", **_COMMON),
    RecordRule((is_("role", "tool"),), Kind.REPLY, "tool", "content", **_COMMON),
    _files("assistant"),
)


def _chat(at: str) -> tuple[RecordRule, ...]:
    """Return the rules for a chat under a path, which is empty or ends with a dot."""
    return (
        RecordRule(
            (has(f"{at}history.messages"), has(f"{at}params.system|{at}system")),
            Kind.INSTRUCTION,
            "system",
            f"{at}params.system|{at}system",
            goes_on=True,
        ),
        RecordRule(
            (has(f"{at}history.messages"),),
            each=f"{at}history.messages.*",
            rules=_MESSAGES,
            branches=Branches("id", "parentId", f"{at}history.currentId"),
            starts=True,
            session="id",
        ),
    )


OPEN_WEBUI = RecordFormat(
    name="open-webui",
    title="Open WebUI chat export",
    container=Container.JSON,
    signatures=(
        Signature(95, ("chat.history.messages",)),
        Signature(93, ("chat.messages[].role", "chat.models")),
        Signature(93, ("history.messages", "history.currentId")),
    ),
    records=(
        *_chat("chat."),
        RecordRule(
            (has("chat.messages"), lacks("chat.history.messages")),
            each="chat.messages[]",
            rules=_MESSAGES,
            starts=True,
            session="id",
        ),
        *_chat(""),
    ),
    model="chat.models[0]|models[0]",
    hooks=Hooks(split_answer=open_webui_answer),
)
