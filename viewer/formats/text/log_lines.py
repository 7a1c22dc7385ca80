"""The lines between the messages of a log: whether one may be an event; most logs load no reader of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from viewer.reading.recorder import Recorder

if TYPE_CHECKING:
    from viewer.formats.events.reader import EventLines

_SPACE = b" \t\r\n"
_HINTS = (b'"type"', b'"event"', b'"choices"')


def may_be_event(line: bytes) -> bool:
    """A cheap look that refuses most lines that are no events."""
    return line.lstrip(_SPACE).startswith(b"{") and any(hint in line for hint in _HINTS)


class LogLines:
    """Takes those lines that are events; what reads them is loaded with the first that may be one."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._events: EventLines | None = None

    def offer(self, line: bytes, offset: int, first: Callable[[], None]) -> bool:
        """Whether the line was an event, and has been taken; `first` is called before anything is recorded."""
        if not may_be_event(line):
            return False
        if self._events is None:
            from viewer.formats.events.reader import EventLines

            self._events = EventLines(self._record)
        return self._events.offer(line, offset, first)

    def grow(self) -> None:
        """Tell of the messages that have grown since the last time."""
        if self._events is not None:
            self._events.grow()

    def close(self, at: int) -> None:
        """The input has ended."""
        if self._events is not None:
            self._events.close(at)
