"""Reader of the file list: lists, reads, and searches files in the background, visible ones first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial

from viewer.tui.files.catalog import Catalog
from viewer.tui.files.facts import FileFacts, facts_of, head_of, search_in
from viewer.tui.files.listing import Entry

SECONDS_OF_LISTING = 0.02
SECONDS_OF_TITLES = 0.05
GROWTH = 1.25
"""The factor by which the listing must grow before the rows are arranged again."""
RESTS, MOST_SECONDS_OF_REST = 10, 60.0
"""The pause before work on all files is repeated: a multiple of the time that the work took, and the maximum in
seconds."""


class NotWantedError(Exception):
    """The details of a file are not needed now."""


def _after_rest(began: float) -> float:
    """Return when to repeat work that began at this time and has just ended."""
    now = time.monotonic()
    return now + min(RESTS * (now - began), MOST_SECONDS_OF_REST)


class FilesReader:
    """Lists, reads, and searches files in the background. Owns the tuple of visible files, and the task's state."""

    def __init__(
        self,
        catalog: Catalog,
        see: Callable[[], tuple[Entry, ...]],
        start: Callable[[Callable[[], Coroutine[None, None, None]]], object],
        *,
        arranged: Callable[[], None],
        listed: Callable[[], None],
        learned: Callable[[], None],
        finished: Callable[[], None],
    ) -> None:
        """`see` returns the visible files, starting with the one under the cursor. `start` runs a background task.
        `arranged` is called after the rows have been arranged again, `listed` after each step of the listing, `learned`
        after a file has been read or searched, and `finished` when nothing is left to do."""
        self.visible: tuple[Entry, ...] = ()
        self.is_urgent = False
        """True if a visible file has not been read yet."""
        self._catalog = catalog
        self._see = see
        self._start = start
        self._show = arranged
        self._listed = listed
        self._learned = learned
        self._finished = finished
        self._lists = True
        """True if the listing must continue."""
        self._is_loading = self._is_closed = False
        self._is_stale = False
        """True if details on which the order depends have changed."""
        self._arranged: tuple[list[Entry], int] = ([], 0)
        """The entries of the listing, and their number, when the rows were last arranged."""
        self._arranges_at = self._lists_at = 0.0
        """The earliest times at which to arrange the rows again because of new details, and to list the folder
        again."""
        self._began = time.monotonic()
        """The time at which the listing began."""

    def load(self) -> None:
        """Start listing, reading, and searching files as needed, unless the task is already running."""
        self.note_visible()
        if not self._is_loading and not self._is_closed:
            self._is_loading = True
            self._start(self._load)

    def list_again(self) -> None:
        """List the folder again, unless the last listing took a long time."""
        if self._lists or time.monotonic() < self._lists_at:
            return
        self._began = time.monotonic()
        self._catalog.listing.list_again()
        self._lists = True
        self.load()

    def note_stale(self) -> None:
        """Arrange the rows again soon, because details on which their order depends have changed."""
        self._is_stale = True

    def close(self) -> None:
        """Stop permanently."""
        self._is_closed = True

    def note_visible(self) -> None:
        """Update which files are visible, and whether one of them must be read."""
        self.visible = self._see()
        wanted = self._catalog.wanted(self.visible)
        self.is_urgent = wanted is not None and wanted[0] in self.visible

    async def _load(self) -> None:
        try:
            while not self._is_closed:
                if self._lists:
                    self._lists = await asyncio.to_thread(self._catalog.listing.list_some, SECONDS_OF_LISTING)
                    if self._has_grown:
                        await self._arrange()
                    self._lists_at = _after_rest(self._began)
                    self._listed()
                if self._is_stale and time.monotonic() >= self._arranges_at:
                    await self._arrange()
                if not await self._read_one() and not self._lists:
                    break
            if self._is_stale and not self._is_closed:
                await self._arrange()
        finally:
            self._is_loading = False
        if not self._is_closed:
            self._finished()

    @property
    def _has_grown(self) -> bool:
        """True if the finished listing differs from the arranged files, or an unfinished one has grown a lot. Waiting
        for such growth keeps the total time of all arrangements linear."""
        entries, count = self._catalog.listing.entries, self._arranged[1]
        if self._lists:
            return entries is not self._arranged[0] or len(entries) > count * GROWTH
        return entries is not self._arranged[0] or len(entries) != count

    async def _arrange(self) -> None:
        """Arrange the rows in a thread, because there may be many."""
        began, entries = time.monotonic(), self._catalog.listing.entries
        self._is_stale, self._arranged = False, (entries, len(entries))
        self._catalog.take(await asyncio.to_thread(self._catalog.arranged))
        self._arranges_at = _after_rest(began)
        if not self._is_closed:
            self._show()

    async def _read_one(self) -> bool:
        """Search one file, or read one file or the titles of several. Return False if nothing is left to do."""
        catalog, self.is_urgent = self._catalog, False
        self.note_visible()
        wanted = catalog.wanted(self.visible)
        searched, search = catalog.next_unsearched(), catalog.search
        try:
            if searched is not None and search is not None:
                hit = await asyncio.to_thread(
                    search_in, searched, catalog.reading, search.query, lambda: self._check_search(search)
                )
                catalog.found(search, searched, hit)
            elif wanted is not None:
                entry, whole = wanted
                entries = [entry] if whole else catalog.untitled(self.visible) or [entry]
                for read, facts in await asyncio.to_thread(self._facts, entries, whole):
                    catalog.learn(read, facts)
            else:
                return False
        except NotWantedError:
            return not self._is_closed
        self._learned()
        return True

    # Called by the reading thread.

    def _facts(self, entries: Sequence[Entry], whole: bool) -> list[tuple[Entry, FileFacts]]:
        """Read all details of a single file, or the titles of as many files as a short time slice allows."""
        if whole:
            return [(entry, facts_of(entry, self._catalog.reading, partial(self._check, entry))) for entry in entries]
        deadline, known = time.monotonic() + SECONDS_OF_TITLES, []
        for entry in entries:
            known.append((entry, head_of(entry)))
            if self._is_closed or time.monotonic() >= deadline:
                break
        return known

    def _check(self, entry: Entry) -> None:
        """Raise NotWantedError if the file is not needed now."""
        if self._is_closed or (self.is_urgent and entry not in self.visible):
            raise NotWantedError

    def _check_search(self, search: object) -> None:
        if self._is_closed or search is not self._catalog.search:
            raise NotWantedError
