"""Steps of an export: transcripts, turns, items with their notes, and problems, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.values import Boundary, BriefCall, HiddenRun, ShownCall, ShownDiagnostic, ShownMessage, ShownStray
from viewer.formats import FORMATS
from viewer.render.conversation import Notes, calls_by_message


class TurnBegins(Struct, frozen=True, gc=False):
    """The start of a turn, with the time of its first message if there is one."""

    transcript: int
    number: int
    time: str | None


class PlacedMessage(Struct, frozen=True):
    """A message with its calls and problems."""

    message: ShownMessage
    calls: Sequence[ShownCall]
    problems: list[ShownDiagnostic]
    trim: bool
    """True if a newline at either end of the body is layout, not content."""


Step = Boundary | TurnBegins | PlacedMessage | ShownStray | HiddenRun | BriefCall | ShownDiagnostic
"""One step of an export. A separate `ShownDiagnostic` belongs to hidden content or to a position between messages."""


def steps_of(projection: Projection, problems: list[ShownDiagnostic], calls: CallView) -> Iterator[Step]:
    """Yield all shown content from top to bottom, with the projection's problems and calls at their positions."""
    rows = projection.rows()
    notes = Notes(projection.audience.is_safe)
    notes.add(problems)
    calls_of = calls_by_message(calls)
    transcript = turn = 0
    trim = False
    for item in projection.items():
        if isinstance(item, ShownMessage):
            yield from notes.before(item)
        while transcript < item.transcript:
            transcript, turn = transcript + 1, 0
            if not projection.has_transcript(rows, transcript):
                continue
            boundary = projection.boundary(rows, transcript)
            trim = FORMATS[boundary.transcript.format].display_trim
            yield boundary
        if not isinstance(item, ShownMessage):
            yield item
            continue
        if item.turn != turn:
            turn = item.turn
            yield TurnBegins(transcript, turn, item.time)
        yield PlacedMessage(item, calls_of(item.number), list(notes.of(item.number)), trim)
    for number in range(transcript + 1, len(rows.shown_transcripts) + 1):
        if projection.has_transcript(rows, number):
            yield projection.boundary(rows, number)
    yield from notes.rest()


def disclosed_problems(projection: Projection) -> list[ShownDiagnostic]:
    """Return the problems disclosed to this audience: an end user gets no notes."""
    safe = projection.audience.is_safe
    return [found for found in projection.diagnostics() if not safe or found.severity != "info"]
