"""Compressed files as a stream of what is in them: gzip, xz and zstd, known by their first bytes, under a cap."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable, Iterator
from typing import Protocol, cast

from viewer.errors import ViewerError
from viewer.values import frozen

MOST = 2 * 1024 * 1024 * 1024
"""So much is taken out of one file; the rest stays where it is."""
_MOST_MEMORY = 256 * 1024 * 1024
"""So much memory a decompressor may use."""

FINE = ""
EARLY = "compressed data ends early"
DAMAGED = "compressed data is damaged"
LEFT_OUT = "what follows the compressed data is left out"
CAPPED = "cut off at {} MB"


class _Member(Protocol):
    """Takes one member out of a compressed file."""

    eof: bool
    unused_data: bytes

    def decompress(self, data: bytes) -> bytes:
        """What these bytes bring."""


@frozen
class Compression:
    """One way to compress."""

    name: str
    magic: bytes
    slice: int
    """So much is given to the decompressor at once, so that what it makes of it stays small."""
    member: Callable[[], _Member]
    """Begins a member."""
    error: Callable[[], type[Exception]]
    """What it raises where the data is damaged."""


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
        raise ViewerError("this is zstd; to read it install the extra: pip install 'ocmlview[zstd]'") from None


COMPRESSIONS = (
    Compression("gzip", b"\x1f\x8b\x08", 4096, _gzip, lambda: zlib.error),
    Compression("xz", b"\xfd7zXZ\x00", 4096, _xz, lambda: importlib.import_module("lzma").LZMAError),
    Compression("zstd", b"\x28\xb5\x2f\xfd", 1024, _zstd, lambda: _zstandard().ZstdError),
)
LONGEST_MAGIC = max(len(row.magic) for row in COMPRESSIONS)


def compression_of(first: bytes) -> Compression | None:
    """How a file that begins with these bytes is compressed."""
    return next((row for row in COMPRESSIONS if first.startswith(row.magic)), None)


def may_be_compressed(first: bytes) -> bool:
    """Whether too little is there to tell."""
    return any(len(first) < len(row.magic) and row.magic.startswith(first) for row in COMPRESSIONS)


class Expander:
    """Takes compressed data as it comes, and gives what is in it; `note` tells how it went."""

    def __init__(self, compression: Compression) -> None:
        self.taken = 0
        self.given = 0
        self.trouble = FINE
        """Why it is not all that was compressed; what comes after that is left out."""
        self._compression = compression
        self._error = compression.error()
        self._member: _Member | None = None
        self._rest = b""

    @property
    def note(self) -> str:
        """What the status line says: the way, the ratio, and whether something is missing."""
        ratio = f"{self._compression.name}, 1:{self.given / max(1, self.taken):.1f}"
        return f"{ratio}, {self.trouble}" if self.trouble else ratio

    def feed(self, part: bytes) -> Iterator[bytes]:
        """What the next data brings; it is worked on while one iterates."""
        for data in self._expanded(part):
            room = MOST - self.given
            self.given += min(len(data), room)
            yield data[:room]
            if len(data) > room:
                self.trouble = CAPPED.format(MOST // (1024 * 1024))
                return

    def end(self) -> None:
        """Nothing more comes."""
        if self._member:
            self.trouble = self.trouble or EARLY
        elif self._rest:
            self.trouble = self.trouble or LEFT_OUT

    def _expanded(self, part: bytes) -> Iterator[bytes]:
        size = self._compression.slice
        for at in range(0, len(part), size):
            if self.trouble:
                return
            data = part[at : at + size]
            self.taken += len(data)
            self._rest += data
            while self._rest and self._is_inside():
                try:
                    yield self._next()
                except self._error:
                    self.trouble = DAMAGED
                    return

    def _is_inside(self) -> bool:
        """Whether a member goes on, or the next one begins."""
        if self._member:
            return True
        self._rest = self._rest.lstrip(b"\0")  # what fills up a block
        if not self._rest or self._may_begin(self._rest):
            return False
        if not self._rest.startswith(self._compression.magic):
            self.trouble = LEFT_OUT
            return False
        self._member = self._compression.member()
        return True

    def _next(self) -> bytes:
        member = self._member
        assert member
        data = member.decompress(self._rest)
        self._rest = member.unused_data if member.eof else b""
        self._member = None if member.eof else member
        return data

    def _may_begin(self, rest: bytes) -> bool:
        """Whether too little is there to tell that another member begins."""
        magic = self._compression.magic
        return len(rest) < len(magic) and magic.startswith(rest)


class Expanded:
    """Iterate to get what is in a compressed file; `note` then tells how it went."""

    def __init__(self, compression: Compression, parts: Iterator[bytes]) -> None:
        self._expander = Expander(compression)
        self._parts = parts

    @property
    def note(self) -> str:
        """What the status line says."""
        return self._expander.note

    @property
    def trouble(self) -> str:
        """Why it is not all that was compressed."""
        return self._expander.trouble

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            yield from self._expander.feed(part)
            if self._expander.trouble:
                return
        self._expander.end()
