"""Text selection: selected bodies without gutters, with wrapped lines joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from viewer.render.blocks.block import Block, BlockLine

GUTTERS = " ▌┆|:"
MOST_ROWS = 10_000
"""The maximum number of rows of a selection, so an accidental triple click never copies a gigabyte."""


def selected_text(selection: Selection, block: Callable[[int], Block], count: int, lines_a_row: int) -> str:
    """Return the selected text."""
    start = (0, 0) if selection.start is None else selection.start.transpose
    end = (count * lines_a_row, 0) if selection.end is None else selection.end.transpose
    first, last = start[0] // lines_a_row, min(end[0] // lines_a_row, count - 1)
    parts: list[str] = []
    for row in range(first, min(last, first + MOST_ROWS) + 1):
        shown = block(row)
        above = row * lines_a_row
        for at in range(max(start[0], above), min(end[0] + 1, above + shown.height)):
            left = start[1] if at == start[0] else 0
            right = end[1] if at == end[0] else None
            parts += _piece(shown, shown.lines[at - above], left, right)
    return "".join(parts).rstrip("\n")


def _piece(block: Block, line: BlockLine, left: int, right: int | None) -> Iterator[str]:
    """Yield the part of a line between two columns."""
    if line.row is None:
        text = "".join(part.text for part in line.parts)
        yield text[left:right].strip(GUTTERS) + "\n"
        return
    first = line.row.offset_of(max(0, left - line.indent))
    last = line.row.end if right is None else line.row.offset_of(max(0, right - line.indent))
    if block.source is not None:
        is_last = last >= len(block.text)
        yield block.source.between(first, last + 1 if right is None else last)
        if right is None and is_last:
            yield "\n"
        return
    yield block.text[first:last]
    if not line.row.joined or right is not None:
        yield "\n"
    elif block.text[last : last + 1] == " ":
        yield " "


def with_selection(strip: Strip, span: tuple[int, int] | None, style: Style) -> Strip:
    """Highlight the selected cells of a line. An end of -1 is the end of the line."""
    if span is None:
        return strip
    length = strip.cell_length
    start, end = min(span[0], length), length if span[1] < 0 else min(span[1], length)
    if start >= end:  # the line is shorter now
        return strip
    inside = strip.crop(start, end).apply_style(style)
    return Strip.join([strip.crop(0, start), inside, strip.crop(end, length)])
