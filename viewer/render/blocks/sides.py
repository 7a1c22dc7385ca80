"""Two panes that show the same rows side by side: each row is drawn in one pane and leaves a gap in the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from viewer.document.rows import RowOrder
from viewer.render.blocks.block import Block, BlockLine
from viewer.render.style import Part


class Maker(Protocol):
    """Builds the block of any row of a view."""

    @property
    def rows(self) -> RowOrder:
        """The rows of the view."""
        ...

    @property
    def margin(self) -> Part:
        """The cells before the text of each line."""
        ...

    def make(self, row: int) -> Block:
        """Return the block of a row."""
        ...

    def drawn_row(self, row: int) -> int:
        """Return the row whose block shows this row."""
        ...


class SideMaker:
    """Builds the blocks of one of the two panes."""

    def __init__(self, own: Maker, other: Maker, is_own: Callable[[int], bool]) -> None:
        """`is_own` returns True for the rows that this pane shows."""
        self.rows = own.rows
        self._own = own
        self._other = other
        self._is_own = is_own
        self.margin = own.margin

    def make(self, row: int) -> Block:
        """Return the block of a row, or as many empty lines as its block has in the other pane."""
        shown = self.drawn_row(row)
        if self._is_own(shown):
            return self._own.make(row)
        block = self._other.make(row)
        lines = [self._empty(line) for line in block.lines]
        return replace(block, lines=lines, text="", source=None)

    def _empty(self, line: BlockLine) -> BlockLine:
        """Return the line without its text. If it had text, keep the margin for the cursor."""
        return replace(line, parts=(self.margin,) if line.parts else (), row=None, folds=False, link=0)

    def drawn_row(self, row: int) -> int:
        """Return the row whose block shows this row."""
        return self._own.drawn_row(row)
