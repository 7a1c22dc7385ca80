"""Browse the tables of a scan in pages: problems by code, the files with each problem, and ready-made queries."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from viewer.corpus.filter_sql import Condition, compile_filter
from viewer.corpus.listing import ARCHIVE, MEMBER
from viewer.corpus.ready import find_query, ready_queries
from viewer.corpus.sql import execute
from viewer.corpus.store import is_url
from viewer.corpus.tables import Contents
from viewer.document.filter.tree import Filter
from viewer.errors import ViewerError

if TYPE_CHECKING:
    import duckdb

PAGE = 1000
"""The maximum number of rows on a page, and thus of rows read at a time, however large the corpus is."""
ALL_FILES = "all files"
CHANGED, MISSING = "changed since the scan", "no longer there"


class Kind(Enum):
    """The content of a list."""

    PROBLEMS = "problems"
    FILES = "files"
    QUERIES = "queries"
    ANSWER = "answer"


class Place(Struct, frozen=True):
    """A message of a file, or the start of the file if the message is None."""

    path: str
    message: int | None
    is_changed: bool = False
    """True if the file has changed since the scan."""


class Page(Struct, frozen=True):
    """Consecutive rows of a list."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    count: int
    """The number of rows in the whole list."""
    first: int
    """The index of the first row of the page."""


class Listing(Struct):
    """A list, and the part of it that is on the screen."""

    kind: Kind
    name: str = ""
    """The diagnostic code by which files are listed, or the name of the query; empty for all files."""
    sort: str = ""
    """The column to sort by; empty for the default order."""
    is_descending: bool = False
    first: int = 0
    cursor: tuple[int, int] = (0, 0)
    """The position of the cursor: its row on the page, and its column."""


_MATCHING = "select m.file_key, m.message from messages m join files f using (file_key) where {}"
_PROBLEMS = (
    "select d.code, d.severity, count(distinct d.file_key) as files, sum(d.count)::bigint as problems "
    "from diagnostics d {where} group by d.code, d.severity"
)
_ALL = (
    f"select '{ALL_FILES}' as code, '' as severity, count(*) as files, "
    "coalesce(sum(f.errors + f.warnings), 0)::bigint as problems from files f {where}"
)
_FACTS = "f.errors, f.warnings, f.messages, f.format, f.state"
_HIDDEN = ("message", "size", "mtime_ms")
"""The last columns of a list of files. They are not displayed."""
_LAST = "f.size, f.mtime_ms"
_FILES_OF_CODE = (
    f"select f.path, sum(d.count)::bigint as problems, {_FACTS}, min(d.message) as message, {_LAST} "
    "from diagnostics d join files f using (file_key) where d.code = $code {where} "
    f"group by f.path, {_FACTS}, {_LAST}"
)
_ALL_FILES = (
    "select f.path, (f.errors + f.warnings)::bigint as problems, " + _FACTS + ", {message} as message, " + _LAST + " "
    "from files f {where}"
)
_FIRST_MATCH = "(select min(x.message) from ({}) x where x.file_key = f.file_key)"
_ORDERS = {Kind.PROBLEMS: "code <> $all, problems desc, code", Kind.FILES: "problems desc, path"}
"""The default order of each kind of list, in SQL."""


