"""Which turns of the outline are folded, and how many rows that saves."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable


class Folds:
    """Folded turns in their order, with the rows that all before each of them save."""

    def __init__(self) -> None:
        self._groups: list[int] = []
        self._saved: list[int] = [0]
        """The rows that the first so many folded turns save."""

    def __contains__(self, group: int) -> bool:
        place = bisect_left(self._groups, group)
        return place < len(self._groups) and self._groups[place] == group

    def before(self, group: int) -> int:
        """How many rows are saved before this turn."""
        return self._saved[bisect_left(self._groups, group)]

    def toggled(self, group: int) -> Iterable[int]:
        """The folded turns, with this one folded or unfolded."""
        return sorted({*self._groups} ^ {group})

    def fold(self, groups: Iterable[int], size: Callable[[int], int]) -> None:
        """Fold these turns and no others; `size` says how many rows a turn has below its first."""
        self._groups = list(groups)
        self._saved = [0]
        for group in self._groups:
            self._saved.append(self._saved[-1] + size(group))

    def measure(self, size: Callable[[int], int], last: int) -> None:
        """Turns have grown, or are no more."""
        self.fold([group for group in self._groups if group <= last], size)
