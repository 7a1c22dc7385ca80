"""Join the text of many pieces with the native accelerator."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from viewer.model.messages import Coding, Piece
from viewer.native import Native

FEWEST = 8
"""The minimum number of pieces. For fewer pieces, preparing the columns takes longer than joining them one by one."""
_OTHER = 2
_FLAGS = {Coding.PLAIN: 0, Coding.JSON_STRING: 1}


def join_pieces(accelerator: Native | None, pieces: Sequence[Piece], data: bytes, base: int) -> bytes | None:
    """Return the text of pieces inside the data, which begins at an offset. Return None for few pieces, for other
    codings, for pieces that are not UTF-8, or without an accelerator."""
    count = len(pieces)
    if accelerator is None or count < FEWEST:
        return None
    flags = [_FLAGS.get(piece.coding, _OTHER) for piece in pieces]
    if _OTHER in flags:
        return None
    parts = array("q", bytes(3 * 8 * count))
    parts[0::3] = array("q", [piece.start for piece in pieces])
    parts[1::3] = array("q", [piece.end for piece in pieces])
    parts[2::3] = array("q", flags)
    return accelerator.joined(data, base, parts)
