"""Problems tab of the bottom pane: one line per problem. The one at the cursor opens in place."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.values import ShownDiagnostic
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Style, trusted
from viewer.tui.bottom.problem_lines import Pending, ProblemLines
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.plain_lines import EvenLines
from viewer.tui.terminal.paint import Painter


class Problems(Vertical, EvenLines):
    """A list of problems."""

    class Followed(Message):
        """The cursor moved to this problem: show its message. Without a diagnostic, this is the row of the open
        message."""

        def __init__(self, number: int | None, diagnostic: ShownDiagnostic | None) -> None:
            super().__init__()
            self.number = number
            self.diagnostic = diagnostic

    class Chosen(Followed):
        """The operator chose this problem in order to see its message."""

    def __init__(
        self, painter: Painter, style: Style | None = None, *, keys: str = "enter Go  ? Explain", id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.list = LineList(painter, focusable=True)
        self._keys = keys
        self._lines: ProblemLines | None = None
        self._chosen: ShownDiagnostic | None = None
        """The diagnostic under the cursor, kept because new ones may be inserted before it."""

    def compose(self) -> ComposeResult:
        """Yield the list."""
        yield self.list

    def show(
        self,
        problems: DiagnosticView,
        *,
        safe: bool,
        pending: Pending | None = None,
        checking: bool = False,
        projection: Projection | None = None,
        calls: CallView | None = None,
    ) -> None:
        """Show problems, and keep the cursor on the same problem."""
        before = self._chosen
        row, offset = self.list.cursor, self.list.scroll_offset.y
        lines = self._lines = ProblemLines(
            *(problems, self.drawn_style),
            safe=safe,
            pending=pending,
            checking=checking,
            projection=projection,
            calls=calls,
        )
        if before is not None and lines.at(row) != before:
            row = lines.problems.place_of(before)
        self.list.show(len(lines), self._line, row, empty="" if checking else "No problems to show.")
        self.list.scroll_to(y=offset, animate=False)
        self._chosen = self.chosen_problem

    def show_pending(self, pending: Pending | None) -> None:
        """Update the idle time of the open message. Only `show` adds or removes its row."""
        if self._lines is not None:
            self._lines.set_pending(pending)
            self.list.refresh()

    def open_details(self, is_open: bool) -> None:
        """Open the row under the cursor in place, or close it."""
        self.list.open_with(self._details if is_open else None)

    def select(self, diagnostic: ShownDiagnostic) -> None:
        """Put the cursor on a diagnostic."""
        place = self._lines.problems.place_of(diagnostic) if self._lines is not None else -1
        if place >= 0:
            self.list.move_to(place)
            self._chosen = self.chosen_problem

    def focus_on(self, number: int) -> None:
        """Put the cursor on the first problem of a message or of its reply, unless the list has the focus. If there is
        none, leave the cursor where it is; initially, put it on the first row."""
        if self._lines is None or not len(self._lines) or self.list.has_focus:
            return
        chosen = self.chosen_problem
        found = self._lines.of(number)
        if found and (chosen is None or chosen not in found):
            self.select(found[0])
        elif self.list.cursor < 0:
            self.list.move_to(0)
            self._chosen = self.chosen_problem

    @property
    def chosen_problem(self) -> ShownDiagnostic | None:
        """The diagnostic under the cursor, or None if there is none."""
        return self._lines.at(self.list.cursor) if self._lines is not None else None

    @property
    def counts(self) -> SafeText:
        """The counts for the border."""
        return self._lines.counts if self._lines is not None else trusted("")

    @property
    def total(self) -> int:
        """The number of problems."""
        return len(self._lines.problems) if self._lines is not None else 0

    def clear(self) -> None:
        """Drop all problems."""
        self._lines = self._chosen = None
        self.list.clear()

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        """Let the transcript follow the cursor."""
        event.stop()
        self._chosen = self.chosen_problem
        if self._lines is not None:
            self.post_message(self.Followed(self._lines.number(event.row), self._chosen))

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Go to the row's message."""
        event.stop()
        if self._lines is not None:
            self.post_message(self.Chosen(self._lines.number(event.row), self._lines.at(event.row)))

    def _details(self, row: int, width: int) -> list[Line]:
        return self._lines.details(row, width, self._keys) if self._lines is not None else []

    def _line(self, row: int, width: int) -> Line:
        if self._lines is None or row >= len(self._lines):
            return ()
        return self._lines.line(row, width, is_cursor=row == self.list.cursor)
