"""Split the bytes of an HTTP/1.1 connection into messages: heads, bodies, and their ends.

Bytes in, parts out: the raw bytes of all parts, joined in order, are exactly the input."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import Enum

from msgspec import Struct

LARGEST_HEAD = 256 * 1024
"""The maximum number of bytes in a head, in the size line of a chunk, and in trailers."""
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_LONGEST_END = 3
"""The maximum length of the mark that ends a head, in bytes, without its last byte."""
_REQUEST = re.compile(rb"([!-~]{1,64}) ([!-~]{1,65536}) HTTP/1\.([01])")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9]{2})(?: |\Z)")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?")
_LENGTH = re.compile(rb"[0-9]{1,18}")
WITHOUT_BODY = (204, 304)
SWITCHING = 101


class MalformedError(Exception):
    """The bytes are not HTTP/1.1, or have no definite end."""


class Head(Struct, frozen=True):
    """The start line and the headers of a message."""

    raw: bytes
    lines: tuple[tuple[int, int], ...]
    """The spans of the header lines in `raw`, without their line endings."""
    method: str = ""
    target: str = ""
    status: int = 0

    def values(self, name: str) -> list[bytes]:
        """Return the values of a header, one for each line with this name."""
        wanted = name.lower().encode()
        found = []
        for start, end in self.lines:
            key, colon, value = self.raw[start:end].partition(b":")
            if colon and key.lower() == wanted:
                found.append(value.strip())
        return found

    def with_value(self, name: str, value: bytes) -> bytes:
        """Return the raw bytes, with a new value on each line that has this header name."""
        wanted = name.lower().encode()
        made = bytearray()
        at = 0
        for start, end in self.lines:
            key, colon, old = self.raw[start:end].partition(b":")
            if colon and key.lower() == wanted:
                before = len(old) - len(old.lstrip())
                made += self.raw[at:start] + key + b":" + old[:before] + value
                at = end
        return bytes(made + self.raw[at:])


class Part(Struct, frozen=True):
    """Bytes of a message: a head, a piece of the body, or framing."""

    raw: bytes
    head: Head | None = None
    body: bytes = b""
    """The bytes of the body, without chunk framing."""
    is_end: bool = False
    """True if the message is complete."""


class _State(Enum):
    HEAD = "head"
    LENGTH = "length"
    SIZE = "size"
    CHUNK = "chunk"
    AFTER_CHUNK = "after chunk"
    TRAILERS = "trailers"
    UNTIL_CLOSE = "until close"
    OPAQUE = "opaque"


class Messages:
    """Splits the bytes of one direction of a connection into messages.

    For responses, `method_of` returns the method of the request that the next final response answers. For requests, it
    is None."""

    def __init__(self, method_of: Callable[[], str] | None = None) -> None:
        self._method_of = method_of
        self._state = _State.HEAD
        self._window = bytearray()
        self._left = 0
        """The number of bytes left in the body or chunk."""
        self._searched = 0
        """How many bytes at the beginning of the window are known not to contain the end of a head or line."""

    @property
    def is_opaque(self) -> bool:
        """True if the remaining bytes belong to another protocol."""
        return self._state is _State.OPAQUE

    @property
    def is_idle(self) -> bool:
        """True between messages."""
        return self._state is _State.HEAD and not self._window

    def make_opaque(self) -> None:
        """Stop splitting, because the connection switches to another protocol."""
        self._state = _State.OPAQUE

    def feed(self, data: bytes) -> Iterator[Part]:
        """Yield the parts of the next bytes. Raise `MalformedError` if they are not HTTP/1.1."""
        self._window += data
        while self._window:
            part = self._next()
            if part is None:
                return
            yield part

    def close(self) -> Part | None:
        """Handle the end of the input. Return the end of the current message if its head declared no length, otherwise
        None."""
        if self._state is _State.UNTIL_CLOSE:
            self._state = _State.HEAD
            return Part(b"", is_end=True)
        return None

    def _next(self) -> Part | None:
        match self._state:
            case _State.HEAD:
                return self._head()
            case _State.LENGTH | _State.CHUNK:
                return self._take_body()
            case _State.SIZE:
                return self._size()
            case _State.AFTER_CHUNK:
                return self._after_chunk()
            case _State.TRAILERS:
                return self._trailers()
            case _:
                raw = self._cut(len(self._window))
                return Part(raw, body=raw if self._state is _State.UNTIL_CLOSE else b"")

    def _cut(self, size: int) -> bytes:
        data = bytes(self._window[:size])
        del self._window[:size]
        self._searched = 0
        return data

    # Heads.

    def _head(self) -> Part | None:
        if self._window.startswith((b"\r", b"\n")):  # some clients send an empty line between requests
            end = 2 if self._window.startswith(b"\r\n") else 1
            if self._window == b"\r":
                return None
            return Part(self._cut(end))
        found = _END_OF_HEAD.search(self._window, max(0, self._searched - _LONGEST_END))
        if found is None:
            self._searched = len(self._window)
            if len(self._window) > LARGEST_HEAD:
                raise MalformedError
            return None
        if found.end() > LARGEST_HEAD:
            raise MalformedError
        head = _parsed(self._cut(found.end()), is_request=self._method_of is None)
        is_end = self._begin(head)
        return Part(head.raw, head, is_end=is_end)

    def _begin(self, head: Head) -> bool:
        """Prepare for the body. Return True if there is none."""
        if self._method_of is not None:
            if head.status == SWITCHING:
                self._state = _State.OPAQUE
                return True
            if head.status < 200:
                return True
            if self._method_of() == "HEAD" or head.status in WITHOUT_BODY:
                return True
        codings = b",".join(head.values("transfer-encoding")).lower()
        lengths = {*head.values("content-length")}
        if codings:
            if codings.rpartition(b",")[2].strip() == b"chunked":
                if lengths and self._method_of is None:
                    raise MalformedError  # servers disagree about where such a request ends
                self._state = _State.SIZE
                return False
            if self._method_of is None:
                raise MalformedError
            self._state = _State.UNTIL_CLOSE
            return False
        if lengths:
            length = lengths.pop()
            if lengths or not _LENGTH.fullmatch(length):
                raise MalformedError
            self._left = int(length)
            if self._left:
                self._state = _State.LENGTH
            return not self._left
        if self._method_of is not None:
            self._state = _State.UNTIL_CLOSE
            return False
        return True

    # Bodies.

    def _take_body(self) -> Part:
        raw = self._cut(min(self._left, len(self._window)))
        self._left -= len(raw)
        if self._left:
            return Part(raw, body=raw)
        is_chunk = self._state is _State.CHUNK
        self._state = _State.AFTER_CHUNK if is_chunk else _State.HEAD
        return Part(raw, body=raw, is_end=not is_chunk)

    def _line(self) -> bytes | None:
        at = self._window.find(b"\n", self._searched)
        self._searched = len(self._window)
        if at >= LARGEST_HEAD or (at < 0 and len(self._window) > LARGEST_HEAD):
            raise MalformedError
        return self._cut(at + 1) if at >= 0 else None

    def _size(self) -> Part | None:
        raw = self._line()
        if raw is None:
            return None
        found = _SIZE.fullmatch(raw.rstrip(b"\r\n"))
        if found is None:
            raise MalformedError
        self._left = int(found[1], 16)
        self._state = _State.CHUNK if self._left else _State.TRAILERS
        return Part(raw)

    def _after_chunk(self) -> Part | None:
        raw = self._line()
        if raw is None:
            return None
        if raw.strip(b"\r\n"):
            raise MalformedError
        self._state = _State.SIZE
        return Part(raw)

    def _trailers(self) -> Part | None:
        raw = self._line()
        if raw is None:
            return None
        is_end = not raw.strip(b"\r\n")
        if is_end:
            self._state = _State.HEAD
        return Part(raw, is_end=is_end)


def _parsed(raw: bytes, *, is_request: bool) -> Head:
    end = raw.find(b"\n")
    first = raw[:end].rstrip(b"\r")
    lines = []
    at = end + 1
    while at < len(raw):
        end = raw.find(b"\n", at)
        end = len(raw) if end < 0 else end
        stop = end - 1 if raw[end - 1 : end] == b"\r" else end
        if stop > at:
            if raw[at : at + 1] in b" \t":
                raise MalformedError  # a folded line, which RFC 9112 forbids
            lines.append((at, stop))
        at = end + 1
    if is_request:
        found = _REQUEST.fullmatch(first)
        if found is None:
            raise MalformedError
        return Head(raw, tuple(lines), method=found[1].decode("ascii"), target=found[2].decode("ascii"))
    answer = _STATUS.match(first)
    if answer is None:
        raise MalformedError
    return Head(raw, tuple(lines), status=int(answer[2]))
