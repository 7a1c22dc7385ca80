"""Every backend returns the columns that the definition of an operation requires, even for one row or none."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from msgspec.structs import astuple

from viewer.columns.api import Column, Columns
from viewer.columns.numpy_backend import NumpyColumns
from viewer.columns.plain import PlainColumns

BACKENDS: list[Columns] = [PlainColumns(), NumpyColumns()]
SIZES = [0, 1, 1, 2, 3, 5, 8, 13, 40, 200]


def column(chance: Random, size: int, largest: int = 3, typecode: str = "I") -> Column:
    return array(typecode, (chance.randint(0, largest) for _ in range(size)))


def ascending(chance: Random, size: int, largest: int) -> Column:
    return array("I", sorted(chance.sample(range(largest), min(size, largest))))


def flags(chance: Random, size: int) -> bytearray:
    share = chance.choice((0, 0.1, 0.5, 0.9, 1))
    return bytearray(chance.random() < share for _ in range(size))


def sequence(columns: Columns, chance: Random, size: int) -> None:
    assert columns.sequence(7, 7 + size) == array("I", range(7, 7 + size))


def take(columns: Columns, chance: Random, size: int) -> None:
    for typecode in "BIQ":
        values = column(chance, size + 1, 200, typecode)
        rows = column(chance, chance.choice(SIZES), size)
        taken = columns.take(values, rows)
        assert (taken.typecode, list(taken)) == (typecode, [values[row] for row in rows])


def put(columns: Columns, chance: Random, size: int) -> None:
    rows = ascending(chance, size // 2, size)
    values = column(chance, len(rows), 9)
    expected = [0] * size
    for row, value in zip(rows, values, strict=True):
        expected[row] = value
    assert list(columns.put(values, rows, size)) == expected


def insert(columns: Columns, chance: Random, size: int) -> None:
    for typecode in "BI":
        values = column(chance, size, 9, typecode)
        rows = array("I", sorted(column(chance, chance.choice(SIZES), size)))
        inserted = array(typecode, range(len(rows)))
        expected = list(values)
        for row, value in reversed(list(zip(rows, inserted, strict=True))):
            expected.insert(row, value)
        assert list(columns.insert(values, rows, inserted)) == expected


def add(columns: Columns, chance: Random, size: int) -> None:
    large = array("Q", ((1 << 40) + chance.randrange(99) for _ in range(size)))
    small = column(chance, size, 99)
    assert columns.add(large, small) == array("Q", [one + other for one, other in zip(large, small, strict=True)])
    assert columns.add(large, -3) == array("Q", [value - 3 for value in large])
    bytes_ = column(chance, size, 255, "B")
    assert columns.subtract(large, bytes_) == array("Q", [one - two for one, two in zip(large, bytes_, strict=True)])


def smaller_and_larger(columns: Columns, chance: Random, size: int) -> None:
    left, right = column(chance, size, 9), column(chance, size, 9)
    expected = array("I", map(min, left, right)), array("I", map(max, left, right))
    assert columns.smaller_and_larger(left, right) == expected


def where(columns: Columns, chance: Random, size: int) -> None:
    for typecode in "BI":
        values = column(chance, size, 5, typecode)
        wanted = {chance.randint(0, 5) for _ in range(chance.choice((1, 3)))}
        first = chance.randint(0, size)
        last = chance.randint(first, size)
        found = [row for row in range(first, last) if values[row] in wanted]
        assert columns.where(values, wanted, first, last) == array("I", found)


def mask(columns: Columns, chance: Random, size: int) -> None:
    ids, allowed = column(chance, size, 9), bytearray(column(chance, 10, 2))
    first = chance.randint(0, size)
    last = chance.randint(first, size)
    assert columns.mask(ids, allowed, first, last) == bytearray(allowed[one] for one in ids[first:last])
    allowed.append(1)


def select(columns: Columns, chance: Random, size: int) -> None:
    chosen = flags(chance, size)
    assert columns.select(chosen, 5) == array("I", [row + 5 for row in range(size) if chosen[row]])


def count_by(columns: Columns, chance: Random, size: int) -> None:
    for largest, typecode in ((3, "B"), (3, "I"), (1 << 30, "I"), (1 << 50, "Q")):
        values = column(chance, size + 1, largest, typecode)
        rows = column(chance, chance.choice(SIZES), size)
        taken = [values[row] for row in rows]
        assert columns.count_by(values, rows) == {value: taken.count(value) for value in taken}
        assert columns.count_by(values, None) == {value: list(values).count(value) for value in values}


def distinct(columns: Columns, chance: Random, size: int) -> None:
    parts = [column(chance, chance.choice(SIZES), 50) for _ in range(chance.choice((0, 1, 3)))]
    parts.append(column(chance, size, 50))
    assert columns.distinct(parts) == array("I", sorted({value for part in parts for value in part}))


def order(columns: Columns, chance: Random, size: int) -> None:
    values = column(chance, size, chance.choice((3, 1 << 30)))
    assert columns.order(values) == array("I", sorted(range(size), key=lambda row: (values[row], row)))


def lookup(columns: Columns, chance: Random, size: int) -> None:
    known, values = ascending(chance, size, 300), column(chance, chance.choice(SIZES), 300)
    assert columns.lookup(known, values) == array("I", [bisect_left(known, value) for value in values])


def fold(columns: Columns, chance: Random, size: int) -> None:
    numbers = array("I", range(4, 4 + size)) if chance.random() < 0.5 else ascending(chance, size, 2 * size)
    shown, breaks = flags(chance, len(numbers)), ascending(chance, size // 5, len(numbers))
    rows: list[list[int]] = []
    for row, number in enumerate(numbers):
        joins = row and not shown[row] and not shown[row - 1] and numbers[row - 1] == number - 1 and row not in breaks
        if joins:
            rows[-1][1:] = [rows[-1][1] + 1, number]
        else:
            rows.append([1 - shown[row], number if shown[row] else 1, number])
    folded = columns.fold(numbers, shown, breaks)
    assert [part.typecode for part in astuple(folded)] == ["B", "I", "I"]
    assert [list(row) for row in zip(*astuple(folded), strict=True)] == rows


def number_runs(columns: Columns, chance: Random, size: int) -> None:
    set_, breaks = flags(chance, size), ascending(chance, size // 4, size)
    number, in_run = chance.choice(((0, False), (3, False), (3, True)))
    expected, now, is_in = [], number, in_run
    for row, flag in enumerate(set_):
        if row in breaks:
            now, is_in = 0, False
        now += bool(flag) and not is_in
        is_in = bool(flag)
        expected.append(max(1, now))
    assert columns.number_runs(set_, breaks, number, in_run) == array("I", expected)


def borders(columns: Columns, chance: Random, size: int) -> None:
    values, breaks = column(chance, size, chance.choice((1, 3))), ascending(chance, size // 4, size)
    before = chance.randint(0, 3)
    expected, now = [], before
    for row, value in enumerate(values):
        is_break = row in breaks
        value = value or (1 if is_break else now)
        if value and (is_break or value != now):
            expected.append((row, value))
        now = value
    found = columns.borders(values, breaks, before)
    assert list(zip(*astuple(found), strict=True)) == expected


def count_byte(columns: Columns, chance: Random, size: int) -> None:
    letters = b"a\nb\n" + b"a" * chance.choice((0, 400))
    data = bytes(chance.choice(letters) for _ in range(size))
    cuts = [0, *sorted(chance.randint(0, size) for _ in range(3)), size]
    assert columns.count_byte(data, 10, cuts) == [data[first:last].count(b"\n") for first, last in pairwise(cuts)]


def table(columns: Columns, chance: Random, size: int) -> None:
    """Fill a hash table in two steps, and look up hashes, some of which are absent and many of which share a slot."""
    free = 1 << (2 * size).bit_length()
    entries, hashes = array("I", bytes(4 * free)), array("I", bytes(4 * free))
    new = array("I", [chance.choice((chance.getrandbits(32), chance.randrange(free))) for _ in range(size)])
    values = array("I", range(1, size + 1))
    for first, last in ((0, size // 2), (size // 2, size)):
        columns.fill_table(entries, hashes, values[first:last], new[first:last])
    stored = [(entry, each) for entry, each in zip(entries, hashes, strict=True) if entry]
    assert sorted(stored) == list(zip(values, new, strict=True))
    wanted = array("I", [*new, *(chance.randrange(2 * free) for _ in range(9))])
    assert columns.find_hashes(entries, hashes, wanted) == bytearray(each in set(new) for each in wanted)


OPERATIONS: list[Callable[[Columns, Random, int], None]] = [
    sequence, take, put, insert, add, smaller_and_larger, where, mask, select, count_by, distinct, order, lookup,
    fold, number_runs, borders, count_byte, table,
]  # fmt: skip


@pytest.mark.share(quick=9)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.__name__)
@pytest.mark.parametrize("columns", BACKENDS, ids=lambda columns: columns.name)
def test_every_backend_implements_each_operation(
    columns: Columns, operation: Callable[[Columns, Random, int], None]
) -> None:
    chance = Random(operation.__name__)
    for size in SIZES * 12:
        operation(columns, chance, size)


def test_the_suite_has_every_operation() -> None:
    tested = {operation.__name__ for operation in OPERATIONS} - {"table"} | {"subtract", "fill_table", "find_hashes"}
    assert {name for name in vars(Columns) if not name.startswith("_")} == tested


@pytest.mark.parametrize("columns", BACKENDS, ids=lambda columns: columns.name)
def test_a_column_can_grow_after_an_operation(columns: Columns) -> None:
    values = array("I", [1, 2, 3])
    assert columns.take(values, array("I", [2])) == array("I", [3])
    assert columns.mask(values, bytearray(9), 0, 3) == bytearray(3)
    values.append(4)
