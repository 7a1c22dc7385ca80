"""Events that a reader reports, in the order of the bytes that caused them."""

from __future__ import annotations

from msgspec import Struct

from viewer.model.diagnostic import Rule
from viewer.model.messages import Message, Piece, Stray, Transcript, Usage


class Started(Struct, frozen=True):
    """A transcript began, and its header was read."""

    transcript: Transcript


class Opened(Struct, frozen=True):
    """A message header is complete. The ending is `open`, and the pieces are those known so far."""

    message: Message


class Grew(Struct, frozen=True):
    """An open message grew: these pieces replace the known ones from index `first` on."""

    number: int
    pieces: tuple[Piece, ...]
    first: int = 0


class Closed(Struct, frozen=True):
    """A message is final: nothing in it changes anymore."""

    message: Message


class Strayed(Struct, frozen=True):
    """Text outside any message."""

    stray: Stray


class Found(Struct, frozen=True):
    """A problem or a remark at this position."""

    rule: Rule
    reason: str | None
    start: int
    end: int
    message: int | None
    count: int = 1

    @property
    def code(self) -> str:
        """The code of the rule."""
        return self.rule.code


class ToolCancelled(Struct, frozen=True, gc=False):
    """A `tool.cancel` event."""

    transcript: int
    call_id: str
    start: int
    end: int


class DeclaredTools(Struct, frozen=True, gc=False):
    """A span of a body that holds only tool declarations, such as the function lists of OpenChatML 0.1."""

    transcript: int
    message: int
    start: int
    end: int


class Superseded(Struct, frozen=True, gc=False):
    """The user went back and continued differently: these messages are a superseded branch."""

    first: int
    last: int


class Metadata(Struct, frozen=True, gc=False):
    """A record that holds no message and comes before the first message."""


class Used(Struct, frozen=True):
    """A message, or the transcript if the number is 0, used this many more tokens."""

    transcript: int
    number: int
    usage: Usage
    model: str | None = None
    """The model that used the tokens, if the input states it next to the numbers."""


class AgentStarted(Struct, frozen=True, gc=False):
    """The first message of another agent follows."""

    transcript: int
    thread: int
    id: str
    number: int


Event = (
    Started | Opened | Grew | Closed | Superseded | Strayed | Found | ToolCancelled | DeclaredTools | Metadata | Used
    | AgentStarted
)  # fmt: skip
