"""Hashed sequences of the words of messages. Short messages are split together, because each call to NumPy costs more
than splitting a few words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from itertools import compress

from viewer.insight.hidden.word_keys import (
    CONTENT,
    UNSPACED_WORD,
    Hashes,
    Keys,
    Positions,
    WordKeys,
    encode,
    is_mostly_ascii,
    keys_and_starts,
    keys_of,
    spans_of,
)
from viewer.insight.words import word_regex
from viewer.model.messages import Span
from viewer.numeric import NDArray, np

SEED = 3
"""The length of the sequences to look up, in words, or in characters of a script without spaces."""
_ORIGIN = 4
"""The length in words of the sequences that identify the origin of text."""
_FACTORS = np.random.default_rng(2).integers(1, 1 << 64, 2 * _ORIGIN, np.uint64, endpoint=False) | np.uint64(1)
"""The factors of the keys of a sequence, which make its hash depend on their order."""


class Words:
    """The words of a message's text."""

    def __init__(
        self,
        text: str,
        keys: Keys,
        threes: Hashes | None = None,
        fours: Hashes | None = None,
        starts: NDArray[np.int32] | Positions | None = None,
        base: int = 0,
    ) -> None:
        """`threes` and `fours` are the hashes of the sequences of three and of four words, if known. `starts` are the
        starts of the words, counted from `base` before the text, if these are known and the text is ASCII."""
        self._text = text
        self._starts, self._base = starts, base
        self.keys = keys
        self.threes = hashes_of(keys, SEED) if threes is None else threes
        """The hash of each sequence to look up."""
        self._fours = fours

    def __len__(self) -> int:
        return len(self.keys)

    def alone(self) -> Words:
        """Return a copy with only the positions of the words, without their keys."""
        starts = None if self._starts is None else self._starts.astype(np.int32)
        return Words(self._text, _NO_KEYS, _NO_HASHES, _NO_HASHES, starts, self._base)

    @cached_property
    def origins(self) -> list[int]:
        """The hashes of the sequences that identify the origin of the text, by their first word.

        Each has four words, or twice as many characters. A hash is 0 if the text is too short for it."""
        if self._fours is not None:
            known: list[int] = self._fours.tolist()
            return known
        fours = hashes_of(self.keys, _ORIGIN)
        is_unspaced = self.keys[: len(fours)] & UNSPACED_WORD > 0
        if is_unspaced.any():
            eights = np.zeros(len(fours), np.uint64)
            eights[: max(0, len(self) - 2 * _ORIGIN + 1)] = hashes_of(self.keys, 2 * _ORIGIN)
            fours = np.where(is_unspaced, eights, fours)
        found: list[int] = fours.tolist()
        return found

    def cover(self, known: Set[int], covered: bytearray) -> None:
        """Mark the words in sequences of known origin."""
        if known.isdisjoint(self.origins):
            return
        if not self.is_unspaced:
            is_known = int.from_bytes(bytes(map(known.__contains__, self.origins)), "little")
            marks = is_known | is_known << 8 | is_known << 16 | is_known << 24
            covered[:] = (marks | int.from_bytes(covered, "little")).to_bytes(len(covered), "little")
            return
        for place in [place for place, gram in enumerate(self.origins) if gram in known and gram]:
            length = 2 * _ORIGIN if self.keys[place] & UNSPACED_WORD else _ORIGIN
            covered[place : place + length] = b"\1" * length

    @cached_property
    def is_unspaced(self) -> bool:
        """True if any word is a character of a script without spaces."""
        return bool((self.keys & UNSPACED_WORD).any())

    @cached_property
    def listed(self) -> list[int]:
        """The keys of the words, as a list."""
        keys: list[int] = self.keys.tolist()
        return keys

    @cached_property
    def _contents(self) -> list[int]:
        """The keys of all words, with 0 in place of words that are not content words."""
        keys: list[int] = (self.keys * (self.keys & CONTENT)).tolist()
        return keys

    def contents(self, first: int, end: int) -> set[int]:
        """Return the keys of the content words in a range."""
        return {*self._contents[first:end]}

    @cached_property
    def seeds(self) -> tuple[Positions, Hashes]:
        """The positions and hashes of the sequences of three words that contain a content word."""
        keys = self.keys
        places = ((keys[:-2] | keys[1:-1] | keys[2:]) & CONTENT).nonzero()[0]
        return places, self.threes[places]

    @cached_property
    def spans(self) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
        """The positions of the words, computed on demand because they are rarely needed."""
        return spans_of(self._text)

    def span(self, first: int, end: int) -> Span:
        """Return the position of a sequence of words."""
        if self._starts is not None:
            last = int(self._starts[end - 1]) - self._base
            found = word_regex(self._text).match(self._text, last)
            return int(self._starts[first]) - self._base, found.end() if found else last
        return int(self.spans[first][0]), int(self.spans[end - 1][1])


_NO_KEYS: Keys = np.empty(0, np.int64)
_NO_HASHES: Hashes = np.empty(0, np.uint64)


def words_of(texts: Sequence[str], known: WordKeys) -> list[Words]:
    """Return the words of each of these strings."""
    encoded = [encode(text) for text in texts]
    is_plain = [is_mostly_ascii(text, data) for text, data in zip(texts, encoded, strict=True)]
    together = _split_together([*compress(zip(texts, encoded, strict=True), is_plain)], known)
    return [
        next(together) if plain else Words(text, keys_of(text, known))
        for text, plain in zip(texts, is_plain, strict=True)
    ]


def _split_together(texts: Sequence[tuple[str, bytes]], known: WordKeys) -> Iterator[Words]:
    keys, starts = keys_and_starts(b"\n".join(encoded for _, encoded in texts), known)
    threes, fours = hashes_of(keys, SEED), hashes_of(keys, _ORIGIN)
    has_unspaced = (keys & UNSPACED_WORD).any()
    offsets = np.cumsum([0, *(len(encoded) + 1 for _, encoded in texts)])
    borders: list[int] = starts.searchsorted(offsets).tolist()
    for (text, _), first, end, offset in zip(texts, borders, borders[1:], offsets.tolist(), strict=False):
        three, four = slice(first, max(first, end - SEED + 1)), slice(first, max(first, end - _ORIGIN + 1))
        own = starts[first:end] if text.isascii() else None
        yield Words(text, keys[first:end], threes[three], None if has_unspaced else fours[four], own, offset)


def hashes_of(keys: Keys, length: int) -> Hashes:
    """Return the hash of each sequence of this length."""
    count = max(0, len(keys) - length + 1)
    bits = keys.view(np.uint64)
    hashes: Hashes = bits[:count] * _FACTORS[0]
    for place in range(1, length):
        hashes += bits[place : place + count] * _FACTORS[place]
    return hashes
