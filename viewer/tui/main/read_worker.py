"""Read worker: reads an input in the background, in slices so that keys stay responsive, and draws it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from viewer.document.live import LiveDocument
from viewer.render.highlight import LEXERS
from viewer.sources.changes import Reason
from viewer.tui.control.problems import ProblemController
from viewer.tui.go_to import Place, Target, parse
from viewer.tui.host import Host, Notice, as_sentence
from viewer.tui.main.file_end import EndController
from viewer.tui.main.filter import FilterController
from viewer.tui.main.follow import FollowMachine, Reading
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.search import SearchController
from viewer.tui.session import VIEW, Changed, Session

READ_FIRST = 12 * 1024
"""The size of the first slice in bytes, usually enough to fill the screen."""
HURRY = 2
"""How many steps to read in one slice while the operator waits for the end."""
LOOK_AGAIN_SECONDS = 0.5
"""The minimum number of seconds between full redraws. The interval grows with the number of problems."""
DRAW_AGAIN_SECONDS = 0.05
"""The minimum number of seconds between redraws of the conversation."""
DRAW_SHARE = 10
"""The minimum time from one redraw of the conversation to the next, as a multiple of the duration of the first."""
CHECK_SECONDS = 1.0
"""Seconds between checks for a rewrite of a file that is not followed."""


class ReadWorker:
    """Owns the start position and the revision of the document on the screen."""

    def __init__(
        self,
        session: Session,
        host: Host,
        navigator: Navigator,
        search: SearchController,
        filter: FilterController,
        end: EndController,
        problems: ProblemController,
        machine: FollowMachine,
        start_at: str,
        resume_at: int = 0,
    ) -> None:
        """`start_at` is a position as typed after `:`. Without it, `resume_at` is the message where an earlier session
        ended."""
        self._session = session
        self._host = host
        self._navigator = navigator
        self._search = search
        self._filter = filter
        self._end = end
        self._problems = problems
        self._machine = machine
        self._start_at = start_at
        self.resume_at = 0 if start_at else resume_at
        """The message where an earlier session ended; 0 if there is none, or once the view has returned there."""
        self._revision = 0
        self._must_read_again = False

    def start(self) -> None:
        """Read the input in the background."""
        self._host.start_worker(self._read, "read", exclusive=True)

    async def _read(self) -> None:
        loop = asyncio.get_running_loop()
        if self._host.is_whole and not self._session.document.is_complete:
            await self._read_first()
        if LEXERS.are_postponed:
            self._host.start_worker(self._color_code, "colors")
        self._end.begin()
        everything_at = draw_at = loop.time()
        while not self._session.document.is_complete:
            if not self._host.is_whole:
                return
            document, hurries = self._session.document, self._navigator.waits_for_end
            if document.needs_backend:
                await asyncio.to_thread(document.load_backend)
            if hurries:
                await self._end.offer()
            was_read = document.is_read
            self._read_some(document.step_size * (HURRY if hurries else 1))
            now, has_reached_end = loop.time(), document.is_read and not was_read
            if now - everything_at > LOOK_AGAIN_SECONDS * (1 + len(self._session.diagnostics) / 5000):
                everything_at = now
                self.draw_all()
                draw_at = self._next_redraw(now, loop.time())
            elif has_reached_end or now > draw_at + (LOOK_AGAIN_SECONDS if hurries else 0.0):
                self.draw_growth()
                draw_at = self._next_redraw(now, loop.time())
            if has_reached_end:
                self._end.close()
            await self._host.yield_to_input()
        self.draw_all()
        self.finish()
        self._end.close()

    @staticmethod
    def _next_redraw(began: float, ended: float) -> float:
        """Return when the conversation may be drawn again, so that redraws never slow down reading much."""
        return began + max(DRAW_AGAIN_SECONDS, DRAW_SHARE * (ended - began))

    async def _read_first(self) -> None:
        """Fill and paint the screen before importing what further reading needs, because the import takes a tenth of a
        second."""
        self._read_some(READ_FIRST)
        self.draw_all()
        with suppress(TimeoutError):  # another screen may cover this one
            await asyncio.wait_for(self._host.first_frame(), LOOK_AGAIN_SECONDS)

    async def _color_code(self) -> None:
        """Load the lexers that the first frame did not wait for, and redraw the rows with colored code."""
        await asyncio.to_thread(LEXERS.load_missed)
        if LEXERS.resume() and self._host.is_whole:
            self._host.redraw(Changed.ROWS | Changed.DOCUMENT)

    def _read_some(self, size: int) -> None:
        self._session.document.read_some(size)
        self._show_new_revision()

    # Drawing.

    def draw_growth(self, changed: Changed = Changed.NOTHING) -> None:
        """Draw new and grown rows, and the panes in `changed`."""
        if not self._machine.status.frozen:
            self._host.redraw(self._filter.extend() | changed)
            self._go_where_wanted()
            self._host.redraw(Changed.TITLE)
            self._end.show_progress()

    def draw_all(self) -> None:
        """Draw all rows with their calls and problems, and all lists."""
        if not self._machine.status.frozen:
            changed = self._filter.extend()
            self._session.refresh_lists()
            self._host.redraw(changed | VIEW)
            self._go_where_wanted()
            self._problems.resume()
            self._end.show_progress()

    def finish(self) -> None:
        """Report that everything has been read, and go to the start position if that is still to be done."""
        self._host.report_read()
        self._go_where_wanted()

    def _go_where_wanted(self) -> None:
        """Go to the start position or to where an earlier session ended, once that has been read. While the operator
        waits for the end, go to the end."""
        if self._start_at and (self._session.document.is_read or self._has_read(self._start_at)):
            typed, self._start_at = self._start_at, ""
            self._navigator.go_to(typed)
        elif self.resume_at and (self._session.document.is_read or self.resume_at < self._session.rows.settled_number):
            number, self.resume_at = self.resume_at, 0
            self._navigator.resume(number)
        elif self._navigator.waits_for_end:
            self._navigator.go_to_end()

    def _has_read(self, typed: str) -> bool:
        """True if the typed position is a message that has been read. Other positions are known only once the whole
        input has been read."""
        target = parse(typed)
        return isinstance(target, Target) and target.place is Place.MESSAGE and target.value < self._last_known()

    def _last_known(self) -> int:
        rows = self._session.rows
        return rows.shown_count if self._session.display.strict else rows.settled_number

    # A file that was rewritten.

    def check_for_rewrite(self) -> None:
        """Detect that the file was rewritten, even if nothing is being read. Following a file includes this check."""
        document = self._session.document
        if isinstance(document, LiveDocument) or not document.is_complete or not self._host.is_current:
            return
        if document.stored.is_rewritten():
            self.handle_rewrite()

    def handle_rewrite(self) -> None:
        """Request that the input be read again, because the file was rewritten. Any thread may call this."""
        self._must_read_again = True
        self._host.call_later(self._read_again)

    def _read_again(self) -> None:
        """Read the input again. A followed file is read again by its source; if following has stopped, show a
        notice."""
        must, self._must_read_again = self._must_read_again, False
        if not must or not self._host.is_whole:
            return
        document = self._session.document
        if not isinstance(document, LiveDocument):
            document.begin_again()
            self._show_new_revision()
            self.start()
        elif self._machine.status.reading in (Reading.OFF, Reading.ENDED):
            self._host.notify(
                f"The file was rewritten. Press {self._host.key_of('follow')} to read it again.", Notice.WARNING
            )

    def _show_new_revision(self) -> None:
        if self._session.document.revision == self._revision:
            return
        self._revision = self._session.document.revision
        self._end.close()
        self._host.viewport.go_back()
        changed = self._session.restart()
        self._search.repeat()
        self._filter.repeat()
        self._host.redraw(changed)
        self._host.notify(as_sentence(Reason.REWRITTEN.sentence), Notice.WARNING)
        self._host.report_restart()
