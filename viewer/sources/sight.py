"""Which messages an audience sees, remembered by what their headers have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from viewer.core.index import MessageIndex
from viewer.core.messages import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANY = 4096
"""From so many messages on NumPy is worth its loading."""
AT_ONCE = 64 * 1024
"""So many messages are looked at in one go: their columns fit the cache of a processor."""
LARGEST_TABLE = 1 << 18


class Sight:
    """Asks one rule once for each kind of message; it must go by header and ending alone, but for the call id."""

    def __init__(self, index: MessageIndex, rule: Callable[[Message], bool]) -> None:
        self._index = index
        self._rule = rule
        self._known: dict[int, bool] = {}

    def sees(self, number: int) -> bool:
        """Whether the audience sees the message of this number; not before its header is known."""
        return number <= len(self._index) and self.sees_key(number, self._index.look_key(number))

    def sees_key(self, number: int, key: int) -> bool:
        """The same where the key is at hand."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._rule(self._index[number])
        return known

    def count(self, first: int, last: int) -> int:
        """How many of these messages are seen."""
        if last - first < MANY:
            return sum(self.sees_key(*pair) for pair in self._index.look_keys(first, last))
        return sum(
            int(self.seen(start, min(last, start + AT_ONCE - 1)).sum()) for start in range(first, last + 1, AT_ONCE)
        )

    def seen(self, first: int, last: int) -> NDArray[np.bool_]:
        """The same of many messages at once."""
        import numpy as np

        headers, flags = self._index.kinds(first, last)
        keys = np.frombuffer(headers, np.uint32).astype(np.int64) << 8 | np.frombuffer(flags, np.uint8)
        size = int(keys.max(initial=0)) + 1
        if size > LARGEST_TABLE:
            distinct, examples, places = np.unique(keys, return_index=True, return_inverse=True)
            pairs = zip(examples.tolist(), distinct.tolist(), strict=True)
            return np.array([self.sees_key(first + row, key) for row, key in pairs], bool)[places]
        table = np.zeros(size, np.int64)
        table[keys] = np.arange(1, len(keys) + 1)
        present = np.flatnonzero(table)
        seen = np.zeros(size, bool)
        seen[present] = [
            self.sees_key(first + row - 1, key)
            for key, row in zip(present.tolist(), table[present].tolist(), strict=True)
        ]
        found: NDArray[np.bool_] = seen[keys]
        return found
