"""Pace: pause long work in the event loop so that keys are handled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from typing import TypeVar

STEP_SECONDS = 0.01
"""The time in seconds after which work pauses."""

Result = TypeVar("Result")


class Pace:
    """Measures how long work has run without a pause."""

    def __init__(self) -> None:
        self._begun = time.monotonic()

    async def pause(self) -> None:
        """Yield to the event loop if work has run long enough."""
        if time.monotonic() - self._begun > STEP_SECONDS:
            await asyncio.sleep(0)
            self._begun = time.monotonic()

    async def finish(self, steps: Generator[None, None, Result]) -> Result:
        """Run work in small steps and return its result."""
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: Result = end.value
                return found
            await self.pause()
