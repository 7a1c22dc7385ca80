"""Write messages as ChatML JSON, laid out as in its specification."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby

from viewer.formats.json.chatml_frames import END, MESSAGE, ROLES, START
from viewer.formats.writing import Writable, without_headers

_START, _MESSAGE, _END = (json.dumps({"token": token}) for token in (START, MESSAGE, END))


def write_chatml_json(messages: Iterable[Writable]) -> tuple[str, list[str]]:
    """Return the text, and a sentence for each loss. Messages that a reader would read differently are omitted."""
    losses: list[str] = []
    arrays: list[str] = []
    for _, group in groupby(messages, lambda message: message.transcript):
        kept = [message for message in group if _is_kept(message, losses)]
        lines = [line for index, message in enumerate(kept) for line in _lines(message, index == len(kept) - 1)]
        arrays.append("[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n")
    return "".join(arrays) or "[]\n", losses


def _lines(message: Writable, is_last: bool) -> list[str]:
    role = json.dumps(message.role, ensure_ascii=False)
    lines = [f" {_START}, {role}, {_MESSAGE}"]
    is_open = is_last and message.ending == "open"
    if message.body or not is_open:
        lines.append(f" {json.dumps(message.body, ensure_ascii=False)}")
    return lines if is_open else [*lines, f" {_END}"]


def _is_kept(message: Writable, losses: list[str]) -> bool:
    reason = _why_left_out(message)
    if reason is not None:
        losses.append(f"Message {message.number} was omitted: ChatML JSON has no {reason}.")
        return False
    given = {
        "names": message.name,
        "intents": message.intent,
        "call IDs": message.call_id,
        "types": message.content_type,
    }
    lost = [name for name, value in given.items() if value is not None]
    lost += ["other attributes"] if message.extra else []
    if lost:
        losses.append(f"Message {message.number} loses information: ChatML JSON has no {', '.join(lost)}.")
    return True


def _why_left_out(message: Writable) -> str | None:
    if message.role not in ROLES:
        return "such role"
    if message.channel != "final":
        return "channels"
    if message.recipient not in (None, "user" if message.role == "assistant" else "assistant"):
        return "recipients"
    return "hidden user or assistant messages" if message.intent in ("debug", "status") else None


WRITE_CHATML_JSON = without_headers(write_chatml_json)
