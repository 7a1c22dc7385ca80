"""Read folders that agents write: OpenHands events, one per file, and the storage of OpenCode.

Only regular files with the expected names are read, never symbolic links."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from viewer.errors import ViewerError
from viewer.sources.containers.parts import (
    DAMAGED,
    LARGEST_TEXT,
    TOO_LARGE,
    PartFault,
    Parts,
    is_json,
    on_one_line,
    without_mark,
)

MOST_LOOKED_AT = 64
"""The maximum number of names to read when deciding whether a folder is a conversation."""
_EVENT = re.compile(r"event-([0-9]{1,12})(?:-[A-Za-z0-9_-]{1,64})?\.json")
_JSON = re.compile(r"([A-Za-z0-9_-]{1,128})\.json")
_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


# OpenHands.


def is_event_folder(path: str, first: bytes = b"") -> bool:
    """True if a folder contains the events of a conversation, one per file."""
    try:
        with os.scandir(path) as entries:
            return any(_EVENT.fullmatch(entry.name) for entry in islice(entries, MOST_LOOKED_AT))
    except OSError:
        return False


def read_events(path: str, item: str) -> Parts:
    """Return the events in the order of their numbers."""
    if item:
        raise ViewerError(f"{path} contains only one conversation; omit :{item}")
    numbered = [(int(found[1]), each) for each in Path(path).iterdir() if (found := _EVENT.fullmatch(each.name))]
    return _events(file for _, file in sorted(numbered))


def _events(files: Iterable[Path]) -> Parts:
    for file in files:
        yield from _value(file, b"")
        yield b"\n"


# OpenCode.


def is_storage(path: str, first: bytes = b"") -> bool:
    """True for the storage folder of OpenCode, and for a session file inside it."""
    return _storage_of(Path(path)) is not None


def read_storage(path: str, item: str) -> Parts:
    """Return the sessions in the storage folder, or only one of them, each as `opencode export` writes it."""
    named = Path(path)
    storage = _storage_of(named)
    assert storage is not None
    files = _session_files(storage) if storage == named else [named]
    chosen = [file for file in files if not item or file.stem == item]
    if item and not chosen:
        raise ViewerError(f"{path} has no session {item}")
    return _sessions(storage, chosen)


def items(path: str) -> list[str]:
    """Return the IDs of the sessions in the storage folder."""
    return [file.stem for file in _session_files(Path(path))] if _has_storage(Path(path)) else []


def _storage_of(path: Path) -> Path | None:
    """Return the storage folder at a path, or the storage folder to which a session file at the path belongs; None for
    any other path."""
    if _has_storage(path):
        return path
    if not _JSON.fullmatch(path.name):
        return None
    sessions = path.absolute().parent.parent
    return sessions.parent if sessions.name == "session" and _has_storage(sessions.parent) else None


def _has_storage(path: Path) -> bool:
    return all((path / name).is_dir() for name in ("session", "message", "part"))


def _session_files(storage: Path) -> list[Path]:
    """Return the session files, sorted by ID."""
    projects = _matching(storage / "session", _ID)
    return sorted((file for project in projects for file in _matching(project, _JSON)), key=lambda file: file.stem)


def _sessions(storage: Path, files: Iterable[Path]) -> Parts:
    for file in files:
        yield b'{"info":'
        yield from _value(file)
        yield b',"messages":['
        for index, message in enumerate(_matching(storage / "message" / file.stem, _JSON)):
            yield b',{"info":' if index else b'{"info":'
            yield from _value(message)
            yield b',"parts":['
            for number, part in enumerate(_matching(storage / "part" / message.stem, _JSON)):
                yield b"," if number else b""
                yield from _value(part)
            yield b"]}"
        yield b"]}\n"


def _matching(folder: Path, pattern: re.Pattern[str]) -> list[Path]:
    """Return the entries of a folder whose names match, in order, or none if the folder does not exist."""
    try:
        return sorted(each for each in folder.iterdir() if pattern.fullmatch(each.name) and not each.is_symlink())
    except OSError:
        return []


def _value(path: Path, instead: bytes = b"null") -> Parts:
    """Yield the JSON value in a file. If it cannot be read, yield a fault and `instead`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield PartFault(DAMAGED)
        yield instead
        return
    try:
        data = without_mark(os.read(descriptor, LARGEST_TEXT + 1))
    except OSError:
        data = b""
    finally:
        os.close(descriptor)
    if len(data) > LARGEST_TEXT or not is_json(data):
        yield PartFault(TOO_LARGE if len(data) > LARGEST_TEXT else DAMAGED)
        yield instead
        return
    yield on_one_line(data)
