"""Copy to the clipboard: the contents of each copy, OSC 52, and the system's clipboard program."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.render.json_lines import item_line
from viewer.render.sanitize import sanitize_copy
from viewer.syntax.characters import TAGS, ZERO_WIDTH
from viewer.tui.keys import DEBUG_ONLY

if TYPE_CHECKING:
    from textual.app import App

MOST_BYTES = 8 * 1024 * 1024
"""The maximum size, in bytes, of a body that is copied. Terminals accept less, but a clipboard program may accept
it."""

_VISIBLE = lazy_regex(f"[^{TAGS}{ZERO_WIDTH}]+")


class What(Enum):
    """The part of a message that is copied."""

    TEXT = "text"
    RAW = "source"
    JSON = "JSON"
    HEADER = "header"
    CALL_ID = "call ID"


class Copied(Struct, frozen=True, gc=False):
    """The copied text and the notice for the operator."""

    text: str
    notice: str


def copy_of(what: What, projection: Projection, number: int, label: int) -> Copied | str:
    """Return a copy of a message for this audience, or a sentence that explains why there is none.

    `label` is the printed number of the message: in a strict view, it counts shown messages only."""
    safe = projection.audience.is_safe
    if safe and what is not What.TEXT:
        return DEBUG_ONLY
    headline = projection.headline(number)
    if not headline.seen:
        return "This message is hidden."
    if headline.body_bytes > MOST_BYTES:
        return "The message is too large to copy. Export it instead."
    text = _text(what, projection, number)
    if not text:
        return f"This message has no {what.value}."
    size = "1 character" if len(text) == 1 else f"{len(text):,} characters"
    return Copied(text, f"{'' if safe else 'DEBUG: '}Copied the {what.value} of #{label} ({size}).")


def copy(app: App[object], text: str) -> None:
    """Put text on the clipboard without waiting for the result."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    app.copy_to_clipboard(text)
    if find_spec("pyperclip") is not None:
        Thread(target=_copy_by_system, args=(text,), name="clipboard", daemon=True).start()


def forget(app: App[object]) -> None:
    """Drop the app's copy of the text. The system clipboard keeps its own."""
    app._clipboard = ""


def raw_copied(text: str) -> str:
    """Return a raw copy, which keeps invisible characters."""
    return _VISIBLE.sub(lambda found: sanitize_copy(found[0]), text)


def _text(what: What, projection: Projection, number: int) -> str:
    if what is What.RAW:
        return raw_copied(projection.raw(number).decode("utf-8", "replace"))
    message = projection.message(number)
    if message is None:
        return ""
    if what is What.TEXT:
        return sanitize_copy(message.body)
    if what is What.JSON:
        return _json(message)
    if what is What.CALL_ID:
        return sanitize_copy(message.call_id or "")
    return _header(message)


def _json(message: ShownMessage) -> str:
    """Return the message as `show --json` prints it."""
    return item_line(message)


def _header(message: ShownMessage) -> str:
    """Return one line per header field."""
    values = {
        "role": message.role,
        "name": message.name,
        "to": message.recipient,
        "channel": message.channel_given or message.channel,
        "intent": message.intent,
        "call_id": message.call_id,
        "constrain" if message.constrained else "content_type": message.content_type,
        **message.extra,
        "ending": message.ending,
        "time": message.time,
    }
    lines = (f"{key}: {value}" for key, value in values.items() if value)
    return "\n".join(sanitize_copy(line).replace("\n", " ") for line in lines)


def _copy_by_system(text: str) -> None:
    """Copy with a clipboard program, in a thread because it may be slow. If it fails, OSC 52 may still have worked."""
    pyperclip = import_module("pyperclip")
    try:
        pyperclip.copy(text)
    except (pyperclip.PyperclipException, OSError):
        return
