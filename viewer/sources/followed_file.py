"""A regular file that is kept open while it is followed, and the guards that tell whether it was rewritten."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from viewer.errors import FileRewrittenError
from viewer.sources.changes import Reason
from viewer.sources.guarded_file import COMPARED_AT_ONCE, GuardedFile
from viewer.sources.stamp import Stamp, stamp_of

HEAD_GUARD = 1024
TAIL_GUARD = 256
SETTLED = 2.0
"""A file whose size and times have not moved for so many seconds is not compared any more until they do."""
COMPARED_LAST = 4
"""The number of blocks before the offset that are compared at once if the stamp of a big file has moved."""
COMPARED_IDLY = 16
"""The number of blocks of a big file that are compared in one idle turn."""

Identity = tuple[int, int]
Clock = Callable[[], float]


def identity_of(status: os.stat_result) -> Identity:
    """Device and inode: two files with equal ones are the same."""
    return status.st_dev, status.st_ino


class FollowedFile:
    """So much of a regular file has been read. Its bytes are given again only while they are still those."""

    def __init__(self, descriptor: int, clock: Clock = time.monotonic, name: str = "") -> None:
        self.name = name
        self._file = GuardedFile(descriptor)
        self.identity = identity_of(os.fstat(descriptor))
        self.offset = 0
        self._clock = clock
        self._head = b""
        self._tail = b""
        self._stamp: Stamp | None = None
        self._stamp_since = 0.0
        self._is_over = False
        self._changed_for: Reason | None = None
        """A read found the file rewritten; the next turn starts over."""

    has_ended = False
    """More may always come."""

    @property
    def length(self) -> int:
        """How many bytes it has now."""
        return os.fstat(self._file.descriptor).st_size

    def take(self, limit: int) -> bytes | Reason:
        """The next bytes, none where there are none yet; or why nothing that was read counts any more."""
        data = self._file.pread(self.offset, self.offset + limit)
        changed = self._changed_for or self._changed() or self._compare(is_idle=not data)
        if changed:
            return changed
        self.offset += len(data)
        self._file.index(data)
        self._head += data[: HEAD_GUARD - len(self._head)]
        self._tail = (self._tail + data[-TAIL_GUARD:])[-TAIL_GUARD:]
        return data

    def read(self, start: int, end: int, *, trusts_stamp: bool = True) -> bytes:
        """The bytes between two offsets as they were taken; FileRewrittenError if the file no longer holds them."""
        if self._is_over or self._changed_for:
            raise FileRewrittenError(self.name)
        if start >= min(end, self.offset):
            return b""
        try:
            self._changed_for = self._changed()
            data = self._file.read(start, min(end, self.offset), trusts_stamp=trusts_stamp)
        except OSError:
            data = None
        if self._changed_for or not isinstance(data, bytes):
            self._changed_for = self._changed_for or Reason.REWRITTEN
            raise FileRewrittenError(self.name)
        return data

    def begun_again(self) -> FollowedFile:
        """The same file from its beginning; what was read until now cannot be read any more."""
        self._is_over = True
        return FollowedFile(os.dup(self._file.descriptor), self._clock, self.name)

    def goes_on_in(self, descriptor: int) -> bool:
        """Whether a file that was opened is what was read of this one; then it is read through the new descriptor."""
        same = identity_of(os.fstat(descriptor)) == self.identity
        if not same or not self._holds(descriptor):
            return False
        os.dup2(descriptor, self._file.descriptor, inheritable=False)
        os.close(descriptor)
        self._stamp = None
        return self._file.compare()

    def _changed(self) -> Reason | None:
        stamp = stamp_of(self._file.descriptor)
        if self._file.is_shorter:
            return Reason.TRUNCATED
        if stamp != self._stamp:
            self._stamp, self._stamp_since = stamp, self._clock()
        elif self._clock() - self._stamp_since > SETTLED:
            return None
        if self._holds(self._file.descriptor):
            return None
        self._stamp = None
        return Reason.TRUNCATED if self._file.is_shorter else Reason.REWRITTEN  # it may have been cut only now

    def _compare(self, *, is_idle: bool) -> Reason | None:
        """Compare blocks if the stamp has moved: all of a small file; of a big one the last ones before more is read,
        and all of them in idle turns."""
        if not self._file.has_moved:
            return None
        if self.offset <= COMPARED_AT_ONCE:
            holds = self._file.compare()
        elif is_idle:
            holds = self._file.compare_some(COMPARED_IDLY)
        else:
            holds = self._file.compare(self._file.sums.block_count - COMPARED_LAST)
        if holds:
            return None
        return Reason.TRUNCATED if self._file.is_shorter else Reason.REWRITTEN

    def _holds(self, descriptor: int) -> bool:
        """Whether the beginning, and what stands before the offset, are as they were read."""
        head = os.pread(descriptor, len(self._head), 0)
        return head == self._head and os.pread(descriptor, len(self._tail), self.offset - len(self._tail)) == self._tail
