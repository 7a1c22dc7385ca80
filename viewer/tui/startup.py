"""Startup: opens inputs for the app, to read a file once or to follow a file or pipe."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.reading.format import ReadOptions
from viewer.sources.compressed import LONGEST_MAGIC, compression_of
from viewer.sources.files import STANDARD_INPUT, Source, is_directory, open_source
from viewer.sources.follow import FollowSource
from viewer.sources.watcher import FolderWatcher, Watch


class Opener:
    """Opens named inputs. An input that can be read only once is always followed."""

    def __init__(
        self, format: str | None, reading: ReadOptions | None, follow: bool, *, watch: Watch = FolderWatcher
    ) -> None:
        self._format = format
        self._reading = reading
        self._follow = follow
        self._watch = watch

    def first(self, path: str) -> Source | None:
        """Open the first input before the app starts, so that an error is printed on the terminal."""
        return None if is_directory(path) or self._is_live(path) else open_source(path)

    def document(self, path: str, source: Source | None = None) -> Document:
        """Open an input as a document; `source` is the input if it is already open."""
        if source is None and self._is_live(path):
            return self._live(path)
        return Document(source or open_source(path), self._format, self._reading)

    def live_again(self, path: str) -> LiveDocument | str:
        """Open a file again as a document that grows, or give the reason why that is impossible."""
        if path == STANDARD_INPUT or is_stream(path):
            return "The input has ended. There is nothing to follow."
        if _is_compressed(path):
            return "Compressed files cannot be followed."
        return self._live(path)

    def _is_live(self, path: str) -> bool:
        return is_stream(path) or (self._follow and path != STANDARD_INPUT and not _is_compressed(path))

    def _live(self, path: str) -> LiveDocument:
        if path == STANDARD_INPUT:
            source = FollowSource(path, descriptor=sys.stdin.fileno())
        else:
            source = FollowSource(path, wake=self._watch(path))
        return LiveDocument(source, self._format, self._reading, reads_first=True)


def is_stream(path: str) -> bool:
    """True if the input can be read only once: a pipe, a FIFO, a socket, or a device, but not a terminal."""
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


def _is_compressed(path: str) -> bool:
    try:
        if not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return compression_of(file.read(LONGEST_MAGIC)) is not None
    except OSError:
        return False
