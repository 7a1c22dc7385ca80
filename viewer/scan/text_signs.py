"""Search many JSON strings in one pass for the beginnings of marks, and for escapes that may spell a mark."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set

from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS, searches
from viewer.reading.thoughts import SIGNS as THOUGHT_SIGNS

SIGNS = frozenset(sign.lower() for sign in (*MARK_SIGNS, *TOKEN_SIGNS, *THOUGHT_SIGNS))
"""Every mark and token contains one of these, ignoring case. None has a character that JSON must escape."""
_RARE = b"~"
"""A byte that is rarer than the first byte of any sign."""
_OF_ESCAPES = b"003c"
"""The sign of marks that are spelled with a JSON escape. The escape is found by its backslash."""
_ESCAPE = re.compile(rb"\\(?:[u/bf]|r(?!\\n))")
"""An escape that may spell any character, or that spells a control character or a lone carriage return."""
SEARCHED = frozenset(sign[max(0, sign.find(_RARE)) :] for sign in SIGNS - {_OF_ESCAPES})
"""The bytes to find in strings, in lower case."""
_SEARCHES = searches(sorted(SEARCHED))
"""Patterns for the signs, by the byte to search for: the first byte of a sign, or the rare byte in it."""
assert not any(map(bytes.isalpha, _SEARCHES)), "the first bytes are searched for in one case only"
_MANY = 1024
"""Searching for a byte is faster than using a pattern if at most one in this many bytes has its value."""


def places_with_signs(
    block: bytes, starts: Sequence[int], ends: Sequence[int], spelled: Set[int] | None = None
) -> set[int]:
    """Return the indices of the strings that contain a sign, or an escape that may spell one. `starts` and `ends` give
    the bounds of the strings in the block, in order. `spelled` has the strings with such an escape, if they are
    known."""
    places: set[int] = set(spelled or ())
    if not starts:
        return places
    for first, pattern in _SEARCHES.items():
        known = _few(block, first, starts[0], ends[-1])
        found = _matches(block, pattern, starts) if known is None else [at for at in known if pattern.match(block, at)]
        _add_places(places, found, starts, ends)
    if spelled is None:
        _add_places(places, _matches(block, _ESCAPE, starts), starts, ends)
    return places


def _few(block: bytes, byte: bytes, start: int, end: int) -> list[int] | None:
    """Return the offsets of a byte, or None if it is too frequent."""
    found: list[int] = []
    most, find = (end - start) // _MANY, block.find
    at = find(byte, start, end)
    while at >= 0:
        if len(found) >= most:
            return None
        found.append(at)
        at = find(byte, at + 1, end)
    return found


def _matches(block: bytes, pattern: re.Pattern[bytes], starts: Sequence[int]) -> Iterator[int]:
    """Yield the first match in each string, and perhaps matches between the strings."""
    search, last = pattern.search, len(starts)
    found = search(block, starts[0])
    while found is not None:
        at = found.start()
        yield at
        place = bisect_right(starts, at)
        if place == last:
            break
        found = search(block, starts[place])


def _add_places(places: set[int], found: Iterator[int] | list[int], starts: Sequence[int], ends: Sequence[int]) -> None:
    for at in found:
        place = bisect_right(starts, at)
        if at < ends[place - 1]:
            places.add(place - 1)
