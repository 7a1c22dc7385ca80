"""Parse a message of a text format again from the current bytes of the file."""

from __future__ import annotations

from viewer.model.events import Closed
from viewer.model.messages import Message, Piece, Span
from viewer.model.visibility import is_user_safe
from viewer.reading.format import FormatTraits, Options
from viewer.reading.parser import Parser


def is_still(message: Message, frame: bytes, dialect: FormatTraits, options: Options | None) -> bool:
    """True if these bytes, now at the position of the message, are a message with the same header, kind, bounds and
    verdict."""
    parser = Parser(dialect, options)
    events = [*parser.feed(frame), *parser.close()]
    found = [event.message for event in events if isinstance(event, Closed)]
    return len(found) == 1 and _is_same(found[0], message)


def _is_same(found: Message, message: Message) -> bool:
    base = message.span[0]
    return (
        found.header == message.header
        and found.ending is message.ending
        and _moved(found.span, base) == message.span
        and tuple(Piece(piece.start + base, piece.end + base, piece.coding) for piece in found.pieces) == message.pieces
        and (found.stop and _moved(found.stop, base)) == message.stop
        and is_user_safe(found) == is_user_safe(message)
    )


def _moved(span: Span, base: int) -> Span:
    return span[0] + base, span[1] + base
