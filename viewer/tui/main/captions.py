"""Captions around the conversation: title line, channel line, and the sentences of a view without messages."""

from __future__ import annotations

from viewer.document.rows import RowKind
from viewer.document.values import ShownTranscript
from viewer.formats import FORMATS
from viewer.model.visibility import Reveal
from viewer.render.page import EmptyFacts, empty_sentences
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, trusted
from viewer.render.title import TitleFacts
from viewer.tui.bars.toggles import ToggleFacts
from viewer.tui.cursor import Cursor
from viewer.tui.main.follow import FollowTitle
from viewer.tui.session import Session

UNKNOWN_FORMAT = "unknown format"


def title_facts(session: Session, cursor: Cursor, follow: FollowTitle) -> TitleFacts:
    """The facts of the title line."""
    document, rows, number = session.document, session.rows, cursor.number
    transcript = _transcript_at(session, number)
    severities = session.diagnostics.severities
    row = cursor.row(rows) or 0
    count = len(rows.shown_transcripts)
    return TitleFacts(
        name=document.name,
        format=_format_title(session, transcript),
        model=(transcript.model or "") if transcript else "",
        agent=session.projection.thread_of(session.agent) if session.agent else 0,
        transcript=(transcript.number, count) if transcript and count > 1 else None,
        turns=_last_turn(session) or None,
        debug=session.display.debug,
        errors=severities["error"],
        warnings=severities["warning"],
        follow=follow.state,
        words=follow.words,
        behind=follow.behind,
        message=((rows.label(row) if cursor.message else 0) or number) if number else None,
        messages=session.message_total,
        percent=100 * (row + 1) // len(rows) if len(rows) else None,
        busy=follow.busy,
    )


def _format_title(session: Session, transcript: ShownTranscript | None) -> str:
    if session.projection.is_unknown:
        return UNKNOWN_FORMAT
    if not transcript and not session.document.tally.transcripts:
        return ""
    return FORMATS.title(transcript.format if transcript else session.document.detection.format)


def _last_turn(session: Session) -> int:
    rows = session.rows
    last = len(rows) - 1
    return rows.turn(last) if last >= 0 and rows.kind(last) is RowKind.MESSAGE else 0


def _transcript_at(session: Session, number: int) -> ShownTranscript | None:
    """The transcript of a message, or the first transcript."""
    projection, rows = session.projection, session.rows
    if number and rows.reach:
        return projection.transcript_of(rows, min(number, rows.reach))
    return projection.boundary(rows, 1, grows=True).transcript if rows.shown_transcripts else None


def toggle_facts(session: Session, letters: Line) -> ToggleFacts:
    """The facts of the channel line; `letters` is the message strip for its short form."""
    channels = session.display.channels
    shown = channels | ({Reveal.DEVELOPER} if Reveal.SYSTEM in channels else set())
    return ToggleFacts(
        channels=frozenset(shown),
        shown=session.rows.shown_count,
        calls=len(session.calls),
        open=session.calls.open,
        letters=letters,
    )


def empty_notes(session: Session, follow: FollowTitle) -> list[SafeText]:
    """Sentences of a view without messages: why it is empty, and which key shows more."""
    document, display = session.document, session.display
    if not document.is_complete:
        return [trusted(f"  {follow.words or 'reading'}")]
    facts = EmptyFacts(
        messages=document.message_count,
        transcripts=document.tally.transcripts,
        metadata=document.tally.metadata,
        is_unknown=document.unknown is not None,
        strict=display.strict,
        debug=display.debug,
    )
    return _indented(*empty_sentences(facts))


def _indented(*sentences: str) -> list[SafeText]:
    return [trusted(f"  {sentence}") for sentence in sentences if sentence]
