"""Timeline tab of the bottom pane: a waterfall chart of the turns around the cursor."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Style, trusted
from viewer.tui.bottom.call_lines import NO_CALLS
from viewer.tui.bottom.timeline_bars import Bars, bars_around
from viewer.tui.bottom.timeline_lines import ROOMY, TimelineLines
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.plain_lines import EvenLines
from viewer.tui.terminal.paint import Painter

MOST_ZOOM = 12


class Timeline(Vertical, EvenLines):
    """The timeline: an axis above the bars."""

    class Followed(Message):
        """The cursor moved to this message: show it."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Chosen(Followed):
        """The operator chose this message."""

    class Rescaled(Message):
        """The zoom or the visible part of the axis changed, so the border must be updated."""

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.head = HeadLine(painter)
        self.list = LineList(painter, focusable=True)
        self.zoom = self.pan = 0
        self._lines: TimelineLines | None = None
        self._source: tuple[Projection, Rows, CallView] | None = None
        self._focus = 0
        self._follows = True

    def compose(self) -> ComposeResult:
        """Yield the axis and the list below it."""
        yield self.head
        yield self.list

    def show(self, projection: Projection, rows: Rows, calls: CallView, focus: int) -> None:
        """Show the turns around a message."""
        self._source, self._focus = (projection, rows, calls), focus
        self._make()

    def follow_focus(self, follows: bool) -> None:
        """Let the cursor follow the focused message, or let the operator move the cursor."""
        self._follows = follows

    def focus_on(self, number: int) -> None:
        """Note the focused message. Compute its bars if necessary, and put the cursor on it unless the operator moves
        the cursor."""
        if self._source is None or not number or number == self._focus:
            return
        self._focus = number
        known = self._lines.bars.bars if self._lines is not None else ()
        if not known or not known[0].number <= number <= known[-1].number or not self._is_roomy:
            self._make()
        elif self._follows and self._lines is not None:
            self.list.move_to(self._lines.row_of(number))

    def clear(self) -> None:
        """Drop all bars."""
        self._source = self._lines = None
        self._focus = 0
        self.head.clear()
        self.list.clear()

    @property
    def counts(self) -> SafeText:
        """Return the zoom and the turns, for the border."""
        return self._lines.counts(self._width) if self._lines is not None else trusted("")

    @property
    def summary(self) -> SafeText:
        """Return the critical path, for the border."""
        return self._lines.summary(self._width) if self._lines is not None else trusted("")

    def on_resize(self, event: events.Resize) -> None:
        """Compute the bars for the new width: a narrow pane shows only one turn."""
        if self._source is not None:
            self._make()
            self.post_message(self.Rescaled())

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Let the transcript follow the cursor."""
        event.stop()
        self._report(event.row, self.Followed)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Go to the row's message."""
        event.stop()
        self._report(event.row, self.Chosen)

    def on_line_list_zoomed(self, event: LineList.Zoomed) -> None:
        """Zoom in or out."""
        event.stop()
        self._rescale(max(0, min(self.zoom + event.step, MOST_ZOOM)), self.pan)

    def on_line_list_folded(self, event: LineList.Folded) -> None:
        """Pan left or right."""
        event.stop()
        self._rescale(self.zoom, max(0, self.pan + (-1 if event.folded else 1)))

    def _rescale(self, zoom: int, pan: int) -> None:
        self.zoom, self.pan = zoom, pan if zoom else 0
        if self._lines is not None and self._source is not None:
            self._use(self._lines.bars)
            self.post_message(self.Rescaled())

    def _make(self) -> None:
        if self._source is None:
            return
        projection, rows, calls = self._source
        self._use(bars_around(projection, rows, calls, self._focus, one_turn=not self._is_roomy))

    def _use(self, bars: Bars) -> None:
        assert self._source is not None
        before, at = self._lines, self.list.cursor
        lines = TimelineLines(bars, self._source[0], self.drawn_style, zoom=self.zoom, pan=self.pan)
        self._lines = lines
        self.head.show(lambda width: lines.head(self.list.size.width or width))
        stays = not self._follows and before is not None and 0 <= at < len(before)
        row = lines.row_of(before.number(at) if stays and before else self._focus)
        self.list.show(len(lines), self._line, row, empty=NO_CALLS)

    @property
    def _width(self) -> int:
        return self.list.size.width

    @property
    def _is_roomy(self) -> bool:
        return self._width >= ROOMY

    def _report(self, row: int, message: type[Followed]) -> None:
        if self._lines is not None and 0 <= row < len(self._lines):
            self.post_message(message(self._lines.number(row)))

    def _line(self, row: int, width: int) -> Line:
        if self._lines is None or row >= len(self._lines):
            return ()
        return self._lines.line(row, width, is_cursor=row == self.list.cursor)
