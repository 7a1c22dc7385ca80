"""`FollowedFile`: a followed regular file that stays open. Detects that it was truncated or rewritten."""

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
"""The number of seconds after which a file whose size and times have not changed is no longer compared, until they
change."""
COMPARED_LAST = 4
"""The number of blocks before the offset to compare immediately if the stamp of a large file has changed."""
COMPARED_IDLY = 16
"""The number of blocks of a large file that are compared in one idle poll."""

Identity = tuple[int, int]
Clock = Callable[[], float]


def identity_of(status: os.stat_result) -> Identity:
    """Return the device and inode, which identify a file."""
    return status.st_dev, status.st_ino


class FollowedFile:
    """A regular file read up to an offset. Its bytes are returned again only if they are unchanged."""

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
        """The reason for a restart at the next poll, set if a read found that the file was rewritten."""

    has_ended = False
    """Always false, because a file can grow at any time."""

    @property
    def length(self) -> int:
        """The current size in bytes."""
        return os.fstat(self._file.descriptor).st_size

    def take(self, limit: int) -> bytes | Reason:
        """Return the next bytes, possibly none, or the reason why everything read so far must be discarded."""
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
        """Return the bytes between two offsets as `take` returned them. Raise FileRewrittenError if the file has lost
        them."""
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
        """Reopen the same file from its beginning. This object can no longer be read."""
        self._is_over = True
        return FollowedFile(os.dup(self._file.descriptor), self._clock, self.name)

    def goes_on_in(self, descriptor: int) -> bool:
        """Return True if an opened file is this file, with unchanged bytes. It is then read through the new
        descriptor."""
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
        return Reason.TRUNCATED if self._file.is_shorter else Reason.REWRITTEN  # it may have just been truncated

    def _compare(self, *, is_idle: bool) -> Reason | None:
        """Compare blocks if the stamp has changed. A small file is compared completely. For a large file, the last
        blocks are compared before further reading, and all others when idle."""
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
        """True if the first bytes and the bytes before the offset are unchanged."""
        head = os.pread(descriptor, len(self._head), 0)
        return head == self._head and os.pread(descriptor, len(self._tail), self.offset - len(self._tail)) == self._tail
