"""Open the tables of a scan for an audience, as views in a locked DuckDB database.

tables = open_tables("runs.tables", debug=False)      # refuses a .DEBUG directory without debug
with connect(tables) as database:
    database.execute("select path from files where errors > 0").fetchall()
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from viewer.corpus.store import LocalStore, ObjectStore, is_url, open_store
from viewer.corpus.tables import DEBUG_SUFFIX, DESCRIPTION, OF_FILES, TABLES, Contents, read_description
from viewer.errors import ViewerError

if TYPE_CHECKING:
    import duckdb

MEMORY = "512MB"
_PARQUET = ".parquet"
_SETTINGS = (
    "set enable_external_access=false",
    "set autoinstall_known_extensions=false",
    "set autoload_known_extensions=false",
    "set python_enable_replacements=false",
    "set lock_configuration=true",
)
"""The settings that lock DuckDB, applied in this order after the spill folder and the memory limit are set."""
_PATTERN = re.compile(r"[*?\[\]]")
_SQL_TYPES = {
    "string": "varchar",
    "dict": "varchar",
    "int64": "bigint",
    "int32": "integer",
    "double": "double",
    "bool": "boolean",
}
_PARTS = "_parts"
"""The suffix of the raw tables, which also contain superseded rows and rows that a killed scan left behind."""


class Tables(Struct, frozen=True):
    """The tables of a directory, opened for the audience they were written for."""

    store: LocalStore | ObjectStore
    contents: Contents
    is_compact: bool = False

    @property
    def place(self) -> str:
        """The path or URL of the directory."""
        return self.store.place

    def parts(self, name: str) -> list[str] | None:
        """Return the paths of all parts of a table, or None in an object store."""
        if not isinstance(self.store, LocalStore):
            return None
        root = os.path.abspath(self.store.place)
        return [os.path.join(root, part) for part in self.store.names(name) if part.endswith(_PARQUET)]


def open_tables(place: str, *, debug: bool = False) -> Tables:
    """Open the tables of a directory. Revealed tables require `debug`, because saved data must never be revealed by
    default."""
    store = open_store(place)
    data = store.read(DESCRIPTION)
    if data is None:
        is_missing = not is_url(place) and not os.path.exists(place)
        raise ViewerError(f"{place} does not exist" if is_missing else f"{place} contains no `ocmlview scan` tables")
    found = read_description(data, place)
    is_revealed = bool(found.contents.reveal) or place.rstrip("/").endswith(DEBUG_SUFFIX)
    if is_revealed and not debug:
        raise ViewerError(f"{place} contains {found.contents.view}; add -d to read it")
    return Tables(store, found.contents, found.is_compact)


@contextmanager
def connect(tables: Tables, memory: str = MEMORY, spill: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a locked DuckDB database with the views `files`, `messages`, `calls`, `diagnostics`, and `runs`.

    A table without rows becomes an empty view with its columns. DuckDB writes only to a private spill folder, which is
    removed at the end. A caller in another process passes its own folder as `spill`, and removes it."""
    parts = {name: tables.parts(name) for name in TABLES}
    is_readable = all(map(_is_readable, parts.values()))
    duckdb = load_duckdb(is_whole=not is_readable)
    temporary = spill or tempfile.mkdtemp(prefix="ocmlview-")
    database = duckdb.connect(":memory:", config={"temp_directory": temporary, "threads": 2})
    try:
        try:
            database.execute("set memory_limit = $1", [memory])
        except duckdb.Error:
            raise ViewerError(f"--memory: {memory} is not a size such as 512MB or 4GB") from None
        for name, paths in parts.items():
            if is_readable:
                _add_parts(database, tables.contents, name, paths or [])
            else:
                database.register(f"{name}{_PARTS}", dataset_of(tables, name))
        database.execute("set allowed_paths = $1", [[path for paths in parts.values() for path in paths or []]])
        for name in ("files", "runs", *OF_FILES):  # the views in `OF_FILES` refer to `files`
            database.execute(f"create view {name} as {view_of(name, is_compact=tables.is_compact)}")
        for setting in _SETTINGS:
            database.execute(setting)
        yield database
    finally:
        database.close()
        if spill is None:
            shutil.rmtree(temporary, ignore_errors=True)


def load_duckdb(*, is_whole: bool = False) -> Any:
    """Return the DuckDB module: only the engine or, with `is_whole`, the whole package, which can also read pyarrow
    datasets but takes four times as long to import."""
    with suppress(ImportError):
        import _duckdb

        if not is_whole and hasattr(_duckdb, "connect"):
            return _duckdb
    import duckdb

    return duckdb


def _is_readable(paths: list[str] | None) -> bool:
    """True if DuckDB itself can read these parts. It cannot if a path looks like a glob pattern, or in an object
    store."""
    return paths is not None and not any(_PATTERN.search(path) for path in paths[:1])


def _add_parts(database: duckdb.DuckDBPyConnection, contents: Contents, name: str, paths: list[str]) -> None:
    """Add the raw table of these parts. DuckDB reads them itself, because importing pyarrow takes longer than most
    queries."""
    if paths:
        quoted = ", ".join("'{}'".format(path.replace("'", "''")) for path in paths)
        database.execute(
            f"create view {name}{_PARTS} as select * from read_parquet([{quoted}], hive_partitioning = false)"
        )
        return
    columns = ", ".join(f'null::{_SQL_TYPES[each.type]} as "{each.name}"' for each in contents.columns(name))
    database.execute(f"create view {name}{_PARTS} as select {columns} where false")


def view_of(name: str, *, is_compact: bool = False) -> str:
    """Return the query of a view. The view `files` selects the newest row of each path; `runs` selects all rows; and
    every other view selects the rows that belong to the selected files."""
    if is_compact or name == "runs":
        return f"select * from {name}{_PARTS}"
    if name == "files":
        return (
            f"select * from files{_PARTS} qualify row_number() over "
            "(partition by path order by scanned_ms desc, part desc, file_key desc) = 1"
        )
    assert name in OF_FILES
    return f"select * from {name}{_PARTS} where (part, file_key) in (select (part, file_key) from files)"


def current_files(tables: Tables, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    """Read the rows that the view `files` selects, with their keys and these columns, without DuckDB."""
    newest: dict[str, dict[str, Any]] = {}
    for batch in dataset_of(tables, "files").to_batches(columns=["file_key", "part", "path", "scanned_ms", *columns]):
        for row in batch.to_pylist():
            known = newest.get(row["path"])
            if known is None or _rank(row) > _rank(known):
                newest[row["path"]] = row
    return list(newest.values())


def _rank(row: dict[str, Any]) -> tuple[int, str, str]:
    return row["scanned_ms"], row["part"], row["file_key"]


def dataset_of(tables: Tables, name: str) -> Any:
    """Return all parts of a table as one dataset, which is read on demand."""
    import pyarrow.dataset as ds

    files, root = tables.store.dataset_at()
    schema = schema_of(tables.contents, name)
    parts = [f"{root}/{part}" for part in tables.store.names(name) if part.endswith(_PARQUET)]
    return ds.dataset(parts, schema=schema, format="parquet", filesystem=files)


def schema_of(contents: Contents, name: str) -> Any:
    """Return the pyarrow schema of a table in a directory with these contents."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "dict": pa.dictionary(pa.int32(), pa.string()),
        "int64": pa.int64(),
        "int32": pa.int32(),
        "double": pa.float64(),
        "bool": pa.bool_(),
    }
    return pa.schema([(column.name, types[column.type]) for column in contents.columns(name)])
