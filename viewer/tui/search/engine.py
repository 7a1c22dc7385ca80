"""Search over what a projection shows, in small slices, so that no key ever waits for it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from viewer.document.projection import Projection
from viewer.document.regex import required_literal
from viewer.document.rows import MessageSet, RowKind, Rows
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
from viewer.tui.search.order import Known, SearchOrder, Skimmer

MOST_HITS = 1_000_000
LONGEST_QUERY = 1000

__all__ = ["Match", "Matches", "Query", "Searcher"]

_PATTERN_SIGNS = ("/", "re:")
_ESCAPED = re.compile(r"\\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for."""

    text: str
    is_pattern: bool = False
    """It is a regular expression."""
    ignores_case: bool = True

    @classmethod
    def parse(cls, typed: str) -> Query:
        """What a person typed: literal text, or after another `/` or `re:` a regular expression.

        A backslash before one of these makes it literal. Without a capital letter, case does not matter."""
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
    """One search. It begins at a row, goes on at the top after the end, and goes on again when the document grows."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        query: Query,
        *,
        start_row: int = 0,
        most_hits: int = MOST_HITS,
        pattern_seconds: float = SECONDS,
    ) -> None:
        self.query = query
        self.hits = Matches(rows, most_hits, self._find_again)
        self._projection = projection
        self._rows = rows
        self._matcher = _matcher(query, pattern_seconds)
        skimmer = _skimmer(projection, rows, query)
        self._route = SearchOrder(rows, start_row, skimmer)
        self._reading: Iterator[Window | None] = iter(())
        self._reading_row = -1
        self._asked: list[Window] = []
        self._last_end = 0
        """Where the last match in the row that is being read ends."""
        if skimmer and query.is_pattern:
            self._try_pattern()

    @property
    def fault(self) -> str | None:
        """Why the search has ended early, in a sentence."""
        return self._matcher.fault

    @property
    def more(self) -> bool:
        """There are more hits than are kept."""
        return self.hits.total > len(self.hits)

    @property
    def progress(self) -> float:
        """How many of the rows have been searched, from 0 to 1."""
        return 1.0 if self.is_done else min(self._route.done / max(1, len(self._rows)), 0.99)

    @property
    def is_done(self) -> bool:
        """All that there is has been searched."""
        if self.fault or not self.query.text:
            return True
        return not self._asked and self._reading_row < 0 and self._route.is_done

    def step(self, budget_seconds: float) -> bool:
        """Search for about so long; returns whether there is more to do."""
        deadline = time.monotonic() + budget_seconds
        while not self.is_done:
            if not self._asked:
                self._ask(deadline)
            if self._asked:
                self._take(self._matcher.run(deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                break
        return not self.is_done

    def resume(self, changed_row: int) -> None:
        """The rows from this one on are new or may have changed, as `Rows.extend` tells: search them again."""
        self.hits.drop_from(changed_row)
        if self._reading_row >= changed_row:
            self._reading, self._reading_row = iter(()), -1
        self._asked = [window if window.row < changed_row else window._replace(row=-1) for window in self._asked]
        self._route.resume(changed_row)

    def next_from(self, number: int, offset: int = 0) -> Match | None:
        """The first hit that begins at or after this place of a message; after the last comes the first."""
        return self.next_from_row(self._rows.row_of(number), offset)

    def previous_from(self, number: int, offset: int = 0) -> Match | None:
        """The last hit that begins before this place of a message; before the first comes the last."""
        return self.previous_from_row(self._rows.row_of(number), offset)

    def next_from_row(self, row: int, offset: int = 0) -> Match | None:
        """The first hit that begins at or after this place of a row; after the last comes the first."""
        return self.hits[self.hits.before(row, offset) % len(self.hits)] if self.hits else None

    def previous_from_row(self, row: int, offset: int = 0) -> Match | None:
        """The last hit that begins before this place of a row; before the first comes the last."""
        return self.hits[self.hits.before(row, offset) - 1] if self.hits else None

    def after(self, hit: Match, steps: int = 1) -> Match | None:
        """The hit so many after this one, or before it; round at the ends."""
        if not self.hits:
            return None
        place = self.hits.before(hit.row, hit.start)
        known = place < len(self.hits) and self.hits[place] == hit
        return self.hits[(place + steps - (0 if known or steps < 0 else 1)) % len(self.hits)]

    def index_of(self, hit: Match) -> int | None:
        """Its place among the hits, from 0 on; None when it is gone."""
        place = self.hits.before(hit.row, hit.start)
        return place if place < len(self.hits) and self.hits[place] == hit else None

    def messages(self) -> MessageSet:
        """The messages with hits."""
        return self._rows.messages_in(self.hits.rows())

    def close(self) -> None:
        """Stop; nothing of the search is left running."""
        self._matcher.close()

    def _find_again(self, row: int) -> Found:
        """The matches at the beginning of the text of a row, for the screen."""
        text = next(self._projection.body_blocks(self._rows, row), "")
        return self._matcher.at_once(text) if isinstance(self._matcher, Literal) else []

    def _try_pattern(self) -> None:
        """Perhaps no row will be looked at; a wrong pattern must be told all the same."""
        self._asked = [Window(-1, 0, "", 0, True)]
        self._matcher.start([MatchRequest("", 0, 0)])

    def _ask(self, deadline: float) -> None:
        """Gather text until it is enough for one question, or it is time for the screen."""
        size = 0
        while size < WINDOW and (not self._asked or time.monotonic() < deadline):
            window = self._next_window()
            if window is None:
                if self._asked or self._route.is_done or time.monotonic() >= deadline:
                    break
                continue
            if window.text:
                self._asked.append(window)
            size += len(window.text)
            if not window.final:
                break
        asked = [MatchRequest(window.text, self._start_of(window), window.limit) for window in self._asked]
        if asked:
            self._matcher.start(asked)

    def _next_window(self) -> Window | None:
        """More text: of the row that is being read, else of the next one; None while there is none."""
        if self._reading_row < 0 and not self._open_next_row():
            return None
        window = next(self._reading)
        if window is not None and window.final:
            self._reading_row = -1
        return window

    def _open_next_row(self) -> bool:
        """Go on to the next row that must be looked at; matches that are known wait for what is asked before them."""
        row = self._route.coming()
        if row is None or (self._asked and isinstance(row, Known)):
            return False
        self._route.go_on()
        if isinstance(row, Known):
            in_head = row.rows[0] < self._route.start
            self.hits.add_all(row.rows, row.starts, len(self.query.text), in_head=in_head)
        elif self._rows.kind(row) is not RowKind.HIDDEN:
            blocks = self._projection.body_blocks(self._rows, row)
            self._reading, self._reading_row = windows(row, blocks, self._matcher.cut), row
            return True
        return False

    def _start_of(self, window: Window) -> int:
        """Matches do not overlap, also where a body is cut."""
        return max(0, self._last_end - window.base) if window.base else 0

    def _take(self, answer: list[Found] | None) -> None:
        if answer is None:
            return
        asked, self._asked = self._asked, []
        for window, found in zip(asked, answer, strict=True):
            self._last_end = window.base + found[-1][1] if found else self._last_end if window.base else 0
            if window.row >= 0 and found:
                self.hits.add(window.row, window.base, found, in_head=window.row < self._route.start)


def _skimmer(projection: Projection, rows: Rows, query: Query) -> Skimmer | None:
    text = required_literal(query.text) if query.is_pattern else query.text
    return projection.block_searcher(rows, text, query.ignores_case, is_all=not query.is_pattern) if text else None


def _matcher(query: Query, seconds: float) -> Matcher:
    if not query.is_pattern:
        return Literal(query.text, query.ignores_case)
    return RegexMatcher(query.text, query.ignores_case, seconds)
