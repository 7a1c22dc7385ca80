"""Catalog of the file list: entries with their details, ordered, filtered, and searched. Independent of widgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from viewer.sources.files import STANDARD_INPUT
from viewer.tui.files.facts import MOST_COUNTED, MOST_SEARCHED, FileFacts, Hit, Reading
from viewer.tui.files.listing import Entry, Listing
from viewer.tui.search.engine import Query

Key = Callable[[Entry, FileFacts | None], Any]


class Sort(Struct, frozen=True):
    """A sort order of the list."""

    words: str
    key: Key | None = None
    """The sort key; None for the listing's own order."""
    needs_facts: bool = False
    """True if the order is final only once every file has been read."""
    in_safe: bool = True
    in_debug: bool = True
    in_strict: bool = True


def _down(value: int | None) -> int:
    return -(-1 if value is None else value)


SORTS = (
    Sort("newest first", lambda entry, _: -entry.modified),
    Sort("largest first", lambda entry, _: -entry.size),
    Sort("most turns first", lambda _, facts: _down(facts.turns if facts else None), True),
    Sort(
        "most hidden first",
        lambda _, facts: _down(facts.hidden if facts else None),
        True,
        in_debug=False,
        in_strict=False,
    ),
    Sort("most calls first", lambda _, facts: _down(facts.calls if facts else None), True, in_safe=False),
    Sort(
        "most problems first",
        lambda _, facts: (-facts.errors, -facts.warnings) if facts else (1, 1),
        True,
    ),
    Sort("by title", lambda entry, facts: ((facts.title if facts else "") or entry.name).casefold(), True),
)
"""The sort orders besides the listing's own."""


class Search(Struct, frozen=True):
    """A search in all files."""

    typed: str
    query: Query


class Arranged(Struct, frozen=True):
    """The files in order, as of the time when the list was arranged."""

    wish: tuple[str, Search | None, int]
    """The filter, search, and sort order."""
    rows: list[Entry | str]
    """The entries, with a heading before each group."""
    entries: list[Entry]
    places: dict[str, int]
    """The row of each path."""
    backlog: list[Entry]
    """The files that were unread, in reverse order. Some may have been read since."""
    to_search: list[Entry]


