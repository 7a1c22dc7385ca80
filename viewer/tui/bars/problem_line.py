"""Problem line: the list of problems as one line, for narrow screens."""

from __future__ import annotations

from viewer.render.style import Line
from viewer.tui.bars.bar import Bar, Spot


class ProblemLine(Bar):
    """Shows a given line; a click opens the list."""

    shown: Line = ()

    def show(self, line: Line) -> None:
        """Show another line."""
        if line != self.shown:
            self.shown = line
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The parts of the line; a click on any of them opens the list."""
        return [Spot(part, "problems") for part in self.shown]
