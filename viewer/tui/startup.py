"""Open inputs for the app: read a file once, or follow a file or pipe."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER, Audience
from viewer.reading.format import ReadOptions
from viewer.sources.files import COMPRESSED, STANDARD_INPUT, Source, is_directory, open_source, why_read_once
from viewer.sources.follow import FollowSource
from viewer.sources.watcher import FolderWatcher, Watch

if TYPE_CHECKING:
    from viewer.sources.replay.recorded_times import TimeRecorder


class Opener:
    """Opens inputs by name. An input that can be read only once is always followed."""

    def __init__(
        self,
        format: str | None,
        reading: ReadOptions | None,
        follow: bool,
        *,
        watch: Watch = FolderWatcher,
        under: Audience = END_USER,
        recorder: TimeRecorder | None = None,
    ) -> None:
        """`under` is the audience for which the inputs are opened. `recorder` records when the bytes of followed inputs
        arrive."""
        self._format = format
        self._reading = reading
        self._follow = follow
        self._watch = watch
        self._under = under
        self._recorder = recorder

    def new_fault(self) -> str:
        """Return why recording times has failed, but only once; at any other time, return an empty string."""
        fault = self._recorder.fault if self._recorder is not None else ""
        if fault:
            self._recorder = None
        return fault

    def first(self, path: str) -> Source | None:
        """Open the first input before the app starts so that errors appear on the normal screen. Return None for a
        folder or a followed input."""
        return None if is_directory(path) or self.is_live(path) else open_source(path)

    def document(self, path: str, source: Source | None = None) -> Document:
        """Open an input as a document. `source` is the input if it is already open."""
        if source is None and self.is_live(path):
            return self._live(path)
        document = Document(source or open_source(path), self._format, self._reading, under=self._under)
        if document.is_part:
            document.load()
            if document.missing_item:
                raise ViewerError(document.missing_item)
        return document

    def live_again(self, path: str) -> LiveDocument | str:
        """Reopen a file as a growing document, or return why that is impossible."""
        if path == STANDARD_INPUT or is_stream(path):
            return "The input has ended. There is nothing to follow."
        why = why_read_once(path)
        if why:
            return "Compressed files cannot be followed." if why == COMPRESSED else "Only whole files can be followed."
        return self._live(path)

    def in_format(self, document: Document, path: str, format: str) -> Document:
        """Read a document's input again as another format. If it was followed, keep following it."""
        if isinstance(document, LiveDocument) and not document.is_complete:
            return self._live(path, format)
        again = document.as_format(format)
        return again.load() if again.is_part else again

    def is_live(self, path: str) -> bool:
        """True if the input is followed as soon as it is opened."""
        return is_stream(path) or (self._follow and path != STANDARD_INPUT and not why_read_once(path))

    def _live(self, path: str, format: str | None = None) -> LiveDocument:
        if path == STANDARD_INPUT:
            source = FollowSource(path, descriptor=sys.stdin.fileno(), recorder=self._recorder)
        else:
            source = FollowSource(path, wake=self._watch(path), recorder=self._recorder)
        return LiveDocument(source, format or self._format, self._reading, reads_first=True, under=self._under)


def is_stream(path: str) -> bool:
    """True if the input can be read only once: a pipe, FIFO, socket, or device other than a terminal."""
    try:
        if path == STANDARD_INPUT:
            mode, is_keyboard = os.fstat(sys.stdin.fileno()).st_mode, sys.stdin.isatty()
        else:
            mode, is_keyboard = Path(path).stat().st_mode, False
            if stat.S_ISCHR(mode):
                is_keyboard = _is_terminal(path)
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and not is_keyboard)


def _is_terminal(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)