class Browser:
    """Reads the lists for the screen from the database of a scan. Relative paths are resolved against `root`."""

    def __init__(
        self, database: duckdb.DuckDBPyConnection, contents: Contents, where: Filter | None = None, root: str = ""
    ) -> None:
        self._database = database
        self._contents = contents
        self.level = contents.audience.level
        """The level of the audience for which the tables were written."""
        self._root = root
        self._condition: Condition | None = None
        self.where = ""
        """The filter as typed."""
        self._notice = ""
        self.stack = [Listing(Kind.PROBLEMS)]
        """The open lists. The last one is on the screen."""
        if where is not None:
            self.filter_by(where)

    @property
    def listing(self) -> Listing:
        """The list on the screen."""
        return self.stack[-1]

    def filter_by(self, where: Filter | None) -> None:
        """Show only the messages that match a filter, and their files and problems; without a filter, show everything.
        Raise ViewerError if the tables lack what the filter needs."""
        is_empty = where is None or not (where.terms or where.pattern)
        self._condition = None if where is None or is_empty else compile_filter(where, self._contents)
        self.where = "" if where is None or is_empty else where.source
        for listing in self.stack:
            listing.first, listing.cursor = 0, (0, 0)

    def sort_by(self, column: str, index: int) -> None:
        """Sort the list by a column, or reverse the order if the list is already sorted by this column."""
        listing = self.listing
        listing.is_descending = not listing.is_descending if column == listing.sort else False
        listing.sort, listing.first, listing.cursor = column, 0, (0, index)

    def turn(self, by: int, count: int) -> bool:
        """Move the page by this many rows in a list of `count` rows. Return False if the list has no such page."""
        first = self.listing.first + by
        if not 0 <= first < count:
            return False
        self.listing.first, self.listing.cursor = first, (0, self.listing.cursor[1])
        return True

    def remember(self, row: int, column: int) -> None:
        """Remember the position of the cursor in the list."""
        self.listing.cursor = row, column

    def note(self, sentence: str) -> None:
        """Store a notice to show with the next list."""
        self._notice = sentence

    def take_notice(self) -> str:
        """Return the stored notice, or an empty string, and clear it."""
        notice, self._notice = self._notice, ""
        return notice

    def page(self) -> Page:
        """Return the current page of the list."""
        listing = self.listing
        if listing.kind is Kind.QUERIES:
            rows = tuple((f"@{each.name}", each.title) for each in ready_queries().values())
            return Page(("query", "answer"), rows, len(rows), 0)
        query, parameters = self._query(listing)
        usual = _ORDERS.get(listing.kind, "")
        if usual and "$all" in usual:
            parameters = parameters | {"all": ALL_FILES}
        order = usual
        if listing.sort:
            first = "code <> $all, " if listing.kind is Kind.PROBLEMS else ""
            quoted = listing.sort.replace('"', '""')
            order = f'{first}"{quoted}" {"desc" if listing.is_descending else "asc"} nulls last, 1'
        text = f"select *, count(*) over () from ({query}) {f'order by {order}' if order else ''} limit {PAGE}"
        found = execute(self._database, f"{text} offset {int(listing.first)}", parameters)
        columns = tuple(str(column[0]) for column in found.description)[:-1]
        rows = tuple(found.fetchall())
        count = int(rows[0][-1]) if rows else listing.first
        return Page(columns, tuple(row[:-1] for row in rows), count, listing.first)

    def _query(self, listing: Listing) -> tuple[str, dict[str, Any]]:
        if listing.kind is Kind.ANSWER:
            ready = find_query(listing.name, self._contents)
            missing = next((name for name, value in ready.parameters.items() if not value), None)
            if missing is not None:
                raise ViewerError(f"@{ready.name} needs a value for {missing}; run it with `ocmlview sql`")
            return ready.text, {name: _number(value) for name, value in ready.parameters.items()}
        condition = self._condition
        matching = _MATCHING.format(condition.sql) if condition is not None else ""
        parameters = dict(condition.parameters) if condition is not None else {}
        of_problem = f"(d.file_key, d.message) in ({matching})" if matching else ""
        of_file = f"where f.file_key in (select y.file_key from ({matching}) y)" if matching else ""
        if listing.kind is Kind.PROBLEMS:
            problems = _PROBLEMS.format(where=f"where {of_problem}" if of_problem else "")
            return f"{_ALL.format(where=of_file)} union all {problems}", parameters
        if listing.name:
            where = f"and {of_problem}" if of_problem else ""
            return _FILES_OF_CODE.format(where=where), parameters | {"code": listing.name}
        message = _FIRST_MATCH.format(matching) if matching else "null::bigint"
        return _ALL_FILES.format(where=of_file, message=message), parameters

    def shown(self, page: Page) -> Page:
        """Return the page for the screen. In a list of files, a note marks each file that is missing or has changed."""
        if page.columns[-len(_HIDDEN) :] != _HIDDEN:
            return page
        rows = tuple((*row[: -len(_HIDDEN)], self._note(row)) for row in page.rows)
        return Page((*page.columns[: -len(_HIDDEN)], "note"), rows, page.count, page.first)

    def place_of(self, page: Page, index: int) -> Place | Listing:
        """Return what a row opens: a file or another list. Raise ViewerError if it opens nothing."""
        row = page.rows[index]
        kind = self.listing.kind
        if kind is Kind.PROBLEMS:
            return Listing(Kind.FILES, "" if row[0] == ALL_FILES else str(row[0]))
        if kind is Kind.QUERIES:
            return Listing(Kind.ANSWER, str(row[0]).removeprefix("@"))
        values = dict(zip(page.columns, row, strict=True))
        path = next((values[name] for name in ("path", "example", "worst") if values.get(name)), None)
        if path is None:
            raise ViewerError("this row names no file")
        if is_url(str(path)):
            raise ViewerError("the viewer opens only files on this computer")
        resolved = self._resolved(str(path))
        if _archive_of(resolved) != resolved:
            raise ViewerError("the viewer cannot open archive members; extract this one first")
        note = self._note(row) if "mtime_ms" in values else ("" if os.path.lexists(resolved) else MISSING)
        if note == MISSING:
            raise ViewerError(f"{path} is {MISSING}")
        return Place(resolved, values.get("message"), note == CHANGED)

    def _resolved(self, path: str) -> str:
        return os.path.join(self._root, path) if self._root else path

    def _note(self, row: tuple[Any, ...]) -> str:
        path, size, mtime_ms = str(row[0]), row[-2], row[-1]
        if is_url(path):
            return ""
        try:
            status = os.stat(archive := _archive_of(self._resolved(path)))
        except (OSError, ValueError):
            return MISSING
        is_same_time = mtime_ms is None or status.st_mtime_ns // 1_000_000 == mtime_ms
        is_same = is_same_time and (
            status.st_size == size or archive != self._resolved(path) or not os.path.isfile(archive)
        )
        return "" if is_same else CHANGED


def _archive_of(path: str) -> str:
    """Return the path of the archive that contains this member. Any other path is returned unchanged."""
    archive, sign, _ = path.partition(ARCHIVE + MEMBER)
    return archive + ARCHIVE if sign and not os.path.lexists(path) else path


def _number(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text
