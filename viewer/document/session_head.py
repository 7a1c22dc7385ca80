"""Summary of a session for a list, read from the head of its file: title, turns, and start time."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER
from viewer.sources.files import Source, open_source
from viewer.sources.head import record_head
from viewer.sources.sessions import Session

HEAD = 64 * 1024
"""The maximum number of bytes of a session to read for a list."""
SMALL = 8 * 1024
"""The maximum size in bytes of a session that is read completely, even for a list."""
_READ_FIRST = 16 * 1024
"""The number of bytes to read first. Most sessions have their first prompt within this size. If one does not, the rest
of the head is read."""
_PIECE = 2 * 1024
"""How many bytes to read at a time if the next line contains no record. The size doubles after each such read."""
_SETTLED_AFTER = 16
"""The number of messages, already searched for a title, that are searched again, because a later record may have made
them visible."""
_LONGEST_READ = 2000
_MOST_MESSAGES = 200


class SessionHead(Struct, frozen=True):
    """The data for one row of a list of sessions."""

    title: str = ""
    """The first user message that the safe view shows, on one line. Not yet safe for a terminal."""
    turns: int | None = None
    """The number of turns; None if only the head was read."""
    started: str | None = None
    is_readable: bool = True


def read_head(session: Session, *, least: int = 0) -> SessionHead:
    """Read the head of a session in the safe view, up to its first prompt. A session of at most `least` bytes is read
    completely.

    A session in a known place is read in the format of its agent. If that yields no title, the format is detected. If
    the session cannot be read, `is_readable` is False."""
    try:
        head = _read_known(session, session.format, least) if session.format else None
        return head or _read(open_source(session.path), None, reads_all=0 < session.size <= max(SMALL, least))
    except (ViewerError, OSError):
        return SessionHead(is_readable=False)


def _read_known(session: Session, format: str, least: int) -> SessionHead | None:
    """Read a file of records in the format of its agent. Return None if that yields no title."""
    for size in (_READ_FIRST, HEAD):
        source = record_head(session.path, max(size, least))
        if source is None:
            return None
        is_whole = source.is_whole and source.size <= max(SMALL, least)
        head = _read(source, format, reads_all=is_whole)
        if head.title or is_whole:
            break
    return head if head.title else None


def _read(source: Source, format: str | None, *, reads_all: bool) -> SessionHead:
    document = Document(source, format)
    data = source.read(0, HEAD)
    title, known, piece = "", 0, _PIECE
    while document.size < len(data) and (reads_all or not title):
        size = _record_size(data, document.size)
        if not size:
            size, piece = piece, 2 * piece
        document.read_unchecked(size)
        if not title and document.message_count > known:
            title = _title(document.project(END_USER), max(0, known - _SETTLED_AFTER))
            known = document.message_count
    if reads_all:
        document.read_unchecked(1)
    projection = document.project(END_USER)
    turns = _turns(projection) if document.is_read else None
    return SessionHead(title or _title(projection), turns, _started(projection))


def _record_size(data: bytes, at: int) -> int:
    """Return the size of the line that begins here if it contains a record, and otherwise 0."""
    end = data.find(b"\n", at) + 1
    is_record = end and data.startswith(b"{", at) and data[at:end].rstrip().endswith(b"}")
    return end - at if is_record else 0


def _title(projection: Projection, known: int = 0) -> str:
    """Return the first shown prompt after the first `known` messages, or an empty string."""
    for number in range(known + 1, min(projection.message_count, _MOST_MESSAGES) + 1):
        line = projection.headline(number)
        if line.seen and line.role == "user":
            words = " ".join(projection.beginning(number, _LONGEST_READ).split())
            if words:
                return words
    return ""


def _turns(projection: Projection) -> int:
    rows = projection.rows()
    return max((rows.turn(row) for row in range(len(rows))), default=0)


def _started(projection: Projection) -> str | None:
    times = (projection.headline(number).time for number in range(1, min(projection.message_count, 20) + 1))
    return next((time for time in times if time is not None), None)
