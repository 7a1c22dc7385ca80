"""Keys of the words in a text: one number per word, equal for words that are equal after normalization.

NumPy splits and hashes the ASCII parts of a text. The same word has the same key in any text."""

from __future__ import annotations

import itertools
import re
from operator import mul

from viewer.insight.words import STOP_WORDS, is_content_word, is_unspaced, normal, word_regex
from viewer.numeric import NDArray, np

CONTENT, UNSPACED_WORD = 1, 2
"""The lowest bits of a key: the first is set for a word that carries meaning, the second for a character of a script
without spaces."""
_MOST_KEYS = 200_000
_LONGEST = 4096
"""The maximum length in bytes of a word that is hashed together with others."""
_MOST_OTHERS = 8
"""Text in which more than one byte in this many is not ASCII is split by a regular expression."""
_CHUNK = 1 << 15
"""The number of bytes to hash at once."""

Keys = NDArray[np.int64]
Positions = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_KIND = np.uint64(CONTENT | UNSPACED_WORD)

_VALUES: Hashes = np.random.default_rng(3).integers(1, 1 << 64, 256, np.uint64, endpoint=False)
"""A number for each byte. Capital letters have the numbers of their lower-case forms."""
_VALUES[65:91] = _VALUES[97:123]
_IN_ASCII_WORDS = np.zeros(256, np.bool_)
"""Letters, digits, and underscores."""
for _first, _last in ("09", "AZ", "az", "__"):
    _IN_ASCII_WORDS[ord(_first) : ord(_last) + 1] = True

_IN_RUNS = _IN_ASCII_WORDS | (np.arange(256) >= 128)
"""The bytes of `_IN_ASCII_WORDS`, and the bytes of non-ASCII characters. A run of these contains whole words."""


