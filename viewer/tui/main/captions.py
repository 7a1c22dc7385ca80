"""Captions around the conversation: the title, the status row, and the sentences of a view without messages."""

from __future__ import annotations

from pathlib import PurePath

from viewer.document.live import LiveDocument
from viewer.document.rows import RowKind
from viewer.document.values import ShownDiagnostic, ShownTranscript
from viewer.formats import FORMATS
from viewer.render.blocks.block import RowProblems
from viewer.render.page import EmptyFacts, empty_sentences
from viewer.render.sanitize import SafeText
from viewer.render.style import trusted
from viewer.render.title import TitleFacts
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.status_lines import NamedProblem, StatusFacts
from viewer.tui.control.panes import PaneController
from viewer.tui.cursor import Cursor
from viewer.tui.main.follow import FollowTitle
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.session import Session

UNKNOWN_FORMAT = "unknown format"
MOST_LOOKED_AT = 1000
"""Rows before another that are searched for a message."""


def title_facts(session: Session, cursor: Cursor, follow: FollowTitle) -> TitleFacts:
    """The facts of the title line. Problems are named when the check has ended."""
    document, rows, number = session.document, session.rows, cursor.number
    transcript = _transcript_at(session, number)
    severities = session.diagnostics.severities
    count, debug = len(rows.shown_transcripts), session.display.debug
    is_checked = document.is_checked or isinstance(document, LiveDocument)
    is_checking = document.is_read and not is_checked
    calls = session.calls
    tokens = session.projection.usage() if debug else None
    return TitleFacts(
        name=PurePath(document.name).name or document.name,
        format=_format_title(session, transcript),
        model=(transcript.model or "") if transcript else "",
        level=session.display.level,
        agent=session.projection.thread_of(session.agent) if session.agent else 0,
        transcript=(transcript.number, count) if transcript and count > 1 else None,
        turn=_turn_at(session, cursor),
        errors=severities["error"] if is_checked else 0,
        warnings=severities["warning"] if is_checked else 0,
        calls=len(calls) if debug else 0,
        failed=sum(calls.states[state] for state in ("failed", "timeout")) if debug else 0,
        tokens=(tokens.total or 0) if tokens is not None else 0,
        size=document.size if debug and document.is_complete else 0,
        follow=follow.state,
        words=follow.words,
        busy="checking…" if is_checking else follow.busy,
        is_reading=bool(follow.busy) and not is_checking,
    )


def _turn_at(session: Session, cursor: Cursor) -> tuple[int, int] | None:
    """The turn of the cursor and the last one of its transcript; hidden rows belong to the turn before them."""
    rows = session.rows
    row = cursor.row(rows)
    if row is None:
        return None
    own = rows.rows_of_transcript(rows.transcript(row))
    here, last = (_turn_before(session, place, own.start) for place in (row, own.stop - 1))
    return (max(here, 1), last) if last else None


def _turn_before(session: Session, row: int, first: int) -> int:
    """The turn of the last message up to a row."""
    rows = session.rows
    messages = (
        each for each in range(row, max(first, row - MOST_LOOKED_AT) - 1, -1) if rows.kind(each) is RowKind.MESSAGE
    )
    found = next(messages, None)
    return rows.turn(found) if found is not None else 0


def status_facts(
    session: Session, cursor: Cursor, chosen: ShownDiagnostic | None, keys: tuple[str, str]
) -> StatusFacts:
    """The facts of the status row: the problem here, or else in the safe view how many hidden steps had some."""
    rows, diagnostics, safe = session.rows, session.diagnostics, not session.display.debug
    row = cursor.row(rows)
    shown = chosen
    if shown is None and row is not None and not safe and session.document.is_checked:
        shown = next((one for one in RowProblems(rows, diagnostics).of(row) if one.severity != "info"), None)
    place = diagnostics.place_of(shown) if shown is not None else -1
    hidden = session.hidden_steps if safe and session.document.is_checked else 0
    total, number = session.message_total, _label(session, cursor)
    return StatusFacts(
        safe=safe,
        problem=NamedProblem(shown, place + 1, len(diagnostics)) if shown is not None and place >= 0 else None,
        hidden_steps=hidden,
        problem_key=keys[0],
        open_key=keys[1],
        place=f"{number} of {total}" if number and total else "",
        source=session.document.note,
    )


def _label(session: Session, cursor: Cursor) -> int:
    """The printed number of the message of the cursor."""
    row = cursor.row(session.rows)
    label = session.rows.label(row) if row is not None and cursor.message else 0
    return label or cursor.number


def footer_view(session: Session, panes: PaneController) -> FooterView:
    """What the keys of the footer act on."""
    if panes.focused is Panel.BOTTOM:
        return {BottomTab.CALLS: FooterView.CALLS, BottomTab.TIMELINE: FooterView.TIMELINE}.get(
            panes.tab, FooterView.LIST
        )
    if panes.focused in (Panel.OUTLINE, Panel.INSPECTOR):
        return FooterView.LIST
    return FooterView(session.display.level)


def _format_title(session: Session, transcript: ShownTranscript | None) -> str:
    if session.projection.is_unknown:
        return UNKNOWN_FORMAT
    if not transcript and not session.document.tally.transcripts:
        return ""
    return FORMATS.title(transcript.format if transcript else session.document.detection.format)


def _transcript_at(session: Session, number: int) -> ShownTranscript | None:
    """The transcript of a message, or the first transcript."""
    projection, rows = session.projection, session.rows
    if number and rows.reach:
        return projection.transcript_of(rows, min(number, rows.reach))
    return projection.boundary(rows, 1, grows=True).transcript if rows.shown_transcripts else None


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
