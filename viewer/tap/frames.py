"""Frames that the proxy sends to the log writer. Each frame belongs to one exchange."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from enum import IntEnum

import msgspec
from msgspec import Struct

_HEAD = struct.Struct("<BQQI")


class FrameKind(IntEnum):
    """The content of a frame."""

    BEGIN = 1
    """A request begins."""
    REQUEST = 2
    """Bytes of the request body."""
    REQUEST_END = 3
    ANSWER = 4
    """The head of the answer."""
    BODY = 5
    """Bytes of the answer body."""
    CUT = 6
    """The rest of the answer body is missing."""
    END = 7


class Facts(Struct, frozen=True, omit_defaults=True):
    """The facts about an exchange that the writer needs. They never include the path, an address, or other
    headers."""

    api: str = ""
    codings: str = ""
    content_type: str = ""
    status: int = 0
    is_cut: bool = False
    outcome: str = ""


class Frame(Struct, frozen=True):
    """One frame: bytes of a body, or facts about an exchange."""

    kind: FrameKind
    exchange: int
    time_ms: int
    data: bytes = b""

    @property
    def facts(self) -> Facts:
        """The facts in the frame, or their defaults if the frame is empty."""
        return msgspec.json.decode(self.data, type=Facts) if self.data else Facts()


def encoded(kind: FrameKind, exchange: int, time_ms: int, data: bytes | Facts = b"") -> bytes:
    """Encode a frame as bytes."""
    raw = msgspec.json.encode(data) if isinstance(data, Facts) else data
    return _HEAD.pack(kind, exchange, time_ms, len(raw)) + raw


class FrameReader:
    """Splits bytes into frames."""

    def __init__(self) -> None:
        self._window = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that the next bytes complete."""
        self._window += data
        at = 0
        while len(self._window) - at >= _HEAD.size:
            kind, exchange, time_ms, size = _HEAD.unpack_from(self._window, at)
            end = at + _HEAD.size + size
            if len(self._window) < end:
                break
            yield Frame(FrameKind(kind), exchange, time_ms, bytes(self._window[at + _HEAD.size : end]))
            at = end
        del self._window[:at]
