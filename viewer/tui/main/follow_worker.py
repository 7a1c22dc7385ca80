"""Follow worker: reads a growing input in the background, in slices, and draws it at a limited rate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from enum import Enum
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from viewer.document.live import LiveChange, LiveDocument
from viewer.document.one_reading import WORTH_SCANNING
from viewer.render.title import FollowState
from viewer.sources.changes import SourceCondition, SourceState
from viewer.tui.bottom.problem_lines import Pending
from viewer.tui.host import Host, Notice, as_sentence
from viewer.tui.main.filter import FilterController
from viewer.tui.main.follow import (
    Effect,
    FollowMachine,
    FollowTitle,
    KeyMeaning,
    PendingDraw,
    Reading,
    Signal,
    follow_title,
    meaning_of_key,
)
from viewer.tui.main.read_worker import ReadWorker
from viewer.tui.main.search import SearchController
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.main.throttle import FrameLimiter
from viewer.tui.session import Changed, Session

LEAST, MOST = 4 * 1024, 1024 * 1024
"""The minimum and maximum slice size in bytes: large slices cost less per byte, small ones keep keys responsive."""
FIRST = 8 * 1024
"""The size of the first slice in bytes. It is read before the backend for large slices is loaded."""
SLICE_SECONDS = 0.006
"""The target duration of a slice in seconds, which limits how long keys wait."""
QUICK_SECONDS, SLOW_SECONDS = 0.02, 0.05
"""Seconds between polls of the file: while it grows, and after a quiet period."""
QUIET_AFTER = 5.0
STALLED_AFTER = 10.0
"""Seconds without new data in an unfinished message before the title reports a stall."""


class FollowOptions(Struct, frozen=True):
    """Options for following a document."""

    follow: bool = False
    """True if the view starts at the end and stays there."""
    from_start: bool = False
    """True if the view starts at the top even when following."""
    stalled_after: float = STALLED_AFTER
    open_live: Callable[[], LiveDocument | str] = lambda: "This input cannot be followed."
    """Reopens the same input as a growing document, or returns why that is impossible."""
    sources: Callable[[], str] = lambda: ""
    """The position of this input among several followed ones, and how many are live."""


class Arrival(Enum):
    """The position to show once all existing data has been read."""

    END = "end"
    TOP = "top"
    SAME = "same place"


class FollowWorker:
    """Owns the live document, slice size, and frame limiter. It sends signals to the state machine and performs its
    effects."""

    def __init__(
        self,
        session: Session,
        host: Host,
        search: SearchController,
        filter: FilterController,
        reader: ReadWorker,
        stick: StickToEnd,
        machine: FollowMachine,
        options: FollowOptions,
    ) -> None:
        self.live: LiveDocument | None = None
        """The document being read. Until it has caught up, the screen may show another document."""
        self._session = session
        self._host = host
        self._search = search
        self._filter = filter
        self._reader = reader
        self._stick = stick
        self._machine = machine
        self._options = options
        self._limiter = FrameLimiter()
        self._arrival = Arrival.SAME
        self._drawn_version: tuple[int, ...] = ()
        """The version of the document at the last full redraw."""
        self._slice_size, self._least_size = FIRST, LEAST
        self._quiet_second = 0

    # Actions.

    def start(self) -> None:
        """Follow a live document from its start, or read any other input to its end."""
        if isinstance(self._session.document, LiveDocument):
            at_end = self._options.follow and not self._options.from_start
            self._start(self._session.document, Arrival.END if at_end else Arrival.TOP)
        else:
            self._reader.start()

    def toggle_follow(self) -> None:
        """Start following, return to the end after scrolling away, or stop following."""
        document = self._session.document
        meaning = meaning_of_key(
            self._machine.status,
            is_live=isinstance(document, LiveDocument),
            is_stream=self.live is not None and self.live.following.is_stream,
            is_complete=document.is_complete,
        )
        self._do(meaning, self._host.key_of("follow"))

    def _do(self, meaning: KeyMeaning, key: str) -> None:
        match meaning:
            case KeyMeaning.STILL_CATCHING_UP:
                self._host.notify("Still reading. Following starts when the end is reached.")
            case KeyMeaning.STILL_LOADING:
                self._host.notify(f"Still reading. Press {key} again when everything has been read.")
            case KeyMeaning.HAS_ENDED:
                self._host.notify("The input has ended. There is nothing to follow.")
            case KeyMeaning.START:
                self._follow_file()
            case KeyMeaning.RESUME:
                assert isinstance(self._session.document, LiveDocument)
                self._start(self._session.document, Arrival.SAME)
                self._host.notify("Following again.")
            case KeyMeaning.GO_TO_END:
                self._stick.go_to_end()
                self._host.redraw(Changed.FOCUS)
                self._host.notify("Following again.")
            case KeyMeaning.LEAVE_END:
                self._stick.leave_end()
                self._host.redraw(Changed.TITLE)
                self._host.notify(f"Stopped following. Press {key} to resume.")
            case KeyMeaning.STOP:
                self._stick.leave_end()
                self.live = None
                self._signal(Signal.STOP)
                self._host.redraw(Changed.FOCUS)
                self._host.notify(f"Stopped following. Press {key} to resume.")

    def _follow_file(self) -> None:
        """Reopen the file as a growing document. The view does not change until the new document has caught up."""
        live = self._options.open_live()
        if isinstance(live, str):
            self._host.notify(live)
        else:
            self._start(live, Arrival.SAME)

    def toggle_freeze(self) -> None:
        """Pause or resume redraws. Reading continues."""
        self._machine.toggle_frozen()
        status = self._machine.status
        if not status.frozen:
            if status.pending is PendingDraw.RESTART:
                self._restart_view()
            elif status.reading is not Reading.CATCHING_UP:
                self._draw_all()
        self._host.redraw(Changed.TITLE)

    def close(self) -> None:
        """Stop reading and close the input."""
        for document in (self.live, self._session.document):
            if isinstance(document, LiveDocument):
                document.following.close()
        self.live = None

    # Facts for the screen.

    @property
    def is_live(self) -> bool:
        """True if the document on the screen is live and has caught up."""
        return self._machine.status.reading is Reading.LIVE

    @property
    def is_sticky(self) -> bool:
        """True if the view stays at the end, even while redraws are paused."""
        return self._stick.is_sticky

    @property
    def stays_at_end(self) -> bool:
        """True if new rows become visible when they arrive."""
        return self._stick.is_sticky and not self._machine.status.frozen

    @property
    def is_busy(self) -> bool:
        """True if something can be read or drawn now."""
        live, document = self.live, self._session.document
        if live is None:
            return not document.is_complete and not isinstance(document, LiveDocument)
        if self._machine.status.reading is Reading.CATCHING_UP:
            return live.following.state.condition is SourceCondition.OK
        status = self._machine.status
        return not status.frozen and (status.pending is not PendingDraw.NOTHING or live.version != self._drawn_version)

    @property
    def growing(self) -> frozenset[int]:
        """The open messages of the document on the screen."""
        live = self.live
        return frozenset(live.open_numbers) if live is self._session.document and live is not None else frozenset()

    @property
    def pending_message(self) -> Pending | None:
        """The last open message, if this audience may see it."""
        numbers = sorted(self.growing)
        if self.live is None or not numbers:
            return None
        projection = self._session.projection
        if projection.audience.is_safe and not projection.headline(numbers[-1]).seen:
            return None
        return Pending(numbers[-1], int(self.live.quiet_for) * 1000)

    @property
    def title(self) -> FollowTitle:
        """The state for the title line."""
        return replace(self.state, sources=self._options.sources())

    @property
    def state(self) -> FollowTitle:
        """The state of this input, ignoring the other inputs."""
        document = self._session.document
        return follow_title(
            self._machine.status,
            is_live=isinstance(document, LiveDocument),
            is_complete=document.is_complete,
            progress=(self.live or document).progress,
            behind=self._behind,
            stalled_for=self.live.stalled_for if self.live else 0.0,
            stalled_after=self._options.stalled_after,
            number=self._session.message_total,
            was_read=bool(self.live and self.live.size),
        )

    @property
    def new_messages(self) -> int:
        """The number of messages that arrived since the view left the end; 0 if it is at the end."""
        return max(0, self._behind) if self.state.state is FollowState.PAUSED else 0

    @property
    def _behind(self) -> int:
        """The number of messages that arrived since the view left the end or was frozen."""
        session = self._session
        if not self._machine.status.frozen:
            return session.message_total - self._stick.left_at
        return 0 if self.live is None or session.display.strict else self.live.message_count - session.rows.reach

    # The background task.

    def _start(self, live: LiveDocument, arrival: Arrival) -> None:
        self.live, self._arrival = live, arrival
        live.rewrites.withhold(self._reader.handle_rewrite)
        self._machine.signal(Signal.SOURCE_CHANGED, source=live.following.state.condition)
        was_drawn = live is self._session.document and bool(self._drawn_version)
        self._signal(Signal.RESUME if was_drawn else Signal.START)

    def _signal(self, signal: Signal) -> None:
        for effect in self._machine.signal(signal):
            match effect:
                case Effect.START_WORKER:
                    assert self.live is not None
                    self._host.start_worker(partial(self._run, self.live), "tail", exclusive=True)
                case Effect.DETECT_PLACE:
                    self._stick.update()
                case Effect.SHOW_DOCUMENT:
                    self._show_document()
                case Effect.DRAW_ALL:
                    self._draw_all()

    async def _run(self, live: LiveDocument) -> None:
        while self.live is live and self._host.is_whole:
            if live.needs_backend:
                await asyncio.to_thread(live.load_backend)
                self._slice_size = self._least_size = WORTH_SCANNING
                continue
            has_more = self._read_slices(live)
            if self._machine.status.reading is Reading.CATCHING_UP and self._has_caught_up(live):
                self._signal(Signal.CAUGHT_UP)
            self._draw_what_is_due(live)
            if live.is_complete:
                self.live = None
                self._signal(Signal.ENDED)
            elif has_more:
                await self._host.yield_to_input()
            else:
                await live.following.wait_async(self._rest(live))

    def _has_caught_up(self, live: LiveDocument) -> bool:
        return live.is_complete or (live.has_caught_up and live.following.state.condition is SourceCondition.OK)

    def _read_slices(self, live: LiveDocument) -> bool:
        """Read for a short time. Return True if more is available."""
        deadline = time.monotonic() + SLICE_SECONDS
        while True:
            started = time.thread_time()
            change = live.step(self._slice_size)
            self._apply(live, change)
            self._adapt_slice(time.thread_time() - started, has_more=change.more)
            if not change.more or change.restarted or live.needs_backend or time.monotonic() >= deadline:
                return change.more

    def _adapt_slice(self, seconds: float, *, has_more: bool) -> None:
        """Double the slice size while more is available and slices take little time; halve it if they take too long."""
        if seconds > SLICE_SECONDS:
            self._slice_size = max(self._least_size, self._slice_size // 2)
        elif has_more and seconds < SLICE_SECONDS / 3:
            self._slice_size = min(MOST, self._slice_size * 2)

    def _apply(self, live: LiveDocument, change: LiveChange) -> None:
        if change.grew:
            self._machine.signal(Signal.GREW)
        if live.version != self._drawn_version:
            self._machine.signal(Signal.CHANGED)
        if change.restarted and live is self._session.document:
            self._machine.signal(Signal.REPLACED, reason=change.reset)
        effects = self._machine.signal(Signal.SOURCE_CHANGED, source=live.following.state.condition)
        if change.state and Effect.DRAW_SOURCE in effects:
            self._draw_source(change.state)

    def _draw_source(self, state: SourceState) -> None:
        """Redraw the title, and report the condition of the file unless it is OK. For an empty view, report only why
        reading stopped: the view itself shows the rest."""
        condition, has_rows = state.condition, len(self._session.rows) > 0
        if condition is not SourceCondition.OK if has_rows else condition is SourceCondition.STOPPED:
            self._host.notify(as_sentence(state.sentence))
        self._host.redraw(Changed.NOTES | Changed.TITLE)

    def _rest(self, live: LiveDocument) -> float:
        """Return the seconds until the next poll of the file or the next redraw."""
        rest = QUICK_SECONDS if live.quiet_for < QUIET_AFTER else SLOW_SECONDS
        status = self._machine.status
        if status.frozen or status.reading is Reading.CATCHING_UP:
            return rest
        due = self._limiter.rest(text=status.pending is PendingDraw.TEXT, everything=status.pending is PendingDraw.ALL)
        return max(0.001, min(rest, due))

    # Drawing.

    def _draw_what_is_due(self, live: LiveDocument) -> None:
        """Draw whatever is due. Everything else waits."""
        status, limiter = self._machine.status, self._limiter
        if status.frozen:
            return
        has_text = status.pending is not PendingDraw.NOTHING
        if status.reading is Reading.CATCHING_UP:
            self._show_progress(live)
        elif status.pending is PendingDraw.RESTART:
            self._restart_view()
        elif (status.pending is PendingDraw.ALL and limiter.all_is_due) or (has_text and limiter.all_is_overdue):
            self._draw_all()
        elif has_text and limiter.frame_is_due:
            self._draw_text()
        elif live.open_numbers and int(live.quiet_for) != self._quiet_second:
            self._quiet_second = int(live.quiet_for)
            self._host.redraw(Changed.PENDING | Changed.TITLE)

    def _show_progress(self, live: LiveDocument) -> None:
        if self._machine.status.pending is PendingDraw.RESTART and live is self._session.document:
            self._session.rebuild_view()
            self._machine.signal(Signal.DRAWN)
        if self._limiter.frame_is_due:
            with self._limiter.frame():
                self._host.redraw(Changed.TITLE)

    def _draw_text(self) -> None:
        """Draw new and grown rows in all panes that list messages."""
        with self._limiter.frame():
            self._stick.check_user_scrolled()
            self._machine.signal(Signal.FRAME_DRAWN)
            self._session.keep_unfolded(self.growing)
            self._host.redraw(self._filter.extend() | Changed.LISTS | Changed.TITLE)

    def _draw_all(self) -> None:
        """Draw all rows with their calls and problems, and all lists."""
        document = self._session.document
        if not isinstance(document, LiveDocument) or self._machine.status.frozen:
            self._reader.draw_all()
            return
        with self._limiter.everything():
            self._stick.check_user_scrolled()
            self._mark_drawn(document)
            self._session.keep_unfolded(self.growing)
            self._reader.draw_all()

    def _mark_drawn(self, document: LiveDocument) -> None:
        self._drawn_version = document.version
        self._machine.signal(Signal.DRAWN)

    def _show_document(self) -> None:
        """Show the document once all existing data has been read."""
        assert self.live is not None
        changed = self._session.replace_document(self.live)
        self._draw_reading(self.live, changed)
        match self._arrival:
            case Arrival.END:
                self._stick.go_to_end()
            case Arrival.SAME:
                self._stick.update()
            case Arrival.TOP:
                self._stick.leave_end()
        self._host.redraw(Changed.FOCUS)
        self._reader.finish()

    def _restart_view(self) -> None:
        """Show the input after it has been read again from its start. Keep the search and the layout, and report the
        reason."""
        document = self._session.document
        assert isinstance(document, LiveDocument)
        reason, is_sticky = self._machine.status.reason, self._stick.is_sticky
        if reason is not None and not is_sticky:
            self._host.viewport.go_back()
        self._draw_reading(document, self._session.restart())
        if is_sticky:
            self._stick.go_to_end()
        else:
            self._stick.update()
        self._host.redraw(Changed.FOCUS)
        if reason is not None:
            self._host.notify(as_sentence(reason.sentence), Notice.WARNING)
            self._host.report_restart()

    def _draw_reading(self, document: LiveDocument, changed: Changed) -> None:
        with self._limiter.everything():
            self._mark_drawn(document)
            self._search.repeat()
            self._filter.repeat()
            self._host.redraw(changed)
