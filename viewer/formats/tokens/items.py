"""Split lists of token IDs into items: integers in JSON arrays, one per line, or separated by spaces and commas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from viewer.formats.tokens.vocabulary import LAST_ID
from viewer.model.messages import Span

LONGEST_KEPT = 16
"""The number of bytes of an item that are kept. A longer item is not a token ID."""

_REGULAR = re.compile(rb"(?>[ \t\r\n,]*[0-9]{1,16}(?=[ \t\r\n,\[\]])){1,4096}+")
_DIGITS = re.compile(rb"[0-9]+")
_SEPARATORS = re.compile(rb"[ \t\r\n,]*")
_WORD = re.compile(rb"[^ \t\r\n,\[\]\"]*")
_QUOTED = re.compile(rb"[^\"\\\n]*")


class Item(Struct, frozen=True, gc=False):
    """One item, with offsets in the input. A bracket ends one list or begins another."""

    start: int
    end: int
    number: int | None
    """The token ID; None for a bracket or anything other than an integer."""
    bracket: bool = False

    @property
    def is_id(self) -> bool:
        """True if the vocabulary may contain a token with this number."""
        return self.number is not None and self.number <= LAST_ID


class Integers(Struct, frozen=True, gc=False):
    """Consecutive integers. Their text is read only when it is needed."""

    text: bytes
    offset: int
    """The offset of the text in the input."""

    @property
    def numbers(self) -> list[int]:
        return [*map(int, _DIGITS.findall(self.text))]

    @property
    def spans(self) -> list[Span]:
        """The offsets of the integers in the text."""
        return [found.span() for found in _DIGITS.finditer(self.text)]

    def items(self) -> Iterator[Item]:
        """Yield the integers one by one."""
        for number, (start, end) in zip(self.numbers, self.spans, strict=True):
            yield Item(self.offset + start, self.offset + end, number)


class _State(Enum):
    BETWEEN = "between"
    WORD = "word"
    QUOTED = "quoted"
    ESCAPE = "escape"


class ItemReader:
    """Splits bytes into items, regardless of chunk boundaries. It holds back at most the start of one item."""

    def __init__(self, base: int = 0) -> None:
        self._offset = base
        """The offset of the next byte."""
        self._state = _State.BETWEEN
        self._start = base
        self._kept = b""

    def feed(self, data: bytes) -> Iterator[Item | Integers]:
        """Yield the items that these bytes complete."""
        at = 0
        while at < len(data):
            if self._in_item():
                at = self._go_on(data, at)
                if not self._in_item():
                    yield self._finished(self._offset + at)
            elif match := _REGULAR.match(data, at):
                yield Integers(match[0], self._offset + at)
                at = match.end()
            else:
                at = _after(_SEPARATORS, data, at)
                if data[at : at + 1] in (b"[", b"]"):
                    at += 1
                    yield Item(self._offset + at - 1, self._offset + at, None, bracket=True)
                elif at < len(data):
                    self._state, self._start, self._kept = _State.WORD, self._offset + at, b""
        self._offset += len(data)

    def close(self) -> Iterator[Item]:
        """Yield the item that the end of the input completes."""
        if self._in_item():
            self._state = _State.BETWEEN
            yield self._finished(self._offset)

    def _in_item(self) -> bool:
        return self._state is not _State.BETWEEN

    def _go_on(self, data: bytes, at: int) -> int:
        """Continue an item and return the index after its bytes. If the item ends, the state becomes `between`."""
        end = at
        if self._state is _State.ESCAPE:
            end += 1
            self._state = _State.QUOTED
        elif self._state is _State.QUOTED:
            end = _after(_QUOTED, data, at)
            end += self._end_of_quoted(data[end : end + 1])
        else:
            end = _after(_WORD, data, at)
            if data[end : end + 1] == b'"':
                end += 1
                self._state = _State.QUOTED
            elif end < len(data):
                self._state = _State.BETWEEN
        if len(self._kept) <= LONGEST_KEPT:
            self._kept += data[at : min(end, at + LONGEST_KEPT + 1)]
        return end

    def _end_of_quoted(self, byte: bytes) -> int:
        if byte == b"\n":
            self._state = _State.BETWEEN
        elif byte:
            self._state = _State.WORD if byte == b'"' else _State.ESCAPE
            return 1
        return 0

    def _finished(self, end: int) -> Item:
        text = self._kept
        plain = text.isdigit() and len(text) <= LONGEST_KEPT
        return Item(self._start, end, int(text) if plain else None)


def _after(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return match.end() if match else at


def items_of(data: bytes) -> Iterator[Item | Integers]:
    """Yield all items of these bytes."""
    reader = ItemReader()
    yield from reader.feed(data)
    yield from reader.close()
