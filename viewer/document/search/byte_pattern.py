"""Byte pattern for a search text: its UTF-8 spellings, case-sensitive or not."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from string import ascii_lowercase

_WITH_CASE = (
    range(0x41, 0x2E00),
    range(0xA640, 0xAC00),
    range(0xFB00, 0x11900),
    range(0x16E40, 0x16EE0),
    range(0x1DF00, 0x1EA00),
)
"""The Unicode ranges that contain cased letters."""
_NOT_TEXT = re.compile("[\ufffd\ud800-\udfff]")
"""Characters that stand for bytes that are not valid text."""


class BytePattern:
    """A byte pattern that finds what `re` would find for the text, case-sensitive or not."""

    def __init__(self, text: str, ignores_case: bool) -> None:
        spellings = [_spellings(letter) if ignores_case else [letter.encode()] for letter in text]
        lengths = [len(spelled[0]) for spelled in spellings]
        self.bytes = [
            frozenset(one[at] for one in spelled if len(one) == len(spelled[0]))
            for spelled in spellings
            for at in range(len(spelled[0]))
        ]
        """The bytes that match at each index."""
        self.size = sum(lengths)
        self.is_exact = all(map(_is_product, spellings))
        """True if each match of the bytes is a match of the text. Otherwise, it is only a candidate."""
        others = {one for spelled in spellings for one in spelled if len(one) != len(spelled[0])}
        self.others = re.compile(b"|".join(map(re.escape, sorted(others)))) if others else None
        """A regular expression for spellings of a letter that differ in length from its first spelling; None if there
        are none."""
        self.others_are_ascii = any(map(bytes.isascii, others))
        self.overlaps = any(all(map(frozenset.intersection, self.bytes[at:], self.bytes)) for at in range(1, self.size))
        """True if one match may begin inside another one."""
        self.two_spellings = _two_spellings(self.bytes)
        """Two spellings that together cover every byte that matches at each index; None if there are more."""
        self.letters = [_letter(wanted) for wanted in self.bytes]
        """For each index, the lower-case ASCII letter if both cases match; otherwise 0."""


def byte_pattern(text: str, ignores_case: bool, *, is_all: bool = True) -> BytePattern | None:
    """Return the pattern of a string, or None if bytes cannot represent it. `is_all` is false if the text is only part
    of the query."""
    if not text or _NOT_TEXT.search(text):
        return None
    pattern = BytePattern(text, ignores_case)
    pattern.is_exact &= is_all
    return pattern


def _two_spellings(columns: list[frozenset[int]]) -> tuple[bytes, bytes] | None:
    return (bytes(map(min, columns)), bytes(map(max, columns))) if max(map(len, columns)) <= 2 else None


def _letter(wanted: frozenset[int]) -> int:
    """Return the lower-case ASCII letter if both cases match; otherwise 0."""
    small = max(wanted)
    return small if len(wanted) == 2 and min(wanted) | 0x20 == small and chr(small) in ascii_lowercase else 0


def _is_product(spelled: list[bytes]) -> bool:
    """True if every combination of bytes, one per index, is a spelling."""
    same = {one for one in spelled if len(one) == len(spelled[0])}
    choices = 1
    for column in zip(*same, strict=True):
        choices *= len(set(column))
    return choices == len(same)


def _spellings(letter: str) -> list[bytes]:
    """Return the letter and its case-insensitive equivalents."""
    others = re.findall(re.escape(letter), _letters_with_case(), re.IGNORECASE)
    return [letter.encode(), *(other.encode() for other in others if other != letter)]


@cache
def _letters_with_case() -> str:
    letters = map(chr, chain.from_iterable(_WITH_CASE))
    return "".join(one for one in letters if one.lower() != one or one.upper() != one)
