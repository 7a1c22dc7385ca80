"""Paint lines of safe text as strips: style roles become colors of the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cached_cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from viewer.render.style import Line, Part, StyleRole


class Painter:
    """Paints lines in the colors of one theme."""

    def __init__(self, styles: Mapping[StyleRole, Style]) -> None:
        self._styles = dict(styles)
        self._plain = Style()

    def use(self, styles: Mapping[StyleRole, Style]) -> None:
        """Switch to the colors of another theme."""
        self._styles = dict(styles)

    def style(self, look: StyleRole) -> Style:
        """Return the colors of a style role."""
        return self._styles.get(look, self._plain)

    def strip(self, line: Line, width: int, base: Style | None = None) -> Strip:
        """Return the line, truncated or padded to the width."""
        return Strip(self.segments(line, width, base or self._plain), width)

    def segments(self, line: Line, width: int, base: Style) -> list[Segment]:
        """Return the segments of a line."""
        segments = [Segment(part.text, base + self.style(part.look)) for part in line if part.text]
        free = width - sum(cached_cell_len(segment.text) for segment in segments)
        if free > 0:
            segments.append(Segment(" " * free, base))
        return segments if free >= 0 else list(Strip(segments, width - free).adjust_cell_length(width, base))


def joined(*lines: Sequence[Part]) -> Line:
    """Join parts into one line."""
    return tuple(part for line in lines for part in line)


def forget_widths() -> None:
    """Clear the caches of Rich for text widths, because they hold the drawn text."""
    cached_cell_len.cache_clear()
    Segment._split_cells.cache_clear()
