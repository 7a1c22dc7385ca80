"""Thought marks that are quoted in OpenChatML 2.2 by an escape or a literal block, which no other format has."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.core.bodies import Body, Run, read_body
from viewer.core.messages import Coding, Piece
from viewer.core.thoughts import without_thoughts
from viewer.errors import RefusedError
from viewer.formats.writable import Writable


def refuse_quoted_marks(messages: Iterable[Writable], target: str) -> None:
    """Raise if quoted marks of a shown answer would hide text in a format without escapes."""
    for message in messages:
        if message.source_text is None or message.role != "assistant" or not message.visible:
            continue
        if without_thoughts(read_source_text(message.source_text)) != without_thoughts(live_body(message.body)):
            raise RefusedError(
                f"message {message.number} quotes a thought mark in its body, which {target} cannot escape"
            )


def read_source_text(text: str) -> Body:
    """What the text of an OpenChatML 2.2 body means."""
    data = text.encode("utf-8", "replace")
    return read_body((Piece(0, len(data), Coding.ESCAPED),), lambda start, end: data[start:end])


def live_body(text: str) -> Body:
    """A text in which every mark counts."""
    data = text.encode("utf-8", "replace")
    return Body(data, [Run(0, len(data), 0, len(data), True)])
