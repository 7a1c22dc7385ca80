"""Read a batch, including members of tar archives, and write one Parquet part per table. The part of `files` comes
last, because it commits the others."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial
from io import BufferedReader, RawIOBase
from typing import Any, cast

import msgspec
from msgspec import Struct

from viewer import __version__
from viewer.corpus.listing import MEMBER, Batch, Entry, Keyed
from viewer.corpus.rows import Columns, FileRows, Row, failed_rows, read_rows
from viewer.corpus.store import LocalStore, ObjectStore, file_system, is_url, open_store
from viewer.corpus.tables import OF_FILES, TABLES, Contents, FileState
from viewer.corpus.views import schema_of
from viewer.sources.files import Source, open_stream
from viewer.sources.limits import Limits, load_limits_with

METADATA = b"ocmlview"
"""The key in the Parquet metadata of a part. Its value describes the contents of the directory."""


class Job(Struct, frozen=True):
    """Everything that a worker needs besides its batch."""

    place: str
    contents: Contents
    run_id: str
    max_size: int


class Outcome(Struct, frozen=True):
    """The outcome of a batch: counts only, never rows."""

    files: int
    size: int
    states: dict[str, int]
    errors: int
    warnings: int
    codes: dict[str, int]
    """The number of errors and warnings by code."""
    seconds: float = 0.0
    """The CPU time in seconds."""
    written: int = 0
    """The size of the parts in bytes."""


def do_batch(batch: Batch, job: Job) -> Outcome:
    """Read the files of a batch, write its parts, and return the outcome."""
    began = time.process_time()
    load_limits_with(lambda: Limits(max_decompressed=job.max_size, max_spool=max(job.max_size, 1)))
    found = [read_entry(each.entry, job.contents, job.max_size) for each in batch.files]
    outcome = write_parts(batch, job, found)
    return msgspec.structs.replace(outcome, seconds=time.process_time() - began)


def write_failed(batch: Batch, job: Job, state: FileState) -> Outcome:
    """Write rows for files that killed their worker or took too long, without opening the files."""
    return write_parts(batch, job, [failed_rows(state) for _ in batch.files])


def read_entry(entry: Entry, contents: Contents, max_size: int) -> FileRows:
    """Read the rows of a listed file, object in a store, or archive member."""
    if entry.fault:
        return failed_rows(FileState.UNREADABLE, entry.fault)
    if entry.start is None and not is_url(entry.path):
        return read_rows(entry.path, contents, max_size)
    if entry.size > max_size:
        return failed_rows(FileState.TOO_LARGE)
    open = open_remote if entry.start is None else partial(_open_member, entry)
    return read_rows(entry.path, contents, max_size, open)


def _open_member(entry: Entry, path: str) -> Source:
    """Open a member of a tar archive. Its bytes are read once."""
    archive = path.partition(MEMBER)[0]
    if is_url(archive):
        files, inside = file_system(archive)
        stream = files.open_input_file(inside)
    else:
        stream = open(archive, "rb")  # noqa: SIM115 (the source closes it)
        if os.fstat(stream.fileno()).st_mtime_ns // 10**6 != entry.mtime_ms:
            stream.close()
            raise OSError("the archive has changed since it was listed")
    stream.seek(entry.start)
    return open_stream(path, cast("BufferedReader", BufferedReader(_Part(stream, entry.size))))


class _Part(RawIOBase):
    """A stream of the next `size` bytes of another stream."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream = stream
        self._left = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self._left))
        buffer[: len(data)] = data
        self._left -= len(data)
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def open_remote(url: str) -> Source:
    """Open an object in an object store. Its bytes are read once."""
    files, path = file_system(url)
    return open_stream(url, cast("BufferedReader", BufferedReader(files.open_input_file(path))))


def write_parts(batch: Batch, job: Job, found: list[FileRows]) -> Outcome:
    """Write the rows of a batch, and return its outcome."""
    part = batch.part
    tables = table_columns(list(zip(batch.files, found, strict=True)), job.contents, part, job.run_id)
    store = open_store(job.place, private=bool(job.contents.reveal))
    written = sum(write_part(store, job.contents, name, part, each) for name, each in tables.items() if row_count(each))
    codes: Counter[str] = Counter()
    for each in found:
        codes.update(each.codes)
    listed = tables["files"]
    return Outcome(
        len(found),
        batch.size,
        dict(Counter(listed["state"])),
        sum(listed["errors"]),
        sum(listed["warnings"]),
        dict(codes),
        written=written,
    )


def table_columns(
    found: list[tuple[Keyed, FileRows]], contents: Contents, part: str, run_id: str
) -> dict[str, Columns]:
    """Return the columns of all tables, with `files` last."""
    tables: dict[str, Columns] = {}
    for name in OF_FILES:
        columns = tables[name] = {column.name: [] for column in contents.columns(name)}
        for file, rows in found:
            made = rows.messages if name == "messages" else columns_of(contents, name, getattr(rows, name))
            count = row_count(made)
            for key, values in columns.items():
                values += (
                    [file.key] * count if key == "file_key" else [part] * count if key == "part" else made.get(key, [])
                )
    now = time.time_ns() // 10**6
    listed = [
        {
            **rows.file,
            "file_key": file.key,
            "part": part,
            "path": file.entry.name,
            "size": file.entry.size,
            "mtime_ms": file.entry.mtime_ms,
            "scanned_ms": now,
            "tool_version": __version__,
            "run_id": run_id,
            "content_hash": file.entry.content_hash,
        }
        for file, rows in found
    ]
    tables["files"] = columns_of(contents, "files", listed)
    return tables


def columns_of(contents: Contents, table: str, rows: list[Row]) -> Columns:
    """Convert rows of a table to columns. Missing values become None."""
    return {column.name: [row.get(column.name) for row in rows] for column in contents.columns(table)}


def row_count(columns: Columns) -> int:
    """Return the number of rows."""
    return len(next(iter(columns.values()), ()))


def write_part(store: LocalStore | ObjectStore, contents: Contents, table: str, part: str, columns: Columns) -> int:
    """Write one part of a table and return its size in bytes."""
    data = encode_part(contents, table, columns)
    store.write(f"{table}/{part}.parquet", data)
    return len(data)


def encode_part(contents: Contents, table: str, columns: Columns) -> bytes:
    """Encode the rows of a table as Parquet, with the description of the directory in the metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(contents, table).with_metadata({METADATA: msgspec.json.encode(contents)})
    arrays = [pa.array(columns[field.name], _plain(field.type)) for field in schema]
    plain = pa.Table.from_arrays(arrays, schema.names)
    sink = pa.BufferOutputStream()
    dictionary = [column.name for column in TABLES[table] if column.type == "dict"]
    with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=dictionary) as writer:
        writer.write_table(plain.cast(schema))
    return bytes(sink.getvalue())


def _plain(type: Any) -> Any:
    import pyarrow as pa

    return pa.string() if pa.types.is_dictionary(type) else type