def _powers(base: int) -> Hashes:
    """Return the powers of a number modulo 2 ** 64, starting with the zeroth."""
    factors = np.full(_CHUNK + 2 * _LONGEST, base, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


_POWERS, _INVERSE = _powers(_BASE), _powers(pow(_BASE, -1, 1 << 64))


def _mixed(sums: Hashes) -> Hashes:
    """Return the hashes with their bits spread, and with the bits for the kind of word cleared."""
    bits = (sums ^ sums >> _HALF) * _MIX
    bits ^= bits >> _HALF
    bits &= ~_KIND
    return bits


def _hash(word: bytes) -> int:
    """Return the key of one ASCII word, as `_hashes` would, but without the bits for its kind."""
    if len(word) > _LONGEST:
        return hash(word) & ~(CONTENT | UNSPACED_WORD)
    bits: int = sum(map(mul, map(_VALUE_OF.__getitem__, word), _POWER_OF)) & _ALL
    bits = (bits ^ bits >> 32) * int(_MIX) & _ALL
    bits = (bits ^ bits >> 32) & ~(CONTENT | UNSPACED_WORD)
    return bits - ((bits & _SIGN) << 1)


_VALUE_OF: list[int] = _VALUES.tolist()
_POWER_OF: list[int] = _POWERS[:_LONGEST].tolist()
_ALL, _SIGN = (1 << 64) - 1, 1 << 63
_STOP_KEYS = np.array([_hash(word.encode()) for word in STOP_WORDS if word.isascii()], np.int64)
_STOP_HASHES = np.sort(_STOP_KEYS.view(np.uint64))
_MAY_STOP = np.zeros(1 << 16, np.bool_)
"""A flag for each value of the highest bits of a hash: true if the hash may be in `_STOP_HASHES`."""
_HIGHEST = np.uint64(48)
_MAY_STOP[_STOP_HASHES >> _HIGHEST] = True


class WordKeys(dict[str, int]):
    """The keys of words, by their spelling."""

    def __missing__(self, word: str) -> int:
        normalized = normal(word)
        key = _hash(normalized.encode()) if normalized.isascii() else hash(normalized) & ~(CONTENT | UNSPACED_WORD)
        key |= CONTENT if is_content_word(normalized) else 0
        key |= UNSPACED_WORD if len(normalized) == 1 and is_unspaced(normalized) else 0
        if len(self) >= _MOST_KEYS:
            self.clear()
        self[word] = key
        return key


def keys_of(text: str, known: WordKeys) -> Keys:
    """Return the keys of the words in a text, in order."""
    encoded = encode(text)
    if is_mostly_ascii(text, encoded):
        return keys_and_starts(encoded, known)[0]
    found = word_regex(text).findall(text)
    return np.fromiter(map(known.__getitem__, found), np.int64, len(found))


def encode(text: str) -> bytes:
    """Return the text as bytes."""
    return text.encode(errors="surrogatepass")


def is_mostly_ascii(text: str, encoded: bytes) -> bool:
    """True if NumPy can split most of the text."""
    return len(encoded) - len(text) <= len(text) // _MOST_OTHERS


def keys_and_starts(encoded: bytes, known: WordKeys) -> tuple[Keys, Positions]:
    """Return the keys of the words in a text, and the starts of the runs that contain them.

    A run that is not ASCII, or too long, is decoded and split separately."""
    data = np.frombuffer(encoded, np.uint8)
    starts, ends = _runs(data, _IN_RUNS)
    lengths = ends - starts
    keys = _hashes(data, starts, lengths).view(np.int64)
    is_other = lengths > _LONGEST
    others = (data >= 128).nonzero()[0]
    is_other[starts.searchsorted(others, "right") - 1] = True
    places = is_other.nonzero()[0]
    if not len(places):
        return keys, starts
    counts = np.ones(len(starts), np.int64)
    split: list[int] = []
    for place, start, end in zip(places.tolist(), starts[places].tolist(), ends[places].tolist(), strict=True):
        run = encoded[start:end].decode(errors="surrogatepass")
        words = word_regex(run).findall(run)
        counts[place] = len(words)
        split += [known[word] for word in words]
    keys, is_split = np.repeat(keys, counts), np.repeat(is_other, counts)
    keys[is_split] = split
    return keys, np.repeat(starts, counts)


def spans_of(text: str) -> NDArray[np.int32]:
    """Return the positions of the words of a text: the start and end of each."""
    encoded = encode(text)
    if not is_mostly_ascii(text, encoded):
        spans = itertools.chain.from_iterable(map(re.Match.span, word_regex(text).finditer(text)))
        return np.fromiter(spans, np.int32).reshape(-1, 2)
    data = np.frombuffer(encoded, np.uint8)
    spans_of_runs = np.stack(_runs(data, _IN_RUNS), axis=1)
    others = (data >= 128).nonzero()[0]
    if len(others):
        continued = np.concatenate(([0], np.cumsum(data & 0xC0 == 0x80)))
        is_other = np.zeros(len(spans_of_runs), np.bool_)
        is_other[spans_of_runs[:, 0].searchsorted(others, "right") - 1] = True
        spans_of_runs -= continued.take(spans_of_runs)
        words = word_regex(text)
        split = [found.span() for run in spans_of_runs[is_other].tolist() for found in words.finditer(text, *run)]
        spans_of_runs = np.concatenate((spans_of_runs[~is_other], np.array(split, np.int64).reshape(-1, 2)))
        spans_of_runs = spans_of_runs[spans_of_runs[:, 0].argsort()]
    return spans_of_runs.astype(np.int32)


def _runs(data: NDArray[np.uint8], inside: NDArray[np.bool_]) -> tuple[Positions, Positions]:
    """Return the starts and ends of the maximal runs of these bytes."""
    is_inside = np.zeros(len(data) + 2, np.bool_)
    is_inside[1:-1] = inside.take(data)
    edges = (is_inside[1:] != is_inside[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


def _hashes(data: NDArray[np.uint8], starts: Positions, lengths: Positions) -> Hashes:
    """Return the keys of ASCII words. The key of a word longer than `_LONGEST` is not valid."""
    sums = np.empty(len(starts), np.uint64)
    lengths = np.minimum(lengths, _LONGEST)
    chunks = range(0, len(data), _CHUNK)
    for first, end in itertools.pairwise([*starts.searchsorted(chunks).tolist(), len(starts)]):
        if first < end:
            base = starts[first]
            begins = starts[first:end] - base
            ends = begins + lengths[first:end]
            part = _VALUES.take(data[base : base + ends[-1]])
            part *= _POWERS[: len(part)]
            total = np.zeros(len(part) + 1, np.uint64)
            np.cumsum(part, out=total[1:])
            sums[first:end] = (total.take(ends) - total.take(begins)) * _INVERSE.take(begins)
    hashes = _mixed(sums)
    is_content = lengths > 1
    suspects = _MAY_STOP.take(hashes >> _HIGHEST).nonzero()[0]
    suspected = hashes.take(suspects)
    at = _STOP_HASHES.take(_STOP_HASHES.searchsorted(suspected), mode="clip")
    is_content[suspects[at == suspected]] = False
    hashes |= is_content
    return hashes


def weight_of(key: int) -> float:
    """Return how much of a word this key counts as. A character of a script without spaces is half a word."""
    return 0.5 if key & UNSPACED_WORD else 1.0


def is_content(key: int) -> bool:
    """True for the key of a word that carries meaning."""
    return key & CONTENT != 0
