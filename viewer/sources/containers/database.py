"""Open SQLite databases of agents without creating, locking, or changing anything.

A hostile database can do only limited harm: only plain tables are read, and both value sizes and steps per row are
bounded."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from viewer.errors import ViewerError
from viewer.sources.containers.parts import LARGEST_TEXT
from viewer.sources.limits import limits

MOST_STEPS = 100_000_000
"""The maximum number of SQLite instructions per row."""
_STEPS_AT_ONCE = 100_000
_MOST_TABLES = 1000
_JOURNALS = ("-wal", "-journal")

Row = Sequence[object]


class Database:
    """A read-only database."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._steps = 0
        self._connection = _connect(path)
        self._connection.text_factory = bytes
        self._connection.set_progress_handler(self._step, _STEPS_AT_ONCE)
        for setting in (
            "query_only=ON",
            "trusted_schema=OFF",
            "cell_size_check=ON",
            "mmap_size=0",
            "temp_store=MEMORY",
        ):
            self._connection.execute(f"PRAGMA {setting}")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_TEXT)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)

    def _step(self) -> int:
        self._steps += _STEPS_AT_ONCE
        return self._steps > MOST_STEPS

    def rows(self, query: str, *values: object) -> Iterator[Row]:
        """Yield the rows of a query. Raise sqlite3.Error if they cannot be read."""
        self._steps = 0
        cursor = self._connection.execute(query, values)
        try:
            for row in cursor:
                yield row
                self._steps = 0
        finally:
            cursor.close()

    def columns(self) -> dict[str, frozenset[str]]:
        """Return the columns of each plain table. Views and virtual tables are omitted, because they can run arbitrary
        code."""
        query = f"SELECT name, sql FROM sqlite_master WHERE type = 'table' LIMIT {_MOST_TABLES}"
        try:
            found = [(_text(name), _text(sql)) for name, sql in self.rows(query)]
            plain = [name for name, sql in found if not sql.upper().startswith("CREATE VIRTUAL")]
            return {name: frozenset(self._columns(name)) for name in plain}
        except sqlite3.Error:
            raise ViewerError(f"{self.path}: this database is damaged") from None

    def _columns(self, table: str) -> Iterator[str]:
        """Yield the stored columns. Generated columns are omitted, because they can run arbitrary code."""
        for name, kind in self.rows("SELECT name, hidden FROM pragma_table_xinfo(?)", table):
            if kind == 0:
                yield _text(name)


def stamp_of(path: str) -> tuple[object, ...]:
    """Return the state of a database and of the journals next to it."""
    found: list[object] = [path]
    for ending in ("", *_JOURNALS):
        try:
            status = Path(path + ending).stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _connect(path: str) -> sqlite3.Connection:
    """Open the file itself or, if it has a journal, a copy of both. The copy is removed immediately."""
    try:
        if not any(_has_content(path + ending) for ending in _JOURNALS):
            return _open(path, "mode=ro&immutable=1")
        return _open_copy(path)
    except sqlite3.Error:
        raise ViewerError(f"{path}: this database cannot be opened") from None


def _has_content(path: str) -> bool:
    try:
        return Path(path).stat().st_size > 0
    except OSError:
        return False


def _open_copy(path: str) -> sqlite3.Connection:
    files = [path, *(path + ending for ending in _JOURNALS if _has_content(path + ending))]
    most = limits().max_spool
    if sum(Path(file).stat().st_size for file in files) > most:
        raise ViewerError(f"{path} is in use and too large to copy; close the program that is using it")
    folder = tempfile.mkdtemp(prefix="ocmlview-")  # mode 0700
    try:
        copy = str(Path(folder, "copy"))
        for file in files:
            shutil.copyfile(file, copy + file.removeprefix(path))
        merged = _open(copy, "mode=rw")
        merged.execute("PRAGMA journal_mode=DELETE")
        merged.close()
        connection = _open(copy, "mode=ro&immutable=1")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return connection
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _open(path: str, options: str) -> sqlite3.Connection:
    name = quote(str(Path(path).absolute()))
    return sqlite3.connect(f"file:{name}?{options}", uri=True, check_same_thread=False, isolation_level=None)


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")
