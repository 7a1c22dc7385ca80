"""`StoredInput`: access to the bytes of an input after it was read, for replays and times, and to detect a rewritten
file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from viewer.sources.checksums import BLOCK
from viewer.sources.file_source import FileSource
from viewer.sources.files import Source
from viewer.sources.guarded_file import GuardedFile

if TYPE_CHECKING:
    from viewer.sources.replay.source import ReplayedSource


class StoredInput:
    """The bytes behind one reading, for computations only. Views must not use them."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def size(self) -> int:
        """The size of the input in bytes, whether read or not."""
        return self._source.size

    def is_rewritten(self) -> bool:
        """True if the file no longer contains the bytes that were read. The test is cheap enough to run every
        second."""
        try:
            return isinstance(self._source, FileSource) and self._source.is_rewritten()
        except OSError:
            return False

    def snapshot(self) -> GuardedFile | None:
        """Return the file as it is now, or None if it cannot be read in place or only one transcript of it was
        selected."""
        source = self._source
        return source.snapshot() if isinstance(source, FileSource) and not source.only else None

    def replayed(self, base: int = 0, head: int = 0, start: int = 0) -> ReplayedSource:
        """Return a source that replays the same bytes: `head` bytes from `base` on, and those from `start` on."""
        from viewer.sources.replay.source import ReplayedSource, SourceWithGap  # only a replay needs them

        source = SourceWithGap(self._source, 0, base) if base else self._source
        return ReplayedSource(SourceWithGap(source, head, start - base) if start - base > head else source)

    def line_times(self, offsets: Sequence[int]) -> Iterator[int | None]:
        """Yield the time in the line at each of these ascending offsets, or None if the line has no time."""
        from viewer.sources.replay.stated_times import times_of_lines  # only a replay of a stream needs them

        return times_of_lines(self._source.read, offsets, self._source.size)

    def begins_line(self, offset: int) -> bool:
        """True if this offset is the start of a line."""
        return offset == 0 or self._source.read(offset - 1, offset) == b"\n"

    def columns_before(self, offset: int, base: int = 0) -> int | None:
        """Return the number of code points from the start of the line, or from `base` if that is later, to an offset.
        Return None if the line is too long to count them quickly, or is not valid UTF-8."""
        first = max(base, offset - BLOCK)
        data = self._source.read(first, offset)
        newest = data.rfind(b"\n")
        if newest < 0 and first > base:
            return None
        try:
            return len(data[newest + 1 :].decode())
        except UnicodeDecodeError:
            return None

    def line_start(self, offset: int) -> int:
        """Return the offset of the start of the line that contains this offset."""
        while offset:
            start = max(0, offset - BLOCK)
            found = self._source.read(start, offset).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            offset = start
        return 0

    def count_lines(self, start: int, end: int) -> int:
        """Return the number of line ends between two offsets."""
        places = range(start, end, BLOCK)
        return sum(self._source.read(place, min(place + BLOCK, end)).count(b"\n") for place in places)

    def line_after(self, offset: int, end: int) -> int:
        """Return where the next line after this offset begins, or `end` if no line begins before that."""
        for start in range(offset, end, BLOCK):
            found = self._source.read(start, min(start + BLOCK, end)).find(b"\n")
            if found >= 0:
                return start + found + 1
        return end
