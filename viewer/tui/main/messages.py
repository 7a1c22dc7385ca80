"""Textual messages from the main screen to the app."""

from __future__ import annotations

from textual.message import Message


class DocumentRead(Message):
    """The whole input has been read."""


class ViewRestarted(Message):
    """Earlier readings of the input are no longer needed."""


class LeaveWanted(Message):
    """The operator wants to leave this document."""


class ThemeWanted(Message):
    """Apply a theme; without a name, show the list of themes."""

    def __init__(self, name: str = "") -> None:
        super().__init__()
        self.name = name


class OpenWanted(Message):
    """Open another file, or compare with it."""

    def __init__(self, name: str, *, compares: bool = False) -> None:
        super().__init__()
        self.name = name
        self.compares = compares


class FormatWanted(Message):
    """Read the open file again, as another format."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class FileWanted(Message):
    """Show another of the named files."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step
        """1 for the next file, -1 for the previous one."""
