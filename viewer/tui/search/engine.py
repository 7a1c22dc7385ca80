"""Search engine: searches a projection's text in small slices so that keys stay responsive."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.document.projection import Projection
from viewer.document.rows import MessageSet, RowKind, Rows
from viewer.document.search.regex import required_literal
from viewer.tui.search.matchers import (
    SECONDS,
    WINDOW,
    Found,
    Literal,
    Matcher,
    MatchRequest,
    RegexMatcher,
    Window,
    windows,
)
from viewer.tui.search.matches import Match, Matches
from viewer.tui.search.order import Known, SearchOrder, SegmentSearcher

MOST_MATCHES = 1_000_000
LONGEST_QUERY = 1000

__all__ = ["Match", "Matches", "Query", "Searcher"]

_PATTERN_SIGNS = ("/", "re:")
_ESCAPED = lazy_regex(r"\\.", re.DOTALL)


class Query(Struct, frozen=True, gc=False):
    """A literal string or a regular expression to search for."""

    text: str
    is_pattern: bool = False
    """True if the text is a regular expression."""
    ignores_case: bool = True

    @classmethod
    def parse(cls, typed: str) -> Query:
        """Parse typed text: a literal, or a regular expression after another `/` or after `re:`.
        A backslash before either prefix makes the text literal. The search is case-sensitive only if the text has a
        capital letter."""
        typed = typed[:LONGEST_QUERY]
        for sign in _PATTERN_SIGNS:
            if typed.startswith(sign):
                pattern = typed.removeprefix(sign)
                return cls(pattern, True, not _has_capital(_ESCAPED.sub("", pattern)))
        if typed.startswith(tuple(f"\\{sign}" for sign in _PATTERN_SIGNS)):
            typed = typed[1:]
        return cls(typed, False, not _has_capital(typed))


def _has_capital(text: str) -> bool:
    return text != text.lower()


class Searcher:
    """One search. It starts at a row, continues from the top after the end, and resumes when the document grows."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        query: Query,
        *,
        start_row: int = 0,
        most_matches: int = MOST_MATCHES,
        pattern_seconds: float = SECONDS,
    ) -> None:
        self.query = query
        self.matches = Matches(rows, most_matches, self._find_again)
        self._projection = projection
        self._rows = rows
        self._matcher = _matcher(query, pattern_seconds)
        searcher = _segment_searcher(projection, rows, query)
        self._order = SearchOrder(rows, start_row, searcher)
        self._reading: Iterator[Window | None] = iter(())
        self._reading_row = -1
        self._windows: list[Window] = []
        self._last_end = 0
        """The end of the last match in the current row."""
        if searcher and query.is_pattern:
            self._try_pattern()

    @property
    def fault(self) -> str | None:
        """The reason why the search ended early, as a sentence; None if it did not."""
        return self._matcher.fault

    @property
    def more(self) -> bool:
        """True if there are more matches than can be kept."""
        return self.matches.total > len(self.matches)

    @property
    def progress(self) -> float:
        """The fraction of the rows that have been searched, from 0 to 1."""
        return 1.0 if self.is_done else min(self._order.done / max(1, len(self._rows)), 0.99)

    @property
    def is_done(self) -> bool:
        """True if all rows have been searched, or the search has failed."""
        if self.fault or not self.query.text:
            return True
        return not self._windows and self._reading_row < 0 and self._order.is_done

    def step(self, budget_seconds: float) -> bool:
        """Search for about this long. Return True if there is more to search."""
        deadline = time.monotonic() + budget_seconds
        while not self.is_done:
            if not self._windows:
                self._start_search(deadline)
            if self._windows:
                self._take(self._matcher.run(deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                break
        return not self.is_done

    def resume(self, changed_row: int) -> None:
        """Search again from this row on: `Rows.extend` reported that these rows are new or may have changed."""
        self.matches.drop_from(changed_row)
        if self._reading_row >= changed_row:
            self._reading, self._reading_row = iter(()), -1
        self._windows = [window if window.row < changed_row else replace(window, row=-1) for window in self._windows]
        self._order.resume(changed_row)

    def next_from(self, number: int, offset: int = 0) -> Match | None:
        """Return the first match at or after this offset in a message, or the first match of all; None if there
        are none."""
        return self.next_from_row(self._rows.row_of(number), offset)

    def previous_from(self, number: int, offset: int = 0) -> Match | None:
        """Return the last match before this offset in a message, or the last match of all; None if there are none."""
        return self.previous_from_row(self._rows.row_of(number), offset)

    def next_from_row(self, row: int, offset: int = 0) -> Match | None:
        """Return the first match at or after this offset in a row, or the first match of all; None if there are
        none."""
        return self.matches[self.matches.before(row, offset) % len(self.matches)] if self.matches else None

    def previous_from_row(self, row: int, offset: int = 0) -> Match | None:
        """Return the last match before this offset in a row, or the last match of all; None if there are none."""
        return self.matches[self.matches.before(row, offset) - 1] if self.matches else None

    def after(self, match: Match, steps: int = 1) -> Match | None:
        """Return the match `steps` after this one (before it if negative), wrapping around; None if there are none."""
        if not self.matches:
            return None
        place = self.matches.before(match.row, match.start)
        known = place < len(self.matches) and self.matches[place] == match
        return self.matches[(place + steps - (0 if known or steps < 0 else 1)) % len(self.matches)]

    def index_of(self, match: Match) -> int | None:
        """Return the index of this match, from 0, or None if it has been dropped."""
        place = self.matches.before(match.row, match.start)
        return place if place < len(self.matches) and self.matches[place] == match else None

    def messages(self) -> MessageSet:
        """Return the messages with matches."""
        return self._rows.messages_in(self.matches.rows())

    def close(self) -> None:
        """Stop the search, including its background thread."""
        self._matcher.close()

    def _find_again(self, row: int) -> Found:
        """Return a literal's matches in the first block of a row's text, for highlighting; none for a pattern."""
        text = next(self._projection.body_blocks(self._rows, row), "")
        return self._matcher.at_once(text) if isinstance(self._matcher, Literal) else []

    def _try_pattern(self) -> None:
        """Search an empty string so that an invalid pattern is reported even if there is no row to search."""
        self._windows = [Window(-1, 0, "", 0, True)]
        self._matcher.start([MatchRequest("", 0, 0)])

    def _start_search(self, deadline: float) -> None:
        """Collect windows until there are enough for one request or the time is up, then start searching them."""
        size = 0
        while size < WINDOW and (not self._windows or time.monotonic() < deadline):
            window = self._next_window()
            if window is None:
                if self._windows or self._order.is_done or time.monotonic() >= deadline:
                    break
                continue
            if window.text:
                self._windows.append(window)
            size += len(window.text)
            if not window.final:
                break
        requests = [MatchRequest(window.text, self._start_of(window), window.limit) for window in self._windows]
        if requests:
            self._matcher.start(requests)

    def _next_window(self) -> Window | None:
        """Return the next window of the current row or, after the last one, of the next row. Return None if there is
        none yet."""
        if self._reading_row < 0 and not self._open_next_row():
            return None
        window = next(self._reading)
        if window is not None and window.final:
            self._reading_row = -1
        return window

    def _open_next_row(self) -> bool:
        """Open the next row whose text must be searched, or add known matches if they come first. Return True if a row
        was opened. Known matches wait until the windows before them have been searched."""
        row = self._order.next()
        if row is None or (self._windows and isinstance(row, Known)):
            return False
        self._order.pop()
        if isinstance(row, Known):
            in_head = row.rows[0] < self._order.start
            self.matches.add_all(row.rows, row.starts, len(self.query.text), in_head=in_head)
        elif self._rows.kind(row) in (RowKind.MESSAGE, RowKind.STRAY):
            blocks = self._projection.body_blocks(self._rows, row)
            self._reading, self._reading_row = windows(row, blocks, self._matcher.cut), row
            return True
        return False

    def _start_of(self, window: Window) -> int:
        """Return where matches in a window may begin: after the last match of the row, so that matches never overlap,
        even across windows."""
        return max(0, self._last_end - window.base) if window.base else 0

    def _take(self, answer: list[Found] | None) -> None:
        if answer is None:
            return
        searched, self._windows = self._windows, []
        for window, found in zip(searched, answer, strict=True):
            self._last_end = window.base + found[-1][1] if found else self._last_end if window.base else 0
            if window.row >= 0 and found:
                self.matches.add(window.row, window.base, found, in_head=window.row < self._order.start)


def _segment_searcher(projection: Projection, rows: Rows, query: Query) -> SegmentSearcher | None:
    text = required_literal(query.text) if query.is_pattern else query.text
    return projection.block_searcher(rows, text, query.ignores_case, is_all=not query.is_pattern) if text else None


def _matcher(query: Query, seconds: float) -> Matcher:
    if not query.is_pattern:
        return Literal(query.text, query.ignores_case)
    return RegexMatcher(query.text, query.ignores_case, seconds)
