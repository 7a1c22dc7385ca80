"""Head of a pane: fixed lines above a list, redrawn only when they change."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from textual import events
from textual.message import Message

from viewer.render.style import Line
from viewer.tui.bars.not_selectable import NotSelectable
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter


class HeadLine(NotSelectable, PlainLines):
    """A few fixed lines above a list."""

    DEFAULT_CSS = "HeadLine { height: 1; width: 1fr; }"

    class Clicked(Message):
        """The operator clicked at this position."""

        def __init__(self, sender: HeadLine, x: int, y: int) -> None:
            super().__init__()
            self.head = sender
            self.x = x
            self.y = y

        @property
        def control(self) -> HeadLine:
            """The widget, for handlers that select it by ID."""
            return self.head

    def __init__(self, painter: Painter, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.painter = painter
        self._lines: Callable[[int], list[Line]] = lambda width: []

    def show(self, lines: Callable[[int], list[Line]]) -> None:
        """Show lines. `lines` returns them for a width."""
        self._lines = lines
        self.refresh()

    def clear(self) -> None:
        """Forget the text."""
        self.show(lambda width: [])

    def segments(self, y: int) -> list[Segment]:
        """Draw one screen line."""
        width = self.line_width
        lines = self._lines(width)
        return self.painter.segments(lines[y] if y < len(lines) else (), width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Post the position of a click."""
        self.post_message(self.Clicked(self, event.x, event.y))
