"""Map offsets to lines and columns, both counted from 1. Lines end at LF, and columns count code points."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from viewer.columns.api import Columns

BLOCK = 64 * 1024
_LINE_END = ord("\n")


class Positions:
    """Counts lines while an input is being read, so that the line and column of any offset can be found quickly."""

    def __init__(self, read: Callable[[int, int], bytes]) -> None:
        self._read = read
        self._lines = array("Q", [0])
        """The number of line ends before each block."""
        self._line_starts = array("Q", [0])
        """The start of the line in which each block begins."""
        self._ends = 0
        """The number of line ends in the last block, which is not yet full."""
        self._line_start = 0
        """The start of the current line."""
        self._length = 0
        self._cursor = (0, 0, 0)
        """An offset, the number of line ends before it, and the start of its line."""
        self._column_cursor = (0, 0, 0)
        """A line start, an offset in the line, and the number of code points between them."""

    def feed(self, data: bytes, columns: Columns) -> None:
        """Count the lines in the next bytes of the input. The bytes are not kept."""
        if not data:
            return
        cuts = [0, *range(BLOCK - self._length % BLOCK, len(data), BLOCK), len(data)]
        for (start, end), count in zip(pairwise(cuts), columns.count_byte(data, _LINE_END, cuts), strict=True):
            newest = data.rfind(b"\n", start, end)
            self._ends += count
            self._line_start = self._length + newest + 1 - start if newest >= 0 else self._line_start
            self._length += end - start
            if self._length % BLOCK == 0:
                self._end_block()

    def _end_block(self) -> None:
        self._lines.append(self._lines[-1] + self._ends)
        self._line_starts.append(self._line_start)
        self._ends = 0

    def line(self, offset: int) -> int:
        """Return the line of an offset, counted from 1."""
        return self._before(offset)[0] + 1

    def lines(self, offsets: Iterable[int]) -> Iterator[int]:
        """Yield the line of each offset. If the offsets ascend, each block is read only once."""
        block, at, lines, data = -1, 0, 0, b""
        for offset in offsets:
            wanted = min(offset // BLOCK, len(self._lines) - 1)
            if wanted != block or offset < at:
                block, at, lines = wanted, wanted * BLOCK, self._lines[wanted]
                data = self._read(at, max(at + BLOCK, offset))
            first = block * BLOCK
            lines += data.count(b"\n", at - first, offset - first)
            at = offset
            yield lines + 1

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset."""
        lines, line_start, data, first = self._before(offset)
        return lines + 1, self._code_points(line_start, offset, data, first) + 1

    def line_start(self, offset: int) -> int:
        """Return the offset of the start of the line that contains this offset."""
        return self._before(offset)[1]

    def _before(self, offset: int) -> tuple[int, int, bytes, int]:
        """Return the number of line ends before an offset, and the start of its line; also the bytes that were read to
        find these, and the offset of those bytes."""
        at, lines, line_start = self._cursor
        if not at <= offset < at + BLOCK:
            block = min(offset // BLOCK, len(self._lines) - 1)
            at, lines, line_start = block * BLOCK, self._lines[block], self._line_starts[block]
        data = self._read(at, offset)
        newest = data.rfind(b"\n")
        lines += data.count(b"\n")
        line_start = at + newest + 1 if newest >= 0 else line_start
        self._cursor = offset, lines, line_start
        return lines, line_start, data, at

    def _code_points(self, line_start: int, offset: int, data: bytes, first: int) -> int:
        """Return the number of code points between two offsets. `data` contains the bytes from `first` to the second
        offset."""
        start, at, count = self._column_cursor
        if start != line_start or at > offset:
            at, count = line_start, 0
        if first <= at:
            at, data = first + len(data), data[at - first :]
            count += len(data.decode("utf-8", "replace"))
        while at < offset:
            data = self._read(at, min(offset, at + BLOCK))
            size = _whole_characters(data) if at + len(data) < offset else len(data)
            count += len(data[:size].decode("utf-8", "replace"))
            at += size
            if not data:
                break
        self._column_cursor = line_start, at, count
        return count


def _whole_characters(data: bytes) -> int:
    """Return the length of the data without a partial character at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < needed else len(data)
    return len(data)
