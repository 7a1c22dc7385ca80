"""Columns of a line: truncate and pad text to a width, or align it to the right edge."""

from __future__ import annotations

from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, trusted
from viewer.render.width import cells, cut


def fitted(text: SafeText, width: int, style: Style) -> SafeText:
    """Truncate or pad text to this width."""
    if width <= 0:
        return trusted("")
    text = cut(text, width, trusted(style.signs.ellipsis if width > 3 else ""))
    return SafeText(text + " " * max(0, width - cells(text)))


def cut_start(path: SafeText, width: int, style: Style) -> SafeText:
    """Truncate a path at its start, because its end is its name."""
    ellipsis = style.signs.ellipsis
    while path and cells(path) > max(width, 1):
        path = SafeText(ellipsis + path[len(ellipsis) + 1 :].lstrip(ellipsis))
        if len(path) <= len(ellipsis):
            break
    return path


def length(line: Line) -> int:
    """Return the width of a line in cells."""
    return sum(cells(part.text) for part in line)


def spread(left: Line, right: Line, width: int) -> Line:
    """Join two pieces, the second at the right edge. Drop the second if there is no room for both."""
    gap = width - length(left) - length(right)
    return (*left, Part(trusted(" " * gap)), *right) if gap > 0 else left


def padded(part: Part, width: int, style: Style, *, right: bool = False) -> Part:
    """Cut or pad a table cell to its width."""
    text = fitted(part.text, width, style)
    if right:
        text = SafeText(text.rstrip(" ").rjust(len(text)))
    return Part(text, part.look)
