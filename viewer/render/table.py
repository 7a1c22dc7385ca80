"""Tables of plain text: words left-aligned, numbers right-aligned, the last column wrapped if necessary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viewer.render.line import cells, wrap
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted

Cell = SafeText | int | None
_GAP = 2


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[Cell]], width: int, style: Style) -> Iterator[Line]:
    """The heads in bold, then the rows."""
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = [max([len(head), *(cells(row[column]) for row in texts)]) for column, head in enumerate(heads)]
    numeric = [any(isinstance(row[column], int) for row in rows) for column in range(len(heads))]
    yield (Part(_aligned([trusted(head) for head in heads], widths, numeric), StyleRole.STRONG),)
    indent = sum(widths[:-1]) + _GAP * (len(heads) - 1)
    for row in texts:
        first, *rest = _last_column(row[-1], width - indent, style) if not numeric[-1] else [row[-1]]
        yield (Part(_aligned([*row[:-1], first], widths, numeric)),)
        for more in rest:
            yield (Part(SafeText(" " * indent + more)),)


def _last_column(text: SafeText, width: int, style: Style) -> list[SafeText]:
    return list(wrap(text, max(width, 20))) if style.wrapped else [text]


def _aligned(row: Sequence[SafeText], widths: Sequence[int], numeric: Sequence[bool]) -> SafeText:
    padded = [
        " " * (width - cells(text)) + text if right else text + " " * (width - cells(text))
        for text, width, right in zip(row, widths, numeric, strict=True)
    ]
    return SafeText((" " * _GAP).join(padded).rstrip(" "))


def _text(cell: Cell) -> SafeText:
    if cell is None:
        return trusted("")
    return trusted(f"{cell:,}") if isinstance(cell, int) else cell
