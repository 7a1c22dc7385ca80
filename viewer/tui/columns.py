"""Pieces of lines in columns: cut and filled to a width, pushed to the right edge; sizes and times in few cells."""

from __future__ import annotations

from viewer.render.lines import cells, cut
from viewer.render.safe_text import SafeText
from viewer.render.style import Line, Part, Style, own


def fitted(text: SafeText, width: int, style: Style) -> SafeText:
    """Text of exactly so many cells."""
    if width <= 0:
        return own("")
    text = cut(text, width, own(style.signs.ellipsis if width > 3 else ""))
    return SafeText(text + " " * max(0, width - cells(text)))


def length(line: Line) -> int:
    """The cells of a line."""
    return sum(cells(part.text) for part in line)


def spread(left: Line, right: Line, width: int) -> Line:
    """Two pieces, the second at the right edge; it is left out where there is no room for both."""
    gap = width - length(left) - length(right)
    return (*left, Part(own(" " * gap)), *right) if gap > 0 else left


def one_line(text: str) -> str:
    """White space of any kind as single spaces, for a preview."""
    return " ".join(text.split())


def duration(ms: int) -> str:
    """`6.3 s`, `2 min 5 s`, `1 h 5 min`."""
    seconds = abs(ms) / 1000
    sign = "-" if ms < 0 else ""
    if seconds < 59.95:
        return f"{sign}{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{sign}{minutes} min {rest} s"
    return f"{sign}{minutes // 60:,} h {minutes % 60} min"


def byte_size(count: int) -> str:
    """`164 B`, `1.2 kB`, `3.4 MB`."""
    if count < 1000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:,.1f} MB"


def counted(count: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count:,} {word}" + ("" if count == 1 else "s")
