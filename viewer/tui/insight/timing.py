"""Timing screen: a bar for each channel, and below it stalls, rates, the first visible answer, and retracted text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from viewer.insight.replay.arrivals import Arrivals
from viewer.insight.replay.bar import Bar, lanes
from viewer.insight.replay.timeline import Timeline
from viewer.insight.replay.timing import Timing, time_transcript
from viewer.model.visibility import Audience
from viewer.reading.format import ReadOptions
from viewer.render.insight.timing import rate_lines, timing_lines
from viewer.render.number_format import duration
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.sources.replay.recorded_times import read_recorded_times
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter

_LEVELS, _ASCII_LEVELS = " ▁▂▃▄▅▆▇█", " .:-=+*#@"
_SIDE = 14
"""The width of the labels on both sides of a bar."""


class TimingScreen(WorkScreen):
    """The facts that `ocmlview timing` prints, for what this view shows."""

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        name: str,
        format: str | None,
        reading: ReadOptions | None,
        audience: Audience,
        *,
        times: str = "",
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        audience = audience.of_messages
        title = f"Timing of {PurePath(name).name}"
        super().__init__(painter, printing, title, audience.level.value, actions=actions)
        self._file, self._format, self._reading, self._audience = name, format, reading, audience
        self._times = times
        self._timeline: Timeline | None = None
        self._timing: Timing | None = None

    def compute(self) -> None:
        document = self.read(self._file, self._format, self._reading, self._audience)
        recorded = read_recorded_times(self._times, document.size) if self._times else None
        timeline = Timeline(Arrivals(document, self._audience, recorded, self.check_open), self._audience)
        source = "sidecar" if self._times else "records"
        self._timing = time_transcript(document, self._audience, timeline, source, self.check_open)
        self._timeline = timeline

    def lay_out(self) -> None:
        """Show the bars and the facts."""
        if self._timing is None or self._timeline is None:
            return
        rates = rate_lines(self._timing, self.printing)
        self.show_lines([*self._bars(self._timeline), *timing_lines(self._timing, self.printing, rates)])

    def _bars(self, timeline: Timeline) -> Iterator[Line]:
        room = max(10, self.room - 2 * _SIDE)
        bar = Bar(timeline, room, shows_jumps=not self._audience.strict)
        levels = _ASCII_LEVELS if self.printing.ascii else _LEVELS
        jump = "~" if self.printing.ascii else "┄"
        for name, sizes in lanes(timeline, bar).items():
            label = cut(self.printing.name(name), _SIDE - 2, self.printing.words("…"))
            signs = [
                levels[level] if level or not cell.is_jump else jump
                for level, cell in zip(sizes, bar.cells, strict=True)
            ]
            yield (
                Part(label, StyleRole.QUIET),
                Part(trusted(" " * (_SIDE - cells(label)))),
                Part(self.printing.words("".join(signs))),
            )
        if len(timeline) and timeline.has_clock:
            last = duration(timeline.length_ms)
            yield (Part(trusted(" " * _SIDE)), Part(self.printing.words(f"0 s{last:>{room - 3}}"), StyleRole.QUIET))
        if len(timeline):
            yield ()
