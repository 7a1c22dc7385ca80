"""Read ZIP archives member by member, within limits. If the directory is missing, members are found by their headers.

Names are labels and never become paths. Whatever the directory claims, each member stays within these limits.
`ContainerSource` limits the total."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from struct import Struct as Layout
from typing import Protocol, cast

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.sources.compressed import COMPRESSIONS
from viewer.sources.containers.parts import DAMAGED, TOO_LARGE, UNREAD, PartFault, Parts

LARGEST_MEMBER = 256 * 1024 * 1024
LARGEST_RATIO = 200
"""The maximum ratio of a member's size to its compressed size. Members up to `ALWAYS_READ` may exceed it."""
ALWAYS_READ = 1024 * 1024
LARGEST_DIRECTORY = 64 * 1024 * 1024
LONGEST_NAME = 4096
SLICE = 64 * 1024

_STORED, _DEFLATED, _ZSTD = 0, 8, 93
_ENCRYPTED, _SIZES_FOLLOW, _UTF_8 = 1, 8, 0x800
_LOCAL, _ENTRY, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END_64, _LOCATOR_64 = b"PK\x06\x06", b"PK\x06\x07"
_LOCAL_HEADER = Layout("<4sHHHHHLLLHH")
_ENTRY_HEADER = Layout("<4sHHHHHHLLLHHHHHLL")
_END_HEADER = Layout("<4sHHHHLLH")
_END_HEADER_64 = Layout("<4sQHHLLQQQQ")
_LOCATOR_HEADER_64 = Layout("<4sLQL")
_LONGEST_COMMENT = 65_535
_NOT_HERE = 0xFFFF_FFFF


class Member(Struct, frozen=True):
    """A member of an archive, as the directory or the member's header describes it."""

    name: str
    at: int
    """The offset of the header."""
    packed: int
    """The number of compressed bytes."""
    method: int
    flags: int
    checksum: int | None
    """The CRC-32 of the member; None if unknown."""

    @property
    def is_encrypted(self) -> bool:
        """True if a password would be needed."""
        return bool(self.flags & _ENCRYPTED)

    @property
    def is_readable(self) -> bool:
        """True if the name is allowed, the member is not encrypted, and the compression is supported."""
        return is_plain_name(self.name) and not self.is_encrypted and self.method in (_STORED, _DEFLATED, _ZSTD)


def is_plain_name(name: str) -> bool:
    """True if a name stays inside the archive: it is relative, and has no `..` and no separator but `/`."""
    return (
        0 < len(name) <= LONGEST_NAME
        and not name.startswith("/")
        and not any(character in name for character in "\\\0")
        and name[1:2] != ":"
        and ".." not in name.split("/")
    )


