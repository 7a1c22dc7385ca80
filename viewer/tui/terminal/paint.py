"""Lines of safe text as strips on the screen: looks become the colors of the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cached_cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from viewer.render.style import Line, Part, StyleRole


class Painter:
    """Draws lines in the colors of one theme."""

    def __init__(self, styles: Mapping[StyleRole, Style]) -> None:
        self._styles = dict(styles)
        self._plain = Style()

    def use(self, styles: Mapping[StyleRole, Style]) -> None:
        """Draw in the colors of another theme from now on."""
        self._styles = dict(styles)

    def style(self, look: StyleRole) -> Style:
        """The colors of a look."""
        return self._styles.get(look, self._plain)

    def strip(self, line: Line, width: int, base: Style | None = None) -> Strip:
        """The line cut or filled to the width."""
        return Strip(self.segments(line, width, base or self._plain), width)

    def segments(self, line: Line, width: int, base: Style) -> list[Segment]:
        """The same as pieces of a strip."""
        segments = [Segment(part.text, base + self.style(part.look)) for part in line if part.text]
        free = width - sum(cached_cell_len(segment.text) for segment in segments)
        if free > 0:
            segments.append(Segment(" " * free, base))
        return segments if free >= 0 else list(Strip(segments, width - free).adjust_cell_length(width, base))


def joined(*lines: Sequence[Part]) -> Line:
    """Parts after one another."""
    return tuple(part for line in lines for part in line)


def forget_widths() -> None:
    """Rich remembers how wide texts are and where they were cut, and with that the texts that were drawn."""
    cached_cell_len.cache_clear()
    Segment._split_cells.cache_clear()
