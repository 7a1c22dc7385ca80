"""List widget: one-line rows with a cursor. Only visible rows are drawn.

Used for the outline, problems, calls, timeline, and files. The row under the cursor may open to show more lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from viewer.render.style import Line, Part, StyleRole, trusted
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter

MOST_PAINTED = 200
"""The maximum number of painted rows that are kept."""


class LineList(ScrollView, PlainLines, can_focus=False, inherit_bindings=False):
    """Requests each row only when it is drawn, so a long list costs no more than a short one."""

    class Chosen(Message):
        """The operator chose a row with a double click or a key. In a list that cannot receive the focus, a single
        click is enough."""

        def __init__(self, sender: LineList, row: int) -> None:
            super().__init__()
            self.list = sender
            self.row = row

        @property
        def control(self) -> LineList:
            """The list, for handlers that select it by ID."""
            return self.list

    class Moved(Message):
        """The operator moved the cursor to another row."""

        def __init__(self, sender: LineList, row: int) -> None:
            super().__init__()
            self.list = sender
            self.row = row

    class Folded(Message):
        """The operator folded or unfolded the row under the cursor, or panned a timeline."""

        def __init__(self, folded: bool) -> None:
            super().__init__()
            self.folded = folded

    class Zoomed(Message):
        """Zoom in (1) or out (-1)."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    class Sorted(Message):
        """Sort by the next column."""

    virtual_size = Reactive(Size(0, 0), layout=True)
    """The height is the number of lines if they do not all fit, so that the layout makes room for a scrollbar;
    otherwise, it is 0."""

    def __init__(self, painter: Painter, *, focusable: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.can_focus = focusable
        self.cursor = -1
        self.first = 0
        """The first row that the cursor can reach; the rows before it are headings."""
        self._count = 0
        self._line: Callable[[int, int], Line] = lambda row, width: ()
        self._details: Callable[[int, int], list[Line]] | None = None
        self._painted: dict[int, tuple[Line, tuple[object, ...], Strip]] = {}
        """The rows that were drawn last, with the values they were drawn from."""
        self._empty: Line = ()
        """The line that is drawn if there are no rows."""
        self._opened: list[Line] = []
        """The lines below the opened row."""
        self._base = Style()
        self._top = 0
        """The first visible line."""

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._count

    @property
    def is_displayed(self) -> bool:
        """True if no pane around the list is closed."""
        return all(not isinstance(node, Widget) or node.display for node in self.ancestors_with_self)

    @property
    def page(self) -> int:
        """The number of visible lines."""
        return max(1, self.size.height)

    def show(self, count: int, line: Callable[[int, int], Line], cursor: int = -1, *, empty: str = "") -> None:
        """Show this number of rows. `line` returns the parts of a row for a width. `empty` is a sentence to show
        instead if there are none."""
        self._count, self._line, self.cursor = count, line, min(cursor, count - 1)
        self._empty = (Part(trusted(f" {empty}"), StyleRole.QUIET),) if empty and not count else ()
        self._painted.clear()
        self._measure()
        self.refresh()
        self.follow_cursor()

    def open_with(self, details: Callable[[int, int], list[Line]] | None) -> None:
        """Open the row under the cursor to show these lines below it; with None, close it."""
        self._details = details
        self._measure()
        self.follow_cursor()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Show or remove the scrollbar after a resize, and keep the cursor visible."""
        self._measure()
        self.follow_cursor()

    def _measure(self) -> None:
        """Measure the list. A list that fits always has the same virtual size, because every change of size causes a
        layout of the screen."""
        opens = self._details is not None and 0 <= self.cursor < self._count and self.size.width > 0
        self._opened = self._details(self.cursor, self.size.width) if opens and self._details else []
        lines = self._count + len(self._opened)
        self.virtual_size = Size(0, lines if lines > self.size.height else 0)

    def clear(self) -> None:
        """Remove all rows and their text."""
        self._details = None
        self.show(0, lambda row, width: ())

    def move_to(self, row: int) -> None:
        """Put the cursor on a row. Do not draw a list that stays the same or is in a closed pane."""
        before, self.cursor = self.cursor, max(-1, min(row, self._count - 1))
        if self._details is not None:
            self._measure()
        self.follow_cursor()
        if (self.cursor != before or self._details is not None) and self.is_displayed:
            self.refresh()

    def go_to(self, row: int) -> None:
        """Put the cursor on a row and post a message so that the rest of the screen follows."""
        if self._count > self.first:
            self.move_to(max(self.first, row))
            self.post_message(self.Moved(self, self.cursor))

    def choose(self) -> None:
        """Choose the row under the cursor."""
        if self.first <= self.cursor < self._count:
            self.post_message(self.Chosen(self, self.cursor))

    def fold(self, folded: bool) -> None:
        """Fold or unfold the row under the cursor, or pan."""
        self.post_message(self.Folded(folded))

    def zoom(self, step: int) -> None:
        """Zoom in (1) or out (-1)."""
        self.post_message(self.Zoomed(step))

    def sort(self) -> None:
        """Sort by the next column."""
        self.post_message(self.Sorted())

    def text(self, row: int) -> str:
        """Return the text of a row, for a search in the list."""
        return "".join(part.text for part in self._line(row, self.size.width or 1)) if 0 <= row < self._count else ""

    def follow_cursor(self) -> None:
        """Scroll just far enough to show the cursor."""
        if self.cursor >= 0:
            below = min(len(self._opened), max(self.size.height - 1, 0))
            self.scroll_to_region(Region(0, self.cursor, 1, 1 + below), animate=False, force=True, x_axis=False)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw the scrollbar only if its thumb moves visibly, which is rare in a long list."""
        bar = self.vertical_scrollbar
        if self.show_vertical_scrollbar and _thumb(bar, new_value) == _thumb(bar, bar.position):
            bar.set_reactive(ScrollBar.position, bar.validate_position(new_value))
        super().watch_scroll_y(old_value, new_value)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines, computing the values that they share only once."""
        self._base, self._top = self.rich_style, self.scroll_offset.y
        return super().render_lines(crop)

    def strip(self, y: int, height: int, filters: Sequence[LineFilter], background: Color) -> Strip:
        """Draw one line as the terminal shows it. A row that has only scrolled is not painted again."""
        row, detail = self._at(self._top + y)
        if detail >= 0 or row >= self._count or y >= height:
            return super().strip(y, height, filters, background)
        line = self._line(row, self.line_width)
        looks = self.line_width, row == self.cursor, self._base, background, self.painter.edition
        known = self._painted.get(row)
        if known is not None and known[0] is line and known[1] == looks:
            return known[2]
        strip = super().strip(y, height, filters, background)
        if len(self._painted) >= MOST_PAINTED:
            self._painted.clear()
        self._painted[row] = line, looks, strip
        return strip

    def segments(self, y: int) -> list[Segment]:
        """Return one screen line."""
        row, detail = self._at(self._top + y)
        width = self.line_width
        if detail >= 0:
            return self.painter.segments(self._opened[detail], width, self._base)
        if row >= self._count:
            return self.painter.segments(() if row else self._empty, width, self._base)
        base = self._base + self.painter.style(StyleRole.CURSOR) if row == self.cursor else self._base
        return self.painter.segments(self._line(row, width), width, base)

    def _at(self, line: int) -> tuple[int, int]:
        """Return the row of a line, and the index of the line within an open row; -1 for the row itself."""
        beyond = line - self.cursor
        if not self._opened or beyond <= 0:
            return line, -1
        return (self.cursor, beyond - 1) if beyond <= len(self._opened) else (line - len(self._opened), -1)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked row. A double click chooses it."""
        row, _ = self._at(self.scroll_offset.y + event.y)
        if not self.first <= row < self._count:
            return
        if not self.can_focus:
            self.post_message(self.Chosen(self, row))
        elif event.chain > 1:
            self.choose()
        else:
            self.go_to(row)


def _thumb(bar: ScrollBar, position: float) -> int:
    """Return where the thumb begins, in the smallest steps that Textual draws, computed as Textual does."""
    height, rows, seen = bar.size.height, bar.window_virtual_size, bar.window_size
    if not height or rows <= seen:
        return 0
    share = position / (rows - seen)
    return int((height - max(1, seen / (rows / height))) * share * len(ScrollBarRender.VERTICAL_BARS))
