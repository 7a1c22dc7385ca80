"""Paint lines of safe text as strips: style roles become colors of the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cached_cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from viewer.render.style import Line, Part, StyleRole

MOST_BASES = 32
"""The maximum number of base styles with cached colors."""


class Painter:
    """Paints lines in the colors of one theme."""

    def __init__(self, styles: Mapping[StyleRole, Style]) -> None:
        self._styles = dict(styles)
        self._plain = Style()
        self.edition = 0
        """How many times the colors have changed."""
        self._over: dict[Style, dict[StyleRole, Style]] = {}
        """The colors of each style role over a base style."""

    def use(self, styles: Mapping[StyleRole, Style]) -> None:
        """Switch to the colors of another theme."""
        self._styles = dict(styles)
        self._over.clear()
        self.edition += 1

    def style(self, look: StyleRole) -> Style:
        """Return the colors of a style role."""
        return self._styles.get(look, self._plain)

    def strip(self, line: Line, width: int, base: Style | None = None) -> Strip:
        """Return the line, truncated or padded to the width."""
        return Strip(self.segments(line, width, base or self._plain), width)

    def segments(self, line: Line, width: int, base: Style) -> list[Segment]:
        """Return the segments of a line."""
        over = self._colors_over(base)
        segments = [Segment(part.text, over.get(part.look) or self._add(base, part.look)) for part in line if part.text]
        free = width - sum(cached_cell_len(segment.text) for segment in segments)
        if free > 0:
            segments.append(Segment(" " * free, base))
        return segments if free >= 0 else list(Strip(segments, width - free).adjust_cell_length(width, base))

    def segment(self, part: Part, base: Style) -> Segment:
        """Return the segment of a part."""
        return Segment(part.text, self._colors_over(base).get(part.look) or self._add(base, part.look))

    def _colors_over(self, base: Style) -> dict[StyleRole, Style]:
        known = self._over.get(base)
        if known is None:
            if len(self._over) >= MOST_BASES:
                self._over.clear()
            known = self._over[base] = {}
        return known

    def _add(self, base: Style, look: StyleRole) -> Style:
        style = self._colors_over(base)[look] = base + self.style(look)
        return style


def joined(*lines: Sequence[Part]) -> Line:
    """Join parts into one line."""
    return tuple(part for line in lines for part in line)


def forget_widths() -> None:
    """Clear Rich's caches of text widths, because they contain the drawn text."""
    cached_cell_len.cache_clear()
    Segment._split_cells.cache_clear()
