"""What a parser reports while it reads, in the order of the bytes that decided it."""

from __future__ import annotations

from viewer.model.messages import Message, Piece, Stray, Transcript
from viewer.values import frozen


@frozen
class Started:
    """A transcript began; its header has been read."""

    transcript: Transcript


@frozen
class Opened:
    """The header of a message is complete; its ending is `open` and its pieces are those known so far."""

    message: Message


@frozen
class Grew:
    """An open message has more body: these pieces replace the known ones from the index `first` on."""

    number: int
    pieces: tuple[Piece, ...]
    first: int = 0


@frozen
class Closed:
    """A message is settled: nothing of it changes any more."""

    message: Message


@frozen
class Strayed:
    """Text outside any message."""

    stray: Stray


@frozen
class Found:
    """Something is wrong, or worth knowing, at this place."""

    code: str
    reason: str | None
    start: int
    end: int
    message: int | None


@frozen
class ToolCancelled:
    """A `tool.cancel` event."""

    transcript: int
    call_id: str
    start: int
    end: int


@frozen
class DeclaredTools:
    """A body span that holds tool declarations and nothing else (the function lists of 0.1)."""

    transcript: int
    message: int
    start: int
    end: int


Event = Started | Opened | Grew | Closed | Strayed | Found | ToolCancelled | DeclaredTools