class Archive:
    """An open ZIP archive."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDONLY)
        self._size = os.fstat(self._descriptor).st_size
        directory = self._directory()
        self.is_whole = directory is not None
        """False if the directory is missing, because the archive was cut off or is still being written."""
        self.members = directory if directory is not None else [*self._scanned()]

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)

    def _pread(self, start: int, size: int) -> bytes:
        return os.pread(self._descriptor, max(0, size), start)

    # The directory.

    def _directory(self) -> list[Member] | None:
        """Return the members that the directory lists, or None if there is no directory. A member inside another member
        becomes unreadable."""
        start = max(0, self._size - _END_HEADER.size - _LONGEST_COMMENT)
        tail = self._pread(start, self._size - start)
        at = tail.rfind(_END)
        if at < 0 or len(tail) - at < _END_HEADER.size:
            return None
        *_, count, size, offset, _ = _END_HEADER.unpack_from(tail, at)
        end = start + at
        locator = self._pread(end - _LOCATOR_HEADER_64.size, _LOCATOR_HEADER_64.size)
        if locator.startswith(_LOCATOR_64):
            end = _LOCATOR_HEADER_64.unpack(locator)[2]
            header = self._pread(end, _END_HEADER_64.size)
            if not header.startswith(_END_64) or len(header) < _END_HEADER_64.size:
                return None
            *_, count, size, offset = _END_HEADER_64.unpack(header)
        if size > LARGEST_DIRECTORY:
            raise ViewerError(f"{self._path}: the directory of this ZIP file is too large")
        shift = end - size - offset
        if shift < 0:
            return None
        data = self._pread(offset + shift, size)
        return _without_overlaps([*_entries(data, shift)]) if count or not data else None

    def _scanned(self) -> Iterator[Member]:
        """Yield the members in the order of their headers, found without a directory."""
        at = 0
        while at + _LOCAL_HEADER.size <= self._size:
            header = self._pread(at, _LOCAL_HEADER.size)
            if not header.startswith(_LOCAL):
                at = self._next_header(at + 1)
                continue
            _, _, flags, method, _, _, checksum, packed, _, name_size, extra_size = _LOCAL_HEADER.unpack(header)
            name = _name_of(self._pread(at + _LOCAL_HEADER.size, name_size), flags)
            body = at + _LOCAL_HEADER.size + name_size + extra_size
            if flags & _SIZES_FOLLOW or packed == _NOT_HERE:
                following = self._next_header(body)
                yield Member(name, at, following - body, method, flags, None)
                at = following
            else:
                yield Member(name, at, packed, method, flags, checksum)
                at = body + packed

    def _next_header(self, at: int) -> int:
        """Return the offset of the next bytes that look like a member header, or the size of the archive."""
        while at < self._size:
            block = self._pread(at, 16 * SLICE)
            found = block.find(_LOCAL)
            if found >= 0:
                return at + found
            if len(block) <= len(_LOCAL):
                break
            at += len(block) - len(_LOCAL) + 1
        return self._size

    # Members.

    def read(self, member: Member, most: int = LARGEST_MEMBER) -> Parts:
        """Yield as much text of a member as can be read, in pieces, and any faults."""
        if not member.is_readable:
            yield PartFault(UNREAD)
            return
        header = self._pread(member.at, _LOCAL_HEADER.size)
        if not header.startswith(_LOCAL) or len(header) < _LOCAL_HEADER.size:
            yield PartFault(DAMAGED)
            return
        name_size, extra_size = _LOCAL_HEADER.unpack(header)[-2:]
        start = member.at + _LOCAL_HEADER.size + name_size + extra_size
        end = min(start + member.packed, self._size)
        packed = end - start
        most = min(most, max(ALWAYS_READ, LARGEST_RATIO * packed))
        expander = _EXPANDERS[member.method]()
        given, checksum = 0, 0
        try:
            for data in expander.expand(self._slices(start, end)):
                checksum = zlib.crc32(data, checksum)
                yield data[: most - given]
                given += len(data)
                if given > most:
                    yield PartFault(TOO_LARGE)
                    return
        except expander.error:
            yield PartFault(DAMAGED)
            return
        is_damaged = member.checksum is not None and checksum != member.checksum
        if is_damaged or packed < member.packed or not expander.has_ended:
            yield PartFault(DAMAGED)

    def _slices(self, start: int, end: int) -> Iterator[bytes]:
        for at in range(start, end, SLICE):
            yield self._pread(at, min(SLICE, end - at))

    def text(self, member: Member, most: int) -> bytes | None:
        """Return a small member as a whole, or None if it cannot be read."""
        data = b""
        for part in self.read(member, most):
            if isinstance(part, PartFault):
                return None
            data += part
        return data


class _Expander(Protocol):
    """Decompressor for a member."""

    error: type[Exception]
    has_ended: bool

    def expand(self, slices: Iterator[bytes]) -> Iterator[bytes]:
        """Decompress these bytes in small pieces."""


class _Stored:
    error: type[Exception] = zlib.error
    has_ended = True

    def expand(self, slices: Iterator[bytes]) -> Iterator[bytes]:
        return slices


class _Deflated:
    error: type[Exception] = zlib.error

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)

    @property
    def has_ended(self) -> bool:
        return self._stream.eof

    def expand(self, slices: Iterator[bytes]) -> Iterator[bytes]:
        for data in slices:
            while data and not self._stream.eof:
                yield self._stream.decompress(data, 16 * SLICE)
                data = self._stream.unconsumed_tail


class _Zstd:
    def __init__(self) -> None:
        compression = next(row for row in COMPRESSIONS if row.name == "zstd")
        self._stream = compression.member()
        self._slice = compression.slice
        self.error = compression.error()

    @property
    def has_ended(self) -> bool:
        return self._stream.eof

    def expand(self, slices: Iterator[bytes]) -> Iterator[bytes]:
        for data in slices:
            for at in range(0, len(data), self._slice):
                if self._stream.eof:
                    return
                yield self._stream.decompress(data[at : at + self._slice])


_EXPANDERS = cast("dict[int, Callable[[], _Expander]]", {_STORED: _Stored, _DEFLATED: _Deflated, _ZSTD: _Zstd})


def needs_zstd(members: list[Member]) -> bool:
    """True if one of these members is compressed with zstd."""
    return any(member.method == _ZSTD for member in members)


def check_zstd() -> None:
    """Raise a ViewerError if the zstd library is missing."""
    _Zstd()


def first_name(head: bytes) -> str:
    """Return the name of the first member of a file that begins with these bytes, or an empty string if the header is
    cut off."""
    if len(head) < _LOCAL_HEADER.size:
        return ""
    _, _, flags, *_, name_size, _ = _LOCAL_HEADER.unpack_from(head)
    return _name_of(head[_LOCAL_HEADER.size : _LOCAL_HEADER.size + name_size], flags)


def _entries(data: bytes, shift: int) -> Iterator[Member]:
    at = 0
    while len(data) - at >= _ENTRY_HEADER.size and data.startswith(_ENTRY, at):
        fields = _ENTRY_HEADER.unpack_from(data, at)
        _, _, _, flags, method, _, _, checksum, packed, size, name_size, extra_size, comment_size, *_, offset = fields
        start = at + _ENTRY_HEADER.size
        name = _name_of(data[start : start + name_size], flags)
        extra = data[start + name_size : start + name_size + extra_size]
        large = _large_numbers(extra)
        if size == _NOT_HERE:
            next(large, 0)
        packed = next(large, packed) if packed == _NOT_HERE else packed
        offset = next(large, offset) if offset == _NOT_HERE else offset
        yield Member(name, offset + shift, packed, method, flags, checksum)
        at = start + name_size + extra_size + comment_size


def _large_numbers(extra: bytes) -> Iterator[int]:
    """Yield the 64-bit numbers in the extra field of an entry."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = int.from_bytes(extra[at : at + 2], "little"), int.from_bytes(extra[at + 2 : at + 4], "little")
        if kind == 1:
            field = extra[at + 4 : at + 4 + size]
            for start in range(0, len(field) - 7, 8):
                yield int.from_bytes(field[start : start + 8], "little")
        at += 4 + size


def _without_overlaps(members: list[Member]) -> list[Member]:
    """Return the members in order. A member that begins inside another one becomes unreadable: only a ZIP bomb has such
    members."""
    inside: set[int] = set()
    end = 0
    for index in sorted(range(len(members)), key=lambda index: members[index].at):
        if members[index].at < end:
            inside.add(index)
        end = max(end, members[index].at + _LOCAL_HEADER.size + members[index].packed)
    return [
        Member(each.name, each.at, each.packed, -1, each.flags, None) if index in inside else each
        for index, each in enumerate(members)
    ]


def _name_of(data: bytes, flags: int) -> str:
    return data.decode("utf-8" if flags & _UTF_8 else "cp437", "replace")
