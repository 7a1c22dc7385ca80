"""`FollowedPipe`: a followed pipe or FIFO, read once and without blocking, and decompressed if necessary."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator

from viewer.errors import ViewerError
from viewer.sources.compressed import Expander, compression_of, may_be_compressed
from viewer.sources.files import FROM_A_PIPE
from viewer.sources.followed_file import identity_of

PART = 256 * 1024


class FollowedPipe:
    """Data from the writers of a FIFO or a pipe. A pipe ends when its writers close it; a FIFO does not."""

    length = 0
    """Zero, because the remaining length is unknown."""

    def __init__(self, descriptor: int, ends: bool) -> None:
        self._descriptor = descriptor
        self.identity = identity_of(os.fstat(descriptor))
        self.has_ended = False
        self._ends = ends
        self._ready = select.poll()
        self._ready.register(descriptor, select.POLLIN)
        self._first: bytes | None = b""
        """The first bytes, until they show whether the data is compressed; then None."""
        self._expander: Expander | None = None
        self._expanding: Iterator[bytes] = iter(())
        self.stopped = ""
        """Why the pipe cannot be read, in one sentence; empty if it can."""

    @property
    def note(self) -> str:
        """A note for the status line."""
        return ", ".join(filter(None, (FROM_A_PIPE, self._expander.note if self._expander else "")))

    @property
    def fault(self) -> str:
        """Why reading stopped early, as a reason of E-STREAM-TRUNCATED; empty if it did not."""
        return self._expander.fault if self._expander else ""

    def take(self, limit: int) -> bytes:
        """Return the bytes that have arrived, at most about `limit`."""
        parts: list[bytes] = []
        size = 0
        while size < limit:
            part = next(self._expanding, None)
            if part is None and not self._read(limit - size):
                break
            parts.append(part or b"")
            size += len(part or b"")
        return b"".join(parts)

    def _read(self, limit: int) -> bool:
        """Read more bytes if they are available. Return True if there were any, or if the pipe has ended."""
        if self.has_ended or not self._ready.poll(0):
            return False
        try:
            data = os.read(self._descriptor, min(limit, PART))
        except BlockingIOError:
            return False
        self.has_ended = self._ends and not data
        self._expanding = self._expanded(data)
        if self.has_ended and self._expander:
            self._expander.end()
        return bool(data) or self.has_ended

    def _expanded(self, data: bytes) -> Iterator[bytes]:
        """Yield the text of these bytes, once the compression is known."""
        if self._first is not None:
            data, self._first = self._first + data, None
            if data and may_be_compressed(data) and not self.has_ended:
                self._first = data
                return iter(())
            self._begin(data)
        if self.stopped or not data:
            return iter(())
        return self._expander.feed(data) if self._expander else iter((data,))

    def _begin(self, first: bytes) -> None:
        compression = compression_of(first)
        if compression is None:
            return
        try:
            self._expander = Expander(compression)
        except ViewerError as error:  # the library for this compression is not installed
            self.stopped = str(error)

    def __del__(self) -> None:
        os.close(self._descriptor)
