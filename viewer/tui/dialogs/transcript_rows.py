"""Rows of the transcript list: all transcripts, or those with certain words in their title or text. Independent of
widgets."""

from __future__ import annotations

import time

from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.tui.search.engine import Query, Searcher


class TranscriptRows:
    """Owns the list's filter and search. Both work in steps, because a file may have many transcripts."""

    def __init__(self, projection: Projection, rows: Rows) -> None:
        self.filter = ""
        self.search = ""
        self._projection = projection
        self._rows = rows
        self._found: list[int] | None = None
        """The numbers of the matching transcripts; None if there is no filter or search."""
        self._next = 1
        """The first transcript that has not been compared with the filter."""
        self._searcher: Searcher | None = None

    def __len__(self) -> int:
        return self.total if self._found is None else len(self._found)

    @property
    def total(self) -> int:
        """The number of all transcripts."""
        return len(self._rows.shown_transcripts)

    @property
    def fault(self) -> str:
        """The reason why the search failed; empty if it did not."""
        return (self._searcher.fault or "") if self._searcher is not None else ""

    def label(self, row: int) -> int:
        """Return the printed number of the transcript in a row."""
        return row + 1 if self._found is None else self._found[row]

    def row_of(self, label: int) -> int:
        """Return the row of a transcript, or of the first one after it, or else the last row."""
        if self._found is None:
            return label - 1
        return next((row for row, each in enumerate(self._found) if each >= label), max(0, len(self._found) - 1))

    def filter_by(self, words: str) -> None:
        """Show only transcripts with all these words in their titles; without words, show all transcripts."""
        self._restart(words.strip(), "")

    def search_for(self, typed: str) -> None:
        """Show only transcripts with matches in text that this audience sees; without text, show all transcripts."""
        self._restart("", typed)
        query = Query.parse(typed)
        if query.text:
            self._searcher = Searcher(self._projection, self._rows, query)

    def step(self, seconds: float) -> bool:
        """Search or filter for about this long. Return True if there is more to do."""
        deadline = time.monotonic() + seconds
        if self._found is None:
            return False
        if self._searcher is not None:
            more = self._searcher.step(seconds)
            rows = self._rows
            found = {rows.transcript_label(rows.transcript(row)) for row in self._searcher.matches.rows()}
            self._found = sorted(found)
            return more
        words = self.filter.casefold().split()
        while self._next <= self.total and time.monotonic() < deadline:
            title = self._projection.boundary(self._rows, self._next).title.casefold()
            if all(word in title for word in words):
                self._found.append(self._next)
            self._next += 1
        return self._next <= self.total

    def close(self) -> None:
        """Stop the search."""
        if self._searcher is not None:
            self._searcher.close()

    def _restart(self, filter: str, search: str) -> None:
        self.close()
        self.filter, self.search = filter, search
        self._found, self._next, self._searcher = ([] if filter or search else None), 1, None
