"""A fake watcher without file system events or a real clock: a wait ends immediately and advances the fake clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from tests.support.source_following import Clock

Step = Callable[[], object]


class FakeWatcher:
    """Implements `Watcher`. Each wait advances the clock by its timeout and runs the next step of a script."""

    def __init__(
        self, clock: Clock | None = None, script: Iterator[object] | None = None, *, wakes: bool = True
    ) -> None:
        self.clock = clock or Clock()
        self.waits = 0
        self._script = script
        self._wakes = wakes
        """True if each wait ends with an event; False if it times out, as when polling."""

    def watch(self, path: str) -> FakeWatcher:
        """Start to watch. Pass this method as `watch=`."""
        return self

    def wait(self, timeout: float) -> bool:
        self.waits += 1
        self.clock.now += timeout
        if self._script is not None:
            next(self._script, None)
        return self._wakes

    async def wait_async(self, timeout: float) -> bool:
        woken = self.wait(timeout)
        await asyncio.sleep(0.001)
        return woken

    def close(self) -> None:
        """Do nothing."""
