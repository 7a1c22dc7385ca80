"""Render messages as Harmony text: as they appear in a prompt, and as a model samples them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from viewer.insight.history import History, is_assistant, is_assistant_final, is_reply
from viewer.model.messages import Ending, Header
from viewer.reading.header import full_tool_name

NEXT = "<|start|>assistant"
"""The end of every prompt: the model continues here."""
_EVERYBODY = "all"
_UNNAMED = "tool"


class Part(Struct, frozen=True, gc=False):
    """Part of a prompt and the number of its message; 0 for the end of the prompt."""

    number: int
    text: str
    is_body: bool = False
    """True for text of a body, in which control tokens are ordinary text."""


def prompt_head(header: Header) -> str:
    """Return the text before a body in a prompt (openai-harmony 0.0.8, `src/encoding.rs:814-905`)."""
    return f"<|start|>{_author(header)}{_to(header)}{_channel(header)}{_type(header)}<|message|>"


def prompt_stop(header: Header) -> str:
    """Return the text after a body in a prompt. `<|return|>` is never part of a prompt."""
    return "<|call|>" if is_assistant(header) and header.recipient is not None else "<|end|>"


def sampled_head(header: Header) -> str:
    """Return the text before a body as a model samples it: the recipient follows the channel."""
    return f"<|start|>{_author(header)}{_channel(header)}{_to(header)}{_type(header)}<|message|>"


def prompt_parts(history: History, numbers: Iterable[int]) -> Iterator[Part]:
    """Yield these messages as they appear in a prompt, with their bodies in blocks."""
    for number in numbers:
        header = history.header(number)
        yield Part(number, prompt_head(header))
        yield from (Part(number, block, is_body=True) for block in history.blocks(number) if block)
        yield Part(number, prompt_stop(header))


def sampled_parts(history: History, numbers: list[int], *, is_whole: bool) -> Iterator[Part]:
    """Yield the messages of one run as a model samples them. The last answer of a complete run ends the turn."""
    finals = [number for number in numbers if is_assistant_final(history.header(number))]
    returned = finals[-1] if is_whole and finals else 0
    for number in numbers:
        header = history.header(number)
        yield Part(number, sampled_head(header))
        yield from (Part(number, block, is_body=True) for block in history.blocks(number) if block)
        yield Part(number, "<|return|>" if number == returned else prompt_stop(header))


def changes(history: History, number: int) -> Iterator[str]:
    """Yield the changes that a prompt makes to a message."""
    header = history.header(number)
    if is_assistant(header) and header.recipient is not None and history.has_late_recipient(number):
        yield "recipient-moved"
    if history.ending(number) is Ending.RETURN:
        yield "return-to-end"


def _author(header: Header) -> str:
    if is_reply(header):
        return full_tool_name(header.name) if header.name else _UNNAMED
    return f"{header.role}:{header.name}" if header.name else header.role


def _to(header: Header) -> str:
    return f" to={header.recipient}" if header.recipient not in (None, "", _EVERYBODY) else ""


def _channel(header: Header) -> str:
    return f"<|channel|>{header.channel_given}" if header.channel_given is not None else ""


def _type(header: Header) -> str:
    if header.content_type is None:
        return ""
    return f" {'<|constrain|>' if header.constrained else ''}{header.content_type}"
