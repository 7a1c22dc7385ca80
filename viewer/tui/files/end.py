"""The end of a big file as a separate document, shown while the file is still being read."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind
from viewer.model.visibility import END_USER, Audience
from viewer.scan.end_proof import AT_ONCE, EndProof
from viewer.sources.files import SpooledSource
from viewer.sources.guarded_file import GuardedFile
from viewer.tui.files.early_proof import EARLY_PROOF

LEAST_END = 64 * 1024
"""The minimum length of an end in bytes."""
ROWS = 256
"""How many rows to show, if the end has that many: a few screens."""
_MOST_TRIED = 4
"""How many starting points to try until there are enough rows. Each is at least four times as far from the end as the
one before."""
_FORMATS = ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony")


class FileEnd:
    """The end of a file. `prove` and `view` may run in other threads."""

    def __init__(self, document: Document, file: GuardedFile) -> None:
        format = document.detection.format
        self._document = document
        self._file = file
        self._size = document.stored.size
        self._is_harmony = format == "harmony"
        self._proof = EndProof(file.pread, self._size, is_harmony=self._is_harmony)
        self._is_proven = False
        self._shown: Projection | None = None
        """The end for the end user, which is read ahead."""

    def prove(self, is_wanted: Callable[[], bool], is_urgent: Callable[[], bool] = lambda: False) -> None:
        """Search the text until its end is proven or no longer wanted. Then read the end for the end user. A proof that
        has begun early continues on its own until it is complete or urgent."""
        early = EARLY_PROOF.take(self._file, lambda: is_wanted() and not is_urgent())
        if early is not None and not self._is_harmony and self._file.size == self._size:
            self._proof = early
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not self._proof.is_complete and is_wanted():
                self._proof.step(pool.map)
        self._is_proven = self._proof.is_complete and not self._file.has_moved
        if self._is_proven and is_wanted():
            self._shown = self._view(END_USER)

    def view(self, audience: Audience) -> Projection | None:
        """Return the end for an audience, or None if the end has not been proven or cannot be read on its own."""
        if not self._is_proven:
            return None
        return self._shown if self._shown is not None and audience == END_USER else self._view(audience)

    def _view(self, audience: Audience) -> Projection | None:
        least = LEAST_END
        shown = None
        for _ in range(_MOST_TRIED):
            start = next(self._proof.starts(least), None)
            if start is None:
                break
            end = self._read(start)
            if end is None:
                break
            shown = end.project(audience)
            rows = shown.rows()
            if sum(rows.kind(row) is RowKind.MESSAGE for row in range(len(rows))) >= ROWS:
                break
            least = 4 * (self._size - start)
        return shown

    def _read(self, start: int) -> Document | None:
        """Read the first document header, followed by the text from an offset. Return None if the text contains events,
        which may continue messages that begin before the offset."""
        before, text = self._proof.head, self._proof.text_from(start)
        format, options, name = self._document.detection.format, self._document.options, self._document.name
        end = Document(SpooledSource(name, iter([before + text]), False), format, options, under=self._document.under)
        end.load()
        return None if has_events(end, before + text, len(before)) else end


def has_events(end: Document, text: bytes, start: int) -> bool:
    """True if a line outside the messages may be an event."""
    at, count = start, len(end.index)
    begins, ends = end.index.bounds(1, count) if count else ((), ())
    for begin, stop in zip(begins, ends, strict=True):
        if text.startswith(b"{", begin) or text.find(b"{", at, begin) >= 0:
            return True
        at = stop
    return text.find(b"{", at) >= 0


def file_end(document: Document) -> FileEnd | None:
    """Return the end of a document, or None if the document cannot be read twice, or if an end cannot be proven in its
    format."""
    if document.detection.format not in _FORMATS:
        return None
    file = document.stored.snapshot()
    return None if file is None else FileEnd(document, file)
