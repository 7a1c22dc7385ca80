"""When what has grown is drawn: the first time after quiet at once, then by frames, and never for long at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FRAME = 1 / 30
LOOK = 0.1
"""Seconds between two drawings of everything: calls, problems, lists."""
OLD = 0.9
"""So much longer everything is left as it is where only the text of a message grows."""
_FRAME_SHARE, _LOOK_SHARE = 4, 12
"""A drawing that takes long waits so many times as long before it is done again."""


class FrameLimiter:
    """Two rhythms: frames, in which text grows, and looks, in which everything is drawn."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._frame_at = self._look_at = 0.0

    @property
    def frame_is_due(self) -> bool:
        """Whether text that grew may be drawn now."""
        return self._clock() >= self._frame_at

    @property
    def look_is_due(self) -> bool:
        """Whether everything may be drawn now."""
        return self._clock() >= self._look_at

    @property
    def look_is_old(self) -> bool:
        """Whether everything may be drawn, although nothing but text has grown."""
        return self._clock() >= self._look_at + OLD

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Text is drawn inside."""
        start = self._clock()
        yield
        self._frame_at = start + max(FRAME, _FRAME_SHARE * (self._clock() - start))

    @contextmanager
    def look(self) -> Iterator[None]:
        """Everything is drawn inside."""
        start = self._clock()
        yield
        taken = self._clock() - start
        self._look_at = start + max(LOOK, _LOOK_SHARE * taken)
        self._frame_at = start + max(FRAME, _FRAME_SHARE * taken)

    def rest(self, *, grew: bool, changed: bool) -> float:
        """Seconds until something that waits may be drawn; a second where nothing waits."""
        due = [at for at, waits in ((self._frame_at, grew), (self._look_at, changed)) if waits]
        return max(0.0, min(due) - self._clock()) if due else 1.0
