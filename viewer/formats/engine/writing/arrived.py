"""`Arrived`: text that arrives in pieces. Its bytes are kept, because a template mark may span several pieces."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from viewer.formats.json.content_parts import ContentPart, may_be_split, split_content
from viewer.model.messages import Piece

MOST_ARRIVED = 1024 * 1024
"""The maximum length in bytes of text that is split at its marks. Marks in longer text only hide it."""
_LONGEST_MARK = 128
_MOST_LOOKS = 64
"""The maximum number of times that the text so far is split to check it for marks."""


class Arrived:
    """The pieces of one message's text, with their bytes."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._starts: list[int] = []
        self._data: list[bytes] = []
        self._size = 0
        self._tail = b""
        self._looked = 0
        self.is_marked = False
        """True if the text so far has marks at which it is, or may be, split."""

    def add(self, pieces: list[Piece], read: Callable[[int, int], bytes]) -> None:
        """Add pieces while their bytes are available."""
        self.pieces += pieces
        for piece in pieces:
            if self._size <= MOST_ARRIVED and piece.start < piece.end:
                data = read(piece.start, piece.end)
                self._starts.append(piece.start)
                self._data.append(data)
                self._size += len(data)
                self._tail = self._tail[-_LONGEST_MARK:] + data.strip(b'"')

    def look(self, role: str) -> bool:
        """True if the text so far has, or may have, marks. In that case, nothing more is shown before the text is
        split."""
        if not self.is_marked and may_be_split(self._tail):
            self._looked += 1
            self.is_marked = self._looked > _MOST_LOOKS or bool(self.parts(role))
        return self.is_marked

    def parts(self, role: str) -> list[ContentPart]:
        """Return the parts of the whole text, or none if it has no marks or is too long."""
        return split_content(self.pieces, self._read, role) if self._size <= MOST_ARRIVED else []

    def _read(self, start: int, end: int) -> bytes:
        index = bisect_right(self._starts, start) - 1
        if index < 0:
            return b""
        first = start - self._starts[index]
        return self._data[index][first : first + end - start]
