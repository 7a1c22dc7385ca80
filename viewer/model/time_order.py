"""Time order: find the runs of records whose times are before an earlier record's time."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from viewer.model.messages import Span


class Placed(Protocol):
    """A value with a position in the input, such as a JSON node."""

    @property
    def start(self) -> int:
        """Where the value begins."""

    @property
    def end(self) -> int:
        """Where the value ends."""


class TimePlace(Struct, frozen=True, gc=False):
    """The span of a time in the input."""

    start: int
    end: int


class BackwardRun(Struct):
    """A run of records with times before an earlier record's time, up to the next record in order."""

    start: int
    end: int
    """Where the last time ends."""


class TimeOrder:
    """The times of one transcript. Each agent has its own order."""

    def __init__(self) -> None:
        self._newest: dict[int, int] = {}
        """The latest time by thread."""
        self._runs: dict[int, BackwardRun] = {}
        """The current run by thread."""

    def start(self) -> None:
        """Reset the order at the start of a transcript."""
        self._newest.clear()
        self._runs.clear()

    def advances(self, thread: int, time_ms: int) -> bool:
        """Record a time that follows another one in order, and return True. Return False for any other time."""
        if thread in self._runs or time_ms < self._newest.get(thread, time_ms + 1):
            return False
        self._newest[thread] = time_ms
        return True

    def backwards(self, thread: int, time_ms: int, stated: Placed) -> Span | None:
        """Return the run so far if this time extends or begins a run, otherwise None. A record with several messages
        counts once."""
        if time_ms >= self._newest.get(thread, time_ms):
            self._newest[thread] = time_ms
            self._runs.pop(thread, None)
            return None
        start, end = stated.start, stated.end
        run = self._runs.setdefault(thread, BackwardRun(start, -1))
        if run.end == end:
            return None
        run.end = end
        return run.start, end
