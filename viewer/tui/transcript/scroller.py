"""Where the transcript pane stands: a row and a line in it; moved by lines, pages and rows without all heights."""

from __future__ import annotations

from collections.abc import Callable

from viewer.values import mutable


@mutable
class Scroller:
    """The first line on the screen; only blocks near it are ever measured."""

    count: Callable[[], int]
    """How many rows there are."""
    height: Callable[[int], int]
    """How many lines a row takes."""
    row: int = 0
    line: int = 0

    def move(self, lines: int, viewport: int) -> None:
        """Down by so many lines, or up by less than none."""
        if lines >= 0:
            self._down(lines)
            self.settle(viewport)
        else:
            self._up(-lines)

    def _down(self, lines: int) -> None:
        self.line += lines
        while self.row < self.count() - 1 and self.line >= (height := self.height(self.row)):
            self.line -= height
            self.row += 1

    def _up(self, lines: int) -> None:
        self.line -= lines
        while self.line < 0 and self.row > 0:
            self.row -= 1
            self.line += self.height(self.row)
        self.line = max(0, self.line)

    def settle(self, viewport: int) -> None:
        """Never beyond the place where the last line stands at the bottom."""
        last_row, last_line = self.last(viewport)
        if (self.row, self.line) > (last_row, last_line):
            self.row, self.line = last_row, last_line

    def last(self, viewport: int) -> tuple[int, int]:
        """The place from which the rest just fills the screen."""
        row, room = self.count(), viewport
        while row > 0 and room > 0:
            row -= 1
            room -= self.height(row)
        return (row, -room) if room < 0 else (row, 0)

    def at_end(self, viewport: int) -> bool:
        """Whether the last line is on the screen."""
        return (self.row, self.line) >= self.last(viewport)

    def go(self, row: int, line: int, viewport: int) -> None:
        """Put this line of a row at the top."""
        self.row, self.line = max(0, min(row, self.count() - 1)), max(0, line)
        self.settle(viewport)

    def place(self, row: int, line: int, above: int, viewport: int) -> None:
        """Put this line of a row so many lines below the top, as far as that is possible."""
        self.row, self.line = max(0, min(row, self.count() - 1)), max(0, line)
        self._up(above)
        self.settle(viewport)

    def screen_line(self, row: int, line: int, viewport: int) -> int | None:
        """Where a line of a row stands on the screen; None where it is not on it."""
        if row < self.row:
            return None
        at = -self.line
        for between in range(self.row, row):
            at += self.height(between)
            if at >= viewport:
                return None
        at += line
        return at if 0 <= at < viewport else None
