"""Compact a directory: merge small parts into large ones, and drop superseded rows."""

from __future__ import annotations

import secrets
from typing import Any

import msgspec
from msgspec import Struct

from viewer.corpus.part import METADATA
from viewer.corpus.scan import Directory
from viewer.corpus.tables import OF_FILES, TABLES
from viewer.corpus.views import connect, load_duckdb, schema_of

PART_ROWS = {"files": 2_000_000, "messages": 20_000_000, "calls": 10_000_000, "diagnostics": 10_000_000}
"""The approximate number of rows in a merged part of each table, about 256 MB."""


class Merged(Struct, frozen=True):
    """The number of parts before and after merging."""

    before: int
    after: int


def compact_directory(directory: Directory) -> Merged:
    """Write the current rows to a few large parts, commit these parts, and then remove the old ones.

    All merged rows refer to one new part, so a reader sees either the old rows of a file or the new ones: until the
    merged part of `files` exists, the merged rows are orphans; from then on, they are the newest rows of each path."""
    store = directory.store
    old = {name: store.names(name) for name in ("files", *OF_FILES)}
    before = sum(map(len, old.values()))
    if not old["files"]:
        return Merged(before, before)
    part = secrets.token_hex(16)
    kept: set[str] = set()
    load_duckdb(is_whole=True)  # for the Arrow reader
    with connect(directory.tables, memory="2GB") as database:
        for table in (*OF_FILES, "files"):
            columns = ", ".join(
                f"'{part}' as part" if column.name == "part" else f'"{column.name}"'
                for column in directory.contents.columns(table)
            )
            order = "path" if table == "files" else "file_key"
            query = f"select {columns} from {table} order by {order}"
            reader = database.sql(query).to_arrow_reader(100_000)
            kept |= set(_write_merged(directory, table, part, reader))
    for table in ("files", *OF_FILES):
        for name in old[table]:
            store.remove(name)
    directory.describe(is_compact=True)  # last, because the views then stop looking for newer rows
    return Merged(before, len(kept))


def _write_merged(directory: Directory, table: str, part: str, reader: Any) -> list[str]:
    """Write the rows of a table to a few parts and return the names of these parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(directory.contents, table)
    schema = schema.with_metadata({METADATA: msgspec.json.encode(directory.contents)})
    dictionary = [column.name for column in TABLES[table] if column.type == "dict"]
    written: list[str] = []
    waiting: list[Any] = []

    def flush() -> None:
        sink = pa.BufferOutputStream()
        with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=dictionary) as writer:
            writer.write_table(pa.Table.from_batches(waiting).cast(schema))
        name = f"{table}/{part}.parquet" if not written else f"{table}/{part}-{len(written)}.parquet"
        directory.store.write(name, bytes(sink.getvalue()))
        written.append(name)
        waiting.clear()

    rows = 0
    for batch in reader:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= PART_ROWS[table]:
            flush()
            rows = 0
    if waiting and rows:
        flush()
    return written
