"""HTML table of contents: the first words of each turn and, for a developer, a glyph per message."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.render.blocks.cards import speaker_of
from viewer.render.blocks.inline import without_marks
from viewer.render.exports.html_message import anchor
from viewer.render.exports.html_text import Html, closing, element, joined, link, opening, text, words
from viewer.render.head import look_of
from viewer.render.number_format import one_line
from viewer.render.sanitize import sanitize_line
from viewer.render.style import UNICODE

_SNIPPET = 60


def turn_anchor(transcript: int, turn: int) -> str:
    """Return the ID of a turn in the page."""
    return f"t{transcript}-{turn}"


def contents_html(projection: Projection, rows: Rows) -> Iterator[Html]:
    """Yield the list of turns as pieces of HTML."""
    safe = projection.audience.is_safe
    several = len(rows.shown_transcripts) > 1
    open_at = (0, 0)
    yield opening("ol", class_="turns")
    for row in range(len(rows)):
        if rows.kind(row) is not RowKind.MESSAGE:
            continue
        at = rows.transcript(row), rows.turn(row)
        if at != open_at:
            if open_at != (0, 0):
                yield Html("</span></li>\n")
            yield joined([opening("li"), _turn(projection, rows, row, several), opening("span", class_="signs")])
            open_at = at
        if not safe:
            yield _sign(projection, rows, row)
    if open_at != (0, 0):
        yield Html("</span></li>\n")
    yield closing("ol")


def _turn(projection: Projection, rows: Rows, row: int, several: bool) -> Html:
    transcript, turn = rows.transcript_label(rows.transcript(row)), rows.turn(row)
    number = f"{transcript}.{turn}" if several else f"{turn}"
    said = one_line(projection.beginning(rows.value(_first_said(rows, row, projection)), 4 * _SNIPPET))
    words_said = sanitize_line(without_marks(sanitize_line(said)), _SNIPPET)
    snippet = element("span", text(words_said), class_="snippet", dir="auto")
    return link(turn_anchor(transcript, turn), element("b", words(number)), words(" "), snippet)


def _first_said(rows: Rows, row: int, projection: Projection) -> int:
    """Return the row of the first user message in a turn, or else of its first message."""
    at = rows.transcript(row), rows.turn(row)
    for later in range(row, min(row + 20, len(rows))):
        if rows.kind(later) is not RowKind.MESSAGE:
            continue
        if (rows.transcript(later), rows.turn(later)) != at:
            break
        if projection.headline(rows.value(later)).role == "user":
            return later
    return row


def _sign(projection: Projection, rows: Rows, row: int) -> Html:
    headline = projection.headline(rows.value(row))
    sign, _, look = speaker_of(headline, UNICODE)
    if headline.visible:
        sign, look = UNICODE.live, look_of(headline)
    return link(anchor(rows.label(row)), words(sign), class_=f"chip {look.value}")
