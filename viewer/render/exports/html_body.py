"""HTML of a message body: rendered Markdown, a JSON tree, or exact text, with problems marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from viewer.model.messages import Span
from viewer.render.blocks.inline import runs_between
from viewer.render.blocks.inline_marks import InlineText
from viewer.render.body import BodyText, Rendering, drawn_text
from viewer.render.exports.html_json import json_html
from viewer.render.exports.html_markdown import markdown_html
from viewer.render.exports.html_spans import Marks, line_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, opening, text, words
from viewer.render.markdown import LARGEST
from viewer.render.number_format import counted
from viewer.render.sanitize import normalize_newlines, sanitize
from viewer.render.style import Styled, StyleRole

FOLD_FROM, FOLD_TO = 60, 40
"""The maximum number of lines of a body that is not folded, and the number of lines to show of a folded one."""
SHORT_FOLD_FROM, SHORT_FOLD_TO = 15, 12
"""Like `FOLD_FROM` and `FOLD_TO`, for messages that the end user did not see."""
_WIDTH = 88
"""The approximate number of characters per line of the page."""
_BLOCK = 64 * 1024
"""The size of pieces of a body that is too large to style, in characters."""
_BEGINNING = 2000
_NEAR = 500
"""How far back from the end of a piece to search for whitespace."""


class Kind(Enum):
    """How a body is shown. The value is the CSS class."""

    PROSE = "prose"
    """Rendered Markdown."""
    ASIDE = "aside"
    DATA = "data"
    JSON = "json"


def body_html(body: str, faults: Sequence[tuple[Span, str]], kind: Kind, *, short: bool, trim: bool) -> Iterator[Html]:
    """Yield the body as pieces of HTML. With `short`, the lower limits for folding apply."""
    if len(body) > LARGEST:
        yield from _large(body)
        return
    if body in ("", "\n", "\r\n"):
        yield element("p", words("(empty)"), class_="empty")
        return
    made = json_html(body, Marks(faults)) if kind is Kind.JSON else None
    if made is not None:
        yield made
        return
    drawn = drawn_text(body, _WIDTH, json=kind is Kind.JSON, markdown=Rendering.PLAIN, trim=trim)
    made = markdown_html(drawn.text, _marks_in(drawn, faults)) if kind is Kind.PROSE else None
    if made is not None:
        yield element("div", made, class_="prose")
        return
    yield from _exact(drawn, _marks_in(drawn, faults), kind, short=short, trim=trim)


def _marks_in(drawn: BodyText, faults: Sequence[tuple[Span, str]]) -> Marks:
    """Return the problems at their positions in the drawn text."""
    moved = ((drawn.moved(Styled(*span, StyleRole.PLAIN)), severity) for span, severity in faults)
    return Marks(((mark.start, mark.end), severity) for mark, severity in moved)


def _exact(drawn: BodyText, marks: Marks, kind: Kind, *, short: bool, trim: bool) -> Iterator[Html]:
    """Yield the exact text, folded if it is long."""
    start, end = _range(drawn.text, trim)
    cut = _fold(drawn.text, start, end, short)
    name = "text aside" if kind is Kind.ASIDE else "text data"

    def block(first: int, last: int) -> Html:
        runs = runs_between(drawn.spans, first, last, None)
        line = InlineText(drawn.text[first:last], list(range(first, last)), runs)
        inside = line_html(line, marks)
        return joined([opening("div", class_=name, dir="auto"), inside, marks.rest() if last == end else NOTHING])

    yield joined([block(start, (cut or end) - bool(cut)), closing("div")])
    if cut:
        more = element("summary", words(counted(_rows(drawn.text, cut, end), "more line")))
        yield joined([opening("details", class_="rest"), more, block(cut, end), closing("div"), closing("details")])


def _range(shown: str, trim: bool) -> tuple[int, int]:
    """Return the range of the text without a trailing newline and, with `trim`, without a leading newline."""
    start = 1 if trim and shown.startswith("\n") else 0
    end = len(shown) - 1 if shown.endswith("\n") else len(shown)
    return start, max(start, end)


def _fold(shown: str, start: int, end: int, short: bool) -> int:
    """Return the end of the first part of a long body; 0 if all of it is shown."""
    most, keep = (SHORT_FOLD_FROM, SHORT_FOLD_TO) if short else (FOLD_FROM, FOLD_TO)
    if _rows(shown, start, end) <= most:
        return 0
    at = start
    for _ in range(keep):
        found = shown.find("\n", at, end)
        if found < 0:
            return 0
        at = found + 1
        if at - start > keep * _WIDTH:
            break
    return at if at < end else 0


def _rows(shown: str, start: int, end: int) -> int:
    return shown.count("\n", start, end) + 1


def _large(body: str) -> Iterator[Html]:
    """Yield, in pieces, a body that is too large to style. It is folded after the first piece."""
    pieces = _cut(normalize_newlines(body))
    first = next(pieces)
    yield element("div", text(sanitize(first)), class_="text data", dir="auto")
    yield opening("details", class_="rest")
    yield element("summary", words(f"{len(body) - len(first):,} more characters"))
    yield opening("div", class_="text data", dir="auto")
    for piece in pieces:
        yield text(sanitize(piece))
    yield joined([closing("div"), closing("details")])


def _cut(given: str) -> Iterator[str]:
    """Split the text into pieces that end after whitespace if possible."""
    start, size = 0, _BEGINNING
    while start < len(given):
        limit = start + size
        end = 1 + max(given.rfind(space, limit - _NEAR, limit) for space in "\n ") if limit < len(given) else limit
        end = end or limit
        yield given[start:end]
        start, size = end, _BLOCK
