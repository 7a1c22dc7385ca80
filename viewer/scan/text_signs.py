"""Search many JSON strings at once for the beginnings of marks, and for escapes that may spell one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS, searches
from viewer.reading.thoughts import SIGNS as THOUGHT_SIGNS

SIGNS = frozenset(sign.lower() for sign in (*MARK_SIGNS, *TOKEN_SIGNS, *THOUGHT_SIGNS))
"""Every mark and token contains one of these, ignoring case. None has a character that JSON must escape."""
_ESCAPE = re.compile(rb"\\(?:[u/bf]|r(?!\\n))")
"""An escape that may spell any character, or that spells a control character or a lone carriage return."""
_SEARCHES = (*searches(sorted(SIGNS)), _ESCAPE)


def places_with_signs(block: bytes, starts: Sequence[int], ends: Sequence[int]) -> set[int]:
    """Return the places of the strings that contain a sign or such an escape. `starts` and `ends` give the bounds of
    the strings in the block, in order."""
    places: set[int] = set()
    last = len(starts)
    for pattern in _SEARCHES if last else ():
        search = pattern.search
        found = search(block, starts[0])
        while found is not None:
            at = found.start()
            place = bisect_right(starts, at)
            if at < ends[place - 1]:
                places.add(place - 1)
            if place == last:
                break
            found = search(block, starts[place])
    return places
