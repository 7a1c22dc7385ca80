"""Times of messages on a screen: the time of day, or the time since the first message that the view shows."""

from __future__ import annotations

from bisect import bisect_left
from enum import Enum

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.head import clock
from viewer.render.number_format import duration
from viewer.syntax.times import parse_time

MOST_TRIED = 1000
"""How many messages of a transcript to search for one with a time."""


class Times(Enum):
    """How the times of messages are shown."""

    OFF = "off"
    RELATIVE = "relative"
    CLOCK = "clock"

    @property
    def next(self) -> Times:
        """The mode to which the key switches after this one."""
        every = list(Times)
        return every[(every.index(self) + 1) % len(every)]


class TimeWords:
    """Formats the times of one view. Relative times count from the first shown message of the transcript, so they never
    disclose the times of hidden messages."""

    def __init__(self, projection: Projection, rows: Rows, times: Times) -> None:
        self._projection = projection
        self._rows = rows
        self.times = times
        self._starts: dict[int, int | None] = {}

    def of_message(self, row: int, time: str | None) -> str:
        """Return the time to show at a message; empty if times are off or this one is unknown."""
        return "" if self.times is Times.OFF else self.of_turn(row, time)

    def of_turn(self, row: int, time: str | None) -> str:
        """Return the time to show in the rule before a turn, even if times are off; empty if it is unknown."""
        if self.times is not Times.RELATIVE or not time:
            return clock(time)
        start = self._start(self._rows.transcript(row))
        now = parse_time(time)
        if start is None or now is None:
            return ""
        return f"{'+' if now >= start else ''}{duration(now - start)}"

    def _start(self, transcript: int) -> int | None:
        known = self._starts.get(transcript)
        if known is None:
            known = self._starts[transcript] = self._first_time(transcript)
        return known

    def _first_time(self, transcript: int) -> int | None:
        rows, projection = self._rows, self._projection
        first = bisect_left(range(len(rows)), transcript, key=rows.transcript)
        for row in range(first, min(first + MOST_TRIED, len(rows))):
            if rows.transcript(row) != transcript:
                break
            time = projection.headline(rows.value(row)).time if rows.kind(row) is RowKind.MESSAGE else None
            if time:
                return parse_time(time)
        return None
