"""Write messages as the JSON interchange of OpenChatML 2.2: one array per transcript, one message object per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby

from viewer.formats.json.content_parts import may_be_split, split_content
from viewer.formats.json.fields import is_known_key
from viewer.formats.tables.messages import MESSAGE_TABLE
from viewer.formats.writing import Writable, WritableTranscript, Writer
from viewer.model.messages import Coding, Piece
from viewer.reading.header import full_tool_name, is_tool
from viewer.syntax.json_text import check_json
from viewer.syntax.json_tree import JsonText

_encode = json.JSONEncoder(ensure_ascii=False).encode

_ASIDE = frozenset({"injected", "subagent", "replayed", "notice"})
"""Kinds of text that no speaker wrote."""


def write_json(messages: Iterable[Writable], transcripts: Sequence[WritableTranscript] = ()) -> tuple[str, list[str]]:
    """Return the text, and a sentence for each loss.

    A transcript with a header becomes an object with the keys of the header, and its messages under `messages`."""
    losses: list[str] = []
    documents: list[str] = []
    for number, group in groupby(messages, lambda message: message.transcript):
        lines = [_encoded(_as_object(message, losses)) for message in group]
        array = "[\n" + ",\n".join(lines) + "\n]"
        header = _header(number, transcripts)
        documents.append(_with_header(header, array) if header else array)
    return "".join(f"{document}\n" for document in documents) or "[]\n", losses


def _header(number: int, transcripts: Sequence[WritableTranscript]) -> dict[str, object]:
    """Return the header of a transcript as it was read, or the disclosed part of it."""
    for transcript in transcripts:
        if transcript.number != number:
            continue
        stated = {"version": transcript.version, "model": transcript.model}
        header = transcript.header if transcript.header is not None else stated
        return {key: value for key, value in header.items() if value is not None and key not in MESSAGE_TABLE.lists}
    return {}


def _with_header(header: dict[str, object], array: str) -> str:
    return _encoded(header)[:-1] + f', "messages": {array}' + "}"


def _encoded(value: object) -> str:
    """Return a value as JSON. `JsonText` is already JSON."""
    if isinstance(value, JsonText):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join([f"{_encode(key)}: {_encoded(member)}" for key, member in value.items()]) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_encoded, value)) + "]"
    return _encode(value)


def _as_object(message: Writable, losses: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {"role": message.role}
    if message.name is not None:
        fields["name"] = message.name
    if message.channel_given is not None:
        fields["channel"] = message.channel_given
    ending = "end"
    if _is_plain_call(message):
        ending = "call"
        fields["tool_call"] = _tool_call(message)
    else:
        is_call = message.role == "assistant" and is_tool(message.recipient) and not _is_thought(message)
        ending = "call" if is_call else "end"
        fields |= _routing(message)
        fields["thinking" if _is_thought(message) else "content"] = content = _content(message)
        if not isinstance(content, JsonText) and _has_marks(content, message.role):
            losses.append(f"Message {message.number}: control tokens in its text will be read as control tokens.")
    if message.intent is not None:
        fields["intent"] = message.intent
    if message.ending != ending:
        fields["ending"] = message.ending
    if message.message_kind in _ASIDE:
        fields["intent"] = "debug"
    return fields | _extra(message, losses)


def _is_plain_call(message: Writable) -> bool:
    """True if `tool_call` can represent the call completely."""
    return (
        message.role == "assistant"
        and message.ending == "call"
        and message.channel_given in ("commentary", "analysis")
        and bool(message.recipient)
        and message.recipient == full_tool_name(message.recipient or "")
    )


def _tool_call(message: Writable) -> dict[str, object]:
    call: dict[str, object] = {} if message.call_id is None else {"id": message.call_id}
    call |= {"recipient": message.recipient, "content_type": message.content_type}
    if message.content_type is not None and not message.constrained:
        call["constrained"] = False
    call["arguments"] = _value(message)
    return call


def _content(message: Writable) -> str:
    """Return the content of a message. Parts that no rule covers remain parts, so they stay hidden."""
    if message.message_kind == "unknown":
        value = _value(message)
        listed = f"[{message.body}]"
        if message.is_value and not message.body.startswith("{") and _is_json(listed):
            return JsonText(listed)
        return value if value.startswith("{") else message.body
    return _value(message) if message.role == "tool" else message.body


def _has_marks(text: str, role: str) -> bool:
    """True if a reader would split the text at control tokens or template marks."""
    data = text.encode("utf-8", "replace")
    whole = [Piece(0, len(data), Coding.PLAIN)]
    return may_be_split(data) and bool(split_content(whole, lambda start, end: data[start:end], role))


def _value(message: Writable) -> str:
    """Return the body as `JsonText` if it is a JSON value, or else as text."""
    return JsonText(message.body) if message.is_value and _is_json(message.body) else message.body


def _is_thought(message: Writable) -> bool:
    return message.role == "assistant" and message.channel_given == "analysis" and message.body != ""


def _routing(message: Writable) -> dict[str, object]:
    given = {"to": message.recipient, "call_id": message.call_id, "content_type": message.content_type}
    fields: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    return fields | ({"constrained": True} if message.constrained else {})


def _extra(message: Writable, losses: list[str]) -> dict[str, object]:
    """Return the extra attributes, except those whose names have another meaning here."""
    kept: dict[str, object] = {}
    for key, value in message.extra.items():
        if is_known_key(key):
            losses.append(f"Message {message.number}: JSON messages cannot keep one of its attributes.")
        elif isinstance(value, JsonText) and not _is_json(value):
            losses.append(f"Message {message.number}: an attribute that is not valid JSON is written as a string.")
            kept[key] = str(value)
        else:
            kept[key] = value
    return kept


def _is_json(text: str) -> bool:
    """True if the text is one JSON value."""
    return check_json(text.encode("utf-8", "replace")) is None


WRITE_JSON: Writer = lambda transcripts, messages: write_json(messages, transcripts)  # noqa: E731
