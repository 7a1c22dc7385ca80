"""Search controller: searches the rows of the view in small slices, and moves from match to match."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from viewer.document.rows import RowKind
from viewer.render.blocks.json_rows import ALL_NODES
from viewer.render.style import Styled, StyleRole
from viewer.tui.host import Host, PromptKind
from viewer.tui.main.navigator import Navigator
from viewer.tui.search.engine import Match, Query, Searcher
from viewer.tui.session import Changed, Session

SLICE_SECONDS = 0.005
NOTE_SECONDS = 0.2
"""The minimum number of seconds between updates of the count, each of which causes a redraw."""
_NO_ROW = sys.maxsize


class SearchController:
    """Owns the searcher and the current match."""

    def __init__(self, session: Session, host: Host, navigator: Navigator) -> None:
        self.searcher: Searcher | None = None
        self.current_match: Match | None = None
        self.changed_from = _NO_ROW
        """The first row that may have stale highlights."""
        self._session = session
        self._host = host
        self._navigator = navigator
        self._is_searching = False

    # Actions.

    def ask(self) -> None:
        """Ask for text or a pattern."""
        self._host.prompt.ask(PromptKind.SEARCH)

    def next_match(self) -> None:
        self._go_on(1)

    def previous_match(self) -> None:
        self._go_on(-1)

    def _go_on(self, step: int) -> None:
        if self.searcher is None:
            self._host.notify(f"No search yet. Press {self._host.key_of('search')} to start one.")
            return
        count, here = self._navigator.take_count(), self._navigator.cursor_row or 0
        if self.current_match is not None and self.current_match.row == here:
            place = self.current_match.row, self.current_match.start
            found = self.searcher.after(self.current_match, step * count)
        else:
            place = here, -1
            search = self.searcher.next_from_row if step > 0 else self.searcher.previous_from_row
            found = search(here)
            if found is not None and count > 1:
                found = self.searcher.after(found, step * (count - 1))
        self._go_to_match(found)
        if found is not None:
            at = found.row, found.start
            if at <= place if step > 0 else at >= place:
                self._navigator.notify_wrapped(step)

    def _go_to_match(self, match: Match | None) -> None:
        if match is None:
            if self.searcher is not None:
                self._host.notify(f'No matches for "{self.searcher.query.text}".')
            return
        self.current_match = match
        rows = self._session.rows
        number = rows.value(match.row) if rows.kind(match.row) is RowKind.MESSAGE else 0
        if number:
            self._session.reveal(number, ALL_NODES)
        self._host.redraw(Changed.BLOCKS)
        self._navigator.leave_place()
        self._navigator.focus_row(match.row)
        if not self._host.viewport.show_offset(match.start) and number:
            self._host.redraw(self._session.fold(number, True))
            self._host.viewport.show_offset(match.start)
        self._host.redraw(Changed.FOCUS)
        self._note_matches()

    # A new search.

    def search_for(
        self, typed: str, kind: PromptKind = PromptKind.SEARCH, settled: Callable[[Searcher], None] | None = None
    ) -> None:
        """Search, starting at the cursor. `settled` is called with the searcher once all rows have been searched."""
        self.stop()
        query = Query.parse(typed)
        if not query.text:
            self._host.prompt.close()
            return
        self.searcher = self._make_searcher(query)
        self._host.prompt.rest(kind, typed, "searching")
        self._host.start_worker(partial(self._search, self.searcher, settled), "search", exclusive=True)

    async def _search(self, searcher: Searcher, settled: Callable[[Searcher], None] | None) -> None:
        has_jumped, noted_at = False, 0.0
        self._is_searching = True
        try:
            while searcher.step(SLICE_SECONDS):
                if searcher.matches and not has_jumped:
                    has_jumped = True
                    self._go_to_first_match(searcher)
                if time.monotonic() >= noted_at + NOTE_SECONDS:
                    self._host.prompt.note(f"{_count_of_matches(searcher.matches.total)}, {searcher.progress:.0%}")
                    noted_at = time.monotonic()
                await self._host.yield_to_input()
        finally:
            self._is_searching = False
        if searcher is not self.searcher:
            return
        if searcher.fault:
            self._host.notify(searcher.fault)
        if searcher.matches and not has_jumped:
            self._go_to_first_match(searcher)
        self._draw_matches(from_row=0)
        if settled is not None:
            settled(searcher)
        self._note_matches()

    def _go_to_first_match(self, searcher: Searcher) -> None:
        self._go_to_match(searcher.next_from_row(self._navigator.cursor_row or 0))

    # The rows change.

    def extend(self, changed_from: int) -> None:
        """Search again from this row on, because these rows are new or different."""
        if self.searcher is None:
            return
        self.searcher.resume(changed_from)
        self.changed_from = min(self.changed_from, changed_from)
        if not self._is_searching:
            self._host.start_worker(partial(self._search_quietly, self.searcher), "search", exclusive=True)

    def repeat(self) -> None:
        """Search the current rows for the same text, without jumping."""
        query, _ = self.drop_matches()
        if query is not None:
            self._host.start_worker(partial(self._search_quietly, self._restart(query)), "search", exclusive=True)

    def drop_matches(self) -> tuple[Query | None, int | None]:
        """End the search and drop its matches. Return its query and, if it was complete, the number of matches. Return
        None for either value that does not exist."""
        searcher = self.searcher
        self.stop()
        if searcher is None:
            return None, None
        self._host.prompt.note("searching")
        return searcher.query, searcher.matches.total if searcher.is_done else None

    def search_audience(self, query: Query, before: int | None) -> None:
        """Search the rows of another audience and report the count. `before` is the count in the safe view, if the
        debug view has just been opened."""
        self._host.start_worker(partial(self._search_again, self._restart(query), before), "search", exclusive=True)

    async def _search_again(self, searcher: Searcher, before: int | None) -> None:
        await self._search_quietly(searcher)
        if searcher is not self.searcher or searcher.fault:
            return
        where = " in the debug view" if before is not None else ""
        earlier = f" ({before:,} in the safe view)" if before is not None else ""
        self._host.notify(f"Search repeated{where}: {_count_of_matches(searcher.matches.total)}{earlier}.")

    def _restart(self, query: Query) -> Searcher:
        self.searcher = self._make_searcher(query)
        self.changed_from = 0
        return self.searcher

    async def _search_quietly(self, searcher: Searcher) -> None:
        """Search the remaining rows without jumping."""
        self._is_searching = True
        try:
            while searcher.step(SLICE_SECONDS):
                await asyncio.sleep(0.001)
        finally:
            self._is_searching = False
        if searcher is self.searcher:
            self._draw_matches(from_row=self.changed_from)
            self._note_matches()

    def _make_searcher(self, query: Query) -> Searcher:
        start_row = self._navigator.cursor_row or 0
        return Searcher(self._session.projection, self._session.rows, query, start_row=start_row)

    def _draw_matches(self, from_row: int) -> None:
        self.changed_from = from_row
        self._host.redraw(Changed.MATCHES)
        self.changed_from = _NO_ROW

    # The end of a search.

    def release(self) -> Searcher | None:
        """End the search and return its searcher, which stays open, or None if there was no search."""
        searcher, self.searcher = self.searcher, None
        return searcher

    def stop(self) -> None:
        """Forget the search and its matches."""
        if self.searcher:
            self.searcher.close()
        self.searcher = self.current_match = None

    def end(self) -> None:
        """Forget the search and its matches, and hide the prompt."""
        self.stop()
        self._host.prompt.close()

    def match_spans(self, number: int) -> Sequence[Styled]:
        """Return the spans of the matches in a body."""
        rows = self._session.rows
        if self.searcher is None or not len(rows):
            return ()
        return [
            Styled(match.start, match.end, StyleRole.THIS_MATCH if match == self.current_match else StyleRole.MATCH)
            for match in self.searcher.matches.in_row(rows.row_of(number))
        ]

    @property
    def _without_matches(self) -> str:
        """The words for a search without matches. Except in the debug view, they state what was searched, whether or
        not anything is hidden."""
        return "no matches" if self._session.display.debug else "no matches in what the user saw"

    def _note_matches(self) -> None:
        if self.searcher is None:
            return
        total = self.searcher.matches.total
        place = self.searcher.index_of(self.current_match) if self.current_match else None
        words = _count_of_matches(total) if total else self._without_matches
        self._host.prompt.note(f"{place + 1:,} of {total:,}" if place is not None else words)


def _count_of_matches(count: int) -> str:
    return "1 match" if count == 1 else f"{count:,} matches"
