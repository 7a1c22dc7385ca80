"""Overlay: a centered box with a heavy border and a title. It never covers the title row with the level."""

from __future__ import annotations

from typing import TypeVar

from rich.console import RenderableType
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from viewer.render.style import Style, trusted
from viewer.render.width import cells
from viewer.tui.dialogs.background import screen_below
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

Result = TypeVar("Result")
_EDGES = 6
"""The total width of the corner, stroke, and space on each side of a title."""


class Overlay(ModalScreen[Result], DismissOnce[Result]):
    """A box with a list and, with `has_head`, a fixed line above it. Subclasses fill both in `fill`."""

    MOST_WIDE = 100
    has_head = False

    DEFAULT_CSS = """
    Overlay { align: center middle; }
    Overlay > Vertical {
        height: auto; margin: 1 0 0 0;
        border: heavy $primary; border-title-color: $primary; background: $surface;
    }
    Overlay LineList {
        height: auto; max-height: 100%; background: $surface; scrollbar-size-vertical: 1; scrollbar-gutter: auto;
    }
    Overlay.-ascii > Vertical { border: ascii $primary; }
    """

    def __init__(self, painter: Painter, printing: Style | None = None) -> None:
        super().__init__()
        self.painter = painter
        self.printing = printing or Style()
        self.list = LineList(painter)
        """The list in the box. Drawing it has no effect once the screen has been closed."""
        self.head = HeadLine(painter)
        self._frame = Vertical()
        self.set_class(self.printing.ascii, "-ascii")

    def render(self) -> RenderableType:
        return screen_below(self)

    def compose(self) -> ComposeResult:
        """Yield the box."""
        with self._frame:
            if self.has_head:
                yield self.head
            yield self.list

    def on_resize(self) -> None:
        """Fit the box to the new size, and fill it again."""
        frame = self._frame
        frame.styles.width, frame.styles.max_height = self.box_width, max(self.app.size.height - 1, 3)
        self.fill(max(self.box_width - 2, 1))

    def fill(self, width: int) -> None:
        """Show the content for a width inside the border."""

    @property
    def box_width(self) -> int:
        """The width of the box with its border."""
        return min(self.MOST_WIDE, self.app.size.width)

    def caption(self, title: str, aside: str) -> None:
        """Set the title and, if there is room, the words at the right end of the same border."""
        ascii_only = self.printing.ascii
        mark, stroke = (">", "-") if ascii_only else ("▸", "━")
        words, more = trusted(f"{mark}{title}"), self.printing.words(aside)
        gap = self.box_width - _EDGES - cells(words) - cells(more) - 2
        frame = self._frame
        if aside and gap > 0:
            frame.border_title = Content.assemble((words, "bold"), f" {stroke * gap} ", (more, "$secondary"))
        else:
            frame.border_title = Content.assemble((words, "bold"))
