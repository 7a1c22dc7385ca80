"""Files and folders of a command, opened one after another; an unreadable one does not stop the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from viewer.cli.exits import FINDINGS, FINE, USAGE, complain, say
from viewer.cli.output import Output
from viewer.document.document import MOST_REVISIONS, Document, open_document
from viewer.document.projection import Projection
from viewer.errors import FileRewrittenError, ViewerError
from viewer.index.findings import MOST_PER_CODE
from viewer.reading.format import ReadOptions
from viewer.render.number_format import byte_size
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.sources.files import is_directory

MOST_KEYS_NAMED = 12
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")
_HINT = "Try --format, or see `ocmlview formats`."


class Inputs:
    """Iterator over documents; afterwards `code` shows if all could be read."""

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
        """With `refuses`, files without a known format are skipped, and damaged ones set the exit code; with `strict`,
        keys of unknown files are not named. `skips` says which files of a folder are left out."""
        self._refuses = refuses
        self._strict = strict
        self._skips = skips
        self.names = names
        self.code = FINE
        self.failed: list[tuple[str, str]] = []
        """The files that could not be read, with reasons."""
        self._format = format
        self._options = options
        self._most_per_code = most_per_code
        self.several = len(names) > 1 or any(map(is_directory, names))
        """True if the output must name the file of each line."""

    def __iter__(self) -> Iterator[Document]:
        for name in self._paths():
            try:
                document = open_document(
                    name, format=self._format, options=self._options, most_per_code=self._most_per_code
                )
            except ViewerError as error:
                complain(str(error))
                self.failed.append((name, str(error)))
                self.code = USAGE
            else:
                if self._refuses and document.unknown:
                    complain(unknown_sentence(document, strict=self._strict))
                    self.code = USAGE
                else:
                    yield document
                    if self._refuses:
                        self.code = max(self.code, report_damage(document))

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
            if self._skips(found.path):
                continue
            is_empty = False
            if found.reason:
                sentence = f"{found.path} cannot be read: {found.reason}"
                self.failed.append((found.path, sentence))
                self._complain(sentence)
            else:
                yield found.path
        if is_empty:
            self._complain(f"no transcripts found in {folder}")

    def _complain(self, sentence: str) -> None:
        complain(sentence)
        self.code = USAGE


def mention_if_empty(document: Document) -> None:
    """Report why nothing was printed. Not for a strict audience: it would reveal if something is hidden."""
    if document.unknown:
        complain(unknown_sentence(document))
    elif not document.message_count:
        complain(f"{document.name}: no messages found. `ocmlview formats` lists the known formats.")


def refuse_if_unknown(document: Document, *, strict: bool) -> None:
    """Raise an error if no transcript was recognized."""
    if document.unknown:
        raise ViewerError(unknown_sentence(document, strict=strict))


def report_damage(document: Document) -> int:
    """Report that a compressed input is damaged, truncated or too large; the exit code for that."""
    if not document.damage:
        return FINE
    complain(f"{document.name}: {E_STREAM_TRUNCATED.reasons[document.damage]}")
    return FINDINGS


def unknown_sentence(document: Document, *, strict: bool = False) -> str:
    """Describe an input without a recognized transcript."""
    if document.unknown == "json":
        keys = [key for key in document.detection.keys if _PLAIN_KEY.fullmatch(key)][:MOST_KEYS_NAMED]
        named = ", ".join(f'"{key}"' for key in keys)
        with_keys = f" with the keys {named}" if keys and not strict else ""
        return f"{document.name}: JSON{with_keys} is not a known transcript format. {_HINT}"
    data = "binary data" if document.unknown == "binary" else "text"
    return f"{document.name}: no transcript was recognized in {byte_size(document.size)} of {data}. {_HINT}"


Result = TypeVar("Result")


def retried(document: Document, act: Callable[[], Result], output: Output | None = None) -> Result:
    """The result of `act`, retried as long as it fails because the file was rewritten.

    If `act` has already written to `output`, re-raise the error: written output cannot be undone."""
    while True:
        written = output.written if output else 0
        try:
            return act()
        except FileRewrittenError:
            if output and output.written != written:
                raise
            read_again(document)


def read_again(document: Document) -> None:
    """Read a rewritten file from the start; FileRewrittenError if that happens repeatedly."""
    if document.revision >= MOST_REVISIONS:
        raise FileRewrittenError(document.name)
    document.begin_again()
    document.load()


def say_what_is_withheld(projection: Projection) -> None:
    """List the loss on standard error."""
    count = projection.withheld_count
    if count:
        fields, them = ("field", "it") if count == 1 else ("fields", "them")
        say(f"dropped {count:,} unlisted {fields}; add --reveal all to keep {them}")
    if projection.withholds_header:
        say("dropped the document header except its version and model; add --reveal all to keep it")


def say_what_is_outside(projection: Projection) -> None:
    """List text outside any message, which no conversion writes."""
    count = projection.stray_count
    if count:
        say(f"{count:,} {'run' if count == 1 else 'runs'} of text outside any message left out.")
