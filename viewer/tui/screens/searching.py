"""Searching: in small steps beside everything else, over what the view shows."""

from __future__ import annotations

import asyncio
import sys
import time
from functools import partial

from viewer.tui.screens.parts import Parts
from viewer.tui.search import Query, Searcher
from viewer.tui.widgets.prompt import Prompt, PromptKind

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
        start = rows.row_of(self.focused_number) if self.focused_number else 0
        self.searcher = Searcher(self.view.projection, rows, query, start_row=start)
        self.prompt.rest(kind, typed, "searching")
        self.work(partial(self._search, self.searcher, kind, typed), "search", exclusive=True)

    async def _search(self, searcher: Searcher, kind: PromptKind, typed: str) -> None:
        jumped, noted = False, 0.0
        self._is_searching = True
        try:
            while searcher.step(STEP_SECONDS):
                if searcher.hits and not jumped:
                    jumped = True
                    self._first_hit(searcher)
                if time.monotonic() >= noted + NOTE_SECONDS:
                    self.prompt.note(f"{searcher.hits.total} hits, {searcher.progress:.0%}")
                    noted = time.monotonic()
                await self.give_way()
        finally:
            self._is_searching = False
        if searcher is not self.searcher:
            return
        if searcher.fault:
            self.say(searcher.fault)
        if searcher.hits and not jumped:
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

    def search_anew(self) -> None:
        """The same search over other rows; the view stays where it is."""
        if self.searcher is None:
            return
        query, self.hit = self.searcher.query, None
        self.searcher.close()
        rows = self.view.rows
        start = rows.row_of(self.focused_number) if self.focused_number else 0
        self.searcher = Searcher(self.view.projection, rows, query, start_row=start)
        self._changed = 0
        self.work(partial(self._search_quietly, self.searcher), "search", exclusive=True)

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
        self._go_to_hit(searcher.next_from(self.focused_number or 1))

    def _go_to_hit(self, hit: object) -> None:
        from viewer.tui.hits import Hit

        if not isinstance(hit, Hit):
            self.say("nothing found")
            return
        self.hit = hit
        self.transcript.redraw()
        if hit.number:
            self.focus_message(hit.number)
            self.show_hit(hit.number, hit.start)
        else:
            self.transcript.go_to_row(hit.row)
        self.moved()
        self._note()

    def show_hit(self, number: int, offset: int) -> None:
        """Bring the line of a hit on the screen, also inside a long or folded body."""
        row = self.transcript.row_showing(number)
        if row is None:
            return
        block = self.transcript.block(row)
        at = [index for index, line in enumerate(block.lines) if line.row and line.row.start <= offset]
        last = at[-1] if at else block.first
        shown = self.transcript.scroller.screen_line(row, last, self.transcript.viewport)
        if shown is None:
            self.transcript.go_to_row(row, last, above=self.transcript.viewport // 3)

    def _note(self) -> None:
        if self.searcher is None:
            return
        total = self.searcher.hits.total
        place = self.searcher.index_of(self.hit) if self.hit else None
        self.prompt.note(f"{place + 1}/{total}" if place is not None else f"{total} hits" if total else "no hits")

    def action_next_match(self) -> None:
        self._another(1)

    def action_previous_match(self) -> None:
        self._another(-1)

    def _another(self, step: int) -> None:
        if self.searcher is None:
            self.say("nothing has been searched for: /")
            return
        if self.hit is not None:
            self._go_to_hit(self.searcher.after(self.hit, step))
        else:
            number = self.focused_number or 1
            hit = self.searcher.next_from(number) if step > 0 else self.searcher.previous_from(number)
            self._go_to_hit(hit)

    def stop_search(self) -> None:
        """Forget the search and its marks."""
        if self.searcher:
            self.searcher.close()
        self.searcher = self.hit = None

    def on_prompt_cancelled(self, event: Prompt.Cancelled) -> None:
        """Escape in the prompt: back to the transcript."""
        self.transcript.focus()
