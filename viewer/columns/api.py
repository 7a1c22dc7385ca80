"""`Columns`, the one interface to columns, which are typed arrays.

Every column is an `array.array`, whichever backend made it: NumPy and C view it without a copy, so the backend of a
document can change while its columns are kept. A mask is a `bytearray` with one byte per row, 0 or 1."""

from __future__ import annotations

from array import array
from collections.abc import Sequence, Set
from typing import Protocol, TypeAlias

from msgspec import Struct

Column: TypeAlias = "array[int]"


class Folded(Struct, frozen=True):
    """Numbers folded into rows: each row is one shown number or a run of hidden numbers."""

    kinds: Column
    """The kind of each row: 0 for a shown number, 1 for a run."""
    values: Column
    """The shown number of each row, or the length of its run."""
    lasts: Column
    """The last number in each row."""


class Borders(Struct, frozen=True):
    """The rows at which a value changes, each with its new value."""

    rows: Column
    values: Column


class Columns(Protocol):
    """Operations on columns. Backends differ in speed only.

    Rows are numbered from 0. A range includes `first` and excludes `last`. Columns of row numbers have the type code
    `I`."""

    name: str

    def sequence(self, first: int, last: int) -> Column:
        """Return the numbers from `first` up to, but not including, `last`."""

    def take(self, column: Column, rows: Column) -> Column:
        """Return the values at these rows."""

    def put(self, values: Column, rows: Column, length: int) -> Column:
        """Return a column of this length with these values at these rows, and 0 elsewhere."""

    def insert(self, column: Column, rows: Column, values: Column) -> Column:
        """Return the column with each value inserted before its row. The rows must ascend."""

    def add(self, column: Column, other: Column | int) -> Column:
        """Return the sums of two columns, or of a column and a number, with the type code of the first."""

    def subtract(self, column: Column, other: Column) -> Column:
        """Return the differences of two columns, with the type code of the first."""

    def smaller_and_larger(self, left: Column, right: Column) -> tuple[Column, Column]:
        """Return the smaller and the larger value of each pair."""

    def where(self, column: Column, values: Set[int], first: int, last: int) -> Column:
        """Return the rows of a range with a value that is in the set."""

    def mask(self, ids: Column, allowed: bytes | bytearray, first: int, last: int) -> bytearray:
        """Return a mask: for each row in the range, the byte of `allowed` at the row's ID."""

    def select(self, mask: bytearray, base: int) -> Column:
        """Return the rows with a set flag. The first flag belongs to row `base`."""

    def count_by(self, column: Column, rows: Column | None) -> dict[int, int]:
        """Return how often each value occurs in these rows, or in all rows if `rows` is None."""

    def distinct(self, columns: Sequence[Column]) -> Column:
        """Return the distinct values of these columns, sorted."""

    def order(self, column: Column) -> Column:
        """Return the rows sorted by value; equal values keep their order."""

    def lookup(self, sorted_column: Column, values: Column) -> Column:
        """Return, for each value, the first row of the sorted column whose value is not smaller."""

    def fold(self, numbers: Column, shown: bytearray, breaks: Column) -> Folded:
        """Fold ascending numbers into rows. A run contains only adjacent numbers and never crosses a break: a row
        where a new run must begin."""

    def number_runs(self, flags: bytearray, breaks: Column, number: int, in_run: bool) -> Column:
        """Return, for each row, the number of the latest run of set flags; 1 before the first run.

        `number` is the number of the latest run so far, 0 for none; `in_run` is true if that run continues. At a
        break, a run ends and the numbering starts again."""

    def borders(self, column: Column, breaks: Column, before: int) -> Borders:
        """Return the rows whose value differs from the previous row's, and all breaks.

        The value 0 repeats the previous row's value, and means 1 at a break. `before` is the value before the first
        row."""

    def count_byte(self, data: bytes, byte: int, cuts: Sequence[int]) -> list[int]:
        """Count how many times a byte occurs between each pair of adjacent cuts."""

    def fill_table(self, entries: Column, hashes: Column, values: Column, new_hashes: Column) -> None:
        """Add these values, none of which is 0, to an open hash table with linear probing. A free slot has the value 0.
        The size of the table is a power of two, and at least one slot stays free."""

    def find_hashes(self, entries: Column, hashes: Column, wanted: Column) -> bytearray:
        """Return a mask of these hashes: 1 if a table that `fill_table` filled contains a value with the hash,
        otherwise 0."""
