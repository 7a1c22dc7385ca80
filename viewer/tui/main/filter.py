"""Filter controller: shows only matching messages, including those that arrive later."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from viewer.document.rows import MessageSet, Rows
from viewer.tui.cursor import Cursor
from viewer.tui.host import Host, PromptKind
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.main.search import SearchController
from viewer.tui.search.engine import Searcher
from viewer.tui.session import Changed, Session

if TYPE_CHECKING:
    from viewer.document.filter.predicate import Matching
    from viewer.document.filter.tree import Filter

SLICE_SECONDS = 0.01
NOTE_SECONDS = 0.2
"""The minimum number of seconds between progress updates, each of which causes a redraw."""
_ACTIONS = {
    "analysis": "analysis", "commentary": "commentary", "tool": "tools", "system": "system", "developer": "system",
}  # fmt: skip
"""For each kind of message that a filter term may need, the debug-view action that shows it."""


class FilterController:
    """Owns the matcher, which searches all rows, and the rows without the filter."""

    def __init__(self, session: Session, host: Host, search: SearchController) -> None:
        self._session = session
        self._host = host
        self._search = search
        self._matcher: Searcher | Matching | None = None
        """A word search, or the matching of a filter with fields."""
        self._previous_rows: Rows | None = None
        self._messages: MessageSet | None = None
        self._typed = ""
        self._matching: Matching | None = None
        """The matching for the next filter, while rows are still being tested."""

    @property
    def is_active(self) -> bool:
        """True if only matching messages are shown."""
        return self._messages is not None

    @property
    def is_wanted(self) -> bool:
        """True if a filter is active, or will be once its matches are found."""
        return self.is_active or self._matching is not None

    def ask(self) -> None:
        """Ask for a filter, starting with the active one, if there is one."""
        self._host.prompt.ask(PromptKind.FILTER, self._typed if self.is_active else "")

    def filter_for(self, typed: str) -> None:
        """Find the matching messages, then show only those.

        The check that the filter is allowed depends only on the filter itself, and comes before anything is read."""
        from viewer.document.filter.grammar import parse  # only a filter needs its language
        from viewer.document.filter.tree import FilterError

        self._typed = typed
        try:
            where = parse(typed, has_marks=True)
        except FilterError as error:
            sentence = str(error)
            self._refuse(f"{sentence[0].upper()}{sentence[1:]}")
            return
        missing = where.missing(self._session.projection.audience)
        if missing is not None:
            self._refuse(self._refusal(*missing[1:]))
        elif where.searched is not None or not where.terms:
            self._search.search_for(where.searched or "", PromptKind.FILTER, partial(self._begin, where))
        else:
            self._host.start_worker(partial(self._match, where), "search", exclusive=True)

    def _refusal(self, words: str, need: str) -> str:
        """Return why a filter is not allowed: it needs the debug view, or a kind of message that is off there."""
        action = _ACTIONS.get(need)
        if not self._session.display.debug or action is None:
            return DEBUG_ONLY if not self._session.display.debug else f"{words} needs --reveal {need}."
        return f"{words} is off: press {self._host.key_of(action)}."

    def _refuse(self, sentence: str) -> None:
        self._search.end()
        self._host.notify(sentence)

    async def _match(self, where: Filter) -> None:
        """Test all rows in slices."""
        from viewer.document.filter.predicate import Matching

        self._search.stop()
        session, noted_at = self._session, 0.0
        self._host.prompt.rest(PromptKind.FILTER, self._typed, "searching")
        matching = Matching(where, session.projection, session.document.name, session.marks, session.rows)
        self._matching = matching
        try:
            while matching.step(SLICE_SECONDS):
                if time.monotonic() >= noted_at + NOTE_SECONDS:
                    self._host.prompt.note(f"{matching.progress:.0%}")
                    noted_at = time.monotonic()
                await self._host.yield_to_input()
                if self._matching is not matching:  # the audience has changed, and the messages with it
                    return
        finally:
            if self._matching is matching:
                self._matching = None
        self._begin(where, matching)

    def clear(self) -> None:
        """Show all messages again."""
        if self._previous_rows is not None:
            rows = self._previous_rows
            self.forget()
            rows.extend()
            self._host.redraw(self._session.show_rows(rows))

    def forget(self) -> None:
        """Drop the filter, because the rows are about to be replaced."""
        if self._matcher:
            self._matcher.close()
        if self._matcher and not isinstance(self._matcher, Searcher):
            self._host.prompt.close()
        self._matcher = self._previous_rows = self._messages = self._matching = None

    def repeat(self) -> None:
        """Apply the active filter, if there is one, to the rows of a new document."""
        if self.is_active:
            self.repeat_after(lambda: None)

    def repeat_after(self, change: Callable[[], None]) -> None:
        """Make a change that replaces the rows, then filter the new rows."""
        self._search.stop()
        self.forget()
        change()
        self.filter_for(self._typed)

    def extend(self) -> Changed:
        """Add the rows of new bytes, or only the matching ones if a filter is active, and search them."""
        changed = self._session.extend() if self._matcher is None else self._extend_matches(self._matcher)
        self._search.extend(self._session.grown_from)
        return changed

    def _begin(self, where: Filter, matcher: Searcher | Matching) -> None:
        if self.is_active:
            return
        self._search.release()
        self._matcher, self._previous_rows = matcher, self._session.rows
        self._messages = matcher.messages()
        self._host.redraw(self._session.filter_rows(self._messages, self._typed))
        self._keep_cursor()
        if isinstance(matcher, Searcher):
            self._search.search_for(where.searched or "", PromptKind.FILTER)
        else:
            self._host.prompt.rest(PromptKind.FILTER, self._typed, self._count())

    def _keep_cursor(self) -> None:
        """Put the cursor on its message or on the nearest matching one so that it stays on the screen."""
        viewport = self._host.viewport
        nearest = self._session.nearest_shown(viewport.cursor.number)
        if viewport.cursor.is_set and nearest:
            viewport.go_to_cursor(Cursor(nearest))
            self._host.redraw(Changed.FOCUS)

    def _count(self) -> str:
        assert self._messages is not None
        return f"{len(self._messages):,} of {self._session.searched_total:,} messages"

    def _extend_matches(self, matcher: Searcher | Matching) -> Changed:
        """Add matching messages. Rows that the matcher has not reached yet are added by later calls."""
        assert self._previous_rows is not None
        matcher.resume(self._previous_rows.extend())
        matcher.step(SLICE_SECONDS)
        messages = matcher.messages()
        if messages == self._messages:
            return self._session.extend()
        self._messages = messages
        changed = self._session.filter_rows(messages, self._typed)
        if isinstance(matcher, Searcher):
            self._search.repeat()
        else:
            self._host.prompt.note(self._count())
        return changed
