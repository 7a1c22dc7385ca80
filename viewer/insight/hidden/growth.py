"""Growth of passages: how far equal words continue around a word sequence from hidden text, past edited words."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from viewer.insight.hidden.word_keys import CONTENT, UNSPACED_WORD, Keys, Positions
from viewer.numeric import NDArray, np

EQUAL, EDITED = 2, 3
"""The weights of equal and edited words in an extension of a passage, chosen to keep the passage dense enough."""
MOST_SPARE = 2 * EDITED
"""The maximum spare weight with which an extension may skip edited words before equal words make up for them. More
would stretch the passage over text of another origin."""
GAP = 4
"""The maximum number of words between two sequences of a passage."""
SLIP = 3
"""The maximum difference in words between a gap in a passage and the corresponding gap in its source."""
APART = 16
"""The number of words left between two texts, so that no passage spans both."""
NO_WORD = -1
"""The key between shown texts. The key between hidden texts is 0, so the two keys are never equal."""


class Sides(Struct, frozen=True):
    """The words of a shown text and of a source."""

    shown: memoryview
    source: memoryview
    base: int
    """The position of the first word of the source."""
    covered: bytearray
    """A flag for each word of the shown text: 1 if its origin is already known."""

    def grow(self, at: int, place: int, step: int, spare: int) -> tuple[list[int], int, int, int]:
        """Follow equal words in one direction, past edited words, as long as the passage stays dense. `spare` is the
        weight of the passage's equal words minus the weight of its edited words.

        Return the positions of the equal words in the shown text, the ends of the passage in the shown text and in the
        source, and the remaining spare weight."""
        found: list[int] = []
        shown, source, covered = self.shown, self.source, self.covered
        end, source_end = len(shown), len(source)
        dense = 0, at, place, spare
        while True:
            before = len(found)
            while 0 <= at < end and 0 <= place < source_end and shown[at] == source[place] and not covered[at]:
                found.append(at)
                at, place = at + step, place + step
            spare += EQUAL * (len(found) - before)
            if spare >= 0:
                dense = len(found), at, place, spare
            if not (0 <= at < end and 0 <= place < source_end):
                return found[: dense[0]], *dense[1:]
            skipped, left = self._detour(at, place, step)
            spare -= EDITED * skipped
            if spare < -EDITED * GAP or (not skipped and not left):
                return found[: dense[0]], *dense[1:]
            at, place = at + step * skipped, place + step * left

    def _detour(self, at: int, place: int, step: int) -> tuple[int, int]:
        """Return how many edited words precede the next equal words in the shown text and in the source: two in a row,
        or one at the same distance. Return zeros if no such words are near."""
        near = near_of(self.shown[at])
        ahead, before = _ahead(self.shown, at, step, near), _ahead(self.source, place, step, near)
        common = {*ahead}.intersection(before)
        for key in common:
            if key & CONTENT:
                break
        else:
            return 0, 0  # the usual case
        for skipped, left in _WIDE_DETOURS if ahead[0] & UNSPACED_WORD else _DETOURS:
            if skipped + 1 >= len(ahead) or left + 1 >= len(before):
                continue
            key = ahead[skipped]
            if key == before[left] and not self.covered[at + step * skipped]:
                after = ahead[skipped + 1]
                if (skipped == left and key & CONTENT) or (after == before[left + 1] and (key | after) & CONTENT):
                    return skipped, left
        return 0, 0


def near_of(key: int) -> int:
    """Return how many words to look ahead from the end of a passage: past the edited words, to two equal ones."""
    return (2 * GAP if key & UNSPACED_WORD else GAP) + 2


def _ahead(keys: memoryview, at: int, step: int, near: int) -> list[int]:
    """Return the keys of the next `near` words in one direction."""
    if step > 0:
        return keys[at : at + near].tolist()
    return keys[max(0, at + 1 - near) : at + 1].tolist()[::-1]


def _detours(gap: int) -> Sequence[tuple[int, int]]:
    """Return pairs of numbers: how many words to skip in the shown text and in the source, shortest detours first."""
    both = [(skipped, left) for skipped in range(gap + 1) for left in range(gap + 1)]
    found = [(skipped, left) for skipped, left in both if skipped + left and abs(skipped - left) <= SLIP]
    return sorted(found, key=lambda detour: (sum(detour), abs(detour[0] - detour[1])))


_DETOURS, _WIDE_DETOURS = _detours(GAP), _detours(2 * GAP)


class _Ahead(Struct, frozen=True):
    """The detours for scripts with or without spaces, as columns."""

    near: Positions
    """The distances of the words to look ahead to."""
    skipped: Positions
    left: Positions
    is_straight: NDArray[np.bool_]
    """True if a detour skips equally many words on both sides."""


def _columns(detours: Sequence[tuple[int, int]], near: int) -> _Ahead:
    skipped, left = np.array(detours).T
    return _Ahead(np.arange(near), skipped, left, skipped == left)


_NARROW, _WIDE = _columns(_DETOURS, near_of(0)), _columns(_WIDE_DETOURS, near_of(UNSPACED_WORD))
_SIGN_BITS = 63
"""A mask for the bits of a key that select a bit in the result of `_signs_near`."""


class Texts(Struct, frozen=True):
    """The word keys of several shown texts, and of their sources, with `APART` other keys before, between, and after
    the texts."""

    shown: Keys
    free: Keys
    """Like `shown`, but without the words that have a known origin."""
    hidden: Keys
    has_unspaced: bool
    """True if a shown text has a character of a script without spaces."""

    def most_gained(self, at: Positions, places: Positions, step: int, most: int) -> Positions:
        """Return the maximum number of words that `Sides.grow` can find from each of these positions, counting only up
        to `most`. This ignores whether the passage stays dense."""
        gained = np.zeros(len(at), np.int64)
        active = np.arange(len(at))
        while len(active):
            is_equal = self.free.take(at) == self.hidden.take(places)
            gained[active[is_equal]] += 1
            skipped, left = is_equal.astype(np.int64), is_equal.astype(np.int64)
            apart = (~is_equal).nonzero()[0]
            skipped[apart], left[apart] = self._detours(at[apart], places[apart], step)
            goes_on = (skipped + left > 0) & (gained[active] < most)
            at, places = (at + step * skipped)[goes_on], (places + step * left)[goes_on]
            active = active[goes_on]
        return gained

    def _detours(self, at: Positions, places: Positions, step: int) -> tuple[Positions, Positions]:
        """Return the detours that `Sides` takes from these positions; zeros where it takes none."""
        skipped, left = np.zeros((2, len(at)), np.int64)
        if not self.has_unspaced:
            groups = [(np.arange(len(at)), _NARROW)]
        else:
            keys = self.shown.take(at)
            is_wide = (keys != NO_WORD) & (keys & UNSPACED_WORD > 0)
            groups = [((~is_wide).nonzero()[0], _NARROW), (is_wide.nonzero()[0], _WIDE)]
        for rows, ahead in groups:
            near = step * ahead.near
            rows = rows[_have_common(self.shown, at[rows], self.hidden, places[rows], near)]
            around, sources = at[rows, None] + near, places[rows, None] + near
            shown, free, hidden = self.shown.take(around), self.free.take(around), self.hidden.take(sources)
            has_content = shown & CONTENT > 0
            key, after = ahead.skipped, ahead.skipped + 1
            source, next_source = hidden[:, ahead.left], hidden[:, ahead.left + 1]
            follows = (shown[:, after] == next_source) & (has_content[:, key] | has_content[:, after])
            is_found = follows | ahead.is_straight & has_content[:, key] & (next_source != 0)
            is_found &= (free[:, key] == source) & (shown[:, after] != NO_WORD)
            is_found &= shown[:, :1] != NO_WORD
            first = is_found.argmax(axis=1)
            has_any = is_found.any(axis=1).nonzero()[0]
            skipped[rows[has_any]], left[rows[has_any]] = key[first[has_any]], ahead.left[first[has_any]]
        return skipped, left


def _have_common(shown: Keys, at: Positions, hidden: Keys, places: Positions, near: Positions) -> NDArray[np.bool_]:
    """Return a flag for each position: false if no content word near it is also near its counterpart. The check is
    fast, and few flags are true."""
    have: NDArray[np.bool_] = _signs_near(shown, at, near) & _signs_near(hidden, places, near) != 0
    return have


def _signs_near(keys: Keys, at: Positions, near: Positions) -> Keys:
    """Return a number for each position. Each content word near the position sets one of its bits."""
    signs = np.zeros(len(at), np.int64)
    for each in near.tolist():
        key = keys.take(at + each)
        signs |= (key & CONTENT) << (key >> 2 & _SIGN_BITS)
    return signs
