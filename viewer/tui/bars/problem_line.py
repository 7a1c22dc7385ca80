"""The list of problems as one line, where there is no room for the list."""

from __future__ import annotations

from viewer.render.style import Line
from viewer.tui.bars.bar import Bar, Spot


class ProblemLine(Bar):
    """Shows what it is given; a click opens the list."""

    shown: Line = ()

    def show(self, line: Line) -> None:
        """Say something else."""
        if line != self.shown:
            self.shown = line
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The parts of the line, each of which opens the list."""
        return [Spot(part, "problems") for part in self.shown]
