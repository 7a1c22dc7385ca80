"""A text that arrives in pieces: its bytes are kept, because a mark of a template may extend over several of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from viewer.formats.json.content_parts import ContentPart, may_be_split, split_content
from viewer.model.messages import Piece

MOST_ARRIVED = 1024 * 1024
"""Bytes of a text in pieces that is divided at its marks. The marks of a longer text only hide."""
_LONGEST_MARK = 64
_MOST_LOOKS = 64
"""How often the text so far is divided on trial."""


class Arrived:
    """The pieces of one text, with their bytes."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._starts: list[int] = []
        self._data: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._looked = 0
        self.is_marked = False
        """True if the text so far is divided, or may be."""

    def add(self, pieces: list[Piece], read: Callable[[int, int], bytes]) -> None:
        """Add pieces while their bytes are at hand."""
        self.pieces += pieces
        for piece in pieces:
            if self._size <= MOST_ARRIVED and piece.start < piece.end:
                data = read(piece.start, piece.end)
                self._starts.append(piece.start)
                self._data.append(data)
                self._size += len(data)
                self._tail = self._tail[-_LONGEST_MARK:] + data.strip(b'"')

    def look(self, role: str) -> bool:
        """True if the text so far has marks: nothing more of it is shown before it is divided."""
        if not self.is_marked and may_be_split(self._tail):
            self._looked += 1
            self.is_marked = self._looked > _MOST_LOOKS or bool(self.parts(role))
        return self.is_marked

    def parts(self, role: str) -> list[ContentPart]:
        """The parts of the whole text; none of a text without marks, or of one that is too long."""
        return split_content(self.pieces, self._read, role) if self._size <= MOST_ARRIVED else []

    def _read(self, start: int, end: int) -> bytes:
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return b""
        first = start - self._starts[index]
        return self._data[index][first : first + end - start]
