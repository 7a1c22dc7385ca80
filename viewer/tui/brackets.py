"""The strokes that tie a call to its reply in a list of messages: `┌` `└`, `├` where several are open, `│` between."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from viewer.render.style import Style
from viewer.sources.shown import ShownCall

Span = tuple[int, int]


class _Spans:
    """Intervals of numbers: how many of them lie over a place is told without walking over them."""

    def __init__(self, spans: Iterable[Span]) -> None:
        spans = list(spans)
        self.firsts = sorted(first for first, _ in spans)
        self.lasts = sorted(last for _, last in spans)

    def before(self, number: int) -> int:
        """How many began earlier and reach this number."""
        return bisect_left(self.firsts, number) - bisect_left(self.lasts, number)

    def after(self, number: int) -> int:
        """How many go on after this number."""
        return bisect_right(self.firsts, number) - bisect_right(self.lasts, number)


class Brackets:
    """The stroke of each message."""

    def __init__(self, calls: Iterable[ShownCall]) -> None:
        linked = [call for call in calls if call.call is not None and call.reply is not None]
        self._all = _Spans(map(_span, linked))
        self._firm = _Spans(_span(call) for call in linked if not call.inferred)
        self._ends = {number for call in linked for number in (call.call, call.reply)}

    def stroke(self, number: int, style: Style) -> str:
        """One cell; dotted where all that passes by is inferred."""
        before, after = self._all.before(number) > 0, self._all.after(number) > 0
        if number in self._ends:
            if style.ascii:
                return "+"
            return "├" if before and after else "└" if before else "┌" if after else " "
        if not before:
            return " "
        firm = self._firm.before(number) > 0
        return ("|" if firm else ":") if style.ascii else ("│" if firm else "┆")


def _span(call: ShownCall) -> Span:
    ends = call.call or 0, call.reply or 0
    return min(ends), max(ends)
