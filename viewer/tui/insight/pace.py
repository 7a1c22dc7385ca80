"""Pace of work in the event loop: it pauses for keys."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

STEP_SECONDS = 0.01
"""Work pauses after this time."""

Result = TypeVar("Result")


class Pace:
    """Knows how long work has gone on without a pause."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    async def pause(self) -> None:
        """Let waiting keys through, if it is time."""
        if time.monotonic() - self._begun > STEP_SECONDS:
            await asyncio.sleep(0)
            self._begun = time.monotonic()

    async def finish(self, steps: Generator[None, None, Result]) -> Result:
        """The result of work in small steps."""
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: Result = end.value
                return found
            await self.pause()
