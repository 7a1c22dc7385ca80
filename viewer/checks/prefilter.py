"""What a message needs of the checks: told by its header and ending, and by a quick look at its bytes."""

from __future__ import annotations

from enum import IntEnum

from viewer.checks.context import TranscriptFacts
from viewer.checks.text import has_faulty_header
from viewer.index.messages import MessageIndex
from viewer.model.messages import Coding, Ending, Message, Span
from viewer.reading.embedded_turn import may_be_stripped
from viewer.reading.header import is_tool
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.syntax.characters import may_hide

ODD_WORDS = (b'"tool_calls"',)
"""Plain messages with one of these in their bytes get all checks, in small inputs and in big ones."""


class Need(IntEnum):
    """What must be done for a message; each one does all that is done for those before."""

    NOTHING = 0
    JSON_AND_TOOLS = 1
    ALL = 2
    ALL_AND_HEADER = 3
    """What the parser would report of header and stop is to be reported too."""


class Needs:
    """Knows the needs of one transcript. Messages of equal look keys have the same."""

    def __init__(self, index: MessageIndex, transcript: TranscriptFacts) -> None:
        self._index = index
        self._transcript = transcript
        self._known: dict[int, Need] = {}

    def of(self, number: int, key: int) -> Need:
        """What this message needs, if there is nothing odd in its bytes."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _need(self._index[number], self._transcript)
        return known


def _need(message: Message, transcript: TranscriptFacts) -> Need:
    header = message.header
    if has_faulty_header(message, transcript):
        return Need.ALL
    careful = header.role in ("tool", "system", "developer") or is_tool(header.recipient)
    if careful or message.ending is Ending.CALL or (header.content_type or "").lower() == "json":
        return Need.JSON_AND_TOOLS
    return Need.NOTHING


def plain_body(message: Message) -> Span | None:
    """The body of a message that is one run of bytes as they were written."""
    if len(message.pieces) != 1 or message.pieces[0].coding not in (Coding.PLAIN, Coding.ESCAPED):
        return None
    return message.pieces[0].start, message.pieces[0].end


def is_odd(data: bytes, start: int, end: int) -> bool:
    """Whether the bytes of a message, whose body is between two of them, must be looked at with care."""
    return (
        not data.isascii()
        or b"\0" in data
        or any(data.find(word, start, end) >= 0 for word in ODD_WORDS)
        or MAY_BE_MARK.search(data, start, end) is not None
        or may_be_stripped(data, start)
        or may_hide(data)
    )
