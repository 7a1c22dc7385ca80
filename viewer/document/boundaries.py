"""Boundaries between the transcripts of an input: number, format and title of the one that begins."""

from __future__ import annotations

from viewer.document.values import ShownTranscript
from viewer.document.visibility_cache import AT_ONCE, MANY, VisibilityCache
from viewer.index.messages import MessageIndex
from viewer.model.visibility import is_user_safe
from viewer.values import frozen


@frozen
class Boundary:
    """What an audience reads where a transcript begins."""

    transcript: ShownTranscript
    count: int = 0
    """How many transcripts there are; 0 while more may come."""
    title: str = ""
    """The beginning of the first user message that is shown, on one line. Not yet safe for a terminal."""


def first_question(index: MessageIndex, transcript: int, last: int) -> int | None:
    """The first message of a transcript that its user wrote and the end user sees, none after `last`."""
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
