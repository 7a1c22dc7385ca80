"""Decompress gzip, xz, and zstd, recognized by their first bytes, as a stream of limited size."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol, cast

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.sources.limits import limits, size_text

MOST_KEPT = 1024 * 1024
"""The maximum size in bytes of a member's compressed data that is kept, so that everything before damaged data can
still be decompressed."""
_MOST_MEMORY = 256 * 1024 * 1024
"""The memory limit of a decompressor in bytes."""

DAMAGED = "compressed-damaged"
TRUNCATED = "compressed-truncated"
TOO_LARGE = "too-large"
"""Reasons of E-STREAM-TRUNCATED."""


class _Member(Protocol):
    """Decompressor for one member of a compressed file."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes) -> bytes:
        """Decompress these bytes."""


class Compression(Struct, frozen=True):
    """A compression format."""

    name: str
    magic: bytes
    slice: int
    """The number of bytes passed to the decompressor at a time. Small slices keep the output small."""
    member: Callable[[], _Member]
    """A function that creates the decompressor for a member."""
    error: Callable[[], type[Exception]]
    """A function that returns the exception that damaged data raises."""


def _gzip() -> _Member:
    return cast("_Member", zlib.decompressobj(wbits=31))


def _xz() -> _Member:
    import lzma  # few files need it

    return cast("_Member", lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY))


def _zstd() -> _Member:
    return cast("_Member", _zstandard().ZstdDecompressor(max_window_size=_MOST_MEMORY).decompressobj())


class _Zstandard(Protocol):
    ZstdDecompressor: Callable[..., _ZstdDecompressor]
    ZstdError: type[Exception]


class _ZstdDecompressor(Protocol):
    def decompressobj(self) -> object: ...


def _zstandard() -> _Zstandard:
    try:
        return cast("_Zstandard", importlib.import_module("zstandard"))
    except ImportError:
        raise ViewerError("this is a zstd file: install the Python package zstandard to read it") from None


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b\x08", 4096, _gzip, lambda: zlib.error),
    Compression("xz", b"\xfd7zXZ\x00", 4096, _xz, lambda: importlib.import_module("lzma").LZMAError),
    Compression("zstd", b"\x28\xb5\x2f\xfd", 1024, _zstd, lambda: _zstandard().ZstdError),
)
LONGEST_MAGIC = max(len(row.magic) for row in COMPRESSIONS)


def compression_of(first: bytes) -> Compression | None:
    """Return the compression of a file that begins with these bytes, or None if it is not compressed."""
    return next((row for row in COMPRESSIONS if first.startswith(row.magic)), None)


def may_be_compressed(first: bytes) -> bool:
    """True if there are too few bytes to tell whether a file is compressed."""
    return any(len(first) < len(row.magic) and row.magic.startswith(first) for row in COMPRESSIONS)


class Expander:
    """Decompressor for a growing file. `fault` and `note` describe the result."""

    def __init__(self, compression: Compression) -> None:
        self.taken = 0
        self.given = 0
        self.fault = ""
        """Why reading stopped before the end, as a reason of E-STREAM-TRUNCATED."""
        self._trouble = ""
        """Why reading stopped, in words for the status line."""
        self._most = limits().max_decompressed
        self._compression = compression
        self._error = compression.error()
        self._member: _Member | None = None
        self._kept: bytearray | None = bytearray()
        """The input bytes of this member; None once they exceed `MOST_KEPT`."""
        self._rest = b""

    @property
    def note(self) -> str:
        """The format, the ratio, and any problem, for the status line."""
        ratio = f"{self._compression.name}, 1:{self.given / max(1, self.taken):.1f}"
        return f"{ratio}, {self._trouble}" if self._trouble else ratio

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Decompress the next bytes lazily, while the caller iterates."""
        for data in self._expanded(part):
            room = self._most - self.given
            self.given += min(len(data), room)
            yield data[:room]
            if len(data) > room:
                self._stop(TOO_LARGE, f"cut off at {size_text(self._most)}")
                return

    def end(self) -> None:
        """Handle the end of the file: set `fault` if the file ends inside compressed data."""
        if self._member or self._rest:
            self._stop(TRUNCATED, "compressed data ends early")

    def _stop(self, fault: str, trouble: str) -> None:
        """Stop reading. Only the first reason is kept."""
        if not self.fault:
            self.fault, self._trouble = fault, trouble

    def _expanded(self, part: bytes) -> Iterator[bytes]:
        size = self._compression.slice
        for at in range(0, len(part), size):
            if self.fault:
                return
            data = part[at : at + size]
            self.taken += len(data)
            self._rest += data
            while not self.fault and self._rest and self._is_inside():
                try:
                    yield self._next()
                except self._error as error:
                    yield from self._rescued()
                    if "memory" in str(error).lower():  # xz and zstd mention memory if the limit was exceeded
                        self._stop(TOO_LARGE, "compressed data needs too much memory")
                    self._stop(DAMAGED, "compressed data is damaged")

    def _is_inside(self) -> bool:
        """True if a member continues or another one begins."""
        if self._member:
            return True
        self._rest = self._rest.lstrip(b"\0")  # padding at the end of a block
        if not self._rest or self._may_begin(self._rest):
            return False
        if not self._rest.startswith(self._compression.magic):
            self._stop(DAMAGED, "the data after the compressed stream is ignored")
            return False
        self._member, self._kept = self._compression.member(), bytearray()
        return True

    def _next(self) -> bytes:
        member = self._member
        assert member
        data = member.decompress(self._rest)
        self._keep(self._rest)
        self._rest = member.unused_data if member.eof else b""
        self._member = None if member.eof else member
        return data

    def _keep(self, data: bytes) -> None:
        if self._kept is not None:
            self._kept += data
            if len(self._kept) > MOST_KEPT:
                self._kept = None

    def _rescued(self) -> Iterator[bytes]:
        """Decompress the failed slice again, byte by byte, because a decompressor that raises an exception drops its
        output."""
        if self._kept is None:
            return
        member, size = self._compression.member(), self._compression.slice
        for at in range(0, len(self._kept), size):
            member.decompress(bytes(self._kept[at : at + size]))
        try:
            for at in range(len(self._rest)):
                yield member.decompress(self._rest[at : at + 1])
        except self._error:
            return

    def _may_begin(self, rest: bytes) -> bool:
        """True if there are too few bytes to recognize another member."""
        magic = self._compression.magic
        return len(rest) < len(magic) and magic.startswith(rest)


def expanded_head(data: bytes, size: int) -> bytes:
    """Return the first bytes of a file, decompressed if possible."""
    compression = compression_of(data)
    if compression is None:
        return data
    head = b""
    try:
        for part in Expander(compression).feed(data):
            head += part
            if len(head) >= size:
                break
    except ViewerError:  # the library for this compression is not installed
        return data
    return head[:size]


class Expanded:
    """The text of a compressed file. Iterate over it before reading `fault` and `note`."""

    def __init__(self, compression: Compression, parts: Iterator[bytes]) -> None:
        self._expander = Expander(compression)
        self._parts = parts

    @property
    def note(self) -> str:
        """The format, the ratio, and any problem, for the status line."""
        return self._expander.note

    @property
    def fault(self) -> str:
        """Why reading stopped, as a reason of E-STREAM-TRUNCATED; empty if the whole input was read."""
        return self._expander.fault

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            yield from self._expander.feed(part)
            if self._expander.fault:
                return
        self._expander.end()
