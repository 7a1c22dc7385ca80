"""Messages as the JSON interchange of OpenChatML 2.2: an array for each transcript, a message object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import groupby

from viewer.core.headers import is_tool
from viewer.formats.json_fields import is_known_key
from viewer.formats.json_header import full_tool_name
from viewer.formats.json_wrappers import LIST_KEYS
from viewer.formats.writable import Writable, WritableTranscript, Writer


def write_json(messages: Iterable[Writable], transcripts: Sequence[WritableTranscript] = ()) -> tuple[str, list[str]]:
    """The text, and a sentence for each thing it cannot say.

    A transcript whose header is given becomes an object: the keys of the header, and its messages under `messages`."""
    losses: list[str] = []
    documents: list[str] = []
    for number, group in groupby(messages, lambda message: message.transcript):
        lines = [json.dumps(_as_object(message, losses), ensure_ascii=False) for message in group]
        array = "[\n" + ",\n".join(lines) + "\n]"
        header = _header(number, transcripts)
        documents.append(_with_header(header, array) if header else array)
    return "".join(f"{document}\n" for document in documents) or "[]\n", losses


def _header(number: int, transcripts: Sequence[WritableTranscript]) -> dict[str, object]:
    """The header of a transcript as read, or as much as may be told of it."""
    for transcript in transcripts:
        if transcript.number != number:
            continue
        told = {"version": transcript.version, "model": transcript.model}
        header = transcript.header if transcript.header is not None else told
        return {key: value for key, value in header.items() if value is not None and key not in LIST_KEYS}
    return {}


def _with_header(header: dict[str, object], array: str) -> str:
    return json.dumps(header, ensure_ascii=False)[:-1] + f', "messages": {array}' + "}"


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
        fields["thinking" if _is_thought(message) else "content"] = message.body
    if message.intent is not None:
        fields["intent"] = message.intent
    if message.ending != ending:
        fields["ending"] = message.ending
    return fields | _extra(message, losses)


def _is_plain_call(message: Writable) -> bool:
    """Whether a call is one that `tool_call` says in full."""
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
    call["arguments"] = message.body
    return call


def _is_thought(message: Writable) -> bool:
    return message.role == "assistant" and message.channel_given == "analysis" and message.body != ""


def _routing(message: Writable) -> dict[str, object]:
    given = {"to": message.recipient, "call_id": message.call_id, "content_type": message.content_type}
    fields: dict[str, object] = {key: value for key, value in given.items() if value is not None}
    return fields | ({"constrained": True} if message.constrained else {})


def _extra(message: Writable, losses: list[str]) -> dict[str, object]:
    """Other attributes, but for those whose names would mean something else here."""
    kept: dict[str, object] = {}
    for key, value in message.extra.items():
        if is_known_key(key):
            losses.append(f"Message {message.number}: JSON messages cannot keep one of its attributes.")
        else:
            kept[key] = value
    return kept


WRITE_JSON: Writer = lambda transcripts, messages: write_json(messages, transcripts)  # noqa: E731
