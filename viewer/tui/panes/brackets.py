"""Strokes that connect a call to its reply in a list: `┌` `└`, `├` if several are open, `│` in between."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from viewer.document.calls import CallView
from viewer.render.style import Style


class _Spans:
    """Intervals of numbers; counts those over a place without visiting each of them."""

    def __init__(self, firsts: Sequence[int], lasts: Sequence[int]) -> None:
        self._firsts, self._lasts = firsts, lasts

    def before(self, number: int) -> int:
        """The number of intervals that began earlier and reach this number."""
        return bisect_left(self._firsts, number) - bisect_left(self._lasts, number)

    def after(self, number: int) -> int:
        """The number of intervals that continue after this number."""
        return bisect_right(self._firsts, number) - bisect_right(self._lasts, number)

    def end_at(self, number: int) -> bool:
        """True if an interval begins or ends at this number."""
        return any(
            bisect_left(numbers, number) < bisect_right(numbers, number) for numbers in (self._firsts, self._lasts)
        )


class Brackets:
    """The stroke of each message."""

    def __init__(self, calls: CallView) -> None:
        spans = calls.spans
        self._all = _Spans(spans.firsts, spans.lasts)
        self._firm = _Spans(spans.firm_firsts, spans.firm_lasts)

    def stroke(self, number: int, style: Style) -> str:
        """One cell; dotted if all calls that pass are inferred."""
        before, after = self._all.before(number) > 0, self._all.after(number) > 0
        if self._all.end_at(number):
            if style.ascii:
                return "+"
            return "├" if before and after else "└" if before else "┌" if after else " "
        if not before:
            return " "
        firm = self._firm.before(number) > 0
        return ("|" if firm else ":") if style.ascii else ("│" if firm else "┆")
