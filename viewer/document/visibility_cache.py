"""Visibility of messages for an audience, cached by kind of message."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from viewer.columns.api import Column
from viewer.index.messages import MessageIndex
from viewer.model.messages import Message

AT_ONCE = 64 * 1024
"""The number of messages processed at once: their columns fit into a processor cache."""
_UNKNOWN = 2


class VisibilityCache:
    """Cache that evaluates a rule once per kind of message; the rule may depend only on header and ending, not on the
    call id."""

    def __init__(self, index: MessageIndex, rule: Callable[[Message], bool]) -> None:
        self._index = index
        self._rule = rule
        self._verdicts = bytearray(b"\1")
        """By kind: 1 if such messages are visible, otherwise 0. Kind 0 means no message and hides nothing."""

    def sees(self, number: int) -> bool:
        """True if the audience sees the message with this number; False until its header is known."""
        return number <= len(self._index) and self.sees_kind(self._index.kinds[number])

    def sees_kind(self, kind: int) -> bool:
        """The same for all messages of a kind."""
        if kind >= len(self._verdicts):
            self._cover_all_kinds()
        verdict = self._verdicts[kind]
        if verdict == _UNKNOWN:
            verdict = self._verdicts[kind] = self._rule(self._index.example(kind))
        return verdict == 1

    def count(self, first: int, last: int) -> int:
        """The number of these messages that are seen."""
        starts = range(first, last + 1, AT_ONCE)
        return sum(self.mask(start, min(last, start + AT_ONCE - 1)).count(1) for start in starts)

    def first(self, first: int, last: int) -> int | None:
        """The first of these messages that is seen; None if there is none."""
        for start in range(first, last + 1, AT_ONCE):
            place = self.mask(start, min(last, start + AT_ONCE - 1)).find(1)
            if place >= 0:
                return start + place
        return None

    def mask(self, first: int, last: int) -> bytearray:
        """A mask of the seen messages among these."""
        return self._mask(self._index.kinds, first, last + 1)

    def mask_at(self, numbers: Column) -> bytearray:
        """The same for messages that need not be adjacent."""
        return self._mask(self._index.columns.take(self._index.kinds, numbers), 0, len(numbers))

    def _mask(self, kinds: array[int], first: int, last: int) -> bytearray:
        columns = self._index.columns
        self._cover_all_kinds()
        mask = columns.mask(kinds, self._verdicts, first, last)
        if _UNKNOWN not in mask:
            return mask
        for kind in columns.count_by(kinds[first:last], None):
            self.sees_kind(kind)
        return columns.mask(kinds, self._verdicts, first, last)

    def _cover_all_kinds(self) -> None:
        self._verdicts.extend(bytes((_UNKNOWN,)) * (self._index.kind_count - len(self._verdicts)))
