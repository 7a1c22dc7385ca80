"""Message strip widget: one clickable cell per message around the cursor."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.strip import Strip

from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.render.style import Part, Style, trusted
from viewer.tui.bars.not_selectable import NotSelectable
from viewer.tui.panes.columns import length
from viewer.tui.panes.strip import Letter, letter_at, letters_around, strip_line
from viewer.tui.terminal.paint import Painter

_TITLE = len(" STRIP  ")
_MOST = 60
"""Cells of letters next to a title."""


class MessageStrip(NotSelectable):
    """One line: with a title at the left edge, without one at the right edge."""

    DEFAULT_CSS = "MessageStrip { height: 1; width: 1fr; }"

    class Chosen(Message):
        """Show this message."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(
        self, painter: Painter, style: Style | None = None, *, titled: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.titled = titled
        self.drawn_style = style or Style(color=True, wrapped=True)
        self._shown: tuple[Projection, Rows] | None = None
        self._focus = 0

    def show(self, projection: Projection, rows: Rows, focus: int) -> None:
        """Show the messages around this one."""
        self._shown = projection, rows
        self.focus_on(focus)

    def focus_on(self, number: int) -> None:
        """Put the brackets around another message."""
        self._focus = number
        self.refresh()

    def clear(self) -> None:
        """Forget the projection."""
        self._shown = None
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line for the present focus."""
        width = self.size.width
        line = strip_line(self._letters(width), self._focus, titled=self.titled)
        if not self.titled:
            line = (Part(trusted(" " * max(0, width - length(line) - 1))), *line)
        return self.painter.strip(line if y == 0 else (), width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Choose the message of the clicked letter."""
        width = self.size.width
        letters = self._letters(width)
        size = length(strip_line(letters, self._focus, titled=False))
        start = _TITLE if self.titled else max(0, width - size - 1)
        number = letter_at(letters, self._focus, event.x - start)
        if number is not None:
            self.post_message(self.Chosen(number))

    def _letters(self, width: int) -> list[Letter]:
        if self._shown is None or width < 4:
            return []
        projection, rows = self._shown
        room = min(_MOST, width - 46) if self.titled else width - 1
        return letters_around(projection, rows, self._focus, max(3, room), self.drawn_style)
