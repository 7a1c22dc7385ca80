"""Viewport of the transcript: its size, column, and scroll position, which is a row and a line in that row.
The heights of most rows stay unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual.geometry import Size
from textual.widget import Widget

from viewer.render.layout import Row
from viewer.render.width import cells


class Scroller:
    """The scroll position. Only blocks near it are measured. `viewport` is the number of visible lines."""

    def __init__(self, count: Callable[[], int], height: Callable[[int], int]) -> None:
        """`count` returns the number of rows, `height` the number of lines of a row."""
        self.row = 0
        self.line = 0
        self.moves = 0
        """How many times the position has been set. Scrolling back from empty space, or to the same text after it was
        laid out again, does not count."""
        self._count = count
        self._height = height

    def move(self, lines: int, viewport: int) -> None:
        """Scroll down by lines, or up if negative."""
        self.moves += 1
        if lines >= 0:
            self._down(lines)
            self.settle(viewport)
        else:
            self._up(-lines)

    def _down(self, lines: int) -> None:
        self.line += lines
        while self.row < self._count() - 1 and self.line >= (height := self._height(self.row)):
            self.line -= height
            self.row += 1

    def _up(self, lines: int) -> None:
        self.line -= lines
        while self.line < 0 and self.row > 0:
            self.row -= 1
            self.line += self._height(self.row)
        self.line = max(0, self.line)

    def settle(self, viewport: int) -> None:
        """Scroll back if the row at the top ends before the position, or if there is empty space below the last
        line."""
        if self.row < self._count():
            self.line = min(self.line, max(0, self._height(self.row) - 1))
        if self._has_below(viewport):
            return
        last = self.last(viewport)
        if (self.row, self.line) > last:
            self.row, self.line = last

    def last(self, viewport: int) -> tuple[int, int]:
        """Return the position from which the remaining lines exactly fill the screen."""
        row, room = self._count(), viewport
        while row > 0 and room > 0:
            row -= 1
            room -= self._height(row)
        return (row, -room) if room < 0 else (row, 0)

    def at_end(self, viewport: int) -> bool:
        """True if the last line is on the screen."""
        return not self._has_below(viewport + 1) and (self.row, self.line) >= self.last(viewport)

    def _has_below(self, lines: int) -> bool:
        """True if at least this number of lines begin here. Far from the end, the last rows need not be measured."""
        room = lines + self.line
        for row in range(self.row, self._count()):
            room -= self._height(row)
            if room <= 0:
                return True
        return False

    def reset(self) -> None:
        """Go to the first line."""
        self.moves += 1
        self.row = self.line = 0

    def go_to_end(self, viewport: int) -> None:
        """Show the last line."""
        self.moves += 1
        self.row, self.line = self.last(viewport)

    def place(self, row: int, line: int, above: int, viewport: int) -> None:
        """Put this line of a row `above` lines below the top, or as close to that as possible."""
        self.moves += 1
        self.place_again(row, line, above, viewport)

    def place_again(self, row: int, line: int, above: int, viewport: int) -> None:
        """Like `place`, for a line that was there before the text was laid out again. This is no move."""
        self.row, self.line = max(0, min(row, self._count() - 1)), max(0, line)
        self._up(above)
        self.settle(viewport)

    def fitting_line(self, row: int, first: int, height: int, viewport: int) -> int | None:
        """Return the screen line to which line `first` of a row must move so that it and the lines after it, `height`
        in total, become visible; None if all of them are already visible."""
        line = self.screen_line(row, first, viewport)
        if line is None:
            return max(0, min(viewport // 4, viewport - height))
        if line + height <= viewport:
            return None
        return viewport - height if height < viewport else min(line, viewport // 4)

    def screen_line(self, row: int, line: int, viewport: int) -> int | None:
        """Return where a line of a row is on the screen, or None if it is off the screen."""
        if row < self.row:
            return None
        at = -self.line
        for between in range(self.row, row):
            at += self._height(between)
            if at >= viewport:
                return None
        at += line
        return at if 0 <= at < viewport else None


class Sideways:
    """Sideways scrolling of unwrapped lines."""

    def __init__(self) -> None:
        self.left = 0
        """The number of columns by which bodies are scrolled to the left."""

    def move(self, step: int | None, rows: Iterable[Row], width: int) -> bool:
        """Scroll by columns, at most to the end of the longest row; None returns to the first column. Return True if
        that changes anything."""
        longest = max((cells(row.text) for row in rows), default=0)
        before, self.left = self.left, max(0, min(self.left + step, longest - width // 2)) if step is not None else 0
        return self.left != before

    def show(self, row: Row, place: int, width: int) -> bool:
        """Scroll to a character of a row. Return True if that changes anything."""
        if not (self.left or len(row.text) > width):
            return False
        column = row.column_of(place)
        if self.left <= column < self.left + width * 3 // 4:
            return False
        self.left = max(0, column - width // 2)
        return True


class Area:
    """The size for which blocks are built.

    Textual lays out panes only before the next frame. If the upcoming size is used, blocks and the scroll position are
    computed only once, and the first frame after a switch needs no correction."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._coming: Size | None = None

    @property
    def size(self) -> Size:
        """The size of the pane after the next layout."""
        return self._pane.size if self._coming is None else self._coming

    @property
    def is_changing(self) -> bool:
        """True if the next layout changes the size."""
        return self._coming is not None and self._coming != self._pane.size

    def expect(self, size: tuple[int, int] | None) -> None:
        """Set the width and height that the pane gets in the next layout; None means its current size."""
        self._coming = None if size is None else Size(*size)
