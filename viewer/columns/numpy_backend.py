"""Columns in NumPy. Importing NumPy takes as long as reading a megabyte of input; after that, one operation handles
thousands of rows."""

from __future__ import annotations

from array import array
from collections.abc import Sequence, Set
from itertools import pairwise
from typing import Any, TypeAlias

from viewer import native
from viewer.columns.api import Borders, Column, Folded
from viewer.columns.plain import PlainColumns
from viewer.numeric import NDArray, np

Values: TypeAlias = NDArray[Any]
Flags: TypeAlias = NDArray[np.bool_]

_FEW = 256
"""For fewer rows than this, filling a hash table in rounds is slower than in a loop."""
_PLAIN = PlainColumns()
_SPARSE = 4096
"""How many more entries a table of counts may have than there are rows to count."""


def values_of(column: Column) -> Values:
    """Return a view of the values of a column, without a copy. The column cannot change its length while the view
    exists."""
    return np.frombuffer(column, column.typecode)


def column_of(typecode: str, values: Values) -> Column:
    """Return a column with these values."""
    column = array(typecode)
    column.frombytes(np.ascontiguousarray(values, typecode).view(np.uint8).data)
    return column


class NumpyColumns:
    """The operations of `Columns`, on whole columns."""

    name = "numpy"

    def sequence(self, first: int, last: int) -> Column:
        return column_of("I", np.arange(first, last, dtype=np.uint32))

    def take(self, column: Column, rows: Column) -> Column:
        return column_of(column.typecode, values_of(column)[values_of(rows)])

    def put(self, values: Column, rows: Column, length: int) -> Column:
        column = array(values.typecode, bytes(values.itemsize * length))
        values_of(column)[values_of(rows)] = values_of(values)
        return column

    def insert(self, column: Column, rows: Column, values: Column) -> Column:
        return column_of(
            column.typecode, np.insert(values_of(column), values_of(rows).astype(np.intp), values_of(values))
        )

    def add(self, column: Column, other: Column | int) -> Column:
        added = other if isinstance(other, int) else values_of(other)
        return column_of(column.typecode, values_of(column).astype(np.int64) + added)

    def subtract(self, column: Column, other: Column) -> Column:
        return column_of(column.typecode, values_of(column) - values_of(other))

    def smaller_and_larger(self, left: Column, right: Column) -> tuple[Column, Column]:
        one, other = values_of(left), values_of(right)
        return column_of(left.typecode, np.minimum(one, other)), column_of(left.typecode, np.maximum(one, other))

    def where(self, column: Column, values: Set[int], first: int, last: int) -> Column:
        part = values_of(column)[first:last]
        found = part == next(iter(values)) if len(values) == 1 else np.isin(part, list(values))
        return column_of("I", np.flatnonzero(found) + first)

    def mask(self, ids: Column, allowed: bytes | bytearray, first: int, last: int) -> bytearray:
        return bytearray(np.frombuffer(allowed, np.uint8).take(values_of(ids)[first:last]))

    def select(self, mask: bytearray, base: int) -> Column:
        return column_of("I", np.flatnonzero(np.frombuffer(mask, bool)) + base)

    def count_by(self, column: Column, rows: Column | None) -> dict[int, int]:
        values = values_of(column) if rows is None else values_of(column)[values_of(rows)]
        if values.max(initial=0) <= len(values) + _SPARSE:
            counts = np.bincount(values.astype(np.intp, copy=False))
            distinct = np.flatnonzero(counts)
            return dict(zip(distinct.tolist(), counts[distinct].tolist(), strict=True))
        distinct, counts = np.unique(values, return_counts=True)
        return dict(zip(distinct.tolist(), counts.tolist(), strict=True))

    def distinct(self, columns: Sequence[Column]) -> Column:
        found = np.zeros(max((int(values_of(column).max()) for column in columns if column), default=-1) + 1, bool)
        for column in columns:
            found[values_of(column)] = True
        return column_of("I", np.flatnonzero(found))

    def order(self, column: Column) -> Column:
        return column_of("I", values_of(column).argsort(kind="stable"))

    def lookup(self, sorted_column: Column, values: Column) -> Column:
        return column_of("I", values_of(sorted_column).searchsorted(values_of(values)))

    def fold(self, numbers: Column, shown: bytearray, breaks: Column) -> Folded:
        if 0 not in shown:
            return Folded(array("B", bytes(len(numbers))), numbers, numbers)
        flags, all_numbers = np.frombuffer(shown, bool), values_of(numbers)
        begins = flags.copy()
        begins[1:] |= flags[:-1]
        if numbers[-1] - numbers[0] != len(numbers) - 1:
            begins[1:] |= np.diff(all_numbers) != 1
        begins[values_of(breaks)] = True
        begins[0] = True
        rows = np.flatnonzero(begins)
        lengths = np.diff(rows, append=len(numbers)).astype(np.uint32)
        firsts, is_shown = all_numbers[rows], flags[rows]
        return Folded(
            column_of("B", ~is_shown),
            column_of("I", np.where(is_shown, firsts, lengths)),
            column_of("I", firsts + lengths - np.uint32(1)),
        )

    def number_runs(self, flags: bytearray, breaks: Column, number: int, in_run: bool) -> Column:
        if not flags:
            return array("I")
        is_set, starts = np.frombuffer(flags, bool), values_of(breaks)
        begins = is_set.copy()
        begins[1:] &= ~is_set[:-1]
        begins[0] &= not in_run
        begins[starts] = is_set[starts]
        begun = begins.cumsum()
        first = int(starts[0]) if len(starts) else len(begun)
        begun_before = begun[starts] - begins[starts]
        begun[:first] += number
        begun[first:] -= begun_before.repeat(np.diff(starts, append=np.uint32(len(begun))))
        return column_of("I", begun.clip(1))

    def borders(self, column: Column, breaks: Column, before: int) -> Borders:
        values, starts = values_of(column), values_of(breaks)
        if not values[starts].all():
            values = values.copy()
            values[starts] = values[starts].clip(1)
        rows = None if values.all() else np.flatnonzero(values)
        known = values if rows is None else values[rows]
        begins: Flags = np.empty(len(known), bool)
        begins[:1] = known[:1] != before
        np.not_equal(known[1:], known[:-1], out=begins[1:])
        begins[starts if rows is None else rows.searchsorted(starts)] = True
        found = np.flatnonzero(begins)
        return Borders(column_of("I", found if rows is None else rows[found]), column_of("I", known[found]))

    def count_byte(self, data: bytes, byte: int, cuts: Sequence[int]) -> list[int]:
        accelerator = native.load()
        if accelerator is not None:
            return array("q", accelerator.counts(data, bytes((byte,)), array("q", cuts).tobytes())).tolist()
        found = np.frombuffer(data, np.uint8) == byte
        return [int(np.count_nonzero(found[start:end])) for start, end in pairwise(cuts)]

    def fill_table(self, entries: Column, hashes: Column, values: Column, new_hashes: Column) -> None:
        accelerator = native.load()
        if accelerator is not None:
            accelerator.fill_table(entries, hashes, values, new_hashes)
            return
        if len(values) < _FEW:
            _PLAIN.fill_table(entries, hashes, values, new_hashes)
            return
        known, mask = values_of(entries), np.uint32(len(entries) - 1)
        left, new = values_of(values), values_of(new_hashes)
        slots, added = new & mask, values_of(hashes)
        while len(left):
            free = np.flatnonzero(known[slots] == 0)
            known[slots[free]] = left[free]  # if several values compete for a slot, the last one gets it
            got = free[known[slots[free]] == left[free]]
            added[slots[got]] = new[got]
            waits = np.ones(len(left), bool)
            waits[got] = False
            left, new, slots = left[waits], new[waits], slots[waits] + np.uint32(1) & mask

    def find_hashes(self, entries: Column, hashes: Column, wanted: Column) -> bytearray:
        accelerator = native.load()
        if accelerator is not None:
            return bytearray(accelerator.find_hashes(entries, hashes, wanted))
        known, mask = values_of(entries), np.uint32(len(entries) - 1)
        all_hashes, left = values_of(hashes), values_of(wanted)
        found, rows, slots = np.zeros(len(left), bool), np.arange(len(left)), left & mask
        while len(rows):
            is_used = known[slots] != 0
            is_same = is_used & (all_hashes[slots] == left)
            found[rows[is_same]] = True
            waits = is_used & ~is_same
            rows, left, slots = rows[waits], left[waits], slots[waits] + np.uint32(1) & mask
        return bytearray(found)
