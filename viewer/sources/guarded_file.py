"""`GuardedFile`: returns indexed bytes again only if they are unchanged.

The stamp decides whether a read must be verified, and the checksums of blocks verify it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from viewer.model.messages import Span
from viewer.sources.checksums import BLOCK, Checksums
from viewer.sources.stamp import Stamp, is_young, size_in, stamp_of

COMPARED_AT_ONCE = 8 * 1024 * 1024
"""The maximum size in bytes of a file that is compared as a whole when its stamp has changed. Comparing this many bytes
takes 3 ms."""


class Unproven:
    """The result of a read that cannot be verified: the stamp has changed, and the bytes have no checksum."""


UNPROVEN = Unproven()


class GuardedFile:
    """Reader of an open file. It owns the descriptor and closes it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.sums = Checksums()
        self._stamp: Stamp = stamp_of(descriptor)
        """The newest stamp under which the file certainly contained the indexed bytes."""
        self.is_young = is_young(self._stamp)
        """True if the stamp is too recent to prove that the file is unchanged."""
        self._proven: set[int] = set()
        """The blocks that were verified under the stamp `_proven_under`."""
        self._proven_under: Stamp | None = None
        self._round_under: Stamp | None = None
        self._round_is_young = False
        self._round_left = 0
        """The number of blocks still to compare under the stamp of the current round."""
        self._round_at = 0

    @property
    def has_moved(self) -> bool:
        """True if the file may differ from the indexed bytes."""
        return self.is_young or stamp_of(self.descriptor) != self._stamp

    @property
    def size(self) -> int:
        """The size of the file in bytes, from its stamp."""
        return size_in(self._stamp)

    def is_same(self, other: GuardedFile) -> bool:
        """True if this is certainly the same file as another, and neither has changed since it was opened."""
        return self._stamp == other._stamp and not self.has_moved and not other.has_moved

    @property
    def is_shorter(self) -> bool:
        """True if the file has lost indexed bytes."""
        return os.fstat(self.descriptor).st_size < self.sums.length

    def pread(self, start: int, end: int) -> bytes:
        """Return the current bytes without verifying them."""
        return os.pread(self.descriptor, max(0, end - start), start)

    def index(self, data: bytes, parsed: Sequence[Span] | None = None) -> None:
        """Record the next bytes as indexed. With `parsed`, the scanner read all of them except these spans."""
        self.sums.add(data, parsed)

    def read(self, start: int, end: int, *, trusts_stamp: bool = True) -> bytes | Unproven | None:
        """Return indexed bytes if they are unchanged, None if the file no longer contains them, or `UNPROVEN` if that
        cannot be verified."""
        before = stamp_of(self.descriptor)
        if size_in(before) < self.sums.length:
            return None
        if trusts_stamp and self._is_trusted(before, start, end):
            data = self.pread(start, end)
            if stamp_of(self.descriptor) == before:
                return data
        if not self.sums.covers(start, end):
            return UNPROVEN
        proven = self.sums.read(self.pread, start, end)
        if proven is not None:
            self._note_proof(before, start, end)
        return proven

    def _is_trusted(self, stamp: Stamp, start: int, end: int) -> bool:
        if not self.is_young and stamp == self._stamp:
            return True
        blocks = range(start // BLOCK, -(-end // BLOCK))
        return stamp == self._proven_under and all(block in self._proven for block in blocks)

    def _note_proof(self, before: Stamp, start: int, end: int) -> None:
        """Record that these blocks need no verification until the stamp changes. The last block may still grow."""
        if is_young(before) or stamp_of(self.descriptor) != before:
            return
        if before != self._proven_under:
            self._proven_under, self._proven = before, set()
        self._proven.update(range(start // BLOCK, min(end, self.sums.length) // BLOCK))

    def compare(self, first: int = 0) -> bool:
        """Return True if the blocks from `first` on are unchanged. If all blocks are unchanged, accept the current
        stamp."""
        before = stamp_of(self.descriptor)
        young = is_young(before)
        if size_in(before) < self.sums.length or not self.sums.hold(self.pread, first):
            return False
        if not first and self.sums.is_whole and stamp_of(self.descriptor) == before:
            self._stamp, self.is_young = before, young
        return True

    def compare_some(self, count: int) -> bool:
        """Compare the next blocks and return True if they are unchanged. After a full round under one stamp, accept
        that stamp."""
        stamp, blocks = stamp_of(self.descriptor), self.sums.block_count
        if stamp != self._round_under:
            self._round_under, self._round_is_young, self._round_left = stamp, is_young(stamp), blocks
        first = self._round_at if self._round_at < blocks else 0
        self._round_at = min(first + count, blocks)
        self._round_left -= self._round_at - first
        if size_in(stamp) < self.sums.length or not self.sums.hold(self.pread, first, self._round_at):
            return False
        if self._round_left <= 0 and self.sums.is_whole and stamp_of(self.descriptor) == stamp:
            self._stamp, self.is_young, self._round_under = stamp, self._round_is_young, None
        return True

    def __del__(self) -> None:
        os.close(self.descriptor)


class GuardedStream:
    """A file that is read once from start to end, and then checked for changes."""

    def __init__(self, descriptor: int) -> None:
        self._file = GuardedFile(descriptor)

    def read1(self, size: int, /) -> bytes:
        """Return the next bytes, or none at the end."""
        at = self._file.sums.length
        data = self._file.pread(at, at + size)
        self._file.index(data)
        return data

    @property
    def was_one_file(self) -> bool:
        """True if the file still contains everything that has been read."""
        return not self._file.has_moved or self._file.compare()
