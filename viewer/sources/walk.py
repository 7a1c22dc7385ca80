"""Walk through folders: the single file listing for all commands that take a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from heapq import merge
from itertools import islice
from pathlib import Path

from msgspec import Struct

from viewer.sources.containers.table import container_at

NEVER = (".py", ".md", ".rst", ".html", ".js", ".ts", ".rs", ".go", ".c", ".h", ".sh", ".toml")
"""The suffixes of programs and documents, which may quote control tokens."""
COMPRESSED = (".gz", ".xz", ".zst")
_PORTION = 2_000
"""The maximum number of names to sort in one step."""
_NUMBER = re.compile(r"([0-9]{1,18})")


class Walked(Struct, frozen=True):
    """A file, or a folder that cannot be listed."""

    path: str
    fault: OSError | None = None
    """Why the folder cannot be listed."""


def walk(top: str, without: str = "") -> Iterator[Walked]:
    """Yield all files below a folder except hidden ones. Each folder's files come before those of its subfolders. A
    folder that is a transcript is treated as a file. Each folder is visited once, even through symlinks, and `without`
    is skipped."""
    above = Path(top).resolve().parents  # a symlink to one of them is a loop
    return _walk(top, {_identity(str(folder)) for folder in (top, *above, *([without] if without else []))})


def _walk(folder: str, seen: set[tuple[int, int]]) -> Iterator[Walked]:
    try:
        with os.scandir(folder) as found:
            entries = _sorted(entry for entry in found if not entry.name.startswith("."))
    except OSError as error:
        yield Walked(folder, error)
        return
    folders: list[str] = []
    for entry in entries:
        path = entry.path
        if not _is_folder(entry):
            yield Walked(path)
        elif (identity := _identity(path)) not in seen:
            seen.add(identity)
            folders.append(path)
    for below in folders:
        yield from _walk(below, seen)


def _sorted(entries: Iterator[os.DirEntry[str]]) -> Iterator[os.DirEntry[str]]:
    """Sort entries by name, in portions, because sorting a large folder in one step would block all threads."""
    portions: list[list[os.DirEntry[str]]] = []
    while portion := [*islice(entries, _PORTION)]:
        portion.sort(key=_by_name)
        portions.append(portion)
    return merge(*portions, key=_by_name) if len(portions) > 1 else iter(portions[0] if portions else ())


def _by_name(entry: os.DirEntry[str]) -> list[tuple[int, int, str]]:
    return natural_order(entry.name)


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a natural sort key: 2 comes before 10."""
    parts = _NUMBER.split(name.casefold())
    return [(0, int(part), "") if at % 2 else (1, 0, part) for at, part in enumerate(parts)] + [(2, 0, name)]


def _identity(folder: str) -> tuple[int, int]:
    try:
        status = os.stat(folder)  # noqa: PTH116 (a folder may hold millions of names)
    except OSError:
        return -1, -1
    return status.st_dev, status.st_ino


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder that is not itself a transcript."""
    try:
        return entry.is_dir() and container_at(entry.path) is None
    except OSError:
        return False


def may_be_transcript(name: str) -> bool:
    """True unless the file, compressed or not, has the suffix of a program or a document."""
    base = name.lower()
    for suffix in COMPRESSED:
        base = base.removesuffix(suffix)
    return not base.endswith(NEVER)
