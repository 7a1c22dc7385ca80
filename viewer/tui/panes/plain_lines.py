"""Widgets that are nothing but lines: no border, no padding, no effects."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Whole(Strip):
    """A line that is drawn as it is. Textual's strip remembers how it was cut; one that was not cut at all remembers
    itself, and so its memory would not come back before the collector has found out."""

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Itself, or as Textual cuts it."""
        chosen = list(cuts)
        return [self] if chosen == [self.cell_length] else super().divide(chosen)


class PlainLines(Widget):
    """Draws its lines itself. Textual's way through its cache of styles, which is made for borders and effects, takes
    twice as long, and a page has no line that was drawn before."""

    line_width = 0
    """How wide the lines are that are being drawn: a widget's size is slow to find."""

    @abstractmethod
    def segments(self, y: int) -> list[Segment]:
        """One screen line of that width."""

    def render_line(self, y: int) -> Strip:
        """The same, for whoever asks for one line."""
        self.line_width = self.size.width
        return Whole(self.segments(y), self.line_width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in a region."""
        if self.styles.gutter:
            return super().render_lines(crop)
        self.line_width = self.size.width
        width, filters = self.region.width, self.get_line_filters()
        background = self.background_colors[1]
        strips: list[Strip] = []
        height = self.size.height
        for y in crop.line_range:  # while sizes change, more may be asked for than there is
            segments = self.segments(y) if y < height else [Segment(" " * self.line_width, self.rich_style)]
            for each in filters:
                segments = each.apply(segments, background)
            strips.append(Whole(segments, width))
        start, end = crop.column_span
        return strips if (start, end) == (0, width) else [strip.crop(start, end) for strip in strips]
