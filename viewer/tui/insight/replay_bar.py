"""Bar of the replay screen: two lines with the amount of text over time, the beginnings of messages, and the moment."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.insight.replay.bar import Bar
from viewer.insight.replay.timeline import Timeline
from viewer.render.number_format import duration
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted

_LEVELS, _ASCII_LEVELS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
_LETTERS = {"user": "U", "assistant": "A", "tool": "T", "system": "S", "developer": "D"}
_SIDE = 12
"""The width of the labels on both sides of the bar."""


class ReplayBar:
    """The events of a timeline on two lines of any width."""

    def __init__(self, timeline: Timeline, printing: Style, *, shows_jumps: bool) -> None:
        self._timeline = timeline
        self._printing = printing
        self._shows_jumps = shows_jumps
        self._bar: Bar | None = None

    def lines(self, width: int, event: int) -> list[Line]:
        """Return the bar with an event marked."""
        timeline = self._timeline
        room = max(10, width - 2 * _SIDE)
        if self._bar is None or len(self._bar.cells) != room:
            self._bar = Bar(timeline, room, shows_jumps=self._shows_jumps)
        bar = self._bar
        here = bar.place(event)
        levels = _ASCII_LEVELS if self._printing.ascii else _LEVELS
        jump, cursor = ("~", "|") if self._printing.ascii else ("┄", "▏")
        signs = [jump if cell.is_jump else levels[cell.level] for cell in bar.cells]
        letters = [self._letter(cell.number) for cell in bar.cells]
        why = "" if timeline.has_times else "no times:"
        first, last = ("0 s", duration(timeline.length_ms)) if timeline.has_clock else (why, f"{len(timeline):,}")
        return [
            self._around(first, [*signs[:here], cursor, *signs[here + 1 :]], last, here),
            self._around("" if timeline.has_clock else "by event", letters, "", here),
        ]

    def _around(self, left: str, cells: Sequence[str], right: str, here: int) -> Line:
        text = self._printing.words("".join(cells))
        return (
            Part(trusted(f"{left:>{_SIDE - 1}} "), StyleRole.QUIET),
            Part(trusted(text[:here])),
            Part(trusted(text[here : here + 1]), StyleRole.STRONG),
            Part(trusted(text[here + 1 :])),
            Part(self._printing.spell(sanitize_line(f" {right}")), StyleRole.QUIET),
        )

    def _letter(self, number: int) -> str:
        """Return the letter for the role of the message that begins in a cell: `?` for an unknown role, or a space if
        no message begins there."""
        return _LETTERS.get(self._timeline.arrivals.index.role(number), "?") if number else " "
