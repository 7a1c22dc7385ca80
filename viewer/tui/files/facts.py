"""File details for the list: title, turns, problems, and last messages, read through a projection in any thread."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.session_head import read_head
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER, Audience
from viewer.reading.format import ReadOptions
from viewer.render.number_format import one_line
from viewer.sources.files import COMPRESSED, open_source, why_read_once
from viewer.sources.sessions import Session
from viewer.tui.files.listing import Entry
from viewer.tui.search.engine import Query, Searcher

MOST_COUNTED = 16 * 1024 * 1024
"""The maximum size in bytes of a file that is read completely for its counts."""
MOST_SEARCHED = 64 * 1024 * 1024
"""The maximum size in bytes of a file that a search in all files reads."""
MOST_SAID = 6
"""The maximum number of messages in a preview."""
LONGEST_SAID = 300
AROUND = 40
"""How many characters to show before a match in a preview."""
_STEP = 256 * 1024
_SEARCH_SECONDS = 0.01

Check = Callable[[], None]
"""A function that raises an error if the details are no longer wanted."""


class Reading(Struct, frozen=True):
    """How to read files, and the audience for which to count."""

    audience: Audience = END_USER
    format: str | None = None
    options: ReadOptions | None = None

    @property
    def shown(self) -> Audience:
        """The audience of titles and previews, which is always an end user."""
        return Audience(strict=True, thread=self.audience.thread, sealed=self.audience.sealed)


class Said(Struct, frozen=True, gc=False):
    """One unsanitized line of a preview."""

    role: str
    text: str
    match: tuple[int, int] = (0, 0)
    """The span of a search match in the text."""


class FileFacts(Struct, frozen=True):
    """The details of one file. Its text is not sanitized."""

    title: str = ""
    """The first message of the user, as the safe view shows it; one line."""
    turns: int | None = None
    """The number of turns; None if it is unknown because only the head was read."""
    hidden: int | None = None
    """The number of hidden messages; None for a strict audience, or if only the head was read."""
    calls: int | None = None
    """The number of calls; None in the safe view, or if only the head was read."""
    errors: int = 0
    warnings: int = 0
    is_counted: bool = False
    is_transcript: bool = True
    last: tuple[Said, ...] = ()
    """The last shown messages."""


class Hit(Struct, frozen=True):
    """The result of a search in one file."""

    count: int = 0
    said: tuple[Said, ...] = ()
    """The first matches, with the text around them."""
    fault: str = ""
    """A sentence that explains why the pattern is invalid."""


NO_TRANSCRIPT = FileFacts(is_counted=True, is_transcript=False)


def head_of(entry: Entry) -> FileFacts:
    """Read the title and, if known, the number of turns from the head of a file. For a compressed file, return
    neither."""
    if why_read_once(entry.path) == COMPRESSED:
        return FileFacts()
    head = read_head(Session(entry.agent, entry.path, entry.size, entry.modified, None, entry.format))
    return FileFacts(one_line(head.title)[:LONGEST_SAID], head.turns)


def facts_of(entry: Entry, reading: Reading, check: Check) -> FileFacts:
    """Read all details of a file, but only the title if the file is larger than `MOST_COUNTED`. Return `NO_TRANSCRIPT`
    if it cannot be read."""
    if entry.size > MOST_COUNTED:
        return FileFacts(head_of(entry).title, is_counted=True)
    try:
        document = _read(entry, reading, check)
        return _counted(document, reading)
    except (ViewerError, OSError):
        return NO_TRANSCRIPT


def search_in(entry: Entry, reading: Reading, query: Query, check: Check) -> Hit:
    """Search a file for matches in the text that the audience sees. A file that cannot be read has none."""
    try:
        document = _read(entry, reading, check)
        projection = document.project(reading.audience)
        rows = projection.rows()
        searcher = Searcher(projection, rows, query)
        while searcher.step(_SEARCH_SECONDS):
            check()
        said = tuple(_excerpt(projection, rows, *found) for found in _first(searcher))
        return Hit(searcher.matches.total, said, searcher.fault or "")
    except (ViewerError, OSError):
        return Hit()


def _first(searcher: Searcher) -> list[tuple[int, int, int]]:
    return [(match.row, match.start, match.end) for match in islice(searcher.matches, MOST_SAID)]


def _excerpt(projection: Projection, rows: Rows, row: int, start: int, end: int) -> Said:
    """Return the text around a match as one line."""
    text, skipped = "", 0
    for block in projection.body_blocks(rows, row):
        if not text and skipped + len(block) <= start - AROUND:
            skipped += len(block)
        else:
            text += block
        if skipped + len(text) >= end + LONGEST_SAID:
            break
    start, end = start - skipped, end - skipped
    before, match, after = text[max(0, start - AROUND) : start], text[start:end], text[end : end + LONGEST_SAID]
    before = before.lstrip()
    role = projection.headline(rows.value(row)).role if rows.kind(row) is RowKind.MESSAGE else ""
    words = "".join(" " if letter.isspace() else letter for letter in before + match + after)
    return Said(role, words, (len(before), len(before) + len(match)))


def _read(entry: Entry, reading: Reading, check: Check) -> Document:
    check()
    format = reading.format or entry.format
    document = Document(open_source(entry.path), format, reading.options, under=reading.audience)
    while not document.is_complete:
        document.read_some(_STEP)
        check()
    if document.missing_item:
        raise ViewerError(document.missing_item)
    return document


def _counted(document: Document, reading: Reading) -> FileFacts:
    audience = reading.audience
    projection = document.project(audience)
    rows = projection.rows()
    problems = projection.problems(rows).extend(rows.settled_number).severities
    shown = document.project(reading.shown)
    shown_rows = shown.rows()
    return FileFacts(
        _title(shown, shown_rows),
        sum(shown_rows.last_turn(transcript) for transcript in shown_rows.shown_transcripts),
        None if audience.strict else projection.omissions.messages,
        None if audience.is_safe else len(projection.calls()),
        problems.get("error", 0),
        problems.get("warning", 0),
        True,
        not document.unknown,
        _last(shown, shown_rows),
    )


def _title(projection: Projection, rows: Rows) -> str:
    """Return the beginning of the user's first message that is not empty; empty if there is none."""
    for row in range(len(rows)):
        if rows.kind(row) is RowKind.MESSAGE and projection.headline(rows.value(row)).role == "user":
            title = one_line(projection.beginning(rows.value(row), LONGEST_SAID))
            if title:
                return title
    return ""


def _last(projection: Projection, rows: Rows) -> tuple[Said, ...]:
    said: list[Said] = []
    for row in range(len(rows) - 1, -1, -1):
        if rows.kind(row) is not RowKind.MESSAGE:
            continue
        number = rows.value(row)
        text = one_line(projection.beginning(number, LONGEST_SAID))
        if text:
            said.append(Said(projection.headline(number).role, text))
        if len(said) == MOST_SAID:
            break
    return tuple(reversed(said))
