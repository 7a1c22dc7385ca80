"""Filter controller: shows only the messages that match, including messages that arrive later."""

from __future__ import annotations

from viewer.document.rows import MessageSet, Rows
from viewer.tui.host import Host, PromptKind
from viewer.tui.main.search import SearchController
from viewer.tui.search.engine import Searcher
from viewer.tui.session import Changed, Session

SLICE_SECONDS = 0.01


class FilterController:
    """Owns the matcher, a search over all rows, and the rows without the filter."""

    def __init__(self, session: Session, host: Host, search: SearchController) -> None:
        self._session = session
        self._host = host
        self._search = search
        self._matcher: Searcher | None = None
        self._previous_rows: Rows | None = None
        self._messages: MessageSet | None = None
        self._typed = ""

    @property
    def is_active(self) -> bool:
        """True if only matching messages are shown."""
        return self._messages is not None

    def ask(self) -> None:
        """Ask for the text that shown messages must contain."""
        self._host.prompt.ask(PromptKind.FILTER)

    def filter_for(self, typed: str) -> None:
        """Search, then show only the messages with a match."""
        self._typed = typed
        self._search.search_for(typed, PromptKind.FILTER, self._begin)

    def clear(self) -> None:
        """Show all messages again."""
        if self._previous_rows is not None:
            rows = self._previous_rows
            self.forget()
            rows.extend()
            self._host.redraw(self._session.show_rows(rows))

    def forget(self) -> None:
        """Forget the filter; the rows are replaced by others."""
        if self._matcher:
            self._matcher.close()
        self._matcher = self._previous_rows = self._messages = None

    def repeat(self) -> None:
        """Filter the rows of another document."""
        if self.is_active:
            self.forget()
            self.filter_for(self._typed)

    def extend(self) -> Changed:
        """Add the rows of new bytes, those that match if a filter is active, and search them."""
        changed = self._session.extend() if self._matcher is None else self._extend_matches(self._matcher)
        self._search.extend(self._session.grown_from)
        return changed

    def _begin(self, searcher: Searcher) -> None:
        if self.is_active:
            return
        if not searcher.messages():
            self._host.notify(f"No message matches & {self._typed}.")
            return
        self._search.release()
        self._matcher, self._previous_rows = searcher, self._session.rows
        self._messages = searcher.messages()
        self._host.redraw(self._session.filter_rows(self._messages))
        self._search.search_for(self._typed, PromptKind.FILTER)

    def _extend_matches(self, matcher: Searcher) -> Changed:
        """Add messages. Rows that the matcher has not reached yet follow at the next call."""
        assert self._previous_rows is not None
        matcher.resume(self._previous_rows.extend())
        matcher.step(SLICE_SECONDS)
        messages = matcher.messages()
        if messages == self._messages:
            return self._session.extend()
        self._messages = messages
        changed = self._session.filter_rows(messages)
        self._search.repeat()
        return changed
