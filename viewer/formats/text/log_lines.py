"""Event lines between the messages of a log. The event reader is loaded only if a line may be an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from viewer.reading.recorder import Recorder

if TYPE_CHECKING:
    from viewer.formats.events.values import EventLines

_SPACE = b" \t\r\n"
_HINTS = (b'"type"', b'"event"', b'"choices"')


def may_be_event(line: bytes) -> bool:
    """True if a line may be an event. This inexpensive check rejects most other lines."""
    return line.lstrip(_SPACE).startswith(b"{") and any(hint in line for hint in _HINTS)


class LogLines:
    """Reads event lines with an event reader that is loaded at the first such line."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._events: EventLines | None = None

    def try_line(self, line: bytes, offset: int, first: Callable[[], None]) -> bool:
        """If the line is an event, apply it and return True; otherwise, return False. `first` is called before anything
        is recorded."""
        if not may_be_event(line):
            return False
        if self._events is None:
            from viewer.formats.events.values import EventLines

            self._events = EventLines(self._record)
        return self._events.try_line(line, offset, first)

    def grow(self) -> None:
        """Report the messages that grew since the last call."""
        if self._events is not None:
            self._events.grow()

    def close(self, at: int) -> None:
        if self._events is not None:
            self._events.close(at)
