"""The cursor over a sliding window of bytes, and token search in the window."""

from __future__ import annotations

import re

from msgspec import Struct


class Token(Struct, frozen=True, gc=False):
    """A control token with its offsets in the input."""

    name: str
    start: int
    end: int


class Window:
    """The bytes that are still needed, addressed by their offset in the input."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.base = 0
        """The offset of the first byte that is kept."""
        self.before = 0
        """The byte before the first one that is kept; 0 at the start of the input."""
        self._line_end = -1
        self._searched_to = 0
        """How far the search for line ends has progressed."""

    @property
    def end(self) -> int:
        """The offset after the last byte."""
        return self.base + len(self.data)

    def append(self, data: bytes) -> None:
        """Append input."""
        self.data += data

    def drop(self, offset: int) -> None:
        """Drop the bytes before this offset."""
        count = offset - self.base
        if count > 0:
            self.before = self.data[count - 1]
            del self.data[:count]
            self.base = offset

    def restart(self, offset: int, before: int) -> None:
        """Drop everything. The next bytes begin at this offset, and `before` is the byte that precedes them."""
        self.data.clear()
        self.base, self.before = offset, before
        self._line_end, self._searched_to = -1, offset

    def text(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets that are still kept."""
        return bytes(self.data[start - self.base : end - self.base])

    def byte_before(self, offset: int) -> int:
        """Return the byte before this offset, or 0 at the start of the input."""
        return self.data[offset - self.base - 1] if offset > self.base else self.before

    def line_end(self, start: int) -> int:
        """Return the offset of the first LF at or after an offset, or -1.

        Offsets must not decrease, so each byte is searched once."""
        if self._line_end < start:
            at = self.data.find(b"\n", max(start, self._searched_to) - self.base)
            self._line_end = at + self.base if at >= 0 else -1
            self._searched_to = self._line_end + 1 if at >= 0 else self.end
        return self._line_end


class TokenSet:
    """The control tokens that are searched for in one state."""

    def __init__(self, spellings: dict[bytes, str], *, escapes: bool = False) -> None:
        self.names = spellings
        """The names of the tokens, by spelling."""
        self._escapes = escapes
        self._longest = max(map(len, spellings))
        self._pattern = re.compile(b"|".join(re.escape(spelling) for spelling in spellings))
        self._prefixes = {spelling[:length] for spelling in spellings for length in range(1, len(spelling))}

    def search(self, window: Window, start: int, end: int | None = None) -> Token | None:
        """Return the first token at or after an offset, or None if there is none. Skip tokens that are escaped with a
        doubled `<`."""
        data, base = window.data, window.base
        position = start - base
        limit = len(data) if end is None else end - base
        while match := self._pattern.search(data, position, limit):
            at, position = match.span()
            if not self._escapes or (data[at - 1] if at else window.before) != ord("<"):
                return Token(self.names[match[0]], at + base, position + base)
        return None

    def held_back(self, window: Window) -> int:
        """Return the number of bytes at the end of the window that may begin a token."""
        tail = bytes(window.data[-self._longest + 1 :])
        for skip in range(len(tail)):
            if tail[skip:] in self._prefixes:
                return len(tail) - skip
        return 0


class Cursor:
    """The read and search offsets of a reader in its window."""

    def __init__(self) -> None:
        self.window = Window()
        self.at = 0
        """Everything before this offset has been read."""
        self.scan = 0
        """No relevant token begins before this offset."""
        self.is_line_checked = False
        """True if the line at `at` is known to be plain: no event, no document header."""

    @property
    def end(self) -> int:
        """The offset after the last byte of the window."""
        return self.window.end

    def peek(self, end: int) -> bytes:
        """Return the bytes from `at` to an offset."""
        window = self.window
        return bytes(window.data[self.at - window.base : end - window.base])

    def search(self, tokens: TokenSet, limit: int | None = None) -> Token | None:
        """Return the first token at or after `scan`, or None if there is none."""
        return tokens.search(self.window, self.scan, limit)

    def hold_back(self, tokens: TokenSet) -> None:
        """Continue the search at the end of the window, or just before it if a token may begin there."""
        self.hold_back_bytes(tokens.held_back(self.window))

    def hold_back_bytes(self, count: int) -> None:
        """Continue the search this many bytes before the end of the window."""
        self.scan = max(self.scan, self.window.end - count)

    def move_to(self, offset: int) -> None:
        """Continue reading at an offset."""
        self.at = self.scan = offset
        self.is_line_checked = False

    def scan_from(self, offset: int) -> None:
        """Continue the search at an offset. The bytes before it are still to be read."""
        self.scan = offset

    def release(self, offset: int) -> None:
        """Continue reading at an offset that the search has reached, in the same line."""
        self.at = offset

    def set_line_checked(self) -> None:
        """Record that the line at `at` is plain: no event, no document header."""
        self.is_line_checked = True
