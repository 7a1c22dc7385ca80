"""The files and folders of a command, opened one after the other; one that cannot be read does not stop the rest."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.cli.exits import FINE, USAGE, complain
from viewer.core.dialect import Options
from viewer.errors import ViewerError
from viewer.sources.bytes import is_directory
from viewer.sources.document import Document, open_document


class Inputs:
    """Iterate to get the documents; `code` then tells whether all could be read."""

    def __init__(self, names: tuple[str, ...], dialect: str | None, options: Options) -> None:
        self.names = names
        self.code = FINE
        self._dialect = dialect
        self._options = options
        self.several = len(names) > 1 or any(map(is_directory, names))
        """True if the output must name the file that it is about."""

    def __iter__(self) -> Iterator[Document]:
        for name in self._paths():
            try:
                document = open_document(name, dialect=self._dialect, options=self._options)
            except ViewerError as error:
                complain(str(error))
                self.code = USAGE
            else:
                yield document

    def _paths(self) -> Iterator[str]:
        for name in self.names:
            if is_directory(name):
                yield from self._in_folder(name)
            else:
                yield name

    def _in_folder(self, folder: str) -> Iterator[str]:
        from viewer.sources.folder import find_transcripts  # few commands get a folder

        is_empty = True
        for found in find_transcripts(folder):
            is_empty = False
            if found.reason:
                self._complain(f"{found.path} cannot be read: {found.reason}")
            else:
                yield found.path
        if is_empty:
            self._complain(f"there is no transcript in {folder}")

    def _complain(self, sentence: str) -> None:
        complain(sentence)
        self.code = USAGE


def mention_if_empty(document: Document) -> None:
    """Say why nothing was printed. Not for a strict audience, which could tell from it whether something is hidden."""
    if not document.message_count:
        complain(f"{document.name}: no messages found; is it a transcript? `ocmlview formats` lists what can be read.")
