"""A set of messages by number, as one column: the messages that pass a filter."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MessageSet:
    """Message numbers in order; four bytes each."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = numbers if isinstance(numbers, array) else array("I", numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def __contains__(self, number: int) -> bool:
        place = bisect_left(self._numbers, number)
        return place < len(self._numbers) and self._numbers[place] == number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MessageSet) and self._numbers == other._numbers

    __hash__ = None  # type: ignore[assignment]

    def among(self, numbers: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Which of these sorted numbers are in the set."""
        import numpy as np

        low = bisect_left(self._numbers, int(numbers[0]))
        high = bisect_left(self._numbers, int(numbers[-1]) + 1, low)
        chosen = np.zeros(int(numbers[-1]) - int(numbers[0]) + 1, bool)
        chosen[np.frombuffer(self._numbers[low:high], np.uint32) - numbers[0]] = True
        found: NDArray[np.bool_] = chosen[numbers - numbers[0]]
        return found
