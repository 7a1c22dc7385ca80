"""Run one SQL query over the tables of a scan, in a separate process that can read nothing else."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any, cast

import msgspec

from viewer.corpus.views import MEMORY, Tables, connect, load_duckdb
from viewer.errors import ViewerError

ROWS_AT_ONCE = 1000
_EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*explain\b(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:analyze\b|analyse\b|\([^)]*\))?",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"\w+")
"""The name of a table. DuckDB interprets any other name, such as `a.csv`, as a file."""
_FUNCTIONS = frozenset({"unnest", "range", "generate_series", "repeat", "json_each", "json_tree", "duckdb_columns"})
"""The table functions that a query may call."""
_ONE_QUERY = "only one SELECT or EXPLAIN is allowed"


class QueryError(ViewerError):
    """A query failed. `lines` contains the rest of DuckDB's message: the quoted line of the query and a caret."""

    def __init__(self, sentence: str, lines: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.lines = lines


def run_query(
    tables: Tables,
    query: str,
    parameters: dict[str, Any] | None = None,
    *,
    timeout: float = 60.0,
    memory: str = MEMORY,
) -> Iterator[list[tuple[Any, ...]]]:
    """Run a query, and yield the column names as one row, then the rows in chunks.

    The process is killed after `timeout` seconds, or when the iterator is closed. Raise QueryError if the query
    fails."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    spill = tempfile.mkdtemp(prefix="ocmlview-")
    process = context.Process(target=_answer, args=(sender, tables, query, parameters or {}, memory, spill))
    process.start()
    sender.close()
    deadline = time.monotonic() + timeout
    try:
        while True:
            if not receiver.poll(max(0.0, deadline - time.monotonic())):
                raise QueryError(f"the query took longer than {timeout:g} s; raise --timeout")
            try:
                kind, value = receiver.recv()
            except EOFError:
                raise QueryError("the query process exited early; it may need more --memory") from None
            if kind == "end":
                return
            if kind == "error":
                first, *rest = value
                raise QueryError(first, tuple(rest))
            yield value
    finally:
        receiver.close()
        process.kill()
        process.join()
        shutil.rmtree(spill, ignore_errors=True)


def _answer(
    sender: Connection, tables: Tables, query: str, parameters: dict[str, Any], memory: str, spill: str
) -> None:
    """Run the query and send the rows to the parent process. Runs in the child process, which then exits without
    running the parent's exit handlers."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    sys.modules.setdefault("numpy", cast("ModuleType", None))  # pyarrow would load it, but no query needs it
    duckdb = load_duckdb()
    try:
        with connect(tables, memory, spill) as database:
            found = execute(database, query, parameters)
            sender.send(("rows", [tuple(column[0] for column in found.description or ())]))
            while rows := found.fetchmany(ROWS_AT_ONCE):
                sender.send(("rows", rows))
        sender.send(("end", None))
    except (ViewerError, QueryError) as error:
        sender.send(("error", [str(error)]))
    except (duckdb.Error, RuntimeError, ValueError) as error:
        sender.send(("error", _lines_of(error)))
    except (BrokenPipeError, OSError) as error:
        sender.send(("error", [f"the tables cannot be read: {error.strerror or type(error).__name__}"]))
    sender.close()
    os._exit(0)


def execute(database: Any, query: str, parameters: dict[str, Any] | None = None) -> Any:
    """Run one SELECT, or EXPLAIN of a SELECT, over the tables, and raise QueryError for anything else. Other statements
    could write even in a locked database, and functions that read files could read the parts, including rows that are
    out of date."""
    duckdb = load_duckdb()
    explained = _EXPLAIN.match(query)
    for text in (query, query[explained.end() :]) if explained else (query,):
        statements = database.extract_statements(text)
        if len(statements) != 1:
            raise QueryError(_ONE_QUERY)
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError(_ONE_QUERY)
    _check_tables(database, statements[0].query)
    return database.execute(query, parameters or None)


def _check_tables(database: Any, query: str) -> None:
    """Refuse a query that reads anything but tables and the results of harmless functions."""
    (found,) = database.execute("select json_serialize_sql($1)", [query]).fetchone()
    tree = msgspec.json.decode(found)
    if tree["error"]:
        raise QueryError(_ONE_QUERY)
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            kind = node.get("type")
            if kind == "BASE_TABLE" and not _NAME.fullmatch(node["table_name"]):
                raise QueryError(f"a query reads only tables, not {node['table_name']}")
            if kind == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in _FUNCTIONS:
                raise QueryError(f"a query cannot call {node['function']['function_name']}")


def _lines_of(error: Exception) -> list[str]:
    """Split DuckDB's message into lines, including the quoted query and its caret, but no empty lines."""
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    return lines or [type(error).__name__]
