"""A bar of one line, drawn from parts; some parts can be clicked and then name the action they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.strip import Strip

from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.tui.bars.not_selectable import NotSelectable
from viewer.tui.terminal.paint import Painter

ROOMY = 100
"""Columns from which on the bars use whole words."""


class ActionChosen(Message):
    """The person clicked something that stands for an action."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action = action
        """The id of the action."""


class Spot(NamedTuple):
    """A part of a bar, and the action of a click on it."""

    part: Part
    action: str = ""


def spot(text: str, look: StyleRole = StyleRole.PLAIN, action: str = "") -> Spot:
    """A part with words of the program itself."""
    return Spot(Part(trusted(text), look), action)


def width_of(spots: Iterable[Spot]) -> int:
    """The cells that these parts take."""
    return sum(cells(spot.part.text) for spot in spots)


def apart(left: list[Spot], right: list[Spot], width: int) -> list[Spot]:
    """The one at the left end, the other at the right end."""
    gap = max(width - width_of(left) - width_of(right), 0)
    return [*left, spot(" " * gap), *right]


class Bar(NotSelectable):
    """One line; subclasses say which parts it has for a width."""

    DEFAULT_CSS = """
    Bar { height: 1; width: 1fr; }
    """

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.painter = painter
        self.printing = printing or Style()

    def spots(self, width: int) -> list[Spot]:
        """The parts of the bar, from the left."""
        raise NotImplementedError

    def line(self, width: int) -> Line:
        """The parts without their actions."""
        return tuple(spot.part for spot in self.spots(width))

    def paint_with(self, painter: Painter) -> None:
        """Use the colours of another theme."""
        self.painter = painter
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line in the colours of the theme."""
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        return self.painter.strip(self.line(self.size.width), self.size.width, self.rich_style)

    def on_click(self, event: events.Click) -> None:
        """A click on a part that stands for an action."""
        if action := self.action_at(event.x):
            self.post_message(ActionChosen(action))

    def action_at(self, column: int) -> str:
        """The action under this column; empty where there is none."""
        for each in self.spots(self.size.width):
            column -= cells(each.part.text)
            if column < 0:
                return each.action
        return ""
