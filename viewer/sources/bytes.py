"""Bytes from a file or a pipe, readable again by offset; what cannot be read twice is spooled first."""

from __future__ import annotations

import codecs
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol, cast

from viewer.errors import ViewerError

CHUNK = 1024 * 1024
SPOOLED_IN_MEMORY = 8 * 1024 * 1024
STANDARD_INPUT = "-"
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(Protocol):
    """An input whose bytes stay readable."""

    name: str
    converted: bool
    """The text was UTF-16; offsets count its UTF-8 form."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""


class FileSource:
    """A regular file, read in place."""

    converted = False

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor = descriptor

    @property
    def size(self) -> int:
        """The size at this moment."""
        return os.fstat(self._descriptor).st_size

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets, fewer where the file has become shorter."""
        return os.pread(self._descriptor, max(0, end - start), start)

    def __del__(self) -> None:
        os.close(self._descriptor)


class SpooledSource:
    """What can be read only once, kept in memory and beyond that in an unnamed temporary file."""

    def __init__(self, name: str, stream: Iterator[bytes], converted: bool) -> None:
        self.name = name
        self.converted = converted
        self._spool: IO[bytes] = tempfile.SpooledTemporaryFile(SPOOLED_IN_MEMORY)  # noqa: SIM115 (kept open for reading)
        for data in stream:
            self._spool.write(data)
        self.size = self._spool.tell()

    def read(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        self._spool.seek(start)
        return self._spool.read(max(0, end - start))


def open_source(path: str) -> Source:
    """The input that a person named; `-` is standard input."""
    if path == STANDARD_INPUT:
        return _spooled("<stdin>", cast("_Stream", sys.stdin.buffer))
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise ViewerError(_sentence(path, error)) from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        os.close(descriptor)
        raise ViewerError(f"{path} is a directory; name a transcript in it")
    if not stat.S_ISREG(mode):
        return _spooled(path, os.fdopen(descriptor, "rb"))
    if os.pread(descriptor, 2, 0) in _UTF_16:
        return _spooled(path, os.fdopen(descriptor, "rb"))
    return FileSource(path, descriptor)


def _sentence(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file {path}"
    if isinstance(error, PermissionError):
        return f"permission denied: {path}"
    return f"{path} cannot be read: {error.strerror or 'input error'}"


class _Stream(Protocol):
    """What can be read only once; each reading gives what is there, so that an interrupt is noticed."""

    def read1(self, size: int, /) -> bytes:
        """Some bytes; none at the end."""


def _spooled(name: str, stream: _Stream) -> SpooledSource:
    first = stream.read1(CHUNK)
    while len(first) == 1 and (more := stream.read1(CHUNK)):
        first += more
    parts = _parts(first, stream)
    if first[:2] not in _UTF_16:
        return SpooledSource(name, parts, converted=False)
    return SpooledSource(name, _as_utf_8(parts), converted=True)


def _parts(first: bytes, stream: _Stream) -> Iterator[bytes]:
    data = first
    while data:
        yield data
        data = stream.read1(CHUNK)


def _as_utf_8(parts: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for data in parts:
        yield decoder.decode(data).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


def is_directory(path: str) -> bool:
    """Whether a person named a folder."""
    return path != STANDARD_INPUT and Path(path).is_dir()
