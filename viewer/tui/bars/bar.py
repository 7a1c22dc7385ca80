"""Base class of the one-line bars, drawn from parts that may run an action when clicked."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.screen import Screen

from viewer.render.style import Line, Style
from viewer.render.width import cells
from viewer.tui.bars.not_selectable import NotSelectable
from viewer.tui.bars.spots import Spot
from viewer.tui.panes.plain_lines import PlainLines
from viewer.tui.terminal.paint import Painter


class ActionChosen(Message):
    """A part with an action was clicked."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action
        """The ID of the action."""

    async def run_on(self, screen: Screen[Any]) -> None:
        """Run the action on a screen, unless an earlier click has opened another one over it."""
        if screen.is_active:
            await screen.run_action(f"do('{self.action}')")


class Bar(NotSelectable, PlainLines):
    """A one-line bar. Subclasses return its parts for a given width."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.printing = printing or Style()

    @abstractmethod
    def spots(self, width: int) -> list[Spot]:
        """Return the parts of the bar, from left to right."""

    def line(self, width: int) -> Line:
        """Return the parts without their actions."""
        return tuple(spot.part for spot in self.spots(width))

    def segments(self, y: int) -> list[Segment]:
        """Draw the line in the theme's colors."""
        width = self.line_width
        return self.painter.segments(() if y else self.line(width), width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """Run the action of the clicked part."""
        if action := self.action_at(event.x):
            self.post_message(ActionChosen(action))

    def action_at(self, column: int) -> str:
        """Return the action at a column, or an empty string."""
        for each in self.spots(self.size.width):
            column -= cells(each.part.text)
            if column < 0:
                return each.action
        return ""
