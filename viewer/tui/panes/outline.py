"""Outline pane: foldable turns with one line per message. Only visible lines are computed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from textual.app import ComposeResult
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.usage import UsageView
from viewer.render.style import Line, Style, trusted
from viewer.tui.input_queue import post_call
from viewer.tui.panes.frame import Frame
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.outline_folds import Folds
from viewer.tui.panes.outline_lines import KEPT_LINES, OutlineLines
from viewer.tui.panes.outline_table import OutlineTable
from viewer.tui.panes.panel import Panel
from viewer.tui.prefetch import Prefetch
from viewer.tui.terminal.paint import Painter

LARGEST_AT_ONCE = 100_000
"""The number of rows beyond which the outline is computed in steps, after the frame that opens it."""
KEPT_TABLES = 4
"""How many tables to keep: one for each combination of two channels that are on or off."""
MOST_AHEAD = KEPT_LINES // 4
"""The maximum number of lines to prepare, so that they all fit in the cache with the visible ones."""
PAUSE = 0.001
"""The seconds to wait before each step, so that a pending key is handled first."""


class Outline(Frame):
    """The outline: a list of turns and messages."""

    class Followed(Message):
        """The cursor moved to this message: show it."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class Chosen(Followed):
        """The operator chose this message."""

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(Panel.OUTLINE, style or Style(color=True, wrapped=True), id=id)
        self.list = LineList(painter, focusable=True)
        self._lines: OutlineLines | None = None
        self._tables: list[OutlineTable] = []
        """The last tables, because operators switch back and forth, and computing one for millions of messages
        takes time. They are only numbers, without text."""
        self._top = 0
        """The first visible row when the cursor last moved."""
        self._next_rows = range(0)
        """The rows that the next keys may show."""
        self._prefetch = Prefetch(self, self._prepare_next)
        self.caption(trusted("Outline"))

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield self.list

    def show(
        self,
        projection: Projection,
        rows: Rows,
        focus: int,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        usages: UsageView | None = None,
        leak_scores: Mapping[int, int] = MappingProxyType({}),
        live: bool = False,
        is_settled: Callable[[], bool] = lambda: False,
        all_rows: Rows | None = None,
    ) -> None:
        """Show a projection. Folded turns stay folded. Calls and problems are looked up if not given. Without `usages`,
        show no tokens. Show `leak_scores` next to their messages. `all_rows` are the rows without the filter.
        `is_settled` returns True once no line can change any more."""
        before = self._lines
        lines = self._lines = OutlineLines(
            *(projection, rows, self.printing),
            calls=calls,
            problems=problems,
            usages=usages,
            leak_scores=leak_scores,
            live=live,
            is_settled=is_settled,
            tables=self._tables,
            in_steps=is_settled() and len(rows) > LARGEST_AT_ONCE,
            all_rows=all_rows,
        )
        table = lines.table
        kept = [table, *(each for each in self._tables if each is not table)]
        self._tables = kept[:KEPT_TABLES] if is_settled() else []
        keeps = before is not None and before.shows(projection, rows)
        table.use_folds(before.table.folds if before is not None and keeps else Folds())
        lines.focus_on(focus)
        self._draw(focus)
        self._complete(table)

    def _complete(self, table: OutlineTable) -> None:
        """Compute a table step by step unless it has been dropped, and draw it if it is still shown."""
        if table.is_partial and any(each is table for each in self._tables):
            asyncio.get_running_loop().call_later(PAUSE, post_call, self, partial(self._go_on, table))

    def _go_on(self, table: OutlineTable) -> None:
        if table.is_partial:
            table.go_on()
            self._complete(table)
            if not table.is_partial and self._lines is not None and self._lines.table is table:
                self._draw(self._lines.focus)

    def grow(
        self,
        changed: int,
        focus: int,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        live: bool = False,
    ) -> None:
        """Extend the rows that `show` received. `changed` is the result of `Rows.extend`."""
        if self._lines is None:
            return
        self._lines.grow(changed, calls=calls, problems=problems, live=live)
        same_focus = self._lines.focus == focus
        self._lines.focus_on(focus)
        offset, cursor = self.list.scroll_offset.y, self.list.cursor
        self._draw(focus)
        if self.has_focus_mark:
            self.list.move_to(cursor)
        if same_focus:
            self.list.scroll_to(y=offset, animate=False)

    def focus_on(self, number: int) -> None:
        """Put the cursor on a message, unless this pane has the focus and the operator moves the cursor."""
        if self._lines is not None:
            self._lines.focus_on(number)
            if not self.has_focus_mark:
                self.list.move_to(self._lines.table.row_of(number))
                self._look_ahead()

    def _look_ahead(self) -> None:
        """Prepare the lines of the next page in the direction of travel."""
        before, self._top = self._top, self.list.scroll_offset.y
        if self._top == before or self._lines is None or not self.display:
            return
        top, bottom = self._top, self._top + self.list.page
        more = min(self.list.page, MOST_AHEAD)
        self._next_rows = range(bottom, bottom + more) if top > before else range(max(top - more, 0), top)
        self._prefetch.begin()

    def _prepare_next(self) -> bool:
        return self._lines is not None and self._lines.prepare(self._next_rows, self.list.size.width)

    def forget_reading(self) -> None:
        """Drop the tables of the earlier reading, because the document is being read again."""
        self._tables = []

    def clear(self) -> None:
        """Drop the projection and the lines built from it."""
        self._lines = None
        self.list.clear()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Let the transcript follow the cursor."""
        event.stop()
        self._report(event.row, self.Followed)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Go to the row's message, or to the first message of the turn."""
        event.stop()
        self._report(event.row, self.Chosen)

    def on_line_list_folded(self, event: LineList.Folded) -> None:
        """Fold or unfold the turn under the cursor."""
        event.stop()
        lines, row = self._lines, self.list.cursor
        if lines is None or not 0 <= row < len(lines.table):
            return
        group = lines.table.at(row).group
        if (group in lines.table.folds) != event.folded:
            lines.toggle(group)
            offset = self.list.scroll_offset.y
            self.list.show(len(lines.table), self._line, lines.table.row_of_turn(group))
            self.list.scroll_to(y=offset, animate=False)
            self.list.follow_cursor()

    def _report(self, row: int, message: type[Followed]) -> None:
        lines = self._lines
        if lines is not None and 0 <= row < len(lines.table):
            self.post_message(message(lines.table.at(row).number))

    def _draw(self, focus: int) -> None:
        self._next_rows = range(0)
        if self._lines is not None:
            table = self._lines.table
            self.list.show(len(table), self._line, table.row_of(focus))

    def _line(self, row: int, width: int) -> Line:
        lines = self._lines
        if lines is None or row >= len(lines.table):
            return ()
        return lines.line(row, width, is_cursor=row == self.list.cursor)
