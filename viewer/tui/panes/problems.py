"""Problems pane: counts, and one line per problem."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.diagnostics import DiagnosticView
from viewer.document.values import ShownDiagnostic
from viewer.render.style import Line, Style
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.problem_lines import Pending, ProblemLines
from viewer.tui.terminal.paint import Painter


class Problems(Vertical):
    """A head and a list."""

    class Chosen(Message):
        """Show the place of a problem; without a diagnostic, the open message."""

        def __init__(self, number: int | None, diagnostic: ShownDiagnostic | None) -> None:
            super().__init__()
            self.number = number
            self.diagnostic = diagnostic

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.head = HeadLine(painter)
        self.list = LineList(painter)
        self._lines: ProblemLines | None = None
        self._chosen: ShownDiagnostic | None = None
        """The diagnostic under the cursor. New ones may be inserted before it."""

    def compose(self) -> ComposeResult:
        """The counts above the list."""
        yield self.head
        yield self.list

    def show(
        self, problems: DiagnosticView, *, safe: bool, pending: Pending | None = None, checking: bool = False
    ) -> None:
        """Show problems; the cursor stays on its problem."""
        before = self._chosen
        row, offset = self.list.cursor, self.list.scroll_offset.y
        lines = self._lines = ProblemLines(problems, self.drawn_style, safe=safe, pending=pending, checking=checking)
        if before is not None and lines.at(row) != before:
            row = lines.problems.place_of(before)
        self.head.show(lambda width: [lines.head(width)])
        self.list.show(len(lines), self._line, row)
        self.list.scroll_to(y=offset, animate=False)
        self._chosen = self.chosen_problem

    def show_pending(self, pending: Pending | None) -> None:
        """Update how long the open message has been quiet; `show` adds and removes its row."""
        if self._lines is not None:
            self._lines.set_pending(pending)
            self.list.refresh()

    def select(self, diagnostic: ShownDiagnostic) -> None:
        """Put the cursor on a diagnostic."""
        place = self._lines.problems.place_of(diagnostic) if self._lines is not None else -1
        if place >= 0:
            self._move_to(place)

    @property
    def chosen_problem(self) -> ShownDiagnostic | None:
        """The diagnostic under the cursor."""
        return self._lines.at(self.list.cursor) if self._lines is not None else None

    def one_line(self, width: int) -> Line:
        """The list as one line."""
        return self._lines.one_line(self.list.cursor, width) if self._lines is not None else ()

    def clear(self) -> None:
        """Forget every problem."""
        self._lines = self._chosen = None
        self.head.clear()
        self.list.clear()

    def move(self, step: int) -> None:
        """Move the list cursor without choosing."""
        if self._lines is not None and len(self._lines):
            self._move_to(max(0, min(self.list.cursor + step, len(self._lines) - 1)))

    def _move_to(self, row: int) -> None:
        self.list.move_to(row)
        self._chosen = self.chosen_problem

    def choose(self) -> None:
        """Choose the row under the list cursor."""
        self._choose(self.list.cursor)

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Choose the clicked row."""
        event.stop()
        self._move_to(event.row)
        self._choose(event.row)

    def _choose(self, row: int) -> None:
        if self._lines is not None and 0 <= row < len(self._lines):
            self.post_message(self.Chosen(self._lines.number(row), self._lines.at(row)))

    def _line(self, row: int, width: int) -> Line:
        return self._lines.line(row, width) if self._lines is not None and row < len(self._lines) else ()
