"""Folds of the outline: folded turns and the rows that they hide."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable


class Folds:
    """Folded turns in order, with the number of rows hidden before each."""

    def __init__(self) -> None:
        self._groups: list[int] = []
        self._saved: list[int] = [0]
        """Prefix sums of the hidden rows."""

    def __contains__(self, group: int) -> bool:
        place = bisect_left(self._groups, group)
        return place < len(self._groups) and self._groups[place] == group

    def before(self, group: int) -> int:
        """Return the number of rows hidden before a turn."""
        return self._saved[bisect_left(self._groups, group)]

    def toggled(self, group: int) -> Iterable[int]:
        """Return the folded turns as they would be with one turn folded or unfolded."""
        return sorted({*self._groups} ^ {group})

    def fold(self, groups: Iterable[int], size: Callable[[int], int]) -> None:
        """Fold exactly these turns. `size` returns the number of rows below the first row of a turn."""
        self._groups = list(groups)
        self._saved = [0]
        for group in self._groups:
            self._saved.append(self._saved[-1] + size(group))

    def measure(self, size: Callable[[int], int], last: int) -> None:
        """Update the sizes after turns have grown or been removed. `last` is the last turn that still exists."""
        self.fold([group for group in self._groups if group <= last], size)
