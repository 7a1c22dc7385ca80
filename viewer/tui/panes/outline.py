"""Outline pane: turns that fold, and one line per message; only visible lines are made."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.outline_lines import OutlineLines
from viewer.tui.panes.outline_table import OutlineKind
from viewer.tui.terminal.paint import Painter


class Outline(Vertical):
    """A title and a list."""

    class Chosen(Message):
        """Show this message."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.head = HeadLine(painter)
        self.list = LineList(painter)
        self._lines: OutlineLines | None = None

    def compose(self) -> ComposeResult:
        """The title above the list."""
        self.head.show(lambda width: [(Part(trusted(" OUTLINE"), StyleRole.TITLE),)])
        yield self.head
        yield self.list

    def show(
        self,
        projection: Projection,
        rows: Rows,
        focus: int,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        live: bool = False,
    ) -> None:
        """Show a projection. Calls and problems are looked up if they are not given."""
        if self._lines is not None and self._lines.reuse(projection, rows):
            self._lines.grow(0, calls=calls, problems=problems, live=live)
        else:
            self._lines = OutlineLines(projection, rows, self.drawn_style, calls=calls, problems=problems, live=live)
        self._lines.focus_on(focus)
        self._draw(focus)

    def grow(
        self,
        changed: int,
        focus: int,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        live: bool = False,
    ) -> None:
        """Extend the rows that `show` received; `changed` is the result of `Rows.extend`."""
        if self._lines is None:
            return
        self._lines.grow(changed, calls=calls, problems=problems, live=live)
        same_focus = self._lines.focus == focus
        self._lines.focus_on(focus)
        offset = self.list.scroll_offset.y
        self._draw(focus)
        if same_focus:
            self.list.scroll_to(y=offset, animate=False)

    def focus_on(self, number: int) -> None:
        """Put the cursor on a message."""
        if self._lines is not None:
            self._lines.focus_on(number)
            self.list.move_to(self._lines.table.row_of(number))

    def clear(self) -> None:
        """Forget the projection."""
        self._lines = None
        self.list.clear()

    def move(self, step: int) -> None:
        """Move the list cursor without choosing."""
        if self._lines is not None and len(self._lines.table):
            self.list.move_to(max(0, min(self.list.cursor + step, len(self._lines.table) - 1)))

    def choose(self) -> None:
        """Choose the row under the list cursor."""
        self._act_on(self.list.cursor)

    def toggle_fold(self) -> None:
        """Fold or unfold the turn under the list cursor."""
        if self._lines is not None and 0 <= self.list.cursor < len(self._lines.table):
            self._fold(self._lines, self._lines.table.at(self.list.cursor).group)

    def fold_all(self, folded: bool) -> None:
        """Fold or unfold all turns."""
        if self._lines is not None:
            self._lines.table.fold_all(folded)
            self._draw(self._lines.focus)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Fold the clicked turn, or choose the clicked message."""
        event.stop()
        self._act_on(event.row)

    def _act_on(self, row: int) -> None:
        lines = self._lines
        if lines is None or not 0 <= row < len(lines.table):
            return
        found = lines.table.at(row)
        if found.kind is OutlineKind.TURN:
            self._fold(lines, found.group)
        elif found.kind is OutlineKind.MESSAGE:
            self.list.move_to(row)
            self.post_message(self.Chosen(found.number))

    def _fold(self, lines: OutlineLines, group: int) -> None:
        lines.table.toggle(group)
        offset = self.list.scroll_offset.y
        self.list.show(len(lines.table), self._line, lines.table.row_of_turn(group))
        self.list.scroll_to(y=offset, animate=False)
        self.list.follow_cursor()

    def _draw(self, focus: int) -> None:
        if self._lines is not None:
            table = self._lines.table
            self.list.show(len(table), self._line, table.row_of(focus))

    def _line(self, row: int, width: int) -> Line:
        lines = self._lines
        return lines.line(row, width) if lines is not None and row < len(lines.table) else ()
