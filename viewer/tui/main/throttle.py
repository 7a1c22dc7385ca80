"""Redraw throttle: draw immediately after a quiet period, then at a limited rate, and less often if drawing is slow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

FRAME_SECONDS = 1 / 30
"""The minimum number of seconds between redraws of growing text."""
ALL_SECONDS = 0.1
"""The minimum number of seconds between full redraws, with calls, problems, and lists."""
TEXT_ONLY_SECONDS = 0.9
"""Additional seconds before a full redraw if only message text grew."""
_FRAME_SHARE, _ALL_SHARE = 4, 12
"""The minimum time from the start of a redraw to the next one, as a multiple of its duration: for growing text, and for
a full redraw."""


class FrameLimiter:
    """Limits the rates of frames, which draw only growing text, and of full redraws."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._frame_at = self._all_at = 0.0

    @property
    def frame_is_due(self) -> bool:
        """True if growing text may be drawn now."""
        return self._clock() >= self._frame_at

    @property
    def all_is_due(self) -> bool:
        """True if a full redraw may happen now."""
        return self._clock() >= self._all_at

    @property
    def all_is_overdue(self) -> bool:
        """True if a full redraw may happen even though only text grew."""
        return self._clock() >= self._all_at + TEXT_ONLY_SECONDS

    @contextmanager
    def frame(self) -> Iterator[None]:
        """Measure a redraw of growing text."""
        start = self._clock()
        yield
        self._frame_at = start + max(FRAME_SECONDS, _FRAME_SHARE * (self._clock() - start))

    @contextmanager
    def everything(self) -> Iterator[None]:
        """Measure a full redraw."""
        start = self._clock()
        yield
        taken = self._clock() - start
        self._all_at = start + max(ALL_SECONDS, _ALL_SHARE * taken)
        self._frame_at = start + max(FRAME_SECONDS, _FRAME_SHARE * taken)

    def rest(self, *, text: bool, everything: bool) -> float:
        """Return the seconds until a pending redraw is due, or 1 if none is pending."""
        due = [at for at, waits in ((self._frame_at, text), (self._all_at, everything)) if waits]
        return max(0.0, min(due) - self._clock()) if due else 1.0
