"""Messages from a main screen to the app, and requests for other files, which are performed before any waiting keys."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from textual.message import Message

from viewer.tui.display_state import DisplayState


class Leave(Struct, frozen=True):
    """Leave this document."""


class OpenPath(Struct, frozen=True):
    """Open another file, or compare with it."""

    path: str
    compares: bool = False


class ListSessions(Struct, frozen=True):
    """List the agent sessions of this machine over the open file."""


class ReadAs(Struct, frozen=True):
    """Read the open file again, as another format."""

    format: str


class ShowNext(Struct, frozen=True):
    """Show the next or previous of the named files."""

    step: int
    """1 for the next file, -1 for the previous one."""


class OpenAt(Struct, frozen=True):
    """Open one of several merged files at a message, in the state of the merged view."""

    path: str
    place: str
    state: DisplayState


FileRequest = Leave | ListSessions | OpenAt | OpenPath | ReadAs | ShowNext
Ask = Callable[[FileRequest], None]
"""Passes a request to the app, which performs it before it handles another key."""


class DocumentRead(Message):
    """The whole input has been read."""


class ViewRestarted(Message):
    """Earlier readings of the input are no longer needed."""


class ThemeWanted(Message):
    """Apply a theme; without a name, show the list of themes."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name
