"""Decode a copy of a body: content codings (gzip, deflate, zstd), server-sent events, and JSON Lines."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Protocol, cast

LARGEST_BODY = 32 * 1024 * 1024
"""The maximum size, in bytes, of a body or an event that the log decodes."""
_SLICE = 16 * 1024
_MOST_CODINGS = 3
_WINDOW = 64 * 1024 * 1024
"""The maximum window size for zstd, in bytes."""


class UndecodableError(Exception):
    """The copy of a body cannot be decoded."""


class _Decoder(Protocol):
    def decompress(self, data: bytes, most: int, /) -> bytes: ...

    @property
    def unconsumed_tail(self) -> bytes: ...


class _Deflate:
    """Decodes `deflate`, with or without a zlib header, because some servers omit the header."""

    def __init__(self) -> None:
        self._inner: Any = None

    @property
    def unconsumed_tail(self) -> bytes:
        return cast("bytes", self._inner.unconsumed_tail)

    def decompress(self, data: bytes, most: int, /) -> bytes:
        if self._inner is None:
            has_header = data[:1] and data[0] & 0x0F == 8 and data[0] >> 4 <= 7
            self._inner = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        return cast("bytes", self._inner.decompress(data, most))


class _Zstd:
    """Decodes `zstd` if a package for it is installed. Small slices keep the output of each step small."""

    unconsumed_tail = b""

    def __init__(self) -> None:
        try:
            module = import_module("zstandard")
        except ImportError:
            raise UndecodableError from None
        self._inner = module.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        self._error: type[Exception] = module.ZstdError

    def decompress(self, data: bytes, most: int, /) -> bytes:
        made = bytearray()
        for at in range(0, len(data), 1024):
            try:
                made += self._inner.decompress(data[at : at + 1024])
            except self._error:
                raise UndecodableError from None
            if len(made) > most:
                raise UndecodableError
        return bytes(made)


def _gzip() -> _Decoder:
    return zlib.decompressobj(zlib.MAX_WBITS | 16)


_DECODERS = {"gzip": _gzip, "x-gzip": _gzip, "deflate": _Deflate, "zstd": _Zstd}


class Decoder:
    """Decodes the content codings of one body."""

    def __init__(self, codings: str) -> None:
        names = [name for each in codings.split(",") if (name := each.strip().lower()) not in ("", "identity")]
        if len(names) > _MOST_CODINGS or any(name not in _DECODERS for name in names):
            raise UndecodableError
        self._steps: list[_Decoder] = [_DECODERS[name]() for name in reversed(names)]

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Decode the next bytes in pieces of limited size. Without codings, yield them unchanged."""
        if not self._steps:
            yield data
            return
        for at in range(0, len(data), _SLICE):
            yield from self._decode(0, data[at : at + _SLICE])

    def _decode(self, step: int, data: bytes) -> Iterator[bytes]:
        if step == len(self._steps):
            yield data
            return
        decoder = self._steps[step]
        while data:
            try:
                made = decoder.decompress(data, LARGEST_BODY)
            except zlib.error:
                raise UndecodableError from None
            data = decoder.unconsumed_tail
            if made:
                yield from self._decode(step + 1, made)


class Events:
    """Splits a streamed body into the JSON of its events: server-sent events, or one object per line."""

    def __init__(self, *, are_lines: bool) -> None:
        self._are_lines = are_lines
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, text: bytes) -> Iterator[bytes]:
        """Yield the events that the next bytes complete."""
        self._rest += text
        if len(self._rest) > LARGEST_BODY:
            raise UndecodableError
        if b"\n" not in text and b"\r" not in text:
            return
        held = b"\r" if self._rest.endswith(b"\r") else b""  # the first half of a line ending
        lines = (self._rest[: -len(held)] if held else self._rest).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, rest = lines.split(b"\n")
        self._rest = rest + held
        for line in whole:
            yield from self._line(line)

    def close(self) -> Iterator[bytes]:
        """Yield the event that the end of the body completes, if there is one."""
        rest, self._rest = self._rest.rstrip(b"\r"), b""
        for line in (rest, b""):
            yield from self._line(line)

    def _line(self, line: bytes) -> Iterator[bytes]:
        if self._are_lines:
            if line.strip():
                yield line
            return
        if line.startswith(b"data:"):
            self._size += len(line)
            if self._size > LARGEST_BODY:
                raise UndecodableError
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            event = b"\n".join(self._data)
            self._data, self._size = [], 0
            yield event


def read_json(text: bytes) -> Any:
    """Parse JSON. Raise UndecodableError if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UndecodableError from None
