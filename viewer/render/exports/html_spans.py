"""HTML of styled characters with marked problems."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from viewer.model.messages import Span
from viewer.render.blocks.inline_marks import InlineText
from viewer.render.exports.html_text import Html, element, joined, text
from viewer.render.sanitize import SafeText
from viewer.render.style import Styled, StyleRole

_TAGS = {StyleRole.CODE: "code", StyleRole.STRONG: "strong", StyleRole.EMPHASIS: "em", StyleRole.STRIKE: "s"}


class Marks:
    """Marks problems in the text at their positions, without overlaps."""

    def __init__(self, faults: Iterable[tuple[Span, str]]) -> None:
        found = [Styled(start, max(end, start + 1), _look(severity)) for (start, end), severity in faults]
        self._marks = without_overlaps(found)
        self._ends = [mark.end for mark in self._marks]
        self._drawn: set[int] = set()

    @property
    def are_drawn(self) -> bool:
        """True if every problem has been drawn."""
        return len(self._drawn) == len(self._marks)

    def over(self, origins: Sequence[int]) -> Iterator[tuple[int, int, StyleRole]]:
        """Yield the marks on characters at these positions, each with the range of characters that it covers."""
        if not self._marks or not origins:
            return
        at = 0
        for number in range(bisect_right(self._ends, origins[0]), len(self._marks)):
            mark = self._marks[number]
            if mark.start > origins[-1]:
                return
            first = max(bisect_left(origins, mark.start), at)
            at = min(max(bisect_left(origins, mark.end), first + 1), len(origins))
            self._drawn.add(number)
            if first < at:
                yield first, at, mark.look

    def rest(self) -> Html:
        """Return the marks on characters that were not drawn."""
        left = [mark for number, mark in enumerate(self._marks) if number not in self._drawn]
        return joined([element("mark", class_=mark.look.value) for mark in left])


def line_html(line: InlineText, marks: Marks, base: StyleRole | None = None) -> Html:
    """Return the characters of a line. Characters in the style `base` get no element."""
    pieces = [*marks.over(line.origins)]
    parts: list[Html] = []
    start = 0
    for end, look in line.runs:
        parts.append(_styled(look, base, _marked(line.characters, pieces, start, end)))
        start = end
    return joined(parts)


def leaf_html(shown: SafeText, origins: Sequence[int], look: StyleRole, marks: Marks) -> Html:
    """Return a value in one style, with its problems marked."""
    return element("span", _marked(shown, [*marks.over(origins[: len(shown)])], 0, len(shown)), class_=look.value)


def without_overlaps(marks: Iterable[Styled]) -> list[Styled]:
    """Sort the marks and drop overlapping ones; errors take precedence."""
    given = [*marks]
    kept = _apart(mark for mark in given if mark.look is StyleRole.BAD_SPAN)
    others = _apart(mark for mark in given if mark.look is not StyleRole.BAD_SPAN)
    starts = [mark.start for mark in kept]
    ends = [mark.end for mark in kept]
    free = [mark for mark in others if bisect_left(starts, mark.end) <= bisect_right(ends, mark.start)]
    return sorted([*kept, *free], key=_by_place)


def _look(severity: str) -> StyleRole:
    return StyleRole.BAD_SPAN if severity == "error" else StyleRole.NOTED_SPAN


def _apart(marks: Iterable[Styled]) -> list[Styled]:
    kept: list[Styled] = []
    for mark in sorted(marks, key=_by_place):
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def _by_place(mark: Styled) -> tuple[int, int]:
    return mark.start, mark.end


def _styled(look: StyleRole | None, base: StyleRole | None, inside: Html) -> Html:
    if look is None or look is base:
        return inside
    return element(_TAGS.get(look, "span"), inside, class_=look.value)


def _marked(shown: str, pieces: Sequence[tuple[int, int, StyleRole]], start: int, end: int) -> Html:
    parts: list[Html] = []
    at = start
    for first, last, look in pieces:
        first, last = max(first, at), min(last, end)
        if first >= last:
            continue
        parts.append(text(SafeText(shown[at:first])))
        parts.append(element("mark", text(SafeText(shown[first:last])), class_=look.value))
        at = last
    return joined([*parts, text(SafeText(shown[at:end]))])
