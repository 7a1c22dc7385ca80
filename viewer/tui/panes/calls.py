"""Calls pane: a table of all calls in the projection."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.render.style import Line, Style
from viewer.tui.panes.call_lines import CallLines
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter


class Calls(Vertical):
    """Column titles above the rows."""

    DEFAULT_CSS = "Calls HeadLine { height: 2; } Calls LineList { scrollbar-gutter: stable; }"
    """The scrollbar always has its column, so that titles stay above their columns."""

    class Chosen(Message):
        """Show this message of a call."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.head = HeadLine(painter)
        self.list = LineList(painter)
        self._lines: CallLines | None = None

    def compose(self) -> ComposeResult:
        """The titles above the list."""
        yield self.head
        yield self.list

    def show(self, calls: CallView, focus: int = 0) -> None:
        """Show calls; the cursor is on the call of a message."""
        lines = self._lines = CallLines(calls, self.drawn_style)
        self.head.show(lambda width: lines.head(self.list.size.width or width))
        self.list.show(len(calls), self._line, self._lines.row_of(focus))

    def focus_on(self, number: int) -> None:
        """Put the cursor on the call of a message, if it has one."""
        if self._lines is not None:
            self.list.move_to(self._lines.row_of(number))

    def clear(self) -> None:
        """Forget every call."""
        self._lines = None
        self.head.clear()
        self.list.clear()

    def move(self, step: int) -> None:
        """Move the list cursor without choosing."""
        if self._lines is not None and len(self._lines):
            self.list.move_to(max(0, min(self.list.cursor + step, len(self._lines) - 1)))

    def choose(self) -> None:
        """Choose the row under the list cursor."""
        self._choose(self.list.cursor)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Choose the clicked row."""
        event.stop()
        self.list.move_to(event.row)
        self._choose(event.row)

    def _choose(self, row: int) -> None:
        number = self._lines.number(row) if self._lines is not None and 0 <= row < len(self._lines) else None
        if number is not None:
            self.post_message(self.Chosen(number))

    def _line(self, row: int, width: int) -> Line:
        return self._lines.line(row, width) if self._lines is not None and row < len(self._lines) else ()
