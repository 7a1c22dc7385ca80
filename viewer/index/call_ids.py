"""Call IDs of messages as columns, and a hash table that finds a call by its ID."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, compress, islice

from viewer.columns.api import Column, Columns
from viewer.columns.plain import PlainColumns

_PLAIN = PlainColumns()
_LOW_HALVES = slice(array("H", [1]).tobytes() == b"\0\1", None, 2)


class CallIds:
    """Call IDs by row: 12 bytes each, plus the ID."""

    def __init__(self) -> None:
        self._rows = array("I")
        self._ends = array("Q")
        self._text = bytearray()
        self._changed: dict[int, str] = {}

    def get(self, row: int) -> str | None:
        """Return the call ID of a row, or None if it has none."""
        if self._changed and row in self._changed:
            return self._changed[row]
        place = bisect_left(self._rows, row)
        if place == len(self._rows) or self._rows[place] != row:
            return None
        start = self._ends[place - 1] if place else 0
        return self._text[start : self._ends[place]].decode("utf-8", "surrogatepass")

    def between(self, first: int, last: int) -> list[str | None]:
        """Return the call IDs of the rows from `first` up to, but not including, `last`."""
        ids: list[str | None] = [None] * (last - first)
        start, end = bisect_left(self._rows, first), bisect_left(self._rows, last)
        if start < end:
            base = self._ends[start - 1] if start else 0
            data = self._text[base : self._ends[end - 1]]
            rows, ends = self._rows[start:end], self._ends[start:end]
            at = 0
            if data.isascii():
                text = data.decode("ascii")
                found = [text[at : (at := to - base)] for to in ends]
            else:
                found = [data[at : (at := to - base)].decode("utf-8", "surrogatepass") for to in ends]
            for row, call_id in zip(rows, found, strict=True):
                ids[row - first] = call_id
        if self._changed:
            ids = [self._changed.get(row, call_id) for row, call_id in enumerate(ids, first)]
        return ids

    def put(self, row: int, call_id: str) -> None:
        """Set or replace the call ID of a row."""
        if not self._rows or row > self._rows[-1]:
            self._text += call_id.encode("utf-8", "surrogatepass")
            self._rows.append(row)
            self._ends.append(len(self._text))
        elif self.get(row) != call_id:
            self._changed[row] = call_id

    def extend(self, columns: Columns, rows: Column, ends: Column, text: bytes) -> None:
        """Append the call IDs of many rows. `ends` contains the end of each ID in `text`."""
        self._rows.extend(rows)
        self._ends.extend(columns.add(ends, len(self._text)))
        self._text += text

    def extend_texts(self, rows: Sequence[int], call_ids: Sequence[str]) -> None:
        """Append the call IDs of these rows, which follow all others."""
        texts = [call_id.encode("utf-8", "surrogatepass") for call_id in call_ids]
        self._rows.extend(rows)
        self._ends.extend(islice(accumulate(map(len, texts), initial=len(self._text)), 1, None))
        self._text += b"".join(texts)


class CallTable:
    """Hash table from a call ID to its newest row, with 12 to 24 bytes per entry. It does not store the IDs."""

    def __init__(self, id_of: Callable[[int], str | None]) -> None:
        self._id_of = id_of
        self._count = 0
        self._begin(16)

    def _begin(self, size: int) -> None:
        self._mask = size - 1
        self._entries = array("I", bytes(4 * size))
        """Rows, counted from 1; 0 if empty."""
        self._hashes = array("I", bytes(4 * size))

    def get(self, call_id: str) -> int | None:
        """Return the newest row with this ID, or None if there is none."""
        entry = self._entries[self._slot(call_id, hash(call_id) & 0xFFFF_FFFF)]
        return entry - 1 if entry else None

    def has(self, call_id: str) -> bool:
        """True if a row has this ID. For many IDs that are usually new, this is faster than `get`."""
        entries, mask = self._entries, self._mask
        short = hash(call_id) & 0xFFFF_FFFF
        slot = short & mask
        while entry := entries[slot]:
            if self._hashes[slot] == short and self._id_of(entry - 1) == call_id:
                return True
            slot = (slot + 1) & mask
        return False

    def put(self, call_id: str, row: int) -> None:
        """Map the ID to this row."""
        short = hash(call_id) & 0xFFFF_FFFF
        slot = self._slot(call_id, short)
        if not self._entries[slot]:
            self._count += 1
        self._entries[slot], self._hashes[slot] = row + 1, short
        if 3 * self._count > 2 * self._mask:
            self._grow(_PLAIN, 2 * len(self._entries))

    def put_new(self, columns: Columns, call_ids: Sequence[str | None], row: int, short: Column | None = None) -> None:
        """Map new IDs to consecutive rows, starting with `row`. A row may have no ID. `short` contains the
        `short_hashes` of the IDs, if they are known."""
        if short is None:
            short = short_hashes([call_id for call_id in call_ids if call_id is not None])
        places = columns.sequence(row + 1, row + 1 + len(call_ids))
        if len(short) < len(places):
            places = array("I", compress(places, (one is not None for one in call_ids)))
        size = len(self._entries)
        while 3 * (self._count + len(short)) > 2 * (size - 1):
            size *= 2
        if size > len(self._entries):
            self._grow(columns, size)
        columns.fill_table(self._entries, self._hashes, places, short)
        self._count += len(short)

    def may_have(self, columns: Columns, short: Column) -> bytearray:
        """Return, for each ID, 0 if it certainly has no row, and otherwise 1. `short` contains their `short_hashes`."""
        return columns.find_hashes(self._entries, self._hashes, short)

    def _slot(self, call_id: str, short: int) -> int:
        entries, hashes, mask = self._entries, self._hashes, self._mask
        slot = short & mask
        while entries[slot] and not (hashes[slot] == short and self._id_of(entries[slot] - 1) == call_id):
            slot = (slot + 1) & mask
        return slot

    def _grow(self, columns: Columns, size: int) -> None:
        entries, hashes = self._entries, self._hashes
        self._begin(size)
        known = array("I", filter(None, entries))
        columns.fill_table(self._entries, self._hashes, known, array("I", compress(hashes, entries)))


def short_hashes(call_ids: Sequence[str]) -> Column:
    """Return the hashes under which a table stores these call IDs."""
    return array("I", array("q", map(hash, call_ids)).tobytes())[_LOW_HALVES]  # takes half as long as a loop