class Catalog:
    """Owns the details, order, filter, search, and cursor of the file list."""

    def __init__(self, listing: Listing, where: str, reading: Reading, words: str, *, newest_first: bool) -> None:
        """`words` names the listing's own order."""
        self.listing = listing
        self.where = where
        self.reading = reading
        audience = reading.audience
        others = [sort for sort in SORTS if (sort.in_safe if audience.is_safe else sort.in_debug)]
        others = [sort for sort in others if sort.in_strict or not audience.strict]
        self._sorts = [Sort(words), *others]
        self._sort = 1 if newest_first else 0
        self.filter = ""
        self.search: Search | None = None
        self.marked: tuple[str, ...] = ()
        """The paths of the files marked for comparison."""
        self.cursor: str = ""
        """The path of the file under the cursor."""
        self._arranged = Arranged(self._wish, [], [], {}, [], [])
        self._facts: dict[Entry, FileFacts] = {}
        self._earlier: dict[str, FileFacts] = {}
        """The previous details by path, shown while a changed file is being read again."""
        self._hits: dict[Entry, Hit] = {}

    # The content of the list.

    @property
    def sort(self) -> Sort:
        """The current sort order."""
        return self._sorts[self._sort]

    @property
    def rows(self) -> list[Entry | str]:
        """The entries, with a heading before each group."""
        return self._arranged.rows

    @property
    def entries(self) -> list[Entry]:
        """The shown entries, in order."""
        return self._arranged.entries

    def facts(self, entry: Entry) -> FileFacts | None:
        """Return the details of a file, or None while nothing is known about it."""
        return self._facts.get(entry) or self._earlier.get(entry.path)

    def hit(self, entry: Entry) -> Hit | None:
        """Return the search result of a file, or None if there is no search or the file has not been searched yet."""
        return self._hits.get(entry) if self.search else None

    @property
    def searched(self) -> tuple[int, int, int]:
        """Return the numbers of matches, of files with matches, and of files still to search."""
        hits = [self._hits[entry] for entry in self.listing.entries if entry in self._hits]
        return sum(hit.count for hit in hits), sum(bool(hit.count) for hit in hits), len(self._arranged.to_search)

    @property
    def too_large(self) -> int:
        """The number of files that are too large for a search in all files."""
        return sum(entry.size > MOST_SEARCHED for entry in self.listing.entries)

    @property
    def fault(self) -> str:
        """The reason why the search failed; empty if it did not."""
        return next((hit.fault for hit in self._hits.values() if hit.fault), "") if self.search else ""

    @property
    def newest(self) -> Entry | None:
        """Return the most recently modified transcript, or None if there is none."""
        readable = (entry for entry in self.listing.entries if not entry.reason and entry.is_transcript)
        return max(readable, key=lambda entry: entry.modified, default=None)

    @property
    def row(self) -> int:
        """The row of the cursor's file or, if that is not in the list, of the first file; -1 if the list is empty."""
        places = self._arranged.places
        return places.get(self.cursor, next(iter(places.values()), -1))

    def number(self, row: int) -> int:
        """Return the number of the entry in a row, counted from 1, ignoring the headings before it."""
        if len(self.rows) == len(self.entries):
            return row + 1
        return sum(isinstance(each, Entry) for each in self.rows[: row + 1])

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files that can be opened, in list order."""
        return tuple(entry.path for entry in self.entries if not entry.reason)

    # Changes.

    def next_sort(self) -> None:
        """Switch to the next sort order."""
        self._sort = (self._sort + 1) % len(self._sorts)
        self.arrange()

    def filter_by(self, words: str) -> None:
        """Show only files whose title, name, agent, and path together contain all these words."""
        self.filter = words.strip()
        self.arrange()

    def search_for(self, typed: str) -> None:
        """Show only files with matches in text that the audience sees. Empty text ends the search."""
        query = Query.parse(typed)
        self.search = Search(typed, query) if query.text else None
        self._hits.clear()
        self.arrange()

    def toggle_mark(self, path: str) -> None:
        """Mark a file for comparison, or remove its mark."""
        others = tuple(each for each in self.marked if each != path)
        self.marked = others if path in self.marked else (*others, path)

    def clear_marks(self) -> None:
        """Remove all marks."""
        self.marked = ()

    def put_cursor(self, path: str) -> None:
        """Put the cursor on a file."""
        self.cursor = path

    def learn(self, entry: Entry, facts: FileFacts) -> None:
        """Store the details of a file."""
        self._facts[entry] = self._earlier[entry.path] = facts

    def found(self, search: Search, entry: Entry, hit: Hit) -> None:
        """Store the search result of a file, unless a new search has started."""
        if search is self.search:
            self._hits[entry] = hit

    def arrange(self) -> None:
        """Filter and order the rows again."""
        self.take(self.arranged())

    def arranged(self) -> Arranged:
        """Filter and order the rows without showing them. Any thread may call this, because it takes a while for many
        files."""
        wish, listed = self._wish, self.listing.entries[:]
        entries = [entry for entry in listed if self._is_shown(entry)] if self.search or self.filter else listed[:]
        sort = self.sort
        if sort.key is not None:
            key = sort.key
            entries.sort(key=lambda entry: key(entry, self.facts(entry) if sort.needs_facts else None))
        has_groups = sort.key is None and self.listing.has_groups
        rows: list[Entry | str] = [*self._grouped(entries)] if has_groups else [*entries]
        places = {row.path: place for place, row in enumerate(rows) if isinstance(row, Entry)}
        listed.reverse()
        backlog = [entry for entry in listed if self._is_to_read(entry)]
        to_search = [entry for entry in listed if self._is_to_search(entry)] if self.search else []
        return Arranged(wish, rows, entries, places, backlog, to_search)

    def take(self, arranged: Arranged) -> None:
        """Show arranged rows, unless the filter, search, or sort order has changed since they were arranged."""
        if arranged.wish != self._wish:
            return
        self._arranged = arranged
        if len(self._facts) > 2 * len(self.listing.entries) + 100:  # every size of a growing file is a separate entry
            listed = set(self.listing.entries)
            self._facts = {entry: facts for entry, facts in self._facts.items() if entry in listed}

    @property
    def _wish(self) -> tuple[str, Search | None, int]:
        return self.filter, self.search, self._sort

    def _is_shown(self, entry: Entry) -> bool:
        if self.search:
            hit = self._hits.get(entry)
            if hit is None or not hit.count:
                return False
        words = self.filter.casefold().split()
        if not words:
            return True
        facts = self.facts(entry)
        text = f"{facts.title if facts else ''} {entry.name} {entry.agent} {entry.path}".casefold()
        return all(word in text for word in words)

    def _grouped(self, entries: Iterable[Entry]) -> Iterator[Entry | str]:
        """Insert a rule before each group, if there are several groups or the only group is the current directory's."""
        group = None
        rows = list(entries)
        has_rules = any(entry.group != rows[-1].group for entry in rows) or (rows and rows[0].group != "other")
        for entry in rows:
            if has_rules and entry.group != group:
                group = entry.group
                yield group
            yield entry

    # The files still to be read.

    def wanted(self, visible: Sequence[Entry]) -> tuple[Entry, bool] | None:
        """Return the next file to read, and whether to read all of it. Return None if nothing is left to read. The
        titles of visible files come first, then their other details. Other files follow only if the sort order, the
        filter, or a repeated listing needs them."""
        known = self._facts
        for entry in visible:
            if entry not in known and _can_be_read(entry):
                return entry, entry.size <= _SMALL
        for entry in visible:
            if _can_be_read(entry) and not known[entry].is_counted:
                return entry, True
        counts = self.sort.needs_facts or self.listing.repeats
        while counts or self.filter:
            if not self._arranged.backlog:
                break
            entry = self._arranged.backlog[-1]
            facts = known.get(entry)
            if facts is None or (counts and not facts.is_counted):
                return entry, counts or entry.size <= _SMALL
            self._arranged.backlog.pop()
        return None

    def untitled(self, visible: Sequence[Entry]) -> list[Entry]:
        """Return the visible files without any known details."""
        return [entry for entry in visible if entry not in self._facts and _can_be_read(entry)]

    def _is_to_read(self, entry: Entry) -> bool:
        facts = self._facts.get(entry)
        return _can_be_read(entry) and (facts is None or not facts.is_counted)

    def next_unsearched(self) -> Entry | None:
        """Return the next file to search. Return None if none is left, or if the search failed."""
        while self.search and not self.fault and self._arranged.to_search:
            if self._is_to_search(self._arranged.to_search[-1]):
                return self._arranged.to_search[-1]
            self._arranged.to_search.pop()
        return None

    def _is_to_search(self, entry: Entry) -> bool:
        return bool(self.search) and entry not in self._hits and _can_be_read(entry) and entry.size <= MOST_SEARCHED


_SMALL = 4 * 1024
"""The maximum size in bytes of a file that is read completely in one step."""
assert _SMALL < MOST_COUNTED


def _can_be_read(entry: Entry) -> bool:
    return entry.is_transcript and not entry.reason and not entry.waits and entry.path != STANDARD_INPUT
