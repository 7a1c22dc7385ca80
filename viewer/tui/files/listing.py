"""Listings: the sources of list entries, which are a folder, named files, or agent sessions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from pathlib import Path
from threading import Lock
from typing import Protocol

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.sources.files import STANDARD_INPUT
from viewer.sources.folder import Found, found_file, look_through
from viewer.sources.sessions import LIVE_SECONDS, Session, Surroundings, find_sessions, group_of


class Entry(Struct, frozen=True, gc=False):
    """A file as it was when listed. A changed file becomes a new entry."""

    path: str
    name: str
    """The path relative to the folder or, without a folder, the file name."""
    size: int = 0
    """The size in bytes; 0 if unknown."""
    modified: float = 0.0
    """The modification time in seconds since 1970; 0 if unknown."""
    is_transcript: bool = True
    reason: str = ""
    """The reason why the file cannot be read."""
    waits: bool = False
    """True for a followed file that does not exist yet."""
    agent: str = ""
    group: str = ""
    """The label of the rule above the entry's group."""
    format: str | None = None
    """The format in which to read the file; None to detect it."""

    def is_live(self, now: float) -> bool:
        """True if the file was modified so recently that it is probably still being written."""
        return bool(self.modified) and now - self.modified < LIVE_SECONDS


class Listing(Protocol):
    """A source of entries. It lists in small steps, in any thread, but only one step at a time."""

    entries: list[Entry]
    is_listed: bool
    """True if everything has been listed at least once."""
    repeats: bool
    """True if new entries may appear."""
    has_groups: bool

    def list_some(self, budget_seconds: float) -> bool:
        """List entries until the time budget is used up. Return True if more remain."""

    def list_again(self) -> None:
        """Start a new listing. The entries do not change until it is complete."""


class FileListing:
    """The transcripts of a folder, which is listed repeatedly, or the named files."""

    has_groups = False

    def __init__(self, folder: str | None, paths: Sequence[str] = (), *, awaits: bool = False) -> None:
        """With `awaits`, a named file may be missing; it is followed as soon as it exists."""
        self.folder = folder
        self.files: list[Found] = []
        self.entries: list[Entry] = []
        self.is_listed = False
        self.repeats = awaits or folder is not None
        self._paths = tuple(paths)
        self._awaits = awaits
        self._known: dict[str, Found | None] = {}
        self._looking: Iterator[Found | None] | None = self._look()
        self._new: list[Found] = []
        self._lock = Lock()

    def list_some(self, budget_seconds: float) -> bool:
        """List entries until the time budget is used up. Return True if more remain."""
        deadline = time.monotonic() + budget_seconds
        with self._lock:  # the thread of a list that the operator has left may still be busy
            while self._list_one():
                if time.monotonic() >= deadline:
                    return True
        return False

    def list_again(self) -> None:
        """Start a new listing. The entries do not change until it is complete."""
        if self._looking is None:
            self._looking, self._new = self._look(), []

    def _look(self) -> Iterator[Found | None]:
        if self.folder is not None:
            return look_through(self.folder, self._known)
        return (found_file(path, Path(path).name) for path in self._paths)

    def _list_one(self) -> bool:
        """Add one file. Return False at the end of the listing. The first listing appears file by file, later ones all
        at once."""
        if self._looking is None:
            return False
        try:
            found = next(self._looking)
        except (StopIteration, ViewerError):  # all files are listed, or the folder is gone
            self._listed()
            self._looking = None
            return False
        if found is not None:
            self._new.append(found)
            if not self.is_listed:
                self._add(found)
        return True

    def _add(self, found: Found) -> None:
        self.files = self._new
        self.entries.append(self._entry(found))

    def _listed(self) -> None:
        """Replace the entries, unless nothing has changed since the last listing."""
        is_same = self.is_listed and len(self._new) == len(self.files) and all(map(is_, self._new, self.files))
        self.is_listed = True
        if not is_same:
            self.files = self._new
            self.entries = [self._entry(found) for found in self._new]

    def _entry(self, found: Found) -> Entry:
        if found.path == STANDARD_INPUT:
            return Entry(found.path, "standard input")
        waits = self._awaits and bool(found.reason)
        reason = "" if waits else found.reason
        is_transcript = found.format is not None or self._awaits
        return Entry(found.path, found.name, found.size, found.modified, is_transcript, reason, waits)


class SessionListing:
    """The agent sessions of this machine, with the current directory's sessions first."""

    repeats = False
    has_groups = True

    def __init__(self, around: Surroundings, find: Callable[[Surroundings], list[Session]] = find_sessions) -> None:
        self.entries: list[Entry] = []
        self.is_listed = False
        self._around = around
        self._find = find

    def list_some(self, budget_seconds: float) -> bool:
        """Find all sessions in one step, without reading them as transcripts. Return False, because none remain."""
        if not self.is_listed:
            self.entries = [self._entry(session) for session in self._find(self._around)]
            self.is_listed = True
        return False

    def list_again(self) -> None:
        """Do nothing, because sessions are listed only once."""

    def _entry(self, session: Session) -> Entry:
        is_here = group_of(session, self._around) == 0
        name = session.path.rsplit("/", 1)[-1]
        group = "this directory" if is_here else "other"
        return Entry(
            session.path,
            name,
            session.size,
            session.modified,
            agent=session.agent,
            group=group,
            format=session.format,
        )
