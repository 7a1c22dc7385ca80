"""An open file with a guard: what was indexed of it is read again only if it is still there.

The stamp decides whether a read needs a proof; checksums of blocks are the proof."""

from __future__ import annotations

import os
from collections.abc import Sequence

from viewer.model.messages import Span
from viewer.sources.checksums import BLOCK, Checksums
from viewer.sources.stamp import Stamp, is_young, size_in, stamp_of

COMPARED_AT_ONCE = 8 * 1024 * 1024
"""So much of a file is compared as a whole when its stamp has moved: that takes 3 ms."""


class Unproven:
    """The stamp has moved, and these bytes have no checksum."""


UNPROVEN = Unproven()


class GuardedFile:
    """Reads an open file; it belongs to this object, which closes it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.sums = Checksums()
        self._stamp: Stamp = stamp_of(descriptor)
        """The file had this stamp when what was indexed was certainly in it."""
        self.is_young = is_young(self._stamp)
        """True if the stamp proves nothing."""
        self._proven: set[int] = set()
        """The blocks that were proven under the stamp of `_proven_under`."""
        self._proven_under: Stamp | None = None
        self._round_under: Stamp | None = None
        self._round_is_young = False
        self._round_left = 0
        """The number of blocks left to compare under this stamp."""
        self._round_at = 0

    @property
    def has_moved(self) -> bool:
        """True if the file may hold something else than what was indexed."""
        return self.is_young or stamp_of(self.descriptor) != self._stamp

    @property
    def is_shorter(self) -> bool:
        """True if the file has lost something that was indexed."""
        return os.fstat(self.descriptor).st_size < self.sums.length

    def pread(self, start: int, end: int) -> bytes:
        """The bytes as they are now, without any proof."""
        return os.pread(self.descriptor, max(0, end - start), start)

    def index(self, data: bytes, parsed: Sequence[Span] | None = None) -> None:
        """These bytes came next and are indexed; with `parsed`, the scanner read all but these spans of them."""
        self.sums.add(data, parsed)

    def read(self, start: int, end: int, *, trusts_stamp: bool = True) -> bytes | Unproven | None:
        """Indexed bytes as they were indexed; None if the file no longer holds them."""
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
        """The same blocks need no other proof until the stamp moves again. The last block may still grow."""
        if is_young(before) or stamp_of(self.descriptor) != before:
            return
        if before != self._proven_under:
            self._proven_under, self._proven = before, set()
        self._proven.update(range(start // BLOCK, min(end, self.sums.length) // BLOCK))

    def compare(self, first: int = 0) -> bool:
        """True if the blocks from `first` on still hold what was indexed. If all do, the present stamp counts from
        here on."""
        before = stamp_of(self.descriptor)
        young = is_young(before)
        if size_in(before) < self.sums.length or not self.sums.hold(self.pread, first):
            return False
        if not first and self.sums.is_whole and stamp_of(self.descriptor) == before:
            self._stamp, self.is_young = before, young
        return True

    def compare_some(self, count: int) -> bool:
        """Compare the next blocks. When a whole round under one stamp is done, that stamp counts from here on."""
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
    """A file that is read once from its start to its end, and then asked whether all of it is still there."""

    def __init__(self, descriptor: int) -> None:
        self._file = GuardedFile(descriptor)

    def read1(self, size: int, /) -> bytes:
        """The next bytes; none at the end."""
        at = self._file.sums.length
        data = self._file.pread(at, at + size)
        self._file.index(data)
        return data

    @property
    def was_one_file(self) -> bool:
        """True if the parts that were read belong together: the file holds all of them at once."""
        return not self._file.has_moved or self._file.compare()
