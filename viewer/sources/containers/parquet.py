"""Read the rows of Parquet files as JSON lines, batch by batch, with only the columns that training rows use."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
from typing import Any

from viewer.errors import ViewerError
from viewer.formats.engine.paths import names_read
from viewer.formats.tables.rows import ROWS
from viewer.index.one_transcript import item_number
from viewer.sources.containers.parts import DAMAGED, PartFault, Parts

ROWS_AT_ONCE = 64
MOST_COLUMNS = 10_000
MOST_NAMED = 10_000
"""The maximum number of rows that are listed by number."""
_MISSING = 'Parquet needs the extra "parquet": pip install "ocmlview[parquet]"'


def listed_as(path: str) -> str:
    """Return the format of a readable file with columns of training rows, or an empty string for any other file."""
    if importlib.util.find_spec("pyarrow") is None:
        return ""
    try:
        return ROWS.name if _columns(_open(path)) else ""
    except ViewerError:
        return ""


def read_parquet(path: str, item: str) -> Parts:
    """Return all rows, or the row with the number in the item name."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ViewerError(f"{path}: {_MISSING}")
    file = _open(path)
    columns = _columns(file)
    if not columns:
        raise ViewerError(f"{path} has no column of messages; `ocmlview formats` lists the known formats")
    number = item_number(item)
    if item and not number:
        raise ViewerError(f"{path}: specify a row by number, such as {path}:1")
    count = file.metadata.num_rows
    if number > count:
        raise ViewerError(f"{path} has no row {number:,}: the last one is {count:,}")
    return _rows(file, columns, number)


def items(path: str) -> list[str]:
    """Return the row numbers, up to `MOST_NAMED`; none if pyarrow is not installed."""
    if importlib.util.find_spec("pyarrow") is None:
        return []
    return [str(number) for number in range(1, min(_open(path).metadata.num_rows, MOST_NAMED) + 1)]


def _open(path: str) -> Any:
    parquet = importlib.import_module("pyarrow.parquet")  # an extra, and slow to load
    try:
        return parquet.ParquetFile(path, memory_map=False, pre_buffer=False)
    except _faults():
        raise ViewerError(f"{path}: this Parquet file is damaged") from None


def _faults() -> tuple[type[BaseException], ...]:
    """Return the exceptions that reading a damaged file may raise."""
    arrow = importlib.import_module("pyarrow").ArrowException
    return arrow, OSError, ValueError, OverflowError, RecursionError


def _columns(file: Any) -> list[str]:
    """Return the columns that the rules for training rows read; none if the file has too many columns."""
    read = {*names_read(ROWS), "text"}
    names = file.schema_arrow.names
    return [name for name in names if name in read] if len(names) <= MOST_COLUMNS else []


def _rows(file: Any, columns: list[str], number: int) -> Parts:
    """Yield the lines of all rows, or of the row with this number."""
    try:
        groups, skipped = _groups_from(file, number)
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, row_groups=groups, columns=columns, use_threads=False):
            if number and skipped + batch.num_rows < number:
                skipped += batch.num_rows
                continue
            for row in batch.slice(number - skipped - 1, 1).to_pylist() if number else batch.to_pylist():
                yield json.dumps(_plain(row), separators=(",", ":")).encode() + b"\n"
            if number:
                return
    except _faults():
        yield PartFault(DAMAGED)


def _groups_from(file: Any, number: int) -> tuple[list[int], int]:
    """Return the row groups to read, and the number of rows before them."""
    skipped = 0
    count = file.num_row_groups
    for group in range(count) if number else ():
        rows = file.metadata.row_group(group).num_rows
        if skipped + rows >= number:
            return [group], skipped
        skipped += rows
    return list(range(count)), 0


def _plain(value: object) -> object:
    """Convert a value to JSON types. Null members of a struct are omitted, because Parquet adds to each row the members
    that only other rows have."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if isinstance(value, bytes) else str(value)
