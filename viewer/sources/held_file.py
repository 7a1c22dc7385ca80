"""A regular file that is kept open while it is followed, and the guards that tell whether it was rewritten."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from viewer.sources.changes import Reason

HEAD_GUARD = 1024
TAIL_GUARD = 256
SETTLED = 2.0
"""A file whose size and times have not moved for so many seconds is not compared any more until they do."""

Identity = tuple[int, int]
Clock = Callable[[], float]


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode: two files with equal ones are the same."""
    return status.st_dev, status.st_ino


class HeldFile:
    """So much of a regular file has been read. Its bytes are given again only while they are still those."""

    def __init__(self, descriptor: int, clock: Clock = time.monotonic) -> None:
        self._descriptor = descriptor
        self.identity = identity_of(os.fstat(descriptor))
        self.offset = 0
        self._clock = clock
        self._head = b""
        self._tail = b""
        self._stamp: tuple[int, ...] | None = None
        self._stamp_since = 0.0
        self._is_over = False

    has_ended = False
    """More may always come."""

    @property
    def length(self) -> int:
        """How many bytes it has now."""
        return os.fstat(self._descriptor).st_size

    def take(self, limit: int) -> bytes | Reason:
        """The next bytes, none where there are none yet; or why nothing that was read counts any more."""
        data = os.pread(self._descriptor, limit, self.offset)
        changed = self._changed()
        if changed:
            return changed
        self.offset += len(data)
        self._head += data[: HEAD_GUARD - len(self._head)]
        self._tail = (self._tail + data[-TAIL_GUARD:])[-TAIL_GUARD:]
        return data

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets; none where the file is no longer what was read of it."""
        if self._is_over:
            return b""
        try:
            data = os.pread(self._descriptor, max(0, min(end, self.offset) - start), start)
            return b"" if self._changed() else data
        except OSError:
            return b""

    def begun_again(self) -> HeldFile:
        """The same file from its beginning; what was read until now cannot be read any more."""
        self._is_over = True
        return HeldFile(os.dup(self._descriptor), self._clock)

    def goes_on_in(self, descriptor: int) -> bool:
        """Whether a file that was opened is what was read of this one; then it is read through the new descriptor."""
        if identity_of(os.fstat(descriptor)) != self.identity or not self._holds(descriptor):
            return False
        os.dup2(descriptor, self._descriptor, inheritable=False)
        os.close(descriptor)
        self._stamp = None
        return True

    def _changed(self) -> Reason | None:
        status = os.fstat(self._descriptor)
        if status.st_size < self.offset:
            return Reason.TRUNCATED
        stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        if stamp != self._stamp:
            self._stamp, self._stamp_since = stamp, self._clock()
        elif self._clock() - self._stamp_since > SETTLED:
            return None
        if self._holds(self._descriptor):
            return None
        self._stamp = None
        return Reason.TRUNCATED if self.length < self.offset else Reason.REWRITTEN  # it may have been cut only now

    def _holds(self, descriptor: int) -> bool:
        """Whether the beginning, and what stands before the offset, are as they were read."""
        head = os.pread(descriptor, len(self._head), 0)
        return head == self._head and os.pread(descriptor, len(self._tail), self.offset - len(self._tail)) == self._tail

    def __del__(self) -> None:
        os.close(self._descriptor)
