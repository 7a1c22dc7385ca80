"""Base widgets that draw cheaply: plain lines without border or effects, and containers whose lines are all alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from rich.segment import Segment
from textual.color import Color
from textual.containers import Horizontal
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget


class _NoCache:
    """Replaces the caches of a strip that is drawn once."""

    def get(self, key: object) -> None:
        """Return nothing, because nothing is kept."""

    def __setitem__(self, key: object, value: object) -> None:
        """Keep nothing."""


_NO_CACHE: Any = _NoCache()


class Whole(Strip):
    """A line that is drawn once, and in most cases undivided.

    Textual's strip has seven caches, which take longer to create than the line. An undivided strip caches itself, a
    reference cycle that stays in memory until the next garbage collection."""

    __slots__ = ()

    def __init__(self, segments: list[Segment], cell_length: int) -> None:
        self._segments = segments
        self._cell_length = cell_length
        self._divide_cache = self._crop_cache = self._style_cache = self._filter_cache = _NO_CACHE
        self._line_length_cache = self._crop_extend_cache = self._offsets_cache = _NO_CACHE
        self._render_cache = self._link_ids = self._cell_count = None

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the parts between the cuts, or the strip itself if its end is the only cut."""
        length = self.cell_length
        chosen = [cut for cut in cuts if cut <= length]
        if chosen == [length]:
            return [self]
        starts = [0, *chosen]
        parts = zip(Segment.divide(self._segments, chosen), starts, chosen, strict=False)
        return [Whole(list(segments), end - start) for segments, start, end in parts]


class PlainLines(Widget):
    """Draws its own lines, bypassing Textual's style cache for borders and effects: the cache doubles the time, and no
    line is drawn twice."""

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """The size of the content, which equals the size of the widget. Textual lays the screen out again whenever it
    changes."""
    line_width = 0
    """The width of the lines being drawn, kept because reading a widget's size is slow."""

    @abstractmethod
    def segments(self, y: int) -> list[Segment]:
        """Return one screen line, `line_width` cells wide."""

    def render_line(self, y: int) -> Strip:
        """Draw a single line."""
        self.line_width = self.size.width
        return Whole(self.segments(y), self.line_width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the lines of a region."""
        if self.styles.gutter:
            return super().render_lines(crop)
        self.line_width = self.size.width
        filters, background, height = self.get_line_filters(), self.background_colors[1], self.size.height
        strips = [self.strip(y, height, filters, background) for y in crop.line_range]
        start, end = crop.column_span
        return strips if (start, end) == (0, self.region.width) else [strip.crop(start, end) for strip in strips]

    def strip(self, y: int, height: int, filters: Sequence[LineFilter], background: Color) -> Strip:
        """Draw one line as the terminal shows it. During a resize, Textual may request lines that do not exist."""
        segments = self.segments(y) if y < height else [Segment(" " * self.line_width, self.rich_style)]
        for each in filters:
            segments = each.apply(segments, background)
        return Whole(segments, self.line_width)


class EvenLines(Widget):
    """A container with lines that are all alike, except the top and bottom border, so a single line is drawn for all of
    them.
    Its children cover nearly all of it, yet Textual would draw and crop each of its lines."""

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """The size of the content, which equals the size of the container. It never scrolls, so its size never changes the
    layout of its children again."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw the borders and one line between them."""
        (x, top, width, _), bottom = crop, crop.bottom
        inner = range(max(top, 1), min(bottom, self.region.height - 1))
        if len(inner) < 2:
            return super().render_lines(crop)
        line = super().render_lines(Region(x, 1, width, 1)) * len(inner)
        above = super().render_lines(Region(x, top, width, inner.start - top)) if top < inner.start else []
        below = super().render_lines(Region(x, inner.stop, width, bottom - inner.stop)) if inner.stop < bottom else []
        return [*above, *line, *below]


class Columns(Horizontal, EvenLines):
    """A row of panes."""
