"""Token IDs of a prompt, message by message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from viewer.formats.tokens.vocabulary import Encoder
from viewer.insight.harmony_prompt import Part

_START = "<|start|>"


def messages_of(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Group the parts of a prompt by message. No token spans two messages."""
    message: list[Part] = []
    for part in parts:
        if message and begins_message(part):
            yield message
            message = []
        message.append(part)
    if message:
        yield message


def begins_message(part: Part) -> bool:
    """True if a message of the prompt begins with this part."""
    return not part.is_body and part.text.startswith(_START)


def token_ids(message: Iterable[Part], encoder: Encoder) -> list[int]:
    """Return the token IDs of one message. As in openai-harmony, a body is encoded on its own, as ordinary text."""
    found: list[int] = []
    for is_body, parts in groupby(message, key=lambda part: part.is_body):
        encode = encoder.plain if is_body else encoder.marked
        found += encode("".join(part.text for part in parts))
    return found
