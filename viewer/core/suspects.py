"""Which messages of a run have something in them that must be looked at with care: a few passes over all bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from viewer.core.hidden_characters import MAY_HIDE
from viewer.core.needs import ODD_WORDS
from viewer.core.scan_tokens import words_view
from viewer.core.template_marks import MARK_SIGNS, MAY_BE_MARK

MOST_FAULTS = 8
"""After so many, every message that is not ASCII is a suspect."""
SELDOM = 256
"""Characters beyond ASCII are few where fewer than one in so many bytes begins one."""

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_LEAD = 0xC2
_LOWER = np.uint32(0x2020_2020)
_STRIPPED = (b"assistantfinal", b"e|>analysis", b"e|>commentary")
"""In bodies whose tokens were stripped. Their head is searched with the end of `<|message|>`."""
_MARK_WORDS = np.unique(
    np.array([int.from_bytes(sign[:4], "little") for sign in MARK_SIGNS if len(sign) > 3], np.uint32) | _LOWER
)
"""The first four bytes of marks, but for those with `<|`, which no plain body has, in lower case."""
_LESS, _BRACKET, _BAR = b"<[|"
_BEYOND_ASCII = tuple(sign for sign in MARK_SIGNS if not sign.isascii() and len(sign) < 4)


def suspects(data: bytes, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of those messages; each begins at one of `starts`."""
    places = [*_controls(data), *_marks(data), *_all(data, *ODD_WORDS, *_STRIPPED), *_beyond_ascii(data, starts)]
    return np.unique(starts.searchsorted(np.array(places, np.int64), "right") - 1)


def _controls(data: bytes) -> Iterator[int]:
    block = np.frombuffer(data, np.uint8)
    harmless = np.count_nonzero(block == 9) + np.count_nonzero(block == 10)
    if np.count_nonzero(block < 32) > harmless or np.count_nonzero(block == 127):
        yield from (found.start() for found in _CONTROL.finditer(data))


def _marks(data: bytes) -> Iterator[int]:
    """Places where a mark of a template may be, upper case or lower."""
    block = np.frombuffer(data, np.uint8)
    edge = max(0, len(data) - 8)
    less = np.flatnonzero(block[:edge] == _LESS)
    at = np.concatenate((less[block[less + 1] != _BAR], np.flatnonzero(block[:edge] == _BRACKET)))
    words = words_view(data)[at].astype(np.uint32) | _LOWER
    yield from at[np.isin(words, _MARK_WORDS)].tolist()
    yield from (found.start() for found in MAY_BE_MARK.finditer(data, edge))
    for sign in () if data.isascii() else _BEYOND_ASCII:
        yield from _all(data, sign)


def _all(data: bytes, *words: bytes) -> Iterator[int]:
    for word in words:
        at = data.find(word)
        while at >= 0:
            yield at
            at = data.find(word, at + 1)


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
