"""Searching: in small steps beside everything else, over what the view shows."""

from __future__ import annotations

import asyncio
import sys
import time
from functools import partial

from viewer.tui.bars.prompt import Prompt, PromptKind
from viewer.tui.main.parts import Parts
from viewer.tui.search.engine import Query, Searcher

STEP_SECONDS = 0.005
NOTE_SECONDS = 0.2
"""The screen has better things to draw than each count."""


class Searching(Parts):
    """Actions of the search, and what is typed at the prompt."""

    def action_search(self) -> None:
        """Ask what to search for."""
        self.prompt.ask(PromptKind.SEARCH)

    def action_filter(self) -> None:
        """Ask what the shown messages must have in them."""
        self.prompt.ask(PromptKind.FILTER)

    def search_for(self, typed: str, kind: PromptKind) -> None:
        """Begin a search at the message that has the focus."""
        self.stop_search()
        query = Query.parse(typed)
        if not query.text:
            self.prompt.close()
            return
        rows = self.view.rows
        self.searcher = Searcher(self.view.projection, rows, query, start_row=self.cursor_row or 0)
        self.prompt.rest(kind, typed, "searching")
        self.work(partial(self._search, self.searcher, kind, typed), "search", exclusive=True)

    async def _search(self, searcher: Searcher, kind: PromptKind, typed: str) -> None:
        jumped, noted = False, 0.0
        self._is_searching = True
        try:
            while searcher.step(STEP_SECONDS):
                if searcher.matches and not jumped:
                    jumped = True
                    self._first_hit(searcher)
                if time.monotonic() >= noted + NOTE_SECONDS:
                    self.prompt.note(f"{searcher.matches.total} hits, {searcher.progress:.0%}")
                    noted = time.monotonic()
                await self.yield_to_input()
        finally:
            self._is_searching = False
        if searcher is not self.searcher:
            return
        if searcher.fault:
            self.say(searcher.fault)
        if searcher.matches and not jumped:
            self._first_hit(searcher)
        self.transcript.redraw()
        self.search_settled(kind, typed)
        self._note()

    def search_on(self, changed: int) -> None:
        """The rows from this one on are new, or may have changed: search them too."""
        if self.searcher is None:
            return
        self.searcher.resume(changed)
        self._changed = min(self._changed, changed)
        if not self._is_searching:
            self.work(partial(self._search_quietly, self.searcher), "search", exclusive=True)

    _is_searching = False
    _changed = sys.maxsize
    """The first row whose hits may be others than those that are drawn."""

    def repeat_search(self) -> None:
        """Search the present rows for the same text; the view stays where it is."""
        query, _ = self.drop_matches()
        if query is not None:
            self.work(partial(self._search_quietly, self._begin_again(query)), "search", exclusive=True)

    def drop_matches(self) -> tuple[Query | None, int | None]:
        """End the search and forget its matches; returns what it looked for, and how many matches it counted."""
        searcher = self.searcher
        self.stop_search()
        if searcher is None:
            return None, None
        self.prompt.note("searching")
        return searcher.query, searcher.matches.total if searcher.is_done else None

    def search_audience(self, query: Query, before: int | None) -> None:
        """Search what another audience sees, and say so; `before` is the count of the safe view."""
        self.work(partial(self._repeat, self._begin_again(query), before), "search", exclusive=True)

    async def _repeat(self, searcher: Searcher, before: int | None) -> None:
        await self._search_quietly(searcher)
        if searcher is not self.searcher or searcher.fault:
            return
        where = " in the debug view" if before is not None else ""
        earlier = f" ({before:,} in the safe view)" if before is not None else ""
        self.say(f"Search repeated{where}: {_matches(searcher.matches.total)}{earlier}.")

    def _begin_again(self, query: Query) -> Searcher:
        self.searcher = Searcher(self.view.projection, self.view.rows, query, start_row=self.cursor_row or 0)
        self._changed = 0
        return self.searcher

    async def _search_quietly(self, searcher: Searcher) -> None:
        """Search what is left, and mark what is found, without going there."""
        self._is_searching = True
        try:
            while searcher.step(STEP_SECONDS):
                await asyncio.sleep(0.001)
        finally:
            self._is_searching = False
        if searcher is self.searcher:
            changed, self._changed = self._changed, sys.maxsize
            self.show_minimap()
            self.transcript.changed_from(changed)
            self._note()

    def search_settled(self, kind: PromptKind, typed: str) -> None:
        """All has been searched: marks on the scrollbar, and the filter."""
        raise NotImplementedError

    def _first_hit(self, searcher: Searcher) -> None:
        self._go_to_hit(searcher.next_from_row(self.cursor_row or 0))

    def _go_to_hit(self, hit: object) -> None:
        from viewer.tui.search.matches import Match

        if not isinstance(hit, Match):
            self.say("nothing found")
            return
        self.hit = hit
        self.transcript.redraw()
        self.focus_row(hit.row)
        self.show_hit(hit.start)
        self.moved()
        self._note()

    def show_hit(self, offset: int) -> None:
        """Bring the line of a hit on the screen, also inside a long or folded body."""
        row = self.transcript.cursor_row()
        if row is None or not self.transcript.shows_cursor:
            return
        block = self.transcript.block(row)
        last = block.line_of(offset)
        shown = self.transcript.scroller.screen_line(row, last, self.transcript.viewport)
        if shown is None:
            self.transcript.go_to_row(row, last, above=self.transcript.viewport // 3)

    def _note(self) -> None:
        if self.searcher is None:
            return
        total = self.searcher.matches.total
        place = self.searcher.index_of(self.hit) if self.hit else None
        self.prompt.note(f"{place + 1}/{total}" if place is not None else f"{total} hits" if total else "no hits")

    def action_next_match(self) -> None:
        self._another(1)

    def action_previous_match(self) -> None:
        self._another(-1)

    def _another(self, step: int) -> None:
        if self.searcher is None:
            self.say(f"No search yet. Press {self.key_of('search')} to start one.")
            return
        count, here = self.take_count(), self.cursor_row or 0
        if self.hit is not None and self.hit.row == here:
            place = self.hit.row, self.hit.start
            found = self.searcher.after(self.hit, step * count)
        else:
            place = here, -1
            search = self.searcher.next_from_row if step > 0 else self.searcher.previous_from_row
            found = search(here)
            if found is not None and count > 1:
                found = self.searcher.after(found, step * (count - 1))
        self._go_to_hit(found)
        if found is not None:
            at = found.row, found.start
            if at <= place if step > 0 else at >= place:
                self.say_wrapped(step)

    def stop_search(self) -> None:
        """Forget the search and its marks."""
        if self.searcher:
            self.searcher.close()
        self.searcher = self.hit = None

    def on_prompt_cancelled(self, event: Prompt.Cancelled) -> None:
        """Escape in the prompt: back to the transcript."""
        self.transcript.focus()


def _matches(count: int) -> str:
    return "1 match" if count == 1 else f"{count:,} matches"
