"""Write one message as a part of an OpenChatML 0.1 frame: its kind, header line, and text."""

from __future__ import annotations

import json
import unicodedata
from enum import Enum

from msgspec import Struct

from viewer.errors import RefusedError
from viewer.formats.openchatml_0_1.header import name_in_json
from viewer.formats.openchatml_0_1.losses import Loss, Losses, Said
from viewer.formats.openchatml_0_1.parts import MARKS, THOUGHTS
from viewer.formats.writing import Writable
from viewer.model.visibility import PREAMBLE_ENDINGS
from viewer.reading.header import full_tool_name, is_tool
from viewer.syntax.json_text import check_json

SPACE = " \t\r\n"
ASIDE = frozenset({"injected", "subagent", "replayed", "notice"})
"""Kinds of text that no speaker wrote. They are written with the intent `debug`, so they stay hidden."""
_HIDING_INTENTS = ("debug", "status")
_PREAMBLE_ENDINGS = frozenset(ending.value for ending in PREAMBLE_ENDINGS)


class Kind(Enum):
    """The kind of a part. For JSON parts, the value is the mark."""

    TEXT = "text"
    THOUGHT = "thought"
    CALL = "function_call"
    OUTPUT = "function_output"


class Written(Struct, frozen=True, gc=False):
    """One part, ready for a frame."""

    kind: Kind
    line: str
    """The header line of the frame."""
    text: str


def write_part(message: Writable, losses: Losses) -> Written:
    """Write the message as a part and count its losses."""
    kind = _kind(message)
    losses.add_common(message)
    refuse_tokens(message, _tokens(message))
    if kind is Kind.CALL:
        text = _call(message, losses)
    elif kind is Kind.OUTPUT:
        text = _output(message, losses)
    elif kind is Kind.THOUGHT:
        text = _thought(message, losses)
    else:
        text = _text(message, losses)
    return Written(kind, _line(message, kind, losses), text)


def refuse_tokens(message: Writable, tokens: frozenset[str]) -> None:
    """Raise `RefusedError` if the body contains text that would be read as a control token."""
    if any(token in message.body for token in tokens):
        raise RefusedError(
            f"Message {message.number} has a control token of OpenChatML 0.1 in its body, which cannot be escaped."
        )


def _kind(message: Writable) -> Kind:
    if message.role == "tool":
        return Kind.OUTPUT if message.content_type == "json" or message.channel_given else Kind.TEXT
    if message.role != "assistant":
        return Kind.TEXT
    if _is_call(message):
        return Kind.CALL
    return Kind.TEXT if _is_answer(message) or _is_preamble(message) else Kind.THOUGHT


def _is_call(message: Writable) -> bool:
    if is_tool(message.recipient):
        return True
    is_json = message.content_type == "json" and message.constrained
    return message.channel == "commentary" and not _is_preamble(message) and (message.ending == "call" or is_json)


def _is_answer(message: Writable) -> bool:
    addressed = message.recipient in (None, "user")
    return message.channel == "final" and addressed and message.intent not in _HIDING_INTENTS


def _is_preamble(message: Writable) -> bool:
    addressed = message.role == "assistant" and message.recipient is None
    settled = message.ending in _PREAMBLE_ENDINGS
    return addressed and settled and message.channel == "commentary" and message.intent == "preamble"


def _tokens(message: Writable) -> frozenset[str]:
    """Return the strings in this body that would be read as tokens. Marks in a system message are part of its text."""
    marks = () if message.role == "system" else MARKS.get(message.role, ())
    return frozenset(f"<|{name}|>" for name in ("im_start", "im_end", *marks))


# The text of a part.


def _text(message: Writable, losses: Losses) -> str:
    if _is_preamble(message):
        losses.add(Loss.PREAMBLE)
    losses.add_unsaid(message, _said_of_text(message))
    if message.role == "user" and message.channel != "final" and message.message_kind not in ASIDE:
        losses.add(Loss.SHOWN)
    if message.body.rstrip(SPACE) != message.body:
        losses.add(Loss.SPACE)
    return message.body


def _said_of_text(message: Writable) -> Said:
    if _is_preamble(message):
        return Said("commentary", "preamble")
    if message.role == "user":
        return Said(intent=_intent_of_user(message), recipient=message.recipient)
    return Said()


