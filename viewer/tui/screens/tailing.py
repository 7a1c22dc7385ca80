"""Reading on while a document grows: in small steps, drawn by frames, begun anew when its file changes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from viewer.sources.changes import Condition, Reason
from viewer.sources.live import LiveChange, LiveDocument
from viewer.tui.pace import Pace
from viewer.tui.pin import Pin
from viewer.tui.screens.filtering import Filtering
from viewer.tui.screens.reading import READ_AT_ONCE
from viewer.tui.widgets.status_line import Notice

SLICE_SECONDS = 0.006
"""So long it is read between two looks at the keyboard."""
QUICK_SECONDS, SLOW_SECONDS = 0.02, 0.05
"""Between two looks at the file: while it grows, and when it has been quiet."""
QUIET_AFTER = 5.0
MOST_UNFOLDED = 128 * 1024
"""A message of fewer bytes stays unfolded when it has been seen growing."""


class Tailing(Filtering):
    """One worker reads and draws; whatever the person does happens between its steps."""

    tailed: LiveDocument | None = None
    """The document that is being read on; it is not shown before it has been read up to the end once."""
    is_catching_up = False
    _grew = False
    _is_other = False
    """The document begins anew, and what is shown is of the reading before."""
    _why: Reason | None = None
    _drawn: tuple[int, ...] = ()
    """The pulse of the document when everything was drawn."""
    _second = 0

    @cached_property
    def pin(self) -> Pin:
        """Whether the view stays at the end."""
        return Pin(self.transcript)

    @cached_property
    def pace(self) -> Pace:
        """When there is drawn."""
        return Pace()

    @property
    def is_reading(self) -> bool:
        """Whether there is work to be done now: something to be read, or to be drawn."""
        live = self.tailed
        if live is None:
            return not self.document.is_complete and not isinstance(self.document, LiveDocument)
        if self.is_catching_up:
            return live.state.condition is Condition.OK
        return not self.state.frozen and (self._grew or self._is_other or live.pulse != self._drawn)

    @property
    def is_followed(self) -> bool:
        """Whether what is shown grows."""
        return self.tailed is not None and self.tailed is self.document and not self.is_catching_up

    def tail(self, live: LiveDocument, *, at_end: bool | None) -> None:
        """Read on; when all that is there has been read show the end, the top, or with None the same place."""
        self.is_catching_up = live is not self.document or not self._drawn
        self.tailed = live
        self.run_worker(self._tail(live, at_end), group="tail", exclusive=True)
        if self.is_followed:
            self.pin.judge(self.view.rows)
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
        while self.tailed is live:
            more = self._read_on(live)
            if self.is_catching_up and not more and (live.state.condition is Condition.OK or live.is_complete):
                self._arrive(live, at_end)
            self._draw_what_is_due(live)
            if live.is_complete:
                self._end()
            elif more:
                await asyncio.sleep(0)
            else:
                await live.following.wait_async(self._rest(live))

    def _read_on(self, live: LiveDocument) -> bool:
        """Read for a moment; whether there is more."""
        until = time.monotonic() + SLICE_SECONDS
        while True:
            change = live.step(READ_AT_ONCE)
            self._take(live, change)
            if not change.more or change.anew or time.monotonic() >= until:
                return change.more

    def _take(self, live: LiveDocument, change: LiveChange) -> None:
        self._grew = self._grew or change.grew
        if change.anew and live is self.document:
            self._is_other, self._why = True, change.reset or self._why
        if change.state and change.state.condition is not Condition.OK:
            self.say(change.state.sentence)
        if change.state:
            self.show_title()

    def _arrive(self, live: LiveDocument, at_end: bool | None) -> None:
        """All that was there has been read once: show it."""
        self.is_catching_up = self._is_other = False
        self.document = live
        self.look_again()
        if at_end:
            self.pin.put(self.view.rows)
        else:
            self.pin.judge(self.view.rows)
        self.moved()
        self.has_been_read()

    def _draw_what_is_due(self, live: LiveDocument) -> None:
        """At most one drawing; what is not due yet waits."""
        if self.state.frozen:
            return
        if self.is_catching_up:
            self._show_progress(live)
        elif self._is_other:
            self._begin_anew()
        elif live.pulse != self._drawn and self.pace.look_is_due:
            self.draw_all()
        elif (self._grew or live.pulse != self._drawn) and self.pace.frame_is_due:
            self.draw_growth()
        elif live.has_open_message and int(live.quiet_for) != self._second:
            self._second = int(live.quiet_for)
            self.problems.pend(self.pending())
            self.show_title()

    def _show_progress(self, live: LiveDocument) -> None:
        if self._is_other and live is self.document:
            self._is_other, self.view = False, self.look()
        if self.pace.frame_is_due:
            with self.pace.frame():
                self.show_title()

    def _rest(self, live: LiveDocument) -> float:
        """Seconds until the file is looked at again, or something can be drawn."""
        rest = QUICK_SECONDS if live.quiet_for < QUIET_AFTER else SLOW_SECONDS
        if self.state.frozen or self.is_catching_up:
            return rest
        due = self.pace.rest(grew=self._grew, changed=live.pulse != self._drawn)
        return max(0.001, min(rest, due))

    def _end(self) -> None:
        """It was a pipe, and has ended."""
        self.tailed = None
        if not self.state.frozen:
            self.draw_all()

    def draw_what_waits(self) -> None:
        """What came while nothing was drawn."""
        if self._is_other:
            self._begin_anew()
        elif not self.is_catching_up:
            self.draw_all()

    def draw_growth(self) -> None:
        """The rows that are new or have grown."""
        if not self.is_followed or self.state.frozen:
            super().draw_growth()
            return
        with self.pace.frame():
            self.notice()
            self._grew = False
            self.facts.growing = self.growing()
            self._keep_unfolded()
            self.transcript.changed_from(self.extend())
            self.stay_at_end()
            self.show_title()

    def draw_all(self) -> None:
        """The rows, and what is known of all of them."""
        if not isinstance(self.document, LiveDocument) or self.state.frozen:
            super().draw_all()
            return
        with self.pace.look():
            self.notice()
            self._grew, self._drawn = False, self.document.pulse
            self._keep_unfolded()
            super().draw_all()

    def look_again(self) -> None:
        """The view of a document that is another one, or has been read another time."""
        assert isinstance(self.document, LiveDocument)
        with self.pace.look():
            self._grew, self._drawn = False, self.document.pulse
            self.view = self.look()
            self.search_anew()
            self.filter_anew()
            self.show_view()

    def _begin_anew(self) -> None:
        """A new reading: the person's search and layout stay, and one line says why."""
        reason, self._why, self._is_other = self._why, None, False
        at_end = self.pin.holds
        self.facts.folds.clear()
        self.state = replace(self.state, marks=frozenset())
        if reason is not None and not at_end:
            self.transcript.go_back()
        self.look_again()
        if at_end:
            self.pin.put(self.view.rows)
        else:
            self.pin.judge(self.view.rows)
        self.moved()
        if reason is not None:
            self.say(reason.sentence, Notice.WARNING)

    def _keep_unfolded(self) -> None:
        """What was seen growing does not fold when it ends, but for what is very long."""
        for number in self.growing():
            headline = self.view.projection.headline(number)
            if headline.seen and headline.body_bytes < MOST_UNFOLDED:
                self.facts.folds.setdefault(number, True)

    @contextmanager
    def kept_at_end(self) -> Iterator[None]:
        """Whatever is done inside, a view that stays at the end does so after it."""
        holds = self.is_followed and self.pin.holds
        yield
        if holds:
            self.pin.put(self.view.rows)
            self.moved()

    def notice(self) -> None:
        """Yield to the person."""
        raise NotImplementedError
