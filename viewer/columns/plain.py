"""Columns in plain Python: no slow import, and fast enough for a few thousand rows."""

from __future__ import annotations

import operator
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from itertools import compress, count, pairwise

from viewer import native
from viewer.columns.api import Borders, Column, Folded

SELDOM = 128
"""Searching for a byte is faster than counting it if at most one in this many bytes equals it."""

FEWEST_NATIVE = 16
"""The minimum number of entries of a hash table that are added or looked up with the accelerator."""


class PlainColumns:
    """The operations of `Columns`, row by row. The accelerator, if it is available, handles bytes and hash tables."""

    name = "plain"

    def sequence(self, first: int, last: int) -> Column:
        return array("I", range(first, last))

    def take(self, column: Column, rows: Column) -> Column:
        return array(column.typecode, map(column.__getitem__, rows))

    def put(self, values: Column, rows: Column, length: int) -> Column:
        column = array(values.typecode, bytes(values.itemsize * length))
        for row, value in zip(rows, values, strict=True):
            column[row] = value
        return column

    def insert(self, column: Column, rows: Column, values: Column) -> Column:
        result = array(column.typecode)
        at = 0
        for row, value in zip(rows, values, strict=True):
            result.extend(column[at:row])
            result.append(value)
            at = row
        result.extend(column[at:])
        return result

    def add(self, column: Column, other: Column | int) -> Column:
        if isinstance(other, int):
            return array(column.typecode, [value + other for value in column])
        return array(column.typecode, map(operator.add, column, other))

    def subtract(self, column: Column, other: Column) -> Column:
        return array(column.typecode, map(operator.sub, column, other))

    def smaller_and_larger(self, left: Column, right: Column) -> tuple[Column, Column]:
        return array(left.typecode, map(min, left, right)), array(left.typecode, map(max, left, right))

    def where(self, column: Column, values: Set[int], first: int, last: int) -> Column:
        return array("I", compress(count(first), map(values.__contains__, column[first:last])))

    def mask(self, ids: Column, allowed: bytes | bytearray, first: int, last: int) -> bytearray:
        return bytearray(map(allowed.__getitem__, ids[first:last]))

    def select(self, mask: bytearray, base: int) -> Column:
        return array("I", compress(count(base), mask))

    def count_by(self, column: Column, rows: Column | None) -> dict[int, int]:
        return Counter(column if rows is None else map(column.__getitem__, rows))

    def distinct(self, columns: Sequence[Column]) -> Column:
        return array("I", sorted({value for column in columns for value in column}))

    def order(self, column: Column) -> Column:
        return array("I", sorted(range(len(column)), key=column.__getitem__))

    def lookup(self, sorted_column: Column, values: Column) -> Column:
        return array("I", [bisect_left(sorted_column, value) for value in values])

    def fold(self, numbers: Column, shown: bytearray, breaks: Column) -> Folded:
        if 0 not in shown:
            return Folded(array("B", bytes(len(numbers))), numbers, numbers)
        kinds, values, lasts = array("B"), array("I"), array("I")
        starts = set(breaks)
        in_run = False
        for row, (number, is_shown) in enumerate(zip(numbers, shown, strict=True)):
            if in_run and not is_shown and lasts[-1] == number - 1 and row not in starts:
                values[-1] += 1
                lasts[-1] = number
                continue
            in_run = not is_shown
            kinds.append(in_run)
            values.append(number if is_shown else 1)
            lasts.append(number)
        return Folded(kinds, values, lasts)

    def number_runs(self, flags: bytearray, breaks: Column, number: int, in_run: bool) -> Column:
        starts = set(breaks)
        numbers = array("I")
        for row, flag in enumerate(flags):
            if starts and row in starts:
                number, in_run = 0, False
            if flag and not in_run:
                number += 1
            in_run = bool(flag)
            numbers.append(number or 1)
        return numbers

    def borders(self, column: Column, breaks: Column, before: int) -> Borders:
        borders = Borders(array("I"), array("I"))
        starts = set(breaks)
        for row, value in enumerate(column):
            if row in starts:
                value, before = value or 1, 0
            if value and value != before:
                borders.rows.append(row)
                borders.values.append(value)
                before = value
        return borders

    def count_byte(self, data: bytes, byte: int, cuts: Sequence[int]) -> list[int]:
        accelerator = native.load()
        if accelerator is not None:
            return array("q", accelerator.counts(data, bytes((byte,)), array("q", cuts).tobytes())).tolist()
        return [_count(data, byte, start, end) for start, end in pairwise(cuts)]

    def fill_table(self, entries: Column, hashes: Column, values: Column, new_hashes: Column) -> None:
        accelerator = native.load() if len(values) >= FEWEST_NATIVE else None
        if accelerator is not None:
            accelerator.fill_table(entries, hashes, values, new_hashes)
            return
        mask = len(entries) - 1
        for value, new in zip(values, new_hashes, strict=True):
            slot = new & mask
            while entries[slot]:
                slot = (slot + 1) & mask
            entries[slot], hashes[slot] = value, new

    def find_hashes(self, entries: Column, hashes: Column, wanted: Column) -> bytearray:
        accelerator = native.load() if len(wanted) >= FEWEST_NATIVE else None
        if accelerator is not None:
            return bytearray(accelerator.find_hashes(entries, hashes, wanted))
        mask = len(entries) - 1
        found = bytearray(len(wanted))
        for row, each in enumerate(wanted):
            slot = each & mask
            while entries[slot] and hashes[slot] != each:
                slot = (slot + 1) & mask
            found[row] = entries[slot] > 0
        return found


def _count(data: bytes, byte: int, start: int, end: int) -> int:
    """Return how many times a byte occurs between two indexes."""
    count, most, find = 0, (end - start) // SELDOM, data.find
    at = find(byte, start, end)
    while at >= 0:
        if count == most:
            return count + data.count(byte, at, end)
        count += 1
        at = find(byte, at + 1, end)
    return count
