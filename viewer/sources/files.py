"""Open files and pipes as sources that are readable by offset. Convert UTF-16, and spool what cannot be read twice."""

from __future__ import annotations

import codecs
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol, cast

from viewer.errors import FileRewrittenError, ViewerError
from viewer.sources.compressed import LONGEST_MAGIC, Expanded, compression_of
from viewer.sources.containers.items import split_item
from viewer.sources.containers.table import container_at, open_container
from viewer.sources.file_source import FileSource
from viewer.sources.guarded_file import GuardedStream
from viewer.sources.spool import Spool

CHUNK = 1024 * 1024
STANDARD_INPUT = "-"
FROM_A_PIPE = "spooled from a pipe"
READ_AS_UTF_8 = "UTF-16 read as UTF-8"
COMPRESSED = "is compressed"
_MOST_TRIES = 16
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Source(Protocol):
    """An input that can be read again."""

    name: str

    @property
    def converted(self) -> bool:
        """True if the text was UTF-16. Offsets refer to its UTF-8 form."""

    @property
    def note(self) -> str:
        """How the input is read, for the status line; empty for a file that is read in place."""

    @property
    def fault(self) -> str:
        """Why reading stopped early, as a reason of E-STREAM-TRUNCATED; empty if the whole input was read."""

    @property
    def only(self) -> str:
        """The number or ID of the only transcript to read; empty for all."""

    @property
    def size(self) -> int:
        """The size in bytes."""

    def read(self, start: int, end: int) -> bytes:
        """Read the bytes between two offsets. Raise FileRewrittenError if they changed after the first reading."""

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the file stamp. Used for the screen."""


class SpooledSource:
    """An input that can be read only once, kept in memory and, if it is large, in an unnamed temporary file."""

    def __init__(self, name: str, stream: Iterator[bytes], converted: bool, note: str = "", only: str = "") -> None:
        self.name = name
        self.only = only
        self.converted = converted
        self.note = note
        self.fault = ""
        self._spool = Spool(name)
        for data in stream:
            self._spool.append(data)
        self.size = self._spool.size

    def read(self, start: int, end: int) -> bytes:
        return self._spool.read(start, end)

    read_again = read


def open_source(path: str) -> Source:
    """Open the input at this path. `-` is standard input, and `FILE:ITEM` is one transcript of a file."""
    if path == STANDARD_INPUT:
        check_standard_input()
        return _spooled("<stdin>", cast("ByteStream", sys.stdin.buffer), FROM_A_PIPE)
    file, item = split_item(path)
    container = container_at(file)
    if container is not None:
        return open_container(container, file, item, path)
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError as error:
        raise ViewerError(_sentence(file, error)) from None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        os.close(descriptor)
        raise ViewerError(f"{file} is a directory; specify a transcript in it")
    if not stat.S_ISREG(mode):
        return _spooled(path, os.fdopen(descriptor, "rb"), FROM_A_PIPE, item)
    first = os.pread(descriptor, LONGEST_MAGIC, 0)
    if first[:2] in _UTF_16 or compression_of(first):
        return _spooled_whole(path, descriptor, item)
    return FileSource(path, descriptor, only=item)


def open_stream(name: str, stream: ByteStream) -> Source:
    """Open a stream that can be read once, such as an object in an object store."""
    return _spooled(name, stream)


def check_named(paths: Iterable[str]) -> None:
    """Raise ViewerError if one of these files does not exist."""
    for path in paths:
        file = split_item(path)[0]
        if path != STANDARD_INPUT and not os.path.lexists(file):
            raise ViewerError(_sentence(file, FileNotFoundError()))


def check_standard_input() -> None:
    """Raise ViewerError if standard input is closed."""
    if sys.stdin is None:
        raise ViewerError("standard input is closed")


def _spooled_whole(path: str, descriptor: int, only: str) -> SpooledSource:
    """Spool a regular file. Retry if it is rewritten in the meantime so that two versions never mix."""
    try:
        for _ in range(_MOST_TRIES):
            stream = GuardedStream(os.dup(descriptor))
            source = _spooled(path, stream, only=only)
            if stream.was_one_file:
                return source
    finally:
        os.close(descriptor)
    raise FileRewrittenError(path)


def _sentence(path: str, error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"no such file: {path}"
    if isinstance(error, PermissionError):
        return f"permission denied: {path}"
    return f"{path} cannot be read: {error.strerror or 'input error'}"


class ByteStream(Protocol):
    """A stream that can be read only once. Each read returns what is available, so Ctrl-C takes effect."""

    def read1(self, size: int, /) -> bytes:
        """Read some bytes, or none at the end."""


def _spooled(name: str, stream: ByteStream, origin: str = "", only: str = "") -> SpooledSource:
    first, parts = _peek(_parts(name, stream), LONGEST_MAGIC)
    compression = compression_of(first)
    expanded = Expanded(compression, parts) if compression else None
    if expanded:
        first, parts = _peek(iter(expanded), len(_UTF_16[0]))
    converted = first[:2] in _UTF_16
    source = SpooledSource(name, _as_utf_8(parts) if converted else parts, converted, only=only)
    notes = origin, expanded.note if expanded else "", READ_AS_UTF_8 if converted else ""
    source.note = ", ".join(filter(None, notes))
    source.fault = expanded.fault if expanded else ""
    return source


def _peek(parts: Iterator[bytes], size: int) -> tuple[bytes, Iterator[bytes]]:
    """Return the first `size` bytes of a stream, or fewer if it is shorter, and the whole stream."""
    first = b""
    for data in parts:
        first += data
        if len(first) >= size:
            break
    return first, chain((first,), parts)


def _parts(name: str, stream: ByteStream) -> Iterator[bytes]:
    try:
        while data := stream.read1(CHUNK):
            yield data
    except OSError as error:
        raise ViewerError(_sentence(name, error)) from None


def _as_utf_8(parts: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    for data in parts:
        yield decoder.decode(data).encode("utf-8", "replace")
    yield decoder.decode(b"", True).encode("utf-8", "replace")


def is_directory(path: str) -> bool:
    """True if the path is a folder that is not itself a transcript."""
    is_folder = path != STANDARD_INPUT and os.path.isdir(path)  # noqa: PTH112 (pathlib takes long to load)
    return is_folder and container_at(path) is None


def why_read_once(path: str) -> str:
    """Return why a file is read only once and cannot be followed, such as `is compressed`, or an empty string if it can
    grow."""
    if path == STANDARD_INPUT:
        return COMPRESSED if is_compressed(path) else ""
    file, item = split_item(path)
    if item:
        return "is one item of a file"
    if container_at(file) is not None:
        return "is a container of transcripts"
    return COMPRESSED if is_compressed(file) else ""


def is_compressed(path: str) -> bool:
    """True if this file, or standard input, is compressed. Such a file is replaced rather than extended."""
    try:
        if path == STANDARD_INPUT:
            return _is_compressed(0)
        if not os.path.isfile(path):  # noqa: PTH113 (opening a FIFO would wait for a writer)
            return False
        with open(path, "rb") as file:  # noqa: PTH123
            return _is_compressed(file.fileno())
    except OSError:
        return False


def _is_compressed(descriptor: int) -> bool:
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
    return is_file and compression_of(os.pread(descriptor, LONGEST_MAGIC, 0)) is not None
