"""Body lines: laid out, styled, and folded if long."""

from __future__ import annotations

import re
from collections.abc import Sequence

from viewer.render.drawn_text import BodyText
from viewer.render.layout import Row, lay_out
from viewer.render.markdown import Styled
from viewer.render.sanitize import sanitize
from viewer.render.style import Part, StyleRole, trusted
from viewer.tui.transcript.block import BlockLine, Overlays, styled_row

_MARKER = re.compile(r"<\|[a-z_]{1,32}\|>")
FOLD_FROM = 60
"""A body with more rows is folded."""
FOLD_TO = 30
SHORT_FOLD_FROM = 16
"""The same for hidden messages in the debug view."""
SHORT_FOLD_TO = 8


def raw_text(data: bytes) -> BodyText:
    """The bytes of a message as text with marked control tokens."""
    given = data.decode("utf-8", "replace")
    text = sanitize(given)
    return BodyText(text, [Styled(*match.span(), StyleRole.MARKER) for match in _MARKER.finditer(text)], None, given)


def trimmed(rows: list[Row], trim: bool) -> list[Row]:
    """Remove the empty row after a final newline, and with `trim` an empty first row."""
    if trim and len(rows) > 1 and not rows[0].text:
        rows = rows[1:]
    return rows[:-1] if len(rows) > 1 and not rows[-1].text else rows


def body_lines(
    drawn: BodyText, width: int, lead: Part, look: StyleRole, overlays: Sequence[Styled], trim: bool
) -> list[BlockLine]:
    """All lines of a body after their gutter."""
    over = Overlays(drawn.spans, sorted((drawn.moved(span) for span in overlays), key=lambda span: span[:2]))
    lines = []
    for row in trimmed(lay_out(drawn.text, width), trim):
        parts = (lead, *styled_row(row, look, over.over(row)))
        lines.append(BlockLine(parts, row, len(lead.text)))
    return lines


def kept_rows(short: bool, unfolded: bool | None) -> tuple[int, int]:
    """The number of rows above which a body folds, and the number that stay."""
    if unfolded is False:
        return 1, 1
    return (SHORT_FOLD_FROM, SHORT_FOLD_TO) if short else (FOLD_FROM, FOLD_TO)


def folded(lines: list[BlockLine], short: bool, unfolded: bool | None, lead: Part, more: str) -> list[BlockLine]:
    """Truncate a long body, with a line that counts the missing lines."""
    most, keep = kept_rows(short, unfolded)
    if unfolded or len(lines) <= most:
        return lines
    rest = len(lines) - keep
    note = f"{more} {rest} more line{'s' if rest > 1 else ''}"
    return [*lines[:keep], BlockLine((lead, Part(trusted(note), StyleRole.QUIET)), folds=True)]
