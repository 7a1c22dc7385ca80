"""Reading an input that does not grow: in small steps, so that no key ever waits."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from viewer.tui.go_to import Place, Target, parse
from viewer.tui.main.parts import DocumentRead
from viewer.tui.main.search import Searching
from viewer.tui.main.showing import Showing

READ_FIRST = 12 * 1024
"""Bytes: as a rule they fill the screen."""
HURRY = 2
"""So many steps at once, and little is drawn, as long as somebody waits for the end."""
LOOK_AGAIN_SECONDS = 0.5
DRAW_AGAIN_SECONDS = 0.05


class Reading(Searching, Showing):
    """Draws what has been read so far, again and again, until all has been read."""

    start_at = ""
    """Where the person wants to begin, as typed after `:`."""

    async def read(self) -> None:
        """Read the input to its end."""
        loop = asyncio.get_running_loop()
        if self.is_whole and not self.document.is_complete:
            await self._begun()
        looked = drawn = loop.time()
        while not self.document.is_complete:
            if not self.is_whole:
                return
            if self.document.needs_backend:
                await asyncio.to_thread(self.document.load_backend)
            hurries, was_read = self.still_wants_end(), self.document.is_read
            self._read_some(self.document.step_size * (HURRY if hurries else 1))
            now, has_come_to_end = loop.time(), self.document.is_read and not was_read
            if now - looked > LOOK_AGAIN_SECONDS * (1 + len(self.view.diagnostics) / 5000):
                looked = drawn = now
                self.draw_all()
            elif has_come_to_end or now - drawn > (LOOK_AGAIN_SECONDS if hurries else DRAW_AGAIN_SECONDS):
                drawn = now
                self.draw_growth()
            await self.yield_to_input()
        self.draw_all()
        self.has_been_read()

    async def _begun(self) -> None:
        """What fills the screen is drawn before that is loaded which the rest needs: a tenth of a second."""
        self._read_some(READ_FIRST)
        self.draw_all()
        painted = asyncio.Event()
        self.call_after_refresh(painted.set)
        with suppress(TimeoutError):  # another screen may lie over this one
            await asyncio.wait_for(painted.wait(), LOOK_AGAIN_SECONDS)

    _revision = 0
    """The revision of the document that is shown."""

    def _read_some(self, size: int) -> None:
        self.document.read_some(size)
        self._show_if_revised()

    def _show_if_revised(self) -> None:
        if self.document.revision != self._revision:
            self._revision = self.document.revision
            self.show_revision()

    def show_revision(self) -> None:
        """The document is read from the start again: show what there is of it."""
        raise NotImplementedError

    def has_been_read(self) -> None:
        """All that there was has been read and drawn."""
        self.post_message(DocumentRead())
        self._go_where_wanted()

    def _go_where_wanted(self) -> None:
        """To the place to begin at, as soon as it is known; to the end, as long as the person does not go elsewhere."""
        if self.start_at and (self.document.is_read or self._is_there(self.start_at)):
            typed, self.start_at = self.start_at, ""
            self.go_to(typed)
        elif self.still_wants_end():
            self.go_to_end()
            self.went_to_end()

    def _is_there(self, typed: str) -> bool:
        """Whether this message has been read; of other places one knows when all has been."""
        target = parse(typed)
        return isinstance(target, Target) and target.place is Place.MESSAGE and target.value < self._last_known()

    def _last_known(self) -> int:
        rows = self.view.rows
        return rows.shown_count if self.state.strict else rows.settled_number

    def draw_growth(self) -> None:
        """The rows that are new, or have grown."""
        if self.state.frozen:
            return
        self.transcript.changed_from(self.extend())
        self._go_where_wanted()
        self.show_title()

    def draw_all(self) -> None:
        """The rows, and what is known of all of them: calls, diagnostics, lists."""
        if self.state.frozen:
            return
        view = self.view
        changed = self.extend()
        view.calls = view.projection.calls()
        view.diagnostics.extend(view.rows.settled_number)
        self.show_view(changed=changed)
        self._go_where_wanted()

    def extend(self) -> int:
        """Take what has been read into the view; the first row that may have changed."""
        return self.view.rows.extend()

    def go_to(self, typed: str) -> None:
        """Go to what was typed after `:`."""
        raise NotImplementedError

    def go_to_end(self) -> None:
        """Show the end, with the focus on the last message."""
        raise NotImplementedError
