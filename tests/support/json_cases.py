"""Read JSON formats that are cut in every way, and describe the result in short tuples."""

from __future__ import annotations

from viewer.model.events import Closed, Event, Found, Strayed
from viewer.model.messages import Message
from viewer.reading.bodies import read_body
from viewer.reading.format import FormatTraits
from viewer.reading.parser import Parser


def read(format: FormatTraits, data: bytes, sizes: list[int] | None = None) -> list[Event]:
    """Return the events of an input that arrives in pieces of these sizes, or all in one piece."""
    parser = Parser(format)
    events: list[Event] = []
    at = 0
    for size in sizes or [len(data)]:
        events += parser.feed(data[at : at + size])
        at += size
    return events + parser.close()


def read_in_every_cutting(format: FormatTraits, text: str | bytes) -> list[Event]:
    """Return the events, after checking that they do not depend on how the input is cut."""
    data = text.encode() if isinstance(text, str) else text
    whole = read(format, data)
    for cut in range(len(data) + 1):
        assert read(format, data, [cut, len(data) - cut]) == whole, f"cut at {cut}"
    assert read(format, data, [1] * len(data)) == whole
    return whole


def messages(events: list[Event]) -> list[Message]:
    """Return the settled messages."""
    return [event.message for event in events if isinstance(event, Closed)]


def body(message: Message, text: str | bytes) -> str:
    """Return the decoded text."""
    data = text.encode() if isinstance(text, str) else text
    return read_body(message.pieces, lambda start, end: data[start:end]).text


def rows(events: list[Event], text: str | bytes) -> list[tuple[str, str | None, str]]:
    """Return the role, the channel as written, and the body of each message."""
    return [(message.header.role, message.header.channel_given, body(message, text)) for message in messages(events)]


def problems(events: list[Event]) -> list[str]:
    """Return each diagnostic as `code/reason@message`."""
    found = [event for event in events if isinstance(event, Found)]
    return [f"{event.code}{f'/{event.reason}' if event.reason else ''}@{event.message}" for event in found]


def strays(events: list[Event], text: str) -> list[str]:
    """Return the text outside any message."""
    spans = [event.stray.span for event in events if isinstance(event, Strayed)]
    return [text.encode()[start:end].decode() for start, end in spans]
