"""Find the transcripts in a folder by their first bytes, without reading whole files."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.formats.detect import HEAD, detect
from viewer.sources.compressed import expanded_head
from viewer.sources.containers.items import split_item
from viewer.sources.containers.table import container_at, listed_format
from viewer.sources.walk import Walked, may_be_transcript, walk

MOST_FILES = 100_000
"""The maximum number of files checked in a folder that is listed repeatedly."""
SURE_ENOUGH, CERTAIN = 0.5, 0.99
ENDINGS = (".ocml", ".openchatml", ".harmony")
"""The suffixes of files that are transcripts, even if their content does not show it yet."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Found(Struct, frozen=True, gc=False):
    """A file in a folder that is a transcript or cannot be read."""

    path: str
    name: str
    """The path relative to the folder."""
    format: str | None
    """The detected format; None if the file cannot be read."""
    confidence: float
    size: int
    modified: float
    """Seconds since 1970."""
    reason: str = ""
    """Why the file cannot be read."""


def list_transcripts(path: str) -> list[Found]:
    """List the transcripts, and the files that cannot be read, in a folder and all folders below it, by name."""
    return [found for found in look_through(path) if found is not None]


def find_transcripts(path: str, passed: Callable[[str], None] = lambda path: None) -> Iterator[Found]:
    """Yield the transcripts, and the files that cannot be read, in a folder and all folders below it, without a limit.
    Each folder is visited once, even through symlinks. Call `passed` for each file that is not a transcript."""
    top = Path(path)
    for walked in walk(path):
        found = _found(walked, top, {})
        if found is not None:
            yield found
        else:
            passed(walked.path)


def look_through(path: str, known: dict[str, Found | None] | None = None) -> Iterator[Found | None]:
    """Check the files in a folder one by one. Yield each transcript or unreadable file, and None for any other file. If
    there are more files than the limit, the last entry reports this.

    `known` caches results between scans: an unchanged file is not read again."""
    top = Path(path)
    if not top.is_dir():
        raise ViewerError(f"{path} is not a directory")
    known = {} if known is None else known
    for number, walked in enumerate(walk(path)):
        if number >= MOST_FILES:
            yield Found(path, "more files", None, 0.0, 0, 0.0, f"only the first {MOST_FILES:,} are listed")
            return
        yield _found(walked, top, known)


def found_file(path: str, name: str) -> Found:
    """Describe a file that the user named, regardless of its content."""
    try:
        file = split_item(path)[0]
        status = Path(file).stat()
        container = container_at(file)
        if container is not None:
            return Found(path, name, container.format, CERTAIN, _size(Path(file), status), status.st_mtime)
        format, confidence = _recognised(file) if stat.S_ISREG(status.st_mode) else (None, 0.0)
    except OSError as error:
        return _unreadable(path, name, error)
    return Found(path, name, format, confidence, status.st_size, status.st_mtime)


def count_files(path: str) -> int:
    """Return the number of files in a folder and all folders below it that may be transcripts, judging by their
    names."""
    found = islice(walk(path), MOST_FILES)
    return sum(walked.fault is None and may_be_transcript(Path(walked.path).name) for walked in found)


def _found(walked: Walked, top: Path, known: dict[str, Found | None]) -> Found | None:
    if walked.fault is not None:
        return _unreadable(walked.path, _name(Path(walked.path), top) + "/", walked.fault)
    return _looked_up(Path(walked.path), top, known)


def _looked_up(path: Path, top: Path, known: dict[str, Found | None]) -> Found | None:
    name = str(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            return None
        key = f"{status.st_size} {status.st_mtime_ns} {name}"
        if key not in known:
            known[key] = _transcript(path, top, status)
        return known[key]
    except OSError as error:
        return _unreadable(name, _name(path, top), error)


def _transcript(path: Path, top: Path, status: os.stat_result) -> Found | None:
    if not may_be_transcript(path.name):
        return None
    container = container_at(str(path))
    if container is not None:
        listed = listed_format(container, str(path))
        found = Found(str(path), _name(path, top), listed, CERTAIN, _size(path, status), status.st_mtime)
        return found if listed else None
    format, confidence = _recognised(str(path))
    if confidence < SURE_ENOUGH and path.suffix.lower() not in ENDINGS:
        return None
    return Found(str(path), _name(path, top), format, confidence, status.st_size, status.st_mtime)


def _size(path: Path, status: os.stat_result) -> int:
    """Return the size of a file, or the total size of the files directly in a folder."""
    if not stat.S_ISDIR(status.st_mode):
        return status.st_size
    with os.scandir(path) as entries:
        return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)


def _recognised(path: str) -> tuple[str, float]:
    with Path(path).open("rb") as file:
        head = expanded_head(file.read(HEAD), HEAD)
    if head[:2] in _UTF_16:
        head = head.decode("utf-16", "replace").encode("utf-8", "replace")
    detection = detect(head)
    return detection.format, detection.confidence


def _name(path: Path, top: Path) -> str:
    return path.relative_to(top).as_posix()


def _unreadable(path: str, name: str, error: OSError) -> Found:
    reason = "permission denied" if isinstance(error, PermissionError) else (error.strerror or "input error").lower()
    return Found(path, name, None, 0.0, 0, 0.0, reason)
