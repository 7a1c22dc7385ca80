"""Title-line data about the cursor's position, for the app and its first page."""

from __future__ import annotations

from pathlib import PurePath

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.values import ShownTranscript
from viewer.formats import FORMATS
from viewer.render.title import TitleFacts

UNKNOWN_FORMAT = "unknown format"
MOST_LOOKED_AT = 1000
"""How many earlier rows to search for a message."""


def place_facts(
    document: Document, projection: Projection, rows: Rows, row: int | None, number: int, everything: Rows | None = None
) -> TitleFacts:
    """Return the file, format, and model, and the transcript and turn of a row. With a filter, `everything` contains
    the unfiltered rows, which determine the last turn."""
    transcript = _transcript_at(projection, rows, number)
    count = len(rows.shown_transcripts)
    return TitleFacts(
        name=PurePath(document.name).name or document.name,
        format=_format_title(document, projection, transcript),
        model=(transcript.model or "") if transcript else "",
        transcript=(transcript.number, count) if transcript and count > 1 else None,
        turn=_turn_at(rows, row, everything or rows) if row is not None else None,
    )


def _turn_at(rows: Rows, row: int, everything: Rows) -> tuple[int, int] | None:
    """Return the turn of a row and the last turn of its transcript. Return None if the transcript has no turns. Hidden
    rows belong to the turn before them."""
    transcript = rows.transcript(row)
    here = _turn_before(rows, row, rows.rows_of_transcript(transcript).start)
    own = everything.rows_of_transcript(transcript)
    last = _turn_before(everything, own.stop - 1, own.start)
    return (max(here, 1), last) if last else None


def _turn_before(rows: Rows, row: int, first: int) -> int:
    """Return the turn of the last message up to a row, or 0 if there is none nearby."""
    messages = (
        each for each in range(row, max(first, row - MOST_LOOKED_AT) - 1, -1) if rows.kind(each) is RowKind.MESSAGE
    )
    found = next(messages, None)
    return rows.turn(found) if found is not None else 0


def _format_title(document: Document, projection: Projection, transcript: ShownTranscript | None) -> str:
    if projection.is_unknown:
        return UNKNOWN_FORMAT
    if not transcript and not document.tally.transcripts:
        return ""
    return FORMATS.title(transcript.format if transcript else document.detection.format)


def _transcript_at(projection: Projection, rows: Rows, number: int) -> ShownTranscript | None:
    """Return the transcript of a message; without a message, the first transcript, if there is one."""
    if number and rows.reach:
        return projection.transcript_of(rows, min(number, rows.reach))
    return projection.boundary(rows, 1, grows=True).transcript if rows.shown_transcripts else None
