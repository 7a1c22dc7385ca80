"""`UsageTable`: the token usage of messages and transcripts, with running sums by model."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from typing import TypeVar

from viewer.model.messages import Usage


class UsageTable:
    """The tokens that each message used, with the model."""

    def __init__(self) -> None:
        self.by_message: dict[int, Usage] = {}
        """The usage of each message that reports any, by message number."""
        self.totals: dict[int, Usage] = {}
        """The usage reported for a whole transcript, by transcript number."""
        self.sums: dict[int, dict[str | None, Usage]] = {}
        """The sums over the messages of each transcript, by model. The key is None if the input names no model."""
        self.version = 0
        """A counter that changes with every addition."""
        self._numbers: list[int] = []
        self._models: dict[int, str] = {}
        self._names: dict[str, str] = {}

    def add(self, transcript: int, number: int, usage: Usage, model: str | None) -> None:
        """Add to the usage of a message, or of a transcript if the number is 0."""
        self.version += 1
        if not number:
            _add(self.totals, transcript, usage)
            return
        if number not in self.by_message:
            insort(self._numbers, number)
        if model is not None and number not in self._models:
            self._models[number] = self._names.setdefault(model, model)
        _add(self.by_message, number, usage)
        _add(self.sums.setdefault(transcript, {}), self._models.get(number), usage)

    def model(self, number: int) -> str | None:
        """Return the model that a message used, or None unless the input names the model next to the usage."""
        return self._models.get(number)

    def between(self, first: int, last: int) -> Iterator[int]:
        """Yield the messages in a range that have token usage."""
        numbers = self._numbers
        return iter(numbers[bisect_left(numbers, first) : bisect_right(numbers, last)])


_Key = TypeVar("_Key")


def _add(usages: dict[_Key, Usage], key: _Key, usage: Usage) -> None:
    known = usages.get(key)
    usages[key] = known.plus(usage) if known else usage
