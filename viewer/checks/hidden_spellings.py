"""Spellings of characters that may be hidden, as flags for the native accelerator."""

from __future__ import annotations

from functools import lru_cache

from viewer.syntax.characters import HIDING_LEADS, MAY_HIDE

_SIDES = 64
"""The number of values of the low bits of a byte."""


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def hidden_spellings() -> bytes:
    """Return a bit for each first byte in `HIDING_LEADS` and the low bits of the next two bytes: 1 if they may begin a
    hidden character."""
    count = len(HIDING_LEADS) * _SIDES * _SIDES
    text, others = bytearray(b" " * 4 * count), bytes(range(0x80, 0x80 + _SIDES))
    text[0::4] = b"".join(bytes((lead,)) * _SIDES * _SIDES for lead in HIDING_LEADS)
    text[1::4] = b"".join(bytes((other,)) * _SIDES for other in others) * len(HIDING_LEADS)
    text[2::4] = others * _SIDES * len(HIDING_LEADS)
    flags = bytearray(count // 8)
    for found in MAY_HIDE.finditer(bytes(text)):
        place = found.start() // 4
        flags[place >> 3] |= 1 << (place & 7)
    return bytes(flags)
