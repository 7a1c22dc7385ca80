"""Wrap lines whose characters take one cell each: break at a space, or inside a word that is too long.

This module imports little, because the first page is painted before anything else is imported."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ONE_CELL_EACH = (
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0377\u037a-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u0482\u048a-\u052f"
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u218b\u2190-\u2319\u2400-\u2426\u2460-\u25fc\u2768-\u2794\u27a1-\u27af]*"
)
"""A pattern for most Western text: each character takes one cell and never combines with a neighbor."""
_matchers: list[Callable[[str], object]] = []


def has_one_cell_each(text: str) -> bool:
    """True if each character takes exactly one cell: there is no tab, combining mark, or wide character."""
    if text.isascii():
        return text.isprintable()
    if not _matchers:
        import re  # takes 5 ms to import; an ASCII first page does not need it

        _matchers.append(re.compile(_ONE_CELL_EACH).fullmatch)
    return _matchers[0](text) is not None


def character_rows(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each row of a line that is wrapped to `width` cells. The space at which a row breaks,
    and any spaces after it, belong to no row."""
    start, size = 0, len(line)
    while size - start > width:
        end = line.rfind(" ", start + 1, start + width + 1)
        if end < 0:
            yield start, start + width
            start += width
            continue
        yield start, end
        start = end + 1
        while start < size and line[start] == " ":
            start += 1
    if start < size:
        yield start, size
