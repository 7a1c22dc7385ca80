"""Checksums (CRC-32) of the file blocks that were read, to prove later that the blocks are unchanged."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Sequence

from viewer.model.messages import Span

BLOCK = 64 * 1024

Read = Callable[[int, int], bytes]


class Checksums:
    """One checksum per block; the last block may still grow.

    Blocks that the scanner read have no checksum, because computing checksums would slow the scanner by a tenth."""

    def __init__(self) -> None:
        self.length = 0
        """The number of bytes that have been read."""
        self._sums = array("I")
        self._known = bytearray()
        """For each full block, 1 if it has a checksum."""
        self._last = 0
        """The checksum of the last block, which is not yet full."""

    def add(self, data: bytes, parsed: Sequence[Span] | None = None) -> None:
        """Add the next bytes. With `parsed`, a full block needs a checksum only if one of these spans of `data` touches
        it."""
        view, at = memoryview(data), 0
        touched = None if parsed is None else self._touched(parsed)
        while at < len(data):
            filled = self.length % BLOCK
            end = min(len(data), at + BLOCK - filled)
            is_full = filled + end - at == BLOCK
            known = bool(filled) or not is_full or touched is None or self.length // BLOCK in touched
            if known:
                self._last = zlib.crc32(view[at:end], self._last)
            self.length += end - at
            at = end
            if is_full:
                self._sums.append(self._last if known else 0)
                self._known.append(known)
                self._last = 0

    def _touched(self, parsed: Sequence[Span]) -> set[int]:
        blocks: set[int] = set()
        for start, end in parsed:
            first, last = (self.length + start) // BLOCK, (self.length + max(start, end - 1)) // BLOCK
            blocks.update(range(first, last + 1))
        return blocks

    @property
    def is_whole(self) -> bool:
        """True if every block has a checksum."""
        return 0 not in self._known

    @property
    def block_count(self) -> int:
        """The number of blocks, including the last one, which may still grow."""
        return -(-self.length // BLOCK)

    def covers(self, start: int, end: int) -> bool:
        """True if all blocks of these bytes have a checksum."""
        return 0 not in self._known[start // BLOCK : -(-end // BLOCK)]

    def read(self, read: Read, start: int, end: int) -> bytes | None:
        """Read whole blocks, and return the bytes between two offsets, or None if one of these blocks has changed."""
        end = min(end, self.length)
        if start >= end:
            return b""
        parts: list[bytes] = []
        for block in range(start // BLOCK, -(-end // BLOCK)):
            base = block * BLOCK
            data = self._proven(read, block)
            if data is None:
                return None
            parts.append(data[max(0, start - base) : end - base])
        return b"".join(parts)

    def hold(self, read: Read, first: int = 0, after: int | None = None) -> bool:
        """True if these blocks, or all blocks, are unchanged. Blocks without a checksum are skipped."""
        last = self.block_count if after is None else min(after, self.block_count)
        return all(self._proven(read, block) is not None for block in range(first, last) if self._is_known(block))

    def _is_known(self, block: int) -> bool:
        return block >= len(self._known) or bool(self._known[block])

    def _proven(self, read: Read, block: int) -> bytes | None:
        start, end = block * BLOCK, min((block + 1) * BLOCK, self.length)
        data = read(start, end)
        expected = self._sums[block] if block < len(self._sums) else self._last
        return data if len(data) == end - start and zlib.crc32(data) == expected else None
