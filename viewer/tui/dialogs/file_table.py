"""File table: lists transcripts and counts their contents in small time slices. It keeps no text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER, Audience
from viewer.reading.format import ReadOptions
from viewer.sources.files import open_source
from viewer.sources.folder import Found, found_file, look_through

MOST_COUNTED = 16 * 1024 * 1024
"""The maximum number of bytes to read from a file for its counts."""
_SLICE = 64 * 1024


class Counts(Struct, frozen=True, gc=False):
    """The counts of one file, for one audience."""

    messages: int
    errors: int
    warnings: int


class Reading(Struct, frozen=True):
    """How to read files, and for which audience to count."""

    audience: Audience = END_USER
    format: str | None = None
    options: ReadOptions | None = None


class FileTable:
    """The transcripts of a folder that is listed repeatedly, or the named files."""

    def __init__(self, folder: str | None, paths: Sequence[str] = (), reading: Reading | None = None) -> None:
        self.folder = folder
        self.files: list[Found] = []
        self.is_listed = False
        """True if the folder has been listed completely at least once."""
        self._paths = tuple(paths)
        self._reading = reading or Reading()
        self._known: dict[str, Found | None] = {}
        self._counts: dict[Found, Counts | None] = {}
        self._looking: Iterator[Found | None] | None = self._look()
        self._new: list[Found] = []
        self._earlier: dict[str, Counts] = {}
        """Earlier counts by path, kept while a changed file is counted again."""
        self._waiting: Iterator[Found] = iter(())
        self._counting: Iterator[None] | None = None
        self._current: Found | None = None
        """The file being counted."""

    def step(self, budget_seconds: float) -> bool:
        """List files, then count them, until the time budget is used up; True if work remains."""
        deadline = time.monotonic() + budget_seconds
        while self._list_one() or self._count_some():
            if time.monotonic() >= deadline:
                return True
        return False

    def list_some(self, budget_seconds: float) -> bool:
        """List files without counting until the time budget is used up; True if work remains."""
        deadline = time.monotonic() + budget_seconds
        while self._list_one():
            if time.monotonic() >= deadline:
                return True
        return False

    @property
    def newest(self) -> Found | None:
        """Return the most recently modified file."""
        readable = (file for file in self.files if not file.reason)
        return max(readable, key=lambda file: file.modified, default=None)

    def list_again(self) -> None:
        """List the folder again. The table does not change until the listing is complete."""
        if self._looking is None:
            self._looking, self._new = self._look(), []

    def counts(self, file: Found) -> Counts | None:
        """Return the counts of a file; None if they are not known yet or the file cannot be read."""
        return self._counts.get(file) or self._earlier.get(file.path)

    def is_counted(self, file: Found) -> bool:
        """True if the file is counted, or cannot be."""
        return file in self._counts and file is not self._current

    def matching(self, words: str) -> list[Found]:
        """Return the files whose names contain all these words, ignoring case."""
        wanted = words.casefold().split()
        return [file for file in self.files if all(word in file.name.casefold() for word in wanted)]

    def _look(self) -> Iterator[Found | None]:
        if self.folder is not None:
            return look_through(self.folder, self._known)
        return (found_file(path, Path(path).name) for path in self._paths)

    def _list_one(self) -> bool:
        """Add one file. The first listing appears gradually, later ones all at once."""
        if self._looking is None:
            return False
        try:
            found = next(self._looking)
        except StopIteration:
            found, self._looking = None, None
        except ViewerError:  # the folder is gone
            found, self._looking = None, None
        if found is not None:
            self._new.append(found)
        if self._looking is None or not self.is_listed:
            self.files = self._new
        if self._looking is None:
            self._listed()
        return self._looking is not None

    def _listed(self) -> None:
        self.is_listed = True
        listed = set(self.files)
        self._counts = {file: counts for file, counts in self._counts.items() if file in listed}
        self._waiting = iter([file for file in self.files if file not in self._counts])

    def _count_some(self) -> bool:
        """Count a slice of the current file, or of the next one."""
        if self._counting is None:
            waiting = next(self._waiting, None)
            if waiting is None:
                return False
            self._counts[waiting] = None
            self._counting = self._count(waiting)
            self._current = waiting
        if next(self._counting, self) is self:
            self._counting = self._current = None
        return True

    def _count(self, file: Found) -> Iterator[None]:
        if file.format is None or file.size > MOST_COUNTED:
            return
        try:
            document = Document(open_source(file.path), self._reading.format, self._reading.options)
            while not document.is_complete:
                document.read_some(_SLICE)
                yield
            counts = _counted(document, self._reading.audience)
        except ViewerError:
            return
        self._counts[file] = self._earlier[file.path] = counts


def _counted(document: Document, audience: Audience) -> Counts:
    projection = document.project(audience)
    found = [diagnostic.severity for diagnostic in projection.diagnostics()]
    messages = projection.rows().shown_count if audience.strict else projection.message_count
    return Counts(messages, found.count("error"), found.count("warning"))
