"""Read the tables of a scan as a reader does and run scans that are killed or poisoned."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from viewer.corpus.tables import TABLES, Need
from viewer.corpus.views import connect, open_tables

ROOT = Path(__file__).parent.parent.parent
OF_A_RUN = {"seconds", "scanned_ms", "run_id", "part"}
"""Columns that differ between two scans of the same files."""

_HOOK = """
import os, signal, time

def _count():
    path = os.environ["SCAN_COUNT"]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b".")
    count = os.lseek(descriptor, 0, os.SEEK_CUR)  # of this byte, whatever other processes write
    os.close(descriptor)
    return count

def _end_if_it_is_time():
    if _count() == int(os.environ["SCAN_KILL_AT"]):
        os.killpg(0, signal.SIGKILL)

_replace, _open, _fsync = os.replace, os.open, os.fsync

def replace(source, target, **options):
    if os.environ.get("SCAN_COUNT") and ".tables" in str(target):
        _end_if_it_is_time()
        _replace(source, target, **options)
        _end_if_it_is_time()
    else:
        _replace(source, target, **options)

def fsync(descriptor):
    if os.environ.get("SCAN_COUNT") and ".tables" in os.readlink(f"/proc/self/fd/{descriptor}"):
        _end_if_it_is_time()
        _fsync(descriptor)
        _end_if_it_is_time()
    else:
        _fsync(descriptor)

def open_(path, *given, **options):
    name = os.path.basename(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else ""
    if name.startswith("kills-always"):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("kills-once") and not os.path.exists(os.fspath(path) + ".py"):
        os.close(_open(os.fspath(path) + ".py", os.O_CREAT | os.O_WRONLY))
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("sleeps"):
        time.sleep(600)
    return _open(path, *given, **options)

os.replace, os.open, os.fsync = replace, open_, fsync
"""
"""Code that every process of a scan runs at its start. It counts the moments before and after each rename and sync, and
kills the process group at one of them, or it kills a worker that opens a certain file."""


def rows_in(directory: Path, table: str, *, debug: bool = False, stable: bool = False) -> list[dict[str, Any]]:
    """Return the rows of a view, sorted; if `stable`, without the columns that differ between scans."""
    with connect(open_tables(str(directory), debug=debug)) as database:
        found = database.execute(f"select * from {table}")
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    if stable:
        rows = [{name: value for name, value in row.items() if name not in OF_A_RUN} for row in rows]
    return sorted(rows, key=lambda row: [str(value) for value in row.values()])


def stable_views(directory: Path, *, debug: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return all views except `runs`, without the columns that differ between scans."""
    return {name: rows_in(directory, name, debug=debug, stable=True) for name in TABLES if name != "runs"}


def safe_columns(table: str) -> set[str]:
    return {column.name for column in TABLES[table] if column.need in (Need.NOTHING, Need.COUNTS)}


def hook_folder(folder: Path) -> Path:
    """Return a folder for PYTHONPATH that makes every process run the hook."""
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "sitecustomize.py").write_text(_HOOK)
    return hooks


def run_hooked(folder: Path, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a separate process group in which every process runs the hook."""
    paths = os.pathsep.join([str(hook_folder(folder)), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, "-m", "viewer", *map(str, arguments)],
        capture_output=True,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment, "PYTHONPATH": paths},
        timeout=300,
        check=False,
    )
