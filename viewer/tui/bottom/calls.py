"""Calls tab of the bottom pane: a sortable table of all calls in the view."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.usage import UsageView
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Style, trusted
from viewer.tui.bottom.call_lines import NO_CALLS, CallLines, SortKey
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.plain_lines import EvenLines
from viewer.tui.terminal.paint import Painter


class Calls(Vertical, EvenLines):
    """The calls table: column titles above the rows."""

    DEFAULT_CSS = "Calls LineList { scrollbar-gutter: stable; }"
    """The scrollbar always has its own column, so the titles stay aligned."""

    class Followed(Message):
        """The cursor moved to a call with this message, which the transcript should show."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Chosen(Followed):
        """The operator chose this message of a call."""

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.head = HeadLine(painter)
        self.list = LineList(painter, focusable=True)
        self.sort = SortKey.ORDER
        self._lines: CallLines | None = None
        self._follows = True
        self._focus = 0
        """The number of the focused message."""

    def compose(self) -> ComposeResult:
        """Yield the titles and the list below them."""
        yield self.head
        yield self.list

    def show(
        self,
        calls: CallView,
        focus: int = 0,
        projection: Projection | None = None,
        *,
        problems: DiagnosticView | None = None,
        usages: UsageView | None = None,
        shows_cost: bool = False,
    ) -> None:
        """Show calls. Put the cursor on the call of the focused message, unless the operator moves the cursor."""
        lines = self._lines = CallLines(
            *(calls, self.drawn_style, projection),
            problems=problems,
            sort=self.sort,
            usages=usages,
            shows_cost=shows_cost,
        )
        self.head.show(lambda width: lines.head(self.list.size.width or width))
        self._focus = focus or self._focus
        row = self._lines.row_of(focus) if self._follows or self.list.cursor < 0 else self.list.cursor
        row = row if row >= 0 or self._follows else lines.row_near(self._focus)
        self.list.show(len(calls), self._line, row, empty=NO_CALLS)

    def follow_focus(self, follows: bool) -> None:
        """Let the cursor follow the focused message, or let the operator move the cursor. In the second case, it starts
        at a call near the message."""
        self._follows = follows
        if not follows and self._lines is not None and self.list.cursor < 0:
            self.list.move_to(self._lines.row_near(self._focus))

    def focus_on(self, number: int) -> None:
        """Note the focused message. Unless the operator moves the cursor, put it on the message's call, or on no row if
        there is none."""
        self._focus = number
        if self._lines is not None and self._follows:
            self.list.move_to(self._lines.row_of(number))

    def clear(self) -> None:
        """Drop all calls."""
        self._lines = None
        self.head.clear()
        self.list.clear()

    @property
    def counts(self) -> SafeText:
        """Return the counts for the border."""
        return self._lines.counts if self._lines is not None else trusted("")

    @property
    def total(self) -> int:
        """Return the number of calls."""
        return len(self._lines) if self._lines is not None else 0

    @property
    def chosen_tool(self) -> str:
        """Return the tool of the call under the cursor, or an empty string."""
        row = self.list.cursor
        return self._lines.at(row).tool if self._lines is not None and 0 <= row < len(self._lines) else ""

    def next_failed(self, step: int) -> int:
        """Return the next or previous row with a failed call, wrapping around, or -1 if there is none."""
        return self._lines.next_failed(self.list.cursor, step) if self._lines is not None else -1

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Let the transcript follow the cursor."""
        event.stop()
        self._report(event.row, self.Followed)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Go to the row's call."""
        event.stop()
        self._report(event.row, self.Chosen)

    def on_line_list_sorted(self, event: LineList.Sorted) -> None:
        """Sort by the next column and keep the cursor on its call."""
        event.stop()
        lines = self._lines
        if lines is None:
            return
        number = lines.number(self.list.cursor) if 0 <= self.list.cursor < len(lines) else None
        self.sort = self.sort.next
        again = self._lines = lines.sorted_by(self.sort)
        self.head.show(lambda width: again.head(self.list.size.width or width))
        self.list.show(len(again), self._line, again.row_of(number or 0))

    def _report(self, row: int, message: type[Followed]) -> None:
        number = self._lines.number(row) if self._lines is not None and 0 <= row < len(self._lines) else None
        if number is not None:
            self.post_message(message(number))

    def _line(self, row: int, width: int) -> Line:
        if self._lines is None or row >= len(self._lines):
            return ()
        return self._lines.line(row, width, is_cursor=row == self.list.cursor)
