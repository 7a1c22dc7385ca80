"""SillyTavern: a chat with a character, one message per line."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    ends,
    flag,
    has,
    lacks,
    no_flag,
)
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_TEXT = "extra.display_text|mes"
"""The path of the text on the screen, which may be a translation of the message."""
_NO_OBJECTS = tuple(kind for kind in JsonKind if kind not in (JsonKind.OBJECT, JsonKind.NULL))
_TIMES = (
    ((ends("send_date", "Z"),), "send_date"),
    ((When("send_date", kind=JsonKind.NUMBER),), "send_date"),
    ((), ""),
)
"""Conditions on the form of a time, with the path of the time. Earlier versions wrote times in words, without a time
zone; those are not read."""
_INVOKED = (
    RecordRule(
        (has("id"),),
        Kind.CALL,
        "assistant",
        "parameters",
        call_id="id",
        name="name",
        also=(RecordRule((has("result"),), Kind.REPLY, "tool", "result", call_id="id", name="name"),),
    ),
)


def _media(role: str) -> tuple[RecordRule, ...]:
    return (
        RecordRule((has("extra.image"),), Kind.SAID, role, "extra", label=True),
        RecordRule((has("extra.file.name"),), Kind.SAID, role, "extra.file", label=True),
    )


def _messages(when: tuple[When, ...], time: str) -> tuple[RecordRule, ...]:
    """Return the rules for messages whose times meet these conditions."""
    one = (has("mes"), *when)
    return (
        RecordRule((*one, flag("is_system")), Kind.NOTICE, "system", "mes", time=time),
        RecordRule((*one, flag("extra.isSmallSys")), Kind.NOTICE, "system", "mes", time=time),
        RecordRule((*one, has("extra.type")), Kind.NOTICE, "system", "mes", time=time),
        *(RecordRule((*one, When("extra", kind=kind)), Kind.UNKNOWN, "user", "mes", time=time) for kind in _NO_OBJECTS),
        RecordRule((*one, flag("is_user")), Kind.SAID, "user", _TEXT, time=time, also=_media("user")),
        RecordRule(
            (*one, has("is_user"), no_flag("is_user")),
            Kind.SAID,
            "assistant",
            _TEXT,
            time=time,
            also=_media("assistant"),
        ),
    )


SILLYTAVERN = RecordFormat(
    name="sillytavern",
    title="SillyTavern chat",
    container=Container.LINES,
    signatures=(Signature(93, ("mes", "is_user", "name")), Signature(93, ("chat_metadata", "character_name"))),
    records=(
        RecordRule((lacks("mes"), has("character_name")), None, starts=True),
        RecordRule((has("mes"), has("extra.tool_invocations[0]")), each="extra.tool_invocations[]", rules=_INVOKED),
        RecordRule((has("mes"), has("extra.reasoning")), Kind.THOUGHT, "assistant", "extra.reasoning", goes_on=True),
        *(rule for when, time in _TIMES for rule in _messages(when, time)),
        RecordRule((has("mes"),), Kind.UNKNOWN, "user", "mes"),
    ),
)
