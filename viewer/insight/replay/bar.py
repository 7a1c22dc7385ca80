"""Bar of a replay: how much text arrived when, where messages begin, and where the clock jumps."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from msgspec import Struct

from viewer.insight.replay.timeline import Timeline
from viewer.model.messages import Header

JUMP = 3
"""The width, in cells, of a pause in which hidden text arrived, no matter how long the pause was."""
_LEVELS = 8


class Cell(Struct):
    """One column of the bar."""

    size: int = 0
    """The number of bytes of text that arrived in this column of the bar."""
    level: int = 0
    """The amount of text, from 0 to 8, relative to the fullest column."""
    is_jump: bool = False
    number: int = 0
    """The first message that begins here; 0 if there is none."""


def lanes(timeline: Timeline, bar: Bar) -> dict[str, list[int]]:
    """Return for each channel how much of its text arrived in each cell of a bar, from 0 to 8."""
    index, found = timeline.arrivals.index, dict[str, list[int]]()
    for event in range(len(timeline)):
        size = timeline.totals[event] - (timeline.totals[event - 1] if event else 0)
        sizes = found.setdefault(lane_of(index[timeline.number(event)].header), [0] * len(bar.cells))
        sizes[bar.place(event)] += size
    most = max((max(sizes) for sizes in found.values()), default=0)
    return {name: [-(-size * _LEVELS // most) if most else 0 for size in sizes] for name, sizes in found.items()}


def lane_of(header: Header) -> str:
    """Return the name of a message's lane: the channel of an assistant message, otherwise the role."""
    if header.role != "assistant":
        return header.role or "unclear"
    return header.channel.value if header.channel else "unclear"


class Bar:
    """The events of a timeline, distributed over cells of equal width. The cost depends on the width, not on the number
    of events."""

    def __init__(self, timeline: Timeline, width: int, *, shows_jumps: bool) -> None:
        self._timeline = timeline
        self._jumps = timeline.jump_events if shows_jumps else array("I")
        """The events before which a pause is drawn."""
        count = len(self._jumps)
        self._jump = JUMP if timeline.has_clock and count * JUMP * 2 <= width else 0
        self._cells = max(1, width - count * self._jump)
        self._last = max(1, timeline.length_ms if timeline.has_clock else len(timeline) - 1)
        self.cells = [Cell() for _ in range(max(1, width))]
        self._fill()

    def place(self, event: int) -> int:
        """Return the index of the cell that contains an event."""
        before = bisect_right(self._jumps, event) if self._jump else 0
        return self._place(self._value(event), before)

    def _fill(self) -> None:
        if self._jump:
            for before, event in enumerate(self._jumps):
                at = self._place(self._value(event), before)
                for cell in self.cells[at : at + self._jump]:
                    cell.is_jump = True
        timeline, first = self._timeline, 0
        while first < len(timeline):
            at = self.place(first)
            after = bisect_right(range(len(timeline)), at, first, key=self.place)
            cell = self.cells[at]
            cell.size = timeline.totals[after - 1] - (timeline.totals[first - 1] if first else 0)
            cell.is_jump = False
            mark = bisect_left(timeline.marks, first)
            if mark < len(timeline.marks) and timeline.marks[mark] < after:
                cell.number = timeline.number(timeline.marks[mark])
            first = after
        most = max([cell.size for cell in self.cells], default=0)
        for cell in self.cells:
            cell.level = -(-cell.size * _LEVELS // most) if most else 0

    def _value(self, event: int) -> int:
        return self._timeline.clock[event] if self._timeline.has_clock else event

    def _place(self, value: int, jumps: int) -> int:
        return min(len(self.cells) - 1, value * (self._cells - 1) // self._last + jumps * self._jump)
