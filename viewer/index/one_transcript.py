"""Select one transcript of an input: only its events, with messages renumbered from 1 and positions unchanged."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from viewer.model.events import (
    AgentStarted,
    Closed,
    ClosedBatch,
    DeclaredTools,
    Event,
    Found,
    Grew,
    Metadata,
    Opened,
    Started,
    Strayed,
    Superseded,
    ToolCancelled,
    Used,
)
from viewer.model.messages import Message

LARGEST_NUMBER = 9
"""The maximum number of digits in a transcript number."""


def item_number(item: str) -> int:
    """Return the transcript number, counted from 1, that an item name specifies, or 0 if the item is not a number."""
    return int(item) if item.isascii() and item.isdigit() and len(item) <= LARGEST_NUMBER else 0


class OneTranscript:
    """Filters the events of a parser. The messages of a transcript have consecutive numbers."""

    def __init__(self, item: str) -> None:
        """`item` is the number of the transcript or the ID of its session."""
        self.item = item
        self.number = item_number(item)
        """The number of the transcript; 0 until the transcript with the ID begins."""
        self.count = 0
        """The number of transcripts that have begun so far."""
        self._first = 0
        """The number of the first message of the transcript; 0 until it arrives."""
        self._last = 0

    @property
    def is_found(self) -> bool:
        """True if the events so far include the transcript."""
        return 0 < self.number <= self.count

    def events(self, events: Iterable[Event]) -> list[Event]:
        """Return only those events that belong to the transcript."""
        return [chosen for event in events if (chosen := self._chosen(event)) is not None]

    def _chosen(self, event: Event) -> Event | None:
        match event:
            case Started(transcript):
                self.count = transcript.number
                if not self.number and transcript.id == self.item:
                    self.number = transcript.number
                return Started(replace(transcript, number=1)) if self._is_in(transcript.number) else None
            case ClosedBatch():
                raise TypeError("a selection needs single events")
            case Opened(message) | Closed(message):
                if not self._is_in(message.transcript):
                    return None
                self._first = self._first or message.number
                self._last = max(self._last, message.number)
                return type(event)(self._renumbered(message))
            case Grew(number):
                return replace(event, number=self._own(number)) if self._has(number) else None
            case Superseded(first, last):
                has_both = self._has(first) and self._has(last)
                return Superseded(self._own(first), self._own(last)) if has_both else None
            case Found(message=number):
                if number is not None:
                    return replace(event, message=self._own(number)) if self._has(number) else None
                return event if self._is_in(max(1, self.count)) else None
            case Strayed(stray):
                if not self._is_in(stray.transcript):
                    return None
                return Strayed(replace(stray, transcript=1, after=self._own(stray.after) if self._first else 0))
            case Metadata():
                return event if self._is_in(max(1, self.count)) else None
            case ToolCancelled(transcript=transcript_number):
                return replace(event, transcript=1) if self._is_in(transcript_number) else None
            case DeclaredTools(transcript=transcript_number, message=number):
                is_in = self._is_in(transcript_number)
                return replace(event, transcript=1, message=self._own(number)) if is_in else None
            case AgentStarted(transcript=transcript_number, number=number):
                own = self._own(number)
                return replace(event, transcript=1, number=own) if self._is_in(transcript_number) else None
            case Used(transcript=transcript_number, number=number):
                own = self._own(number) if number else 0
                return replace(event, transcript=1, number=own) if self._is_in(transcript_number) else None

    def _renumbered(self, message: Message) -> Message:
        return replace(message, number=self._own(message.number), transcript=1)

    def _is_in(self, transcript: int) -> bool:
        return transcript == self.number

    def _has(self, number: int) -> bool:
        return 0 < self._first <= number <= self._last

    def _own(self, number: int) -> int:
        return max(0, number - self._first + 1)
