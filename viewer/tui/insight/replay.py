"""Replay screen: the end of the conversation as it was at any moment, a bar of all events, and a clock that plays
them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import ClassVar

from msgspec.structs import replace
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from viewer.errors import ViewerError
from viewer.formats import FORMATS
from viewer.insight.replay.arrivals import Arrivals
from viewer.insight.replay.player import Player, go_to, go_to_event
from viewer.insight.replay.timeline import FASTEST, SLOWEST, At, ReplayRequest, Timeline
from viewer.model.visibility import Audience
from viewer.reading.format import ReadOptions
from viewer.render.conversation import styled_end
from viewer.render.number_format import duration
from viewer.render.style import Line, Style, trusted
from viewer.sources.replay.recorded_times import read_recorded_times
from viewer.tui.insight.replay_bar import ReplayBar
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.terminal.paint import Painter

JUMP_MS = 5000
_FRAME = 0.05


class ReplayScreen(WorkScreen):
    """Replay screen. Space plays and pauses; `.` and `,` go to the next and previous event; `@` returns to the
    transcript."""

    DEFAULT_CSS = """
    ReplayScreen > #replay-bar { height: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", show=False),
        Binding("full_stop", "event(1)", show=False),
        Binding("comma", "event(-1)", show=False),
        Binding("right", "jump(1)", show=False),
        Binding("left", "jump(-1)", show=False),
        Binding("greater_than_sign", "speed(1)", show=False),
        Binding("less_than_sign", "speed(-1)", show=False),
        Binding("right_square_bracket", "mark(1)", show=False),
        Binding("left_square_bracket", "mark(-1)", show=False),
        Binding("i", "toggle_idle_limit", show=False),
        Binding("enter", "go", show=False),
        *(Binding(str(tenth), f"tenth({tenth})", show=False) for tenth in range(10)),
    ]
    KEYS: ClassVar[Sequence[tuple[str, str]]] = (
        ("space", "Play"),
        (", .", "Event"),
        ("← →", "5 s"),
        ("< >", "Speed"),
        ("[ ]", "Mark"),
        ("@", "Now"),
    )

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        name: str,
        format: str | None,
        reading: ReadOptions | None,
        audience: Audience,
        clock: Callable[[], float] = time.monotonic,
        *,
        request: ReplayRequest | None = None,
        renders: bool = True,
        is_first: bool = False,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        """With `renders`, Markdown is rendered. With `is_first`, the command line asked for this moment: if it cannot
        be shown, the app ends."""
        audience = audience.of_messages
        title = PurePath(name).name
        super().__init__(painter, printing, title, audience.level.value, actions=actions, opener="replay")
        self._file, self._format, self._reading, self._audience = name, format, reading, audience
        self._renders = renders
        self._clock = clock
        self._timeline: Timeline | None = None
        self._player: Player | None = None
        self.bar_line = HeadLine(painter, id="replay-bar")
        self._bar: ReplayBar | None = None
        self._event = -1
        """The last event on the screen."""
        self._wanted = -1
        self._is_seeking = False
        self._is_outgrown = False
        """True if not enough has been read to fill the screen."""
        self._request = request or ReplayRequest()
        self._is_first = is_first
        self._is_past_end = False
        """True if the requested moment is past the end, until the operator goes to another moment."""
        self._speed = self._request.speed
        self._limits_idle = True
        self._timer: Timer | None = None
        self._ticked_at = 0.0
        self._waited_ms = 0.0
        """How many milliseconds of the pause before the next event have been played."""

    def compose(self) -> ComposeResult:
        """Yield a title, the conversation, the bar, and the keys."""
        yield from (self.heading, self.listing, self.bar_line, self.bottom)

    def on_mount(self) -> None:
        """Show the bar. The base class reads the input."""
        self.bar_line.show(self._bar_lines)

    def compute(self) -> None:
        document = self.read(self._file, self._format, self._reading, self._audience)
        times = self._request.times
        recorded = read_recorded_times(times, document.size) if times else None
        timeline = Timeline(Arrivals(document, self._audience, recorded, self.check_open), self._audience)
        player = Player(document, self._audience, size=(self.app.size.width, self.app.size.height))
        last = len(timeline)
        at = At(event=min(1, last)) if self._request.plays else self._request.at or At(event=last)
        moment = go_to(player, timeline, at)
        self._event = self._wanted = moment.event - 1
        self._is_past_end = moment.is_past_end
        self._timeline, self._player = timeline, player

    def draw(self) -> None:
        """Draw the screen, and start playing if that was requested."""
        super().draw()
        if self._request.plays and not self.status:
            self._request = replace(self._request, plays=False)
            self.action_play()

    def report_failure(self, error: ViewerError) -> None:
        """Report why there is nothing to show. If the command line requested the replay, end the app with the
        reason."""
        super().report_failure(error)
        if self._is_first:
            self.app.exit(2, message=trusted(f"ocmlview: {error}"))

    def on_resize(self) -> None:
        """Lay out the lines and read more for a larger screen."""
        super().on_resize()
        if self._player is not None and self._player.fit((self.app.size.width, self.app.size.height)):
            self._is_outgrown = True
            self._seek(self._wanted)

    def lay_out(self) -> None:
        """Show the end of the conversation as it was at this moment."""
        if self._player is None or self._timeline is None:
            return
        height = max(1, self.listing.size.height)
        width = max(20, self.listing.size.width - 1)
        shown, skipped = self._player.view(), self._player.skipped
        lines = list(styled_end(shown, width, self.printing, 2 * height, skipped, renders=self._renders))
        self.show_lines(lines, len(lines) - 1)
        self.heading.refresh()
        self.bar_line.refresh()

    def summary(self) -> str:
        return "This is the end." if self._is_past_end else ""

    @property
    def is_working(self) -> bool:
        """True while a background task computes the replay, or reads the input up to the requested event."""
        return super().is_working or self._is_behind

    @property
    def _is_behind(self) -> bool:
        return self._event != self._wanted or self._is_outgrown

    @property
    def is_playing(self) -> bool:
        """True while the clock is running."""
        return self._timer is not None

    def action_play(self) -> None:
        """Play or pause; at the end, play from the beginning."""
        if self._timer is not None:
            self._stop()
        elif self._timeline is not None:
            if self._event >= len(self._timeline) - 1:
                self._seek(0)
            self._ticked_at, self._waited_ms = self._clock(), 0.0
            self._timer = self.set_interval(_FRAME, self._tick)
        self._refresh_title()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._refresh_title()

    def _tick(self) -> None:
        """Go to the event that is due; events between two frames are shown together."""
        assert self._timeline is not None
        now = self._clock()
        self._waited_ms += (now - self._ticked_at) * 1000 * self._speed
        self._ticked_at = now
        event, last = self._wanted, len(self._timeline) - 1
        while event < last and self._waited_ms >= (pause := self._pause_after(event)):
            self._waited_ms -= pause
            event += 1
        if event != self._wanted:
            self._seek(event)
        if event >= last:
            self._stop()

    def _pause_after(self, event: int) -> int:
        assert self._timeline is not None
        pause = self._timeline.pause_after(max(0, event))
        return min(pause, self._request.idle_limit_ms) if self._limits_idle else pause

    def action_event(self, step: int) -> None:
        """Go this many events forward or back."""
        self._move_to(self._wanted + step)

    def action_jump(self, step: int) -> None:
        """Go five seconds forward or back; without times, ten events."""
        timeline = self._timeline
        if timeline is None or not len(timeline):
            return
        if not timeline.has_clock:
            self._move_to(self._wanted + 10 * step)
            return
        ms = timeline.clock[max(0, self._wanted)] + step * JUMP_MS
        event = timeline.event_at_ms(max(0, ms))
        self._move_to(max(event, self._wanted + 1) if step > 0 else min(event, self._wanted - 1))

    def action_tenth(self, tenth: int) -> None:
        """Go to a position in tenths of the whole length."""
        timeline = self._timeline
        if timeline is None or not len(timeline):
            return
        by_event = (len(timeline) - 1) * tenth // 10
        self._move_to(timeline.event_at_ms(timeline.length_ms * tenth // 10) if timeline.has_clock else by_event)

    def action_mark(self, step: int) -> None:
        """Go to the beginning of the next or previous message."""
        if self._timeline is None:
            return
        event = self._wanted + step
        while 0 < event < len(self._timeline) and self._timeline.number(event) == self._timeline.number(event - 1):
            event += step
        self._move_to(event)

    def action_speed(self, step: int) -> None:
        """Play at double or half the speed."""
        self._speed = max(SLOWEST, min(self._speed * 2.0**step, FASTEST))
        self._refresh_title()

    def action_toggle_idle_limit(self) -> None:
        """Shorten long pauses, or play them in full."""
        self._limits_idle = not self._limits_idle
        self._refresh_title()

    def action_go(self) -> None:
        """Close the screen and, in the transcript, go to the last message at this moment."""
        has_event = self._timeline is not None and 0 <= self._wanted < len(self._timeline)
        self.dismiss(self._timeline.number(self._wanted) if self._timeline and has_event else None)

    def _move_to(self, event: int) -> None:
        """Go to an event, and wait for the whole pause after it."""
        if self._timeline is None or not len(self._timeline):
            return
        self._waited_ms, self._is_past_end = 0.0, False
        self._seek(max(0, min(event, len(self._timeline) - 1)))

    def _seek(self, event: int) -> None:
        self._wanted = event
        if not self._is_seeking:
            self._is_seeking = True
            self.run_worker(self._follow_wanted(), exclusive=True)

    async def _follow_wanted(self) -> None:
        """Read up to the requested event in the background. A newer request replaces it."""
        try:
            while self._player and self._timeline and self._is_behind and not self._is_closed:
                event, self._is_outgrown = self._wanted, False
                try:
                    await asyncio.to_thread(go_to_event, self._player, self._timeline, event)
                except ViewerError as error:
                    self.report_failure(error)
                self._event = event
                if not self._is_closed:
                    self.draw()
        finally:
            self._is_seeking = False

    def _refresh_title(self) -> None:
        self.heading.refresh()

    def kind_of_input(self) -> str:
        """Return the title of the format; empty until the input has been read."""
        return FORMATS.title(self._player.final.detection.format) if self._player else ""

    def moment(self) -> str:
        """Describe the replay's position: `▶ 10× 12.3 s of 41.0 s`; `❚❚` while it is paused."""
        timeline = self._timeline
        if timeline is None:
            return ""
        sign = (">" if self.is_playing else "||") if self.printing.ascii else ("▶" if self.is_playing else "❚❚")
        speed = f"{sign} {self._speed:g}{'x' if self.printing.ascii else '×'}"
        if not timeline.has_clock:
            return f"{speed} event {self._event + 1:,} of {len(timeline):,}"
        here = duration(timeline.clock[max(0, self._event)])
        return f"{speed} {here} of {duration(timeline.length_ms)}{'' if self._limits_idle else ' all pauses'}"

    def _bar_lines(self, width: int) -> list[Line]:
        if self._timeline is None or not len(self._timeline):
            return [(), ()]
        if self._bar is None:
            self._bar = ReplayBar(self._timeline, self.printing, shows_jumps=not self._audience.strict)
        return self._bar.lines(width, max(0, self._event))
