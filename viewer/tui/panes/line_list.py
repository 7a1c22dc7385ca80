"""List of one-line rows with a cursor; only visible rows are drawn. Outline, problems, calls, files."""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from viewer.render.style import Line, StyleRole
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter


class LineList(ScrollView, PlainLines, can_focus=False):
    """Rows are requested when they are drawn, so that the length of a list does not matter."""

    class Chosen(Message):
        """A row was clicked."""

        def __init__(self, sender: LineList, row: int) -> None:
            super().__init__()
            self.list = sender
            self.row = row

        @property
        def control(self) -> LineList:
            """The list, for handlers that select it by id."""
            return self.list

    def __init__(self, painter: Painter, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self._count = 0
        self._line: Callable[[int, int], Line] = lambda row, width: ()
        self.cursor = -1
        self._base = Style()
        self._top = 0
        """The row of the first line."""

    def show(self, count: int, line: Callable[[int, int], Line], cursor: int = -1) -> None:
        """Show a number of rows; `line` gives the parts of a row for a width."""
        self._count, self._line, self.cursor = count, line, min(cursor, count - 1)
        self._measure()
        self.refresh()
        self.follow_cursor()

    def on_resize(self, event: events.Resize) -> None:
        """Show or remove the scrollbar for another height."""
        self._measure()

    def _measure(self) -> None:
        """Every change of the size causes a layout of the screen. A list that fits keeps the same size."""
        self.virtual_size = Size(0, self._count if self._count > self.size.height else 0)

    def clear(self) -> None:
        """Forget every row and its text."""
        self.show(0, lambda row, width: ())

    def move_to(self, row: int) -> None:
        """Put the cursor on a row."""
        self.cursor = max(-1, min(row, self._count - 1))
        self.follow_cursor()
        self.refresh()

    def follow_cursor(self) -> None:
        """Scroll as little as needed to show the cursor."""
        if self.cursor >= 0:
            self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True, x_axis=False)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Compute once what all lines share."""
        self._base, self._top = self.rich_style, self.scroll_offset.y
        return super().render_lines(crop)

    def segments(self, y: int) -> list[Segment]:
        """One screen line."""
        row, width = self._top + y, self.line_width
        base = self._base + self.painter.style(StyleRole.CURSOR) if row == self.cursor else self._base
        return self.painter.segments(self._line(row, width) if row < self._count else (), width, base)

    def on_click(self, event: events.Click) -> None:
        """Choose the clicked row."""
        row = self.scroll_offset.y + event.y
        if 0 <= row < self._count:
            self.post_message(self.Chosen(self, row))
