"""Read long arrays item by item without storing the items. Regular items are decoded in one step."""

from __future__ import annotations

from enum import Enum
from typing import Protocol

from viewer.cache import lazy_regex
from viewer.formats.containers.documents import BracketCount, JsonDocuments
from viewer.formats.containers.regular_lines import READ_WITH_CARE
from viewer.formats.json.fields import Source
from viewer.model.messages import Span
from viewer.reading.recorder import Recorder
from viewer.syntax.json_lines import read_regular, whole_tree
from viewer.syntax.json_reader import MAX_DEPTH
from viewer.syntax.json_text import JsonNode, JsonReading, is_too_deep, read_rest

_SPACE = lazy_regex(rb"[ \t\r\n]*")
_COMMA, _END, _OBJECT = b",]{"


class Items(Protocol):
    """Receives the items of an array."""

    def read_known(self, data: bytearray, at: int, base: int) -> int:
        """Read the item at an index if it has a known shape. Return the index after it, or -1."""
        ...

    def read_known_run(self, data: bytearray, at: int, base: int, lead: bytes) -> int:
        """Read the next items as long as they have known shapes and each directly follows `lead`, which is a comma and
        whitespace. Return the index after the last one."""
        ...

    def changes(self, node: JsonNode) -> bool:
        """True if reading this record replaces some of its values in place."""
        ...

    def apply(self, node: JsonNode, name: str | None, lenient: list[Span], source: Source | None = None) -> bool:
        """Read an item. Return False if it is not a record after all."""
        ...


class Outcome(Enum):
    """Why reading stopped."""

    MORE = "more"
    """More bytes are needed."""
    CLOSED = "closed"
    """The array ended."""
    IRREGULAR = "irregular"
    """The next item needs the slow path."""


class ArrayItems:
    """Reads the items of one array."""

    def __init__(self, items: Items, start: int) -> None:
        self._items = items
        self.start = start
        """The offset of the array."""
        self.is_begun = False
        """True after the first item, so a comma or the end of the array must come next."""
        self._count = BracketCount()
        self._size = 0
        """The size of the next item; 0 until its end is found."""
        self._is_tried = False
        """True if the next item was already tried as an item of a known shape."""

    def read(self, data: bytearray, at: int, base: int) -> tuple[Outcome, int]:
        """Read items, starting at an index. Return why reading stopped, and the index after the last item or after the
        array."""
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
            known = self._items.read_known(data, item, base) if self.is_begun and not self._is_tried else -1
            if known >= 0:
                at = self._items.read_known_run(data, known, base, bytes(data[at:item]))
                continue
            is_tried, self._is_tried = self._is_tried, True
            end = item + self._size if self._size else self._count.end(data, item)
            if end is None:
                return Outcome.MORE, at
            self._size = end - item
            known = self._items.read_known(data, item, base) if self.is_begun and is_tried else -1
            if known < 0 and not self._read_item(bytes(data[item:end]), base + item):
                return Outcome.IRREGULAR, at
            self._count, self._size, self.is_begun, self._is_tried = BracketCount(), 0, True, False
            at = end

    def _read_item(self, item: bytes, offset: int) -> bool:
        """Read an item. Return False if it is irregular or nested too deeply."""
        if item.count(b"{") + item.count(b"[") >= MAX_DEPTH and is_too_deep(b"[" + item):
            return False
        node = read_regular(item, offset)
        if node is None:
            return False
        read = whole_tree(node) if self._items.changes(node) else node
        self._items.apply(read, None, [], Source(item, offset))
        return True


class ArrayDocuments(JsonDocuments):
    """Reads one document after another. Complete items of a long array are read before the array ends."""

    def __init__(self, record: Recorder) -> None:
        super().__init__(record)
        self._items: ArrayItems | None = None
        """The items of a long array that is being read."""
        self._rest: BracketCount | None = None
        """Searches for the end of the long array after an irregular item; None before one has been found."""
        self._tried = -1
        """The offset of the last array in which items were tried."""
        self._is_broken = False
        """True if the rest of the array is broken and is read only when the input ends."""

    def begin_items(self, start: int) -> Items:
        """Return the receiver for the items of an array. The receiver begins the array when it gets the first item."""
        raise NotImplementedError

    def read_items(self, reading: JsonReading, data: bytes, base: int) -> None:
        """Read the remaining items of an array, up to its end or the end of the input."""
        raise NotImplementedError

    def advance(self) -> None:
        """Read all complete documents, and the complete items of a long array."""
        while not self._is_broken:
            if self._items is None:
                super().advance()
                if self._items is None and not self.begin_parts():
                    return
            if not self._read_items():
                return

    def close(self) -> None:
        if self._items is None or not self._items.is_begun or self._close_array(self._items):
            super().close()

    def begin_parts(self) -> bool:
        """Begin to read the items of a long array one at a time. Return False unless a long array begins here whose
        items have not been tried yet."""
        start = self.base + self.at
        is_long = self.waits and len(self.data) - self.at >= READ_WITH_CARE
        if not is_long or start == self._tried or not self.data.startswith(b"[", self.at):
            return False
        self._tried = start
        self._items = ArrayItems(self.begin_items(start), start)
        return True

    def _read_items(self) -> bool:
        """Continue reading the long array. Return False if more bytes are needed, or if the array is broken."""
        items = self._items
        assert items is not None
        if self._rest is None:
            outcome, at = items.read(self.data, self.at + (not items.is_begun), self.base)
            if items.is_begun:
                self.at = at
            if outcome is Outcome.MORE:
                return False
            if outcome is Outcome.CLOSED:
                self.skip_to(at)
            if outcome is Outcome.CLOSED or not items.is_begun:
                self._items = None
                return True
            self._rest = BracketCount(1)
        end = self._rest.end(self.data, self.at)
        if end is None:
            return False
        data, base = bytes(self.data[self.at : end]), self.base + self.at
        reading = read_rest(data, base, 0)
        if reading.node is None or not reading.node.closed or reading.end != self.base + end:
            self._is_broken = True
            return False
        self.read_items(reading, data, base)
        self.skip_to(end)
        self._items = self._rest = None
        return True

    def _close_array(self, items: ArrayItems) -> bool:
        """Read the rest of an array at the end of the input. Return False if the array is not closed."""
        data = bytes(self.data)
        reading = read_rest(data, self.base, self.at)
        assert reading.node is not None
        reading.node.start = items.start
        self.read_items(reading, data, self.base)
        if not reading.node.closed:
            self.broken_rest(reading, data)
            return False
        self.skip_to(reading.end - self.base)
        return True
