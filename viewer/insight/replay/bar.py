"""Bar of a replay: how much text arrived when, where messages begin, and where the clock jumps."""

from __future__ import annotations

from msgspec import Struct

from viewer.insight.replay.timeline import Timeline

JUMP = 3
"""The width, in cells, of a pause in which hidden text arrived, however long it was."""
_LEVELS = 8


class Cell(Struct):
    """One column of the bar."""

    size: int = 0
    """The bytes of text that arrived here."""
    level: int = 0
    """The amount from 0 to 8, relative to the fullest cell."""
    is_jump: bool = False
    number: int = 0
    """The first message that begins here; 0 for none."""


class Bar:
    """The events of a timeline on cells of equal width."""

    def __init__(self, timeline: Timeline, width: int, *, shows_jumps: bool) -> None:
        self._timeline = timeline
        jumps = sum(timeline.jumps) if shows_jumps else 0
        self._jump = JUMP if timeline.has_clock and jumps * JUMP * 2 <= width else 0
        self._cells = max(1, width - jumps * self._jump)
        self.places: list[int] = []
        """The cell of each event."""
        self.cells = [Cell() for _ in range(max(1, width))]
        self._fill(shows_jumps)

    def _fill(self, shows_jumps: bool) -> None:
        timeline, before, jumps = self._timeline, 0, 0
        last = max(1, timeline.length_ms if timeline.has_clock else len(timeline) - 1)
        for event in range(len(timeline)):
            if shows_jumps and self._jump and timeline.jumps[event]:
                at = self._place(timeline.clock[event], last, jumps)
                for cell in self.cells[at : at + self._jump]:
                    cell.is_jump = True
                jumps += 1
            at = self._place(timeline.clock[event] if timeline.has_clock else event, last, jumps)
            self.places.append(at)
            cell = self.cells[at]
            cell.size += timeline.arrivals.sizes[timeline.rows[event]]
            cell.is_jump = False
            if timeline.number(event) != before:
                cell.number = cell.number or timeline.number(event)
            before = timeline.number(event)
        most = max([cell.size for cell in self.cells], default=0)
        for cell in self.cells:
            cell.level = -(-cell.size * _LEVELS // most) if most else 0

    def _place(self, value: int, last: int, jumps: int) -> int:
        return min(len(self.cells) - 1, value * (self._cells - 1) // last + jumps * self._jump)
