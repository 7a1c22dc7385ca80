"""Inspector: everything known about one message, in tabs. It is a column or, on a narrow screen, a sheet."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.usage import UsageView
from viewer.render.style import Line, Style, trusted
from viewer.tui.panes.frame import Frame
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.inspector_lines import Inspected, Tab, entries, tab_at, tab_lines
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.link_lines import Entry
from viewer.tui.panes.panel import Panel
from viewer.tui.terminal.paint import Painter

_SHEET_WIDTH = 60
"""The minimum width of an inspector that is a sheet."""
_LOW, _TALL = 5, 10
"""The minimum heights of an inspector with a rule below its tabs and, in a column, with a blank row below the rule."""


class Inspector(Frame):
    """Tabs above a list of lines. It shows only projections of the debug view."""

    class Followed(Message):
        """The operator chose a line that leads to this message."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class TabOpened(Message):
        """A click opened this tab."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, painter: Painter, style: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(Panel.INSPECTOR, style or Style(color=True, wrapped=True), id=id)
        self.drawn_style = self.printing
        self.tab = Tab.HEADER
        """The chosen tab. If it is empty for a message, the first tab is shown."""
        self.head = HeadLine(painter)
        self.list = LineList(painter, focusable=True)
        self._inspected: Inspected | None = None
        self._entries: list[Entry] = []
        self._made_for = (0, 0)
        self.caption(trusted("Inspector"))

    def compose(self) -> ComposeResult:
        """Yield the tabs and the lines below them."""
        yield self.head
        yield self.list

    def show(
        self,
        projection: Projection,
        number: int | None,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        usages: UsageView | None = None,
        size: int = 0,
    ) -> None:
        """Show a message. Calls and problems are looked up if not given. `size` is the size of the input."""
        if number is None or projection.audience.is_safe:
            self.clear()
            return
        calls = projection.calls() if calls is None else calls
        if problems is None:
            problems = projection.problems(projection.rows()).extend(projection.message_count)
        same = self._inspected is not None and self._inspected.number == number
        message = projection.message(number)
        spent = usages.of(number) if usages is not None else None
        self._inspected = Inspected(projection, number, message, calls, problems.of(number), problems, size, spent)
        self._draw(keep_place=same)

    @property
    def tabs(self) -> list[Tab]:
        """Return the tabs that are not empty for the message."""
        return self._inspected.tabs if self._inspected is not None else []

    @property
    def active_tab(self) -> Tab:
        """The tab on the screen."""
        return self.tab if self.tab in self.tabs else Tab.HEADER

    def open_tab(self, tab: Tab) -> None:
        """Open a tab."""
        self.tab = tab
        self._draw()

    def clear(self) -> None:
        """Drop the message and all lines built from it."""
        self._inspected = None
        self._draw()

    @property
    def is_sheet(self) -> bool:
        """True if the inspector is a sheet below the transcript."""
        return self.size.width >= _SHEET_WIDTH

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines for the new width."""
        super().on_resize(event)
        if (self.size.width, self.size.height) != self._made_for:
            self._draw(keep_place=True)

    def on_head_line_clicked(self, event: HeadLine.Clicked) -> None:
        """Open the clicked tab."""
        event.stop()
        tab = tab_at(self.tabs, event.x) if event.y == 0 else None
        if tab is not None:
            self.open_tab(tab)
            self.post_message(self.TabOpened(tab))

    def on_line_list_moved(self, event: LineList.Moved) -> None:
        event.stop()

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        """Go to the message that the chosen line leads to."""
        event.stop()
        follows = self._entries[event.row].follows if event.row < len(self._entries) else None
        if follows is not None:
            self.post_message(self.Followed(follows))

    def _draw(self, keep_place: bool = False) -> None:
        width, inspected = self.size.width, self._inspected
        self._made_for = width, self.size.height
        offset = self.list.scroll_offset.y if keep_place else 0
        cursor = self.list.cursor if keep_place and self.list.count else 0  # without a width there are no lines
        self._entries = []
        if inspected is not None and width:
            tab, room = self.active_tab, max(width - 1, 10)
            self._entries = entries(inspected, tab, room, self.printing, sheet=self.is_sheet)
        self.head.styles.height = self._head_rows
        self.head.show(self._head)
        self.caption(trusted(f"Inspector #{inspected.number}" if inspected is not None else "Inspector"))
        self.list.show(len(self._entries), self._line, cursor)
        if keep_place:
            self.list.scroll_to(y=offset, animate=False)

    @property
    def _head_rows(self) -> int:
        """Return the height of the tabs with their rule and, if there is room, a blank row."""
        height = self.size.height
        if self._inspected is None or height < _LOW:
            return 1
        return 2 if self.is_sheet or height < _TALL else 3

    def _head(self, width: int) -> list[Line]:
        if self._inspected is None:
            return []
        return [*tab_lines(self.tabs, self.active_tab, width, self.printing), ()][: self._head_rows]

    def _line(self, row: int, width: int) -> Line:
        return self._entries[row].line if row < len(self._entries) else ()
