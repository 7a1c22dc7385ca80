"""Which messages of a run have something in them that must be looked at with care: a few passes over all bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from viewer.core.hidden_characters import MAY_HIDE
from viewer.core.needs import TOOL_CALLS
from viewer.core.scan_tokens import words_view
from viewer.core.thoughts import MAY_BE_MARK

MOST_FAULTS = 8
"""After so many, every message that is not ASCII is a suspect."""
SELDOM = 256
"""Characters beyond ASCII are few where fewer than one in so many bytes begins one."""

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_LEAD = 0xC2
_LOWER = np.uint64(0x2020_2020_2020_2020)
_SIX_BYTES, _SEVEN_BYTES = np.uint64((1 << 48) - 1), np.uint64((1 << 56) - 1)
_OPENS = [np.uint64(int.from_bytes(tag, "little")) for tag in (b"<think", b"{think")]  # `[` as `_LOWER` leaves it
_CLOSES = [np.uint64(int.from_bytes(tag, "little")) for tag in (b"</think", b"{/think")]
_LESS, _BRACKET = b"<["


def suspects(data: bytes, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of those messages; each begins at one of `starts`."""
    places = [*_controls(data), *_thoughts(data), *_tool_calls(data), *_beyond_ascii(data, starts)]
    return np.unique(starts.searchsorted(np.array(places, np.int64), "right") - 1)


def _controls(data: bytes) -> Iterator[int]:
    block = np.frombuffer(data, np.uint8)
    harmless = np.count_nonzero(block == 9) + np.count_nonzero(block == 10)
    if np.count_nonzero(block < 32) > harmless or np.count_nonzero(block == 127):
        yield from (found.start() for found in _CONTROL.finditer(data))


def _thoughts(data: bytes) -> Iterator[int]:
    """Places where a thought tag may begin, in any case of letters."""
    edge = max(0, len(data) - 8)
    block = np.frombuffer(data, np.uint8)[:edge]
    at = np.flatnonzero((block == _LESS) | (block == _BRACKET))
    words = words_view(data)[at] | _LOWER
    tags = np.isin(words & _SIX_BYTES, _OPENS) | np.isin(words & _SEVEN_BYTES, _CLOSES)
    yield from at[tags].tolist()
    yield from (found.start() for found in MAY_BE_MARK.finditer(data, edge))


def _tool_calls(data: bytes) -> Iterator[int]:
    at = data.find(TOOL_CALLS)
    while at >= 0:
        yield at
        at = data.find(TOOL_CALLS, at + 1)


def hiding_places(data: bytes) -> Iterator[int]:
    """Where a character stands that may hide something. Where few are beyond ASCII, those alone are looked at."""
    at = np.flatnonzero(np.frombuffer(data, np.uint8) >= _LEAD)
    if len(at) < len(data) // SELDOM:
        yield from (place for place in at.tolist() if MAY_HIDE.match(data, place))
    else:
        yield from (found.start() for found in MAY_HIDE.finditer(data))


def _beyond_ascii(data: bytes, starts: NDArray[np.int64]) -> Iterator[int]:
    """Ill-formed UTF-8, and characters that may be hidden ones."""
    if data.isascii():
        return
    yield from hiding_places(data)
    at = 0
    for _ in range(MOST_FAULTS):
        try:
            data[at:].decode()
        except UnicodeDecodeError as error:
            place = at + error.start
            yield place
            row = int(starts.searchsorted(place, "right"))
            at = int(starts[row]) if row < len(starts) else len(data)
        else:
            return
    yield from np.flatnonzero(np.frombuffer(data, np.uint8) >= 0x80).tolist()
