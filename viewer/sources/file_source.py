"""`FileSource`: a regular file, read in place. It never returns bytes that differ from the indexed bytes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from viewer.errors import FileRewrittenError, UnprovenError
from viewer.model.messages import Span
from viewer.sources.checksums import BLOCK
from viewer.sources.guarded_file import COMPARED_AT_ONCE, GuardedFile, Unproven


class FileSource:
    """A regular file as it was when it was opened, plus everything appended since."""

    converted = False
    note = ""
    fault = ""

    def __init__(self, name: str, descriptor: int, *, sums_all: bool = False, only: str = "") -> None:
        """With `sums_all`, every block gets a checksum, because the file was changed during an earlier reading."""
        self.name = name
        self.only = only
        self._file = GuardedFile(descriptor)
        self._sums_all = sums_all or self._file.is_young
        self._compared_to = 0
        """The number of bytes that had been read at the last full comparison."""
        self._is_over = False

    @property
    def size(self) -> int:
        """The current size in bytes."""
        return os.fstat(self._file.descriptor).st_size

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets as they were indexed. Bytes that are not yet indexed are read without a
        check."""
        return self._read(start, end, trusts_stamp=True)

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the stamp, which network file systems and memory-mapped writes can leave
        unchanged."""
        return self._read(start, end, trusts_stamp=False)

    def read_unproven(self, start: int, end: int) -> bytes:
        """Return the current bytes between two offsets, for the vault, which checks them again."""
        self._check_length()
        return self._file.pread(start, end)

    def next(self, start: int, size: int) -> bytes:
        """Return the next bytes to index, after checking that the bytes indexed before still precede them in the
        file."""
        self._check_length()
        if start < self._file.sums.length:  # another document has read this far
            return self._read(start, start + size, trusts_stamp=True)
        moved_before = self._file.has_moved
        data = self._file.pread(start, start + size)
        if moved_before or self._file.has_moved:
            self._compare(start, at_end=not data)
        return data

    def index(self, start: int, data: bytes, parsed: Sequence[Span] | None = None) -> None:
        """Record these bytes as indexed. With `parsed`, the scanner read all of them except these spans."""
        known = self._file.sums.length - start
        if known > 0:
            data, parsed = data[known:], None
        self._file.index(data, None if self._sums_all else parsed)

    def is_rewritten(self) -> bool:
        """True if the file no longer contains the indexed bytes. This costs one `fstat` and, if the stamp has changed,
        the checksums of the next blocks. A block without a checksum is verified when it is read."""
        if self._is_over or not self._file.has_moved:
            return self._is_over
        return self._file.is_shorter or not self._file.compare_some(COMPARED_AT_ONCE // BLOCK)

    def snapshot(self) -> GuardedFile:
        """Return the file as it is now, for another thread."""
        return GuardedFile(os.dup(self._file.descriptor))

    def begin_again(self) -> FileSource:
        """Reopen the same file to read it from the start. This source can no longer be read."""
        self._is_over = True
        return FileSource(self.name, os.dup(self._file.descriptor), sums_all=True, only=self.only)

    def _read(self, start: int, end: int, *, trusts_stamp: bool) -> bytes:
        if self._is_over:
            raise self.rewritten()
        indexed = self._file.sums.length
        if start >= indexed:
            return self._file.pread(start, end)
        data = self._file.read(start, min(end, indexed), trusts_stamp=trusts_stamp)
        if data is None:
            raise self.rewritten()
        if isinstance(data, Unproven):
            raise UnprovenError(self.name)
        return data + self._file.pread(indexed, end) if end > indexed else data

    def _compare(self, start: int, *, at_end: bool) -> None:
        """Compare all indexed bytes with the file. For a large file that grows during reading, do so only when the
        amount read has doubled, and at the end."""
        begins = not start and not self._sums_all  # the format has already been detected
        if (begins and self._file.has_moved) or not self._file.sums.is_whole:
            raise self.rewritten()
        if COMPARED_AT_ONCE < start < 2 * self._compared_to and not at_end:
            return
        if not self._file.compare():
            raise self.rewritten()
        self._compared_to = start

    def _check_length(self) -> None:
        if self._is_over or self._file.is_shorter:
            raise self.rewritten()

    def rewritten(self) -> FileRewrittenError:
        """Invalidate this source for good, even if the old bytes come back. Return the error to raise."""
        self._is_over = True
        return FileRewrittenError(self.name)
