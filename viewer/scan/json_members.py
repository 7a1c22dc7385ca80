"""Count the members of JSON texts: for all texts of a block together, in one pass over its bytes."""

from __future__ import annotations

from viewer.numeric import NDArray, np
from viewer.scan.blocks import Bytes, Positions

_QUOTE, _COLON, _BACKSLASH = b'":\\'
_IS_SPACE = np.zeros(256, bool)
_IS_SPACE[list(b" \t\r\n")] = True
UNCERTAIN = -1


def most_members(block: Bytes, starts: Positions, ends: Positions, longest: int) -> NDArray[np.int64]:
    """Return the maximum number of members in each text: it has as many, or fewer if a string contains `":`. A text
    that is longer than `longest`, has a `\\u` escape, or has whitespace before a colon is `UNCERTAIN`.

    The texts are in order, do not overlap, and do not begin at the start of the block."""
    if not len(starts):
        return np.zeros(0, np.int64)
    first, last = int(starts[0]), int(ends[-1])
    part = block[first:last]
    colons = np.flatnonzero(part == _COLON) + first
    before = block[colons - 1]
    counts = _count(colons[before == _QUOTE], starts, ends)
    backslashes = np.flatnonzero(part == _BACKSLASH) + first
    unicode_escapes = backslashes[block[np.minimum(backslashes + 1, len(block) - 1)] == ord("u")]
    is_uncertain = ends - starts > longest
    for places in (colons[_IS_SPACE[before]], unicode_escapes):
        if len(places):
            is_uncertain |= _count(places, starts, ends) > 0
    counts[is_uncertain] = UNCERTAIN
    return counts


def _count(places: Positions, starts: Positions, ends: Positions) -> NDArray[np.int64]:
    """Return how many of these places are in each text."""
    found: NDArray[np.int64] = places.searchsorted(ends) - places.searchsorted(starts)
    return found
