"""Vectorized search for characters that may be hidden, except those that belong to an emoji."""

from __future__ import annotations

from functools import lru_cache

from viewer.numeric import NDArray, np
from viewer.scan.blocks import Positions, Words, words_view
from viewer.syntax.characters import HIDING_LEADS, PICTOGRAPHS, SKIN_COLORS, hidden_spellings

_Flags = NDArray[np.bool_]

_CODES = 0x20000
"""The code points of all pictographs are below this number."""
_SELECTORS = (0xFE0E, 0xFE0F)
_JOINER = 0x200D
_JOINER_LENGTH = 3
_LOW, _THREE = np.uint64(0x3F), np.uint64(0xFFFFFF)
_KEYCAPS = np.isin(np.arange(256), list(b"#*0123456789"))
_EMOJI, _KEYCAP = (np.uint64(int.from_bytes(mark.encode(), "little")) for mark in "\ufe0f\u20e3")


def find_unexplained(data: bytes, leads: Positions) -> Positions:
    """Return the offsets of all hidden characters, and of some that are not hidden. `leads` are the offsets of all
    bytes that can begin a hidden character; at least eight bytes precede and follow each of them.

    A selector or joiner in an emoji is not hidden. It is omitted if its neighbors prove that it belongs to an emoji."""
    words = words_view(data)
    known = leads[leads < len(words)]
    here = words[known]
    lead, second, third = (here >> np.uint64(shift) & np.uint64(0xFF) for shift in (0, 8, 16))
    may_hide = _spellings()[(lead << np.uint64(12) | (second & _LOW) << np.uint64(6) | third & _LOW).astype(np.intp)]
    places, codes = known[may_hide], _code_at(here[may_hide])
    is_explained = np.zeros(len(places), bool)
    for wanted, explained in ((_SELECTORS, _is_plain_selector), ((_JOINER,), _is_plain_joiner)):
        rows = np.flatnonzero(np.isin(codes, wanted))
        is_explained[rows] = explained(words, places[rows])
    return np.concatenate((places[~is_explained], leads[leads >= len(words)]))


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def native_pictographs() -> bytes:
    """Return the flags from `_pictographs`, packed into bits."""
    return np.packbits(_pictographs(), bitorder="little").tobytes()


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def _spellings() -> _Flags:
    """Return a flag for each lead byte and the low bits of the next two bytes: true if they may begin a hidden
    character."""
    flags = np.zeros((256, 1 << 12), bool)
    bits = np.unpackbits(np.frombuffer(hidden_spellings(), np.uint8), bitorder="little")
    flags[list(HIDING_LEADS)] = bits.reshape(len(HIDING_LEADS), -1)
    return flags.reshape(-1)


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def _pictographs() -> _Flags:
    """Return a flag for each code point: true for a pictograph that does not change the skin color of another one."""
    flags = np.zeros(_CODES, bool)
    for first, last in PICTOGRAPHS:
        flags[first : last + 1] = True
    flags[SKIN_COLORS[0] : SKIN_COLORS[1] + 1] = False
    return flags


def _code_at(words: Words) -> NDArray[np.int64]:
    """Return the code point in the first three or four bytes of each word, or 0 for anything else."""
    one, two, three, four = ((words >> np.uint64(shift) & np.uint64(0xFF)).astype(np.int64) for shift in (0, 8, 16, 24))
    is_whole = (two & 0xC0 == 0x80) & (three & 0xC0 == 0x80)
    short = (one & 0xF) << 12 | (two & 0x3F) << 6 | three & 0x3F
    long = (one & 0x7) << 18 | (two & 0x3F) << 12 | (three & 0x3F) << 6 | four & 0x3F
    is_short = (one & 0xF0 == 0xE0) & is_whole & (short >= 0x800)
    is_long = (one & 0xF8 == 0xF0) & is_whole & (four & 0xC0 == 0x80) & (long >= 0x10000)
    codes: NDArray[np.int64] = np.where(is_short, short, np.where(is_long & (long < _CODES), long, 0))
    return codes


def _code_before(words: Words, places: Positions) -> NDArray[np.int64]:
    """Return the code point in the three or four bytes before each position, or 0 for anything else."""
    short, long = _code_at(words[places - 3]), _code_at(words[places - 4])
    codes: NDArray[np.int64] = np.where((short >= 0x800) & (short < 0x10000), short, np.where(long < 0x10000, 0, long))
    return codes


def _is_plain_selector(words: Words, places: Positions) -> _Flags:
    """Return, for each selector, whether it directly follows a pictograph, or turns a character into a keycap."""
    is_keycap = (
        (words[places] & _THREE == _EMOJI)
        & _KEYCAPS[(words[places - 1] & np.uint64(0xFF)).astype(np.intp)]
        & (words[places] >> np.uint64(24) & _THREE == _KEYCAP)
    )
    explained: _Flags = is_keycap | _pictographs()[_code_before(words, places)]
    return explained


def _is_plain_joiner(words: Words, places: Positions) -> _Flags:
    """Return, for each joiner, whether a pictograph precedes it, possibly with a selector or skin color, and another
    one follows it."""
    next_at = places + _JOINER_LENGTH
    has_next = next_at < len(words)
    next_code = np.where(has_next, _code_at(words[np.minimum(next_at, len(words) - 1)]), 0)
    before = _code_before(words, places)
    is_selector = np.isin(before, _SELECTORS)
    is_modifier = is_selector | ((before >= SKIN_COLORS[0]) & (before <= SKIN_COLORS[1]))
    first = np.where(is_modifier, _code_before(words, places - np.where(is_selector, 3, 4)), before)
    explained: _Flags = _pictographs()[first] & _pictographs()[next_code]
    return explained
