"""Reading on while a document grows: in small steps, drawn by frames, begun anew when its file changes."""

from __future__ import annotations

import asyncio
import time
from functools import partial

from viewer.document.document import WORTH_SCANNING
from viewer.document.live import LiveChange, LiveDocument
from viewer.sources.changes import SourceCondition
from viewer.tui.main.growing import Growing

LEAST, MOST = 4 * 1024, 1024 * 1024
"""Bytes that are read without a look at the clock: large pieces cost less a byte, small ones keep nobody waiting."""
FIRST = 8 * 1024
"""So many at first: they are read before that is loaded which large pieces need."""
SLICE_SECONDS = 0.006
"""So long it is read between two looks at the keyboard."""
QUICK_SECONDS, SLOW_SECONDS = 0.02, 0.05
"""Between two looks at the file: while it grows, and when it has been quiet."""
QUIET_AFTER = 5.0


class Tailing(Growing):
    """One worker reads and draws; whatever the person does happens between its steps."""

    _second = 0
    _piece, _least = FIRST, LEAST

    @property
    def is_reading(self) -> bool:
        """Whether there is work to be done now: something to be read, or to be drawn."""
        live = self.tailed
        if live is None:
            return not self.document.is_complete and not isinstance(self.document, LiveDocument)
        if self.is_catching_up:
            return live.state.condition is SourceCondition.OK
        return not self.state.frozen and (self.grew or self.is_other or live.version != self.drawn)

    def tail(self, live: LiveDocument, *, at_end: bool | None) -> None:
        """Read on; when all that is there has been read show the end, the top, or with None the same place."""
        self.is_catching_up = live is not self.document or not self.drawn
        self.tailed = live
        live.on_rewritten = self.notice_rewrite
        self.work(partial(self._tail, live, at_end), "tail", exclusive=True)
        if self.is_followed:
            self.judge_place()
            self.draw_all()

    def stop_tailing(self) -> None:
        """Leave it as it is."""
        self.tailed = None
        self.pin.release()

    def on_unmount(self) -> None:
        """Nobody looks any more."""
        for document in (self.tailed, self.document):
            if isinstance(document, LiveDocument):
                document.following.close()
        self.tailed = None

    async def _tail(self, live: LiveDocument, at_end: bool | None) -> None:
        while self.tailed is live and self.is_whole:
            if live.needs_backend:
                await asyncio.to_thread(live.load_backend)
                self._piece = self._least = WORTH_SCANNING
                continue
            more = self._read_on(live)
            if self.is_catching_up and self._has_arrived(live):
                self._arrive(live, at_end)
            self._draw_what_is_due(live)
            if live.is_complete:
                self._end()
            elif more:
                await self.yield_to_input()
            else:
                await live.following.wait_async(self._rest(live))

    def _has_arrived(self, live: LiveDocument) -> bool:
        return live.is_complete or (live.has_caught_up and live.state.condition is SourceCondition.OK)

    def _read_on(self, live: LiveDocument) -> bool:
        """Read for a moment; whether there is more."""
        until = time.monotonic() + SLICE_SECONDS
        while True:
            begun = time.thread_time()
            change = live.step(self._piece)
            self._take(live, change)
            self._measure(time.thread_time() - begun, more=change.more)
            if not change.more or change.restarted or live.needs_backend or time.monotonic() >= until:
                return change.more

    def _measure(self, seconds: float, *, more: bool) -> None:
        """The next piece is larger where there is much to read and this one was little work."""
        if seconds > SLICE_SECONDS:
            self._piece = max(self._least, self._piece // 2)
        elif more and seconds < SLICE_SECONDS / 3:
            self._piece = min(MOST, self._piece * 2)

    def _take(self, live: LiveDocument, change: LiveChange) -> None:
        self.grew = self.grew or change.grew
        if change.restarted and live is self.document:
            self.is_other, self.why = True, change.reset or self.why
        # The notes of an empty view say how the file is, but not why reading was stopped.
        unsaid = (
            (SourceCondition.OK,) if len(self.view.rows) else tuple(set(SourceCondition) - {SourceCondition.STOPPED})
        )
        if change.state and change.state.condition not in unsaid:
            self.say(change.state.sentence)
        if change.state:
            self.transcript.notes = [] if len(self.view.rows) else self.nothing_shown()
            self.transcript.redraw_changed()
            self.show_title()

    def _arrive(self, live: LiveDocument, at_end: bool | None) -> None:
        """All that was there has been read once: show it."""
        self.is_catching_up = self.is_other = False
        self.document = live
        self.look_again()
        if at_end:
            self.pin.put(self.view.rows)
        elif at_end is None:
            self.judge_place()
        else:
            self.stay_here()
        self.moved()
        self.has_been_read()

    def _draw_what_is_due(self, live: LiveDocument) -> None:
        """At most one drawing; what is not due yet waits."""
        if self.state.frozen:
            return
        if self.is_catching_up:
            self._show_progress(live)
        elif self.is_other:
            self.restart_view()
        elif (live.version != self.drawn and self.pace.look_is_due) or (self.grew and self.pace.look_is_old):
            self.draw_all()
        elif (self.grew or live.version != self.drawn) and self.pace.frame_is_due:
            self.draw_growth()
        elif live.has_open_message and int(live.quiet_for) != self._second:
            self._second = int(live.quiet_for)
            self.problems.pend(self.pending())
            self.show_title()

    def _show_progress(self, live: LiveDocument) -> None:
        if self.is_other and live is self.document:
            self.is_other, self.view = False, self.look()
        if self.pace.frame_is_due:
            with self.pace.frame():
                self.show_title()

    def _rest(self, live: LiveDocument) -> float:
        """Seconds until the file is looked at again, or something can be drawn."""
        rest = QUICK_SECONDS if live.quiet_for < QUIET_AFTER else SLOW_SECONDS
        if self.state.frozen or self.is_catching_up:
            return rest
        due = self.pace.rest(grew=self.grew, changed=live.version != self.drawn)
        return max(0.001, min(rest, due))

    def _end(self) -> None:
        """It was a pipe, and has ended."""
        self.tailed = None
        if not self.state.frozen:
            self.draw_all()

    def draw_what_waits(self) -> None:
        """What came while nothing was drawn."""
        if self.is_other:
            self.restart_view()
        elif not self.is_catching_up:
            self.draw_all()
