"""Body of a message as HTML: exact text, styled in place, with marked problems, folded if long."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from viewer.model.messages import Span
from viewer.render.body import BodyText, Rendering, drawn_text
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, opening, text, words
from viewer.render.markdown import LARGEST
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Styled, StyleRole

FOLD_FROM, FOLD_TO = 60, 40
"""A longer body is folded to this many lines."""
SHORT_FOLD_FROM, SHORT_FOLD_TO = 16, 10
"""The same for messages that the end user did not see."""
_WIDTH = 88
"""Approximate characters per line of the page; longer JSON is laid out."""
_BLOCK = 64 * 1024
"""Size of a piece of a body that is too large to be styled."""
_BEGINNING = 2000
_NEAR = 500
"""How far before the end of a piece to search for a space."""

_TAGS = {StyleRole.CODE: "code", StyleRole.STRONG: "strong", StyleRole.EMPHASIS: "em"}


def body_html(
    body: str, faults: Sequence[tuple[Span, str]], *, prose: bool, json: bool, short: bool, trim: bool
) -> Iterator[Html]:
    """Pieces of HTML; `short` folds early, `prose` is styled like Markdown."""
    if len(body) > LARGEST:
        yield from _large(body)
        return
    drawn = drawn_text(body, _WIDTH, json=json, markdown=Rendering.SOURCE if prose else Rendering.PLAIN, trim=trim)
    marks = _apart([drawn.moved(Styled(*span, _look(severity))) for span, severity in faults])
    start, end = _range(drawn.text, trim)
    if start == end:
        yield element("p", words("(empty)"), class_="empty")
        return
    cut = _fold(drawn.text, start, end, short)
    yield _block(drawn, marks, start, cut or end, prose)
    if cut:
        more = counted(_rows(drawn.text, cut, end), "more line")
        rest = _block(drawn, marks, cut, end, prose)
        yield element("details", element("summary", words(more)), rest, class_="rest")


def _look(severity: str) -> StyleRole:
    return StyleRole.BAD_SPAN if severity == "error" else StyleRole.NOTED_SPAN


def _range(shown: str, trim: bool) -> tuple[int, int]:
    """The range without the trailing newline, and with `trim` without the leading one."""
    start = 1 if trim and shown.startswith("\n") else 0
    end = len(shown) - 1 if shown.endswith("\n") else len(shown)
    return start, max(start, end)


def _fold(shown: str, start: int, end: int, short: bool) -> int:
    """The end of the first part of a long body; 0 if all of it is shown."""
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


def _block(drawn: BodyText, marks: list[Styled], start: int, end: int, prose: bool) -> Html:
    """One part of a body; a newline at its end ends the block."""
    last = end - 1 if drawn.text[end - 1 : end] == "\n" and end < len(drawn.text) else end
    inside = _styled(drawn, marks, start, last)
    return element("div", inside, class_="text prose" if prose else "text data", dir="auto")


def _styled(drawn: BodyText, marks: list[Styled], start: int, end: int) -> Html:
    """The styled spans as elements, with the text between them."""
    parts: list[Html] = []
    at = start
    for span in drawn.spans:
        first, last = max(span.start, at), min(span.end, end)
        if first >= last:
            continue
        block = span.look is StyleRole.CODE and "\n" in drawn.text[first:last]
        if block and drawn.text[last : last + 1] == "\n" and last < end:
            last += 1
        parts.append(_marked(drawn.text, marks, at, first))
        inside = _tokens(drawn, marks, first, last)
        parts.append(element(_TAGS.get(span.look, "span"), inside, class_="block" if block else span.look.value))
        at = last
    return joined([*parts, _marked(drawn.text, marks, at, end, closes=True)])


def _tokens(drawn: BodyText, marks: list[Styled], start: int, end: int) -> Html:
    """A span with the tokens of its code as elements."""
    parts: list[Html] = []
    at = start
    for token in islice(drawn.tokens, bisect_right(drawn.tokens, start, key=_end_of), None):
        first, last = max(token.start, at), min(token.end, end)
        if first >= end:
            break
        parts.append(_marked(drawn.text, marks, at, first))
        parts.append(element("span", _marked(drawn.text, marks, first, last), class_=token.look.value))
        at = last
    return joined([*parts, _marked(drawn.text, marks, at, end)])


def _marked(shown: SafeText, marks: list[Styled], start: int, end: int, *, closes: bool = False) -> Html:
    """A range of text with marked problems; an empty mark lies between two characters."""
    parts: list[Html] = []
    at = start
    for mark in islice(marks, bisect_left(marks, start, key=_end_of), None):
        if mark.start > end or (mark.start == end and not closes):
            break
        first, last = max(mark.start, at), min(mark.end, end)
        if first < last or mark.start == mark.end:
            parts.append(text(SafeText(shown[at:first])))
            parts.append(element("mark", text(SafeText(shown[first:last])), class_=mark.look.value))
            at = max(at, last)
    return joined([*parts, text(SafeText(shown[at:end]))]) if start < end or parts else NOTHING


def _apart(marks: list[Styled]) -> list[Styled]:
    """Sort the marks and drop overlapping ones; errors take precedence."""
    kept = _without_overlaps(mark for mark in marks if mark.look is StyleRole.BAD_SPAN)
    others = _without_overlaps(mark for mark in marks if mark.look is not StyleRole.BAD_SPAN)
    starts = [mark.start for mark in kept]
    ends = [mark.end for mark in kept]
    free = [mark for mark in others if bisect_left(starts, mark.end) <= bisect_right(ends, mark.start)]
    return sorted([*kept, *free], key=_by_place)


def _end_of(mark: Styled) -> int:
    return mark.end


def _without_overlaps(marks: Iterable[Styled]) -> list[Styled]:
    kept: list[Styled] = []
    for mark in sorted(marks, key=_by_place):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def _by_place(mark: Styled) -> tuple[int, int]:
    return mark.start, mark.end


def _large(body: str) -> Iterator[Html]:
    """A body too large to be styled, in pieces, folded after its beginning."""
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
    """The text in pieces that end after whitespace if possible."""
    start, size = 0, _BEGINNING
    while start < len(given):
        limit = start + size
        end = 1 + max(given.rfind(space, limit - _NEAR, limit) for space in "\n ") if limit < len(given) else limit
        end = end or limit
        yield given[start:end]
        start, size = end, _BLOCK
