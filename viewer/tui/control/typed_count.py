"""Count the matches of a search or filter while it is being typed so that the prompt can show them."""

from __future__ import annotations

from functools import partial

from viewer.tui.host import Host, PromptKind
from viewer.tui.main.navigator import Navigator
from viewer.tui.search.engine import Query, Searcher
from viewer.tui.session import Session

SLICE_SECONDS = 0.005
MOST = 10_000
"""The number of matches at which counting stops."""


class TypedCount:
    """Counts in a background task, which ends when another character is typed or the prompt closes. It does not move
    the cursor, and highlights nothing."""

    def __init__(self, session: Session, host: Host, navigator: Navigator) -> None:
        self._session = session
        self._host = host
        self._navigator = navigator

    def start(self, kind: PromptKind, typed: str) -> None:
        """Count the matches of the text and show them in the prompt."""
        if kind in (PromptKind.SEARCH, PromptKind.FILTER) and typed.strip():
            task = self._matches if kind is PromptKind.SEARCH else self._messages
            self._host.start_worker(partial(task, typed), "count", exclusive=True)

    async def _matches(self, typed: str) -> None:
        """Show the number of matches, and the position of the one that enter goes to."""
        query = Query.parse(typed)
        if not query.text:
            return
        session, row = self._session, self._navigator.cursor_row or 0
        audience = session.projection.audience
        searcher = Searcher(session.projection, session.rows, query, start_row=row, most_matches=MOST)
        try:
            while searcher.step(SLICE_SECONDS) and searcher.matches.total < MOST:
                await self._host.yield_to_input()
                if not self._host.prompt.is_asking:
                    return
            if searcher.fault or session.projection.audience != audience:
                return
            total, match = searcher.matches.total, searcher.next_from_row(row)
            place = searcher.index_of(match) if match is not None else None
            if total >= MOST:
                words = f"{MOST:,} or more matches"
            elif place is None:
                words = "no matches"
            else:
                words = f"{place + 1:,} of {total:,}"
            self._host.prompt.count(typed, words)
        finally:
            searcher.close()

    async def _messages(self, typed: str) -> None:
        """Show how many messages match. The check that the filter is allowed comes before anything is read."""
        from viewer.document.filter.grammar import parse  # only a filter needs its language
        from viewer.document.filter.predicate import Matching
        from viewer.document.filter.tree import FilterError

        try:
            where = parse(typed, has_marks=True)
        except FilterError:
            return
        session = self._session
        projection, rows = session.projection, session.rows
        if not where.terms or where.searched is not None or where.refusal(projection.audience) is not None:
            return
        matching = Matching(where, projection, session.document.name, session.marks, rows)
        while matching.step(SLICE_SECONDS):
            await self._host.yield_to_input()
            if not self._host.prompt.is_asking:
                return
        if session.projection.audience == projection.audience:
            self._host.prompt.count(typed, f"{len(matching.messages()):,} of {session.searched_total:,} messages")
