"""Inputs of a command: open files one by one, continue past unreadable ones, and set the exit code for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from viewer.cli.exits import FINE, fail
from viewer.cli.notices import report_damage, unknown_sentence
from viewer.cli.output import Output
from viewer.document.document import MOST_REVISIONS, Document, open_document
from viewer.errors import FileRewrittenError, ViewerError
from viewer.index.findings import MOST_PER_CODE
from viewer.reading.format import ReadOptions
from viewer.sources.files import is_directory


class Inputs:
    """Iterates over the documents of the inputs. Once the iteration ends, `code` is the exit code, for example 2 if an
    input could not be read."""

    def __init__(
        self,
        names: tuple[str, ...],
        format: str | None,
        options: ReadOptions,
        most_per_code: int = MOST_PER_CODE,
        *,
        refuses: bool = True,
        strict: bool = False,
        skips: Callable[[str], bool] = lambda path: False,
    ) -> None:
        """With `refuses`, skip files of unknown format, and let damaged files set the exit code. With `strict`, do not
        print the keys of unknown files. `skips` selects the files to omit from a folder."""
        self._refuses = refuses
        self._strict = strict
        self._skips = skips
        self.names = names
        self.code = FINE
        self.failed: list[tuple[str, str]] = []
        """The files and folders that could not be read, each with the reason."""
        self._format = format
        self._options = options
        self._most_per_code = most_per_code
        self.several = len(names) > 1 or any(map(is_directory, names))
        """True if each line of output must name its file."""

    def __iter__(self) -> Iterator[Document]:
        for name in self.paths():
            try:
                document = open_document(
                    name, format=self._format, options=self._options, most_per_code=self._most_per_code
                )
            except ViewerError as error:
                self.failed.append((name, str(error)))
                self.code = fail(str(error))
            else:
                if self._refuses and document.unknown:
                    self.code = fail(unknown_sentence(document, strict=self._strict))
                else:
                    yield document
                    if self._refuses:
                        self.code = max(self.code, report_damage(document))

    def of(self, path: str) -> Inputs:
        """Return a copy with only this file and the same options."""
        one = Inputs(
            *((path,), self._format, self._options, self._most_per_code), refuses=self._refuses, strict=self._strict
        )
        one.several = self.several
        return one

    def paths(self) -> Iterator[str]:
        """Yield the files, including those in folders. Report folders that cannot be listed."""
        for name in self.names:
            if is_directory(name):
                yield from self._in_folder(name)
            else:
                yield name

    def _in_folder(self, folder: str) -> Iterator[str]:
        from viewer.sources.folder import find_transcripts  # few commands get a folder

        is_empty = True
        for found in find_transcripts(folder):
            if self._skips(found.path):
                continue
            is_empty = False
            if found.reason:
                sentence = f"{found.path} cannot be read: {found.reason}"
                self.failed.append((found.path, sentence))
                self._fail(sentence)
            else:
                yield found.path
        if is_empty:
            self._fail(f"no transcripts found in {folder}")

    def _fail(self, sentence: str) -> None:
        self.code = fail(sentence)


Result = TypeVar("Result")


def retried(document: Document, act: Callable[[], Result], output: Output | None = None) -> Result:
    """Call `act` and return its result. Repeat the call as long as it fails because the file was rewritten.

    If `act` has already written to `output`, raise the error again: written output cannot be undone."""
    while True:
        written = output.written if output else 0
        try:
            return act()
        except FileRewrittenError:
            if output and output.written != written:
                raise
            read_again(document)


def read_again(document: Document) -> None:
    """Read a rewritten file from the start. Raises FileRewrittenError if it was rewritten too often."""
    if document.revision >= MOST_REVISIONS:
        raise FileRewrittenError(document.name)
    document.begin_again()
    document.load()
