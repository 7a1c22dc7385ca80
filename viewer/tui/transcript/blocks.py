"""Blocks of a transcript pane: builds blocks when they are needed, and caches them."""

from __future__ import annotations

from collections import OrderedDict

from viewer.document.rows import RowKind
from viewer.render.blocks.block import Block
from viewer.render.blocks.sides import Maker

KEPT_BLOCKS = 300

VisibleLine = tuple[int, int, Block]
"""A line on the screen: its row, its line in the row, and the row's block."""


class Blocks:
    """Owns the block maker and the cached blocks."""

    def __init__(self) -> None:
        self.maker: Maker | None = None
        self._made: OrderedDict[int, Block] = OrderedDict()
        self._had_one_transcript = True

    # Lookup.

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.maker.rows) if self.maker else 0

    def at(self, row: int) -> Block:
        """Return the block of a row, from the cache if possible."""
        known = self._made.get(row)
        if known is None:
            assert self.maker is not None
            known = self._made[row] = self.maker.make(row)
            if len(self._made) > KEPT_BLOCKS:
                self._made.popitem(last=False)
        return known

    def known(self, row: int) -> Block | None:
        """Return the block of a row if it is cached, or None."""
        return self._made.get(row)

    def lines_from(self, row: int, line: int, height: int) -> list[VisibleLine]:
        """Return the lines of one screen, starting at a line of a row."""
        lines: list[VisibleLine] = []
        while len(lines) < height and row < self.count:
            block = self.at(row)
            end = min(block.height, line + height - len(lines))
            lines += [(row, each, block) for each in range(line, end)]
            row, line = row + 1, 0
        return lines[:height]

    def row_showing(self, number: int) -> int | None:
        """Return the row of a message, or None if this pane does not show it."""
        if self.maker is None or not self.count:
            return None
        rows = self.maker.rows
        row = rows.row_of(number)
        return row if rows.kind(row) is RowKind.MESSAGE and rows.value(row) == number else None

    # Changes.

    def show(self, maker: Maker | None) -> None:
        """Switch to another block maker and drop all blocks."""
        self.maker = maker
        self._made.clear()

    def forget(self) -> None:
        """Drop all blocks so that they are rebuilt."""
        self._made.clear()

    def forget_from(self, row: int) -> None:
        """Drop the blocks from this row on so that they are rebuilt."""
        stale = [known for known, block in self._made.items() if known >= row or block.begins_transcript]
        if len(stale) < len(self._made) and self._had_one_transcript and self._has_several:
            stale = [*self._made]  # now the first transcript has a boundary too
        self._had_one_transcript = not self._has_several
        for known in stale:
            del self._made[known]

    def forget_message(self, number: int) -> bool:
        """Drop the block of a message so that it is rebuilt. Return False if this pane does not show the message."""
        row = self.row_showing(number)
        if row is None or self.maker is None:
            return False
        for each in (row, self.maker.drawn_row(row)):
            self._made.pop(each, None)
        return True

    @property
    def _has_several(self) -> bool:
        return self.maker is not None and len(self.maker.rows.shown_transcripts) > 1
