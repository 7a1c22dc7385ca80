"""Prefetch for a transcript pane: builds the blocks of the next pages in the scroll direction while idle."""

from __future__ import annotations

from textual.widget import Widget

from viewer.tui.prefetch import Prefetch
from viewer.tui.transcript.blocks import Blocks

PAGES = 3
"""How many pages to prepare: while a key is held down, building a page with much code takes longer than the key repeat
interval."""


class Ahead:
    """Builds blocks in the pane's cache, so the pane's limit and block maker apply. The pane drops this cache when the
    audience changes, so no block of another audience can remain."""

    def __init__(self, pane: Widget, blocks: Blocks) -> None:
        self.prefetch = Prefetch(pane, self._build_next)
        self._blocks = blocks
        self._shown = range(0)
        """The visible rows."""
        self._height = 0
        self._step = 0
        """1 if the last scroll went down, -1 if it went up."""

    def drawn(self, shown: range, height: int) -> None:
        """Prepare the next pages if these visible rows differ from those that were last drawn."""
        before, self._shown, self._height = self._shown, shown, height
        if not before or (before.start, before.stop) == (shown.start, shown.stop):
            return
        self._step = 1 if (shown.start, shown.stop) > (before.start, before.stop) else -1
        if self.missing() is not None:
            self.prefetch.begin()

    def missing(self) -> int | None:
        """Return the nearest row on the next pages without a cached block, or None if there is none."""
        if not self._step:
            return None
        room, count = PAGES * self._height, self._blocks.count
        rows = range(self._shown.stop, count) if self._step > 0 else range(min(self._shown.start, count) - 1, -1, -1)
        for row in rows:
            known = self._blocks.known(row)
            if known is None:
                return row
            room -= known.height
            if room <= 0:
                return None
        return None

    def _build_next(self) -> bool:
        """Build the next missing block. Return False if there is none."""
        row = self.missing()
        if row is None:
            return False
        self._blocks.at(row)
        return True
