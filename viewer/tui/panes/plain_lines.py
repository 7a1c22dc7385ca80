"""Base widget for plain lines: no border, padding, or effects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Whole(Strip):
    """A line that is drawn unchanged.

    Textual's strip caches its divisions. An undivided strip caches itself, a reference cycle that stays in memory until
    the next garbage collection."""

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the strip itself, or let Textual divide it."""
        chosen = list(cuts)
        return [self] if chosen == [self.cell_length] else super().divide(chosen)


class PlainLines(Widget):
    """Draws its own lines, bypassing Textual's style cache for borders and effects: it takes twice as long, and no line
    is drawn twice."""

    line_width = 0
    """The width of the lines being drawn, kept because reading a widget's size is slow."""

    @abstractmethod
    def segments(self, y: int) -> list[Segment]:
        """Return one screen line of that width."""

    def render_line(self, y: int) -> Strip:
        """Draw a single line."""
        self.line_width = self.size.width
        return Whole(self.segments(y), self.line_width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines of a region."""
        if self.styles.gutter:
            return super().render_lines(crop)
        self.line_width = self.size.width
        width, filters = self.region.width, self.get_line_filters()
        background = self.background_colors[1]
        strips: list[Strip] = []
        height = self.size.height
        for y in crop.line_range:  # during a resize, Textual may request lines that do not exist
            segments = self.segments(y) if y < height else [Segment(" " * self.line_width, self.rich_style)]
            for each in filters:
                segments = each.apply(segments, background)
            strips.append(Whole(segments, width))
        start, end = crop.column_span
        return strips if (start, end) == (0, width) else [strip.crop(start, end) for strip in strips]
