"""The text of a body as it is drawn: made safe, JSON laid out, styled in place; and the way back to the text given."""

from __future__ import annotations

from bisect import bisect_left

from viewer.render.json_layout import laid_out, origins
from viewer.render.line import cells
from viewer.render.markdown import Styled, json_spans, markdown_spans
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.values import frozen


@frozen
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


def drawn_text(body: str, width: int, *, json: bool, markdown: bool, trim: bool, is_head: bool = False) -> BodyText:
    """A body made safe; JSON that does not fit on one row is laid out token by token. Of a head, more follows."""
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
    """What was laid out, with the characters that stood there before they were made safe."""
    if normal == text:
        return laid
    pairs = zip(laid, places, strict=False)
    return "".join(normal[place] if text[place : place + 1] == drawn else drawn for drawn, place in pairs)


def _after_newlines(body: str) -> list[int]:
    """The offsets of the characters that stay when CRLF becomes LF, and the length."""
    kept = [at for at in range(len(body)) if not body.startswith("\r\n", at)]
    return [*kept, len(body)]
