"""Frames of the app: CPU-intensive work waits for the first one, and garbage is collected between the others."""

from __future__ import annotations

import asyncio
import gc

from viewer.tui.input_queue import InputQueue

COLLECTOR = (5000, 5, 1000)
"""Garbage collector thresholds. Garbage is collected while the app is idle after each frame, so a collection during a
frame, which would delay it by milliseconds, is rare. The collector never traverses the objects of a document: they are
frozen once the document has been read."""
PAUSE = 0.003
"""The seconds after a frame before garbage is collected."""
LONGEST = 0.002
"""The seconds that a collection of recent objects may take. It does not begin if a key is expected earlier."""


class Frames:
    """Tracks whether the app has drawn its first frame, and collects garbage after each later one."""

    def __init__(self, queue: InputQueue, *, tunes_memory: bool) -> None:
        self._queue = queue
        self._tunes_memory = tunes_memory
        self._is_due = False
        self._drawn = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def expect(self) -> None:
        """Record that the app is set up: what it draws from now on reaches the terminal. Earlier frames are
        discarded."""
        self._is_due = True

    def drawn(self) -> None:
        """Start the deferred work after the first frame since `expect`. Collect garbage after later ones."""
        self._queue.frame_drawn()
        if not self._is_due:
            return
        if self._drawn.is_set():
            if self._tunes_memory:
                self._collect_later()
            return
        self._drawn.set()
        if self._tunes_memory:
            gc.freeze()
            gc.enable()

    async def wait(self) -> None:
        """Wait until the first frame is drawn."""
        await self._drawn.wait()

    def _collect_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(PAUSE, self._collect)

    def _collect(self) -> None:
        """Collect recent objects. All objects, which take longer, are left to the thresholds."""
        self._timer = None
        if self._queue.is_idle(LONGEST):
            gc.collect(1)
        else:
            self._collect_later()
