"""The output of a container reader: bytes of JSON lines, and a fault for everything that could not be read."""

from __future__ import annotations

import json
from collections.abc import Iterator

from msgspec import Struct

DAMAGED = "part-damaged"
TOO_LARGE = "part-too-large"
UNREAD = "part-unread"
REPEATED = "part-repeated"
"""The reasons for E-STREAM-TRUNCATED."""

LARGEST_TEXT = 64 * 1024 * 1024
"""The maximum size of a value or file in bytes, because no record may be larger."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_BREAKS = bytes.maketrans(b"\r\n", b"  ")


class PartFault(Struct, frozen=True):
    """Marks something that could not be read, at the position where it would have been."""

    reason: str


Parts = Iterator[bytes | PartFault]


def on_one_line(data: bytes) -> bytes:
    """Return JSON text without its line breaks. Valid JSON has none inside strings, so the meaning stays the same."""
    return data.translate(_NO_BREAKS)


def without_mark(data: bytes) -> bytes:
    """Return the text without its byte order mark, if it has one."""
    return data.removeprefix(_BYTE_ORDER_MARK)


def is_json(data: bytes, kind: type = object) -> bool:
    """True if the bytes are one JSON value of this kind. Only then can they be embedded in another value."""
    try:
        return isinstance(json.loads(data), kind)
    except (ValueError, RecursionError):
        return False


def as_json(value: object) -> bytes:
    """Encode a value as ASCII JSON."""
    return json.dumps(value, separators=(",", ":")).encode()
