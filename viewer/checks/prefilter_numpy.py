"""Which messages of a run have something in them that must be looked at with care: a few passes over all bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from viewer.checks.prefilter import ODD_WORDS
from viewer.reading.embedded_turn import may_be_stripped
from viewer.reading.template_marks import MARK_SIGNS, MAY_BE_MARK
from viewer.scan.blocks import words_view
from viewer.syntax.characters import MAY_HIDE

MOST_FAULTS = 8
"""After so many, every message that is not ASCII is a suspect."""
SELDOM = 256
"""Characters beyond ASCII are few where fewer than one in so many bytes begins one."""

_TAB, _NEWLINE, _RETURN, _SPACE, _DELETE = b"\t\n\r \x7f"
_LEAD = 0xC2
_LOWER = np.uint32(0x2020_2020)
_MESSAGE = b"<|message|>"
_MESSAGE_WORD = np.uint64(int.from_bytes(_MESSAGE[:8], "little"))
_MAY_BEGIN_STRIPPED = np.zeros(256, bool)
_MAY_BEGIN_STRIPPED[list(b"ac \t\n\r\v\f")] = True
"""First bytes of bodies whose tokens were stripped."""
_MARK_WORDS = np.unique(
    np.array([int.from_bytes(sign[:4], "little") for sign in MARK_SIGNS if len(sign) > 3], np.uint32) | _LOWER
)
"""The first four bytes of marks, but for those with `<|`, which no plain body has, in lower case."""
_LESS, _BRACKET = b"<["
_SECOND_BYTE, _BAR_SECOND = np.uint64(0xFF00), np.uint64(ord("|") << 8)
_BEYOND_ASCII = tuple(sign for sign in MARK_SIGNS if not sign.isascii() and len(sign) < 4)


def suspects(data: bytes, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions of those messages; each begins at one of `starts`."""
    places = [*_controls(data), *_marks(data), *_all(data, *ODD_WORDS), *_beyond_ascii(data, starts)]
    return np.unique(starts.searchsorted(np.array(places, np.int64), "right") - 1)


def _controls(data: bytes) -> Iterator[int]:
    """Control characters, but for tabs and the ends of lines."""
    block = np.frombuffer(data, np.uint8)
    harmless = np.count_nonzero(block == _TAB) + np.count_nonzero(block == _NEWLINE)
    if np.count_nonzero(block < _SPACE) > harmless or np.count_nonzero(block == _DELETE):
        is_control = (block < _SPACE) & (block != _TAB) & (block != _NEWLINE) | (block == _DELETE)
        is_control[:-1] &= (block[:-1] != _RETURN) | (block[1:] != _NEWLINE)
        yield from np.flatnonzero(is_control).tolist()


def _marks(data: bytes) -> Iterator[int]:
    """Places where a mark of a template may be, upper case or lower."""
    block = np.frombuffer(data, np.uint8)
    edge = max(0, len(data) - 8)
    less = np.flatnonzero(block[:edge] == _LESS)
    view = words_view(data)
    words = view[less]
    yield from _stripped(data, block, less[words == _MESSAGE_WORD] + len(_MESSAGE))
    at = less[words & _SECOND_BYTE != _BAR_SECOND]
    if _BRACKET in data:
        at = np.concatenate((at, np.flatnonzero(block[:edge] == _BRACKET)))
    words = view[at].astype(np.uint32) | _LOWER
    yield from at[np.isin(words, _MARK_WORDS)].tolist()
    yield from (found.start() for found in MAY_BE_MARK.finditer(data, edge))
    for sign in () if data.isascii() else _BEYOND_ASCII:
        yield from _all(data, sign)


def _stripped(data: bytes, block: NDArray[np.uint8], bodies: NDArray[np.int64]) -> Iterator[int]:
    """Which of these bodies may be the form without tokens."""
    bodies = bodies[bodies < len(data)]
    for place in bodies[_MAY_BEGIN_STRIPPED[block[bodies]]].tolist():
        if may_be_stripped(data, place):
            yield place


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
