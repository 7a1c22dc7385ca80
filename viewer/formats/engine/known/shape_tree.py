"""Search tree of patterns: patterns that begin alike share a branch, which is matched only once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")
Result = TypeVar("Result")
Parts = tuple[tuple[bytes, bytes], ...]
"""The parts of a pattern: verbatim bytes, and the pattern of the hole after them. The last part has no hole."""
Regs = tuple[tuple[int, int], ...]
"""The spans of the holes."""
Match = Callable[["bytes | bytearray", int], "re.Match[bytes] | None"]


class _Branch(Generic[Value]):
    """Parts that several patterns have in common, or the rest of one pattern."""

    __slots__ = ("below", "first", "match", "parts", "values")

    def __init__(self, parts: Parts) -> None:
        self.use(parts)
        self.below: list[_Branch[Value]] = []
        self.values: list[Value] = []
        """The values of the patterns that end here."""

    def use(self, parts: Parts) -> None:
        """Set the parts and everything derived from them."""
        self.parts = parts
        self.first = parts[0][0]
        """The bytes with which every match begins."""
        self.match: Match = self._first_match
        """Matches the parts at an index."""

    def _first_match(self, data: bytes | bytearray, at: int) -> re.Match[bytes] | None:
        """Compile the pattern, and match it. It is compiled on first use, because a small input uses few patterns."""
        pattern = b"".join(re.escape(verbatim) + (hole and b"(" + hole + b")") for verbatim, hole in self.parts)
        self.match = re.compile(pattern, re.DOTALL).match
        return self.match(data, at)

    def split(self, size: int) -> None:
        """Move the parts after the first `size` to a branch below."""
        rest = _Branch[Value](self.parts[size:])
        rest.below, rest.values = self.below, self.values
        self.below, self.values = [rest], []
        self.use(self.parts[:size])


class ShapeTree(Generic[Value]):
    """Stores values by byte patterns, and finds those whose patterns match."""

    def __init__(self) -> None:
        self._branches: list[_Branch[Value]] = []

    def add(self, parts: Parts, value: Value) -> None:
        """Add a value with the parts of its pattern."""
        branches = self._branches
        while True:
            branch = next((each for each in branches if each.parts[0] == parts[0]), None)
            if branch is None:
                branch = _Branch[Value](parts)
                branch.values.append(value)
                branches.insert(0, branch)
                return
            size = _common_length(branch.parts, parts)
            if size < len(branch.parts):
                branch.split(size)
            if size == len(parts):
                branch.values.insert(0, value)
                return
            branches, parts = branch.below, parts[size:]

    def find(
        self, data: bytes | bytearray, at: int, take: Callable[[Value, Regs, int], Result | None]
    ) -> Result | None:
        """Return the first result of `take` for the patterns that match at an index, or None if every result is None.
        `take` receives a value, the spans of the holes, and the end of the match. The most recently found patterns are
        tried first."""
        return self._find(self._branches, data, at, (), take)

    def _find(
        self,
        branches: list[_Branch[Value]],
        data: bytes | bytearray,
        at: int,
        before: Regs,
        take: Callable[[Value, Regs, int], Result | None],
    ) -> Result | None:
        for place, branch in enumerate(branches):
            if not data.startswith(branch.first, at):
                continue
            found = branch.match(data, at)
            if found is None:
                continue
            end = found.end()
            spans = before + found.regs[1:]
            result = None
            for value in branch.values:
                result = take(value, spans, end)
                if result is not None:
                    break
            if result is None and branch.below:
                result = self._find(branch.below, data, end, spans, take)
            if result is not None:
                if place:
                    branches.insert(0, branches.pop(place))
                return result
        return None


def _common_length(one: Parts, other: Parts) -> int:
    """Return the number of equal parts at the start."""
    size = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        size += 1
    return size
