"""Vectorized frame scanner for frames of `<|start|>`, words, `<|message|>`, a body without marks, and a stop token."""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct

from viewer.model.messages import Ending
from viewer.numeric import NDArray, np
from viewer.reading.grammar import SPACE

Positions: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]

START_LENGTH = len(b"<|start|>")
MESSAGE_LENGTH = len(b"<|message|>")

_LONGEST = len(b"<|constrain|>")
_LESS, _BAR, _GREATER = b"<|>"
_FOREIGN, _OTHER, _START, _MESSAGE, _INNER, _END, _RETURN, _CALL = range(8)
"""Kinds of marks. A foreign mark is not a token of any grammar. A frame is plain only if all marks in its body are
foreign or escaped."""
_KINDS = {
    b"start|>": _START,
    b"message|": _MESSAGE,
    b"channel|": _INNER,
    b"constrai": _INNER,
    b"end|>": _END,
    b"return|>": _RETURN,
    b"call|>": _CALL,
    b"literal|": _OTHER,
    b"endliter": _OTHER,
}
"""The kind of each token, by the first bytes (at most eight) after its `<|`. That many are enough, because header words
are compared exactly later."""
_ENDINGS = {_END: Ending.END, _RETURN: Ending.RETURN, _CALL: Ending.CALL}
STOP_LENGTHS = np.array([len(b"<|end|>"), len(b"<|return|>"), len(b"<|call|>")])
"""The lengths of the stop tokens, indexed by the codes in `Frames.endings`."""
_TAIL = re.compile(rb"<\|(?:(" + b"|".join(map(re.escape, _KINDS)) + rb"))?")
_IS_SPACE = np.zeros(256, bool)
_IS_SPACE[list(SPACE)] = True
_LONGEST_GAP = 64
ENDINGS = tuple(_ENDINGS.values())
"""The ending of each code in `Frames.endings`."""


_SLOTS, _SHIFT = 32, 27


def _slot(spelling: bytes, spreader: int) -> int:
    return (int.from_bytes(spelling[:4], "little") * spreader & 0xFFFF_FFFF) >> _SHIFT


def _find_spreader() -> int:
    """Find a factor that maps the first four bytes of each spelling to a separate slot."""
    return next(factor for factor in range(1, 1 << 20, 2) if len({_slot(one, factor) for one in _KINDS}) == len(_KINDS))


_SPREADER = np.uint32(_find_spreader())
_MASK_OF, _WORD_OF, _KIND_OF = np.zeros(_SLOTS, np.uint64), np.ones(_SLOTS, np.uint64), np.zeros(_SLOTS, np.uint8)
for _spelling, _kind in _KINDS.items():
    _place = _slot(_spelling, int(_SPREADER))
    _MASK_OF[_place] = (1 << 8 * len(_spelling)) - 1
    _WORD_OF[_place] = int.from_bytes(_spelling, "little")
    _KIND_OF[_place] = _kind


class HeaderColumns(Struct, frozen=True):
    """The headers of frames, grouped by their words without the call ID, with one example per group."""

    kinds: Positions
    """For each frame, the number of its example, or IRREGULAR."""
    firsts: list[int]
    example_id_starts: list[int]
    example_id_ends: list[int]
    lasts: list[int]
    """For each example, where the words start and end, and where the call ID starts and ends."""
    id_starts: Positions
    id_ends: Positions
    """The bounds of the call ID in each frame; both are 0 if it has no call ID."""


class Frames(Struct, frozen=True):
    """Plain frames in block order; positions are indexes into the block."""

    starts: Positions
    messages: Positions
    """The position of `<|message|>`."""
    stops: Positions
    ends: Positions
    endings: NDArray[np.int64]
    follows: NDArray[np.bool_]
    """True if only whitespace separates this frame from the next one."""
    escaped: NDArray[np.bool_]
    """True if the body has a mark after a doubled `<`, so its text differs from its bytes."""
    headers: HeaderColumns | None = None
    """The headers, if they were read with the frames."""

    def __len__(self) -> int:
        return len(self.starts)


def words_view(data: bytes) -> Words:
    """Return the eight bytes that start at each index. The last seven indexes have no entry."""
    return np.ndarray((max(0, len(data) - 7),), "<u8", buffer=data, strides=(1,))