def _intent_of_user(message: Writable) -> str | None:
    return message.intent if message.intent in _HIDING_INTENTS else None


def _thought(message: Writable, losses: Losses) -> str:
    is_analysis = message.channel == "analysis"
    known = is_analysis and message.intent in THOUGHTS
    kind = message.intent if known and message.intent else "reason"
    if not is_analysis:
        losses.add(Loss.NOT_SHOWN)
    elif message.intent is None:
        losses.add(Loss.KIND)
    losses.add_unsaid(message, Said("analysis", kind))
    return f"<|start_{kind}|>{message.body}<|end_{kind}|>"


def _call(message: Writable, losses: Losses) -> str:
    body = _json(message, losses)
    if not _names(body, message.recipient):
        if check_json(body.encode("utf-8", "replace")) is not None:
            losses.add(Loss.ARGUMENTS)
        name = json.dumps(_short_name(message.recipient or ""), ensure_ascii=False)
        body = f'{{"arguments": {body or "{}"}, "name": {name}}}'
    losses.add_unsaid(message, Said("commentary", None, message.recipient, ("json", True), "call"))
    return f"<|function_call|>\n{body}"


def _output(message: Writable, losses: Losses) -> str:
    body = _json(message, losses)
    if not _names(body, message.name, of_frame="name" in message.extra):
        content = body
        if check_json(body.encode("utf-8", "replace")) is not None:
            content = json.dumps(message.body, ensure_ascii=False)
        body = f'{{"name": {json.dumps(_short_name(message.name or ""), ensure_ascii=False)}, "content": {content}}}'
    losses.add_unsaid(message, Said("commentary", type=("json", False)))
    return f"<|function_output|>\n{body}"


def _json(message: Writable, losses: Losses) -> str:
    body = message.body.strip(SPACE)
    if body != message.body:
        losses.add(Loss.SPACE)
    return body


def _names(body: str, tool: str | None, *, of_frame: bool = False) -> bool:
    """True if the JSON already names this tool in the form of OpenChatML 0.1, or if there is no tool to name."""
    if tool is None:
        return True
    name = name_in_json(body.encode("utf-8", "replace"))
    return of_frame if name is None else full_tool_name(name) == tool


def _short_name(tool: str) -> str:
    bare = tool.removeprefix("functions.")
    return bare if bare and full_tool_name(bare) == tool else tool


# The header line.


def _line(message: Writable, kind: Kind, losses: Losses) -> str:
    words = ["system" if message.role == "developer" else message.role]
    name = _name(message, kind)
    if name:
        words.append(f"name={name}")
    words += [f"{key}={value}" for key, value in _attributes(message, losses)]
    if any(_is_unsayable(word) for word in words):
        raise RefusedError(f"Message {message.number} has a header value that OpenChatML 0.1 cannot represent.")
    return " ".join(words)


def _name(message: Writable, kind: Kind) -> str | None:
    if kind is Kind.OUTPUT:
        return message.extra.get("name")
    return _short_name(message.name) if message.role == "tool" and message.name else message.name


def _attributes(message: Writable, losses: Losses) -> list[tuple[str, str]]:
    """Return the attributes of the message, and those that keep a hidden user message hidden."""
    said_otherwise = {"name", *(THOUGHTS if message.role == "system" else ())}
    extra = [(key, value) for key, value in message.extra.items() if key not in said_otherwise]
    attributes = [(key, value) for key, value in extra if not ("=" in key or _is_unsayable(f"{key}={value}"))]
    if len(attributes) < len(extra):
        losses.add(Loss.FIELD)
    if message.role == "user" and message.message_kind in ASIDE:
        attributes.append(("intent", "debug"))
    if message.role == "user" and message.recipient is not None:
        attributes.append(("to", message.recipient))
    if message.role == "user" and (intent := _intent_of_user(message)):
        attributes.append(("intent", intent))
    if len(attributes) > len(message.extra):
        losses.add(Loss.ATTRIBUTE)
    return attributes


def _is_unsayable(word: str) -> bool:
    return any(char.isspace() or char == "<" or unicodedata.category(char) in ("Cc", "Cs") for char in word)
