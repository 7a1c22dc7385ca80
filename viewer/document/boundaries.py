"""Boundaries between the transcripts of an input: number, format and title of the next one."""

from __future__ import annotations

from viewer.document.values import ShownTranscript
from viewer.document.visibility_cache import AT_ONCE, MANY, VisibilityCache
from viewer.index.messages import MessageIndex
from viewer.model.visibility import is_user_safe
from viewer.values import frozen


@frozen
class Boundary:
    """The text that an audience reads at the start of a transcript."""

    transcript: ShownTranscript
    count: int = 0
    """The number of transcripts; 0 if more may come."""
    title: str = ""
    """The beginning of the first shown user message, on one line. Not yet safe for a terminal."""


def first_question(index: MessageIndex, transcript: int, last: int) -> int | None:
    """The first user message of a transcript that the end user sees, up to `last`."""
    span = index.numbers_of_transcript(transcript)
    if span is None:
        return None
    first, end = span[0], min(span[1], last)
    asks = VisibilityCache(index, lambda message: message.header.role == "user" and is_user_safe(message))
    near = min(end, first + MANY)
    for number, key in index.look_keys(first, near):
        if asks.sees_key(number, key):
            return number
    for start in range(near + 1, end + 1, AT_ONCE):
        found = asks.seen(start, min(end, start + AT_ONCE - 1))
        if found.any():
            return start + int(found.argmax())
    return None