def find_frames(data: bytes, *, escapes: bool) -> Frames:
    """Find all plain frames of a block. With `escapes`, a mark after `<` is text, and `escaped` is set for the frame
    that contains it."""
    block = np.frombuffer(data, np.uint8)
    at, kinds, is_escaped = _marks(data, block)
    if not escapes:
        is_escaped[:] = False
    is_foreign = (kinds == _FOREIGN) | is_escaped
    escaped = at[is_escaped]
    if is_foreign.any():
        at, kinds = at[~is_foreign], kinds[~is_foreign]
    outer = np.flatnonzero(kinds != _INNER)
    kind = kinds[outer]
    stops = kind[2:]
    whole = (kind[:-2] == _START) & (kind[1:-1] == _MESSAGE) & (stops >= _END) & (outer[2:] - outer[1:-1] == 1)
    first = np.flatnonzero(whole)
    endings = kind[first + 2].astype(np.int64) - _END
    starts, messages, stop = at[outer[first]], at[outer[first + 1]], at[outer[first + 2]]
    ends = stop + STOP_LENGTHS[endings]
    follows = np.zeros(len(first), bool)
    if len(first) > 1:
        follows[:-1] = _only_space(data, block, ends[:-1], starts[1:])
    return Frames(starts, messages, stop, ends, endings, follows, _hold(escaped, messages, stop))


def _hold(places: Positions, starts: Positions, ends: Positions) -> NDArray[np.bool_]:
    """Return a flag for each pair of start and end: true if one of these positions is between them."""
    if not len(places):
        return np.zeros(len(starts), bool)
    holding: NDArray[np.bool_] = places.searchsorted(starts) < places.searchsorted(ends)
    return holding


def _marks(data: bytes, block: Bytes) -> tuple[Positions, Bytes, NDArray[np.bool_]]:
    """Return the positions of `<|`, the mark at each position, and whether another `<` precedes it."""
    edge = max(0, len(data) - _LONGEST)
    at = np.flatnonzero(block[:edge] == _LESS)
    is_mark = block[at + 1] == _BAR
    if not is_mark.all():
        at = at[is_mark]
    following = words_view(data)[at + 2]
    slots = ((following.astype(np.uint32) * _SPREADER) >> np.uint32(_SHIFT)).astype(np.intp)
    kinds = np.where(following & _MASK_OF[slots] == _WORD_OF[slots], _KIND_OF[slots], _FOREIGN).astype(np.uint8)
    messages = np.flatnonzero(kinds == _MESSAGE)
    kinds[messages[block[at[messages] + MESSAGE_LENGTH - 1] != _GREATER]] = _FOREIGN
    is_escaped = block[at - 1] == _LESS
    if len(at) and at[0] == 0:
        is_escaped[0] = False  # no `<` ever precedes a block
    last, their_kinds = _last_marks(data, edge)
    return (
        np.concatenate((at, last)),
        np.concatenate((kinds, their_kinds)),
        np.concatenate((is_escaped, np.zeros(len(last), bool))),
    )


def _last_marks(data: bytes, edge: int) -> tuple[Positions, Bytes]:
    """Return the marks in the last bytes, where fewer than eight bytes are left. An unknown mark may still become a
    token."""
    places: list[int] = []
    kinds: list[int] = []
    for found in _TAIL.finditer(data, edge):
        at = found.start()
        kind = _KINDS.get(found[1] or b"", _OTHER)
        is_cut = kind == _MESSAGE and data[at : at + MESSAGE_LENGTH] != b"<|message|>"
        escaped = data[max(0, at - 1) : at] == b"<"
        places.append(at)
        kinds.append(_OTHER if is_cut or escaped else kind)
    return np.array(places, np.int64), np.array(kinds, np.uint8)


def _only_space(data: bytes, block: Bytes, ends: Positions, starts: Positions) -> NDArray[np.bool_]:
    gaps = starts - ends
    last = len(block) - 1
    one = _IS_SPACE[block[ends]]
    two = _IS_SPACE[block[np.minimum(ends + 1, last)]]
    only: NDArray[np.bool_] = (gaps == 0) | ((gaps == 1) & one) | ((gaps == 2) & one & two)
    for row in np.flatnonzero((gaps > 2) & (gaps <= _LONGEST_GAP) & one).tolist():
        only[row] = not data[ends[row] : starts[row]].strip(SPACE)
    return only
