"""Byte pattern of a text: its spellings in UTF-8, and all their positions, found with NumPy."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from string import ascii_lowercase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Positions: TypeAlias = NDArray[np.int64]

_CASE = np.uint8(0x20)
"""The bit that distinguishes ASCII letters by case."""
_WITH_CASE = (
    range(0x41, 0x2E00),
    range(0xA640, 0xAC00),
    range(0xFB00, 0x11900),
    range(0x16E40, 0x16EE0),
    range(0x1DF00, 0x1EA00),
)
"""Ranges of Unicode that contain letters with case."""
_UNTOLD = re.compile("[\ufffd\ud800-\udfff]")
"""Replacements in a text for bytes that are not text."""
_SAMPLE = 64 * 1024
_NONE: Positions = np.zeros(0, np.int64)


class BytePattern:
    """Byte pattern with the matches that `re` finds for its text, with or without case."""

    def __init__(self, text: str, ignores_case: bool) -> None:
        spellings = [_spellings(letter) if ignores_case else [letter.encode()] for letter in text]
        lengths = [len(spelled[0]) for spelled in spellings]
        self._bytes = [
            frozenset(one[at] for one in spelled if len(one) == len(spelled[0]))
            for spelled in spellings
            for at in range(len(spelled[0]))
        ]
        self.size = sum(lengths)
        self.is_exact = all(map(_is_product, spellings))
        """True if each byte match is a match of the text; otherwise it is a candidate."""
        others = {one for spelled in spellings for one in spelled if len(one) != len(spelled[0])}
        self._others = re.compile(b"|".join(map(re.escape, sorted(others)))) if others else None
        """Spellings of its letters with a different number of bytes."""
        self._others_are_ascii = any(map(bytes.isascii, others))
        self.overlaps = any(
            all(map(frozenset.intersection, self._bytes[at:], self._bytes)) for at in range(1, self.size)
        )
        """True if one match may begin inside another."""
        self._letters = [_letter(wanted) for wanted in self._bytes]
        """The lower-case ASCII letter where either case matches; otherwise nothing."""
        self._order: list[int] = []

    def find(self, data: Bytes) -> Positions:
        """All positions of matches or candidates; they may overlap."""
        count = len(data) - self.size + 1
        if count <= 0:
            return _NONE
        if not self._order:
            self._order = self._rarest_first(data)
        folded = data | _CASE if any(self._letters) else data
        first, *rest = self._order
        may = self._stands(data, folded, slice(first, first + count), first)
        if rest:
            may &= self._stands(data, folded, slice(rest[0], rest[0] + count), rest[0])
        if not may.any():
            return _NONE
        found: Positions = np.flatnonzero(may)
        for at in rest[1:]:
            found = found[self._stands(data, folded, found + at, at)]
        return found

    def doubts(self, data: bytes) -> Positions:
        """Positions of letters that may belong to a match that `find` misses."""
        if self._others is None or (data.isascii() and not self._others_are_ascii):
            return _NONE
        return np.fromiter((match.start() for match in self._others.finditer(data)), np.int64)

    def _stands(self, data: Bytes, folded: Bytes, where: slice | Positions, at: int) -> NDArray[np.bool_]:
        """True where the byte at this index of the pattern matches."""
        wanted = self._bytes[at]
        if len(wanted) == 1:
            return np.equal(data[where], np.uint8(min(wanted)))
        if letter := self._letters[at]:
            return np.equal(folded[where], np.uint8(letter))
        table = np.zeros(256, bool)
        table[list(wanted)] = True
        found: NDArray[np.bool_] = table[data[where]]
        return found

    def _rarest_first(self, data: Bytes) -> list[int]:
        """The indexes of the pattern, ordered by how rare their bytes are here and how fast they are to search."""
        counts = np.bincount(data[:_SAMPLE], minlength=256)

        def cost(at: int) -> int:
            wanted = self._bytes[at]
            slow = 0 if len(wanted) == 1 or self._letters[at] else _SAMPLE
            return slow + sum(int(counts[byte]) for byte in wanted)

        return sorted(range(self.size), key=cost)


def needle_of(text: str, ignores_case: bool, *, is_all: bool = True) -> BytePattern | None:
    """The pattern of a text, which may be a part of the query; None if bytes cannot represent it."""
    if not text or _UNTOLD.search(text):
        return None
    needle = BytePattern(text, ignores_case)
    needle.is_exact &= is_all
    return needle


def _letter(wanted: frozenset[int]) -> int:
    """The lower-case ASCII letter if both cases match; otherwise 0."""
    small = max(wanted)
    return small if len(wanted) == 2 and min(wanted) | 0x20 == small and chr(small) in ascii_lowercase else 0


def _is_product(spelled: list[bytes]) -> bool:
    """True if each combination of bytes, one per index, is a spelling."""
    same = {one for one in spelled if len(one) == len(spelled[0])}
    choices = 1
    for column in zip(*same, strict=True):
        choices *= len(set(column))
    return choices == len(same)


def _spellings(letter: str) -> list[bytes]:
    """The letter and its case-insensitive equivalents."""
    others = re.findall(re.escape(letter), _letters_with_case(), re.IGNORECASE)
    return [letter.encode(), *(other.encode() for other in others if other != letter)]


@cache
def _letters_with_case() -> str:
    letters = map(chr, chain.from_iterable(_WITH_CASE))
    return "".join(one for one in letters if one.lower() != one or one.upper() != one)
