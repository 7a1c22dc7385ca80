"""The files that a command was given, opened one after the other; one that cannot be read does not stop the rest."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.cli.exits import FINE, USAGE, complain
from viewer.core.dialect import Options
from viewer.core.findings import MOST_PER_CODE
from viewer.errors import ViewerError
from viewer.sources.document import Document, open_document


class Inputs:
    """Iterate to get the documents; `code` then tells whether all could be read."""

    def __init__(
        self, names: tuple[str, ...], dialect: str | None, options: Options, most_per_code: int = MOST_PER_CODE
    ) -> None:
        self.names = names
        self.code = FINE
        self.failed: list[tuple[str, str]] = []
        """The files that could not be read, and why."""
        self._dialect = dialect
        self._options = options
        self._most_per_code = most_per_code

    @property
    def several(self) -> bool:
        """Whether what is printed must say which file it is about."""
        return len(self.names) > 1

    def __iter__(self) -> Iterator[Document]:
        for name in self.names:
            try:
                document = open_document(
                    name, dialect=self._dialect, options=self._options, most_per_code=self._most_per_code
                )
            except ViewerError as error:
                complain(str(error))
                self.failed.append((name, str(error)))
                self.code = USAGE
            else:
                yield document


def mention_if_empty(document: Document) -> None:
    """Say why nothing was printed. Not for a strict audience, which could tell from it whether something is hidden."""
    if not document.message_count:
        complain(f"{document.name}: no messages found; is it a transcript? `ocmlview formats` lists what can be read.")
