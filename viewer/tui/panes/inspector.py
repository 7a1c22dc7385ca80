"""Inspector: everything known about one message, in tabs; a column, or a sheet on narrow screens."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.inspector_lines import HINT, Inspected, Tab, entries, head_lines, tab_at
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.link_lines import Entry
from viewer.tui.terminal.paint import Painter

_SHEET_WIDTH = 60
_SHEET_HEIGHT = 12
"""An inspector that is wider and lower than this is a sheet."""


class Inspector(Vertical):
    """Tabs above a list of lines. It shows only projections of the debug view."""

    class Followed(Message):
        """A click on a line that leads to this message."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class TabOpened(Message):
        """A click opened this tab."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(
        self, painter: Painter, style: Style | None = None, *, hint: str = HINT, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.drawn_style = style or Style(color=True, wrapped=True)
        self.tab = Tab.HEADER
        self.hint = hint
        self.head = HeadLine(painter)
        self.list = LineList(painter)
        self._inspected: Inspected | None = None
        self._entries: list[Entry] = []
        self._made_for = (0, False)

    def compose(self) -> ComposeResult:
        """The tabs above the lines."""
        yield self.head
        yield self.list

    def show(
        self,
        projection: Projection,
        number: int | None,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
    ) -> None:
        """Show a message. Calls and problems are looked up if they are not given."""
        if number is None or projection.audience.is_safe:
            self.clear()
            return
        calls = projection.calls() if calls is None else calls
        if problems is None:
            problems = projection.problems(projection.rows()).extend(projection.message_count)
        same = self._inspected is not None and self._inspected.number == number
        self._inspected = Inspected(
            projection, number, projection.message(number), calls, problems.of(number), problems.faulty
        )
        self._draw(keep_place=same)

    def next_tab(self, step: int = 1) -> None:
        """Open the next tab, or with -1 the previous one."""
        self.open_tab(self.tab.next(step))

    def open_tab(self, tab: Tab) -> None:
        """Open a tab."""
        self.tab = tab
        self._draw()

    def clear(self) -> None:
        """Forget the message and all lines made from it."""
        self._inspected = None
        self._draw()

    @property
    def is_sheet(self) -> bool:
        """True if it lies below the transcript."""
        return self.size.width >= _SHEET_WIDTH and self.size.height < _SHEET_HEIGHT

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines for another width."""
        if (self.size.width, self.is_sheet) != self._made_for:
            self._draw(keep_place=True)

    def on_head_line_clicked(self, event: HeadLine.Clicked) -> None:
        """Open the clicked tab."""
        event.stop()
        if self._inspected is not None:
            tab = tab_at(self._inspected.number, self.tab, event.x, event.y, sheet=self.is_sheet)
            self.open_tab(tab or self.tab)
            self.post_message(self.TabOpened(self.tab))

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Follow the clicked line."""
        event.stop()
        follows = self._entries[event.row].follows if event.row < len(self._entries) else None
        if follows is not None:
            self.post_message(self.Followed(follows))

    def _draw(self, keep_place: bool = False) -> None:
        sheet, width = self.is_sheet, self.size.width
        self._made_for = width, sheet
        offset = self.list.scroll_offset.y if keep_place else 0
        inspected = self._inspected
        self._entries = []
        if inspected is not None and width:
            self._entries = entries(inspected, self.tab, max(width - 1, 10), self.drawn_style, sheet=sheet)
        self.head.styles.height = 1 if sheet or inspected is None else 3
        self.head.show(self._head)
        self.list.show(len(self._entries), self._line)
        self.list.scroll_to(y=offset, animate=False)

    def _head(self, width: int) -> list[Line]:
        if self._inspected is None:
            return [
                (Part(trusted(" INSPECT"), StyleRole.TITLE), Part(trusted("  no message selected"), StyleRole.QUIET))
            ]
        return head_lines(
            self._inspected.number, self.tab, width, self.drawn_style, sheet=self.is_sheet, hint=self.hint
        )

    def _line(self, row: int, width: int) -> Line:
        return self._entries[row].line if row < len(self._entries) else ()
