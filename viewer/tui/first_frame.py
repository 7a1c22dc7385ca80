"""The first frame of the app. CPU-intensive work waits for it."""

from __future__ import annotations

import asyncio
import gc


class FirstFrame:
    """Tracks whether the app has drawn its first frame."""

    def __init__(self, *, tunes_memory: bool) -> None:
        self._tunes_memory = tunes_memory
        self._is_due = False
        self._drawn = asyncio.Event()

    def expect(self) -> None:
        """Record that the app is set up: what it draws from now on reaches the terminal. Earlier frames are
        discarded."""
        self._is_due = True

    def drawn(self) -> None:
        """Start the deferred work after the first frame since `expect`. Later calls do nothing."""
        if not self._is_due or self._drawn.is_set():
            return
        self._drawn.set()
        if self._tunes_memory:
            gc.freeze()
            gc.enable()

    async def wait(self) -> None:
        """Wait until the first frame has been drawn."""
        await self._drawn.wait()
