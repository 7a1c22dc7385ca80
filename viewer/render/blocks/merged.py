"""`MergedMaker`: the blocks of several inputs, merged, with the letter of the input before each name."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import overload

from msgspec.structs import replace

from viewer.insight.merge import MergedPlace, MergedRows
from viewer.render.blocks.block import SPACE, Block, BlockLine, Joined
from viewer.render.blocks.sides import Maker
from viewer.render.layout import MARGIN
from viewer.render.style import Part, StyleRole, trusted

LETTERS = ascii_uppercase
"""The letters of the inputs, in the order of the command line."""
GUTTER = 2
"""The number of cells that a letter needs in the margin."""


class MergedMaker:
    """Builds blocks by delegating each row to the maker of the row's own input."""

    def __init__(self, rows: MergedRows, makers: Sequence[Maker]) -> None:
        """Every maker must reserve a gutter for the letter, and all must have the same width."""
        self.rows = rows
        self._makers = makers

    @property
    def margin(self) -> Part:
        """The cells before the text of each line."""
        return self._makers[0].margin

    def make(self, row: int) -> Block:
        """Return the block of a row, with the letter of its input."""
        place = self.rows.place(row)
        block = self._makers[place.source].make(place.row)
        number = self.rows.number_of(place.source, block.number) if block.number else 0
        lines: Sequence[BlockLine] = _Lettered(block, self.margin, LETTERS[place.source])
        if self.drawn_row(row) != row:  # the card above draws it; only the blank line below it, if any, remains
            is_below = row > 0 and self.rows.place(row - 1) == MergedPlace(place.source, place.row - 1)
            lines = lines if is_below and not self._ends(row, place.source) else [SPACE] * is_below
        elif len(lines) and lines[-1].parts and self._ends(row, place.source):
            lines = Joined([lines, [SPACE]])
        return replace(block, number=number, lines=lines, bases=self._bases(place.source, block))

    def _ends(self, row: int, source: int) -> bool:
        """True if the next row comes from another input."""
        return row + 1 < len(self.rows) and self.rows.place(row + 1).source != source

    def _bases(self, source: int, block: Block) -> dict[int, int]:
        return {self.rows.number_of(source, number): base for number, base in block.bases.items()}

    def drawn_row(self, row: int) -> int:
        """Return the row whose block shows this row."""
        place = self.rows.place(row)
        drawn = self._makers[place.source].drawn_row(place.row)
        return row if drawn == place.row else self.rows.row_at(MergedPlace(place.source, drawn))


class _Lettered(Sequence[BlockLine]):
    """The lines of a block, with a letter in the margin of its rules and of its first line."""

    def __init__(self, block: Block, margin: Part, letter: str) -> None:
        self._lines = block.lines
        text = margin.text
        self._margin = margin
        self._letter = Part(trusted(f"{text[: -GUTTER - MARGIN]}{letter} {text[-MARGIN:]}"), StyleRole.STRONG)
        self._last = block.first

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> BlockLine: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[BlockLine]: ...
    def __getitem__(self, index: int | slice) -> BlockLine | Sequence[BlockLine]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        at = range(len(self))[index]
        line = self._lines[at]
        line = replace(line, link=0) if line.link else line
        if at > self._last or not line.parts or line.parts[0].text != self._margin.text:
            return line
        return replace(line, parts=(self._letter, *line.parts[1:]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]
