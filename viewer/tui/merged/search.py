"""Search in the merged view: one searcher per input, and the rows with matches in the view's order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from viewer.insight.merge import MergedPlace
from viewer.render.style import Styled, StyleRole
from viewer.tui.merged.sources import MergedSources
from viewer.tui.search.engine import Query, Searcher


class MergedSearch:
    """Owns the searchers. They work in steps, so keys need not wait."""

    def __init__(self, sources: MergedSources, typed: str) -> None:
        self.typed = typed
        self.query = Query.parse(typed)
        self._sources = sources
        self._searchers = [Searcher(each.projection, each.rows, self.query) for each in sources.sources]

    @property
    def fault(self) -> str:
        """The reason why the search ended early; empty if it did not."""
        return next((each.fault for each in self._searchers if each.fault), "")

    @property
    def total(self) -> int:
        """The number of matches so far."""
        return sum(each.matches.total for each in self._searchers)

    def step(self, seconds: float) -> bool:
        """Search for about this long. Return True if there is more to do."""
        waiting = [each for each in self._searchers if not each.is_done]
        if waiting:
            waiting[0].step(seconds)
        return any(not each.is_done for each in waiting)

    def rows(self) -> list[int]:
        """Return the merged rows with matches, in order."""
        rows = self._sources.rows
        found = ((place, row) for place, each in enumerate(self._searchers) for row in each.matches.rows())
        return sorted(rows.row_at(MergedPlace(place, row)) for place, row in found)

    def next_row(self, here: int, step: int) -> int | None:
        """Return the nearest row with a match in the direction of `step`, wrapping around; None if there are none."""
        rows = self.rows()
        if not rows:
            return None
        return rows[(bisect_right(rows, here) if step > 0 else bisect_left(rows, here) - 1) % len(rows)]

    def spans(self, source: int, number: int) -> Sequence[Styled]:
        """Return the spans of the matches in a message's body."""
        rows = self._sources.sources[source].rows
        if not len(rows):
            return ()
        found = self._searchers[source].matches.in_row(rows.row_of(number))
        return [Styled(match.start, match.end, StyleRole.MATCH) for match in found]

    def close(self) -> None:
        """Stop the search."""
        for each in self._searchers:
            each.close()
