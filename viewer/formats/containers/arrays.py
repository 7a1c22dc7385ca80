"""Items of a long array, one at a time: regular ones are decoded at once, and nothing of the array is kept."""

from __future__ import annotations

import re
from enum import Enum
from typing import Protocol

from viewer.formats.containers.documents import BracketCount
from viewer.formats.json.fields import Source
from viewer.model.messages import Span
from viewer.syntax.json_lines import read_regular, whole_tree
from viewer.syntax.json_reader import MAX_DEPTH
from viewer.syntax.json_text import JsonNode, is_too_deep

_SPACE = re.compile(rb"[ \t\r\n]*")
_COMMA, _END, _OBJECT = b",]{"


class Records(Protocol):
    """What the items are read into."""

    def changes(self, node: JsonNode) -> bool:
        """True if values of a record are replaced in place."""
        ...

    def apply(self, node: JsonNode, name: str | None, lenient: list[Span], source: Source | None = None) -> bool:
        """Read an item."""
        ...


class Outcome(Enum):
    """Why reading stopped."""

    MORE = "more"
    """More bytes are needed."""
    CLOSED = "closed"
    """The array ended."""
    IRREGULAR = "irregular"
    """The next item needs the careful reader."""


class ArrayItems:
    """Reader of the items of one array."""

    def __init__(self, records: Records, start: int) -> None:
        self._records = records
        self.start = start
        """The offset of the array."""
        self.is_begun = False
        """True if an item was read: the next byte is a comma or the end of the array. Before, it is the first item."""
        self._count = BracketCount()
        self._size = 0
        """The size of the next item, if its end was found."""

    def read(self, data: bytearray, at: int, base: int) -> tuple[Outcome, int]:
        """Read items from an index on; returns the index after the last one, or after the array."""
        while True:
            item = _SPACE.match(data, at).end()  # type: ignore[union-attr]
            if self.is_begun and item < len(data):
                if data[item] == _END:
                    return Outcome.CLOSED, item + 1
                if data[item] != _COMMA:
                    return Outcome.IRREGULAR, at
                item = _SPACE.match(data, item + 1).end()  # type: ignore[union-attr]
            if item >= len(data):
                return Outcome.MORE, at
            if data[item] != _OBJECT:
                return Outcome.IRREGULAR, at
            end = item + self._size if self._size else self._count.end(data, item)
            if end is None:
                return Outcome.MORE, at
            self._size = end - item
            if not self._read_item(bytes(data[item:end]), base + item):
                return Outcome.IRREGULAR, at
            self._count, self._size, self.is_begun = BracketCount(), 0, True
            at = end

    def _read_item(self, item: bytes, offset: int) -> bool:
        """Read an item; False if it is irregular."""
        if item.count(b"{") + item.count(b"[") >= MAX_DEPTH and is_too_deep(b"[" + item):
            return False
        node = read_regular(item, offset)
        if node is None:
            return False
        read = whole_tree(node) if self._records.changes(node) else node
        self._records.apply(read, None, [], Source(item, offset))
        return True
