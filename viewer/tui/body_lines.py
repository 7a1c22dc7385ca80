"""The body of a message as lines: laid out, styled in place, folded where it is long."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from viewer.render.json_layout import laid_out, origins
from viewer.render.layout import Row, lay_out
from viewer.render.lines import cells
from viewer.render.markdown import Styled, json_spans, markdown_spans
from viewer.render.safe_text import SafeText, normalize_newlines, safe
from viewer.render.style import Look, Part, own
from viewer.tui.block import BlockLine, Overlays, styled_row

_MARKER = re.compile(r"<\|[a-z_]{1,32}\|>")
FOLD_FROM = 60
"""A body of more rows is folded."""
FOLD_TO = 30
SHORT_FOLD_FROM = 16
"""The same for what stood behind the conversation."""
SHORT_FOLD_TO = 8


@dataclass(frozen=True, slots=True)
class BodyText:
    """The text of a body as it is drawn, and the way back from the text that the projection gives."""

    text: SafeText
    spans: list[Styled]
    origins: list[int] | None = None
    """Where each drawn character stands in the given text; None where they are the same."""
    given: str = ""
    """The same text before it was made safe, character by character: what a copy is made of."""

    def moved(self, span: Styled) -> Styled:
        """A span of the given text as a span of the drawn one."""
        if self.origins is None:
            return span
        start = bisect_left(self.origins, span.start)
        end = max(bisect_left(self.origins, span.end), start + 1)
        return Styled(start, end, span.look)


def drawn_text(body: str, width: int, *, json: bool, markdown: bool, trim: bool) -> BodyText:
    """A body made safe; JSON that does not fit on one row is laid out token by token."""
    normal = normalize_newlines(body)
    text = safe(normal)
    moved: list[int] | None = list(_after_newlines(body)) if len(normal) != len(body) else None
    if json:
        laid = laid_out(text) if cells(text) > width else None
        if laid is not None and moved is None:
            places = origins(laid, text)
            return BodyText(laid, json_spans(laid), places, _given(laid, places, text, normal))
        return BodyText(text, json_spans(text), moved, normal)
    return BodyText(text, markdown_spans(text) if markdown else [], moved, normal)


def _given(laid: str, places: list[int], text: str, normal: str) -> str:
    """What was laid out, with the characters that stood there before they were made safe."""
    if normal == text:
        return laid
    pairs = zip(laid, places, strict=False)
    return "".join(normal[place] if text[place : place + 1] == drawn else drawn for drawn, place in pairs)


def raw_text(data: bytes) -> BodyText:
    """The bytes of a message as text, control tokens marked."""
    given = data.decode("utf-8", "replace")
    text = safe(given)
    return BodyText(text, [Styled(*match.span(), Look.MARKER) for match in _MARKER.finditer(text)], None, given)


def _after_newlines(body: str) -> list[int]:
    """The offsets of the characters that stay when CRLF becomes LF, and the length."""
    kept = [at for at in range(len(body)) if not body.startswith("\r\n", at)]
    return [*kept, len(body)]


def trimmed(rows: list[Row], trim: bool) -> list[Row]:
    """Without the empty row that a newline at the end makes, and one at the beginning where it is layout."""
    if trim and len(rows) > 1 and not rows[0].text:
        rows = rows[1:]
    return rows[:-1] if len(rows) > 1 and not rows[-1].text else rows


def body_lines(
    drawn: BodyText, width: int, lead: Part, look: Look, overlays: Sequence[Styled], trim: bool
) -> list[BlockLine]:
    """All lines of a body behind its lead."""
    over = Overlays(drawn.spans, sorted((drawn.moved(span) for span in overlays), key=lambda span: span[:2]))
    lines = []
    for row in trimmed(lay_out(drawn.text, width), trim):
        parts = (lead, *styled_row(row, look, over.over(row)))
        lines.append(BlockLine(parts, row, len(lead.text)))
    return lines


def folded(lines: list[BlockLine], short: bool, unfolded: bool | None, lead: Part, more: str) -> list[BlockLine]:
    """Long bodies are cut, with a line that says how much is missing."""
    most, keep = (SHORT_FOLD_FROM, SHORT_FOLD_TO) if short else (FOLD_FROM, FOLD_TO)
    if unfolded is False:
        most, keep = 1, 1
    if unfolded or len(lines) <= most:
        return lines
    rest = len(lines) - keep
    note = f"{more} {rest} more line{'s' if rest > 1 else ''}"
    return [*lines[:keep], BlockLine((lead, Part(own(note), Look.QUIET)), folds=True)]
