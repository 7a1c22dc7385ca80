"""Showing only the messages that match, also those that are still to come."""

from __future__ import annotations

from viewer.document.rows import MessageSet, Rows
from viewer.tui.bars.prompt import PromptKind
from viewer.tui.display_state import DisplayState
from viewer.tui.main.read_worker import Reading
from viewer.tui.search.engine import Searcher


class Filtering(Reading):
    """The filter of the view: what was typed after `&`, and the messages that have it in them."""

    _only: MessageSet | None = None
    _filter = ""
    """What was typed."""
    _all: Rows | None = None
    """All rows, while the view has only those that match."""
    _sieve: Searcher | None = None
    """The search over all rows that says which match."""

    def search_settled(self, kind: PromptKind, typed: str) -> None:
        """All has been searched: marks on the scrollbar, and the filter."""
        if kind is PromptKind.FILTER and self.searcher and self._only is None:
            if self.searcher.messages():
                self._begin_filter(self.searcher, typed)
            else:
                self.say("no message matches")
        self.show_minimap()

    def _begin_filter(self, sieve: Searcher, typed: str) -> None:
        self._sieve, self._all, self._filter = sieve, self.view.rows, typed
        self.searcher = None
        self._only = sieve.messages()
        self.view.rows = self.view.projection.rows(only=self._only)
        self.show_view()
        self.search_for(typed, PromptKind.FILTER)

    def view_is_filtered(self) -> bool:
        """Whether only matching messages are shown."""
        return self._only is not None

    def unfilter(self) -> None:
        """Show all messages again."""
        if self._only is not None:
            assert self._all is not None
            self.view.rows = self._all
            self._all.extend()
            self._forget_filter()
            self.show_view()

    def _forget_filter(self) -> None:
        if self._sieve:
            self._sieve.close()
        self._only = self._all = self._sieve = None

    def change(self, state: DisplayState) -> None:
        """Another view has no filter; its search covers what it shows."""
        if not self.view_is_filtered() and state.audience == self.state.audience:
            super().change(state)
            return
        self._forget_filter()
        query, found = self.drop_matches()
        safe_before = not self.state.debug
        super().change(state)
        if query is not None and (safe_before or state.debug):
            before = found if safe_before and state.debug else None
            self.search_audience(query, before)

    def extend(self) -> int:
        """More rows; with a filter the new ones that match."""
        changed = self._sift() if self._only is not None else super().extend()
        self.search_on(changed)
        return changed

    def _sift(self) -> int:
        """Let more messages through; what a search has not come to yet waits for the next time."""
        assert self._all is not None and self._sieve is not None
        self._sieve.resume(self._all.extend())
        self._sieve.step(0.01)
        only = self._sieve.messages()
        if only == self._only:
            return self.view.rows.extend()
        self._only = only
        self.view.rows = self.view.projection.rows(only=only)
        self.repeat_search()
        self.show_view()
        return 0

    def repeat_filter(self) -> None:
        """The document is another one: find again what matches."""
        if self._only is not None:
            self._forget_filter()
            self.search_for(self._filter, PromptKind.FILTER)
