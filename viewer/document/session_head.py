"""Entry of a session in a list: its title, its turns, and when it began. Only the head of the file is read."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER
from viewer.sources.files import open_source
from viewer.sources.sessions import HEAD, Session

LONGEST_TITLE = 60
_LONGEST_READ = 2000
_MOST_MESSAGES = 200


class SessionHead(Struct, frozen=True):
    """The facts of one row."""

    title: str = ""
    """The first message of the user, as the safe view shows it; one line, not yet safe for a terminal."""
    turns: int | None = None
    """None if only the head was read."""
    started: str | None = None
    is_readable: bool = True


def read_head(session: Session, format: str | None = None) -> SessionHead:
    """Read the head of a session through the safe view."""
    try:
        document = Document(open_source(session.path), format)
        document.read_some(HEAD)
        if document.size < HEAD:
            document.load()
        projection = document.project(END_USER)
        turns = _turns(projection) if document.is_complete else None
        return SessionHead(_title(projection), turns, _started(projection))
    except (ViewerError, OSError):
        return SessionHead(is_readable=False)


def _title(projection: Projection) -> str:
    for number in range(1, min(projection.message_count, _MOST_MESSAGES) + 1):
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
