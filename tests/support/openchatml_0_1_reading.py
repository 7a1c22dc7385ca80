"""Read OpenChatML 0.1 in tests, whole and in pieces, as values that can be compared and written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from viewer.formats.openchatml_0_1.reader import OPENCHATML_0_1
from viewer.model.events import Closed, Event, Grew, Opened
from viewer.model.messages import Channel, Message, Usage
from viewer.model.visibility import is_user_safe
from viewer.reading.parser import Parser

FRAGMENTS = [
    *(f"<|{mark}|>" for mark in ("im_start", "im_end", "fim_prefix", "fim_middle", "fim_suffix", "file_separator")),
    *(f"<|{mark}|>" for mark in ("start_reason", "end_reason", "start_reflect", "end_reflect", "reason")),
    *(f"<|{mark}|>" for mark in ("function_call", "function_output", "function_list", "endoftext")),
    *("[BOS]", "[EOS]", "<s>", "</s>", "<|im_", "<|", "[BO", "\n", "\r\n", " ", "\r", "x", "é"),
    *("<|im_start|>assistant\n", "<|im_start|>user\n", "<|im_start|>system\n", "<|im_start|>tool name=f\n"),
    *("assistant", "user", "assistant\n", "user\n", "tool\n", "system\n", "name=E", " a=b", '{"name": "f"}', "{"),
]


@dataclass
class Text:
    """A message with its body as text, as writers receive it."""

    transcript: int = 1
    number: int = 1
    role: str = "assistant"
    name: str | None = None
    recipient: str | None = None
    channel: str | None = "final"
    channel_given: str | None = None
    intent: str | None = None
    call_id: str | None = None
    content_type: str | None = None
    constrained: bool = False
    ending: str = "end"
    body: str = ""
    extra: dict[str, str] = field(default_factory=dict)
    message_kind: str = "said"
    is_value: bool = False
    source_text: str | None = None
    visible: bool = True
    usage: Usage | None = None
    time: str | None = None
    thread: int = 0
    span: tuple[int, int] | None = None


def read(data: bytes, cuts: Iterable[int] = ()) -> list[Event]:
    parser = Parser(OPENCHATML_0_1)
    events: list[Event] = []
    edges = [0, *cuts, len(data)]
    for start, end in pairwise(edges):
        events += parser.feed(data[start:end])
    return events + parser.close()


def settled(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, Opened | Grew)]


def check_growth(events: list[Event]) -> None:
    """Check that each partial view was a prefix of the final text, and showed nothing that turned out to be hidden."""
    final = {event.message.number: event.message for event in events if isinstance(event, Closed)}
    known: dict[int, Message] = {}
    for event in events:
        if isinstance(event, Opened):
            known[event.message.number] = event.message
            last = final[event.message.number]
            withdrawn = last.header.channel is Channel.ANALYSIS and event.message.header.channel is Channel.FINAL
            assert withdrawn or is_user_safe(event.message) <= is_user_safe(last)
        pieces = event.message.pieces if isinstance(event, Opened) else event.pieces if isinstance(event, Grew) else ()
        number = event.message.number if isinstance(event, Opened) else event.number if isinstance(event, Grew) else 0
        for piece, whole in zip(pieces, final[number].pieces if number else (), strict=False):
            assert piece.start == whole.start or piece.start == piece.end
            assert piece.end <= whole.end
    assert known.keys() == final.keys()


def read_every_way(data: bytes) -> list[Event]:
    whole = read(data)
    check_growth(whole)
    for cut in range(1, len(data)):
        assert settled(read(data, [cut])) == settled(whole), cut
    by_byte = read(data, range(1, len(data)))
    assert settled(by_byte) == settled(whole)
    check_growth(by_byte)
    return settled(whole)


def messages_of(events: list[Event]) -> list[Message]:
    return [event.message for event in events if isinstance(event, Closed)]


def body_of(message: Message, data: bytes) -> str:
    return "".join(data[piece.start : piece.end].decode() for piece in message.pieces)


def texts(data: bytes) -> list[Text]:
    return [
        Text(
            transcript=message.transcript,
            number=message.number,
            role=message.header.role,
            name=message.header.name,
            recipient=message.header.recipient,
            channel=message.header.channel.value if message.header.channel else None,
            channel_given=message.header.channel_given,
            intent=message.header.intent,
            content_type=message.header.content_type,
            constrained=message.header.constrained,
            ending=message.ending.value,
            body=body_of(message, data),
            extra=dict(message.header.extra),
        )
        for message in messages_of(read(data))
    ]
