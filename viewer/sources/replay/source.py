"""`ReplayedSource`: an input that has already been read, fed in again up to any byte, as if it were just being
written."""

from __future__ import annotations

from collections.abc import Callable

from viewer.sources.changes import FOLLOWING, Change, Grew, SourceState
from viewer.sources.files import Source
from viewer.sources.follow import TURN


class SourceWithGap:
    """An input without the bytes between two offsets."""

    fault = ""

    def __init__(self, source: Source, first: int, last: int) -> None:
        self.name = source.name
        self.only = source.only
        self.converted = source.converted
        self.note = source.note
        self._source = source
        self._first, self._gap = first, last - first

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._source.size - self._gap

    def read(self, start: int, end: int) -> bytes:
        """Read the bytes between two offsets."""
        return self._read(self._source.read, start, end)

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the stamp of the file."""
        return self._read(self._source.read_again, start, end)

    def _read(self, read: Callable[[int, int], bytes], start: int, end: int) -> bytes:
        first, gap = self._first, self._gap
        before = read(start, min(end, first)) if start < first else b""
        return before + read(max(start, first) + gap, end + gap) if end > first else before


class ReplayedRevision:
    """The bytes of an input that have arrived so far. Bytes that have not arrived cannot be read."""

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.only = source.only
        self.size = 0
        """The number of bytes that have arrived."""
        self._source = source

    @property
    def converted(self) -> bool:
        """True if the text was UTF-16."""
        return self._source.converted

    @property
    def note(self) -> str:
        """How the input is read."""
        return self._source.note

    @property
    def fault(self) -> str:
        """Always empty, because any fault in the input is at its end."""
        return ""

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets that have arrived."""
        return self._source.read(start, min(end, self.size))

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the stamp of the file."""
        return self._source.read_again(start, min(end, self.size))

    def add(self, data: bytes, *, ends: bool = False) -> bytes:
        """Count the next bytes as arrived, and return them."""
        self.size += len(data)
        return data


class ReplayedSource:
    """A source with bytes that arrive on request."""

    is_stream = False
    state: SourceState = FOLLOWING

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.generation = ReplayedRevision(source)
        self._source = source
        self._released = 0

    @property
    def size(self) -> int:
        """The number of bytes that have arrived."""
        return self.generation.size

    @property
    def length(self) -> int:
        """The number of bytes that may have arrived by now."""
        return self._released

    def release(self, end: int) -> None:
        """Release the bytes before this offset. The next polls return them."""
        self._released = max(self._released, min(end, self._source.size))

    def poll(self) -> list[Change]:
        """Count the next released bytes as arrived. Return them as a change, if there are any."""
        start = self.size
        data = self._source.read(start, min(self._released, start + TURN)) if start < self._released else b""
        return [Grew(self.generation.add(data))] if data else []

    def wait(self, timeout: float) -> bool:
        """Return immediately, because no bytes arrive unless they are released."""
        return False

    async def wait_async(self, timeout: float) -> bool:
        """Like `wait`, for use in an event loop."""
        return False

    def close(self) -> None:
        """Do nothing, because the caller owns the input."""
