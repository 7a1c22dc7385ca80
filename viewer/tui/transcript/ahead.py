"""Prefetch for a transcript pane: builds the blocks of the next pages in the scroll direction while idle."""

from __future__ import annotations

import asyncio
import time

from textual.widget import Widget

from viewer.tui.input_queue import is_key_on_its_way, post_call
from viewer.tui.transcript.blocks import Blocks

FIRST_PAUSE, PAUSE = 0.005, 0.002
"""The seconds to wait before the first round, so that the frame reaches the terminal, and before each later round, so
that a pending key is handled first."""
ROUND_SECONDS = 0.0015
"""The number of seconds after which a round builds no further block."""
PAGES = 3
"""How many pages to prepare: while a key is held down, building a page with much code takes longer than the key repeat
interval."""


class Ahead:
    """Builds a few blocks at a time in the pane's cache, so the pane's limit and block maker apply. The pane drops this
    cache when the audience changes, so no block of another audience can remain."""

    def __init__(self, pane: Widget, blocks: Blocks) -> None:
        self._pane = pane
        self._blocks = blocks
        self._shown = range(0)
        """The visible rows."""
        self._height = 0
        self._step = 0
        """1 if the last scroll went down, -1 if it went up."""
        self._is_waiting = False

    def drawn(self, shown: range, height: int) -> None:
        """Prepare the next pages if these visible rows differ from those that were last drawn."""
        before, self._shown, self._height = self._shown, shown, height
        if not before or (before.start, before.stop) == (shown.start, shown.stop):
            return
        self._step = 1 if (shown.start, shown.stop) > (before.start, before.stop) else -1
        if not self._is_waiting:
            self._wait(FIRST_PAUSE)

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

    def _build(self) -> None:
        """Build blocks for one round."""
        self._is_waiting = False
        if is_key_on_its_way(self._pane):
            self._wait(PAUSE)
            return
        until = time.perf_counter() + ROUND_SECONDS
        while (row := self.missing()) is not None:
            self._blocks.at(row)
            if time.perf_counter() >= until:
                self._wait(PAUSE)
                return

    def _wait(self, pause: float) -> None:
        if self.missing() is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a picture is drawn in a thread without an event loop
            return
        self._is_waiting = True
        loop.call_later(pause, post_call, self._pane, self._build)
