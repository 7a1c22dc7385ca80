"""Ill-formed UTF-8: positions of the bytes that decode to U+FFFD."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.cache import lazy_regex
from viewer.model.messages import Span

_WELL_FORMED = (
    rb"[\xC2-\xDF][\x80-\xBF]"
    rb"|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]"
    rb"|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}"
)
_BEGUN = (
    rb"\xE0[\xA0-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]|\xED[\x80-\x9F]"
    rb"|\xF0[\x90-\xBF][\x80-\xBF]?|[\xF1-\xF3][\x80-\xBF]{1,2}|\xF4[\x80-\x8F][\x80-\xBF]?"
)
_NOT_ASCII = lazy_regex(rb"(?>" + _WELL_FORMED + rb")++|(" + _BEGUN + rb"|[\x80-\xFF])")


LONGEST_DECODED = 4096
"""The maximum number of bytes to decode at a time. Most text is mostly ASCII, and parts in ASCII need no decoding."""


def is_utf8(data: bytes) -> bool:
    """True if these bytes are well-formed UTF-8."""
    if len(data) <= LONGEST_DECODED:
        return _is_decodable(data)
    at, size = 0, len(data)
    while at < size:
        end = at + LONGEST_DECODED
        if not data[at:end].isascii():
            rest = 3  # no character has more bytes after its first one
            while rest and end < size and data[end] & 0xC0 == 0x80:
                end, rest = end + 1, rest - 1
            if not _is_decodable(data[at:end]):
                return False
        at = end
    return True


def _is_decodable(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def ill_formed(data: bytes, base: int = 0) -> Iterator[Span]:
    """Yield one span for each maximal ill-formed part. Each part decodes to one U+FFFD."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        first = error.start
    else:
        return
    for match in _NOT_ASCII.finditer(data, first):
        if match.group(1) is not None:
            yield base + match.start(), base + match.end()


def whole_characters(data: bytes, goes_on: bool) -> bytes:
    """Return the data, without a partial character at its end if more bytes follow."""
    if not goes_on:
        return data
    for length in range(1, min(4, len(data))):
        byte = data[-length]
        if byte >= 0xC0:
            return data[:-length]
        if byte < 0x80:
            break
    return data
