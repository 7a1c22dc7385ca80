"""Search many JSON strings in one pass for the beginnings of marks, and for escapes that may spell a mark."""

from __future__ import annotations

import re
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from functools import cache

from viewer import native
from viewer.cache import lazy_regex
from viewer.native import Native
from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS, searches
from viewer.reading.thoughts import SIGNS as THOUGHT_SIGNS
from viewer.syntax.agent_text import INPUT

SIGNS = frozenset(sign.lower() for sign in (*MARK_SIGNS, *TOKEN_SIGNS, *THOUGHT_SIGNS))
"""Signs: every mark and token contains one of these, ignoring case. None has a character that JSON must escape."""
_RARE = b"~"
"""A byte that is rarer than the first byte of any sign."""
_OF_ESCAPES = b"003c"
"""The sign of marks that are spelled with a JSON escape. The escape is found by its backslash."""
_HEX = rb"[0-9a-fA-F]"
_PLAIN_CODES = (
    rb"00(?:[aA][1-9a-cA-CeEfF]|[b-fB-F]%(x)s)|0[12]%(x)s{2}|03[7-9a-fA-F]%(x)s|04%(x)s{2}|05[d-eD-E]%(x)s|06[2-4]%(x)s"
    rb"|0[9eE]%(x)s{2}|20(?:1%(x)s|2[0-7]|[34abAB]%(x)s)|2[1-36]%(x)s{2}|25(?:[0-9abABd-fD-F]%(x)s|[cC][02-9a-fA-F])"
    rb"|27[0-9a-dA-D]%(x)s|300[1-9a-fA-F]|[fF]{2}(?:0[1-9a-fA-F]|1[0-9abABd-fD-F]|[2-4]%(x)s|5[0-9aA])"
    rb"|[dD]83[c-eC-E]\\u[dD][c-fC-F]%(x)s{2}|(?<=\\u[dD]83[c-eC-E]\\u)[dD][c-fC-F]%(x)s{2}"
) % {b"x": _HEX}
"""The codes of characters, and of emoji as pairs, that are part of no sign and are never hidden."""
_IDEOGRAPHS = rb"30[4-9a-fA-F]%(x)s|3[4-9a-fA-F]%(x)s{2}|[4-9bcBC]%(x)s{3}|[aA][c-fC-F]%(x)s{2}|[dD][0-6]%(x)s{2}" % {
    b"x": _HEX
}
"""The codes of other such characters, except that they may be part of the name of a tag."""
MAY_SPELL = lazy_regex(
    rb"\\(?:u(?!%s|(?<![<\x80-\xff]\\u)(?<!</\\u)(?<!<\\/\\u)(?<!< \\u)(?:%s))|[bf]|r(?!\\n)"
    rb"|(?<=<\\)/(?i:%s)|(?<=\[\\)/|(?<=< \\)/)"
    % (_PLAIN_CODES, _IDEOGRAPHS, b"|".join(sorted({re.escape(sign[2:4]) for sign in SIGNS if sign[:2] == b"</"})))
)
"""An escape that may spell part of a sign, or that spells a character that may be hidden, a control character, or a
lone carriage return. In signs, a slash follows `<`, `< `, or `[`, and an ideograph follows `<`, `</`, `< `, or another
ideograph."""
SEARCHED = frozenset(sign[max(0, sign.find(_RARE)) :] for sign in SIGNS - {_OF_ESCAPES})
"""The bytes to find in strings, in lower case."""
IS_SPELLED = 2
"""A flag of a text: one of its escapes may spell any character, so `MAY_SPELL` decides."""
_ILL_FORMED, _SIGN = 1, 8
"""Bits in the result of `Native.signs`."""
_LONGEST_LITERAL = 26
_NO_BYTES = bytes(4 * 256)
_MANY = 1024
"""The minimum average distance between occurrences of a byte. If they are closer together, using a pattern is faster
than searching for the byte."""


@cache
def _searches() -> dict[bytes, re.Pattern[bytes]]:
    """Return patterns for the signs, by the byte to search for: the first byte of a sign, or the rare byte in it."""
    found = searches(sorted(SEARCHED))
    assert not any(map(bytes.isalpha, found)), "the first bytes are searched for in one case only"
    return found


def places_with_signs(
    block: bytes, starts: Sequence[int], ends: Sequence[int], spelled: Set[int] | None = None
) -> set[int]:
    """Return the indices of the strings that contain a sign, or an escape that may spell one. `starts` and `ends` are
    the bounds of the strings in the block, in order. `spelled` contains the indices of the strings with such an escape,
    if they are known."""
    places = {place for place in spelled or () if MAY_SPELL.search(block, starts[place], ends[place])}
    if not starts:
        return places
    found_natively = _found_natively(block, starts, ends)
    if found_natively is not None:
        if spelled is None:
            _add_places(places, _matches(block, MAY_SPELL, starts), starts, ends)
        return places | found_natively
    _add_places(places, _inputs(block, starts[0], ends[-1]), starts, ends)
    for first, pattern in _searches().items():
        known = _few(block, first, starts[0], ends[-1])
        found = _matches(block, pattern, starts) if known is None else [at for at in known if pattern.match(block, at)]
        _add_places(places, found, starts, ends)
    if spelled is None:
        _add_places(places, _matches(block, MAY_SPELL, starts), starts, ends)
    return places


def _found_natively(block: bytes, starts: Sequence[int], ends: Sequence[int]) -> set[int] | None:
    """Return the indices of the strings with a sign, or None without the accelerator or if it refuses the block."""
    accelerator = native.load()
    if accelerator is None:
        return None
    texts = array("q", bytes(24 * len(starts)))
    texts[0::3] = texts[1::3] = array("q", starts)
    texts[2::3] = array("q", ends)
    found = signs_of(accelerator, block, texts, bytes(len(starts)))
    return None if found is None else {place for place, is_signed in enumerate(found) if is_signed}


def signs_of(accelerator: Native, block: bytes | memoryview, texts: array[int], flags: Sequence[int]) -> bytes | None:
    """Return a mask of the texts that may have marks, given three offsets for each (its start, its start again, and its
    end) and its flags. Return None if the block is not UTF-8, or if the texts overlap."""
    found, _ = accelerator.signs(block, texts.tobytes(), _NO_BYTES, _literals(), b"", b"")
    bits = array("I", found)
    if len(bits) < len(flags) or any(bit & _ILL_FORMED for bit in set(bits)):
        return None
    mask = bytearray([bit & _SIGN != 0 for bit in bits[: len(flags)]])
    for place, flag in enumerate(flags):
        if flag & IS_SPELLED and not mask[place]:
            mask[place] = MAY_SPELL.search(block, texts[3 * place], texts[3 * place + 2]) is not None
    return bytes(mask)


def _inputs(block: bytes, start: int, end: int) -> Iterator[int]:
    """Yield the offsets of words that may label the input of a step of an agent. They are rare."""
    at = block.find(INPUT, start, end)
    while at >= 0:
        yield at
        at = block.find(INPUT, at + 1, end)


@cache
def _literals() -> bytes:
    assert max(map(len, SEARCHED)) <= _LONGEST_LITERAL
    literals = [(sign, True) for sign in sorted(SEARCHED)] + [(INPUT, False)]
    return b"".join(struct.pack("=IBB26s", _SIGN, ignores_case, len(sign), sign) for sign, ignores_case in literals)


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
