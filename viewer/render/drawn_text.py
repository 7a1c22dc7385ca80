"""Body text as drawn: sanitized, JSON laid out, styled in place, with a map back to the source text."""

from __future__ import annotations

from bisect import bisect_left

from viewer.render.json_layout import laid_out, origins
from viewer.render.line import cells
from viewer.render.markdown import Styled, json_spans, markdown_spans
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.values import frozen


@frozen
class BodyText:
    """The drawn text of a body, with a map back to the text of the projection."""

    text: SafeText
    spans: list[Styled]
    origins: list[int] | None = None
    """The source offset of each drawn character; None if both texts have the same offsets."""
    given: str = ""
    """The same text before it was sanitized, character by character: the source of a copy."""

    def moved(self, span: Styled) -> Styled:
        """Map a span of the source text to the drawn text."""
        if self.origins is None:
            return span
        start = bisect_left(self.origins, span.start)
        end = max(bisect_left(self.origins, span.end), start + 1)
        return Styled(start, end, span.look)


def drawn_text(body: str, width: int, *, json: bool, markdown: bool, trim: bool, is_head: bool = False) -> BodyText:
    """Draw a body. JSON that does not fit on one row is laid out token by token. With `is_head`, more text follows."""
    normal = normalize_newlines(body)
    text = sanitize(normal)
    moved: list[int] | None = list(_after_newlines(body)) if len(normal) != len(body) else None
    if json:
        laid = laid_out(text, is_head=is_head) if cells(text) > width else None
        if laid is not None and moved is None:
            places = origins(laid, text)
            return BodyText(laid, json_spans(laid), places, _given(laid, places, text, normal))
        return BodyText(text, json_spans(text), moved, normal)
    return BodyText(text, markdown_spans(text) if markdown else [], moved, normal)


def _given(laid: str, places: list[int], text: str, normal: str) -> str:
    """The laid-out text with the characters from before sanitizing."""
    if normal == text:
        return laid
    pairs = zip(laid, places, strict=False)
    return "".join(normal[place] if text[place : place + 1] == drawn else drawn for drawn, place in pairs)


def _after_newlines(body: str) -> list[int]:
    """The offsets of the characters that remain when CRLF becomes LF, and the length."""
    kept = [at for at in range(len(body)) if not body.startswith("\r\n", at)]
    return [*kept, len(body)]
