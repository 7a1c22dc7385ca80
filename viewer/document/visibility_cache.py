"""Visibility of messages for an audience, cached by header and ending."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from viewer.index.messages import MessageIndex
from viewer.model.messages import Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MANY = 4096
"""From this number of messages on, loading NumPy pays off."""
AT_ONCE = 64 * 1024
"""The number of messages processed at once: their columns fit into a processor cache."""
FIRST_TABLE, LARGEST_TABLE = 1 << 12, 1 << 18
_UNSEEN, _SEEN = 1, 2


class VisibilityCache:
    """Cache that evaluates a rule once per kind of message; the rule may depend only on header and ending, not on the
    call id."""

    def __init__(self, index: MessageIndex, rule: Callable[[Message], bool]) -> None:
        self._index = index
        self._rule = rule
        self._known: dict[int, bool] = {}
        self._verdicts: NDArray[np.uint8] | None = None
        """Cached verdicts of bulk queries, by key; 0 if unknown."""

    def sees(self, number: int) -> bool:
        """True if the audience sees the message with this number; False until its header is known."""
        return number <= len(self._index) and self.sees_key(number, self._index.look_key(number))

    def sees_key(self, number: int, key: int) -> bool:
        """The same for a known key."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._rule(self._index[number])
        return known

    def count(self, first: int, last: int) -> int:
        """The number of these messages that are seen."""
        if last - first < MANY:
            return sum(self.sees_key(*pair) for pair in self._index.look_keys(first, last))
        return sum(
            int(self.seen(start, min(last, start + AT_ONCE - 1)).sum()) for start in range(first, last + 1, AT_ONCE)
        )

    def seen(self, first: int, last: int) -> NDArray[np.bool_]:
        """The same for many messages at once."""
        return self._judged(*self._index.kinds(first, last), lambda row: first + row)

    def seen_at(self, numbers: array[int]) -> NDArray[np.bool_]:
        """The same for messages that are not consecutive."""
        return self._judged(*self._index.kinds_at(numbers), numbers.__getitem__)

    def _judged(self, headers: array[int], flags: array[int], number: Callable[[int], int]) -> NDArray[np.bool_]:
        import numpy as np

        keys = np.frombuffer(headers, np.uint32).astype(np.intp) << 8 | np.frombuffer(flags, np.uint8)
        size = int(keys.max(initial=0)) + 1
        if size > LARGEST_TABLE:
            distinct, examples, places = np.unique(keys, return_index=True, return_inverse=True)
            pairs = zip(examples.tolist(), distinct.tolist(), strict=True)
            return np.array([self.sees_key(number(row), key) for row, key in pairs], bool)[places]
        verdicts = self._verdicts_up_to(size)
        found = verdicts[keys]
        if not found.all():
            unknown = np.flatnonzero(found == 0)
            examples = np.full(size, -1)
            examples[keys[unknown]] = unknown
            new = np.flatnonzero(examples >= 0)
            for key, row in zip(new.tolist(), examples[new].tolist(), strict=True):
                verdicts[key] = _SEEN if self.sees_key(number(row), key) else _UNSEEN
            found = verdicts[keys]
        seen: NDArray[np.bool_] = found == _SEEN
        return seen

    def _verdicts_up_to(self, size: int) -> NDArray[np.uint8]:
        import numpy as np

        before = self._verdicts
        if before is None or len(before) < size:
            self._verdicts = np.zeros(max(size, FIRST_TABLE), np.uint8)
            if before is not None:
                self._verdicts[: len(before)] = before
        assert self._verdicts is not None
        return self._verdicts
