"""`InputLines`: splits the input of a reader into lines, regardless of chunk boundaries."""

from __future__ import annotations

from collections.abc import Iterator

InputLine = tuple[bytes, int, bytes]
"""The bytes of a line, the offset where it starts, and its line end, which is empty at the end of the input."""


class InputLines:
    """Holds back an incomplete line until the rest of it arrives."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._start = 0
        """The offset of the incomplete line."""

    def feed(self, data: bytes) -> Iterator[InputLine]:
        """Yield the lines that are complete now. The caller must consume all of them."""
        searched, at = len(self._data), 0
        self._data += data
        while (end := self._data.find(b"\n", max(at, searched))) >= 0:
            yield bytes(self._data[at:end]), self._start + at, b"\n"
            at = end + 1
        del self._data[:at]
        self._start += at

    def close(self) -> Iterator[InputLine]:
        """Yield the last line if it has no line end."""
        if self._data:
            yield bytes(self._data), self._start, b""
        self._start += len(self._data)
        self._data.clear()
