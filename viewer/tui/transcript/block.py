"""Block: one row of the projection as lines of one width, with offsets into the body."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import field

from viewer.render.layout import Row
from viewer.render.markdown import Styled
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, StyleRole, trusted
from viewer.values import frozen


@frozen
class BlockLine:
    """One line: its parts, and the part of the body that it shows."""

    parts: Line
    row: Row | None = None
    """The row of the body; None for headings, rules and notes."""
    indent: int = 0
    """The number of characters before the row."""
    folds: bool = False
    """A click folds or unfolds the body."""
    link: int = 0
    """A click goes to this message."""


@frozen
class Block:
    """The lines of one row of the projection."""

    number: int
    """The message, or 0."""
    lines: Sequence[BlockLine] = field(default_factory=list)
    text: str = ""
    """The text for copies; the rows of the lines refer to it."""
    first: int = 0
    """The first line of the message, after rules and space."""
    begins_transcript: bool = False
    """True if the lines contain the boundary of a transcript."""

    @property
    def height(self) -> int:
        """The number of lines."""
        return len(self.lines)

    def line_of(self, offset: int) -> int:
        """The last line that shows text up to this offset."""
        lines = self.lines
        first = next((at for at in range(self.first, len(lines)) if lines[at].row), None)
        last = next((at for at in range(len(lines) - 1, self.first - 1, -1) if lines[at].row), None)
        if first is None or last is None:
            return self.first
        found = bisect_right(range(first, last + 1), offset, key=lambda at: row.start if (row := lines[at].row) else 0)
        return first + max(found - 1, 0)


def styled_row(row: Row, look: StyleRole, spans: Sequence[Styled]) -> list[Part]:
    """The parts of one row of a body; later spans cover earlier ones. Pass only spans that touch the row."""
    if not spans or not row.text:
        return [Part(row.text, look)]
    looks = [look] * len(row.text)
    for span in spans:
        first, last = row.column_of(max(span.start, row.start)), row.column_of(min(span.end, row.end))
        looks[first : max(last, first)] = [span.look] * max(last - first, 0)
    return list(_runs(row.text, looks))


def _runs(text: SafeText, looks: Sequence[StyleRole]) -> Iterable[Part]:
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or looks[at] is not looks[start]:
            yield Part(trusted(text[start:at]), looks[start])
            start = at


class Overlays:
    """Spans over a text, by row in order."""

    def __init__(self, *layers: Sequence[Styled]) -> None:
        self._layers = layers
        self._at = [0] * len(layers)

    def over(self, row: Row) -> list[Styled]:
        """The spans that touch this row. Ask for rows in order."""
        found: list[Styled] = []
        for number, layer in enumerate(self._layers):
            at = self._at[number]
            while at < len(layer) and layer[at].end <= row.start:
                at += 1
            self._at[number] = at
            while at < len(layer) and layer[at].start < max(row.end, row.start + 1):
                found.append(layer[at])
                at += 1
        return found
